/** `kubectl windowspool nodes`: the Windows nodes of a pool, or all of them. */
import type { V1Pod } from '@kubernetes/client-node';
import {
  IMAGES_PENDING_CONDITION,
  NODE_GROUP_LABEL,
  POOL_KEY,
  SMOKE_TEST_PENDING_CONDITION,
} from '../../controllers/windowspool/api/labels.ts';
import { operationFor } from '../../controllers/windowspool/disruption/nodeAnnotations.ts';
import { reservedMemoryOf } from '../../controllers/windowspool/nodes/kubeletSettings.ts';
import { pendingConditions } from '../../controllers/windowspool/nodes/nodeCondition.ts';
import { isGated } from '../../controllers/windowspool/nodes/nodeTaints.ts';
import { instanceIdOf } from '../../controllers/windowspool/nodes/unwatchedNodes.ts';
import { parseKernelVersion } from '../../controllers/windowspool/nodes/windowsVersions.ts';
import { type NodeRecord, ownStatus } from '../../controllers/windowspool/ports/nodes.ts';
import type { Cluster } from './cluster.ts';
import type { PluginCommand } from './command.ts';
import { outputOption } from './flags.ts';
import { type OutputFormat, printResult } from './output.ts';
import type { Terminal } from './terminal.ts';
import { age, type Column, type Paint, table } from './text.ts';
import { listAllowed, PODS } from './workloadLists.ts';

/** A node, for the table and for scripts. */
export interface NodeRow {
  readonly node: string;
  readonly pool: string;
  readonly instance: string;
  readonly build: string;
  readonly revision: string;
  /** The condition winpool.dev/Verified: True, False or Unknown. */
  readonly verified: string;
  /** Of that condition, of the one that a joining node waits for, or that the node is being replaced or removed. */
  readonly reason: string;
  readonly message: string;
  /** closed: the node has the taint that keeps pods off unverified nodes. */
  readonly gate: 'open' | 'closed';
  /** Running pods; absent if they could not be listed. */
  readonly pods?: number;
  readonly ready: string;
  readonly schedulable: boolean;
  readonly kubelet: string;
  /** Memory for the system, such as 500Mi: capacity minus allocatable. */
  readonly reservedMemory?: string;
  readonly nodeGroup: string;
  readonly createdAt: string;
}

/** Prints the nodes. */
async function nodes(
  cluster: Cluster,
  terminal: Terminal,
  pool: string | undefined,
  output: OutputFormat | undefined,
): Promise<void> {
  // Also shows a similar name if there is no such pool.
  if (pool !== undefined) await cluster.pool(pool);
  const records = await cluster.nodes(pool);
  const pods = await podCounts(cluster);
  const rows = records.map((record) => rowOf(record, pods && (pods.get(record.name) ?? 0)));
  const none = pool === undefined ? 'The cluster has no Windows nodes.' : `Pool ${pool} has no nodes.`;
  printResult(terminal, output, rows, (columns) =>
    rows.length === 0 ? [none] : nodeTable(rows, columns, cluster.client.now(), terminal.paint),
  );
}

/** How many pods run on each node that has pods; undefined if the user may not list pods. */
async function podCounts(cluster: Cluster): Promise<ReadonlyMap<string, number> | undefined> {
  const denied: string[] = [];
  // One list of all pods: a request for each node takes longer than that from a few nodes on.
  const found = await listAllowed<V1Pod, string>(cluster, PODS, undefined, denied, ({ spec }) => spec?.nodeName);
  if (denied.length > 0) return undefined;
  return new Map([...Map.groupBy(found, (node) => node)].map(([node, pods]) => [node, pods.length]));
}

/** What the table shows of a node. */
export function rowOf(node: NodeRecord, pods: number | undefined): NodeRow {
  const kernel = parseKernelVersion(node.kernelVersion);
  const reservedMemory = reservedMemoryOf(node);
  return {
    node: node.name,
    pool: node.labels[POOL_KEY] ?? '',
    instance: instanceIdOf(node),
    build: kernel?.build ?? node.kernelVersion,
    revision: String(kernel?.revision ?? ''),
    verified: node.verified?.status ?? 'Unknown',
    reason: reasonFor(node),
    message: node.verified?.message ?? '',
    gate: isGated(node) ? 'closed' : 'open',
    ...(pods !== undefined && { pods }),
    ready: node.ready,
    schedulable: !node.unschedulable,
    kubelet: node.kubeletVersion,
    ...(reservedMemory !== undefined && { reservedMemory }),
    nodeGroup: node.labels[NODE_GROUP_LABEL] ?? '',
    createdAt: new Date(node.createdAt).toISOString(),
  };
}

function reasonFor(node: NodeRecord): string {
  const operation = operationFor(node);
  if (operation) return `${operation}Requested`;
  const { ready, verified } = node;
  if (!verified) return ready === 'True' ? 'NotVerifiedYet' : 'NotReady';
  const pending = verified.status === 'Unknown' && NEEDS.find((type) => ownStatus(node, type) === 'True');
  return pending ? pendingConditions[pending].reason : verified.reason;
}

/** What a joining node waits for, in its order. */
const NEEDS = [IMAGES_PENDING_CONDITION, SMOKE_TEST_PENDING_CONDITION] as const;

/** The lines of the table. Nodes have the first part of their names, which commands accept; in infinite columns: all of it. */
export function nodeTable(rows: readonly NodeRow[], columns: number, now: number, paint: Paint): string[] {
  const names = rows.map(({ node }) => node);
  const isWide = columns === Number.POSITIVE_INFINITY;
  const nodeColumns: readonly Column<NodeRow>[] = [
    { header: 'NODE', value: ({ node }) => (isWide ? node : shortName(node, names)) },
    { header: 'INSTANCE', wide: true, value: ({ instance }) => instance },
    { header: 'BUILD', value: ({ build, revision }) => [build, revision].filter(Boolean).join('.') },
    { header: 'VERIFIED', value: ({ verified }) => paint(colorOf(verified), verified) },
    { header: 'REASON', cut: true, value: ({ reason }) => reason },
    { header: 'GATE', value: ({ gate }) => gate },
    { header: 'PODS', value: ({ pods = '?' }) => String(pods) },
    { header: 'AGE', value: ({ createdAt }) => age(Date.parse(createdAt), now) },
    { header: 'POOL', wide: true, value: ({ pool }) => pool },
    { header: 'READY', wide: true, value: ({ ready }) => ready },
    { header: 'SCHEDULABLE', wide: true, value: ({ schedulable }) => String(schedulable) },
    { header: 'KUBELET', wide: true, value: ({ kubelet }) => kubelet },
    { header: 'RESERVED MEMORY', wide: true, value: ({ reservedMemory = '?' }) => reservedMemory },
    { header: 'NODEGROUP', wide: true, value: ({ nodeGroup }) => nodeGroup },
  ];
  return table(nodeColumns, rows, columns);
}

function colorOf(verified: string): 'good' | 'bad' | 'warning' {
  if (verified === 'True') return 'good';
  return verified === 'False' ? 'bad' : 'warning';
}

/** `ip-10-0-0-1` of `ip-10-0-0-1.eu-west-1.compute.internal`, unless another node starts with it, too. */
export function shortName(name: string, all: readonly string[]): string {
  const [host = name] = name.split('.');
  return all.filter((other) => other.split('.')[0] === host).length > 1 ? name : host;
}

/** `kubectl windowspool nodes`. */
export const nodesCommand: PluginCommand<{ readonly output?: OutputFormat }> = {
  usage: 'nodes [pool]',
  group: 'Pool and Node Commands',
  summary: 'List the nodes of a pool, or all Windows nodes.',
  examples: [
    ['List all Windows nodes', 'kubectl windowspool nodes'],
    ['List the nodes of a pool with their instances and full names', 'kubectl windowspool nodes web -o wide'],
  ],
  options: [outputOption()],
  run: async ({ connect, terminal }, [pool], { output }) => nodes(await connect(), terminal, pool, output),
};
