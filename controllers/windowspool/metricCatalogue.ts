/**
 * The catalogue of the metrics of pools, as reasons.ts is for reasons: a metric, label or value that is not here cannot be reported. The page in the
 * docs is generated from it. Names follow https://prometheus.io/docs/practices/naming/.
 */
import type { ExistingNodesConditions, NodeGroupConditions } from './model/conditions.ts';
import type { TerminatingStage } from './model/disruption.ts';
import { HEALTH_CODES, type NodeGroupStatus } from './ports/eks.ts';
import { nodeCheckReasons, prerequisiteReasons, type Reason, reasons } from './reasons.ts';

/** The conditions that a pool of either kind can have. */
export type ConditionType = keyof NodeGroupConditions | keyof ExistingNodesConditions;

const CONDITIONS = [
  'Ready',
  'NodeGroupReady',
  'NodesFound',
  'RuntimeClassReady',
  'NodesVerified',
  'PrerequisitesMet',
  'UpToDate',
  'NodesLeaving',
  'Reconciling',
  'Stalled',
  'Paused',
] as const satisfies readonly ConditionType[];

const GROUP_STATUSES = [
  'CREATING',
  'ACTIVE',
  'UPDATING',
  'DELETING',
  'CREATE_FAILED',
  'DELETE_FAILED',
  'DEGRADED',
] as const satisfies readonly NodeGroupStatus[];

const PARTS = ['label', 'taint', 'scaling', 'tag', 'version', 'release', 'template', 'update'] as const;

const pool = { bounds: 'names of WindowsPools' };
const ofPool = { pool };
const nodeCheck = { values: nodeCheckReasons, see: 'reasons of the checks on a node' };
const updateType = { values: ['VersionUpdate', 'ConfigUpdate', 'other'] } as const;

const conditions = {
  windowspool_info: {
    type: 'gauge',
    help: 'Always 1: the Windows version of a pool and where its nodes come from.',
    labels: {
      pool,
      windows_version: { bounds: 'spec.windowsVersion, one a pool' },
      source: { values: ['nodeGroup', 'existingNodes'] },
    },
  },
  windowspool_status_condition: {
    type: 'gauge',
    help: 'The conditions of a pool: 1 for the status that holds, 0 for the other two. A condition that the pool does not have has no series.',
    labels: { pool, type: { values: CONDITIONS }, status: { values: ['True', 'False', 'Unknown'] } },
  },
  windowspool_status_condition_reason: {
    type: 'gauge',
    help: 'Always 1: the reason of each condition of a pool.',
    labels: {
      pool,
      type: { values: CONDITIONS },
      reason: { values: Object.keys(reasons) as readonly Reason[], see: 'one a condition' },
    },
  },
  windowspool_status_confirmed_timestamp_seconds: {
    type: 'gauge',
    help: 'When the status of a pool was last written, or found to need no write; before the first time, when this process began to look at the pool. Long ago: the status is stale.',
    labels: ofPool,
  },
  windowspool_status_written_timestamp_seconds: {
    type: 'gauge',
    help: 'When the status of a pool was last written; no series before the first write of this process.',
    labels: ofPool,
  },
  windowspool_paused: {
    type: 'gauge',
    help: '1 for a pool that is paused, by spec.paused or by its annotation; else 0.',
    labels: ofPool,
  },
  windowspool_prerequisite: {
    type: 'gauge',
    help: 'Always 1: a prerequisite of a pool that is not met (status False), ignored by annotation although it is not met, a warning or not known (Ignored), a warning (Warning), or not known (Unknown). What is met has no series. Only False keeps a node group from being created.',
    labels: {
      pool,
      reason: { values: prerequisiteReasons, see: 'reasons of the [prerequisites](prerequisites.md)' },
      status: { values: ['False', 'Ignored', 'Warning', 'Unknown'] },
    },
  },
} as const;

const nodes = {
  windowspool_nodes: {
    type: 'gauge',
    help: 'Nodes of a pool by their verdict. Their sum is status.nodes.total.',
    labels: { pool, state: { values: ['verified', 'joining', 'failing'] } },
  },
  windowspool_nodes_desired: {
    type: 'gauge',
    help: 'The size of the node group that EKS is to keep; no series while it is not known, and for existingNodes.',
    labels: ofPool,
  },
  windowspool_nodes_min: { type: 'gauge', help: 'spec.scaling.min; no series for existingNodes.', labels: ofPool },
  windowspool_nodes_max: { type: 'gauge', help: 'spec.scaling.max; no series for existingNodes.', labels: ofPool },
  windowspool_nodes_ready: { type: 'gauge', help: 'Nodes of a pool that are Ready.', labels: ofPool },
  windowspool_nodes_gated: { type: 'gauge', help: "Nodes of a pool that have the gate's taint.", labels: ofPool },
  windowspool_nodes_quarantined: {
    type: 'gauge',
    help: "Nodes of a pool that have the quarantine's taint.",
    labels: ofPool,
  },
  windowspool_nodes_below_minimum_revision: {
    type: 'gauge',
    help: 'Nodes of a pool below its verification.minimumRevision, also where that only warns; no series without a minimumRevision.',
    labels: ofPool,
  },
  windowspool_nodes_by_kernel: {
    type: 'gauge',
    help: 'Nodes of a pool by kernel version: at most 20 a pool; the rest, and what is no Windows build, is other.',
    labels: { pool, kernel_version: { bounds: 'at most 20 kernel versions a pool, and other' } },
  },
  windowspool_node_failures: {
    type: 'gauge',
    help: 'Nodes of a pool that fail a check, by its reason. A node that fails two checks is in both; a check that no node fails has no series.',
    labels: { pool, reason: nodeCheck },
  },
  windowspool_node_warnings: {
    type: 'gauge',
    help: 'Verified nodes of a pool for which a check warns, by its reason. A check without such nodes has no series.',
    labels: { pool, reason: nodeCheck },
  },
  windowspool_pod_ip_addresses: {
    type: 'gauge',
    help: 'IP addresses that the nodes of a pool have for pods: the sum of vpc.amazonaws.com/PrivateIPv4Address in their allocatable.',
    labels: ofPool,
  },
  windowspool_subnet_free_ip_addresses: {
    type: 'gauge',
    help: 'Free addresses in the subnets of a pool; no series where they were not asked for: they are before a creation and while something is wrong.',
    labels: ofPool,
  },
  windowspool_subnet_needed_ip_addresses: {
    type: 'gauge',
    help: 'Free addresses that a pool needs to grow to scaling.max; there whenever windowspool_subnet_free_ip_addresses is.',
    labels: ofPool,
  },
} as const;

const operation = { values: ['Replace', 'Remove', 'Remediate'] } as const;

/** Nodes that are replaced, removed or remediated one at a time. */
const operations = {
  windowspool_nodes_leaving: {
    type: 'gauge',
    help: 'Nodes of a pool that go one by one, because of an annotation or of remediation: draining; blocked, by pods that somebody has to let go; ending, where the end of the instance was asked for; drained, where something else is to end it. What no node does has no series.',
    labels: {
      pool,
      operation,
      stage: { values: ['draining', 'blocked', 'ending', 'drained'] satisfies TerminatingStage[] },
    },
  },
  windowspool_nodes_leaving_start_timestamp_seconds: {
    type: 'gauge',
    help: 'Since when the first of the nodes that go one by one does; no series where none goes, or the operator is done with all of them.',
    labels: ofPool,
  },
  windowspool_nodes_waiting_to_leave: {
    type: 'gauge',
    help: 'Nodes of a pool that are to go one by one, and wait for their turn.',
    labels: ofPool,
  },
  windowspool_evictions_total: {
    type: 'counter',
    help: 'Evictions of pods from such nodes: accepted; blocked, by a PodDisruptionBudget or by admission, at each try; failed counts passes over a node in which a call failed.',
    labels: { pool, result: { values: ['accepted', 'blocked', 'failed'] } },
  },
  windowspool_instances_ended_total: {
    type: 'counter',
    help: 'Instances of such nodes, and instances that never became nodes, whose end was asked for.',
    labels: { pool, operation },
  },
  windowspool_drains_given_up_total: {
    type: 'counter',
    help: 'Nodes that stay although they were to go: timed-out, refused by AWS or because they are not the pool’s, or withdrawn by who asked for it.',
    labels: { pool, reason: { values: ['timed-out', 'refused', 'withdrawn'] } },
  },
  windowspool_remediation_short_circuited: {
    type: 'gauge',
    help: '1 while no node is remediated because more fail than remediation.maxUnhealthy allows; else 0. No series without remediation.',
    labels: ofPool,
  },
} as const;

const nodeGroups = {
  windowspool_node_group_info: {
    type: 'gauge',
    help: 'Always 1: the node group of a pool, its AMI type, Kubernetes version and AMI release.',
    labels: {
      pool,
      node_group: { bounds: 'one a pool' },
      ami_type: { bounds: 'one a pool' },
      kubernetes_version: { bounds: 'one a pool' },
      release_version: { bounds: 'one a pool' },
    },
  },
  windowspool_node_group_status: {
    type: 'gauge',
    help: 'Always 1: the status of the node group in EKS, as it was last seen.',
    labels: { pool, status: { values: GROUP_STATUSES } },
  },
  windowspool_node_group_health_issues: {
    type: 'gauge',
    help: 'Health issues of the node group in EKS, by code; a code that EKS does not report has no series.',
    labels: {
      pool,
      code: {
        values: [...HEALTH_CODES, 'other'] as const,
        see: '[codes of EKS](https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html), and other for one that is not there',
      },
    },
  },
  windowspool_node_group_release_timestamp_seconds: {
    type: 'gauge',
    help: 'The day of the AMI release that the node group has.',
    labels: ofPool,
  },
  windowspool_node_group_release_end_timestamp_seconds: {
    type: 'gauge',
    help: 'About when AWS makes the AMI of the node group private (four months after its release): no node starts from it any more.',
    labels: ofPool,
  },
  windowspool_node_group_latest_release_timestamp_seconds: {
    type: 'gauge',
    help: 'The day of the newest AMI release for the node group.',
    labels: ofPool,
  },
  windowspool_update_in_progress: {
    type: 'gauge',
    help: 'Always 1: an update of the node group whose end is not known. The type is other where the operator did not begin it.',
    labels: { pool, type: updateType },
  },
  windowspool_update_start_timestamp_seconds: {
    type: 'gauge',
    help: 'When the update that is in progress began; no series where that is not known.',
    labels: { pool, type: updateType },
  },
  windowspool_drift_fields: {
    type: 'gauge',
    help: 'Fields of the node group that differ from the spec and are left so (driftPolicy Report), by part.',
    labels: { pool, part: { values: PARTS } },
  },
  windowspool_drift_corrected_total: {
    type: 'counter',
    help: 'Fields of the node group that were put right although no change of the spec asked for it, by part.',
    labels: { pool, part: { values: PARTS } },
  },
  windowspool_disruption_claim: {
    type: 'gauge',
    help: '1 for a pool that has a share of the disruption budget, because it loses nodes; else 0.',
    labels: ofPool,
  },
  windowspool_disruption_claim_start_timestamp_seconds: {
    type: 'gauge',
    help: 'Since when a pool has its share of the disruption budget; no series without one.',
    labels: ofPool,
  },
} as const;

/** Every metric of pools. */
export const poolMetrics = { ...conditions, ...nodes, ...operations, ...nodeGroups } as const;

type Catalogue = typeof poolMetrics;

/** The name of a metric of one type. */
type NameOf<T extends 'gauge' | 'counter'> = {
  [N in keyof Catalogue]: Catalogue[N]['type'] extends T ? N : never;
}[keyof Catalogue];

type Label<V> = V extends { readonly values: readonly (infer T)[] } ? T : string;

/** The labels of a metric except the pool, with the values that each may have. */
export type LabelsOf<N extends keyof Catalogue> = {
  readonly [L in Exclude<keyof Catalogue[N]['labels'], 'pool'>]: Label<Catalogue[N]['labels'][L]>;
};

/** One value of a metric of a pool. */
export type Sample<N extends keyof Catalogue> = {
  [M in N]: { readonly metric: M; readonly labels: LabelsOf<M>; readonly value: number };
}[N];

/** The current value of a gauge. */
export type GaugeSample = Sample<NameOf<'gauge'>>;
/** An increment of a counter by `value`. */
export type CounterSample = Sample<NameOf<'counter'>>;
/** When something happened to the pool, in seconds since the Unix epoch. */
export type TimeSample = Sample<
  'windowspool_status_confirmed_timestamp_seconds' | 'windowspool_status_written_timestamp_seconds'
>;
