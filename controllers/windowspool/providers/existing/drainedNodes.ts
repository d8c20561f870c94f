/**
 * Nodes of existingNodes that people have replaced or removed, by annotation. Something else made them, so something else ends them: they are
 * cordoned and emptied, and stay so until they are gone or the annotation is. Pure.
 */
import type { LeavingNode } from '../../api.gen.ts';
import { podsThatEnd } from '../../disruption/drain.ts';
import { evictAction, waitAction } from '../../disruption/drainAction.ts';
import { isExcludedFromDrain, isPrepared } from '../../disruption/nodeAnnotations.ts';
import { isStillInBudget } from '../../disruption/nodeBudget.ts';
import { isStillRequested, unhealthyNodes } from '../../disruption/remediation.ts';
import { isGone } from '../../disruption/terminatingNode.ts';
import { REPLACE_ANNOTATION } from '../../labels.ts';
import type { DrainAction, TerminatingNodeView } from '../../model/disruption.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Step } from '../../model/steps.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { count } from '../../words.ts';
import { deletionHint } from './provisioners.ts';

/** What is next for a node, from what was just seen of it. */
export function nextDrainActionOfExisting(view: TerminatingNodeView, s: ObservedState): DrainAction {
  const { entry, node, member } = view;
  const now = node.ok ? node.value : undefined;
  // What a node that leaves the pool gets back includes the cordon.
  const isReleased = s.membership?.toRelease.some(({ uid }) => uid === entry.uid);
  if (!now || isGone(view) || isReleased) return { kind: 'wait' };
  if (!isStillRequested(entry, now, s)) return { kind: 'restore' };
  if (!member?.ok) return entry.drained === undefined ? waitAction(entry, s) : { kind: 'wait' };
  if (!member.value)
    return { kind: 'restore', answer: 'refused', why: `${entry.name} is not one of the nodes of the pool` };
  // Somebody who takes the cordon from a node that was drained uses it again.
  if (entry.drained !== undefined)
    return isPrepared(now) ? { kind: 'wait' } : { kind: 'restore', answer: 'uncordoned' };
  if (isPrepared(now)) return evictAction(view, now, s, { kind: 'report' });
  return isStillInBudget(entry, now, s) ? { kind: 'cordon' } : { kind: 'restore' };
}

/** The step that tells of a node with which the operator is done. */
export function reportStep({ entry, pods }: TerminatingNodeView, node: NodeRecord, s: ObservedState): Step {
  const left = pods?.ok && isExcludedFromDrain(node) ? podsThatEnd(pods.value, entry, node, s.now) : 0;
  return { kind: 'reportDrained', node, entry, text: describeDrained(entry, node, left) };
}

/** What is to be done with a node that the operator is done with; `left`: how many pods are on one that is not to be drained. */
export function describeDrained({ name }: Pick<LeavingNode, 'name'>, node: NodeRecord | undefined, left = 0): string {
  if (!node) return `node ${name} is drained: end it with what made it`;
  const state = isExcludedFromDrain(node)
    ? `is cordoned and ends with its ${left > 0 ? count(left, 'pod') : 'pods'}`
    : 'is drained';
  return `node ${name} ${state}: end it ${deletionHint(node)}`;
}

/** What remediation would replace: the operator ends no node that something else made. One sentence for each node, without its full stop. */
export function describeDue(s: ObservedState): string[] {
  const after = s.pool.spec.remediation?.unhealthyAfter;
  return unhealthyNodes(s).map(
    (node) =>
      `node ${node.name} has failed for longer than remediation.unhealthyAfter (${after}): end it ${deletionHint(node)}; or set ${REPLACE_ANNOTATION}=true on it to have it drained first`,
  );
}
