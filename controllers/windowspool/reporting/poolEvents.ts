/** Kubernetes events on the pool and on its nodes. Publishing never fails. */

import type { Condition, WindowsPool, WindowsPoolStatus } from '../api/api.gen.ts';
import { onTheWay, reasons } from '../api/reasons.ts';
import { publishBlockedDrains, publishOnNodes, publishReplaced } from '../disruption/nodeEvents.ts';
import type { ConditionSet, ConditionState } from '../model/conditions.ts';
import type { Derived } from '../model/due.ts';
import type { Outcome } from '../model/outcome.ts';
import type { StepError } from '../model/stepError.ts';
import type { Step } from '../model/steps.ts';
import type { EventSinks, Events } from '../ports/pools.ts';
import { providerOf } from '../providers/providers.ts';
import { describeDone, describeLeftover, stepKindOf } from '../steps/stepKinds.ts';
import { capitalized, count, describeFailure, sentence } from '../util/words.ts';

/** Publishes what was done and corrected, and what is left behind. */
export function publishDone(outcome: Outcome, sinks: EventSinks): void {
  const { events } = sinks;
  publishSteps(outcome, events);
  publishOnNodes(outcome, events);
  publishCleanupIncomplete(outcome, events);
  providerOf(outcome.after.pool).publish?.(outcome, sinks);
  publishImagesNotStarted(outcome, events);
}

/** Publishes what is new in a status that was just written. An event must not refer to a status that is not written yet. */
export function publishNews(s: Derived, assessment: ConditionSet, status: WindowsPoolStatus, events: Events): void {
  const isDrainBlocked = publishChanges(s.pool, assessment, status, events).has('DrainBlocked');
  if (isDrainBlocked) publishBlockedDrains(s, events);
  publishReplaced(s, status, events);
}

function publishSteps({ done, after: { pool } }: Outcome, events: Events): void {
  for (const [kind, steps] of Map.groupBy(done, (step) => step.kind)) {
    const [first] = steps;
    const { reason, describeMany } = first ? stepKindOf(first) : {};
    if (!reason) continue;
    // Steps on many nodes become one event: each event takes from the rate limit of all others.
    const messages =
      describeMany && steps.length > 1
        ? [describeDone(first as Step, describeMany(count(steps.length, 'node')))]
        : steps.map((step) => describeDone(step));
    const type = steps.some((step) => stepKindOf(step).isWarning?.(step)) ? 'Warning' : 'Normal';
    for (const text of messages)
      events.publish(pool, { type, reason, action: kind, message: capitalized(text ?? reasons[reason]) });
  }
}

/** What the operator could not remove from a group that outlives its pool: nothing else reports it later. */
function publishCleanupIncomplete(outcome: Outcome, events: Events): void {
  const { left, after, released } = outcome;
  const { pool } = after;
  const [group] = providerOf(pool).nodeGroupNames(pool);
  const subject = group === undefined ? `WindowsPool ${pool.metadata.name}` : `Node group ${group}`;
  for (const [step, entries] of Map.groupBy(left, (entry) => entry.step)) {
    const [{ error }] = entries as [StepError, ...StepError[]];
    const cause = describeFailure(error);
    const message = `${subject} ${describeLeftover(step, entries.length)}: ${cause} Remove them manually.`;
    events.publish(pool, { type: 'Warning', reason: 'CleanupIncomplete', action: step, message });
  }
  const unremoved = released ? providerOf(pool).describeUnremovedMarks(outcome) : undefined;
  if (!unremoved) return;
  const message = `${subject} ${sentence(unremoved)} Remove them manually.`;
  events.publish(pool, { type: 'Warning', reason: 'CleanupIncomplete', action: 'removeFinalizer', message });
}

/** Images that were pulled, and whose container did not start: one event for each, because it concerns every node. */
function publishImagesNotStarted({ done, after: { pool } }: Outcome, events: Events): void {
  const found = done.flatMap((step) => (step.kind === 'deleteNodePod' && step.startError !== undefined ? [step] : []));
  for (const [image, steps] of Map.groupBy(found, ({ pod }) => pod.image)) {
    const [{ pod, startError = '' }] = steps as [(typeof found)[number]];
    const where = `${count(steps.length, 'node')}, such as ${pod.node}`;
    const message = `Image ${image} is on ${where}, but cmd.exe did not start in a container of it: ${sentence(startError)}`;
    events.publish(pool, { type: 'Warning', reason: 'ImageNotStarted', action: 'deleteNodePod', message });
  }
}

/**
 * Publishes events for conditions that turned bad, recovered, or changed Ready. Progress is only in the conditions, and steps have events of their
 * own. Returns the reasons that were published.
 */
function publishChanges(
  pool: WindowsPool,
  assessment: ConditionSet,
  status: WindowsPoolStatus,
  events: Events,
): ReadonlySet<string> {
  const reported = new Set<string>();
  if (status.tracking?.gateTaint !== pool.status?.tracking?.gateTaint) {
    const reason = 'GateTaintReplaced';
    events.publish(pool, { type: 'Warning', reason, action: 'Gate', message: reasons[reason] });
  }
  // Ready comes last: it adds nothing when its reason was just published.
  const [ready, ...parts] = status.conditions ?? [];
  for (const condition of ready ? [...parts, ready] : parts) {
    const before = pool.status?.conditions?.find(({ type }) => type === condition.type);
    const [now, earlier] = [withRemarks(condition, status), before && withRemarks(before, pool.status)];
    if (!isNews(now, earlier) || reported.has(condition.reason)) continue;
    reported.add(condition.reason);
    const { reason, type: action } = condition;
    // An event is read without the conditions, so it does not refer to one.
    const { message, quote }: Pick<ConditionState, 'message' | 'quote'> =
      assessment[action as keyof ConditionSet] ?? condition;
    events.publish(pool, {
      type: isBad(now) ? 'Warning' : 'Normal',
      reason,
      action,
      message: quote ? `${message} (AWS: ${quote})` : message,
    });
  }
  return reported;
}

/** A condition, and a hash of what it remarks although it blocks nothing: a prerequisite that warns or is ignored. */
type Reported = Condition & { readonly remarks: string | undefined };

function withRemarks(condition: Condition, status: WindowsPoolStatus | undefined): Reported {
  const isAboutPrerequisites = condition.type === 'PrerequisitesMet';
  return { ...condition, remarks: isAboutPrerequisites ? status?.tracking?.prerequisites?.remarks : undefined };
}

function isNews(now: Reported, before: Reported | undefined): boolean {
  if (now.type === 'Reconciling' || now.type === 'Stalled') return false;
  if (now.type === 'Paused') return before === undefined;
  // Which pods block a drain is news; waiting for a turn is not.
  if (now.type === 'Disrupting') return needsAction(now) && before?.reason !== now.reason;
  if (now.type === 'Ready') return before !== undefined && before.status !== now.status;
  const isRemarked = now.remarks !== undefined && before?.remarks !== now.remarks;
  // A different set of drifted fields is news, also beside an immutable difference.
  const drifted = ['Drifted', 'ImmutableDifference'].includes(now.reason) && before?.message !== now.message;
  const changed = before?.status !== now.status || before.reason !== now.reason || drifted || isRemarked;
  return changed && (isBad(now) || (now.status === 'True' && before !== undefined && isBad(before)));
}

function isBad(condition: Reported): boolean {
  const isUnmet = condition.status !== 'True' && !onTheWay.has(condition.reason);
  return needsAction(condition) || condition.remarks !== undefined || isUnmet;
}

/** Whether terminating nodes need human action. */
function needsAction({ reason }: Condition): boolean {
  return ['DrainBlocked', 'RemovalRejected', 'ReplacementDue'].includes(reason);
}
