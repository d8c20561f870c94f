/** What the drain of a pool would disrupt, and why it must not start. Pure. */
import { drainOf } from '../../../controllers/windowspool/disruption/drain.ts';
import { drainOptionsOf } from '../../../controllers/windowspool/disruption/drainAction.ts';
import { maxUnavailableOf } from '../../../controllers/windowspool/disruption/nodeBudget.ts';
import type { StuckPod } from '../../../controllers/windowspool/ports/pods.ts';
import { compact, count, duration, joined } from '../../../controllers/windowspool/util/words.ts';
import { bullet, leavingNote, obstructionNote, stuckNote } from '../nodeOperation.ts';
import type { Permission } from '../permissions.ts';
import { wrap } from '../text.ts';
import type { FoundWorkload, Inventory } from './inventory.ts';
import {
  deletion,
  deletionNote,
  leftBehind,
  type MigrationReport,
  migrateCommand,
  podsToMove,
  workloadName,
} from './report.ts';
import type { Move } from './side.ts';

/** What is known before the drain. */
export interface DrainPlan {
  readonly move: Move;
  readonly inventory: Inventory;
  readonly report: MigrationReport;
  /** Whether to drain although the pods of some workloads cannot run in the new pool. */
  readonly allowsPending: boolean;
}

/** Names in a message. */
const MOST_NAMES = 10;

/** How many nodes are drained at a time. */
export function nodesAtATime({ from }: Move): number {
  return maxUnavailableOf(from.pool, from.nodes.length);
}

/** The pods that must leave the old nodes. */
function leaving({ inventory }: DrainPlan) {
  return inventory.workloads.flatMap(podsToMove);
}

/** Whether no node has to be cordoned, and no pod has to leave. */
export function isDrained(plan: DrainPlan): boolean {
  return leaving(plan).length === 0 && plan.move.from.nodes.every(({ unschedulable }) => unschedulable);
}

/** Why the drain must not start, and what to do; undefined: it may. */
export function drainRefusal(plan: DrainPlan, now: number): string | undefined {
  const { move, report, allowsPending } = plan;
  const [problem] = report.problems;
  if (problem) return `Nothing was drained. ${problem.message}\n  $ ${problem.command}`;
  const stranded = leftBehind(report);
  if (stranded.length > 0 && !allowsPending)
    return `Nothing was drained: ${count(stranded.length, 'workload')} cannot run in pool ${move.to.name} yet: ${joined(stranded, MOST_NAMES)}. Change them first. To drain nevertheless, and leave their pods Pending, add --allow-pending.`;
  const pods = leaving(plan).map(({ pod }) => pod);
  const { obstructions } = drainOf(pods, { ready: 'True', since: now }, drainOptionsOf(move.from.pool), now);
  return obstructions.length > 0 ? `Nothing was drained: ${obstructionNote(obstructions)}` : undefined;
}

/** The permissions that the drain needs. */
export function drainPermissions(plan: DrainPlan): Permission[] {
  const namespaces = new Set(leaving(plan).map(({ pod }) => pod.namespace));
  return [
    { verb: 'patch', resource: 'nodes' },
    { verb: 'list', resource: 'pods' },
    ...[...namespaces].map((namespace) => ({ verb: 'create', resource: 'pods/eviction', namespace })),
  ];
}

function isOrAre(number: number): string {
  return number === 1 ? 'is' : 'are';
}

/** What the drain does, as lines. */
export function drainLines(plan: DrainPlan, columns: number): string[] {
  const { move, report } = plan;
  const { from, to } = move;
  const { maxUnavailable } = from.pool.spec.disruption ?? {};
  const pods = leaving(plan);
  const stuck = pods.flatMap(({ pod: { namespace, name }, blockedBy }): StuckPod[] =>
    blockedBy ? [{ namespace, name, budgets: blockedBy }] : [],
  );
  const stranded = leftBehind(report);
  const uncordoned = from.nodes.filter(({ unschedulable }) => !unschedulable).length;
  const limit =
    maxUnavailable === undefined
      ? 'disruption.maxUnavailable is not set'
      : `disruption.maxUnavailable: ${maxUnavailable}`;
  const atATime = nodesAtATime(move);
  const timeout = duration(drainOptionsOf(from.pool).timeoutMs);
  const notes = compact([
    stranded.length > 0 &&
      `Warning: pods of ${joined(stranded, MOST_NAMES)} cannot run in pool ${to.name} and stay Pending. An autoscaler may add nodes to pool ${from.name} for them.`,
    uncordoned > 0
      ? `${count(uncordoned, 'node')} ${isOrAre(uncordoned)} cordoned first, so that no pod moves to another old node.`
      : 'All nodes are already cordoned.',
    `Then at most ${count(atATime, 'node')} ${isOrAre(atATime)} drained at a time (${limit}).`,
    leavingNote(
      pods.map(({ pod }) => pod),
      'the nodes',
    ),
    stuckNote(stuck),
    `The next node follows when the workloads have as many ready pods as before. If a node takes longer than ${timeout}, the command ends.`,
    `The nodes stay cordoned. No instance is terminated, and pool ${from.name} is not deleted.`,
  ]);
  return [
    `Drain pool ${from.name}, so that its pods start in pool ${to.name}`,
    ...notes.flatMap((note) => bullet(note, columns)),
  ];
}

/** How many pods must leave each node, by its name. */
export function podsByNode(plan: DrainPlan): ReadonlyMap<string, number> {
  const counts = new Map(plan.move.from.nodes.map(({ name }) => [name, 0]));
  for (const { node } of leaving(plan)) counts.set(node, (counts.get(node) ?? 0) + 1);
  return counts;
}

/** The workloads of the pods that move, by the UID of the pod, if their pods can run in the new pool. */
export function movingWorkloads({ inventory, report }: DrainPlan): ReadonlyMap<string, FoundWorkload> {
  const stranded = new Set(leftBehind(report));
  const moving = inventory.workloads.filter((workload) => !stranded.has(workloadName(workload)));
  return new Map(moving.flatMap((workload) => podsToMove(workload).map(({ pod }) => [pod.uid, workload] as const)));
}

/** What is done, and the next command, as lines. */
export function finishedLines({ move, report }: DrainPlan, nodes: number, columns: number): string[] {
  const { from } = move;
  const stranded = leftBehind(report).length;
  const pending = stranded > 0 ? ` The pods of ${count(stranded, 'workload')} stay Pending until you change them.` : '';
  const done =
    nodes === 0 ? `Pool ${from.name} has no nodes.` : `All nodes of pool ${from.name} are drained and cordoned.`;
  return [...wrap(`${done}${pending} ${deletionNote(move)}`, columns), `  $ ${deletion(from)}`];
}

/** How to continue and how to cancel a drain that has stopped, as lines. */
export function stoppedLines({ move, allowsPending }: DrainPlan, drained: number, nodes: number): string[] {
  const flags = ['--drain', ...(allowsPending ? ['--allow-pending'] : [])];
  return [
    `Drained: ${drained} of ${count(nodes, 'node')} of pool ${move.from.name}. Continue:`,
    `  $ ${migrateCommand(move, ...flags)}`,
    'Or make the nodes schedulable again:',
    `  $ kubectl uncordon --selector winpool.dev/pool=${move.from.name}`,
  ];
}
