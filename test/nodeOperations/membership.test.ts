/** Nodes that must not be removed although a user asks for it: those whose instance is uncertain, and those of other owners. */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { existingNode } from '../fakes/testenv/existingNode.ts';
import { conditionOf, messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames, namesAll } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { firstOf, instanceOf, type Node, withTerminatingNodes } from './terminatingNodesFixture.ts';

const POOL = 'members';
const REPLACE = 'winpool.dev/replace';
const REMOVE = 'winpool.dev/remove';

describe('a node with an annotation that must not be removed', () => {
  const suite = withTerminatingNodes('--denied-retry-interval=500ms');
  let annotated: Node;
  const faults = () => suite.fixture.world.cloud.faults;
  const isRefused = (found: Node | undefined) => found?.metadata.annotations?.[REPLACE] === 'refused';
  const isUntouched = (found: Node | undefined) =>
    found?.metadata.uid === annotated.metadata.uid &&
    found.spec.unschedulable !== true &&
    found.metadata.annotations?.['winpool.dev/cordoned'] === undefined;
  const isGone = (found: Node | undefined) => found?.metadata.uid !== annotated.metadata.uid;
  /** A Node created by a user with the permission, or by a kubelet that reports a wrong instance. */
  const nodeWith = (name: string, providerID: string, annotations: Record<string, string> = {}) => ({
    ...existingNode({ name, annotations, labels: { 'eks.amazonaws.com/nodegroup': POOL } }),
    spec: { providerID, taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }] },
  });
  const rescale = (scaling: object) => suite.fixture.world.patchPool(POOL, { nodeGroup: { scaling } });

  before(async () => {
    await suite.fixture.world.apply(
      poolManifest(POOL, { nodeGroup: { scaling: { minSize: 2, maxSize: 5 } }, disruption: { maxUnavailable: 2 } }),
    );
    await suite.settled(POOL, 2);
  });
  beforeEach(async () => {
    await suite.settled(POOL, 2);
    annotated = firstOf(await suite.nodes(POOL));
    suite.fixture.world.cloud.resetCalls();
  });
  afterEach(() => faults().restoreAction());

  // First: the recorder drops events about an object that has had many, as this suite's pool has.
  it('is not removed from a pool of minSize nodes, which says so, and goes when the pool may be smaller', async () => {
    const { name } = annotated.metadata;
    await suite.annotate(name, `${REMOVE}=true`);
    await suite.becomesLeaving(POOL, 'True/RemovalRejected');
    assertNames(await suite.leavingMessage(POOL), name, 'nodeGroup.scaling.minSize (2)');
    await suite.eventSays('RemovalRejected', name, 'nodeGroup.scaling.minSize (2)');
    assert.ok(isUntouched(await suite.node(name)));
    await rescale({ minSize: 1 });
    await suite.waitForNode(name, 'to go', isGone);
    await suite.settled(POOL, 1);
    assert.deepEqual(suite.terminations(), [`${instanceOf(annotated)} smaller`]);
    await rescale({ minSize: 2 });
  });

  it('is rejected with the cause when its instance has the tag of another scaling group, and is not changed', async () => {
    const { name } = annotated.metadata;
    const instance = suite.fixture.world.cloud.state.instances.get(instanceOf(annotated));
    assert.ok(instance);
    const { autoScalingGroup } = instance;
    Object.assign(instance, { autoScalingGroup: 'eks-foreign' });
    await suite.annotate(name, `${REPLACE}=true`);
    await suite.waitForNode(name, 'to be refused', isRefused);
    await suite.eventSays('NodeDisruptionCanceled', name, instance.id, 'eks-foreign');
    assert.ok(isUntouched(await suite.node(name)));
    assert.deepEqual(suite.terminations(), []);
    Object.assign(instance, { autoScalingGroup });
    await suite.annotate(name, `${REPLACE}-`);
  });

  it('is rejected with the cause when it reports the instance of another node, which is not changed either', async () => {
    const impostor = 'ip-10-9-9-9.eu-west-1.compute.internal';
    await suite.fixture.world.apply(nodeWith(impostor, annotated.spec.providerID ?? ''));
    await suite.annotate(impostor, `${REPLACE}=true`);
    await suite.waitForNode(impostor, 'to be refused', isRefused);
    await suite.eventSays('NodeDisruptionCanceled', impostor, `node ${annotated.metadata.name}`);
    assert.notEqual((await suite.node(impostor))?.spec.unschedulable, true);
    assert.ok(isUntouched(await suite.node(annotated.metadata.name)));
    assert.deepEqual(suite.terminations(), []);
    await suite.fixture.world.kubectl('delete', 'node', impostor);
  });

  it('is not changed when another node with another instance has its name, nor is its instance', async () => {
    const { name } = annotated.metadata;
    await suite.pod(name, 'cart');
    await suite.budget('cart');
    await suite.annotate(name, `${REPLACE}=true`);
    await suite.becomesLeaving(POOL, 'True/DrainBlocked');
    await suite.fixture.world.kubectl('delete', 'node', name);
    await suite.fixture.world.apply(nodeWith(name, 'aws:///eu-west-1a/i-00000000000000000', { [REPLACE]: 'true' }));
    await suite.kubectl('delete', 'pdb', 'cart-budget');
    await suite.fixture.world.waitForPool(POOL, 'to say that the node is not counted', (found) =>
      namesAll(messageOf(found, 'NodesVerified'), 'instance in the node group', name),
    );
    assert.notEqual((await suite.node(name))?.spec.unschedulable, true);
    assert.deepEqual(suite.terminations(), []);
    // Its kubelet registers again when it starts.
    await suite.fixture.world.kubectl('delete', 'node', name);
    faults().restartNode({ node: instanceOf(annotated) });
  });

  it('waits unchanged while EC2 calls are denied, and is terminated when they are allowed', async () => {
    const { name } = annotated.metadata;
    faults().removeAction({ action: 'ec2:DescribeInstances' });
    await suite.annotate(name, `${REPLACE}=true`);
    const pool = await suite.fixture.world.waitForPool(
      POOL,
      'to name the permission',
      (found) => conditionOf(found, 'PrerequisitesMet') === 'Unknown/AccessDenied',
    );
    assert.match(messageOf(pool, 'PrerequisitesMet'), /ec2:DescribeInstances/);
    assert.ok(isUntouched(await suite.node(name)));
    faults().restoreAction();
    await suite.waitForNode(name, 'to go', isGone);
    assert.deepEqual(suite.terminations(), [instanceOf(annotated)]);
  });

  it('is not terminated while EC2 does not respond, although it is drained', async () => {
    const { name } = annotated.metadata;
    await suite.pod(name, 'last');
    await suite.budget('last');
    await suite.annotate(name, `${REPLACE}=true`);
    await suite.becomesLeaving(POOL, 'True/DrainBlocked');
    faults().calls.serverError({ count: 1_000, operation: 'DescribeInstances' });
    await suite.kubectl('delete', 'pdb', 'last-budget');
    const tries = () =>
      suite.fixture.world.cloud.calls().filter(({ operation }) => operation === 'DescribeInstances').length;
    const before = tries();
    await waitFor(() => tries() > before + 1, { what: 'two more calls to EC2', timeoutMs: 20_000 });
    assert.deepEqual([await suite.pods(), suite.terminations()], [[], []]);
    faults().calls.clear();
    await suite.waitForNode(name, 'to go', isGone);
    assert.deepEqual(suite.terminations(), [instanceOf(annotated)]);
  });

  it('is not removed from a pool whose size the spec says, and leaves when that size is removed', async () => {
    const { name } = annotated.metadata;
    await rescale({ minSize: 1, desiredSize: 2 });
    await suite.annotate(name, `${REMOVE}=true`);
    await suite.becomesLeaving(POOL, 'True/RemovalRejected');
    assertNames(await suite.leavingMessage(POOL), name, /nodeGroup\.scaling\.desiredSize\D*\b2\b/);
    assert.ok(isUntouched(await suite.node(name)));
    assert.deepEqual(suite.terminations(), []);
    await rescale({ desiredSize: null });
    await suite.waitForNode(name, 'to go', isGone);
    await suite.settled(POOL, 1);
    assert.deepEqual(suite.terminations(), [`${instanceOf(annotated)} smaller`]);
    await rescale({ minSize: 2 });
  });
});
