/** NodePools and NodeClaims of Karpenter. Texts of Karpenter are cut and cleaned. */
import type { NodeClassReference, NodeRequirement } from '../api/api.gen.ts';
import type { CallError, CallResult } from './callResult.ts';
import type { Taint } from './nodes.ts';
import type { Toleration } from './runtimeClasses.ts';

/** The kinds of objects that the operator creates for a pool. Both have the name of the pool. */
export type KarpenterKind = 'NodePool' | 'EC2NodeClass';

/** The desired state of such an object. */
export interface KarpenterManifest<Spec = NodePoolSpec | NodeClassManifestSpec> {
  readonly kind: KarpenterKind;
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    /** Preconditions of a change. */
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
  readonly spec: Spec;
}

/** The part of the spec of a NodePool that the operator sets: https://karpenter.sh/docs/concepts/nodepools/. Durations as in Karpenter: `10m`, `Never`. */
export interface NodePoolSpec {
  readonly weight?: number;
  readonly limits?: Readonly<Record<string, number | string>>;
  readonly disruption: {
    readonly consolidationPolicy: string;
    readonly consolidateAfter: string;
    readonly budgets: readonly Budget[];
  };
  readonly template: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: {
      readonly nodeClassRef: NodeClassReference;
      readonly requirements: readonly NodeRequirement[];
      readonly taints: readonly Taint[];
      readonly startupTaints: readonly Taint[];
      readonly expireAfter: string;
      readonly terminationGracePeriod?: string;
    };
  };
}

/** The part of the spec of an EC2NodeClass that the operator sets: https://karpenter.sh/docs/concepts/nodeclasses/ */
export interface NodeClassManifestSpec {
  readonly amiFamily: string;
  readonly amiSelectorTerms: readonly { readonly id: string }[];
  readonly role: string;
  readonly subnetSelectorTerms: readonly SelectorTerm[];
  readonly securityGroupSelectorTerms: readonly SelectorTerm[];
  readonly blockDeviceMappings: readonly object[];
  readonly metadataOptions: object;
  readonly tags?: Readonly<Record<string, string>>;
  readonly kubelet?: object;
  /** PowerShell commands without tags, which Karpenter puts before its own. */
  readonly userData?: string;
}

/** Selects by ID, or by all of the tags. */
interface SelectorTerm {
  readonly id?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

/** Fields that a manifest may lack. */
export type OptionalField = 'weight' | 'limits' | 'terminationGracePeriod' | 'tags' | 'kubelet' | 'userData';

/** How many nodes Karpenter may disrupt at a time for these reasons. */
export interface Budget {
  readonly nodes: string;
  readonly reasons: readonly ('Drifted' | 'Empty' | 'Underutilized')[];
  /** When it starts to apply, as a cron expression in UTC, and for how long; absent: always. */
  readonly schedule?: string;
  readonly duration?: string;
}

/** A NodePool or an EC2NodeClass as it is. */
export interface KarpenterObject {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleting: boolean;
  /** The pool for which the operator created it; empty: another tool did. */
  readonly createdFor: string;
  /** The pool that may adopt it, as its owner says; empty: none. */
  readonly adoptableBy: string;
  /** The hash of the manifest that was applied last; empty: none was. */
  readonly manifestHash: string;
  /** When the operator applied it, in epoch milliseconds; 0: never. */
  readonly appliedAt: number;
  /** As stored: JSON. */
  readonly spec: unknown;
  /** Optional fields that the operator has set. Others cannot be removed by it. */
  readonly ownFields: readonly OptionalField[];
  /** The status of its condition Ready: whether Karpenter can use it. Unknown or empty: Karpenter has not evaluated its last change yet. */
  readonly ready: string;
  /** Since when the condition Ready has this status, in epoch milliseconds; 0 if there is none. */
  readonly readySince: number;
  /** What Karpenter reports as wrong; otherwise empty. */
  readonly problem: string;
  /** Why new nodes of a NodePool do not register, which does not change Ready; otherwise empty. */
  readonly registrationProblem: string;
}

/** Whether the operator created it for the pool: another client may have changed its labels since. Both have the same name. */
export function isCreatedFor({ createdFor, appliedAt }: KarpenterObject, pool: string): boolean {
  return createdFor === pool || appliedAt > 0;
}

/** A NodeClaim: a node that Karpenter creates, or has created. */
export interface NodeClaim {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly deleting: boolean;
  /** The UID of the NodePool that it was created for; empty if there is none. */
  readonly nodePoolUid: string;
  /** The name of its node; empty until it is registered. */
  readonly node: string;
  /** As in the spec of its node; empty until its instance exists. */
  readonly providerID: string;
  /** The keys of the taints that its node has until other controllers remove them. */
  readonly startupTaints: readonly string[];
  /** Whether its node is Ready and has none of them any more. Karpenter disrupts no other node. */
  readonly isInitialized: boolean;
  /** Why Karpenter replaces it, such as `NodePoolDrifted`; empty: it does not. */
  readonly drift: string;
  /** What Karpenter reports as wrong, such as why it cannot be launched; otherwise empty. */
  readonly problem: string;
}

/**
 * What the pool has in Karpenter.
 * - `unknown`: it was not read yet, or reading it failed with `error`
 */
export type KarpenterView =
  | { readonly kind: 'unknown'; readonly error?: CallError }
  | {
      readonly kind: 'seen';
      readonly nodePool: KarpenterObject | undefined;
      readonly claims: readonly NodeClaim[];
      /** The EC2NodeClass with the name of the pool; undefined if it does not exist, or pools need none. */
      readonly nodeClass?: KarpenterObject | undefined;
      /** The NodePools with other names. */
      readonly others: readonly KarpenterObject[];
    };

/** A pod that the scheduler cannot place. */
export interface PendingPod {
  readonly namespace: string;
  readonly name: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Toleration[];
}

/** The NodePools of pools, their NodeClaims and node classes. */
export interface NodePools {
  /** From the cache. */
  of(pool: string): KarpenterView;
  /** A NodeClaim, uncached; undefined if it does not exist. */
  readClaim(name: string, signal: AbortSignal): Promise<CallResult<NodeClaim | undefined>>;
  /**
   * Creates the object or changes it: fields that an earlier manifest had are removed. Error `conflict` if it has changed since it was seen, or exists although it was
   * not seen.
   */
  apply(manifest: KarpenterManifest, isNew: boolean, signal: AbortSignal): Promise<CallResult<void>>;
  /** Deletes the object: a NodePool stays until its NodeClaims are gone, and an EC2NodeClass while NodeClaims use it. Success if it is gone. */
  delete(kind: KarpenterKind, seen: KarpenterObject, signal: AbortSignal): Promise<CallResult<void>>;
  /**
   * Whether Karpenter replaces nodes that are not Ready: the feature gate NodeRepair in a Deployment with the label of Karpenter, in any namespace; false if there is
   * none, such as where it runs outside of the cluster. https://karpenter.sh/docs/concepts/disruption/#node-auto-repair
   */
  repairsNodes(signal: AbortSignal): Promise<CallResult<boolean>>;
  /** Pods without a node, some hundreds at most, sorted by namespace and name. */
  pendingPods(signal: AbortSignal): Promise<CallResult<readonly PendingPod[]>>;
  /** Deletes a NodeClaim: Karpenter drains its node and terminates its instance. Success if it is gone. */
  deleteClaim(claim: NodeClaim, signal: AbortSignal): Promise<CallResult<void>>;
}
