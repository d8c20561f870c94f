import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RUNTIME_CLASSES } from '../../test/workloads/build.ts';
import { CASES, RULES_WITHOUT_CASE } from '../../test/workloads/cases.ts';
import { SAMPLES } from '../../test/workloads/samples.ts';
import { findingsOf, imageFindingsOf, POD_SPEC_PATHS } from './lint.ts';
import { RULES } from './rules.ts';

describe('the linter of workloads', () => {
  for (const { what, manifest, rules } of CASES) {
    it(`finds ${rules.join(' and ') || 'nothing'} in ${what}`, () => {
      const found = findingsOf(manifest, RUNTIME_CLASSES).map(({ rule }) => rule);
      assert.deepEqual(found.sort(), rules);
    });
  }

  for (const { what, manifest, advice } of SAMPLES) {
    it(`finds nothing that fails in ${what}`, () => {
      const found = findingsOf(manifest, RUNTIME_CLASSES).map(({ rule, grade }) => `${grade} ${rule}`);
      assert.deepEqual(
        found.sort(),
        advice.map((rule) => `advice ${rule}`),
      );
    });
  }

  /** The API server itself rejects their manifests, so that no policy sees them. */
  const REJECTED = ['HostProcessNetwork', 'HostProcessMixed'];
  it('has a case for every rule', () => assert.deepEqual(RULES_WITHOUT_CASE, REJECTED));

  it('names each rule once, in words that a reason can have', () => {
    const names = RULES.map(({ name }) => name);
    assert.deepEqual([...new Set(names)], names);
    for (const { name, message } of RULES) {
      assert.match(name, /^[A-Z][A-Za-z]+$/);
      assert.match(message, /[^.]$/);
      assert.ok(message.length < 200, `${name}: ${message.length} characters`);
    }
  });

  it('names the containers in the message', () => {
    const [spec] = CASES.filter(({ what }) => what.includes('init container'));
    const [finding] = findingsOf(spec?.manifest, []);
    assert.deepEqual(finding?.names, ['init']);
    assert.match(finding?.message ?? '', /^RunAsUser \(init\): securityContext\.runAsUser /);
  });

  it('compares images with another build than the one that the pod selects', () => {
    const containers = [{ name: 'web', image: 'mcr.microsoft.com/windows/servercore:ltsc2022', stdin: true }];
    const spec = { nodeSelector: { 'node.kubernetes.io/windows-build': '10.0.20348' }, containers };
    const found = ['10.0.20348', '10.0.17763'].map((build) =>
      imageFindingsOf(spec, build, []).map(({ names }) => names),
    );
    assert.deepEqual(found, [[], [['web']]]);
  });

  it('treats null as absent', () => {
    const spec = { nodeSelector: { 'kubernetes.io/os': 'windows' }, securityContext: null, volumes: null };
    const containers = [
      { name: 'app', image: 'a', securityContext: { runAsUser: null }, resources: { limits: { memory: '1Gi' } } },
    ];
    assert.deepEqual(findingsOf({ kind: 'Pod', spec: { ...spec, containers } }, []), []);
  });

  it('says what the API server says of a HostProcess pod', () => {
    const spec = {
      nodeSelector: { 'kubernetes.io/os': 'windows' },
      securityContext: { windowsOptions: { hostProcess: true, runAsUserName: 'NT AUTHORITY\\SYSTEM' } },
      containers: [{ name: 'app', image: 'a', resources: { limits: { memory: '1Gi' } } }],
    };
    const rulesOf = (fields: object) =>
      findingsOf({ kind: 'Pod', spec: { ...spec, ...fields } }, []).map(({ rule }) => rule);
    assert.deepEqual([rulesOf({}), rulesOf({ hostNetwork: true })], [['HostProcessNetwork'], []]);
    const [own] = spec.containers;
    const mixed = [own, { ...own, name: 'other', securityContext: { windowsOptions: { hostProcess: false } } }];
    assert.deepEqual(rulesOf({ hostNetwork: true, containers: mixed }), ['HostProcessMixed']);
  });

  it('finds nothing in kinds without a pod spec, and rejects what it cannot read', () => {
    assert.deepEqual(findingsOf({ kind: 'Service', spec: {} }, []), []);
    assert.throws(() => findingsOf([], []), {
      message: /^The manifest has no kind\b/,
    });
    assert.throws(() => findingsOf({ kind: 'Job', spec: {} }, []), {
      message: /^Job: spec\.template\.spec\.containers /,
    });
    const spec = { nodeSelector: { 'kubernetes.io/os': 'windows' }, containers: [{ name: 'a' }], hostNetwork: 'yes' };
    assert.throws(() => findingsOf({ kind: 'Pod', spec }, []), /^Error: Rule HostNetwork cannot read the pod spec: /);
  });

  const windows = { nodeSelector: { 'kubernetes.io/os': 'windows' }, containers: [{ name: 'a' }] };
  const expression = { key: 'kubernetes.io/os', operator: 'In' };
  const required = { nodeSelectorTerms: [{ matchExpressions: [expression] }] };
  const malformed: readonly (readonly [spec: object, message: string])[] = [
    [{ containers: [1] }, 'Pod: spec.containers[0] is not an object.'],
    [{ containers: [{ image: 'a' }] }, 'Pod: spec.containers[0].name is missing or is not a string.'],
    [{ ...windows, initContainers: {} }, 'Pod: spec.initContainers is not a list.'],
    [{ ...windows, volumes: [{ emptyDir: {} }] }, 'Pod: spec.volumes[0].name is missing or is not a string.'],
    [{ ...windows, tolerations: 'all' }, 'Pod: spec.tolerations is not a list.'],
    [{ ...windows, nodeSelector: ['windows'] }, 'Pod: spec.nodeSelector is not an object.'],
    [
      { containers: [], affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } },
      'The pod spec cannot be read: No such key: values',
    ],
  ];
  for (const [spec, message] of malformed)
    it(`rejects ${JSON.stringify(spec)} in one line`, () =>
      assert.throws(() => findingsOf({ kind: 'Pod', spec }, []), { message }));

  it('finds the same in a template of each kind as in a pod', () => {
    const pods = CASES.filter(({ manifest }) => manifest.kind === 'Pod');
    fc.assert(
      fc.property(fc.constantFrom(...pods), fc.constantFrom(...Object.entries(POD_SPEC_PATHS)), (one, [kind, path]) => {
        const manifest = path.reduceRight<unknown>((inner, field) => ({ [field]: inner }), one.manifest.spec);
        const found = findingsOf({ kind, ...(manifest as object) }, RUNTIME_CLASSES).map(({ rule }) => rule);
        assert.deepEqual(found.sort(), one.rules);
      }),
    );
  });
});
