/** The rules for the NodePool of a pool. */
import { TEMPLATE_HASH_ANNOTATION } from '../../api/labels.ts';
import type { RuleResult } from '../../model/decisions.ts';
import type { Step } from '../../model/steps.ts';
import { waitFor } from '../../rules/ruleChains.ts';
import { clockTime, count, describeFailure, joined } from '../../util/words.ts';
import { isOwned, type KarpenterDerived, nodePoolIn, nodePoolName } from './karpenterState.ts';

/** How long the operator waits before it reverts a change of another client again, in milliseconds: both might revert each other forever. */
const REVERTED_AGAIN_MS = 60_000;

/** Ensures that the NodePool exists and is as the spec says. One that another tool created is left alone. */
export function keepNodePool(s: KarpenterDerived): RuleResult | Step[] | undefined {
  if (s.karpenter.kind === 'unknown') return undefined;
  const { manifest, changes, isDrifted, replacesNodes } = s.due;
  const seen = nodePoolIn(s);
  if (seen && !isOwned(s)) return waitFor('NodePoolNotOwned', 'watch', { message: notOwned(s) });
  if (seen?.deleting) return undefined;
  if (!seen) return [{ kind: 'applyNodePool', manifest, isNew: true, changes: [], replacesNodes: false }];
  const isCurrent = seen.manifestHash === manifest.metadata.annotations[TEMPLATE_HASH_ANNOTATION];
  if (isCurrent && changes.length === 0) return undefined;
  const until = seen.appliedAt + REVERTED_AGAIN_MS;
  if (isDrifted && s.now < until) {
    const message = `Another client changed ${joined(changes)} of ${nodePoolName(s)}. The operator reverts this at ${clockTime(until)}. Change the WindowsPool instead.`;
    return waitFor('Drifted', 'time', { message, until, progress: true });
  }
  return [{ kind: 'applyNodePool', manifest, isNew: false, changes, replacesNodes }];
}

/** That another tool or pool has a NodePool of this name, and what to do. */
function notOwned(s: KarpenterDerived): string {
  const { name } = s.pool.metadata;
  return `${nodePoolName(s)} exists, but WindowsPool ${name} did not create it. Delete it, or create another WindowsPool with another name.`;
}

/**
 * Ensures that the NodePool of a deleted pool is deleted, and its NodeClaims with it. With Retain, it stays without the gate, that no controller would open on new nodes:
 * that makes Karpenter replace every node.
 */
export function deleteNodePool(s: KarpenterDerived): RuleResult | Step[] | undefined {
  if (s.pool.spec.deletionPolicy === 'Retain') return openGate(s);
  if (s.karpenter.kind === 'unknown') {
    const { error } = s.karpenter;
    if (error?.kind === 'gone') return undefined;
    const why = error ? `: ${describeFailure(error)}` : '.';
    const message = `${nodePoolName(s)} cannot be read, so it is not deleted${why} To delete the pool without it, set deletionPolicy: Retain.`;
    return waitFor('NodePoolUnknown', 'watch', { message });
  }
  const seen = nodePoolIn(s);
  if (!seen || !isOwned(s)) return undefined;
  if (!seen.deleting) return [{ kind: 'deleteNodePool', seen }];
  const left = s.karpenter.kind === 'seen' ? s.karpenter.claims.length : 0;
  const message = `${nodePoolName(s)} is being deleted, and Karpenter drains and deletes its nodes: ${count(left, 'NodeClaim')} left.`;
  return waitFor('NodePoolDeleting', 'watch', { message, progress: true });
}

function openGate(s: KarpenterDerived): Step[] | undefined {
  const { manifest, changes } = s.due;
  const isGated = isOwned(s) && changes.includes('startupTaints') && nodePoolIn(s)?.deleting === false;
  return isGated ? [{ kind: 'applyNodePool', manifest, isNew: false, changes, replacesNodes: true }] : undefined;
}
