/** The condition Disrupting: nodes that are replaced or removed on request, or because they fail. Present only while there are any. */

import type { LeavingNode } from '../api/api.gen.ts';
import { type Drain, drainOf, nameOf, podsThatEnd } from '../disruption/drain.ts';
import { drainOptionsOf } from '../disruption/drainAction.ts';
import { describeDrained, describeDue, type Remedied } from '../disruption/drainedNodes.ts';
import { annotationOf, causeOf, isCordonedByOperator, isExcludedFromDrain } from '../disruption/nodeAnnotations.ts';
import { terminatingNodes } from '../disruption/reservation.ts';
import { isNodeless } from '../disruption/terminatingNode.ts';
import type { ConditionState } from '../model/conditions.ts';
import type { Admission, BlockedPod, TerminatingNodeView, TerminatingStage } from '../model/disruption.ts';
import type { Derived } from '../model/due.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { RunResult } from '../model/outcome.ts';
import type { StepError } from '../model/stepError.ts';
import { isDeleting, isPaused } from '../rules/poolQueries.ts';
import { restOf, waitOf } from '../rules/ruleChains.ts';
import { failedKindOf } from '../steps/stepKinds.ts';
import { timeOf } from '../util/durations.ts';
import { clockTime, count, joined } from '../util/words.ts';
import { trueCondition } from './condition.ts';
import { describeRetried } from './retriedSteps.ts';

/** The answer to a request to terminate an instance takes seconds. In milliseconds. */
const UNCONFIRMED_MS = 10_000;

/** How many nodes a message spells out. */
const NODES_IN_MESSAGE = 3;

/** The state of the nodes that are being removed; undefined when there are none. */
export function disrupting({ after: s, decisions }: RunResult): ConditionState | undefined {
  if (isDeleting(s.pool)) return undefined;
  const { refused, ...requested } = s.due.nodes;
  const terminating = terminatingNodes(s.pool).map((entry) =>
    describe(entry, s, waitOf(decisions, 'terminatingNodes', entry.uid)?.message),
  );
  const waits = describeWaiting(requested, s);
  const refusals = refused.map(({ node, operation, why, remedy }) => ({
    text: `Node ${node} is not ${operation === 'Remove' ? 'removed' : 'replaced'}: ${why}.`,
    remedy,
  }));
  const due = restOf(decisions, 'annotations') ? describeDue(s) : [];
  const lines = [...terminating, ...refusals, ...due];
  if (lines.length + waits.length === 0) return undefined;
  const retried = describeRetried(s.errors.filter(holdsUpNodes), []);
  const message = compose(lines, [...waits, ...(retried ? [retried] : [])]);
  const isHeld = terminating.some(({ held }) => held);
  if (isHeld) return trueCondition('DrainBlocked', message, 'working');
  if (terminating.some(({ done }) => !done)) return trueCondition('Draining', message, 'working');
  if (due.length > 0) return trueCondition('ReplacementDue', message);
  if (terminating.length > 0) return trueCondition('Drained', message);
  return trueCondition(refused[0]?.reason ?? 'DisruptionPending', message);
}

/** Whether a step failed without which no node leaves. */
function holdsUpNodes(entry: StepError): boolean {
  const { takesNodes, reserves, blocks } = failedKindOf(entry);
  return takesNodes === true || reserves === true || blocks === 'drain';
}

/** One message: a line whose remedy ends with a command is the last. */
function compose(lines: readonly Remedied[], waits: readonly string[]): string {
  const shown = lines.slice(0, NODES_IN_MESSAGE);
  const last = shown.find(({ remedy }) => remedy !== undefined);
  const more = lines.length > NODES_IN_MESSAGE ? [`And ${count(lines.length - NODES_IN_MESSAGE, 'more node')}.`] : [];
  const others = shown.filter((line) => line !== last).map(({ text }) => text);
  return [...others, ...more, ...waits, ...(last ? [last.text, last.remedy] : [])].join(' ');
}

/** The nodes that are not admitted yet, in sentences: a requested node is always mentioned. */
function describeWaiting(
  { begin, waiting, waitsFor }: Pick<Admission, 'begin' | 'waiting' | 'waitsFor'>,
  { pool }: ObservedState,
): string[] {
  const [next, later] = [begin.map(({ name }) => name), waiting];
  if (isPaused(pool)) {
    const all = [...next, ...later];
    return all.length > 0 ? [`${named(all)} ${verbFor(all)} until the pool is resumed.`] : [];
  }
  return [
    ...(next.length > 0 ? [`${named(next)} ${next.length === 1 ? 'is' : 'are'} next.`] : []),
    ...(later.length > 0 ? [`${named(later)} ${verbFor(later)}: ${waitsFor}.`] : []),
  ];
}

function named(names: readonly string[]): string {
  return `${names.length === 1 ? 'Node' : 'Nodes'} ${joined(names)}`;
}

function verbFor(names: readonly string[]): string {
  return names.length === 1 ? 'waits' : 'wait';
}

/** What happens to a node, as a participle. */
function verbOf(entry: LeavingNode, { due }: Derived): string {
  const cause = causeOf(entry);
  if (cause) return `replaced, because it ${cause}`;
  if (entry.operation === 'DrainNodeGroup') return `removed, because its ${due.capacity.retiring?.why}`;
  return entry.operation === 'Remove' ? 'removed' : 'replaced';
}

interface Line extends Remedied {
  /** Whether the drain is blocked until a user acts. */
  readonly held: boolean;
  /** Whether the operator has drained the node, and another system is to terminate it. */
  readonly done?: true;
}

/** The stage of the removal of a node. */
export function stageOf(entry: LeavingNode, s: Derived): TerminatingStage {
  if (entry.drainedTime !== undefined) return 'drained';
  if ((entry.terminationAcceptedTime ?? entry.terminationRequestTime) !== undefined) return 'ending';
  return describe(entry, s).held ? 'blocked' : 'draining';
}

/** The state of the removal of a node, in words. `wait`: what its next step waits for, in a sentence. */
function describe(entry: LeavingNode, s: Derived, wait?: string): Line {
  const waits = wait ? ` ${wait}` : '';
  const { name, instanceID, terminationRequestTime, terminationAcceptedTime = terminationRequestTime } = entry;
  const view = s.operations?.nodes.find((each) => each.entry.uid === entry.uid);
  const now = view?.node.ok ? view.node.value : undefined;
  if (entry.drainedTime !== undefined) return { ...describeDrained(entry, now), held: false, done: true };
  const whose = isNodeless(entry) ? '' : ` of node ${name}`;
  if (terminationAcceptedTime !== undefined) {
    const pods = now && isExcludedFromDrain(now) ? ' with its pods' : '';
    const unconfirmed =
      entry.terminationAcceptedTime === undefined && s.now - Date.parse(terminationAcceptedTime) >= UNCONFIRMED_MS;
    const text = unconfirmed
      ? `AWS has not confirmed the request of ${clockTime(Date.parse(terminationAcceptedTime))} to terminate instance ${instanceID}${whose}${pods}.`
      : `Instance ${instanceID}${whose} is terminating${pods}.`;
    return { text, held: false };
  }
  if (isNodeless(entry))
    return { text: `Instance ${instanceID} did not join and is about to be replaced.${waits}`, held: false };
  const drain = view && drainIn(view, s);
  const verb = verbOf(entry, s);
  if (!drain) return { text: `Node ${name} is about to be ${verb}.${waits}`, held: false };
  if (now && isExcludedFromDrain(now)) {
    const pods = view?.pods?.ok ? podsThatEnd(view.pods.value, entry, now, s.now) : 0;
    const text = `Node ${name} is about to be ${verb}. It is excluded from drain: ${count(pods, 'pod')} ${pods === 1 ? 'is' : 'are'} terminated with it.`;
    return { text, held: false };
  }
  const obstacles = obstaclesIn(drain, name, s);
  const pods = podsIn(drain);
  const purpose = purposeOf(entry, s);
  const stuck = stuckIn(drain);
  if (obstacles.length === 0) {
    const left = pods > 0 ? `${count(pods, 'pod')} left` : 'no pods left';
    return { text: `Draining ${name}${purpose}: ${left}.${stuck}${waits}`, held: false };
  }
  const causes = joined(obstacles.map(({ cause }) => cause));
  const remedies = [...new Set(obstacles.map(({ remedy }) => remedy)), ...cancellationOf(entry, s)].join(', or ');
  const text = `Draining ${name}${purpose}: ${causes}.${stuck} ${remedies}. Times out at ${timeoutOf(entry, s)}.`;
  return { text, held: true };
}

/** Why a node is drained, after its name. */
function purposeOf(entry: LeavingNode, { due }: Derived): string {
  const cause = causeOf(entry);
  if (cause) return `, which ${cause}`;
  if (entry.operation === 'DrainNodeGroup') return `, whose ${due.capacity.retiring?.why}`;
  return entry.operation === 'Remove' ? ' to remove it' : '';
}

/** How the drain is cancelled; that of a canary is not, once it has ended. */
function cancellationOf(entry: LeavingNode, { due }: Derived): string[] {
  const { cancel } = due.capacity.retiring ?? {};
  if (entry.operation === 'DrainNodeGroup') return cancel === undefined ? [] : [cancel];
  const annotation = annotationOf(entry);
  return [entry.reason ? `cancel by setting ${annotation}=off on it` : `cancel by removing ${annotation}`];
}

/** When the drain is given up: a time of day if that is unambiguous. */
function timeoutOf({ startTime }: LeavingNode, { pool }: ObservedState): string {
  const { timeoutMs } = drainOptionsOf(pool);
  const at = Date.parse(startTime) + timeoutMs;
  return timeoutMs < DAY_MS ? clockTime(at) : timeOf(at);
}

const DAY_MS = 86_400_000;

/** The pods that were not evicted in time, and what blocked them; undefined when the drain waited for something else. */
export function describeRest(view: TerminatingNodeView, s: ObservedState): string | undefined {
  const drain = drainIn(view, s);
  if (!drain || podsIn(drain) === 0) return undefined;
  const causes = obstaclesIn(drain, view.entry.name, s).map(({ cause }) => cause);
  return joined(causes) || `${count(podsIn(drain), 'pod')} left`;
}

function podsIn({ evict, terminating, obstructions }: Drain): number {
  return evict.length + terminating.length + obstructions.length;
}

/** Why a pod stays on the node, and what to do about it. */
interface DrainObstacle {
  readonly cause: string;
  readonly remedy: string;
}

function obstaclesIn(drain: Drain, node: string, { operations }: ObservedState): DrainObstacle[] {
  return [...obstructionsIn(drain), ...blocksIn(operations?.blocked ?? [], node, drain)];
}

/** The nodes whose drain is blocked, with the cause. */
export function blockedDrains(s: Derived): { readonly node: { name: string; uid: string }; readonly text: string }[] {
  return terminatingNodes(s.pool).flatMap((entry) => {
    const { text, held } = describe(entry, s);
    return held ? [{ node: { name: entry.name, uid: entry.uid }, text }] : [];
  });
}

function drainIn({ entry, node, pods }: TerminatingNodeView, s: ObservedState): Drain | undefined {
  const now = node.ok ? node.value : undefined;
  if (!now || !isCordonedByOperator(now) || !pods?.ok) return undefined;
  const since = Date.parse(entry.startTime);
  return drainOf(pods.value, { ready: now.ready, since }, drainOptionsOf(s.pool), s.now);
}

function obstructionsIn({ obstructions }: Drain): DrainObstacle[] {
  return obstructions.map(({ pod, why, field }) => ({
    cause: `pod ${nameOf(pod)} ${why}`,
    remedy: `Delete the pod, or set disruption.drain.${field}: Evict`,
  }));
}

/** The pods that budgets blocked at the last pass and that are still to be evicted: others have been deleted since. */
function blocksIn(blocked: readonly BlockedPod[], node: string, { evict }: Drain): DrainObstacle[] {
  const staying = new Set(evict.map(nameOf));
  return blocked
    .filter((pod) => pod.node === node && staying.has(nameOf(pod)))
    .map(({ budget, admission, ...pod }) => ({
      cause: `eviction of ${nameOf(pod)} is blocked by ${blockerOf(budget, admission)}`,
      remedy: remedyFor(budget, admission),
    }));
}

function blockerOf(budget: string | undefined, admission: string | undefined): string {
  if (admission !== undefined) return admission;
  return budget === undefined
    ? 'several PodDisruptionBudgets that match it'
    : `PodDisruptionBudget ${budget} (0 disruptions allowed)`;
}

function remedyFor(budget: string | undefined, admission: string | undefined): string {
  if (admission !== undefined) return 'Check the admission webhook or policy';
  return budget === undefined ? 'Keep only one PodDisruptionBudget for the pod' : 'Scale the workload up';
}

/** Reports pods on a dead node, whose termination no kubelet confirms, with the time at which the oldest should have terminated. */
function stuckIn({ stuck }: Drain): string {
  const [first] = [...stuck].sort((a, b) => (a.deletingAt ?? 0) - (b.deletingAt ?? 0));
  if (!first) return '';
  const due = timeOf(first.deletingAt ?? 0);
  return ` The node is not Ready, so the termination of ${count(stuck.length, 'pod')} is not confirmed, such as ${nameOf(first)} (due at ${due}).`;
}
