/** What is true of a pool at one moment: everything that the plan may look at. Plain data. */
import type { WindowsPool } from '../api.gen.ts';
import type { CallError, CallResult } from '../ports/callResult.ts';
import type { Instance } from '../ports/ec2.ts';
import type { Cluster, NodeGroup, NodeGroupUpdate } from '../ports/eks.ts';
import type { StuckPod } from '../ports/pods.ts';
import type { RuntimeClass } from '../ports/runtimeClasses.ts';
import type { DrainState, FleetView, NodeCount } from './disruption.ts';
import type { NodeMembershipView } from './nodeMembership.ts';
import type { PoolNodesView } from './poolNodes.ts';
import type { IpamAttempts, PrerequisiteFacts } from './prerequisites.ts';
import type { StepError } from './stepError.ts';

/** How long things may take, and where the operator works. From the flags. All times in milliseconds. */
export interface Settings {
  readonly clusterName: string;
  readonly region: string;
  /** The longest interval between two polls of a group on which EKS works: the first comes after a second. */
  readonly pollMs: number;
  /** Between two looks at a settled group. */
  readonly resyncMs: number;
  /** How long a new node may take until it is complete, and an instance until it is a Node. */
  readonly joinGraceMs: number;
  /** Between two tries of a creation that failed for an outer cause. */
  readonly createRetryMs: number;
  /** Between two tries of a call that AWS denied. */
  readonly deniedRetryMs: number;
  /** How many pools may lose nodes at a time. */
  readonly maxPoolsUpdating: number;
  /** Whether the operator enables Windows IPAM where a pool needs it. */
  readonly enableWindowsIpam: boolean;
}

/**
 * The node group as it was seen.
 * - `absent`: EKS says that it does not exist.
 * - `unreachable`: the call failed; `last` is what was seen before in this process.
 * - `none`: the pool is one of existing nodes.
 */
export type ObservedNodeGroup =
  | { readonly kind: 'none' }
  | { readonly kind: 'seen'; readonly group: NodeGroup }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'unreachable';
      readonly error: CallError;
      readonly since: number;
      readonly last: NodeGroup | undefined;
    };

/** The EKS cluster as it was seen; `unasked` where the pool has nothing to do with EKS. */
export type ObservedCluster =
  | { readonly kind: 'unasked' }
  | { readonly kind: 'seen'; readonly cluster: Cluster }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreachable'; readonly error: CallError };

/** What the cluster-autoscaler knows of a group, and what only AWS can tell of a new node. */
export interface AutoscalerFacts {
  /** The tags of the group's scaling groups, by their names. */
  readonly tags: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** How many pods of a new node get an address; undefined when it was not found out. */
  readonly podAddresses: number | undefined;
}

export interface ObservedState {
  readonly pool: WindowsPool;
  readonly now: number;
  readonly settings: Settings;
  readonly cluster: ObservedCluster;
  readonly group: ObservedNodeGroup;
  /** The operator's own update, looked up when it was still running at the last report. */
  readonly update: NodeGroupUpdate | undefined;
  /** The pods that kept that update from its end; undefined where they were not asked for. */
  readonly stuckPods?: CallResult<readonly StuckPod[]>;
  /** The nodes that go one by one; undefined where none does. */
  readonly operations?: DrainState;
  /** How many nodes are out, past every cache; asked for when more are about to go, and undefined else. */
  readonly counted?: CallResult<NodeCount>;
  /** The verdicts on the pool's nodes: a live view of the cache. */
  readonly poolNodes: PoolNodesView;
  /** Of a pool of existing nodes: nodes that it wants and has not, or has and must give back. */
  readonly membership: NodeMembershipView | undefined;
  /** What the checks of the prerequisites look at; undefined where none are made. */
  readonly prerequisites: PrerequisiteFacts | undefined;
  /** When this process last did something about Windows IPAM, for any pool. */
  readonly ipamAttempts?: IpamAttempts;
  /** The newest AMI release for the group; undefined where it was not asked for. */
  readonly newestRelease: CallResult<string | undefined> | undefined;
  /** What the cluster-autoscaler knows of the group; undefined where it was not asked for. */
  readonly autoscaler: AutoscalerFacts | undefined;
  /** Instances of the group; looked up only while nodes are missing, and something is wrong or they are late. */
  readonly instances: readonly Instance[] | undefined;
  /** The RuntimeClass with the name that the pool wants, whoever made it. */
  readonly runtimeClass: RuntimeClass | undefined;
  /** The RuntimeClass that the pool had before its spec changed. */
  readonly formerRuntimeClass: RuntimeClass | undefined;
  readonly serverVersion: string | undefined;
  /** The other pools. */
  readonly fleet: FleetView;
  /** What went wrong: while the world was looked at, and later while the plan was carried out. */
  readonly errors: readonly StepError[];
}
