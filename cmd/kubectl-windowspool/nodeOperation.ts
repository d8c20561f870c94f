/** `kubectl windowspool replace` and `remove`: shows what the operation would disrupt, asks, and requests it from the operator. */
import { createDrains } from '../../controllers/kubernetes/drains.ts';
import { createEvictions } from '../../controllers/kubernetes/evictions.ts';
import { nodePath } from '../../controllers/kubernetes/nodes.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { POOL_KEY } from '../../controllers/windowspool/api/labels.ts';
import { removalRefusal } from '../../controllers/windowspool/disruption/admission.ts';
import { type Drain, drainOf, nameOf } from '../../controllers/windowspool/disruption/drain.ts';
import { drainOptionsOf } from '../../controllers/windowspool/disruption/drainAction.ts';
import {
  annotationOf,
  isExcludedFromDrain,
  isUnavailable,
  operationFor,
} from '../../controllers/windowspool/disruption/nodeAnnotations.ts';
import { amountOf } from '../../controllers/windowspool/disruption/remediation.ts';
import type { CallResult } from '../../controllers/windowspool/ports/callResult.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import type { DrainPod, StuckPod } from '../../controllers/windowspool/ports/pods.ts';
import { nodeSourceOf } from '../../controllers/windowspool/rules/nodeSource.ts';
import { isPaused } from '../../controllers/windowspool/rules/poolQueries.ts';
import { compact, count, duration, joined, sentence } from '../../controllers/windowspool/util/words.ts';
import type { Cluster } from './cluster.ts';
import type { PluginCommand } from './command.ts';
import { type ChangeFlags, makeChange } from './confirm.ts';
import { Failure, suggestion } from './failure.ts';
import { dryRunOption, yesOption } from './flags.ts';
import type { Terminal } from './terminal.ts';
import { labelled } from './text.ts';

/** An operation that a user can request. */
export type UserOperation = 'Replace' | 'Remove';

/** What is known before the operation. */
export interface OperationPlan {
  readonly operation: UserOperation;
  readonly node: NodeRecord;
  readonly pool: WindowsPool;
  /** All nodes of the pool. */
  readonly nodes: readonly NodeRecord[];
  readonly pods: CallResult<readonly DrainPod[]>;
  readonly stuck: CallResult<readonly StuckPod[]>;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Shows what the operation disrupts, asks, and sets the annotation that requests it. */
async function operate(
  cluster: Cluster,
  terminal: Terminal,
  operation: UserOperation,
  name: string,
  flags: ChangeFlags,
): Promise<void> {
  const { client, signal } = cluster;
  const node = findNode(name, await cluster.nodes());
  const owner = node.labels[POOL_KEY];
  if (!owner) throw new Failure(`Node ${node.name} belongs to no WindowsPool: it does not have the label ${POOL_KEY}.`);
  const pool = await cluster.pool(owner);
  const requested = operationFor(node);
  const follow = `kubectl windowspool status ${owner} --watch`;
  if (requested === operation)
    return terminal.print(`The operation ${operation} of node ${node.name} is already requested. Follow it: ${follow}`);
  const [nodes, pods, stuck] = await Promise.all([
    cluster.nodes(owner),
    createDrains(client).podsOn(node.name, signal),
    createEvictions(client).stuckOn([node.name], signal),
  ]);
  // The uid is a precondition: a new node with the same name is not changed.
  const patch = { metadata: { uid: node.uid, annotations: { [annotationOf({ operation })]: 'true' } } };
  const plan = { operation, node, pool, nodes, pods, stuck, now: client.now() };
  const lines = operationLines(plan, terminal.columns);
  const change = { path: nodePath(node.name), patch, lines, question: `${operation} node ${node.name}?` };
  if (!(await makeChange(cluster, terminal, change, flags))) return;
  terminal.print(`Requested. Follow it: ${follow}`);
  terminal.print(
    `Cancel it before the node is terminated: kubectl annotate node ${node.name} ${annotationOf({ operation })}-`,
  );
}

/** The node with this name, or with this first part of its name. */
export function findNode(name: string, nodes: readonly NodeRecord[]): NodeRecord {
  const hostOf = (node: NodeRecord) => node.name.split('.')[0] ?? '';
  const found = nodes.find((node) => node.name === name);
  const [short, ...others] = nodes.filter((node) => hostOf(node) === name);
  if (found) return found;
  if (short && others.length === 0) return short;
  if (short)
    throw new Failure(
      `Several nodes are called ${name}: ${joined([short, ...others].map((node) => node.name))}. Type the full name.`,
    );
  const hint = suggestion(name, [...nodes.map((node) => node.name), ...nodes.map(hostOf)]);
  throw new Failure(`Windows node "${name}" not found.${hint || ' List the nodes: kubectl windowspool nodes'}`);
}

/** Names of pods in a list. */
const MOST_PODS = 10;

/** What the operation would do, as lines. */
export function operationLines(plan: OperationPlan, columns: number): string[] {
  const { operation, node, pool } = plan;
  const isExcluded = isExcludedFromDrain(node);
  const notes = compact([
    nodesNote(plan),
    !isExcluded && podsNote(plan),
    !isExcluded && budgetsNote(plan),
    endNote(plan),
  ]);
  const warnings = compact([
    isExcluded && 'The node is excluded from draining: its pods terminate with it, without eviction.',
    isPaused(pool) && `Pool ${pool.metadata.name} is paused: the operation starts when it is resumed.`,
    refusalNote(plan),
  ]);
  return [
    `${operation} node ${node.name} of pool ${pool.metadata.name}`,
    ...[...warnings.map((text) => `Warning: ${text}`), ...notes].flatMap((note) => bullet(note, columns)),
  ];
}

/** A line of a list, with its further lines below the text. */
export function bullet(text: string, columns: number): string[] {
  return labelled('  - ', 4, text, columns);
}

function nodesNote({ pool, nodes, node }: OperationPlan): string {
  const unavailable = nodes.filter(isUnavailable).map(({ name }) => name);
  const now = `${unavailable.length} of ${count(nodes.length, 'node')} unavailable now${unavailable.length > 0 ? ` (${joined(unavailable)})` : ''}`;
  const limit = pool.spec.disruption?.maxUnavailable;
  if (limit === undefined) {
    const other = pool.spec.nodeGroup ? ', unless the node group has another limit' : '';
    return `${now}; at most 1 may be unavailable at a time${other} (disruption.maxUnavailable is not set).`;
  }
  const most = Math.max(1, amountOf(String(limit), nodes.length));
  const others = unavailable.filter((name) => name !== node.name).length;
  const waits = others >= most ? ', so this node waits' : '';
  return `${now}; at most ${most} may be unavailable at a time (disruption.maxUnavailable: ${limit})${waits}.`;
}

function podsNote({ pool, node, pods, now }: OperationPlan): string {
  if (!pods.ok) return `The pods on the node are unknown: ${sentence(pods.error.message)}`;
  const options = drainOptionsOf(pool);
  const { evict, obstructions } = drainOf(pods.value, { ready: node.ready, since: now }, options, now);
  return obstructions.length > 0 ? obstructionNote(obstructions) : leavingNote(evict, 'the node');
}

/** Which pods prevent a drain from starting, and the fields that allow their eviction. */
export function obstructionNote(obstructions: Drain['obstructions']): string {
  const pods = obstructions.map(({ pod, why, field }) => `${nameOf(pod)} ${why} (disruption.drain.${field})`);
  return `${count(pods.length, 'pod')} must be deleted or allowed first: ${joined(pods, MOST_PODS)}.`;
}

/** Which pods must leave nodes. */
export function leavingNote(pods: readonly Pick<DrainPod, 'namespace' | 'name'>[], nodes: string): string {
  if (pods.length === 0) return `No pods must leave ${nodes}.`;
  return `${count(pods.length, 'pod')} must leave ${nodes}: ${joined(pods.map(nameOf), MOST_PODS)}.`;
}

function budgetsNote({ pods, stuck }: OperationPlan): string {
  if (!stuck.ok) return pods.ok ? `The PodDisruptionBudgets are unknown: ${sentence(stuck.error.message)}` : '';
  return stuckNote(stuck.value);
}

/** Which pods cannot be evicted now, and why. */
export function stuckNote(stuck: readonly StuckPod[]): string {
  if (stuck.length === 0) return 'No PodDisruptionBudget blocks an eviction now.';
  const pod = (each: StuckPod) =>
    each.budgets.length > 0
      ? `${nameOf(each)} by ${joined(each.budgets)}`
      : `${nameOf(each)}, which tolerates all taints`;
  return `${count(stuck.length, 'pod')} cannot be evicted now: ${joined(stuck.map(pod), MOST_PODS)}.`;
}

function endNote({ operation, pool }: OperationPlan): string {
  const timeout = duration(drainOptionsOf(pool).timeoutMs);
  if (!nodeSourceOf(pool).ends)
    return `The node is drained for at most ${timeout}, and stays cordoned. Terminate it with the tool that created it.`;
  if (nodeSourceOf(pool).drainedBy === 'Karpenter') {
    const limit = pool.spec.karpenter?.terminationGracePeriod;
    const how = limit === undefined ? 'without a limit' : `for at most ${limit}`;
    return `Its NodeClaim is deleted: Karpenter drains the node ${how}, and creates another one if pods need it.`;
  }
  if (nodeSourceOf(pool).ends === 'Machine') {
    const end = operation === 'Replace' ? 'and another one is created' : 'and the number of Machines is lowered by one';
    return `Its Machine is deleted when it is drained, ${end}. After ${timeout} without success, the node stays.`;
  }
  const end = operation === 'Replace' ? 'and the node group starts another' : 'and the node group shrinks by one node';
  return `Its instance is terminated when it is drained, ${end}. After ${timeout} without success, the node stays.`;
}

function refusalNote({ operation, pool }: OperationPlan): string {
  const minSize = pool.spec.nodeGroup?.scaling.minSize;
  if (operation === 'Replace' || minSize === undefined) return '';
  const why = removalRefusal(pool, minSize, pool.status?.nodes?.desired ?? 0);
  return why ? `The operator will reject this: ${sentence(why)} Replace the node instead, or lower the size.` : '';
}

const DETAILS =
  'Shows the pods and the PodDisruptionBudgets that are affected, and asks for confirmation. The operator then cordons and drains the node within disruption.maxUnavailable of the pool.';

/** `kubectl windowspool replace` and `remove`. */
export const nodeCommands: readonly PluginCommand<ChangeFlags>[] = [
  {
    usage: 'replace <node>',
    group: 'Pool and Node Commands',
    summary: 'Drain a node and terminate its instance, so that the node group starts another.',
    details: DETAILS,
    examples: examplesOf('replace', 'Replace'),
    options: [yesOption(), dryRunOption()],
    run: async ({ connect, terminal }, [node = ''], flags) =>
      operate(await connect(), terminal, 'Replace', node, flags),
  },
  {
    usage: 'remove <node>',
    group: 'Pool and Node Commands',
    summary: 'Drain a node and terminate its instance, and shrink the node group by one.',
    details: DETAILS,
    examples: examplesOf('remove', 'Remove'),
    options: [yesOption(), dryRunOption()],
    run: async ({ connect, terminal }, [node = ''], flags) => operate(await connect(), terminal, 'Remove', node, flags),
  },
];

function examplesOf(command: string, verb: string): PluginCommand['examples'] {
  return [
    [
      `${verb} a node; the first part of its name is enough`,
      `kubectl windowspool ${command} ip-10-0-1-9.eu-west-1.compute.internal`,
    ],
    ['Show what would be disrupted, and change nothing', `kubectl windowspool ${command} ip-10-0-1-9 --dry-run=client`],
    [`${verb} a node from a script`, `kubectl windowspool ${command} ip-10-0-1-9 --yes`],
  ];
}
