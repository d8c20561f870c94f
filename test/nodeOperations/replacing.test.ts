/** A node that a user replaces: what blocks the drain, what continues it, and how it is cancelled. */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { poolManifest } from '../pools.ts';
import { firstOf, instanceOf, type Node, withTerminatingNodes } from './terminatingNodesFixture.ts';

const POOL = 'leavers';
const REPLACE = 'winpool.dev/replace';

describe('a node that is to be replaced', () => {
  const on = withTerminatingNodes('--denied-retry-interval=500ms');
  let leaver: Node;
  const isGone = (found: Node | undefined) => found?.metadata.uid !== leaver.metadata.uid;
  const stays = (found: Node | undefined) =>
    found !== undefined &&
    found.spec.unschedulable !== true &&
    found.metadata.annotations?.['winpool.dev/cordoned'] === undefined;
  const answered = (value: string) => (found: Node | undefined) =>
    stays(found) && found?.metadata.annotations?.[REPLACE] === value;

  before(async () => {
    await on.stage.world.apply(poolManifest(POOL, { scaling: { min: 2, max: 4 } }));
    await on.settled(POOL, 2);
  });
  beforeEach(async () => {
    await on.settled(POOL, 2);
    leaver = firstOf(await on.nodes(POOL));
    on.stage.world.cloud.resetCalls();
  });

  it('is cordoned and emptied, and then its instance ends, and another one takes its place', async () => {
    const { name } = leaver.metadata;
    await on.pod(name, 'cart');
    await on.annotate(name, `${REPLACE}=true`);
    await on.nodeIs(name, 'to go', isGone);
    await on.settled(POOL, 2);
    assert.deepEqual(await on.pods(), []);
    assert.deepEqual(on.ended(), [instanceOf(leaver)]);
    assert.ok((await on.nodes(POOL)).every(({ spec }) => spec.unschedulable !== true));
    await on.eventSays('NodeCordoned', name);
    await on.eventSays('InstanceEnded', name);
  });

  it('is kept by a PodDisruptionBudget, which condition, event and kubectl describe name with the pod, until the budget allows it', async () => {
    const { name } = leaver.metadata;
    await on.pod(name, 'precious');
    await on.pod(name, 'free');
    await on.budget('precious');
    await on.annotate(name, `${REPLACE}=true`);
    await on.leavingIs(POOL, 'True/DrainBlocked');
    const words = 'pod tenants/precious is kept by PodDisruptionBudget precious-budget';
    const message = await on.reported(POOL);
    assert.match(message, new RegExp(`node ${name} is to be replaced, and .* must leave it first: .*${words}`, 'i'));
    await on.eventSays('DrainBlocked', words);
    assert.ok((await on.stage.world.kubectl('describe', 'windowspool', POOL)).includes(words));
    await waitFor(async () => `${await on.pods()}` === 'precious', { what: 'the other pod to go', timeoutMs: 30_000 });
    assert.deepEqual(on.ended(), []);
    await on.kubectl('delete', 'pdb', 'precious-budget');
    await on.nodeIs(name, 'to go', isGone);
    await on.settled(POOL, 2);
    assert.deepEqual(on.ended(), [instanceOf(leaver)]);
    const answers = (await on.evictions('precious')).map(([, status]) => status);
    assert.deepEqual([answers.at(0), answers.at(-1)], [429, 201]);
  });

  it('stays when it takes too long, with timed-out in its annotation, and another true is another try', async () => {
    const { name } = leaver.metadata;
    await on.pod(name, 'slow');
    await on.budget('slow');
    await on.annotate(name, `${REPLACE}=true`);
    await on.leavingIs(POOL, 'True/DrainBlocked');
    await on.longSince(POOL);
    await on.nodeIs(name, 'to stay', answered('timed-out'));
    await on.settled(POOL, 2);
    await on.eventSays('NodeStays', name);
    assert.deepEqual([await on.pods(), on.ended()], [['slow'], []]);
    await on.annotate(name, `${REPLACE}=true`);
    await on.leavingIs(POOL, 'True/DrainBlocked');
    await on.kubectl('delete', 'pdb', 'slow-budget');
    await on.nodeIs(name, 'to go', isGone);
    assert.deepEqual(on.ended(), [instanceOf(leaver)]);
  });

  it('stays when its annotation is taken away while it is half empty', async () => {
    const { name } = leaver.metadata;
    await on.pod(name, 'first');
    await on.pod(name, 'last');
    await on.budget('last');
    await on.annotate(name, `${REPLACE}=true`);
    await on.leavingIs(POOL, 'True/DrainBlocked');
    await on.annotate(name, `${REPLACE}-`);
    await on.nodeIs(name, 'to stay', stays);
    await on.settled(POOL, 2);
    assert.deepEqual([await on.pods(), on.ended()], [['last'], []]);
  });

  it('stays when its annotation is taken away while the last pod still ends', async () => {
    const { name } = leaver.metadata;
    await on.pod(name, 'ending');
    const finalizers = (list: readonly string[]) =>
      on.kubectl('patch', 'pod', 'ending', '--type=merge', '-p', JSON.stringify({ metadata: { finalizers: list } }));
    await finalizers(['example.com/backup']);
    await on.annotate(name, `${REPLACE}=true`);
    const isEvicted = async () => (await on.evictions('ending')).length > 0;
    await waitFor(isEvicted, { what: 'the eviction of the pod', timeoutMs: 20_000 });
    await on.annotate(name, `${REPLACE}-`);
    await on.nodeIs(name, 'to stay', stays);
    await finalizers([]);
    await on.settled(POOL, 2);
    // It was asked to go once, and that is enough.
    assert.deepEqual([await on.evictions('ending'), on.ended()], [[[30, 201]], []]);
  });

  it('stays when its annotation is taken away while its turn has not come', async () => {
    const other = (await on.nodes(POOL))[1];
    assert.ok(other);
    await on.stage.world.kubectl('cordon', other.metadata.name);
    await on.annotate(leaver.metadata.name, `${REPLACE}=true`);
    await on.leavingIs(POOL, 'True/WaitingForTurn');
    await on.annotate(leaver.metadata.name, `${REPLACE}-`);
    await on.leavingIs(POOL, 'absent');
    await on.stage.world.kubectl('uncordon', other.metadata.name);
    await on.settled(POOL, 2);
    assert.deepEqual(on.ended(), []);
    assert.ok(stays(await on.node(leaver.metadata.name)));
  });

  it('stays when its annotation is taken away right before its end', async () => {
    const { cloud } = on.stage.world;
    const { name } = leaver.metadata;
    cloud.faults.removeAction({ action: 'autoscaling:TerminateInstanceInAutoScalingGroup' });
    await on.annotate(name, `${REPLACE}=true`);
    try {
      const tried = () => on.ended().length > 0;
      await on.nodeIs(name, 'to be as good as gone', (found) => found?.spec.unschedulable === true && tried());
      await on.annotate(name, `${REPLACE}-`);
      await on.nodeIs(name, 'to stay', stays);
    } finally {
      cloud.faults.restoreAction();
    }
    await on.settled(POOL, 2);
    assert.ok(cloud.calls().every(({ operation, result }) => !operation.startsWith('Terminate') || result !== 'ok'));
  });

  it('that somebody had cordoned stays cordoned when it is not to go any more', async () => {
    const { name } = leaver.metadata;
    await on.pod(name, 'guest');
    await on.budget('guest');
    await on.stage.world.kubectl('cordon', name);
    await on.annotate(name, `${REPLACE}=true`);
    await on.leavingIs(POOL, 'True/DrainBlocked');
    await on.annotate(name, `${REPLACE}-`);
    const isLeft = (found: Node | undefined) => found?.metadata.annotations?.['winpool.dev/cordoned'] === undefined;
    await on.nodeIs(name, 'to be left alone', isLeft);
    assert.equal((await on.node(name))?.spec.unschedulable, true);
    await on.stage.world.kubectl('uncordon', name);
  });
});
