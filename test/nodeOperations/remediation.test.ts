/** Nodes that fail for too long are replaced, and none is when so many fail that the nodes are hardly the cause. */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { poolManifest } from '../pools.ts';
import { slowed } from '../sharedWorld.ts';
import { firstOf, instanceOf, type Node, withTerminatingNodes } from './terminatingNodesFixture.ts';

const POOL = 'healers';
const SIZE = 3;
const LONG_AGO = '2026-01-01T00:00:00Z';

describe('a pool with remediation', () => {
  // Not longer than a node needs to join here: what fails is known soon.
  const on = withTerminatingNodes('--join-grace=4s');
  let node: Node;
  let others: readonly Node[];
  const cloud = () => on.stage.world.cloud;
  const name = () => node.metadata.name;
  const result = async (of: string) =>
    on.stage.world.kubectl(
      'get',
      'node',
      of,
      '--ignore-not-found',
      '-o',
      'jsonpath={.status.conditions[?(@.type=="winpool.dev/Verified")].status}',
    );
  /** Waits until a node fails, and lets that be long ago. */
  const failsFor = async (of: string) => {
    await waitFor(async () => (await result(of)) === 'False', { what: `node ${of} to fail`, timeoutMs: 30_000 });
    const condition = { type: 'winpool.dev/Verified', lastTransitionTime: LONG_AGO };
    const patch = JSON.stringify({ status: { conditions: [condition] } });
    await on.stage.world.kubectl('patch', 'node', of, '--subresource=status', '--type=strategic', '-p', patch);
  };
  const breakBuild = (of: string) => cloud().faults.patchKernel({ node: of, build: '10.0.17763' });
  const mendBuild = (of: string) => cloud().faults.patchKernel({ node: of, build: '10.0.20348' });
  const isGone = (found: Node | undefined) => found?.metadata.uid !== node.metadata.uid;
  /** The next node of the pool, which takes the place of `node`. */
  const successor = async () => {
    cloud().faults.terminateInstance({ node: name() });
    const known = [node, ...others].map(({ metadata }) => metadata.uid);
    const look = async () => (await on.nodes(POOL)).find(({ metadata }) => !known.includes(metadata.uid));
    return waitFor(look, { what: 'the next node', timeoutMs: 30_000 });
  };

  before(async () => {
    const spec = { scaling: { min: SIZE, max: 5 }, remediation: { unhealthyAfter: '5m', maxUnhealthy: 1 } };
    await on.stage.world.apply(poolManifest(POOL, spec));
    await on.settled(POOL, SIZE);
  });
  beforeEach(async () => {
    await on.settled(POOL, SIZE);
    const all = await on.nodes(POOL);
    node = firstOf(all);
    others = all.slice(1);
    cloud().resetCalls();
  });

  // First: the recorder drops events about an object that has had many, as this suite's pool has.
  it('replaces none while more than maxUnhealthy fail, and says so, and goes on when fewer do', async () => {
    const other = firstOf(others).metadata.name;
    for (const each of [name(), other]) breakBuild(each);
    await on.leavingIs(POOL, 'True/TooManyUnhealthy');
    for (const each of [name(), other]) await failsFor(each);
    await looksAgain();
    assert.match(
      await on.reported(POOL),
      /2 nodes fail or have not joined, more than remediation\.maxUnhealthy \(1\) allows/,
    );
    await on.eventSays('TooManyUnhealthy', 'remediation.maxUnhealthy (1)');
    assert.deepEqual(on.ended(), []);
    assert.ok((await on.nodes(POOL)).every(({ spec }) => spec.unschedulable !== true));
    mendBuild(other);
    await on.nodeIs(name(), 'to go', isGone);
    await on.settled(POOL, SIZE);
    assert.deepEqual(on.ended(), [instanceOf(node)]);
  });

  it('replaces a node that fails verification, after spec.remediation.unhealthyAfter and not before', async () => {
    breakBuild(name());
    await waitFor(async () => (await result(name())) === 'False', { what: 'the node to fail', timeoutMs: 30_000 });
    assert.equal((await on.node(name()))?.spec.unschedulable, undefined);
    await failsFor(name());
    await on.nodeIs(name(), 'to go', isGone);
    await on.settled(POOL, SIZE);
    assert.deepEqual(on.ended(), [instanceOf(node)]);
  });

  it('replaces a node that is not Ready', async () => {
    cloud().faults.nodeReady({ node: name(), ready: false });
    await failsFor(name());
    await on.nodeIs(name(), 'to go', isGone);
    await on.settled(POOL, SIZE);
    assert.deepEqual(on.ended(), [instanceOf(node)]);
  });

  it('replaces a node without addresses for pods', async () => {
    cloud().faults.nextNode({ group: POOL, noPodAddresses: true });
    node = await successor();
    await failsFor(name());
    await on.nodeIs(name(), 'to go', isGone);
    await on.settled(POOL, SIZE);
    assert.deepEqual(on.ended(), [instanceOf(node)]);
  });

  it('replaces an instance that never became a node', async () => {
    cloud().faults.nextNode({ group: POOL, neverJoins: true });
    const known = new Set(cloud().state.instances.keys());
    cloud().faults.terminateInstance({ node: name() });
    const late = [...cloud().state.instances.values()].find(({ id }) => !known.has(id));
    assert.ok(late);
    Object.assign(late, { launchedAt: new Date(LONG_AGO) });
    await waitFor(() => on.ended().length > 0, { what: 'the end of the instance', timeoutMs: 30_000 });
    await on.settled(POOL, SIZE);
    assert.deepEqual(on.ended(), [late.id]);
  });

  it('lets a node stay that recovers while its pods keep it', async () => {
    await on.pod(name(), 'cart');
    await on.budget('cart');
    breakBuild(name());
    await failsFor(name());
    await on.leavingIs(POOL, 'True/DrainBlocked');
    mendBuild(name());
    await on.settled(POOL, SIZE);
    assert.equal((await on.node(name()))?.spec.unschedulable, undefined);
    assert.deepEqual([await on.pods(), on.ended()], [['cart'], []]);
  });

  it('lets a node alone that has the annotation winpool.dev/remediation, until it is taken away', async () => {
    await on.annotate(name(), 'winpool.dev/remediation=off');
    breakBuild(name());
    await failsFor(name());
    await looksAgain();
    assert.equal((await on.node(name()))?.spec.unschedulable, undefined);
    await on.annotate(name(), 'winpool.dev/remediation-');
    await on.nodeIs(name(), 'to go', isGone);
  });

  it('does nothing while EKS works on the group', async () => {
    const status = () => cloud().state.groups.get(POOL)?.nodegroup.status;
    const goOn = slowed(on.stage.world);
    try {
      await on.stage.world.patchPool(POOL, { labels: { team: 'a' } });
      await waitFor(() => status() === 'UPDATING', { what: 'EKS to begin', timeoutMs: 30_000 });
      // The kernel of a node is nothing that the slow AWS does: it is measured at once.
      breakBuild(name());
      await failsFor(name());
      await looksAgain();
      assert.deepEqual(
        [status(), on.ended(), (await on.node(name()))?.spec.unschedulable],
        ['UPDATING', [], undefined],
      );
    } finally {
      goOn();
    }
    await on.nodeIs(name(), 'to go', isGone);
    await on.settled(POOL, SIZE);
    assert.deepEqual(on.ended(), [instanceOf(node)]);
  });

  /** Waits for some more reconciles. */
  async function looksAgain(): Promise<void> {
    const looks = () =>
      cloud()
        .calls()
        .filter(({ operation }) => operation === 'DescribeNodegroup').length;
    const before = looks();
    await waitFor(() => looks() >= before + 3, { what: 'three more looks', timeoutMs: 20_000 });
  }
});
