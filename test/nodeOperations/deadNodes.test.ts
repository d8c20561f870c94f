/** Pods on a dead node: no kubelet confirms their deletion, so they are reported with their age, and waited for only for a limited time. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { firstOf, instanceOf, withTerminatingNodes } from './terminatingNodesFixture.ts';

const POOL = 'dead';
const LATER = fileURLToPath(new URL('laterClock.ts', import.meta.url));

describe('a node that is to be replaced and is dead', () => {
  const on = withTerminatingNodes();
  const { stage } = on;
  const finalizers = (list: readonly string[]) =>
    on.kubectl('patch', 'pod', 'lost', '--type=merge', '-p', JSON.stringify({ metadata: { finalizers: list } }));

  before(async () => {
    await stage.world.apply(poolManifest(POOL, { scaling: { min: 2, max: 4 } }));
    await on.settled(POOL, 2);
  });

  it('goes although a pod never ended, which is told of with its age, but not before the others have gone', async () => {
    const { cloud } = stage.world;
    const node = firstOf(await on.nodes(POOL));
    const { name } = node.metadata;
    for (const pod of ['lost', 'kept']) await on.pod(name, pod, { spec: { terminationGracePeriodSeconds: 1 } });
    await on.budget('kept');
    // No kubelet confirms that it has ended.
    await finalizers(['example.com/kubelet']);
    cloud.faults.nodeReady({ node: name, ready: false });
    cloud.resetCalls();
    await on.annotate(name, 'winpool.dev/replace=true');
    await on.leavingIs(POOL, 'True/DrainBlocked');
    assert.doesNotMatch(await on.reported(POOL), /was to end/);
    await stage.operator.stop();
    const flags = ['--poll-interval=200ms', '--resync-interval=1s', '--retry-base=50ms', '--leader-elect=false'];
    stage.operator = await stage.world.operator(flags, { nodeFlags: [`--import=${LATER}`] }).ready();
    const words =
      /\(1 pod of the node, which is not Ready, was to end, such as tenants\/lost more than (5|10) minutes ago\)/;
    await stage.world.waitForPool(
      POOL,
      'to tell of the pod',
      (pool) => words.test(messageOf(pool, 'NodesLeaving')),
      20_000,
    );
    assert.deepEqual(on.ended(), []);
    await on.kubectl('delete', 'pdb', 'kept-budget');
    await on.nodeIs(name, 'to end', () => on.ended().length > 0);
    assert.deepEqual([await on.pods(), on.ended()], [['lost'], [instanceOf(node)]]);
    assert.deepEqual(await on.evictions('lost'), [[1, 201]]);
    await finalizers([]);
    await on.settled(POOL, 2);
  });
});
