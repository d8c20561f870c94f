import assert from 'node:assert/strict';
import type { WindowsPool } from '../../api/api.gen.ts';
import { GATE_TAINT_KEY, POOL_KEY } from '../../api/labels.ts';
import type { KarpenterManifest, KarpenterObject, NodePoolSpec } from '../../ports/karpenter.ts';
import { NOW, samplePool } from '../../testing/fixtures.ts';
import { karpenterPool, manifestsOf } from '../../testing/karpenterScenes.ts';
import { dueObject } from './dueObject.ts';

type Spec = Parameters<typeof karpenterPool>[0];

const { verification } = samplePool().spec;
const GATE = { verification: { ...verification, policy: 'Gate' } } as const;
const manifestFor = (pool: WindowsPool, now: number): KarpenterManifest<NodePoolSpec> => {
  const [manifest] = manifestsOf(pool, now);
  return manifest as KarpenterManifest<NodePoolSpec>;
};
const manifestOf = (spec: Spec = {}) => manifestFor(karpenterPool(spec), NOW);
const differenceOf = (seen: KarpenterObject, manifest: KarpenterManifest) => {
  const { changes, replacesNodes } = dueObject(seen, manifest);
  return { changes, replacesNodes };
};
/** The NodePool as the API server stores it: JSON, without what is undefined. */
const stored = ({ metadata, spec }: KarpenterManifest<NodePoolSpec>): KarpenterObject => {
  const { weight, limits, template } = spec;
  const optional = { weight, limits, terminationGracePeriod: template.spec.terminationGracePeriod };
  const ownFields = Object.entries(optional).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  return {
    name: metadata.name,
    createdFor: metadata.name,
    spec: JSON.parse(JSON.stringify(spec)),
    ownFields,
  } as unknown as KarpenterObject;
};

describe('the NodePool of a pool', () => {
  it('is for Windows nodes of the build of the pool, with its labels and taints', () => {
    const taints = [{ key: 'dedicated', value: 'win', effect: 'NoSchedule' }] as const;
    const { template } = manifestOf({ ...GATE, labels: { tier: 'web' }, taints: [...taints] }).spec;
    assert.deepEqual(template.metadata.labels, { tier: 'web', [POOL_KEY]: 'web' });
    assert.deepEqual(
      template.spec.requirements.map(({ key, values }) => `${key}=${values}`),
      ['kubernetes.io/os=windows', 'kubernetes.io/arch=amd64', 'node.kubernetes.io/windows-build=10.0.20348'],
    );
    assert.deepEqual(template.spec.taints, [{ key: 'os', value: 'windows', effect: 'NoSchedule' }, ...taints]);
    assert.deepEqual(
      template.spec.startupTaints.map(({ key }) => key),
      [GATE_TAINT_KEY],
    );
  });

  it('limits all reasons of disruption: a budget that names only one leaves the others without a limit', () => {
    const budgetsOf = (spec: Spec) => manifestOf(spec).spec.disruption.budgets;
    assert.deepEqual(budgetsOf({}), [
      { nodes: '10%', reasons: ['Empty', 'Underutilized'] },
      { nodes: '1', reasons: ['Drifted'] },
    ]);
    assert.equal(budgetsOf({ disruption: { maxUnavailable: '20%' } })[1]?.nodes, '20%');
  });

  it('is unchanged if it is stored as it was applied', () => {
    for (const spec of [
      {},
      GATE,
      { karpenter: { limits: { cpu: 100, memory: '400Gi' }, weight: 10, terminationGracePeriod: '1h' } },
      { karpenter: { requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] }] } },
    ] satisfies Spec[]) {
      const manifest = manifestOf(spec);
      assert.deepEqual(differenceOf(stored(manifest), manifest), { changes: [], replacesNodes: false });
    }
    const live = { ...manifestOf().spec, limits: { cpu: '100' } };
    const manifest = manifestOf({ karpenter: { limits: { cpu: 100 } } });
    assert.deepEqual(differenceOf({ ...stored(manifest), spec: live }, manifest).changes, []);
  });

  it('keeps what other clients have set and the pool has not', () => {
    const manifest = manifestOf({ karpenter: { limits: { cpu: 100 } } });
    const spec = { ...manifest.spec, weight: 5, limits: { cpu: 100, memory: '1Gi' } };
    assert.deepEqual(differenceOf({ ...stored(manifest), spec }, manifest).changes, []);
  });

  it('is unchanged if its taints are stored in another order, which has no meaning', () => {
    const taints = [{ key: 'dedicated', value: 'win', effect: 'NoSchedule' }] as const;
    const manifest = manifestOf({ taints: [...taints] });
    const live = stored(manifest);
    const { template, ...rest } = manifest.spec;
    const spec = {
      ...rest,
      template: { ...template, spec: { ...template.spec, taints: template.spec.taints.toReversed() } },
    };
    assert.deepEqual(differenceOf({ ...live, spec }, manifest).changes, []);
  });

  it('is changed if another client has changed its labels', () => {
    const manifest = manifestOf();
    assert.deepEqual(differenceOf({ ...stored(manifest), createdFor: '' }, manifest).changes, ['metadata.labels']);
  });

  const changes: readonly (readonly [string, Spec, Spec, boolean])[] = [
    ['labels', {}, { labels: { tier: 'web' } }, true],
    ['labels', { labels: { tier: 'web' } }, {}, true],
    ['taints', {}, { registrationTaint: 'None' }, true],
    ['startupTaints', {}, GATE, true],
    ['startupTaints', GATE, {}, true],
    ['expireAfter', {}, { karpenter: { expireAfter: '720h' } }, true],
    ['terminationGracePeriod', { karpenter: { terminationGracePeriod: '1h' } }, {}, true],
    ['weight', {}, { karpenter: { weight: 5 } }, false],
    ['weight', { karpenter: { weight: 5 } }, {}, false],
    ['limits', { karpenter: { limits: { cpu: 5 } } }, { karpenter: { limits: { cpu: 6 } } }, false],
    ['budgets', {}, { disruption: { maxUnavailable: 2 } }, false],
    [
      'requirements',
      {},
      { karpenter: { requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] }] } },
      false,
    ],
    [
      'consolidateAfter',
      {},
      { karpenter: { consolidation: { policy: 'WhenEmptyOrUnderutilized', consolidateAfter: '1h' } } },
      false,
    ],
  ];
  for (const [field, before, after, replacesNodes] of changes)
    it(`${replacesNodes ? 'has' : 'has not'} every node replaced by a change of ${field}: ${JSON.stringify(after)}`, () =>
      assert.deepEqual(differenceOf(stored(manifestOf(before)), manifestOf(after)), {
        changes: [field],
        replacesNodes,
      }));

  it('closes its budget at the end of an open maintenance window, in the month and on the day of the end', () => {
    const now = Date.parse('2026-01-31T23:30:00Z');
    const maintenanceWindows = [{ schedule: '0 23 * * *', duration: '2h', timeZone: 'Etc/UTC' }];
    const pool = karpenterPool({ karpenter: { update: { maintenanceWindows } } });
    const [, open, closing] = manifestFor(pool, now).spec.disruption.budgets;
    assert.deepEqual(
      [open?.nodes, closing],
      ['1', { nodes: '0', reasons: ['Drifted'], schedule: '0 1 1 2 *', duration: '720h' }],
    );
    const [, closed, ...more] = manifestFor(pool, now + 7_200_000).spec.disruption.budgets;
    assert.deepEqual([closed, more], [{ nodes: '0', reasons: ['Drifted'] }, []]);
  });
});
