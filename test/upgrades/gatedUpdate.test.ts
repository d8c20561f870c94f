/** A rolling update whose nodes keep the gate taint: EKS waits for a PodDisruptionBudget, but not for the gate. */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf, messageOf } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';
import { budget, deployment, namespaceCalled } from '../userObjects.ts';

const POOL = 'gated-update';
const NAMESPACE = 'behind-the-gate';
const OLD = '1.36-2026.02.17';
const NEW = '1.36-2026.03.17';
const WRONG_BUILD = '10.0.17763';

describe('an update with policy Gate to a release whose nodes fail', () => {
  after(async () => {
    fixture.world?.cloud.state.plans.nodes.splice(0);
    fixture.world?.cloud.faults.speed({ speed: 1 });
    await fixture.world?.kubectl('delete', 'namespace', NAMESPACE, '--ignore-not-found', '--timeout=60s');
  });
  const fixture = withOperator('--resync-interval=1s');
  const nodesOf = () => fixture.world.nodeNamesOf(POOL);
  const podsIn = async (phase: string): Promise<number> => {
    const query = ['-n', NAMESPACE, `--field-selector=status.phase=${phase}`, '-o', 'name'];
    return (await fixture.world.kubectl('get', 'pods', ...query)).split('\n').filter((name) => name !== '').length;
  };
  let old: readonly string[] = [];

  before(async () => {
    await fixture.world.apply(
      poolManifest(POOL, { nodeGroup: { releaseVersion: OLD }, verification: { policy: 'Gate' } }),
    );
    await fixture.world.waitForReady(POOL);
    old = await nodesOf();
    const spec = {
      nodeSelector: { 'eks.amazonaws.com/nodegroup': POOL, 'kubernetes.io/os': 'windows' },
      tolerations: [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }],
      containers: [{ name: 'cart', image: 'cart' }],
    };
    for (const object of [
      namespaceCalled(NAMESPACE),
      budget(NAMESPACE, 'cart', { minAvailable: 1 }),
      deployment(NAMESPACE, 'cart', 1, spec),
    ])
      await fixture.world.apply(object);
    await waitFor(async () => (await podsIn('Running')) === 1, { what: 'a running pod' });
    // More than EKS launches for the update of one node.
    for (let i = 0; i < 10; i++) fixture.world.cloud.faults.nextNode({ group: POOL, build: WRONG_BUILD });
  });

  it('shows a warning while a PodDisruptionBudget keeps the pods on the old nodes', async () => {
    // EKS gives up after 15 minutes, 15 seconds here: on a busy machine, the budget is deleted later than that.
    fixture.world.cloud.faults.speed({ speed: 0.25 });
    await fixture.world.patchPool(POOL, { nodeGroup: { releaseVersion: NEW } });
    const pool = await fixture.world.waitForPool(
      POOL,
      'to warn that EKS does not wait for the gate',
      (found) => / gated nodes\b/.test(messageOf(found, 'NodeGroupReady')),
      60_000,
    );
    assert.equal(conditionOf(pool, 'NodeGroupReady'), 'True/Updating');
    assert.match(messageOf(pool, 'NodeGroupReady'), /\d+ nodes? (is|are) gated, and ip-\S+ /);
    assert.equal(await podsIn('Running'), 1);
    for (const name of old) assert.ok((await nodesOf()).includes(name), `${name} is still there`);
  });

  it('removes the old nodes when the budget allows it, and pods are Pending', async () => {
    await fixture.world.kubectl('delete', 'poddisruptionbudget', 'cart', '-n', NAMESPACE);
    fixture.world.cloud.faults.speed({ speed: 1 });
    const pool = await fixture.world.waitForPool(
      POOL,
      'to have the release and only nodes at the gate',
      (found) =>
        found?.status?.nodeGroup?.releaseVersion === NEW &&
        found.status.nodeGroup.status === 'ACTIVE' &&
        found.status.nodes?.total === 1 &&
        found.status.nodes.gated === 1,
      100_000,
    );
    assert.equal(conditionOf(pool, 'NodesVerified'), 'False/WrongBuild');
    const left = await nodesOf();
    assert.ok(
      old.every((name) => !left.includes(name)),
      `${old} of ${left}`,
    );
    assert.deepEqual([await podsIn('Running'), await podsIn('Pending')], [0, 1]);
  });
});
