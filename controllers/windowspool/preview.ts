/** What the next run would do for a pool, as text. Read-only. */

import type { PendingStep, WindowsPool } from './api.gen.ts';
import { evaluateConditions } from './conditions/conditions.ts';
import { derive, withoutSteps } from './derive.ts';
import { byHeading, pendingIn } from './heldSteps.ts';
import type { ConditionState } from './model/conditions.ts';
import type { Decision } from './model/decisions.ts';
import type { Derived } from './model/due.ts';
import type { Step } from './model/steps.ts';
import { observe } from './observe.ts';
import { planFor } from './plan.ts';
import { describeDifference } from './providers/eks/differences.ts';
import { groupOf, isUnknown } from './providers/eks/groups.ts';
import { isOwnedBy } from './providers/eks/nodeGroup.ts';
import type { ObserveContext } from './providers/provider.ts';
import { isDeleting } from './queries.ts';
import { waitOf } from './ruleChains.ts';
import { describeStep } from './steps/steps.ts';
import { count, sentence } from './util/words.ts';

/** The steps, differences and obstacles of one pool, as text. */
export interface Preview {
  readonly pool: string;
  /** What the next run would do. */
  readonly now: readonly string[];
  /** What it would not do, and why. */
  readonly later: readonly PendingStep[];
  /** How the group differs from the spec, if the pool owns or is about to adopt it. */
  readonly differences: readonly string[];
  /** What blocks the pool or could not be read, as messages of its conditions. */
  readonly remarks: readonly string[];
  /** Whether everything could be read. */
  readonly isComplete: boolean;
}

/** Reads the pool and AWS now, and writes nothing. */
export async function preview(pool: WindowsPool, context: ObserveContext): Promise<Preview> {
  const s = derive(await observe(pool, undefined, context));
  const { decisions, steps, held } = planFor(s);
  const { Stalled, PrerequisitesMet, ...others } = evaluateConditions(withoutSteps(s, decisions));
  const source = 'NodeGroupReady' in others ? others.NodeGroupReady : others.NodesFound;
  const unchecked = s.due.prerequisites.examination?.unknown ?? [];
  const isObserved = !isUnknown(s.group) && s.cluster.kind !== 'unreachable' && s.errors.length === 0;
  const unmet = PrerequisitesMet.reason === 'Met' ? undefined : PrerequisitesMet;
  const isReleaseKnown = s.newestRelease?.ok !== false;
  const waiting =
    'UpToDate' in others && (isWaiting(others.UpToDate, decisions) || !isReleaseKnown) ? others.UpToDate : undefined;
  const causes = isObserved ? [Stalled, unmet, waiting] : [source, PrerequisitesMet];
  const remarks = [...new Set(causes.flatMap((finding) => (finding ? [finding.message] : [])))];
  return {
    pool: pool.metadata.name,
    now: steps.flatMap((step) => describe(step) ?? []),
    later: pendingIn(held, describe),
    differences: differencesIn(s),
    remarks,
    isComplete: isObserved && PrerequisitesMet.status !== 'Unknown' && unchecked.length === 0 && isReleaseKnown,
  };
}

/** Whether UpToDate says what an update waits for, or that it will never start. */
function isWaiting({ reason }: ConditionState, decisions: readonly Decision[]): boolean {
  const wait = waitOf(decisions, 'version');
  return reason === 'InvalidMaintenanceWindow' || (wait?.message !== undefined && wait.reason === reason);
}

function describe(step: Step): string | undefined {
  return step.kind === 'removeFinalizer' ? 'remove the finalizer of the pool' : describeStep(step);
}

function differencesIn(s: Derived): string[] {
  const group = groupOf(s);
  if (!group || isDeleting(s.pool)) return [];
  const { all, immutable } = s.due.differences;
  const differences = all.map(describeDifference);
  if (isOwnedBy(s.pool, group)) return differences;
  if (s.due.adoption?.kind !== 'take') return [];
  // For a group that the pool owns, the condition says so.
  return [...differences, ...immutable.map((text) => `${text}; EKS cannot change it`)];
}

/** The preview as text: a line for the pool, and indented lines for its steps, differences and messages. */
export function previewText({ pool, now, later, differences, remarks }: Preview): string {
  const steps = now.length + later.length;
  const list = (title: string, lines: readonly string[]) =>
    lines.length > 0 ? [`  ${title}:`, ...lines.map((line) => `    ${line}`)] : [];
  return [
    `WindowsPool ${pool}: ${steps > 0 ? count(steps, 'step') : 'nothing to do'}`,
    ...list('now', now.map(sentence)),
    ...byHeading(later).flatMap(([why, held]) => list(why, held.map(sentence))),
    ...list('the node group differs', differences.map(sentence)),
    // A message may end with a command, which must be copied without a full stop.
    ...list('messages', remarks),
  ].join('\n');
}
