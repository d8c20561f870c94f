import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { callsOf, changesIn } from '../awsCalls.ts';
import { conditionOf, isReconciled, messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { freezeAws, withOperator } from '../sharedWorld.ts';

describe('changes of a pool', () => {
  const fixture = withOperator('--resync-interval=1s');
  const POOL = 'changing';

  const patch = (spec: object) => fixture.world.patchPool(POOL, spec);
  const group = () => fixture.world.cloud.state.groups.get(POOL)?.nodegroup;
  const updates = () => changesIn(fixture.world, 'UpdateNodegroupConfig');
  /** Waits until EKS has finished all updates, and the pool reports that. */
  const settled = () =>
    fixture.world.waitForPool(
      POOL,
      'to be settled',
      (pool) =>
        group()?.status === 'ACTIVE' &&
        conditionOf(pool, 'NodeGroupReady') === 'True/Active' &&
        isReconciled(pool) &&
        pool?.status?.nodeGroup?.update?.status !== 'InProgress',
    );

  before(async () => {
    await fixture.world.apply(
      poolManifest(POOL, {
        labels: { team: 'a' },
        nodeGroup: { tags: { cost: '1', old: 'x' }, scaling: { minSize: 1, maxSize: 3 } },
      }),
    );
    await fixture.world.waitForReady(POOL);
    await settled();
  });
  beforeEach(() => fixture.world.cloud.resetCalls());

  const cases: readonly (readonly [what: string, spec: object, update: object | undefined])[] = [
    ['a label set', { labels: { team: 'b' } }, { labels: { addOrUpdateLabels: { team: 'b' } } }],
    [
      'a label added and one removed',
      { labels: { team: null, tier: 'web' } },
      { labels: { addOrUpdateLabels: { tier: 'web' }, removeLabels: ['team'] } },
    ],
    [
      'a taint',
      { taints: [{ key: 'gpu', value: 'no', effect: 'NoSchedule' }] },
      { taints: { addOrUpdateTaints: [{ key: 'gpu', value: 'no', effect: 'NO_SCHEDULE' }] } },
    ],
    [
      'a taint removed',
      { taints: null },
      { taints: { removeTaints: [{ key: 'gpu', value: 'no', effect: 'NO_SCHEDULE' }] } },
    ],
    ['a higher max', { nodeGroup: { scaling: { maxSize: 4 } } }, { scalingConfig: { maxSize: 4 } }],
    [
      'a min above the size, which increases the size',
      { nodeGroup: { scaling: { minSize: 2 } } },
      { scalingConfig: { minSize: 2, desiredSize: 2 } },
    ],
    ['a desired size', { nodeGroup: { scaling: { desiredSize: 3 } } }, { scalingConfig: { desiredSize: 3 } }],
    [
      'a warm pool with the default settings',
      { nodeGroup: { warmPool: {} } },
      {
        warmPoolConfig: {
          enabled: true,
          minSize: 0,
          maxGroupPreparedCapacity: 4,
          poolState: 'STOPPED',
          reuseOnScaleIn: false,
        },
      },
    ],
    ['no warm pool', { nodeGroup: { warmPool: null } }, { warmPoolConfig: { enabled: false } }],
  ];
  for (const [what, spec, update] of cases) {
    it(`sends EKS the smallest change for ${what}`, async () => {
      await patch(spec);
      await fixture.until('the update', () => updates().length > 0);
      const pool = await settled();
      assert.deepEqual(updates(), [update]);
      assert.equal(pool?.status?.nodeGroup?.update?.status, 'Successful');
    });
  }

  it('applies the last change when the size is changed back while EKS is updating', async () => {
    const restoreSpeed = freezeAws(fixture.world);
    try {
      await patch({ nodeGroup: { scaling: { desiredSize: 4 } } });
      await waitFor(() => group()?.status === 'UPDATING', { what: 'the update' });
      await patch({ nodeGroup: { scaling: { desiredSize: 2 } } });
      await fixture.world.waitForPool(POOL, 'to know the last word while EKS works', (pool) => pool !== undefined);
      assert.equal(group()?.status, 'UPDATING');
    } finally {
      restoreSpeed();
    }
    await fixture.until(
      'the size of the last change',
      () => updates().length === 2 && group()?.scalingConfig?.desiredSize === 2,
    );
    await settled();
    assert.deepEqual(updates(), [{ scalingConfig: { desiredSize: 4 } }, { scalingConfig: { desiredSize: 2 } }]);
  });

  it('sets its own tags and keeps those of others', async () => {
    fixture.world.cloud.faults.edit({ group: POOL, tags: { ...group()?.tags, backup: 'daily' } });
    await patch({ nodeGroup: { tags: { cost: '2', old: null } } });
    await fixture.until('the tags', () => group()?.tags?.cost === '2' && !group()?.tags?.old);
    assert.deepEqual(updates(), []);
    const { 'winpool.dev/created-from': _hash, ...tags } = group()?.tags ?? {};
    assert.deepEqual(tags, { backup: 'daily', cost: '2', 'winpool.dev/pool': POOL });
  });

  it('reports a failed update and retries it only when the spec changes', async () => {
    fixture.world.cloud.faults.updateFailure({
      group: POOL,
      errors: [{ errorCode: 'NodeCreationFailure', errorMessage: 'Nodes did not join' }],
    });
    await patch({ labels: { tier: 'broken' } });
    const pool = await fixture.world.waitForConditions(POOL, 'NodeGroupReady=False/UpdateFailed');
    assert.equal(conditionOf(pool, 'Stalled'), 'True/UpdateFailed');
    assertNames(
      messageOf(pool, 'Stalled'),
      'NodeCreationFailure: Nodes did not join',
      /\b\d+ of \d+ nodes?\b/,
      'kubectl annotate wp changing winpool.dev/retry=$(date +%s) --overwrite',
    );
    fixture.world.cloud.resetCalls();
    const polls = () => callsOf(fixture.world, 'DescribeNodegroup').length;
    await waitFor(() => polls() >= 3, { what: 'three more polls' });
    assert.deepEqual(updates(), []);
    await patch({ labels: { tier: 'corrected' } });
    await waitFor(() => group()?.labels?.tier === 'corrected', { what: 'the next update' });
    assert.equal(conditionOf(await settled(), 'Stalled'), 'absent');
  });

  it('switches to its own RuntimeClass and back, and leaves nothing behind', async () => {
    const names = async () =>
      (await fixture.world.kubectl('get', 'runtimeclasses', '-o', 'name')).trim().split('\n').sort();
    await patch({ runtimeClass: { name: 'special', handler: 'runhcs-wcow-hypervisor' } });
    await fixture.until(
      'the other RuntimeClass',
      async () => (await names()).join() === 'runtimeclass.node.k8s.io/special',
    );
    await patch({ runtimeClass: { handler: 'runhcs-wcow-process' } });
    const handler = () =>
      fixture.world.kubectl('get', 'runtimeclass', 'special', '--ignore-not-found', '-o', 'jsonpath={.handler}');
    await fixture.until('the other handler', async () => (await handler()) === 'runhcs-wcow-process');
    await patch({ runtimeClass: { name: null, handler: null } });
    await waitFor(async () => (await names()).join() === 'runtimeclass.node.k8s.io/windows-2022', {
      what: 'the shared RuntimeClass',
    });
    await settled();
  });
});
