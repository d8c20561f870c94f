/** What Kubernetes events say, on the pool and on its nodes. Events never fail. */

import type { Condition, WindowsPool, WindowsPoolStatus } from './api.gen.ts';
import { publishBlockedDrains, publishOnNodes, publishReplaced } from './disruption/events.ts';
import { IGNORE_PREREQUISITES_ANNOTATION, POOL_KEY } from './labels.ts';
import type { ObservedState } from './model/observedState.ts';
import type { Outcome } from './model/outcome.ts';
import type { StepError } from './model/stepError.ts';
import type { Events, Metrics } from './ports/pools.ts';
import type { DriftPart } from './providers/eks/differences.ts';
import { countByPart, describeDifference } from './providers/eks/differences.ts';
import { nodeGroupNameOf } from './providers/eks/nodeGroup.ts';
import { describeReleaseFailure } from './providers/eks/upgrades/releaseFailures.ts';
import { providerOf } from './providers/providers.ts';
import { onTheWay, prerequisiteReasons, reasons } from './reasons.ts';
import { describeLeftover, describeStep, isGivenUp, mayBeReverted, stepKindOf } from './steps/steps.ts';
import { count, joined, sentence } from './util/words.ts';

interface EventSinks {
  readonly events: Events;
  readonly metrics: Metrics;
}

/** What was done, what was corrected, and what is left behind. */
export function publishDone(outcome: Outcome, sinks: EventSinks): void {
  const { events } = sinks;
  publishSteps(outcome, events);
  publishOnNodes(outcome, events);
  publishCorrections(outcome, sinks);
  publishMarksLeft(outcome, events);
  publishStranded(outcome, events);
  publishDoubts(outcome, events);
}

/** What is new in a status that was just written: an event about one that nobody can read yet would only confuse. */
export function publishNews(s: ObservedState, status: WindowsPoolStatus, events: Events): void {
  const isDrainBlocked = publishChanges(s.pool, status, events).has('DrainBlocked');
  if (isDrainBlocked) publishBlockedDrains(s, events);
  publishReplaced(s, status, events);
}

function publishSteps({ done, after: { pool } }: Outcome, events: Events): void {
  for (const [kind, steps] of Map.groupBy(done, (step) => step.kind)) {
    const [first] = steps;
    const { reason, describeMany } = first ? stepKindOf(first) : {};
    if (!reason) continue;
    // The share of an update is told of by the update.
    if (first?.kind === 'reserveDisruption' && !first.begins) continue;
    // A thousand nodes are one event: each takes from the budget of what else there is to tell.
    const messages =
      describeMany && steps.length > 1
        ? [describeMany(count(steps.length, 'node'))]
        : steps.map((step) => describeStep(step) ?? reasons[reason]);
    const type = steps.some((step) => isGivenUp(step) || mayBeReverted(step)) ? 'Warning' : 'Normal';
    for (const message of messages) events.publish(pool, { type, reason, action: kind, message });
  }
}

/** What was put right although no change of the spec asked for it: somebody edits the group, or it was adopted so. */
function publishCorrections({ done, after: { pool } }: Outcome, { events, metrics }: EventSinks): void {
  for (const step of done) {
    const drift = 'drift' in step ? step.drift : undefined;
    if (!drift) continue;
    const found = joined(drift.map(describeDifference), 10);
    const message = `Node group ${nodeGroupNameOf(pool)}: ${sentence(found)} It is put right.`;
    events.publish(pool, { type: 'Warning', reason: 'Drifted', action: step.kind, message });
    const samples = (Object.entries(countByPart(drift)) as [DriftPart, number][]).map(
      ([part, value]) => ({ metric: 'windowspool_drift_corrected_total', labels: { part }, value }) as const,
    );
    metrics.add(pool.metadata.name, samples);
  }
}

/** That the user has a release rolled out which fails elsewhere. */
function publishDoubts({ done, after: { pool } }: Outcome, events: Events): void {
  for (const step of done) {
    if (step.kind !== 'updateNodeGroupVersion' || !step.doubt) continue;
    const message = `The update begins because the spec asks for it. ${describeReleaseFailure(step.doubt)}`;
    events.publish(pool, { type: 'Warning', reason: 'ReleaseNotVerified', action: step.kind, message });
  }
}

/** What the operator could not take from a group that outlives its pool: nothing else will ever tell. */
function publishMarksLeft(outcome: Outcome, events: Events): void {
  const { left, after, released } = outcome;
  const { pool } = after;
  const group = providerOf(pool).nodeGroupName(pool);
  const whose = group === undefined ? `WindowsPool ${pool.metadata.name}` : `Node group ${group}`;
  for (const [step, entries] of Map.groupBy(left, (entry) => entry.step)) {
    const [{ error }] = entries as [StepError, ...StepError[]];
    const cause = sentence(`${error.operation} failed: ${error.message}`);
    const message = `${whose} ${describeLeftover(step, entries.length)}: ${cause} Remove them yourself.`;
    events.publish(pool, { type: 'Warning', reason: 'MarksLeft', action: step, message });
  }
  const silent = released ? providerOf(pool).describeUnremovedMarks(outcome) : undefined;
  if (!silent) return;
  const message = `${whose} ${sentence(silent)} Remove them yourself.`;
  events.publish(pool, { type: 'Warning', reason: 'MarksLeft', action: 'removeFinalizer', message });
}

/** That a group which was the pool's, and which lost its tag, is not deleted with it: it costs money, and nothing else will tell. */
function publishStranded({ after: { pool, group: view }, released }: Outcome, events: Events): void {
  if (!released || view.kind !== 'seen' || pool.spec.deletionPolicy !== 'Delete') return;
  const { name, arn, tags, status } = view.group;
  if (tags[POOL_KEY] !== undefined || arn !== pool.status?.nodeGroup?.arn || status === 'DELETING') return;
  const message = `Node group ${name} and its nodes stay, because it lost the tag ${POOL_KEY}=${pool.metadata.name}. Delete it yourself if nobody needs it.`;
  events.publish(pool, { type: 'Warning', reason: 'NotOwned', action: 'removeFinalizer', message });
}

/**
 * Events tell what somebody must know: what turned bad, what is good again, and when Ready turns. What is merely on its way is in the
 * conditions, and the steps have events of their own. Gives the reasons that were told.
 */
function publishChanges(pool: WindowsPool, status: WindowsPoolStatus, events: Events): ReadonlySet<string> {
  const reported = new Set<string>();
  if (status.nodeGroup?.gateTaint !== pool.status?.nodeGroup?.gateTaint) {
    const reason = 'GateTaintReplaced';
    events.publish(pool, { type: 'Warning', reason, action: 'Gate', message: reasons[reason] });
  }
  // Ready comes last: where it turns for a reason that was just told, it adds nothing.
  const [ready, ...parts] = status.conditions ?? [];
  for (const condition of ready ? [...parts, ready] : parts) {
    const before = pool.status?.conditions?.find(({ type }) => type === condition.type);
    if (!isNews(condition, before) || reported.has(condition.reason)) continue;
    reported.add(condition.reason);
    const { reason, message, type: action } = condition;
    events.publish(pool, { type: isBad(condition) ? 'Warning' : 'Normal', reason, action, message });
  }
  return reported;
}

function isNews(now: Condition, before: Condition | undefined): boolean {
  if (now.type === 'Reconciling' || now.type === 'Stalled') return false;
  if (now.type === 'Paused') return before === undefined;
  // Which pods are in the way is news, and that somebody is asked to wait is none.
  if (now.type === 'NodesLeaving') return isHolding(now) && before?.reason !== now.reason;
  if (now.type === 'Ready') return before !== undefined && before.status !== now.status;
  const isRemarked = isRemark(now) && remarksIn(before) !== remarksIn(now);
  // Another drifted field is news, too, also beside what EKS cannot change.
  const drifted = ['Drifted', 'ImmutableDifference'].includes(now.reason) && before?.message !== now.message;
  const changed = before?.status !== now.status || before.reason !== now.reason || drifted || isRemarked;
  return changed && (isBad(now) || (now.status === 'True' && before !== undefined && isBad(before)));
}

function isBad(condition: Condition): boolean {
  return (
    isHolding(condition) || isRemark(condition) || (condition.status !== 'True' && !onTheWay.has(condition.reason))
  );
}

/** Whether a prerequisite is ignored or warns: it blocks nothing, and somebody must know. */
function isRemark({ type, reason, message }: Condition): boolean {
  if (type !== 'PrerequisitesMet') return false;
  return reason === 'MetWithWarnings' || message.includes(IGNORE_PREREQUISITES_ANNOTATION);
}

/** Which prerequisites a condition names, and what it says about the annotation. The numbers in its message change at any time. */
function remarksIn(condition: Condition | undefined): string {
  const message = condition?.message ?? '';
  const [, fault = ''] = message.split(`Annotation ${IGNORE_PREREQUISITES_ANNOTATION}: `);
  return [...prerequisiteReasons.filter((reason) => message.includes(reason)), fault].join();
}

/** Whether people have to do something about nodes that are to go. */
function isHolding({ reason }: Condition): boolean {
  return ['DrainBlocked', 'RemovalRefused', 'TooManyUnhealthy', 'ReplacementDue'].includes(reason);
}
