import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import type { ConsoleEdit } from '../fakes/localaws/faults.ts';
import { conditionOf } from '../fakes/testenv/testEnv.ts';
import { namesAll } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

describe('an external edit of a node group', () => {
  const fixture = withOperator('--resync-interval=1s');
  const POOL = 'edited';
  const spec = {
    labels: { tier: 'web' },
    taints: [{ key: 'gpu', value: 'no', effect: 'NoSchedule' }],
    nodeGroup: { tags: { cost: '42' } },
  };

  const group = () => fixture.world.cloud.state.groups.get(POOL)?.nodegroup;
  const patch = (change: object) => fixture.world.patchPool(POOL, change);
  const becomes = (state: string) =>
    fixture.world.waitForPool(POOL, `to have UpToDate=${state}`, (pool) => conditionOf(pool, 'UpToDate') === state);
  const metric = async (name: string) =>
    (await fixture.operator.get('/metrics')).body.split('\n').filter((line) => line.startsWith(`${name}{`));
  const driftEvents = async () => {
    const text = await fixture.world.kubectl('get', 'events.events.k8s.io', '-n', 'default', '-o', 'json');
    const items: { regarding: { name: string }; reason: string; note: string }[] = JSON.parse(text).items;
    return items
      .filter(({ regarding, reason }) => regarding.name === POOL && reason === 'Drifted')
      .map(({ note }) => note);
  };

  before(async () => {
    await fixture.world.apply(poolManifest(POOL, spec));
    await fixture.world.waitForPool(
      POOL,
      'to be Ready',
      (pool) => conditionOf(pool, 'Ready') === 'True/EnoughNodesVerified',
    );
    await becomes('True/MatchesSpec');
  });

  const edits: readonly (readonly [string, () => Omit<ConsoleEdit, 'group'>, string])[] = [
    ['a label', () => ({ labels: { ...group()?.labels, tier: 'db', other: 'x' } }), 'label tier is db (expected web)'],
    [
      'a taint',
      () => ({ taints: group()?.taints?.filter(({ key }) => key !== 'gpu') ?? [] }),
      'taint gpu:NoSchedule is missing (expected no)',
    ],
    ['the bounds', () => ({ scalingConfig: { minSize: 0, maxSize: 9 } }), 'scaling is 0 to 9 (expected 1 to 3)'],
    ['a tag', () => ({ tags: { ...group()?.tags, cost: '7', backup: 'daily' } }), 'tag cost is 7 (expected 42)'],
  ];

  for (const [what, edit, words] of edits) {
    it(`of ${what} is corrected, reported and counted`, async () => {
      fixture.world.cloud.faults.edit({ group: POOL, ...edit() });
      const isReported = (note: string) => namesAll(note, `Node group ${POOL}`, words);
      await waitFor(async () => (await driftEvents()).some(isReported), {
        what: `an event with ${words}`,
        timeoutMs: 60_000,
        explain: () => fixture.operator.tail(),
      });
      await becomes('True/MatchesSpec');
    });
  }

  it('does not affect additions of others, and each part is counted in the metric', async () => {
    assert.deepEqual([group()?.labels?.other, group()?.tags?.backup], ['x', 'daily']);
    const corrected = await metric('windowspool_drift_corrected_total');
    assert.deepEqual(
      corrected.sort(),
      ['label', 'scaling', 'tag', 'taint'].map(
        (part) => `windowspool_drift_corrected_total{pool="${POOL}",part="${part}"} 1`,
      ),
    );
  });

  it('is not corrected with driftPolicy Report, while changes of the spec are applied', async () => {
    await patch({ nodeGroup: { driftPolicy: 'Report' } });
    fixture.world.cloud.faults.edit({ group: POOL, labels: { ...group()?.labels, tier: 'db' } });
    const pool = await becomes('False/Drifted');
    assert.equal(conditionOf(pool, 'Ready'), 'True/EnoughNodesVerified');
    assert.equal(conditionOf(pool, 'Reconciling'), 'absent');
    assert.deepEqual(pool?.status?.pendingSteps, [
      { description: `update node group ${POOL}: labels set tier`, reason: 'Drifted' },
    ]);
    const drift = await metric('windowspool_drift_fields');
    assert.ok(drift.includes(`windowspool_drift_fields{pool="${POOL}",part="label"} 1`), drift.join('\n'));
    await patch({ nodeGroup: { scaling: { maxSize: 4 } }, labels: { zone: 'a' } });
    await waitFor(() => group()?.labels?.zone === 'a' && group()?.scalingConfig?.maxSize === 4, {
      what: 'the change of the spec',
      timeoutMs: 60_000,
      explain: () => fixture.operator.tail(),
    });
    assert.equal(group()?.labels?.tier, 'db');
    await becomes('False/Drifted');
    await patch({ labels: { tier: 'db' } });
    await becomes('True/MatchesSpec');
  });
});
