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
  const staysWith = (value: string) => (found: Node | undefined) =>
    stays(found) && found?.metadata.annotations?.[REPLACE] === value;

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
    await waitFor(async () => `${await suite.pods()}` === 'precious', {
      what: 'the other pod to be evicted',
      timeoutMs: 30_000,
    });
    assert.deepEqual(suite.terminations(), []);
    await suite.kubectl('delete', 'pdb', 'precious-budget');
    await suite.waitForNode(name, 'to go', isGone);
    await suite.settled(POOL, 2);
    assert.deepEqual(suite.terminations(), [instanceOf(replaced)]);
    const statuses = (await suite.evictions('precious')).map(([, status]) => status);
    assert.deepEqual([statuses.at(0), statuses.at(-1)], [429, 201]);
  });

  it('stays when its drain times out, with timed-out in its annotation, and is retried when that is set to true again', async () => {
    const { name } = replaced.metadata;
    await suite.pod(name, 'slow');
    await suite.budget('slow');
    await suite.annotate(name, `${REPLACE}=true`);
    await suite.becomesLeaving(POOL, 'True/DrainBlocked');
    await suite.makeStartedLongAgo(POOL);
    await suite.waitForNode(name, 'to stay', staysWith('timed-out'));
    await suite.settled(POOL, 2);
    await suite.eventSays('NodeDisruptionCanceled', name);
    assert.deepEqual([await suite.pods(), suite.terminations()], [['slow'], []]);
    await suite.annotate(name, `${REPLACE}=true`);
    await suite.becomesLeaving(POOL, 'True/DrainBlocked');
    await suite.kubectl('delete', 'pdb', 'slow-budget');
    await suite.waitForNode(name, 'to go', isGone);
    assert.deepEqual(suite.terminations(), [instanceOf(replaced)]);
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

  it('stays when its annotation is removed while the last pod terminates', async () => {
    const { name } = replaced.metadata;
    await suite.pod(name, 'ending');
    const finalizers = (list: readonly string[]) =>
      suite.kubectl('patch', 'pod', 'ending', '--type=merge', '-p', JSON.stringify({ metadata: { finalizers: list } }));
    await finalizers(['example.com/backup']);
    await suite.annotate(name, `${REPLACE}=true`);
    const isEvicted = async () => (await suite.evictions('ending')).length > 0;
    await waitFor(isEvicted, { what: 'the eviction of the pod', timeoutMs: 20_000 });
    await suite.annotate(name, `${REPLACE}-`);
    await suite.waitForNode(name, 'to stay', stays);
    await finalizers([]);
    await suite.settled(POOL, 2);
    // It was evicted once, which is enough.
    assert.deepEqual([await suite.evictions('ending'), suite.terminations()], [[[30, 201]], []]);
  });

  it('stays when its annotation is removed while it waits for its turn', async () => {
    const other = (await suite.nodes(POOL))[1];
    assert.ok(other);
    await suite.fixture.world.kubectl('cordon', other.metadata.name);
    await suite.annotate(replaced.metadata.name, `${REPLACE}=true`);
    await suite.becomesLeaving(POOL, 'True/DisruptionPending');
    await suite.annotate(replaced.metadata.name, `${REPLACE}-`);
    await suite.becomesLeaving(POOL, 'absent');
    await suite.fixture.world.kubectl('uncordon', other.metadata.name);
    await suite.settled(POOL, 2);
    assert.deepEqual(suite.terminations(), []);
    assert.ok(stays(await suite.node(replaced.metadata.name)));
  });

  it('stays when its annotation is removed right before its termination', async () => {
    const { cloud } = suite.fixture.world;
    const { name } = replaced.metadata;
    cloud.faults.removeAction({ action: 'autoscaling:TerminateInstanceInAutoScalingGroup' });
    await suite.annotate(name, `${REPLACE}=true`);
    try {
      const tried = () => suite.terminations().length > 0;
      await suite.waitForNode(name, 'to be as good as gone', (found) => found?.spec.unschedulable === true && tried());
      await suite.annotate(name, `${REPLACE}-`);
      await suite.waitForNode(name, 'to stay', stays);
    } finally {
      cloud.faults.restoreAction();
    }
    await suite.settled(POOL, 2);
    assert.ok(cloud.calls().every(({ operation, result }) => !operation.startsWith('Terminate') || result !== 'ok'));
  });

  it('stays cordoned when its annotation is removed if it was cordoned before', async () => {
    const { name } = replaced.metadata;
    await suite.pod(name, 'guest');
    await suite.budget('guest');
    await suite.fixture.world.kubectl('cordon', name);
    await suite.annotate(name, `${REPLACE}=true`);
    await suite.becomesLeaving(POOL, 'True/DrainBlocked');
    await suite.annotate(name, `${REPLACE}-`);
    const isLeft = (found: Node | undefined) => found?.metadata.annotations?.['winpool.dev/cordoned'] === undefined;
    await suite.waitForNode(name, 'to be left alone', isLeft);
    assert.equal((await suite.node(name))?.spec.unschedulable, true);
    await suite.fixture.world.kubectl('uncordon', name);
  });
});
