import assert from 'node:assert/strict';
import type { ImageAnswer } from '../../../controllers/workloads/imageVariants.ts';
import { assertGolden } from '../../../test/goldenText.ts';
import { nodesOf, podSpec, readyPool, sampleMove } from '../testing/migrations.ts';
import { imagesToAsk, type PodSpec, placementOf, selectsOldPool, withAnswers } from './placement.ts';
import type { Move } from './side.ts';

const OS = { 'kubernetes.io/os': 'windows' };
const TOLERATION = [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }];
const BUILD = 'node.kubernetes.io/windows-build';
const DIGEST = `sha256:${'a'.repeat(64)}`;

const sameVersion = sampleMove({ from: readyPool('old') });
const ownClass = sampleMove({
  from: readyPool('old', { runtimeClass: { name: 'old' } }),
  to: readyPool('new', {
    runtimeClass: { name: 'new' },
    taints: [{ key: 'team', value: 'shop', effect: 'NoSchedule' }],
  }),
});
const empty = sampleMove({
  to: readyPool('new', { labels: { tier: 'web' }, taints: [{ key: 'team', effect: 'NoSchedule' }] }),
  toNodes: [],
});
const tainted = readyPool('new', { taints: [{ key: 'team', value: 'shop', effect: 'NoSchedule' }] });
const newer = sampleMove({
  from: readyPool('old'),
  to: readyPool('new', { windowsVersion: 'Windows2025' }),
});

function affinity(...matchExpressions: { key: string; operator: string; values?: string[] }[]): Partial<PodSpec> {
  const required = { nodeSelectorTerms: [{ matchExpressions }] };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
}

/** The templates of Deployments, or of another kind. */
const rows: readonly (readonly [
  what: string,
  spec: PodSpec,
  options?: { readonly move?: Move; readonly kind?: string },
])[] = [
  [
    'a RuntimeClass and an image of the old version',
    podSpec('example.com/cart:1.4-ltsc2019', { runtimeClassName: 'windows-2019' }),
  ],
  [
    'node selectors of the old pool',
    podSpec('cart:ltsc2022', {
      nodeSelector: {
        ...OS,
        [BUILD]: '10.0.17763',
        'winpool.dev/pool': 'old',
        'eks.amazonaws.com/nodegroup': 'old',
        disk: 'ssd',
      },
      tolerations: TOLERATION as PodSpec['tolerations'] & object,
    }),
  ],
  ['an image whose tag has no counterpart', podSpec('windows/servercore:1809', { runtimeClassName: 'windows-2022' })],
  [
    'images whose build is not known',
    podSpec(`cart@${DIGEST}`, {
      runtimeClassName: 'windows-2022',
      initContainers: [{ name: 'init', image: 'init:1' }],
    }),
  ],
  ['an image with control characters', podSpec('\x1b[2Jcart:ltsc2019', { runtimeClassName: 'windows-2022' })],
  [
    'a RuntimeClass that both pools have',
    podSpec('cart:ltsc2022', { runtimeClassName: 'windows-2022' }),
    { move: sameVersion },
  ],
  [
    'RuntimeClasses of single pools: the new one tolerates its taint',
    podSpec('cart:ltsc2022', { runtimeClassName: 'old' }),
    { move: ownClass },
  ],
  [
    'a taint that the pods do not tolerate',
    podSpec('cart:ltsc2022', { runtimeClassName: 'windows-2022' }),
    {
      move: sampleMove({
        from: readyPool('old'),
        to: tainted,
        toNodes: nodesOf(tainted, 2, {
          taints: [
            { key: 'os', value: 'windows', effect: 'NoSchedule' },
            { key: 'team', value: 'shop', effect: 'NoSchedule' },
            { key: 'later', effect: 'PreferNoSchedule' },
          ],
        }),
      }),
    },
  ],
  [
    'a new pool without nodes: its spec counts, and other labels are taken for granted',
    podSpec('cart:ltsc2022', { nodeSelector: { ...OS, zone: 'a', tier: 'api' } }),
    { move: empty },
  ],
  [
    'a required node affinity',
    podSpec('cart:ltsc2022', {
      runtimeClassName: 'windows-2022',
      ...affinity({ key: 'winpool.dev/pool', operator: 'In', values: ['old'] }),
    }),
  ],
  [
    'a node affinity that the new pool satisfies',
    podSpec('cart:ltsc2022', {
      runtimeClassName: 'windows-2022',
      ...affinity(
        { key: 'winpool.dev/pool', operator: 'NotIn', values: ['other'] },
        { key: BUILD, operator: 'Exists' },
        { key: 'spot', operator: 'DoesNotExist' },
      ),
    }),
  ],
  [
    'a node affinity with numbers, of which no node has the label',
    podSpec('cart:ltsc2022', {
      runtimeClassName: 'windows-2022',
      ...affinity({ key: 'cores', operator: 'Gt', values: ['4'] }),
    }),
  ],
  ['a nodeName', podSpec('cart:ltsc2022', { runtimeClassName: 'windows-2022', nodeName: 'old-1' })],
  [
    'a pod, whose spec has the selector of its RuntimeClass and its node',
    podSpec('cart:ltsc2022', {
      runtimeClassName: 'windows-2019',
      nodeName: 'old-1',
      nodeSelector: { ...OS, 'kubernetes.io/arch': 'amd64', [BUILD]: '10.0.17763' },
    }),
    { kind: 'Pod' },
  ],
  [
    'a HostProcess pod, whose image need not match',
    podSpec('agent:ltsc2019', {
      nodeSelector: OS,
      tolerations: TOLERATION as PodSpec['tolerations'] & object,
      securityContext: { windowsOptions: { hostProcess: true } },
      hostNetwork: true,
    }),
  ],
  [
    'an image of 2022 on 2025, which may run',
    podSpec('cart:ltsc2022', { runtimeClassName: 'windows-2022' }),
    { move: newer },
  ],
];

describe('the changes of a template that moves to another pool', () => {
  it('name the field, and its old and new value', async () => {
    const texts = rows.map(([what, spec, { move = sampleMove(), kind = 'Deployment' } = {}]) => {
      const { changes, advice } = placementOf(spec, kind, move);
      return [`# ${what}`, ...changes.map(({ text }) => text), ...advice].join('\n');
    });
    await assertGolden('plugin/migrate-placement', `${texts.join('\n\n')}\n`);
  });

  const selecting: readonly (readonly [what: string, spec: PodSpec, expected: boolean])[] = [
    ['the RuntimeClass of the old pool', podSpec('a', { runtimeClassName: 'windows-2019' }), true],
    ['the build of the old pool', podSpec('a', { nodeSelector: { [BUILD]: '10.0.17763' } }), true],
    ['the name of the old pool', podSpec('a', { nodeSelector: { 'winpool.dev/pool': 'old' } }), true],
    ['the old pool by affinity', podSpec('a', affinity({ key: BUILD, operator: 'In', values: ['10.0.17763'] })), true],
    [
      'a third pool of the old version',
      podSpec('a', { nodeSelector: { 'winpool.dev/pool': 'third', [BUILD]: '10.0.17763' } }),
      false,
    ],
    ['only Windows', podSpec('a', { nodeSelector: OS }), false],
    ['Linux', podSpec('a', { nodeSelector: { 'kubernetes.io/os': 'linux' } }), false],
    ['nothing', podSpec('a'), false],
    ['the new pool', podSpec('a', { runtimeClassName: 'windows-2022' }), false],
    ['an unknown RuntimeClass', podSpec('a', { runtimeClassName: 'gvisor' }), false],
  ];
  for (const [what, spec, expected] of selecting)
    it(`a template that selects ${what} ${expected ? 'needs' : 'does not need'} the old pool`, () =>
      assert.equal(selectsOldPool(spec, sampleMove()), expected));
});

describe('the images of a template that moves, after their registries were asked', () => {
  const [W2019, W2022] = ['10.0.17763.4131', '10.0.20348.2762'];
  const found = (image: string, ...versions: readonly string[]): [string, ImageAnswer] => {
    const variants = versions.map((osVersion) => ({ os: 'windows', architecture: 'amd64', osVersion }));
    return [image, { kind: 'found', image, digest: DIGEST, variants }];
  };
  const missing = (image: string): [string, ImageAnswer] => [image, { kind: 'notFound', image, registry: 'docker.io' }];
  const unread = (image: string): [string, ImageAnswer] => [image, { kind: 'unknown', image, reason: 'offline' }];
  const FROM = '(in its registry: sha256:aaaaaaaaaaaa)';
  const USE = 'Use an image for Windows Server 2022, whose tags contain ltsc2022.';
  const old = `cart:ltsc2019 is for windows/amd64 ${W2019} ${FROM}.`;
  const change = 'image (app): cart:ltsc2019 -> cart:ltsc2022';
  const answered: readonly (readonly [
    what: string,
    image: string,
    answers: readonly [string, ImageAnswer][],
    text: readonly string[],
  ])[] = [
    ['fit, although the tag names another build', 'cart:ltsc2019', [found('cart:ltsc2019', W2019, W2022)], []],
    ['fit, and their tag names no build', 'cart:1', [found('cart:1', W2022)], []],
    [
      'do not fit, and their tag names no build',
      'cart:1',
      [found('cart:1', W2019)],
      [`image (app): cart:1. cart:1 is for windows/amd64 ${W2019} ${FROM}. ${USE}`],
    ],
    [
      'do not fit, and the other tag exists',
      'cart:ltsc2019',
      [found('cart:ltsc2019', W2019), found('cart:ltsc2022', W2022)],
      [`${change}. ${old}`],
    ],
    [
      'do not fit, and the other tag does not exist',
      'cart:ltsc2019',
      [found('cart:ltsc2019', W2019), missing('cart:ltsc2022')],
      [`image (app): cart:ltsc2019. ${old} ${USE} cart:ltsc2022 does not exist in docker.io, or you may not see it.`],
    ],
    [
      'do not fit, and neither does the other tag',
      'cart:ltsc2019',
      [found('cart:ltsc2019', W2019), found('cart:ltsc2022', W2019)],
      [`image (app): cart:ltsc2019. ${old} ${USE} cart:ltsc2022 is for windows/amd64 ${W2019} ${FROM}.`],
    ],
    [
      'do not exist',
      'cart:1',
      [missing('cart:1')],
      [`image (app): cart:1. cart:1 does not exist in docker.io, or you may not see it. ${USE}`],
    ],
    [
      'cannot be read, and their tag names another build',
      'cart:ltsc2019',
      [unread('cart:ltsc2019'), unread('cart:ltsc2022')],
      [change],
    ],
    [
      'cannot be read, and their tag names no build',
      'cart:1',
      [unread('cart:1')],
      ['The tag of cart:1 names no Windows build. Check that there is an image for Windows Server 2022.'],
    ],
  ];
  for (const [what, image, answers, text] of answered)
    it(`which ${what}`, () => {
      const move = sampleMove();
      const placement = placementOf(podSpec(image, { runtimeClassName: 'windows-2022' }), 'Deployment', move);
      assert.deepEqual(imagesToAsk(placement, move).slice(0, 1), [image]);
      const { changes, advice } = withAnswers(placement, move, new Map(answers));
      assert.deepEqual([...changes.map((each) => each.text), ...advice], text);
    });

  it('are none between pools of one version', () => {
    const placement = placementOf(podSpec('cart:1'), 'Deployment', sameVersion);
    assert.deepEqual(imagesToAsk(placement, sameVersion), []);
  });
});
