/** A node that a user replaces: what blocks the drain, what continues it, and how it is cancelled. */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { firstOf, instanceOf, type Node, withTerminatingNodes } from './terminatingNodesFixture.ts';

const POOL = 'leavers';
const REPLACE = 'winpool.dev/replace';

describe('a node with the replace annotation', () => {
  const suite = withTerminatingNodes('--denied-retry-interval=500ms');
  let replaced: Node;
  const isGone = (found: Node | undefined) => found?.metadata.uid !== replaced.metadata.uid;
  const stays = (found: Node | undefined) =>
    found !== undefined &&
    found.spec.unschedulable !== true &&
    found.metadata.annotations?.['winpool.dev/cordoned'] === undefined;

  before(async () => {
    await suite.fixture.world.apply(poolManifest(POOL, { nodeGroup: { scaling: { minSize: 2, maxSize: 4 } } }));
    await suite.settled(POOL, 2);
  });
  beforeEach(async () => {
    await suite.settled(POOL, 2);
    replaced = firstOf(await suite.nodes(POOL));
    suite.fixture.world.cloud.resetCalls();
  });

  it('is cordoned and drained, its instance is terminated, and another node replaces it', async () => {
    const { name } = replaced.metadata;
    await suite.pod(name, 'cart');
    await suite.annotate(name, `${REPLACE}=true`);
    await suite.waitForNode(name, 'to go', isGone);
    await suite.settled(POOL, 2);
    assert.deepEqual(await suite.pods(), []);
    assert.deepEqual(suite.terminations(), [instanceOf(replaced)]);
    assert.ok((await suite.nodes(POOL)).every(({ spec }) => spec.unschedulable !== true));
    await suite.eventSays('NodeCordoned', name);
    await suite.eventSays('InstanceTerminated', name);
  });

  it('is blocked by a PodDisruptionBudget, which the condition, the event and kubectl describe name with the pod, until the budget allows the eviction', async () => {
    const { name } = replaced.metadata;
    await suite.pod(name, 'precious');
    await suite.pod(name, 'free');
    await suite.budget('precious');
    await suite.annotate(name, `${REPLACE}=true`);
    await suite.becomesLeaving(POOL, 'True/DrainBlocked');
    const words = ['tenants/precious', 'PodDisruptionBudget precious-budget'];
    assertNames(await suite.leavingMessage(POOL), `Draining ${name}`, ...words);
    await suite.eventSays('DrainBlocked', ...words);
    assertNames(await suite.fixture.world.kubectl('describe', 'windowspool', POOL), ...words);
    await waitFor(async () => `${await suite.pods()}` === 'precious', { what: 'the other pod to be evicted' });
    assert.deepEqual(suite.terminations(), []);
    await suite.kubectl('delete', 'pdb', 'precious-budget');
    await suite.waitForNode(name, 'to go', isGone);
    await suite.settled(POOL, 2);
    assert.deepEqual(suite.terminations(), [instanceOf(replaced)]);
    const statuses = (await suite.evictions('precious')).map(([, status]) => status);
    assert.deepEqual([statuses.at(0), statuses.at(-1)], [429, 201]);
  });

  it('stays when its annotation is removed during the drain', async () => {
    const { name } = replaced.metadata;
    await suite.pod(name, 'first');
    await suite.pod(name, 'last');
    await suite.budget('last');
    await suite.annotate(name, `${REPLACE}=true`);
    await suite.becomesLeaving(POOL, 'True/DrainBlocked');
    await suite.annotate(name, `${REPLACE}-`);
    await suite.waitForNode(name, 'to stay', stays);
    await suite.settled(POOL, 2);
    assert.deepEqual([await suite.pods(), suite.terminations()], [['last'], []]);
  });
});
