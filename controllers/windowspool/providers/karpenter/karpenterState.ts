/** What a pool of Karpenter adds to the observed state, and questions about it. Pure. */

import type { WindowsPool } from '../../api/api.gen.ts';
import type { Derived, Due } from '../../model/due.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { CallResult } from '../../ports/callResult.ts';
import type { Cluster } from '../../ports/eks.ts';
import {
  isCreatedFor,
  type KarpenterKind,
  type KarpenterManifest,
  type KarpenterObject,
  type KarpenterView,
  type NodeClaim,
  type PendingPod,
} from '../../ports/karpenter.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import type { AccessEntry, InstanceType, RoleMapping, ScriptSource } from '../../ports/prerequisites.ts';
import { karpenterIn } from '../../rules/nodeSource.ts';

/** How an object of the pool should be, and what is due for it. */
export interface DueObject {
  readonly manifest: KarpenterManifest;
  /** What a change of the object is about, such as `taints`; empty: it is as it should be, or does not exist. */
  readonly changes: readonly string[];
  /** Whether the operator has applied this manifest, so that another client made the difference. */
  readonly isDrifted: boolean;
  /** Whether the change makes Karpenter replace every node. */
  readonly replacesNodes: boolean;
}

/** What an EC2NodeClass needs from outside the spec of the pool. A fact that the spec does not need is absent. */
export interface NodeClassFacts {
  /** The value of the SSM parameter that the pool follows; undefined as a value: it does not exist. */
  readonly ami?: CallResult<string | undefined>;
  readonly script?: CallResult<ScriptSource>;
  /** The EKS cluster; undefined as a value: it does not exist. */
  readonly cluster?: CallResult<Cluster | undefined>;
  /** The access entry of the node role; undefined as a value: there is none. Absent if the cluster is not known, or has none. */
  readonly accessEntry?: CallResult<AccessEntry | undefined>;
  /** The roles in aws-auth, which count for a role without an access entry; absent if the cluster does not read it. */
  readonly roleMappings?: CallResult<readonly RoleMapping[]>;
  /** Those that the requirements name; absent if they name none. */
  readonly instanceTypes?: CallResult<readonly InstanceType[]>;
}

/** What is still unknown, which the EC2NodeClass waits for. */
export type Unresolved = 'ami' | 'userData';

/** What is due for a pool of Karpenter. */
export interface DueKarpenter extends Due {
  /** Without an EC2NodeClass if a user owns the node class, or while it is unresolved. */
  readonly objects: Readonly<Partial<Record<KarpenterKind, DueObject>>>;
  /** What the EC2NodeClass waits for. */
  readonly unresolved?: Unresolved;
}

/** The observed state of a pool of Karpenter. */
export interface KarpenterState extends ObservedState {
  readonly karpenter: KarpenterView;
  /** The data of ConfigMap kube-system/amazon-vpc-cni, if the nodes are of AWS; undefined as data: it does not exist. */
  readonly cniConfig?: CallResult<Readonly<Record<string, string>> | undefined>;
  readonly nodeClassFacts?: NodeClassFacts;
  /** Whether Karpenter replaces nodes that are not Ready; absent: the operator replaces none of its own accord either. */
  readonly nodeRepair?: CallResult<boolean>;
  /** The pods without a node; absent: no gate stays closed. */
  readonly pendingPods?: CallResult<readonly PendingPod[]>;
}

/** The same with what is due. */
export interface KarpenterDerived
  extends Derived,
    Pick<KarpenterState, 'karpenter' | 'cniConfig' | 'nodeClassFacts' | 'nodeRepair' | 'pendingPods'> {
  readonly due: DueKarpenter;
}

/** Whether its nodes are EC2 instances. */
export function isOfAws({ spec }: Pick<WindowsPool, 'spec'>): boolean {
  const { nodeClass, nodeClassRef } = karpenterIn(spec);
  return nodeClass !== undefined || nodeClassRef?.group === 'karpenter.k8s.aws';
}

/** Whether the NodeClaim has this node: their provider IDs are equal, and a node cannot change its own. */
export function isOf(claim: NodeClaim, { name, providerID }: Pick<NodeRecord, 'name' | 'providerID'>): boolean {
  return claim.node === name && providerID !== '' && claim.providerID === providerID;
}

/** The object of this kind with the name of the pool; undefined if it is not known or does not exist. */
export function objectIn(
  { karpenter }: Pick<KarpenterState, 'karpenter'>,
  kind: KarpenterKind,
): KarpenterObject | undefined {
  if (karpenter.kind !== 'seen') return undefined;
  return kind === 'NodePool' ? karpenter.nodePool : karpenter.nodeClass;
}

/** Whether the operator created the object of this kind for the pool. */
export function isOwned(s: Pick<KarpenterState, 'pool' | 'karpenter'>, kind: KarpenterKind = 'NodePool'): boolean {
  const object = objectIn(s, kind);
  return object !== undefined && isCreatedFor(object, s.pool.metadata.name);
}

/** The NodeClaims of the pool that are not being deleted. */
export function liveClaims(s: Pick<KarpenterState, 'pool' | 'karpenter'>): readonly NodeClaim[] {
  return s.karpenter.kind === 'seen' && isOwned(s) ? s.karpenter.claims.filter(({ deleting }) => !deleting) : [];
}

/** The nodes that Karpenter is draining, by name. */
export function leavingNodes({ karpenter }: Pick<KarpenterState, 'karpenter'>): ReadonlyMap<string, NodeClaim> {
  const claims = karpenter.kind === 'seen' ? karpenter.claims : [];
  return new Map(claims.flatMap((claim) => (claim.deleting && claim.node !== '' ? [[claim.node, claim]] : [])));
}

/** NodeClaims that are not a node yet. */
export function startingClaims(s: Pick<KarpenterState, 'pool' | 'karpenter'>): readonly NodeClaim[] {
  return liveClaims(s).filter(({ node }) => node === '');
}

/** `NodePool web`: it has the name of its pool. */
export function objectName({ pool }: Pick<ObservedState, 'pool'>, kind: KarpenterKind = 'NodePool'): string {
  return `${kind} ${pool.metadata.name}`;
}
