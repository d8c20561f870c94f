/** What a pool of Karpenter adds to the observed state, and questions about it. Pure. */

import type { Derived, Due } from '../../model/due.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { KarpenterView, NodeClaim, NodePool, NodePoolManifest } from '../../ports/karpenter.ts';
import type { NodeRecord } from '../../ports/nodes.ts';

/** How the NodePool should be, and what is due for it. */
export interface DueKarpenter extends Due {
  readonly manifest: NodePoolManifest;
  /** What a change of the NodePool is about, such as `taints`; empty: it is as it should be, or does not exist. */
  readonly changes: readonly string[];
  /** Whether another client changed what the operator had set. */
  readonly isDrifted: boolean;
  /** Whether the change makes Karpenter replace every node. */
  readonly replacesNodes: boolean;
}

/** The observed state of a pool of Karpenter. */
export interface KarpenterState extends ObservedState {
  readonly karpenter: KarpenterView;
}

/** The same with what is due. */
export interface KarpenterDerived extends Derived {
  readonly karpenter: KarpenterView;
  readonly due: DueKarpenter;
}

/** Whether the NodeClaim has this node: their provider IDs are equal, and a node cannot change its own. */
export function isOf(claim: NodeClaim, { name, providerID }: Pick<NodeRecord, 'name' | 'providerID'>): boolean {
  return claim.node === name && providerID !== '' && claim.providerID === providerID;
}

/** The NodePool of the pool; undefined if it is not known or does not exist. */
export function nodePoolIn({ karpenter }: Pick<KarpenterState, 'karpenter'>): NodePool | undefined {
  return karpenter.kind === 'seen' ? karpenter.nodePool : undefined;
}

/** Whether the operator created the NodePool for the pool. */
export function isOwned({ pool, karpenter }: Pick<KarpenterState, 'pool' | 'karpenter'>): boolean {
  return karpenter.kind === 'seen' && karpenter.nodePool.createdFor === pool.metadata.name;
}

/** The NodeClaims of the pool that are not being deleted. */
export function liveClaims(s: Pick<KarpenterState, 'pool' | 'karpenter'>): readonly NodeClaim[] {
  return s.karpenter.kind === 'seen' && isOwned(s) ? s.karpenter.claims.filter(({ deleting }) => !deleting) : [];
}

/** `NodePool web`, which has the name of its pool. */
export function nodePoolName({ pool }: Pick<ObservedState, 'pool'>): string {
  return `NodePool ${pool.metadata.name}`;
}
