/** What on-call needs to know about a pool, from its spec and status. Pure. */
import type {
  CheckState,
  Condition,
  NodeCounts,
  PendingStep,
  SecondNodeGroup,
  WarmPoolState,
  WindowsPool,
} from '../../controllers/windowspool/api/api.gen.ts';
import { RETRY_ANNOTATION } from '../../controllers/windowspool/api/labels.ts';
import {
  type NodeCheck,
  nodeCheckReasons,
  onTheWay,
  type Reason,
  reasons,
  remedyFor,
} from '../../controllers/windowspool/api/reasons.ts';
import { refers, resolved } from '../../controllers/windowspool/conditions/references.ts';
import { describeRelease, isNewerRelease } from '../../controllers/windowspool/providers/nodeGroups.ts';
import { isDeleting, isPaused } from '../../controllers/windowspool/rules/poolQueries.ts';
import { count } from '../../controllers/windowspool/util/words.ts';

/** A condition that needs attention. */
export interface Finding {
  readonly condition: string;
  readonly reason: string;
  readonly message: string;
}

/** A pool on one screen. */
export interface PoolReport {
  readonly pool: string;
  readonly verdict: 'Ready' | 'NotReady' | 'Unknown' | 'Deleting';
  readonly paused: boolean;
  readonly message: string;
  /** What is wrong, the cause before its consequences. */
  readonly problems: readonly Finding[];
  /** What the operator, EKS or a node is working on. */
  readonly inProgress: readonly Finding[];
  /** What you can do, although nothing is wrong: a newer release is available. */
  readonly notes: readonly Finding[];
  readonly nodes: NodeCounts;
  readonly windowsVersion: string;
  readonly build?: string;
  readonly release?: string;
  readonly newestRelease?: string;
  readonly kubernetesVersion?: string;
  readonly nodeGroup?: string;
  /** The node group that it replaces. */
  readonly replacedNodeGroup?: string;
  /** The temporary node group on which a version is tried. */
  readonly canary?: string;
  readonly warmPool?: string;
  readonly runtimeClass?: string;
  readonly pendingSteps: readonly PendingStep[];
  /** The checks that need attention. Advice is no problem. */
  readonly checks: readonly CheckState[];
  readonly nextStep: string;
  /** Absent if there is nothing to do. */
  readonly nextCommand?: string;
}

/** Conditions in the order in which one causes the next. Ready and Stalled repeat the message of another. */
const ORDER = [
  'PrerequisitesMet',
  'NodeGroupReady',
  'NodePoolReady',
  'MachinesReady',
  'NodesFound',
  'RuntimeClassReady',
  'NodesVerified',
  'RemediationAllowed',
  'Disrupting',
  'UpToDate',
  'Stalled',
  'Ready',
];

/** Reasons of conditions that are True and still need attention. */
const WARNINGS: readonly string[] = ['MetWithWarnings', 'PrerequisitesIgnored'];

/** Reasons of conditions that are False although nothing is wrong. */
const NOTES: readonly string[] = ['UpdateAvailable'];

/** Reasons of Disrupting that need no action. */
const LEAVING: readonly string[] = ['Draining', 'DisruptionPending'];

/** Reasons after which the annotation winpool.dev/retry makes the operator try again. */
const RETRIED: readonly string[] = [
  'CreateFailed',
  'CreateRejected',
  'QuotaExceeded',
  'UpdateFailed',
  'UpdateRejected',
];

/** The report of a pool. */
export function reportOf(pool: WindowsPool): PoolReport {
  const { metadata, spec, status } = pool;
  const conditions = resolved(status?.conditions ?? []);
  const ready = conditions.find(({ type }) => type === 'Ready');
  const findings = findingsIn(conditions);
  const group = status?.nodeGroup;
  const build = status?.summary?.build;
  return {
    pool: metadata.name,
    verdict: verdictOf(pool, ready),
    paused: isPaused(pool),
    message: ready?.message ?? 'The operator has not reported on this pool yet.',
    ...findings,
    nodes: status?.nodes ?? {},
    windowsVersion: spec.windowsVersion,
    ...(build && { build }),
    ...(group?.releaseVersion && { release: group.releaseVersion }),
    ...(group?.latestReleaseVersion && { newestRelease: group.latestReleaseVersion }),
    ...(group?.kubernetesVersion && { kubernetesVersion: group.kubernetesVersion }),
    ...(group && { nodeGroup: `${group.name}: ${group.status ?? 'does not exist'}` }),
    ...(group?.replacement && { replacedNodeGroup: describeReplaced(group.replacement) }),
    ...(group?.canary && { canary: describeCanaryGroup(group.canary) }),
    ...(group?.warmPool && { warmPool: describeWarmPool(group.warmPool) }),
    ...(status?.runtimeClass && { runtimeClass: status.runtimeClass.name }),
    pendingSteps: pendingStepsIn(status),
    checks: status?.checks ?? [],
    ...nextOf(pool, findings),
  };
}

function describeReplaced({ name, status, nodes = 0, absenceStartTime }: SecondNodeGroup): string {
  return `${name}: ${absenceStartTime ? 'deleted' : `${status ?? 'unknown status'}, ${count(nodes, 'node')} left`}`;
}

/** `web-2d044d: ACTIVE, release 1.36-2026.03.17, 2 of 2 nodes verified`. */
function describeCanaryGroup({ name, status, releaseVersion, nodes = 0, verified = 0 }: SecondNodeGroup): string {
  const version = releaseVersion ? `, ${describeRelease(releaseVersion)}` : '';
  return `${name}: ${status ?? 'does not exist'}${version}, ${verified} of ${count(nodes, 'node')} verified`;
}

/** `2 instances, Stopped`. */
function describeWarmPool({ instances, poolState }: WarmPoolState): string {
  return [...(instances === undefined ? [] : [count(instances, 'instance')]), poolState].join(', ');
}

/** Whether the status is of the current spec. */
function isObserved({ metadata, status }: WindowsPool): boolean {
  return status?.observedGeneration === metadata.generation;
}

function verdictOf(pool: WindowsPool, ready: Condition | undefined): PoolReport['verdict'] {
  if (isDeleting(pool)) return 'Deleting';
  if (!ready || ready.status === 'Unknown') return 'Unknown';
  return ready.status === 'True' ? 'Ready' : 'NotReady';
}

type Findings = Pick<PoolReport, 'problems' | 'inProgress' | 'notes'>;

function findingsIn(conditions: readonly Condition[]): Findings {
  const sorted = conditions
    .filter(({ type }) => ORDER.includes(type))
    .toSorted((a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type));
  const problems: Finding[] = [];
  const inProgress: Finding[] = [];
  const notes: Finding[] = [];
  const known = new Set<string>();
  for (const { type, status, reason, message } of sorted) {
    const isProblemWhileTrue = type === 'Disrupting' || type === 'Stalled' || WARNINGS.includes(reason);
    if ((status === 'True') !== isProblemWhileTrue && status !== 'Unknown') continue;
    // Stalled repeats the condition that stalls the pool, Ready summarizes the others, and others refer to them.
    if (known.has(reason) && refers({ message })) continue;
    if ((type === 'Stalled' && known.has(reason)) || (type === 'Ready' && known.size > 0)) continue;
    known.add(reason);
    const isNormal = onTheWay.has(reason) || (type === 'Disrupting' && LEAVING.includes(reason));
    (isNormal ? inProgress : NOTES.includes(reason) ? notes : problems).push({ condition: type, reason, message });
  }
  // A warning is not the cause of another problem.
  problems.sort((a, b) => Number(WARNINGS.includes(a.reason)) - Number(WARNINGS.includes(b.reason)));
  // Conditions that wait for another one explain nothing.
  const causes = inProgress.filter(({ reason }) => reason !== 'Pending');
  return { problems, notes, inProgress: problems.length + causes.length > 0 ? causes : inProgress };
}

type Next = Pick<PoolReport, 'nextStep' | 'nextCommand'>;

const command = (...words: readonly string[]) => ['kubectl windowspool', ...words].join(' ');

function nextOf(pool: WindowsPool, { problems, inProgress, notes }: Findings): Next {
  const [[problem], [progress], [note]] = [problems, inProgress, notes];
  const { name } = pool.metadata;
  const watch = command('status', name, '--watch');
  if (!isObserved(pool))
    return {
      nextStep: 'The operator has not observed the current spec. Check that it runs.',
      nextCommand: command('doctor'),
    };
  if (isPaused(pool))
    return { nextStep: 'The pool is paused, and the operator changes nothing.', nextCommand: command('resume', name) };
  if (isDeleting(pool) && !problem) return { nextStep: 'Wait for the deletion to complete.', nextCommand: watch };
  if (problem) return nextFor(problem, pool);
  if (progress) return { nextStep: `${remedyOf(progress.reason, name)} To follow it:`, nextCommand: watch };
  if (note) return nextFor(note, pool);
  if (pendingStepsIn(pool.status).length > 0)
    return { nextStep: 'Changes are due that the operator does not make.', nextCommand: command('plan', name) };
  return { nextStep: 'No action is needed.' };
}

function nextFor({ condition, reason, message }: Finding, pool: WindowsPool): Next {
  const { name } = pool.metadata;
  const nextStep = remedyOf(reason, name);
  if (RETRIED.includes(reason)) {
    const first = commandIn(message);
    const isRetry = first === undefined || first.includes(RETRY_ANNOTATION);
    return { nextStep, nextCommand: isRetry ? command('retry', name) : first };
  }
  const check = nodeCheckReasons.find((each) => each === reason);
  const failing = pool.status?.failingNodes?.find((node) => node.reason === reason);
  if (check && failing) return { nextStep, nextCommand: commandForNode(check, failing.name, name) };
  if (condition === 'UpToDate') return { nextStep, nextCommand: updateCommandFor(pool, reason) };
  if (condition === 'NodesVerified' || condition === 'RemediationAllowed')
    return { nextStep, nextCommand: command('nodes', name) };
  // It shows the command for each prerequisite.
  if (condition === 'PrerequisitesMet') return { nextStep, nextCommand: commandIn(message) ?? command('doctor', name) };
  return { nextStep, nextCommand: `kubectl describe windowspool ${name}` };
}

function updateCommandFor({ metadata: { name }, spec, status }: WindowsPool, reason: string): string {
  const { releaseVersion: running = '', latestReleaseVersion: newest = '' } = status?.nodeGroup ?? {};
  // With these fields, and for another version of a launch template, there is no release to set.
  const isCustom = spec.nodeGroup?.ami || spec.nodeGroup?.kubelet || newest.startsWith('ami-');
  const isUpdate = reason === 'UpdateAvailable' && !isCustom && newest !== '' && isOtherRelease(newest, running);
  return isUpdate ? command('update', name, '--release', newest) : `kubectl edit windowspool ${name}`;
}

/** Whether there is a newer release, or another custom AMI in the parameter: their IDs have no order. */
export function isOtherRelease(newest: string, running: string): boolean {
  return newest.startsWith('ami-') ? newest !== running : isNewerRelease(newest, running);
}

function commandForNode(check: NodeCheck, node: string, pool: string): string {
  const remedy = remedyFor(check, node);
  if (remedy.includes('winpool.dev/replace')) return command('replace', node);
  return commandIn(remedy) ?? command('nodes', pool);
}

/**
 * What to do about a reason, in this pool: its meaning without the first sentence, because the message says for this pool what that sentence says in general, and
 * without commands, because the next command is shown below it. Reasons of a later release of the operator have none here.
 */
function remedyOf(reason: string, pool: string): string {
  const text: string | undefined = reasons[reason as Reason];
  if (text === undefined) return `See the message of ${reason}.`;
  return asPluginCommands(text.replace(/^.*?\. (?=[A-Z])/s, '').replace(/^The message [^.]*\. (?=[A-Z])/, ''))
    .replaceAll('POOL', pool)
    .replace(/ \(kubectl [^)]*\)/g, '');
}

/** The text with the command of the plugin instead of the annotation that retries. */
function asPluginCommands(text: string): string {
  return text.replace(
    /kubectl annotate wp (\S+) winpool\.dev\/retry=\$\(date \+%s\) --overwrite/g,
    'kubectl windowspool retry $1',
  );
}

/** The message of a problem, without the command that is shown as the next one. */
export function withoutCommand(message: string, nextCommand: string | undefined): string {
  const found = commandIn(message);
  if (found === undefined || nextCommand === undefined) return asPluginCommands(message);
  const isNext =
    found === nextCommand || (found.includes('winpool.dev/replace') && nextCommand.startsWith(command('replace')));
  if (!isNext) return asPluginCommands(message);
  const end = `: ${found}`;
  if (!message.endsWith(end)) return message.replace(` (${found})`, '').replace(end, '');
  const rest = message.slice(0, -end.length);
  // What only says what the command is for goes with it.
  const others = rest.replace(/(?<=\.) To [^.]*$/, '');
  return others === rest ? `${rest}.` : others;
}

/**
 * The command in a text for people, to show it on a line of its own: in parentheses, or from a colon to the end. Undefined if it cannot be run as it is, or if
 * the text leaves a choice.
 */
export function commandIn(message: string): string | undefined {
  if (/\bOtherwise, /.test(message)) return undefined;
  const found = /[:(] ?((?:kubectl|aws) [^()]*?(?:\$\([^)]*\)[^()]*?)?)(?:\)|\.? *$|\. (?=[A-Z]))/.exec(message)?.[1];
  return found !== undefined && isRunnable(found) ? found : undefined;
}

/** Whether it has no placeholder such as NODE or SECURITY_GROUP, is no enumeration in a sentence, and is not only the name of a command of the AWS CLI. */
function isRunnable(command: string): boolean {
  const hasPlaceholder = /(?<![\w-])[A-Z]{3,}(?:_[A-Z]+)*(?![\w-])/.test(command);
  return !hasPlaceholder && !command.includes(', ') && (command.startsWith('kubectl ') || command.includes(' --'));
}

/** The pending steps of a pool. An older operator wrote texts without a reason. */
export function pendingStepsIn(status: WindowsPool['status']): readonly PendingStep[] {
  const steps: readonly (PendingStep | string)[] = status?.pendingSteps ?? [];
  return steps.map((step) => (typeof step === 'string' ? { description: step, reason: '' } : step));
}
