/** What the operator can do, as data: planned by plan.ts, done by act.ts, shown in words in status.pendingSteps. */
import type { LeavingNode } from '../api.gen.ts';
import type { ConfigChange, NewNodeGroup, NodeGroup, VersionChange } from '../ports/eks.ts';
import type { NodeCondition, NodeMarks, NodeRecord } from '../ports/nodes.ts';
import type { DrainPod } from '../ports/pods.ts';
import type { Addon, ConfigMapOwner } from '../ports/prerequisites.ts';
import type { DesiredRuntimeClass, RuntimeClass } from '../ports/runtimeClasses.ts';
import type { Difference, ScalingTagChange, TagChange } from './changes.ts';
import type { DisruptionReservation, ReleaseFailure } from './disruption.ts';
import type { TaintChange } from './poolNodes.ts';

export type Step =
  | { readonly kind: 'addFinalizer' }
  | { readonly kind: 'removeFinalizer' }
  /** Writes to status, before AWS is touched, what must survive a crash. */
  | { readonly kind: 'remember'; readonly memory: Memory }
  /** Takes a share of the disruption budget, and remembers with it what must survive a crash. */
  | {
      readonly kind: 'reserveDisruption';
      readonly memory: Memory | ReservationMemory;
      /** What begins with it, in words, where no other step says so: the nodes whose turn it is. */
      readonly begins?: readonly string[];
    }
  /** Makes the group of somebody else the pool's, by its tag and nothing else. */
  | { readonly kind: 'adoptNodeGroup'; readonly group: NodeGroup; readonly pool: string }
  /** An access entry of type EC2_WINDOWS, without which the nodes of the role get too few rights. */
  | { readonly kind: 'createAccessEntry'; readonly role: string; readonly token: string }
  /** Enables Windows IPAM for the whole cluster, where the vpc-cni add-on owns the setting. */
  | { readonly kind: 'updateAddon'; readonly cluster: string; readonly addon: Addon; readonly token: string }
  /** Enables Windows IPAM for the whole cluster in ConfigMap kube-system/amazon-vpc-cni. */
  | {
      readonly kind: 'applyCniConfig';
      readonly seen: ConfigMapOwner | undefined;
      /** Who may revert it, and what to do about that. */
      readonly warning?: string;
    }
  | { readonly kind: 'createNodeGroup'; readonly desired: NewNodeGroup; readonly token: string }
  | {
      readonly kind: 'updateConfig';
      readonly group: string;
      /** How many nodes the update ends, where it makes the group smaller. */
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
      /** The user wants a release that fails in another pool. */
      readonly doubt?: ReleaseFailure;
    }
  | {
      readonly kind: 'correctTags';
      readonly group: NodeGroup;
      readonly change: TagChange;
      readonly drift?: Drift;
      readonly retain?: Retaining;
    }
  /** Tells the cluster-autoscaler what a new node is like, by tags of the scaling group. */
  | { readonly kind: 'correctScalingTags'; readonly change: ScalingTagChange; readonly retain?: Retaining }
  | { readonly kind: 'deleteNodeGroup'; readonly group: string; readonly why: string }
  | { readonly kind: 'createRuntimeClass'; readonly desired: DesiredRuntimeClass }
  | {
      readonly kind: 'applyRuntimeClass';
      readonly desired: DesiredRuntimeClass;
      readonly seen: RuntimeClass;
      /** Whether its content is written: the API server has less to do for an owner alone. */
      readonly differs: boolean;
      /** Whether the pool becomes one of its owners. */
      readonly lacksOwner: boolean;
    }
  | { readonly kind: 'releaseRuntimeClass'; readonly seen: RuntimeClass }
  | { readonly kind: 'deleteRuntimeClass'; readonly seen: RuntimeClass }
  | { readonly kind: 'labelNode'; readonly node: NodeRecord; readonly build: string }
  /** Gives a node the labels and taints of its pool of existing nodes, and records what it had. */
  | { readonly kind: 'markNode'; readonly node: NodeRecord; readonly change: NodeMarks }
  /** Gives back to a node what it had before it was the pool's. */
  | { readonly kind: 'releaseNode'; readonly node: NodeRecord; readonly change: NodeMarks; readonly retain?: Retaining }
  /** Gives a node the operator's taints, or takes them away. */
  | { readonly kind: 'taintNode'; readonly node: NodeRecord; readonly change: TaintChange; readonly retain?: Retaining }
  /** Keeps pods from a node that is to go. */
  | { readonly kind: 'cordonNode'; readonly node: NodeRecord }
  /** Asks for the eviction of pods, once each. */
  | {
      readonly kind: 'evictPods';
      readonly node: NodeRecord;
      readonly evictions: readonly { readonly pod: DrainPod; readonly gracePeriodSeconds: number }[];
    }
  /** Ends the instance of a node, after all was confirmed once more. */
  | {
      readonly kind: 'terminateInstance';
      readonly node: NodeRecord;
      readonly entry: LeavingNode;
      readonly scalingGroups: readonly string[];
      /** The node's UID: a refusal is remembered with it. */
      readonly target: string;
      /** How many pods end with a node that is not to be drained. */
      readonly withPods?: number;
    }
  /** Ends an instance that never became a node, after all was confirmed once more. */
  | {
      readonly kind: 'terminateUnregistered';
      readonly entry: LeavingNode;
      readonly scalingGroups: readonly string[];
      /** The instance's id: a refusal is remembered with it. */
      readonly target: string;
    }
  /** Nothing more is to be done to a node of existingNodes: it is told of. Writes nothing to the node. */
  | { readonly kind: 'reportDrained'; readonly node: NodeRecord; readonly entry: LeavingNode; readonly text: string }
  /** A node stays: it loses the operator's cordon, and its annotation says why, unless the annotation was taken away. */
  | {
      readonly kind: 'uncordonNode';
      readonly node: NodeRecord;
      readonly answer?: { readonly key: string; readonly value: string; readonly why?: string };
      readonly retain?: Retaining;
    }
  /** Writes the verdict on a node into its condition, or removes the condition. */
  | {
      readonly kind: 'setNodeCondition';
      readonly node: NodeRecord;
      readonly condition: NodeCondition | undefined;
      readonly retain?: Retaining;
    };

/** A step about one node. Such steps do not wait for those about other nodes. */
export type NodeStep = Extract<Step, { readonly node: NodeRecord }>;

/** What the step puts right that no change of the spec made. */
export type Drift = readonly Difference[];

/**
 * The step takes the operator's marks from a group that outlives its pool. What AWS refuses for good stays where it is, so that Retain
 * always lets a pool go.
 */
export type Retaining = true;

/** What status remembers, because it can't be seen anywhere else. */
export interface Memory {
  readonly cluster: { readonly name: string; readonly arn: string };
  readonly nodeGroupName: string;
  /** For a group that the pool does not have yet: all that it will have, or should have. */
  readonly anew?: { readonly applied: readonly string[]; readonly desired: number | undefined };
  /** The fields of which a change is about to be sent. */
  readonly sending?: readonly string[];
  /** The share of the disruption budget that is about to be used. */
  readonly reservation?: DisruptionReservation;
  /** The short keys of all tags that a scaling group will have from the operator. */
  readonly scalingTags?: readonly string[];
}

/** What the status of a pool of existing nodes remembers: nothing of it is in AWS. */
export interface ReservationMemory {
  readonly reservation: DisruptionReservation;
}

export type EvictPods = Extract<Step, { kind: 'evictPods' }>;
