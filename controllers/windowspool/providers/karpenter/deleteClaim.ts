/** Deletes the NodeClaim of a node. Everything is read again right before, uncached, and nothing is used that a kubelet can write. */
import type { LeavingNode } from '../../api/api.gen.ts';
import { isStillRequested } from '../../disruption/remediation.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Writers } from '../../model/writers.ts';
import type { CallError, CallResult } from '../../ports/callResult.ts';
import type { NodeClaim, NodePools } from '../../ports/karpenter.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { isOf, isOwned, type KarpenterState, objectIn } from './karpenterState.ts';

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
  const claim = await readClaim(current, s as KarpenterState, nodePools, signal);
  if (!claim.ok) return claim;
  if (!claim.value) return failed('refused', 'NotAMember', `no NodeClaim of the pool has node ${node.name}`);
  return claim.value.deleting ? DONE : nodePools.deleteClaim(claim.value, signal);
}

/** The NodeClaim of a node, if it is one of the NodePool of the pool. The cache only says which one that may be. */
export async function readClaim(
  node: NodeRecord,
  s: Pick<KarpenterState, 'pool' | 'karpenter'>,
  nodePools: Pick<NodePools, 'readClaim'>,
  signal: AbortSignal,
): Promise<CallResult<NodeClaim | undefined>> {
  const known = s.karpenter.kind === 'seen' ? s.karpenter.claims.find((claim) => isOf(claim, node)) : undefined;
  if (!known || !isOwned(s)) return { ok: true, value: undefined };
  const seen = await nodePools.readClaim(known.name, signal);
  if (!seen.ok) return seen;
  const isSame =
    seen.value !== undefined && isOf(seen.value, node) && seen.value.nodePoolUid === objectIn(s, 'NodePool')?.uid;
  return { ok: true, value: isSame ? seen.value : undefined };
}

const DONE: CallResult<void> = { ok: true, value: undefined };

function failed(kind: CallError['kind'], code: string, message: string): CallResult<void> {
  return { ok: false, error: { kind, operation: 'delete nodeclaims', code, message } };
}
