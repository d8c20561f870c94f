import assert from 'node:assert/strict';
import { fitOf, type ImageAnswer, imagesToAsk, type Variant, withAnswers } from './imageVariants.ts';
import { findingsOf, imageFindingsOf, type LintedRuntimeClass, podImagesOf, podOn } from './lint.ts';

const [B2019, B2022, B2025] = ['10.0.17763', '10.0.20348', '10.0.26100'];
const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;

/** `windows/amd64 10.0.20348.1` */
function variantOf(name: string): Variant {
  const [os = '', architecture = '', osVersion] = name.split(/[/ ]/);
  return { os, architecture, ...(osVersion && { osVersion }) };
}

function found(image: string, ...variants: readonly string[]): [string, ImageAnswer] {
  return [image, { kind: 'found', image, digest: DIGEST, variants: variants.map(variantOf) }];
}

describe('the variants of an image', () => {
  const rows: readonly (readonly [variants: string, fits: Readonly<Record<string, string>>])[] = [
    ['windows/amd64 10.0.17763.4131', { [B2019]: 'runs', [B2022]: 'otherBuild', [B2025]: 'otherBuild' }],
    ['windows/amd64 10.0.20348.2762', { [B2019]: 'otherBuild', [B2022]: 'runs', [B2025]: 'olderBuild' }],
    ['windows/amd64 10.0.26100.1', { [B2019]: 'otherBuild', [B2022]: 'otherBuild', [B2025]: 'runs' }],
    ['windows/amd64 10.0.25398.1', { [B2022]: 'otherBuild', [B2025]: 'olderBuild' }],
    ['windows/amd64 10.0.20348', { [B2022]: 'runs' }],
    ['windows/amd64 10.0.203480.1', { [B2022]: 'otherBuild' }],
    ['windows/amd64 10.0.17763.1, windows/amd64 10.0.20348.1', { [B2019]: 'runs', [B2022]: 'runs', any: 'runs' }],
    ['windows/amd64 10.0.20348.1, windows/amd64 10.0.26100.1', { [B2025]: 'runs' }],
    ['linux/amd64, linux/arm64', { [B2022]: 'notWindows', any: 'notWindows' }],
    ['linux/amd64, windows/amd64 10.0.20348.1', { [B2022]: 'runs', [B2019]: 'otherBuild', any: 'runs' }],
    ['windows/arm64 10.0.26100.1', { [B2025]: 'notWindows' }],
    ['windows/amd64', { [B2022]: 'unknown', any: 'runs' }],
    ['windows/amd64 ltsc2022', { [B2022]: 'unknown' }],
    ['windows/amd64, windows/amd64 10.0.20348.1', { [B2022]: 'runs', [B2019]: 'unknown' }],
    ['unknown/unknown', { [B2022]: 'unknown', any: 'unknown' }],
  ];
  for (const [variants, fits] of rows)
    it(`${variants}: ${Object.entries(fits).join(', ')}`, () => {
      const all = variants.split(', ').map(variantOf);
      for (const [build, fit] of Object.entries(fits))
        assert.equal(fitOf(all, build === 'any' ? undefined : build), fit);
    });
});

describe('the findings about images, after their registries were asked', () => {
  const classes: readonly LintedRuntimeClass[] = [
    {
      metadata: { name: 'windows-2022' },
      handler: 'runhcs-wcow-process',
      scheduling: { nodeSelector: { 'kubernetes.io/os': 'windows', 'node.kubernetes.io/windows-build': B2022 } },
    },
    {
      metadata: { name: 'hyper-v' },
      handler: 'runhcs-wcow-hypervisor',
      scheduling: { nodeSelector: { 'kubernetes.io/os': 'windows', 'node.kubernetes.io/windows-build': B2022 } },
    },
  ];
  const limits = { resources: { limits: { memory: '1Gi' } } };
  /** The findings of a pod with two containers, `app` and `other`, after the answers. */
  const foundIn = (
    spec: object,
    answers: readonly [string, ImageAnswer][],
    image = 'cart:1',
    other = 'side:ltsc2022',
  ) => {
    const containers = [
      { name: 'app', image, ...limits },
      { name: 'other', image: other, ...limits },
    ];
    const manifest = { kind: 'Pod', spec: { containers, ...spec } };
    const findings = findingsOf(manifest, classes);
    const images = podImagesOf(manifest, classes) ?? assert.fail();
    return withAnswers(findings, images, new Map(answers)).map(({ message, grade }) => `${grade} ${message}`);
  };
  const on2022 = { runtimeClassName: 'windows-2022' };
  const FROM = '(in its registry: sha256:0123456789ab)';
  const wrong = `cart:1 is for windows/amd64 10.0.17763.1 ${FROM}, and nodes of build ${B2022} cannot run it. Use the image or the RuntimeClass of the same version.`;

  it('find what the tag does not show', () => {
    assert.deepEqual(foundIn(on2022, [found('cart:1', 'windows/amd64 10.0.17763.1')]), [
      `fails ImageForOtherBuild (app): ${wrong}`,
    ]);
    assert.deepEqual(foundIn(on2022, [found('cart:1', 'linux/amd64', 'linux/arm64')]), [
      `fails LinuxImage (app): cart:1 is for linux/amd64, linux/arm64 ${FROM}, and not for Windows on amd64. Use an image for Windows.`,
    ]);
    assert.deepEqual(foundIn(on2022, [['cart:1', { kind: 'notFound', image: 'cart:1', registry: 'docker.io' }]]), [
      'fails ImageNotFound (app): cart:1 does not exist in docker.io, or you may not see it. Correct its name.',
    ]);
    assert.deepEqual(foundIn(on2022, [found('cart:1', 'windows/amd64')]), [
      `advice ImageBuildUnknown (app): cart:1 is for windows/amd64 ${FROM}, so nodes of every Windows version pull it. Check that it is for ${B2022}.`,
    ]);
  });

  it('replace what the tag suggests, container by container', () => {
    const byTag = foundIn(on2022, [], 'cart:ltsc2019', 'side:ltsc2025');
    assert.match(byTag.join(), /^fails ImageForOtherBuild \(app, other\): The tag /);
    const answers = [found('cart:ltsc2019', 'windows/amd64 10.0.17763.1', 'windows/amd64 10.0.20348.1')];
    const [one, ...none] = foundIn(on2022, answers, 'cart:ltsc2019', 'side:ltsc2025');
    assert.match(one ?? '', /^fails ImageForOtherBuild \(other\): The tag /);
    assert.deepEqual(none, []);
    // Its name looks like one of a Linux distribution.
    assert.match(foundIn(on2022, [], 'cart:1-alpine').join(), /^fails LinuxImage \(app\): The name /);
    assert.deepEqual(foundIn(on2022, [found('cart:1-alpine', 'windows/amd64 10.0.20348.1')], 'cart:1-alpine'), []);
    const [linux, ...others] = foundIn(on2022, [found('cart:1-alpine', 'linux/amd64')], 'cart:1-alpine');
    assert.match(linux ?? '', /^fails LinuxImage \(app\): cart:1-alpine is for linux\/amd64 /);
    assert.deepEqual(others, []);
    const image = `cart@${DIGEST}`;
    assert.deepEqual(foundIn(on2022, [found(image, 'windows/amd64 10.0.20348.1')], image), []);
  });

  it('keep what the tag suggests, if the registry could not be asked or does not know the build', () => {
    const unknown: ImageAnswer = { kind: 'unknown', image: 'cart:ltsc2019', reason: 'offline' };
    for (const answers of [
      [['cart:ltsc2019', unknown] as [string, ImageAnswer]],
      [found('cart:ltsc2019', 'windows/amd64')],
    ])
      assert.match(
        foundIn(on2022, answers, 'cart:ltsc2019').join('\n'),
        /^fails ImageForOtherBuild \(app\): The tag /m,
      );
  });

  it('do not compare builds with Hyper-V isolation or without a selected build, but find images of Linux', () => {
    for (const spec of [{ runtimeClassName: 'hyper-v' }, { nodeSelector: { 'kubernetes.io/os': 'windows' } }]) {
      assert.deepEqual(foundIn(spec, [found('cart:1', 'windows/amd64 10.0.17763.1')]), []);
      assert.match(foundIn(spec, [found('cart:1', 'linux/amd64')]).join(), /^fails LinuxImage/);
    }
  });

  it('find images of Windows in pods that select no operating system', () => {
    const spec = { tolerations: [{ key: 'os', operator: 'Exists' }] };
    assert.match(foundIn(spec, [], 'cart:1', 'side:1').join(), /^advice LinuxOnWindows: /);
    const [one, ...none] = foundIn(spec, [found('cart:1', 'windows/amd64 10.0.20348.1')], 'cart:1', 'side:1');
    assert.equal(
      one,
      `advice WindowsImageUnselected (app): cart:1 is for windows/amd64 10.0.20348.1 ${FROM}, and the pod selects no operating system. Set runtimeClassName, or nodeSelector kubernetes.io/os: windows.`,
    );
    assert.deepEqual(none, []);
    // Another pod has the same image.
    for (const placed of [{ runtimeClassName: 'unknown' }, { nodeName: 'a' }, { os: { name: 'linux' } }])
      assert.deepEqual(foundIn(placed, [found('cart:1', 'windows/amd64 10.0.20348.1')], 'cart:1', 'side:1'), []);
    // Its tag looks like one of Windows.
    assert.deepEqual(foundIn({}, [found('cart:ltsc2019', 'linux/amd64')], 'cart:ltsc2019', 'side:1'), []);
  });

  it('compare the images of a pod with the build of its node', () => {
    const spec = { containers: [{ name: 'app', image: 'cart:1' }] };
    const images = podImagesOf(podOn(spec, B2022), []) ?? assert.fail();
    const findings = withAnswers(
      imageFindingsOf(spec, B2022, []),
      images,
      new Map([found('cart:1', 'windows/amd64 10.0.17763.1')]),
    );
    assert.deepEqual(
      findings.map(({ message }) => message),
      [`ImageForOtherBuild (app): ${wrong}`],
    );
  });

  it('need the images of pods on Windows, and of those that a rule takes for such', () => {
    const asked = (spec: object, image: string) => {
      const manifest = { kind: 'Pod', spec: { containers: [{ name: 'app', image }], ...spec } };
      return imagesToAsk(podImagesOf(manifest, classes) ?? assert.fail(), findingsOf(manifest, classes));
    };
    assert.deepEqual(asked(on2022, 'cart:1'), ['cart:1']);
    assert.deepEqual(asked({}, 'cart:ltsc2022'), ['cart:ltsc2022']);
    assert.deepEqual(asked({}, 'nginx'), []);
    assert.deepEqual(asked({ nodeSelector: { 'kubernetes.io/os': 'linux' } }, 'nginx:ltsc2022'), []);
  });
});
