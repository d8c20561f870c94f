/** Concurrent removals of nodes and upgrades: which proceed, and which wait. */
import assert from 'node:assert/strict';
import type { V1Node } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { messageOf } from '../fakes/testenv/testEnv.ts';
import { type Watched, watchEvents } from '../fakes/testenv/watchEvents.ts';
import { poolManifest } from '../pools.ts';
import { instanceOf, withTerminatingNodes } from './terminatingNodesFixture.ts';

const REPLACE = 'winpool.dev/replace=true';
const OLD = '1.36-2026.02.17';
const ONE = 'turns-one';
const OTHER = 'turns-other';
const SIZE = 3;

describe('nodes with the replace annotation at the same time', () => {
  const suite = withTerminatingNodes('--max-pools-updating=1');
  const { fixture } = suite;
  const replaceAll = (...pools: readonly string[]) =>
    fixture.world.kubectl('annotate', 'nodes', '-l', `eks.amazonaws.com/nodegroup in (${pools})`, REPLACE);
  const instances = async (pool: string) => (await suite.nodes(pool)).map((node) => instanceOf(node));

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

  it('of two pools are replaced in one pool after the other with --max-pools-updating=1', async () => {
    const before = [...(await instances(ONE)), ...(await instances(OTHER))];
    await replaceAll(ONE, OTHER);
    const states = await Promise.any(
      [ONE, OTHER].map((pool) => fixture.world.waitForConditions(pool, 'Disrupting=True/DisruptionPending')),
    );
    assert.equal(states?.status?.disruption, undefined);
    for (const pool of [ONE, OTHER]) await suite.settled(pool, SIZE);
    assert.deepEqual(suite.terminations().sort(), before.sort());
    assert.deepEqual([most.get(ONE), most.get(OTHER), mostPools], [1, 1, 1]);
  });
});
