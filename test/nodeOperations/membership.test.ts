/** Nodes that must not be removed although a user asks for it: those whose instance is uncertain, and those of other owners. */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { existingNode } from '../../hack/testenv/existingNode.ts';
import { conditionOf, messageOf } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { firstOf, instanceOf, type Node, withTerminatingNodes } from './terminatingNodesFixture.ts';

const POOL = 'members';
const REPLACE = 'winpool.dev/replace';
const REMOVE = 'winpool.dev/remove';

describe('a node that must not go although it is asked for', () => {
  const on = withTerminatingNodes('--denied-retry-interval=500ms');
  let asked: Node;
  const faults = () => on.stage.world.cloud.faults;
  const isRefused = (found: Node | undefined) => found?.metadata.annotations?.[REPLACE] === 'refused';
  const isUntouched = (found: Node | undefined) =>
    found?.metadata.uid === asked.metadata.uid &&
    found.spec.unschedulable !== true &&
    found.metadata.annotations?.['winpool.dev/cordoned'] === undefined;
  const isGone = (found: Node | undefined) => found?.metadata.uid !== asked.metadata.uid;
  /** A Node created by a user who may, or by a kubelet that reports a wrong instance. */
  const nodeWith = (name: string, providerID: string, annotations: Record<string, string> = {}) => ({
    ...existingNode({ name, annotations, labels: { 'eks.amazonaws.com/nodegroup': POOL } }),
    spec: { providerID, taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }] },
  });
  const rescale = (scaling: object) => on.stage.world.patchPool(POOL, { scaling });

  before(async () => {
    await on.stage.world.apply(poolManifest(POOL, { scaling: { min: 2, max: 5 }, disruption: { maxUnavailable: 2 } }));
    await on.settled(POOL, 2);
  });
  beforeEach(async () => {
    await on.settled(POOL, 2);
    asked = firstOf(await on.nodes(POOL));
    on.stage.world.cloud.resetCalls();
  });
  afterEach(() => faults().restoreAction());

  // First: the recorder drops events about an object that has had many, as this suite's pool has.
  it('is not removed from a pool of scaling.min nodes, which says so, and goes when the pool may be smaller', async () => {
    const { name } = asked.metadata;
    await on.annotate(name, `${REMOVE}=true`);
    await on.leavingIs(POOL, 'True/RemovalRefused');
    const words = `node ${name} is not removed: the pool has no more than scaling.min (2) nodes`;
    assert.ok((await on.reported(POOL)).includes(words.replace(/^node /, '')), await on.reported(POOL));
    await on.eventSays('RemovalRefused', name, 'scaling.min (2)');
    assert.ok(isUntouched(await on.node(name)));
    await rescale({ min: 1 });
    await on.nodeIs(name, 'to go', isGone);
    await on.settled(POOL, 1);
    assert.deepEqual(on.ended(), [`${instanceOf(asked)} smaller`]);
    await rescale({ min: 2 });
  });

  it('is refused in words when its instance has the tag of another scaling group, and is not touched', async () => {
    const { name } = asked.metadata;
    const instance = on.stage.world.cloud.state.instances.get(instanceOf(asked));
    assert.ok(instance);
    const { autoScalingGroup } = instance;
    Object.assign(instance, { autoScalingGroup: 'eks-foreign' });
    await on.annotate(name, `${REPLACE}=true`);
    await on.nodeIs(name, 'to be refused', isRefused);
    await on.eventSays('NodeStays', name, `instance ${instance.id}`, 'belongs to scaling group eks-foreign');
    assert.ok(isUntouched(await on.node(name)));
    assert.deepEqual(on.ended(), []);
    Object.assign(instance, { autoScalingGroup });
    await on.annotate(name, `${REPLACE}-`);
  });

  it('is refused in words when it says that it is the instance of another node, which is not touched either', async () => {
    const liar = 'ip-10-9-9-9.eu-west-1.compute.internal';
    await on.stage.world.apply(nodeWith(liar, asked.spec.providerID ?? ''));
    await on.annotate(liar, `${REPLACE}=true`);
    await on.nodeIs(liar, 'to be refused', isRefused);
    await on.eventSays('NodeStays', liar, `which is node ${asked.metadata.name}`);
    assert.notEqual((await on.node(liar))?.spec.unschedulable, true);
    assert.ok(isUntouched(await on.node(asked.metadata.name)));
    assert.deepEqual(on.ended(), []);
    await on.stage.world.kubectl('delete', 'node', liar);
  });

  it('is left alone when another node with another instance has taken its name, and so is its instance', async () => {
    const { name } = asked.metadata;
    await on.pod(name, 'cart');
    await on.budget('cart');
    await on.annotate(name, `${REPLACE}=true`);
    await on.leavingIs(POOL, 'True/DrainBlocked');
    await on.stage.world.kubectl('delete', 'node', name);
    await on.stage.world.apply(nodeWith(name, 'aws:///eu-west-1a/i-00000000000000000', { [REPLACE]: 'true' }));
    await on.kubectl('delete', 'pdb', 'cart-budget');
    await on.nodeIs(name, 'to be refused', isRefused);
    await on.eventSays('NodeStays', name, 'EC2 knows no instance i-00000000000000000');
    assert.deepEqual(on.ended(), []);
    // Its kubelet registers again when it starts.
    await on.stage.world.kubectl('delete', 'node', name);
    faults().restartNode({ node: instanceOf(asked) });
  });

  it('waits while EC2 must not be asked, untouched, and goes when it may', async () => {
    const { name } = asked.metadata;
    faults().removeAction({ action: 'ec2:DescribeInstances' });
    await on.annotate(name, `${REPLACE}=true`);
    const pool = await on.stage.world.waitForPool(
      POOL,
      'to name the right',
      (found) => conditionOf(found, 'PrerequisitesMet') === 'Unknown/AccessDenied',
    );
    assert.match(messageOf(pool, 'PrerequisitesMet'), /ec2:DescribeInstances/);
    assert.ok(isUntouched(await on.node(name)));
    faults().restoreAction();
    await on.nodeIs(name, 'to go', isGone);
    assert.deepEqual(on.ended(), [instanceOf(asked)]);
  });

  it('does not end while EC2 does not answer, although it is empty', async () => {
    const { name } = asked.metadata;
    await on.pod(name, 'last');
    await on.budget('last');
    await on.annotate(name, `${REPLACE}=true`);
    await on.leavingIs(POOL, 'True/DrainBlocked');
    faults().calls.serverError({ count: 1_000, operation: 'DescribeInstances' });
    await on.kubectl('delete', 'pdb', 'last-budget');
    const tries = () =>
      on.stage.world.cloud.calls().filter(({ operation }) => operation === 'DescribeInstances').length;
    const before = tries();
    await waitFor(() => tries() > before + 1, { what: 'two more questions to EC2', timeoutMs: 20_000 });
    assert.deepEqual([await on.pods(), on.ended()], [[], []]);
    faults().calls.clear();
    await on.nodeIs(name, 'to go', isGone);
    assert.deepEqual(on.ended(), [instanceOf(asked)]);
  });

  it('is not removed from a pool whose size the spec says, and goes when that is taken away', async () => {
    const { name } = asked.metadata;
    await rescale({ min: 1, desired: 2 });
    await on.annotate(name, `${REMOVE}=true`);
    await on.leavingIs(POOL, 'True/RemovalRefused');
    assert.match(
      await on.reported(POOL),
      /is not removed: spec\.scaling\.desired is 2, and the pool would grow back to it/,
    );
    assert.ok(isUntouched(await on.node(name)));
    assert.deepEqual(on.ended(), []);
    await rescale({ desired: null });
    await on.nodeIs(name, 'to go', isGone);
    await on.settled(POOL, 1);
    assert.deepEqual(on.ended(), [`${instanceOf(asked)} smaller`]);
    await rescale({ min: 2 });
  });
});
