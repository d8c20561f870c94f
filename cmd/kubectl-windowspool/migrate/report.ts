/** What a migration from one pool to another requires: of each workload, and of the new pool. Pure. */
import { drainOptionsOf } from '../../../controllers/windowspool/disruption/drainAction.ts';
import { nodeSourceOf } from '../../../controllers/windowspool/rules/nodeSource.ts';
import { compact, count, joined } from '../../../controllers/windowspool/util/words.ts';
import type { FoundPod, FoundWorkload, Inventory } from './inventory.ts';
import type { Change } from './placement.ts';
import { type Problem, poolAdvice, problemsOf } from './poolChecks.ts';
import { type Move, type Side, usableNodes } from './side.ts';

/** What a workload needs before it can move. */
export interface WorkloadReport {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Pods on the nodes of the old pool. */
  readonly pods: number;
  /** Change: its pods cannot run in the new pool. Blocked: they can, and something prevents their eviction now. */
  readonly state: 'Change' | 'Blocked' | 'Ready';
  readonly changes: readonly Change[];
  readonly blocks: readonly string[];
  readonly advice: readonly string[];
  /** Whether its pods would not run after the nodes of the old pool are drained. */
  readonly leftBehind: boolean;
}

export interface MigrationReport {
  readonly from: PoolSummary;
  readonly to: PoolSummary;
  readonly problems: readonly Problem[];
  /** Sentences about the pools. */
  readonly advice: readonly string[];
  /** Those that must change first, then those that are blocked. */
  readonly workloads: readonly WorkloadReport[];
  readonly nextStep: string;
  readonly nextCommand: string;
}

interface PoolSummary {
  readonly pool: string;
  readonly windowsVersion: string;
  readonly runtimeClass: string;
  readonly nodes: number;
  /** Verified nodes that accept pods. */
  readonly usableNodes: number;
}

/** The report. */
export function migrationReport(move: Move, inventory: Inventory): MigrationReport {
  const { from, to } = move;
  const order = ['Change', 'Blocked', 'Ready'];
  const workloads = inventory.workloads
    .map((workload) => workloadReport(workload, move))
    .sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  const problems = problemsOf(move);
  const pods = inventory.workloads.flatMap(podsToMove);
  return {
    from: summaryOf(from),
    to: summaryOf(to),
    problems,
    advice: poolAdvice(move, pods, inventory.used),
    workloads,
    ...nextOf(move, problems, workloads, pods.length),
  };
}

/** The names of the workloads whose pods would not run after the drain. */
export function leftBehind({ workloads }: MigrationReport): string[] {
  return workloads.filter((workload) => workload.leftBehind).map(workloadName);
}

/** `Deployment shop/cart`. */
export function workloadName({ kind, namespace, name }: Pick<WorkloadReport, 'kind' | 'namespace' | 'name'>): string {
  return `${kind} ${namespace}/${name}`;
}

/** Whether nothing has to be done before the nodes are drained. */
export function isReady({ problems, workloads }: MigrationReport): boolean {
  return problems.length === 0 && workloads.every(({ state }) => state === 'Ready');
}

/** The pods that a drain evicts. */
export function podsToMove({ kind, pods }: FoundWorkload): readonly FoundPod[] {
  return kind === 'DaemonSet' ? [] : pods;
}

function summaryOf(side: Side): PoolSummary {
  return {
    pool: side.name,
    windowsVersion: side.pool.spec.windowsVersion,
    runtimeClass: side.runtimeClass.metadata.name,
    nodes: side.nodes.length,
    usableNodes: usableNodes(side).length,
  };
}

function workloadReport(workload: FoundWorkload, move: Move): WorkloadReport {
  const { kind, namespace, name, pods, placement } = workload;
  const { changes } = placement;
  // Pods of a DaemonSet end with their node, and another one may do the same in the new pool.
  const isTied = kind === 'DaemonSet';
  const outdated = workload.selectsOldPool ? 0 : pods.filter((pod) => pod.selectsOldPool).length;
  const blocks = compact([outdated > 0 && rolloutBlock(workload, outdated), ...blocksOf(workload, move)]);
  return {
    kind,
    namespace,
    name,
    pods: pods.length,
    state: changes.length > 0 && !isTied ? 'Change' : blocks.length > 0 ? 'Blocked' : 'Ready',
    changes,
    blocks,
    advice: [...adviceOf(workload, move), ...placement.advice],
    // Nothing recreates a bare pod.
    leftBehind: !isTied && kind !== 'Pod' && (changes.length > 0 || outdated > 0),
  };
}

/** Kinds that replace the pods of an earlier revision, and whose progress `kubectl rollout status` shows. */
const ROLLED_OUT: readonly string[] = ['Deployment', 'StatefulSet'];

function rolloutBlock({ kind, namespace, name }: FoundWorkload, outdated: number): string {
  const what = `${count(outdated, 'pod')} of an earlier revision can run only in the old pool.`;
  if (!ROLLED_OUT.includes(kind)) return `${what} Wait until such pods have finished, or delete them.`;
  const wait = `kubectl rollout status ${kind.toLowerCase()}/${name} --namespace ${namespace}`;
  return `${what} Wait for the rollout: ${wait}`;
}

function blocksOf(workload: FoundWorkload, { from, to }: Move): string[] {
  const { kind, namespace, name } = workload;
  const { evictsBare, evictsEmptyDir } = drainOptionsOf(from.pool);
  const moving = podsToMove(workload);
  const withEmptyDir = moving.filter(({ pod }) => pod.emptyDir).length;
  const budgets = moving.flatMap(({ blockedBy = [] }) => (blockedBy.length === 1 ? blockedBy : []));
  const several = moving.flatMap(({ blockedBy = [] }) => (blockedBy.length > 1 ? [joined(blockedBy)] : []));
  const bare = `No controller recreates the pod. Create it again for pool ${to.name}, then delete it: kubectl delete pod ${name} --namespace ${namespace}`;
  return [
    ...compact([
      kind === 'Pod' && !evictsBare && bare,
      withEmptyDir > 0 &&
        !evictsEmptyDir &&
        `${count(withEmptyDir, 'pod')} with emptyDir volumes. Delete them, or set disruption.drain.podsWithEmptyDir: Evict in pool ${from.name}.`,
    ]),
    ...[...new Set(budgets)].map(
      (budget) => `PodDisruptionBudget ${budget} allows no disruption now. Add a replica, or correct the budget.`,
    ),
    ...[...new Set(several)].map(
      (names) => `The PodDisruptionBudgets ${names} select the same pods, which are then never evicted. Keep one.`,
    ),
  ];
}

function adviceOf(workload: FoundWorkload, { from, to }: Move): string[] {
  const { kind, placement, pods } = workload;
  const moving = podsToMove(workload);
  const isStuck = moving.some(({ blockedBy }) => blockedBy?.length === 0);
  const { evictsBare } = drainOptionsOf(from.pool);
  const mustChange = placement.changes.length > 0;
  return compact([
    kind === 'Pod' &&
      evictsBare &&
      'No controller recreates the pod, and it is evicted (disruption.drain.podsWithoutController: Evict).',
    kind === 'DaemonSet' &&
      mustChange &&
      `Its pods end with the nodes of pool ${from.name}. Make these changes if it must also run in pool ${to.name}.`,
    kind === 'Job' && mustChange && 'The template of a Job cannot change. Wait until it completes, or create it again.',
    kind === 'Job' &&
      !mustChange &&
      pods.length > 0 &&
      'An evicted pod of a Job starts again from the beginning. To prevent that, wait until it completes.',
    isStuck &&
      `Its pods tolerate every taint: they can start again on the cordoned nodes until pool ${from.name} is deleted.`,
  ]);
}

/** The commands of a migration. */
export function migrateCommand({ from, to }: Move, ...flags: readonly string[]): string {
  return ['kubectl windowspool migrate', from.name, to.name, ...flags].join(' ');
}

function nextOf(
  move: Move,
  [problem]: readonly Problem[],
  workloads: readonly WorkloadReport[],
  pods: number,
): Pick<MigrationReport, 'nextStep' | 'nextCommand'> {
  const { from, to } = move;
  if (problem) return { nextStep: problem.message, nextCommand: problem.command };
  if (workloads.some(({ state }) => state === 'Change'))
    return {
      nextStep: `Change these workloads in their manifests, so that their pods start in pool ${to.name}. Then check again.`,
      nextCommand: migrateCommand(move),
    };
  if (workloads.some(({ state }) => state === 'Blocked'))
    return {
      nextStep: 'Remove what blocks the eviction of pods. Then check again.',
      nextCommand: migrateCommand(move),
    };
  if (pods > 0)
    return {
      nextStep: `Drain the nodes of pool ${from.name}: the pods then start in pool ${to.name}.`,
      nextCommand: migrateCommand(move, '--drain'),
    };
  return { nextStep: `No workload needs pool ${from.name}. ${deletionNote(move)}`, nextCommand: deletion(from) };
}

/** The command that deletes the old pool. */
export function deletion({ name }: Side): string {
  return `kubectl delete windowspool ${name}`;
}

/** What the deletion of the old pool does. */
export function deletionNote({ from, to }: Move): string {
  const isKept = from.pool.spec.deletionPolicy === 'Retain';
  const nodes = !nodeSourceOf(from.pool).rollsNodes
    ? 'Its nodes stay: terminate them with the tool that created them'
    : isKept
      ? 'Its node group stays (deletionPolicy: Retain)'
      : 'Its node group and its nodes are deleted with it';
  const name = from.runtimeClass.metadata.name;
  const shared =
    name === to.runtimeClass.metadata.name ? '' : `, and RuntimeClass ${name} with the last pool that uses it`;
  return `Delete pool ${from.name} when you no longer need it. ${nodes}${isKept ? '' : shared}.`;
}
