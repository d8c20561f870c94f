/** The observed state of a pool at one moment: everything that the plan may use. Plain data. */
import type { WindowsPool } from '../api/api.gen.ts';
import type { CallResult } from '../ports/callResult.ts';
import type { NodePodsView } from '../ports/nodePods.ts';
import type { LinuxNodeView } from '../ports/prerequisites.ts';
import type { RuntimeClass } from '../ports/runtimeClasses.ts';
import type { BlockedPod, NodeCount, OtherPools, TerminatingNodeView } from './disruption.ts';
import type { NodeMembershipView } from './nodeMembershipView.ts';
import type { PoolNodesView } from './poolNodesView.ts';
import type { StepError } from './stepError.ts';

/** The operator's settings, from its flags. All times are in milliseconds. */
export interface Settings {
  /** Name of the EKS cluster that the operator runs in. Empty: the operator does not use AWS, and serves only pools that do not need it. */
  readonly clusterName: string;
  readonly region: string;
  /** AWS tags of what the operator creates. Those of node groups and instances are in the spec of each pool: see withDefaultTags. */
  readonly defaultTags: Readonly<Record<string, string>>;
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
  /** Whether the objects in machines.ref are in another cluster, such as the management cluster of Cluster API. */
  readonly managesElsewhere: boolean;
  /** Where messages link to: the URL of the docs, without a slash at its end. */
  readonly docsUrl: string;
}

/** What every pool has, whatever its nodes come from. A provider adds what it reads. */
export interface ObservedState {
  readonly pool: WindowsPool;
  readonly now: number;
  readonly settings: Settings;
  /** The terminating nodes; undefined when there are none. */
  readonly operations?: DrainState;
  /** When the last drain of nodes began, by UID, in epoch milliseconds, as far as this process knows. */
  readonly drained?: ReadonlyMap<string, number>;
  /** How many nodes are unavailable, by an uncached read; read only when more are about to be drained. */
  readonly counted?: CallResult<NodeCount>;
  /** The verification results of the pool's nodes: a live view of the cache. */
  readonly poolNodes: PoolNodesView;
  /** The operator's pods on nodes, as far as they are this pool's. */
  readonly nodePods: NodePodsView;
  /** Nodes that the pool selects and does not own, or owns and must release; absent where nothing selects nodes. */
  readonly membership?: NodeMembershipView;
  /** The RuntimeClass with the desired name, managed by the operator or not. */
  readonly runtimeClass: RuntimeClass | undefined;
  /** The RuntimeClass of the pool before its spec changed. */
  readonly formerRuntimeClass: RuntimeClass | undefined;
  readonly serverVersion: string | undefined;
  /** Absent for pools with a node group, and for pools that are being deleted. */
  readonly clusterFacts?: ClusterFacts;
  /** The other pools. */
  readonly otherPools: OtherPools;
  /** Errors of reads, and later of the steps of the plan. */
  readonly errors: readonly StepError[];
}

/** What the checks of a pool without a node group need of the cluster. */
export interface ClusterFacts {
  readonly linuxNode: CallResult<LinuxNodeView>;
}

/** All terminating nodes of a pool. */
export interface DrainState {
  /** Whether it was read in this run: steps follow only from a fresh read. */
  readonly fresh: boolean;
  /** When the next read is due, in epoch milliseconds. */
  readonly nextAt: number;
  /** Since when reads have shown the same progress, in epoch milliseconds. Absent: unknown. */
  readonly since?: number;
  readonly nodes: readonly TerminatingNodeView[];
  /** Pods that budgets or admission blocked in the last eviction pass. */
  readonly blocked: readonly BlockedPod[];
  /** Lasting errors of the last pass: reported until the next one, so that conditions do not flap. */
  readonly errors?: readonly StepError[];
}
