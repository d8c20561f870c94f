/** Nodes that are asked for at the same time, and upgrades beside them: who goes, and who waits. */
import assert from 'node:assert/strict';
import type { V1Node } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { conditionOf, messageOf } from '../../hack/testenv/testEnv.ts';
import { type Watched, watchEvents } from '../../hack/testenv/watchEvents.ts';
import { poolManifest } from '../pools.ts';
import { slowed } from '../sharedWorld.ts';
import { instanceOf, withTerminatingNodes } from './terminatingNodesFixture.ts';

const REPLACE = 'winpool.dev/replace=true';
const OLD = '1.36-2026.02.17';
const NEW = '1.36-2026.03.17';
const NEWER = '1.36-2026.04.18';
const ONE = 'turns-one';
const OTHER = 'turns-other';
const SIZE = 3;

describe('nodes that are to be replaced at the same time', () => {
  const on = withTerminatingNodes('--max-pools-updating=1');
  const { stage } = on;
  const replaceAll = (...pools: readonly string[]) =>
    stage.world.kubectl('annotate', 'nodes', '-l', `eks.amazonaws.com/nodegroup in (${pools})`, REPLACE);
  const instances = async (pool: string) => (await on.nodes(pool)).map((node) => instanceOf(node));
  const release = async (pool: string, releaseVersion: string) => {
    await stage.world.patchPool(pool, { nodeGroup: { releaseVersion } });
  };
  const has = (pool: string, releaseVersion: string) =>
    stage.world.waitForPool(
      pool,
      `to have release ${releaseVersion}`,
      (found) => found?.status?.nodeGroup?.releaseVersion === releaseVersion,
    );
  const statusOf = (pool: string) => stage.world.cloud.state.groups.get(pool)?.nodegroup.status;

  /** The most nodes of a pool that took no pods at a time, and the most pools with such nodes, over all events of nodes. */
  let watch: Watched;
  const out = new Map<string, Set<string>>();
  const most = new Map<string, number>();
  let mostPools = 0;
  const count = ({ metadata, spec, status }: Stored<V1Node>, isThere: boolean) => {
    const pool = metadata.labels?.['eks.amazonaws.com/nodegroup'];
    if (pool === undefined) return;
    const nodes = out.get(pool) ?? new Set();
    out.set(pool, nodes);
    const isReady = status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
    const isOut = spec.unschedulable === true || (isReady !== true && nodes.has(metadata.name));
    if (isThere && isOut) nodes.add(metadata.name);
    else nodes.delete(metadata.name);
    most.set(pool, Math.max(most.get(pool) ?? 0, nodes.size));
    mostPools = Math.max(mostPools, [...out.values()].filter(({ size }) => size > 0).length);
  };

  before(async () => {
    const scaling = { min: SIZE, max: 5 };
    for (const pool of [ONE, OTHER])
      await stage.world.apply(poolManifest(pool, { scaling, nodeGroup: { releaseVersion: OLD } }));
    for (const pool of [ONE, OTHER]) await on.settled(pool, SIZE);
    const { adminKubeconfig } = stage.world.controlPlane;
    watch = await watchEvents<Stored<V1Node>>(adminKubeconfig, '/api/v1/nodes', ({ type, object }) =>
      count(object, type !== 'DELETED'),
    );
  });
  after(() => watch?.stop());
  beforeEach(() => {
    most.clear();
    mostPools = 0;
    stage.world.cloud.resetCalls();
  });

  it('go one after the other, and the others say that they wait', async () => {
    const before = await instances(ONE);
    await replaceAll(ONE);
    await stage.world.waitForPool(
      ONE,
      'to say that nodes wait',
      (pool) =>
        /\S+ and \S+ wait for a turn/.test(messageOf(pool, 'NodesLeaving')) &&
        pool?.status?.disruption?.nodes?.length === 1,
    );
    await on.settled(ONE, SIZE);
    assert.deepEqual(on.ended().sort(), before.sort());
    assert.equal(most.get(ONE), 1);
  });

  it('go two at a time where disruption.maxUnavailable is 2', async () => {
    await stage.world.patchPool(ONE, { disruption: { maxUnavailable: 2 } });
    const before = await instances(ONE);
    await replaceAll(ONE);
    await stage.world.waitForPool(
      ONE,
      'to have two nodes that go',
      (pool) => pool?.status?.disruption?.nodes?.length === 2,
    );
    await on.settled(ONE, SIZE);
    assert.deepEqual(on.ended().sort(), before.sort());
    assert.equal(most.get(ONE), 2);
    await stage.world.patchPool(ONE, { disruption: { maxUnavailable: 1 } });
    await on.settled(ONE, SIZE);
  });

  it('of two pools go in one pool after the other, as --max-pools-updating says', async () => {
    const before = [...(await instances(ONE)), ...(await instances(OTHER))];
    await replaceAll(ONE, OTHER);
    const states = await Promise.any(
      [ONE, OTHER].map((pool) =>
        stage.world.waitForPool(
          pool,
          'to wait',
          (found) => conditionOf(found, 'NodesLeaving') === 'True/WaitingForTurn',
        ),
      ),
    );
    assert.equal(states?.status?.disruption, undefined);
    for (const pool of [ONE, OTHER]) await on.settled(pool, SIZE);
    assert.deepEqual(on.ended().sort(), before.sort());
    assert.deepEqual([most.get(ONE), most.get(OTHER), mostPools], [1, 1, 1]);
  });

  it('keep a rolling update waiting that is asked for while they go', async () => {
    const [first] = await on.nodes(ONE);
    assert.ok(first);
    await on.pod(first.metadata.name, 'cart');
    await on.budget('cart');
    await on.annotate(first.metadata.name, REPLACE);
    await on.leavingIs(ONE, 'True/DrainBlocked');
    await release(ONE, NEW);
    await stage.world.waitForPool(
      ONE,
      'to know of the new spec and wait',
      (pool) =>
        conditionOf(pool, 'UpToDate').startsWith('False/') && conditionOf(pool, 'NodesLeaving') === 'True/DrainBlocked',
    );
    assert.ok(stage.world.cloud.calls().every(({ operation }) => operation !== 'UpdateNodegroupVersion'));
    await on.kubectl('delete', 'pdb', 'cart-budget');
    await has(ONE, NEW);
    await on.settled(ONE, SIZE);
    const calls = stage.world.cloud.calls().map(({ operation }) => operation);
    assert.deepEqual(
      calls.filter((operation) => /^(Terminate|UpdateNodegroup)/.test(operation)),
      ['TerminateInstanceInAutoScalingGroup', 'UpdateNodegroupVersion'],
    );
  });

  it('wait while EKS rolls, which replaces them itself: nothing else touches them', async () => {
    const goOn = slowed(stage.world);
    try {
      await release(ONE, NEWER);
      await stage.world.waitForPool(ONE, 'to be updated', () => statusOf(ONE) === 'UPDATING');
      await replaceAll(ONE);
      await on.leavingIs(ONE, 'True/WaitingForTurn');
      assert.equal(statusOf(ONE), 'UPDATING');
    } finally {
      goOn();
    }
    await has(ONE, NEWER);
    await on.settled(ONE, SIZE);
    // EKS has replaced them all, and the annotations went with them.
    assert.deepEqual(on.ended(), []);
    assert.ok(
      (await on.nodes(ONE)).every(({ metadata }) => metadata.annotations?.['winpool.dev/cordoned'] === undefined),
    );
  });
});
