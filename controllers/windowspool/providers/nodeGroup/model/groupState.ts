/** The observed state of a pool with a node group. Plain data. */
import type { Confirmed, SeenOnce } from '../../../model/certainty.ts';
import type { ObservedState } from '../../../model/observedState.ts';
import type { CallError, CallResult } from '../../../ports/callResult.ts';
import type { Instance } from '../../../ports/ec2.ts';
import type { Cluster, NodeGroup, NodeGroupUpdate } from '../../../ports/eks.ts';
import type { StuckPod } from '../../../ports/pods.ts';
import type { CheckFacts, IpamAttempts } from './checkFacts.ts';
import type { ObservedTemplate } from './observedTemplate.ts';

/**
 * The observed node group.
 * - `absent`: EKS says that it does not exist.
 * - `unconfirmed`: EKS said once that a known group does not exist, is not the pool's, or could not be created or deleted. What the group is now is not known.
 * - `unreachable`: the call failed. `certainty`: EKS said that the cluster does not exist.
 *
 * `last` is the group as this process observed it before. `certainty` is absent if the answer fits what was known.
 */
export type ObservedNodeGroup =
  | { readonly kind: 'seen'; readonly group: NodeGroup; readonly certainty?: Confirmed }
  | { readonly kind: 'absent'; readonly certainty?: Confirmed }
  | UnconfirmedGroup
  | {
      readonly kind: 'unreachable';
      readonly error: CallError;
      readonly since: number;
      readonly last: NodeGroup | undefined;
      readonly certainty?: SeenOnce | Confirmed;
    };

/** A node group of which one answer contradicts what was known. */
export interface UnconfirmedGroup {
  readonly kind: 'unconfirmed';
  readonly certainty: SeenOnce;
  readonly last: NodeGroup | undefined;
}

/** The observed EKS cluster. `since`: when the first of the requests that failed in a row was sent, in epoch milliseconds. */
export type ObservedCluster =
  | { readonly kind: 'seen'; readonly cluster: Cluster }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreachable'; readonly error: CallError; readonly since: number };

/** What the cluster-autoscaler knows of a group, and what only AWS knows of a new node. */
export interface AutoscalerFacts {
  /** The tags of the group's scaling groups, by scaling group name. */
  readonly tags: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The versions of launch templates from which those scaling groups launch instances, and their instances were launched: `lt-1 3`. */
  readonly templateVersions: readonly string[];
  /** How many pods of a new node get an address; undefined when unknown. */
  readonly podAddresses: number | undefined;
  /** How many instances the warm pools of these scaling groups have, which are not nodes. */
  readonly warmInstances: number;
}

/** Everything that the plan and the conditions of a pool with a node group follow from. */
export interface EksState extends ObservedState {
  readonly cluster: ObservedCluster;
  readonly group: ObservedNodeGroup;
  /** The group beside the main one: the old group of a replacement, or the canary. Absent when the pool has neither. */
  readonly second?: ObservedNodeGroup;
  /** The operator's own update, read when it was still in progress at the last report. */
  readonly update: NodeGroupUpdate | undefined;
  /** The pods that block the completion of that update; undefined when not read. */
  readonly stuckPods?: CallResult<readonly StuckPod[]>;
  /** The facts that prerequisites are checked against; undefined when none are checked. */
  readonly prerequisites: CheckFacts | undefined;
  /** The launch template with the name of the pool's own; undefined when not read. */
  readonly ownTemplate?: ObservedTemplate | undefined;
  /** When this process last changed Windows IPAM, for any pool. */
  readonly ipamAttempts?: IpamAttempts;
  /** The newest AMI release for the group; undefined when not read. */
  readonly newestRelease: CallResult<string | undefined> | undefined;
  /** What the cluster-autoscaler knows of the group; undefined when not read. */
  readonly autoscaler: AutoscalerFacts | undefined;
  /** Instances of the group; read only while nodes are missing and are late, or there is an error. */
  readonly instances: readonly Instance[] | undefined;
}
