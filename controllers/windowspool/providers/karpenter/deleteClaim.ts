/** Deletes the NodeClaim of a node. Everything is read again right before, uncached, and nothing is used that a kubelet can write. */
import type { LeavingNode } from '../../api/api.gen.ts';
import { isStillRequested } from '../../disruption/remediation.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Writers } from '../../model/writers.ts';
import type { CallError, CallResult } from '../../ports/callResult.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { isOf, isOwned } from './karpenterState.ts';

/** A node whose NodeClaim is to be deleted. */
export interface ClaimDeletion {
  readonly node: NodeRecord;
  readonly entry: LeavingNode;
}

/**
 * Deletes the NodeClaim of the node. Can be repeated. Error `conflict` if the node is another one or its operation is no longer requested, and `refused` if no
 * NodeClaim of the pool has it.
 */
export async function deleteClaim(
  { node, entry }: ClaimDeletion,
  s: ObservedState,
  { nodes, nodePools }: Pick<Writers, 'nodes' | 'nodePools'>,
  signal: AbortSignal,
): Promise<CallResult<void>> {
  const now = await nodes.read(node.name, signal);
  if (!now.ok) return now;
  const current = now.value;
  if (!current || current.deleting) return DONE;
  if (current.uid !== entry.uid || !isStillRequested(entry, current, s, undefined))
    return failed('conflict', 'Changed', `the operation on node ${node.name} is no longer requested`);
  const seen = await nodePools.read(s.pool.metadata.name, signal);
  if (!seen.ok) return seen;
  const claim = seen.value?.claims.find((one) => isOf(one, current));
  const isOurs = seen.value && isOwned({ pool: s.pool, karpenter: { kind: 'seen', ...seen.value } });
  if (!claim || !isOurs) return failed('refused', 'NotAMember', `no NodeClaim of the pool has node ${node.name}`);
  return claim.deleting ? DONE : nodePools.deleteClaim(claim, signal);
}

const DONE: CallResult<void> = { ok: true, value: undefined };

function failed(kind: CallError['kind'], code: string, message: string): CallResult<void> {
  return { ok: false, error: { kind, operation: 'delete nodeclaims', code, message } };
}
