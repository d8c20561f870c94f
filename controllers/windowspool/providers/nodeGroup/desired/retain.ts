/**
 * How a pool releases a node group that outlives it (deletionPolicy Retain). Only the operator's own marks are removed: what is under
 * winpool.dev, and the taints of unverified nodes. Labels, taints and tags of the user stay, and so does the taint os=windows: without it,
 * Linux pods would be scheduled to Windows nodes.
 */

import { ADOPTABLE_BY, OWN_PREFIX, POOL_KEY } from '../../../api/labels.ts';
import type { Outcome } from '../../../model/outcome.ts';
import type { Step } from '../../../model/steps.ts';
import { isGateTaint, readinessTaintIn } from '../../../nodes/nodeTaints.ts';
import type { ConfigChange, NodeGroup } from '../../../ports/eks.ts';
import { hashOf } from '../../../util/hash.ts';
import { tokenFor } from '../groupRules.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf, isClusterMismatch } from '../observation/knownGroups.ts';
import { retainTagChanges } from './autoscalerTags.ts';
import { isOwnedBy } from './desiredNodeGroup.ts';

/** How long a pool that is being deleted waits for an AWS that does not answer, and for a DEGRADED group that accepts no update. */
export const RETAIN_PATIENCE_MS = 10 * 60_000;

/**
 * The steps that remove the marks. Labels and taints come first, in one update, so that new nodes have none; then the taints and cordons of
 * the nodes, and the cluster-autoscaler's tags. The group's tags come last, because they prove that the pool owns the group and its nodes.
 * Empty for a group that the pool does not own, or that is being deleted.
 */
export function retainedGroupSteps(s: EksState): Step[] {
  const { pool, group: view, cluster } = s;
  if (view.kind !== 'seen' || cluster.kind !== 'seen' || isClusterMismatch(s)) return [];
  const { group } = view;
  if (!isOwnedBy(pool, group) || group.status === 'DELETING') return [];
  const tags = Object.keys(group.tags).filter((key) => isOwn(key) && key !== ADOPTABLE_BY);
  return [
    ...retainUpdate(s, group),
    ...s.poolNodes.mistainted.map(({ node, change }): Step => ({ kind: 'taintNode', node, change, retain: true })),
    ...s.poolNodes.unreported.map(
      ({ node, report }): Step => ({ kind: 'setNodeCondition', node, report, retain: true }),
    ),
    ...s.poolNodes.cordoned.map((node): Step => ({ kind: 'uncordonNode', node, retain: true })),
    ...retainTagChanges(pool, group).map((change): Step => ({ kind: 'correctScalingTags', change, retain: true })),
    { kind: 'correctTags', group, change: { set: {}, remove: tags }, retain: true as const },
  ];
}

/** The update that removes labels and taints. It is sent once: after a failure, EKS has reverted it. */
function retainUpdate(s: EksState, group: NodeGroup): Step[] {
  const change = retainChangeFor(s, group);
  if (!change || !takesUpdates(s, group)) return [];
  const last = s.pool.status?.nodeGroup?.update;
  // Status has the last update of both groups of a replacement, which may have the same marks.
  const leaving = { change, group: group.name };
  const target = hashOf({ leaving });
  if (last?.target === target) return [];
  const token = tokenFor(s.pool, 'leave', leaving, last?.id);
  return [{ kind: 'updateConfig', group: group.name, change, token, target, retain: true }];
}

/**
 * Which marks remain although no call was denied, and why, as the rest of a sentence about the group. It is reported when the pool is
 * deleted: there is no status afterwards.
 */
export function unremovedMarks({
  after: s,
  done,
  left,
}: Pick<Outcome<EksState>, 'after' | 'done' | 'left'>): string | undefined {
  const { pool, group: view, cluster } = s;
  if (pool.spec.deletionPolicy !== 'Retain' || isClusterMismatch(s)) return undefined;
  const error = [view, cluster].find((seen) => seen.kind === 'unreachable')?.error;
  if (error) {
    const group = groupOf(s);
    const isOurs = group ? isOwnedBy(pool, group) : view.kind !== 'absent' && pool.status?.nodeGroup?.arn !== undefined;
    if (!isOurs || error.kind === 'gone') return undefined;
    return `and its nodes keep the operator's labels, taints and tags: ${error.operation} failed: ${error.message}`;
  }
  // The group was the pool's until this run, which removed its tags or tried to.
  const isReleased =
    done.some((step) => step.kind === 'correctTags') || left.some(({ step }) => step === 'correctTags');
  if (!isReleased || view.kind !== 'seen' || left.some(({ step }) => step === 'updateConfig')) return undefined;
  if (!retainChangeFor(s, view.group)) return undefined;
  const { id } = pool.status?.nodeGroup?.update ?? {};
  const why = takesUpdates(s, view.group) ? `update ${id} did not remove them` : `it is ${view.group.status}`;
  return `keeps the operator's labels and taints: ${why}`;
}

/** EKS updates an ACTIVE group; whether it updates a DEGRADED one is not documented, so that is tried for RETAIN_PATIENCE_MS. */
function takesUpdates({ pool, now }: EksState, { status }: NodeGroup): boolean {
  const since = now - Date.parse(pool.metadata.deletionTimestamp ?? '');
  return status === 'ACTIVE' || (status === 'DEGRADED' && since < RETAIN_PATIENCE_MS);
}

function retainChangeFor(s: EksState, group: NodeGroup): ConfigChange | undefined {
  // Without the pool, nothing sets the condition that the rule requires, and new nodes would keep its taint.
  const readinessTaint = readinessTaintIn(s.pool.spec);
  const labels = Object.keys(group.labels).filter((key) => isOwn(key) && !(key === POOL_KEY && isSelected(s)));
  const taints = group.taints.filter(
    (taint) => isOwn(taint.key) || isGateTaint(taint) || taint.key === readinessTaint?.key,
  );
  if (labels.length === 0 && taints.length === 0) return undefined;
  return {
    ...(labels.length > 0 && { labels: { set: {}, remove: labels } }),
    ...(taints.length > 0 && { taints: { set: [], remove: taints } }),
  };
}

/** Whether a RuntimeClass that stays selects nodes by the pool's label: without the label, its pods could not be scheduled. */
function isSelected({ runtimeClass, formerRuntimeClass }: EksState): boolean {
  return [runtimeClass, formerRuntimeClass].some((seen) => seen?.nodeSelector[POOL_KEY] !== undefined);
}

function isOwn(key: string): boolean {
  return key.startsWith(OWN_PREFIX);
}
