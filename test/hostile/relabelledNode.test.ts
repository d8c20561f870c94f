/** A kubelet labels its node as one of the node group of another pool. That pool goes on as if the node did not exist. */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { conditionOf, messageOf } from '../fakes/testenv/testEnv.ts';
import { type Watched, watchEvents } from '../fakes/testenv/watchEvents.ts';
import { firstOf, instanceOf, withTerminatingNodes } from '../nodeOperations/terminatingNodesFixture.ts';
import { poolManifest } from '../pools.ts';
import { markNode } from './kubelet.ts';

const READY = 'True/EnoughNodesVerified';
const GROUP = 'eks.amazonaws.com/nodegroup';

describe('a node that a kubelet labels as one of another node group', () => {
  const suite = withTerminatingNodes();
  let moved: string;
  let watch: Watched;
  /** What the pool whose group the node claims reported: its condition Ready and its number of nodes. */
  const reported = new Set<string>();

  before(async () => {
    for (const name of ['home', 'claimed']) {
      await suite.fixture.world.apply(poolManifest(name, { nodeGroup: { scaling: { minSize: 2, maxSize: 4 } } }));
      await suite.settled(name, 2);
    }
    const path = '/apis/winpool.dev/v1alpha1/windowspools?fieldSelector=metadata.name%3Dclaimed';
    watch = await watchEvents<WindowsPool>(suite.fixture.world.controlPlane.adminKubeconfig, path, ({ object }) =>
      reported.add(`${conditionOf(object, 'Ready')} ${object.status?.nodes?.total}`),
    );
    moved = firstOf(await suite.nodes('home')).metadata.name;
    assert.equal(await markNode(suite.fixture.world, moved, { labels: { [GROUP]: 'claimed' } }), undefined);
  });
  after(() => watch.stop());

  it('is named, but not counted', async () => {
    const { world } = suite.fixture;
    const claimed = await world.waitForPool('claimed', 'to name the node', (pool) =>
      messageOf(pool, 'NodesVerified').includes(moved),
    );
    assert.match(messageOf(claimed, 'NodesVerified'), /\b2 nodes verified\. 1 node with the label .* not counted\b/);
    await world.waitForConditions('home', 'NodesVerified=False/MembershipLabelRemoved');
    watch.check();
    assert.deepEqual([...reported], [`${READY} 2`]);
  });

  it('takes no share of the disruption budget of that pool', async () => {
    suite.fixture.world.cloud.resetCalls();
    await suite.kubectl('cordon', moved);
    const members = (await suite.nodes('claimed')).filter(({ metadata }) => metadata.name !== moved);
    const replaced = firstOf(members);
    await suite.annotate(replaced.metadata.name, 'winpool.dev/replace=true');
    await suite.waitForNode(
      replaced.metadata.name,
      'to be replaced',
      (found) => found?.metadata.uid !== replaced.metadata.uid,
    );
    assert.deepEqual(suite.terminations(), [instanceOf(replaced)]);
  });

  it('is counted by its own pool again when the label is restored', async () => {
    assert.equal(await markNode(suite.fixture.world, moved, { labels: { [GROUP]: 'home' } }), undefined);
    await suite.kubectl('uncordon', moved);
    await suite.settled('home', 2);
    await suite.settled('claimed', 2);
  });
});
