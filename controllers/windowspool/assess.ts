/**
 * What to say of a pool: its conditions, from what is true after the steps were taken. Pure.
 *
 *   NodeGroupReady  RuntimeClassReady  NodesVerified  PrerequisitesMet  UpToDate   each looks at its own part
 *   Ready                                                                          the summary of them
 *   Reconciling  Stalled  Paused                                                   there only while true (kstatus)
 */

import { assessNodeGroup } from './assessNodeGroup.ts';
import { assessNodes } from './assessNodes.ts';
import { assessUpToDate } from './assessUpToDate.ts';
import { groupOf, isDeleting, isPaused } from './facts.ts';
import { isOwnedBy } from './nodeGroup.ts';
import { scalingIn } from './poolKind.ts';
import { assessPrerequisites } from './prerequisites/assessPrerequisites.ts';
import type { Reason } from './reasons.ts';
import { fits, isAsWanted, isOwner, isSoleOwner, isTaken, runtimeClassFor } from './runtimeClass.ts';
import type { Situation } from './situation.ts';
import { count, joined, sentence } from './words.ts';

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

export interface Assessment {
  readonly Ready: Finding;
  readonly NodeGroupReady: Finding;
  readonly RuntimeClassReady: Finding;
  readonly NodesVerified: Finding;
  readonly PrerequisitesMet: Finding;
  readonly UpToDate: Finding;
  readonly Reconciling?: Finding;
  readonly Stalled?: Finding;
  readonly Paused?: Finding;
}

/** The conditions of a pool. */
export function assess(s: Situation): Assessment {
  const parts = {
    PrerequisitesMet: assessPrerequisites(s),
    NodeGroupReady: assessNodeGroup(s),
    RuntimeClassReady: assessRuntimeClass(s),
    NodesVerified: assessNodes(s),
    UpToDate: assessUpToDate(s),
  };
  const findings = Object.values(parts);
  // A pool that goes waits for its group alone; only another cluster than its own stops it for good.
  const stalled = (isDeleting(s.pool) ? [parts.PrerequisitesMet] : findings).find((finding) => finding.stalled);
  const ready = summarize(s, parts, stalled);
  const working = isAtRest(s) ? undefined : [ready, ...findings].find((finding) => finding.working);
  return {
    Ready: ready,
    ...parts,
    ...(working && !stalled && { Reconciling: { status: 'True', reason: working.reason, message: working.message } }),
    ...(stalled && { Stalled: { status: 'True', reason: stalled.reason, message: stalled.message } }),
    ...(isPaused(s.pool) && { Paused: assessPause(s) }),
  };
}

/** Whether nobody is at work: the operator is paused, and EKS has finished what it was asked for before. */
function isAtRest(s: Situation): boolean {
  return isPaused(s.pool) && !['CREATING', 'UPDATING', 'DELETING'].includes(groupOf(s)?.status ?? '');
}

type Parts = Omit<Assessment, 'Ready' | 'Reconciling' | 'Stalled' | 'Paused'>;

/** Ready is about what pods need: a RuntimeClass and enough verified nodes. What EKS does meanwhile does not turn it. */
function summarize(s: Situation, parts: Parts, stalled: Finding | undefined): Finding {
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
  const { verified, total } = s.roster;
  if (desired === 0) {
    const left = total > 0 ? ` ${count(total, 'node')} left.` : '';
    return { status: 'True', reason: 'NoNodes', message: `The pool wants no nodes.${left}` };
  }
  const needed = Math.max(1, scalingIn(s.pool.spec).min);
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
function isRolling(s: Situation, { NodesVerified }: Parts): boolean {
  const wasReady = s.pool.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  return wasReady && knownGroup(s).status === 'UPDATING' && NodesVerified.status !== 'False' && s.roster.verified > 0;
}

/** What is known of the pool's own group: seen, or remembered in status where AWS could not be asked since the operator started. */
function knownGroup(s: Situation): { readonly status: string; readonly desired: number | undefined } {
  const group = groupOf(s);
  if (group && isOwnedBy(s.pool, group)) return { status: group.status, desired: group.scaling.desired };
  if (group) return { status: '', desired: undefined };
  const memory = s.group.kind === 'unreachable' ? s.pool.status : undefined;
  return { status: memory?.nodeGroup?.status ?? '', desired: memory?.nodes?.desired };
}

function assessPause({ pool }: Situation): Finding {
  const how = pool.spec.paused ? 'spec.paused is true' : 'it has the annotation winpool.dev/paused';
  const going = isDeleting(pool) ? ' The deletion waits, too.' : '';
  return {
    status: 'True',
    reason: 'Paused',
    message: `Nothing is changed because ${how}.${going} status.pendingSteps says what would be done.`,
  };
}

function assessRuntimeClass(s: Situation): Finding {
  const wish = runtimeClassFor(s.pool);
  if (!wish)
    return {
      status: 'True',
      reason: 'NotManaged',
      message: 'The pool manages no RuntimeClass (runtimeClass.manage is false).',
    };
  const seen = s.runtimeClass;
  if (seen && !seen.managed) {
    if (fits(seen, wish, s.pool)) {
      return { status: 'True', reason: 'UsedAsIs', message: `RuntimeClass ${wish.name} was there before and fits.` };
    }
    const wanted = Object.entries(wish.nodeSelector).map(([key, value]) => `${key}=${value}`);
    const message =
      `RuntimeClass ${wish.name} was there before and does not place pods on this pool: it needs handler ${wish.handler}, ` +
      `nodeSelector ${joined(wanted)} and a toleration of os=windows:NoSchedule. Delete it and the operator makes its own, or set runtimeClass.scope: Pool.`;
    return { status: 'False', reason: 'NotOwned', message, stalled: true };
  }
  const trouble = s.troubles.find(({ step }) => step.endsWith('RuntimeClass'))?.trouble;
  if (trouble && trouble.kind !== 'conflict') {
    return {
      status: 'False',
      reason: 'Failed',
      message: sentence(`${trouble.operation} failed: ${trouble.message}`),
      working: true,
    };
  }
  if (seen && !seen.deleting && isOwner(s.pool, seen) && isAsWanted(seen, wish)) {
    return {
      status: 'True',
      reason: 'Available',
      message: `Pods with runtimeClassName: ${wish.name} run on Windows build ${wish.nodeSelector['node.kubernetes.io/windows-build']}.`,
    };
  }
  if (
    seen &&
    !seen.deleting &&
    (isTaken(s.pool, seen) || (seen.handler !== wish.handler && !isSoleOwner(s.pool, seen)))
  ) {
    const owners = joined(seen.owners.filter(({ uid }) => uid !== s.pool.metadata.uid).map(({ name }) => name));
    const message =
      `RuntimeClass ${wish.name} says something else than this pool wants${owners && ` and belongs to ${owners}`}. ` +
      'Choose another runtimeClass.name, or delete it.';
    return { status: 'False', reason: 'NotOwned', message, stalled: true };
  }
  return {
    status: 'False',
    reason: 'Pending',
    message: `RuntimeClass ${wish.name} is ${isPaused(s.pool) ? 'made when the pool is resumed' : 'about to be made'}.`,
    working: true,
  };
}
