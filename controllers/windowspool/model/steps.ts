/** The operator's actions as data: planned by plan.ts, carried out by act.ts, described in status.pendingSteps. */
import type { LeavingNode } from '../api.gen.ts';
import type { ConfigChange, NewNodeGroup, NodeGroup, VersionChange } from '../ports/eks.ts';
import type { NodeCondition, NodeMarks, NodeRecord } from '../ports/nodes.ts';
import type { DrainPod } from '../ports/pods.ts';
import type { Addon, ConfigMapOwner } from '../ports/prerequisites.ts';
import type { DesiredRuntimeClass, RuntimeClass } from '../ports/runtimeClasses.ts';
import type { Difference, ScalingTagChange, TagChange } from './changes.ts';
import type { DisruptionReservation, ReleaseFailure } from './disruption.ts';
import type { TaintChange } from './poolNodes.ts';

/** One action. Every step can be repeated. */
export type Step =
  | { readonly kind: 'addFinalizer' }
  | { readonly kind: 'removeFinalizer' }
  /** Writes what must survive a crash to status before AWS is called. */
  | { readonly kind: 'remember'; readonly memory: Memory }
  /** Takes a share of the disruption budget, and writes what must survive a crash with it. */
  | {
      readonly kind: 'reserveDisruption';
      readonly memory: Memory | ReservationMemory;
      /** Descriptions of what the reservation starts, where no other step has one: the nodes whose turn it is. */
      readonly begins?: readonly string[];
    }
  /** Adopts a group that no pool owns, by setting the pool's tag and nothing else. */
  | { readonly kind: 'adoptNodeGroup'; readonly group: NodeGroup; readonly pool: string }
  /** Creates an access entry of type EC2_WINDOWS, without which nodes with the role lack permissions. */
  | { readonly kind: 'createAccessEntry'; readonly role: string; readonly token: string }
  /** Enables Windows IPAM for the whole cluster in the vpc-cni add-on, when that owns the setting. */
  | { readonly kind: 'updateAddon'; readonly cluster: string; readonly addon: Addon; readonly token: string }
  /** Enables Windows IPAM for the whole cluster in ConfigMap kube-system/amazon-vpc-cni. */
  | {
      readonly kind: 'applyCniConfig';
      readonly seen: ConfigMapOwner | undefined;
      /** Which tool may revert it, and the remedy. */
      readonly warning?: string;
    }
  | { readonly kind: 'createNodeGroup'; readonly desired: NewNodeGroup; readonly token: string }
  | {
      readonly kind: 'updateConfig';
      readonly group: string;
      /** How many nodes EKS terminates, when the update shrinks the group. */
      readonly ends?: number;
      readonly change: ConfigChange;
      readonly token: string;
      readonly target: string;
      readonly drift?: Drift;
      readonly retain?: Retaining;
    }
  /** A rolling update to another Kubernetes version or AMI release. */
  | {
      readonly kind: 'updateNodeGroupVersion';
      readonly group: string;
      readonly change: VersionChange;
      readonly token: string;
      readonly target: string;
      readonly drift?: Drift;
      /** The release fails verification in another pool, but the spec asks for it. */
      readonly doubt?: ReleaseFailure;
    }
  | {
      readonly kind: 'correctTags';
      readonly group: NodeGroup;
      readonly change: TagChange;
      readonly drift?: Drift;
      readonly retain?: Retaining;
    }
  /** Sets tags on the scaling group that tell the cluster-autoscaler what a new node looks like. */
  | { readonly kind: 'correctScalingTags'; readonly change: ScalingTagChange; readonly retain?: Retaining }
  | { readonly kind: 'deleteNodeGroup'; readonly group: string; readonly why: string }
  | { readonly kind: 'createRuntimeClass'; readonly desired: DesiredRuntimeClass }
  | {
      readonly kind: 'applyRuntimeClass';
      readonly desired: DesiredRuntimeClass;
      readonly seen: RuntimeClass;
      /** Whether the content is written too, and not only the owner reference. */
      readonly differs: boolean;
      /** Whether the pool becomes one of its owners. */
      readonly lacksOwner: boolean;
    }
  | { readonly kind: 'releaseRuntimeClass'; readonly seen: RuntimeClass }
  | { readonly kind: 'deleteRuntimeClass'; readonly seen: RuntimeClass }
  | { readonly kind: 'labelNode'; readonly node: NodeRecord; readonly build: string }
  /** Sets the pool's labels and taints on a node of existingNodes, and records the previous values. */
  | { readonly kind: 'markNode'; readonly node: NodeRecord; readonly change: NodeMarks }
  /** Restores the labels and taints that a node had before it joined the pool. */
  | { readonly kind: 'releaseNode'; readonly node: NodeRecord; readonly change: NodeMarks; readonly retain?: Retaining }
  /** Sets or removes the operator's taints on a node. */
  | { readonly kind: 'taintNode'; readonly node: NodeRecord; readonly change: TaintChange; readonly retain?: Retaining }
  /** Cordons a node before it is drained. */
  | { readonly kind: 'cordonNode'; readonly node: NodeRecord }
  /** Requests the eviction of pods, once each. */
  | {
      readonly kind: 'evictPods';
      readonly node: NodeRecord;
      readonly evictions: readonly { readonly pod: DrainPod; readonly gracePeriodSeconds: number }[];
    }
  /** Terminates the instance of a node after a last check of all conditions. */
  | {
      readonly kind: 'terminateInstance';
      readonly node: NodeRecord;
      readonly entry: LeavingNode;
      readonly scalingGroups: readonly string[];
      /** The node's UID: a refusal is remembered with it. */
      readonly target: string;
      /** How many pods terminate with a node that is not drained. */
      readonly withPods?: number;
    }
  /** Terminates an instance that never became a node, after a last check of all conditions. */
  | {
      readonly kind: 'terminateUnregistered';
      readonly entry: LeavingNode;
      readonly scalingGroups: readonly string[];
      /** The instance ID: a refusal is remembered with it. */
      readonly target: string;
    }
  /** Reports that a node of existingNodes is drained and the operator is done with it. Writes nothing to the node. */
  | { readonly kind: 'reportDrained'; readonly node: NodeRecord; readonly entry: LeavingNode; readonly text: string }
  /** Keeps a node: removes the operator's cordon, and writes the reason to its annotation unless the annotation was removed. */
  | {
      readonly kind: 'uncordonNode';
      readonly node: NodeRecord;
      readonly answer?: { readonly key: string; readonly value: string; readonly why?: string };
      readonly retain?: Retaining;
    }
  /** Writes the verification result of a node to its condition, or removes the condition. */
  | {
      readonly kind: 'setNodeCondition';
      readonly node: NodeRecord;
      readonly condition: NodeCondition | undefined;
      readonly retain?: Retaining;
    };

/** A step about one node. It does not wait for steps about other nodes. */
export type NodeStep = Extract<Step, { readonly node: NodeRecord }>;

/** Differences that the step corrects although the spec did not change. */
export type Drift = readonly Difference[];

/**
 * The step removes the operator's marks from a group that outlives its pool. Marks that AWS permanently refuses to remove stay, so that Retain never
 * blocks the deletion of a pool.
 */
export type Retaining = true;

/** What status records because it cannot be observed anywhere else. */
export interface Memory {
  readonly cluster: { readonly name: string; readonly arn: string };
  readonly nodeGroupName: string;
  /** For a group that the pool does not have yet: everything that it has or will have. */
  readonly initial?: { readonly applied: readonly string[]; readonly desired: number | undefined };
  /** The fields that the update to be sent changes. */
  readonly sending?: readonly string[];
  /** The share of the disruption budget that is about to be used. */
  readonly reservation?: DisruptionReservation;
  /** The short keys of all operator tags that a scaling group will have. */
  readonly scalingTags?: readonly string[];
}

/** What the status of a pool of existing nodes records: nothing of it is in AWS. */
export interface ReservationMemory {
  readonly reservation: DisruptionReservation;
}

/** The step that evicts pods from one node. */
export type EvictPods = Extract<Step, { kind: 'evictPods' }>;
