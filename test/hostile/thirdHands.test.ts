/**
 * Others take nodes of a pool out of service right when the operator sends the requests of a replacement: the cluster-autoscaler, Karpenter, kubectl, a user
 * of the console, and a kubelet that stops. All of those nodes count: the operator cordons none while another one is unavailable.
 */
import assert from 'node:assert/strict';
import type { V1Node } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { CORDONED_ANNOTATION } from '../../controllers/windowspool/api/labels.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { callsOf } from '../awsCalls.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { type Watched, watchEvents } from '../fakes/testenv/watchEvents.ts';
import { instanceOf } from '../nodeOperations/terminatingNodesFixture.ts';
import { poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';
import { HeldReplica } from './heldReplica.ts';
import { isSettled } from './pausedWrites.ts';

const FLAGS = [
  '--poll-interval=200ms',
  '--resync-interval=1s',
  '--retry-base=50ms',
  '--retry-max=1s',
  '--leader-elect=false',
  '--max-pools-updating=20',
  '--workers=20',
];
const SIZE = 3;
const POOLS = '/apis/winpool.dev/v1alpha1/windowspools';

type Node = Stored<V1Node>;

/** What another client does to a node of a pool, and how it ends that. */
interface Hand {
  readonly name: string;
  readonly take: (world: TestEnv, node: Node, pool: string) => Promise<unknown>;
  readonly giveBack: (world: TestEnv, node: Node) => Promise<unknown>;
  /** It adds this many nodes. */
  readonly adds?: number;
}

const taint = (key: string): Pick<Hand, 'take' | 'giveBack'> => ({
  take: (world, { metadata }) => world.kubectl('taint', 'node', metadata.name, `${key}=1:NoSchedule`),
  giveBack: (world, { metadata }) => world.kubectl('taint', 'node', metadata.name, `${key}-`),
});
const setReady = async (world: TestEnv, { metadata }: Node, ready: boolean): Promise<void> =>
  world.cloud.faults.nodeReady({ node: metadata.name, ready });

const hands: readonly Hand[] = [
  { name: 'autoscaler', ...taint('ToBeDeletedByClusterAutoscaler') },
  { name: 'karpenter', ...taint('karpenter.sh/disrupted') },
  {
    name: 'kubectl-drain',
    take: (world, { metadata }) => world.kubectl('drain', metadata.name, '--ignore-daemonsets', '--timeout=20s'),
    giveBack: (world, { metadata }) => world.kubectl('uncordon', metadata.name),
  },
  {
    name: 'kubelet',
    take: (world, node) => setReady(world, node, false),
    giveBack: (world, node) => setReady(world, node, true),
  },
  {
    // The group lacks a node until the new one is Ready.
    name: 'console',
    take: async ({ cloud: { faults } }, _node, group) => {
      faults.nextNode({ group, notReady: true });
      faults.edit({ group, scalingConfig: { desiredSize: SIZE + 1 } });
    },
    giveBack: (world, node) => setReady(world, node, true),
    adds: 1,
  },
];
const LEAVING = ['ToBeDeletedByClusterAutoscaler', 'karpenter.sh/disrupted'];
function isOut({ spec, status }: Node): boolean {
  const isReady = status.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True');
  return spec.unschedulable === true || !isReady || (spec.taints?.some(({ key }) => LEAVING.includes(key)) ?? false);
}

/** When the others act: before the replacement is requested, or when the operator has sent its reservation. */
const moments = ['before', 'reserved'] as const;

interface Case {
  readonly pool: string;
  readonly hand: Hand;
  readonly moment: (typeof moments)[number];
}

const cases: readonly Case[] = hands.flatMap((hand) =>
  moments.map((moment) => ({ pool: `${hand.name}-${moment}`, hand, moment })),
);

describe('nodes that others take out of service', function () {
  this.timeout(180_000);
  let world: TestEnv;
  let replica: HeldReplica;
  let watch: Watched;
  /** The last version of each node, by UID. */
  const nodes = new Map<string, Node>();
  /** The pools of which a node is out of service, and who took it. */
  const taken = new Map<string, string>();
  /** Nodes that the operator cordoned meanwhile. */
  const cordoned: string[] = [];

  const groupOf = ({ metadata }: Node) => metadata.labels?.['eks.amazonaws.com/nodegroup'] ?? '';
  const nodesOf = (pool: string) =>
    [...nodes.values()]
      .filter((node) => groupOf(node) === pool)
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const terminated = () =>
    callsOf(world, 'TerminateInstanceInAutoScalingGroup').map(
      ({ input }) => (input as { InstanceId: string }).InstanceId,
    );

  const untilSettled = (pool: string, size: number) =>
    world.waitForPool(
      pool,
      `to be settled with ${size} nodes`,
      (found) => isSettled(found) && found?.status?.nodes?.verified === size,
    );

  function follow(type: string, node: Node): void {
    const { uid, annotations, name } = node.metadata;
    const before = nodes.get(uid ?? '')?.metadata.annotations?.[CORDONED_ANNOTATION];
    if (type === 'DELETED') nodes.delete(uid ?? '');
    else nodes.set(uid ?? '', node);
    const isNew = before === undefined && annotations?.[CORDONED_ANNOTATION] !== undefined;
    if (isNew && taken.has(groupOf(node))) cordoned.push(`${name} of ${groupOf(node)}`);
  }

  before(async () => {
    world = await theWorld();
    replica = await HeldReplica.start(world, FLAGS);
    await replica.process.ready();
    const spec = {
      nodeGroup: { scaling: { minSize: 1, maxSize: SIZE + 1, desiredSize: SIZE } },
      disruption: { maxUnavailable: 1 },
    };
    const items = cases.map(({ pool }) => poolManifest(pool, spec));
    await world.apply({ apiVersion: 'v1', kind: 'List', items });
    for (const { pool } of cases) await untilSettled(pool, SIZE);
    watch = await watchEvents<Node>(world.controlPlane.adminKubeconfig, '/api/v1/nodes', ({ type, object }) =>
      follow(type, object),
    );
    world.cloud.resetCalls();
  });
  after(async () => {
    replica.release();
    await world.kubectl('delete', 'windowspools', '--all', '--timeout=60s');
    await replica[Symbol.asyncDispose]();
    await watch.stop();
  });

  it('count as unavailable: no other node of the pool is cordoned until they are back', async () => {
    const expected: string[] = [];
    for (const { pool, hand, moment } of cases) {
      const [replaced, other] = nodesOf(pool);
      assert.ok(replaced && other, pool);
      expected.push(instanceOf(replaced));
      const take = async () => {
        await hand.take(world, other, pool);
        const what = `${hand.name} to take a node of ${pool}`;
        await waitFor(() => nodesOf(pool).some(isOut), { what, timeoutMs: 20_000 });
        taken.set(pool, hand.name);
      };
      const annotate = () => world.kubectl('annotate', 'node', replaced.metadata.name, 'winpool.dev/replace=true');
      if (moment === 'before') {
        await take();
        await annotate();
        continue;
      }
      // The operator makes one reservation at a time.
      replica.arm({ request: `PUT ${POOLS}/${pool}/status`, moment: 'response' });
      await annotate();
      await replica.untilHeld();
      await take();
      replica.release();
    }
    for (const { pool } of cases) await world.waitForConditions(pool, 'Disrupting=True/DisruptionPending');
    assert.deepEqual([cordoned, terminated()], [[], []]);
    for (const { pool, hand } of cases) {
      const out = nodesOf(pool).find(isOut);
      assert.ok(out, pool);
      taken.delete(pool);
      await hand.giveBack(world, out);
    }
    await waitFor(() => expected.every((instance) => terminated().includes(instance)), {
      what: 'all nodes to be replaced',
      timeoutMs: 90_000,
      explain: () => `${terminated()} are not ${expected}\n${replica.process.tail()}`,
    });
    for (const { pool, hand } of cases) await untilSettled(pool, SIZE + (hand.adds ?? 0));
    assert.deepEqual([cordoned, terminated().sort()], [[], expected.sort()]);
  });
});
