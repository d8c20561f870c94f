/** A node group that EKS cannot change is replaced by a second one while pods serve. */
import assert from 'node:assert/strict';
import { watchReadyPods } from '../fakes/testenv/podsReady.ts';
import { conditionOf } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';
import { budget, deployment } from '../userObjects.ts';

const POOL = 'bluegreen';
const APP = 'bluegreen';
const REPLICAS = 3;
const AVAILABLE = 2;
const SIZE = { minSize: 2, maxSize: 4 };

const objects = [
  budget('default', APP, { minAvailable: AVAILABLE }),
  deployment('default', APP, REPLICAS, {
    nodeSelector: { 'winpool.dev/pool': POOL, 'kubernetes.io/os': 'windows' },
    tolerations: [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }],
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'cart', image: 'cart' }],
  }),
];

describe('a node group that EKS cannot change', () => {
  // Runs before the hook that deletes the pool: the pods can only terminate while they have nodes.
  after(async () => {
    for (const kind of ['deployment', 'poddisruptionbudget'])
      await fixture.world?.kubectl('delete', kind, APP, '--ignore-not-found', '--timeout=60s');
  });
  const fixture = withOperator('--resync-interval=2s', '--poll-interval=1s');
  const groups = () =>
    [...fixture.world.cloud.state.groups.values()]
      .map(({ nodegroup }) => nodegroup)
      .filter(({ tags }) => tags?.['winpool.dev/pool'] === POOL);

  it('is replaced by a second one, while a PodDisruptionBudget keeps the pods available', async function () {
    this.timeout(180_000);
    const manifest = (instanceType: string) =>
      poolManifest(POOL, {
        nodeGroup: { immutableChangePolicy: 'Replace', instanceTypes: [instanceType], scaling: SIZE },
      });
    await fixture.world.apply(manifest('m5.large'));
    await fixture.world.waitForReady(POOL);
    for (const each of objects) await fixture.world.apply(each);
    await fixture.world.kubectl('rollout', 'status', `deployment/${APP}`, '--timeout=60s');

    const pods = await watchReadyPods(fixture.world.controlPlane.adminKubeconfig, APP);
    const wrong: string[] = [];
    await fixture.world.apply(manifest('m5.xlarge'));
    await fixture.world.waitForPool(
      POOL,
      'to have one node group with the new instance type',
      // Called at each event of the pool.
      (pool) => {
        const { replacement, name } = pool?.status?.nodeGroup ?? {};
        if (groups().length > 2) wrong.push(`there were ${groups().length} groups`);
        if (!conditionOf(pool, 'Ready').startsWith('True')) wrong.push(`Ready was ${conditionOf(pool, 'Ready')}`);
        return name !== POOL && replacement === undefined && conditionOf(pool, 'UpToDate').startsWith('True');
      },
      120_000,
    );
    assert.deepEqual(wrong, []);
    const { least, events } = await pods.stop();
    assert.ok(events > REPLICAS, `the pods did not move: ${events} events`);
    assert.ok(least >= AVAILABLE, `only ${least} pods were available`);
    assert.deepEqual(
      groups().map(({ instanceTypes, status, scalingConfig }) => [instanceTypes, status, scalingConfig]),
      [[['m5.xlarge'], 'ACTIVE', { ...SIZE, desiredSize: 2 }]],
    );
  });
});
