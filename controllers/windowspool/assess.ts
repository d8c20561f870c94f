/**
 * What to say of a pool: its conditions, from what is true after the steps were taken. Pure.
 *
 *   NodeGroupReady  RuntimeClassReady  NodesVerified  PrerequisitesMet  UpToDate   each looks at its own part
 *   Ready                                                                          the summary of them
 *   NodesLeaving  Reconciling  Stalled  Paused                                     there only while true (kstatus)
 */

import { assessRuntimeClass } from './assessRuntimeClass.ts';
import { assessExisting, type ExistingAssessment } from './existing/assessExisting.ts';
import { groupOf, isDeleting, isPaused, neededNodes } from './facts.ts';
import { assessNodeGroup } from './nodeGroup/assessNodeGroup.ts';
import { assessUpToDate } from './nodeGroup/assessUpToDate.ts';
import { isOwnedBy } from './nodeGroup/nodeGroup.ts';
import { assessNodes } from './nodes/assessNodes.ts';
import { assessTerminatingNodes } from './operations/assessLeavingNodes.ts';
import { hasNodeGroup } from './poolKind.ts';
import { assessPrerequisites } from './prerequisites/assessPrerequisites.ts';
import type { Reason } from './reasons.ts';
import type { ObservedState } from './situation.ts';
import { count } from './words.ts';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** A condition without its times, which report.ts adds. */
export interface Finding {
  readonly status: ConditionStatus;
  readonly reason: Reason;
  readonly message: string;
  /** Nothing but a human helps. */
  readonly stalled?: true;
  /** The operator, EKS or a node is at work on it. */
  readonly working?: true;
}

/** What every pool is told. */
export interface CommonAssessment {
  readonly Ready: Finding;
  readonly RuntimeClassReady: Finding;
  readonly NodesVerified: Finding;
  readonly PrerequisitesMet: Finding;
  readonly Reconciling?: Finding;
  readonly Stalled?: Finding;
  readonly Paused?: Finding;
}

/** What a pool with a node group is told. */
export interface Assessment extends CommonAssessment {
  readonly NodeGroupReady: Finding;
  readonly UpToDate: Finding;
  readonly NodesLeaving?: Finding;
}

/** The conditions of a pool of either kind. */
export type Findings = Assessment | ExistingAssessment;

export function assessPool(s: ObservedState): Findings {
  return hasNodeGroup(s.pool) ? assess(s) : assessExisting(s);
}

/** The conditions of a pool with a node group. */
export function assess(s: ObservedState): Assessment {
  const terminating = assessTerminatingNodes(s);
  const parts = {
    PrerequisitesMet: assessPrerequisites(s),
    NodeGroupReady: assessNodeGroup(s),
    RuntimeClassReady: assessRuntimeClass(s),
    NodesVerified: assessNodes(s),
    UpToDate: assessUpToDate(s),
    ...(terminating && { NodesLeaving: terminating }),
  };
  const findings = Object.values(parts);
  // A pool that goes waits for its group alone; only another cluster than its own stops it for good.
  const stalled = (isDeleting(s.pool) ? [parts.PrerequisitesMet] : findings).find((finding) => finding.stalled);
  const ready = summarize(s, parts, stalled);
  return conclude(s, ready, parts, stalled);
}

/** The conditions in the order of status, with those that are there only while they are true. */
export function conclude<P extends Readonly<Record<string, Finding>>>(
  s: ObservedState,
  ready: Finding,
  parts: P,
  stalled: Finding | undefined,
) {
  const working = isAtRest(s) ? undefined : [ready, ...Object.values(parts)].find((finding) => finding.working);
  const held = (finding: Finding): Finding => ({ status: 'True', reason: finding.reason, message: finding.message });
  return {
    Ready: ready,
    ...parts,
    ...(working && !stalled && { Reconciling: held(working) }),
    ...(stalled && { Stalled: held(stalled) }),
    ...(isPaused(s.pool) && { Paused: assessPause(s) }),
  };
}

/** Whether nobody is at work: the operator is paused, and EKS has finished what it was asked for before. */
function isAtRest(s: ObservedState): boolean {
  return isPaused(s.pool) && !['CREATING', 'UPDATING', 'DELETING'].includes(groupOf(s)?.status ?? '');
}

type Parts = Omit<Assessment, 'Ready' | 'Reconciling' | 'Stalled' | 'Paused'>;

/** Ready is about what pods need: a RuntimeClass and enough verified nodes. What EKS does meanwhile does not turn it. */
function summarize(s: ObservedState, parts: Parts, stalled: Finding | undefined): Finding {
  if (stalled) return { ...stalled, status: 'False' };
  if (isDeleting(s.pool)) return { ...parts.NodeGroupReady, status: 'False' };
  const { status, desired } = knownGroup(s);
  if (!['ACTIVE', 'UPDATING', 'DEGRADED'].includes(status)) {
    // What could not be checked keeps nothing back, so it is not the cause.
    const { status: met, working } = parts.PrerequisitesMet;
    const cause = met === 'False' || working ? parts.PrerequisitesMet : parts.NodeGroupReady;
    return { ...cause, status: 'False' };
  }
  if (parts.RuntimeClassReady.status !== 'True') return { ...parts.RuntimeClassReady, status: 'False' };
  const { verified, total } = s.poolNodes;
  if (desired === 0) {
    const left = total > 0 ? ` ${count(total, 'node')} left.` : '';
    return { status: 'True', reason: 'NoNodes', message: `The pool wants no nodes.${left}` };
  }
  const needed = neededNodes(s.pool);
  if (verified < needed && !isRolling(s, parts)) {
    const text = `${count(verified, 'node')} of the ${needed} that the pool must have ${verified === 1 ? 'is' : 'are'} verified. `;
    return { ...parts.NodesVerified, status: 'False', message: text + parts.NodesVerified.message };
  }
  return { status: 'True', reason: 'Verified', message: `${verified} of ${count(total, 'node')} verified.` };
}

/**
 * Whether a pool that was Ready only waits, within the join grace, for the nodes that an update of its group replaces. One verified node is
 * the least.
 */
function isRolling(s: ObservedState, { NodesVerified }: Parts): boolean {
  const wasReady = s.pool.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  return (
    wasReady && knownGroup(s).status === 'UPDATING' && NodesVerified.status !== 'False' && s.poolNodes.verified > 0
  );
}

/** What is known of the pool's own group: seen, or remembered in status where AWS could not be asked since the operator started. */
function knownGroup(s: ObservedState): { readonly status: string; readonly desired: number | undefined } {
  const group = groupOf(s);
  if (group && isOwnedBy(s.pool, group)) return { status: group.status, desired: group.scaling.desired };
  if (group) return { status: '', desired: undefined };
  const memory = s.group.kind === 'unreachable' ? s.pool.status : undefined;
  return { status: memory?.nodeGroup?.status ?? '', desired: memory?.nodes?.desired };
}

function assessPause({ pool }: ObservedState): Finding {
  const how = pool.spec.paused ? 'spec.paused is true' : 'it has the annotation winpool.dev/paused';
  const going = isDeleting(pool) ? ' The deletion waits, too.' : '';
  return {
    status: 'True',
    reason: 'Paused',
    message: `Nothing is changed because ${how}.${going} status.pendingSteps says what would be done.`,
  };
}
