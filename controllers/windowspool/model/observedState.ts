/** The observed state of a pool at one moment: everything that the plan may use. Plain data. */
import type { WindowsPool } from '../api.gen.ts';
import type { CallError, CallResult } from '../ports/callResult.ts';
import type { Instance } from '../ports/ec2.ts';
import type { Cluster, NodeGroup, NodeGroupUpdate } from '../ports/eks.ts';
import type { NodePodsView } from '../ports/nodePods.ts';
import type { StuckPod } from '../ports/pods.ts';
import type { RuntimeClass } from '../ports/runtimeClasses.ts';
import type { Confirmed, SeenOnce } from './certainty.ts';
import type { BlockedPod, FleetView, NodeCount, TerminatingNodeView } from './disruption.ts';
import type { ObservedTemplate } from './machineTemplate.ts';
import type { NodeMembershipView } from './nodeMembership.ts';
import type { PoolNodesView } from './poolNodes.ts';
import type { IpamAttempts, PrerequisiteFacts } from './prerequisites.ts';
import type { StepError } from './stepError.ts';

/** The operator's settings, from its flags. All times are in milliseconds. */
export interface Settings {
  readonly clusterName: string;
  readonly region: string;
  /** The longest interval between two polls of a group during an EKS operation: the first poll comes after a second. */
  readonly pollMs: number;
  /** Polling interval of a settled group. */
  readonly resyncMs: number;
  /** How long a new node may take to become complete, and an instance to become a Node. */
  readonly joinGraceMs: number;
  /** Interval between attempts of a creation that failed for an external cause. */
  readonly createRetryMs: number;
  /** Interval between attempts of a call that AWS denied. */
  readonly deniedRetryMs: number;
  /** How many pools may disrupt nodes at a time. */
  readonly maxPoolsUpdating: number;
  /** Whether the operator enables Windows IPAM where a pool needs it. */
  readonly enableWindowsIpam: boolean;
  /** Whether pools may adopt node groups that the operator did not create. */
  readonly enableNodeGroupAdoption: boolean;
  /** Where messages link to: the URL of the docs, without a slash at its end. */
  readonly docsUrl: string;
}

/**
 * The observed node group.
 * - `absent`: EKS says that it does not exist.
 * - `unconfirmed`: EKS said once that a known group does not exist or is not the pool's. What the group is now is not known.
 * - `unreachable`: the call failed. `certainty`: EKS said that the cluster does not exist.
 * - `none`: a pool of existing nodes.
 *
 * `last` is the group as this process observed it before. `certainty` is absent if the answer fits what was known.
 */
export type ObservedNodeGroup =
  | { readonly kind: 'none' }
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

/** The observed EKS cluster; `unasked` for a pool that does not use EKS. */
export type ObservedCluster =
  | { readonly kind: 'unasked' }
  | { readonly kind: 'seen'; readonly cluster: Cluster }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreachable'; readonly error: CallError };

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

/** Everything that the plan and the conditions of one pool follow from. */
export interface ObservedState {
  readonly pool: WindowsPool;
  readonly now: number;
  readonly settings: Settings;
  readonly cluster: ObservedCluster;
  readonly group: ObservedNodeGroup;
  /** The other group of the pool: the one that the desired one replaces, or its canary. Absent when it has neither. */
  readonly former?: ObservedNodeGroup;
  /** The operator's own update, read when it was still in progress at the last report. */
  readonly update: NodeGroupUpdate | undefined;
  /** The pods that block the completion of that update; undefined when not read. */
  readonly stuckPods?: CallResult<readonly StuckPod[]>;
  /** The terminating nodes; undefined when there are none. */
  readonly operations?: DrainState;
  /** How many nodes are unavailable, by an uncached read; read only when more are about to be drained. */
  readonly counted?: CallResult<NodeCount>;
  /** The verification results of the pool's nodes: a live view of the cache. */
  readonly poolNodes: PoolNodesView;
  /** The operator's pods on nodes, as far as they are this pool's. */
  readonly nodePods: NodePodsView;
  /** For a pool of existing nodes: nodes that it selects and does not own, or owns and must release. */
  readonly membership: NodeMembershipView | undefined;
  /** The facts that prerequisites are checked against; undefined when none are checked. */
  readonly prerequisites: PrerequisiteFacts | undefined;
  /** The launch template with the name of the pool's own; undefined when not read. */
  readonly machineTemplate?: ObservedTemplate | undefined;
  /** When this process last changed Windows IPAM, for any pool. */
  readonly ipamAttempts?: IpamAttempts;
  /** The newest AMI release for the group; undefined when not read. */
  readonly newestRelease: CallResult<string | undefined> | undefined;
  /** What the cluster-autoscaler knows of the group; undefined when not read. */
  readonly autoscaler: AutoscalerFacts | undefined;
  /** Instances of the group; read only while nodes are missing and are late, or there is an error. */
  readonly instances: readonly Instance[] | undefined;
  /** The RuntimeClass with the desired name, managed by the operator or not. */
  readonly runtimeClass: RuntimeClass | undefined;
  /** The RuntimeClass of the pool before its spec changed. */
  readonly formerRuntimeClass: RuntimeClass | undefined;
  readonly serverVersion: string | undefined;
  /** The other pools. */
  readonly fleet: FleetView;
  /** Errors of reads, and later of the steps of the plan. */
  readonly errors: readonly StepError[];
}

/** All terminating nodes of a pool. */
export interface DrainState {
  /** Whether it was read in this run: steps follow only from a fresh read. */
  readonly fresh: boolean;
  /** When the next read is due, in epoch milliseconds. */
  readonly nextAt: number;
  readonly nodes: readonly TerminatingNodeView[];
  /** Pods that budgets or admission blocked in the last eviction pass. */
  readonly blocked: readonly BlockedPod[];
  /** Lasting errors of the last pass: reported until the next one, so that conditions do not flap. */
  readonly errors?: readonly StepError[];
}
