/** Concurrent removals of nodes and upgrades: which proceed, and which wait. */
import assert from 'node:assert/strict';
import type { V1Node } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { conditionOf, messageOf } from '../fakes/testenv/testEnv.ts';
import { type Watched, watchEvents } from '../fakes/testenv/watchEvents.ts';
import { poolManifest } from '../pools.ts';
import { freezeAws } from '../sharedWorld.ts';
import { instanceOf, withTerminatingNodes } from './terminatingNodesFixture.ts';

const REPLACE = 'winpool.dev/replace=true';
const OLD = '1.36-2026.02.17';
const NEW = '1.36-2026.03.17';
const NEWER = '1.36-2026.04.18';
const ONE = 'turns-one';
const OTHER = 'turns-other';
const SIZE = 3;

describe('nodes with the replace annotation at the same time', () => {
  const suite = withTerminatingNodes('--max-pools-updating=1');
  const { fixture } = suite;
  const replaceAll = (...pools: readonly string[]) =>
    fixture.world.kubectl('annotate', 'nodes', '-l', `eks.amazonaws.com/nodegroup in (${pools})`, REPLACE);
  const instances = async (pool: string) => (await suite.nodes(pool)).map((node) => instanceOf(node));
  const release = async (pool: string, releaseVersion: string) => {
    await fixture.world.patchPool(pool, { nodeGroup: { releaseVersion } });
  };
  const has = (pool: string, releaseVersion: string) =>
    fixture.world.waitForPool(
      pool,
      `to have release ${releaseVersion}`,
      (found) => found?.status?.nodeGroup?.releaseVersion === releaseVersion,
    );
  const statusOf = (pool: string) => fixture.world.cloud.state.groups.get(pool)?.nodegroup.status;

  /** The maximum number of unschedulable nodes in a pool, and of pools with such nodes, over all events of nodes. */
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
    const scaling = { minSize: SIZE, maxSize: 5 };
    for (const pool of [ONE, OTHER])
      await fixture.world.apply(poolManifest(pool, { nodeGroup: { releaseVersion: OLD, scaling } }));
    for (const pool of [ONE, OTHER]) await suite.settled(pool, SIZE);
    const { adminKubeconfig } = fixture.world.controlPlane;
    watch = await watchEvents<Stored<V1Node>>(adminKubeconfig, '/api/v1/nodes', ({ type, object }) =>
      count(object, type !== 'DELETED'),
    );
  });
  after(() => watch?.stop());
  beforeEach(() => {
    most.clear();
    mostPools = 0;
    fixture.world.cloud.resetCalls();
  });

  it('are replaced one after the other, and the waiting ones are reported', async () => {
    const before = await instances(ONE);
    await replaceAll(ONE);
    await fixture.world.waitForPool(
      ONE,
      'to say that nodes wait',
      (pool) =>
        /\bNodes \S+ and \S+ wait\b.*\b1 node\b/.test(messageOf(pool, 'Disrupting')) &&
        pool?.status?.disruption?.nodes?.length === 1,
    );
    await suite.settled(ONE, SIZE);
    assert.deepEqual(suite.terminations().sort(), before.sort());
    assert.equal(most.get(ONE), 1);
  });

  it('are replaced two at a time if disruption.maxUnavailable is 2', async () => {
    await fixture.world.patchPool(ONE, { disruption: { maxUnavailable: 2 } });
    const before = await instances(ONE);
    await replaceAll(ONE);
    await fixture.world.waitForPool(
      ONE,
      'to have two nodes that go',
      (pool) => pool?.status?.disruption?.nodes?.length === 2,
    );
    await suite.settled(ONE, SIZE);
    assert.deepEqual(suite.terminations().sort(), before.sort());
    assert.equal(most.get(ONE), 2);
    await fixture.world.patchPool(ONE, { disruption: { maxUnavailable: 1 } });
    await suite.settled(ONE, SIZE);
  });

  it('of two pools are replaced in one pool after the other with --max-pools-updating=1', async () => {
    const before = [...(await instances(ONE)), ...(await instances(OTHER))];
    await replaceAll(ONE, OTHER);
    const states = await Promise.any(
      [ONE, OTHER].map((pool) =>
        fixture.world.waitForPool(
          pool,
          'to wait',
          (found) => conditionOf(found, 'Disrupting') === 'True/DisruptionPending',
        ),
      ),
    );
    assert.equal(states?.status?.disruption, undefined);
    for (const pool of [ONE, OTHER]) await suite.settled(pool, SIZE);
    assert.deepEqual(suite.terminations().sort(), before.sort());
    assert.deepEqual([most.get(ONE), most.get(OTHER), mostPools], [1, 1, 1]);
  });

  it('delay a rolling update that is requested in the meantime', async () => {
    const [first] = await suite.nodes(ONE);
    assert.ok(first);
    await suite.pod(first.metadata.name, 'cart');
    await suite.budget('cart');
    await suite.annotate(first.metadata.name, REPLACE);
    await suite.becomesLeaving(ONE, 'True/DrainBlocked');
    await release(ONE, NEW);
    await fixture.world.waitForPool(
      ONE,
      'to know of the new spec and wait',
      (pool) =>
        conditionOf(pool, 'UpToDate').startsWith('False/') && conditionOf(pool, 'Disrupting') === 'True/DrainBlocked',
    );
    assert.ok(fixture.world.cloud.calls().every(({ operation }) => operation !== 'UpdateNodegroupVersion'));
    await suite.kubectl('delete', 'pdb', 'cart-budget');
    await has(ONE, NEW);
    await suite.settled(ONE, SIZE);
    const calls = fixture.world.cloud.calls().map(({ operation }) => operation);
    assert.deepEqual(
      calls.filter((operation) => /^(Terminate|UpdateNodegroup)/.test(operation)),
      ['TerminateInstanceInAutoScalingGroup', 'UpdateNodegroupVersion'],
    );
  });

  it('wait while EKS replaces them in a rolling update: nothing else changes them', async () => {
    const restoreSpeed = freezeAws(fixture.world);
    try {
      await release(ONE, NEWER);
      await fixture.world.waitForPool(ONE, 'to be updated', () => statusOf(ONE) === 'UPDATING');
      await replaceAll(ONE);
      await suite.becomesLeaving(ONE, 'True/DisruptionPending');
      assert.equal(statusOf(ONE), 'UPDATING');
    } finally {
      restoreSpeed();
    }
    await has(ONE, NEWER);
    await suite.settled(ONE, SIZE);
    // EKS has replaced them all, and with them their annotations.
    assert.deepEqual(suite.terminations(), []);
    assert.ok(
      (await suite.nodes(ONE)).every(({ metadata }) => metadata.annotations?.['winpool.dev/cordoned'] === undefined),
    );
  });
});
