/**
 * The catalogue of the metrics of pools, as reasons.ts is for reasons: a metric, label or value that is not here cannot be reported. The page in the
 * docs is generated from it. Names follow https://prometheus.io/docs/practices/naming/.
 */
import type {
  ExistingNodesConditions,
  KarpenterConditions,
  MachinesConditions,
  NodeGroupConditions,
} from '../model/conditions.ts';
import type { CanaryStage, ReplacementStage, TerminatingStage } from '../model/disruption.ts';
import { PULL_STATES, TEST_STATES } from '../model/nodePodNeeds.ts';
import { HEALTH_CODES, type NodeGroupStatus } from '../ports/eks.ts';
import { adviceReasons, nodeCheckReasons, prerequisiteReasons, type Reason, reasons } from './reasons.ts';

/** The conditions that a pool of any kind can have. */
export type ConditionType =
  | keyof NodeGroupConditions
  | keyof KarpenterConditions
  | keyof MachinesConditions
  | keyof ExistingNodesConditions;

const CONDITIONS = [
  'Ready',
  'NodeGroupReady',
  'NodePoolReady',
  'MachinesReady',
  'NodesFound',
  'RuntimeClassReady',
  'NodesVerified',
  'PrerequisitesMet',
  'UpToDate',
  'RemediationAllowed',
  'Disrupting',
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

const PARTS = ['label', 'taint', 'scaling', 'tag', 'version', 'release', 'template', 'update', 'warmPool'] as const;

const pool = { bounds: 'names of WindowsPools' };
type Labels = Readonly<
  Record<string, { readonly values: readonly string[]; readonly see?: string } | { bounds: string }>
>;

function poolGauge<const L extends Labels = Record<never, never>>(help: string, labels = {} as L) {
  return { type: 'gauge', help, labels: { pool, ...labels } } as const;
}

function poolCounter<const L extends Labels>(help: string, labels: L) {
  return { type: 'counter', help, labels: { pool, ...labels } } as const;
}

const nodeCheck = { values: nodeCheckReasons, see: 'reasons of the [node checks](../concepts/verification.md)' };
const updateType = { values: ['VersionUpdate', 'ConfigUpdate', 'other'] } as const;

const conditions = {
  windowspool_info: poolGauge(
    'Always 1: the Windows version of a pool, the source of its nodes, and its verification.policy. With Gate, no pod is scheduled to a new node until the operator has verified it.',
    {
      windows_version: { bounds: 'spec.windowsVersion, one per pool' },
      source: { values: ['nodeGroup', 'karpenter', 'machines', 'existingNodes'] },
      verification_policy: { values: ['Report', 'Quarantine', 'Gate'] },
    },
  ),
  windowspool_created_timestamp_seconds: poolGauge('When a pool was created.'),
  windowspool_deletion_timestamp_seconds: poolGauge(
    'When the deletion of a pool was requested. No series unless the pool is being deleted.',
  ),
  windowspool_first_ready_timestamp_seconds: poolGauge(
    'When a pool was Ready for the first time. No series if it has never been Ready.',
  ),
  windowspool_windows_version_end_timestamp_seconds: poolGauge(
    "When Microsoft's extended support for the Windows version of a pool ends. After that, Windows gets no security updates.",
  ),
  windowspool_status_condition: poolGauge(
    'The conditions of a pool: 1 for the current status, 0 for the other two. No series for a condition that the pool does not have.',
    { type: { values: CONDITIONS }, status: { values: ['True', 'False', 'Unknown'] } },
  ),
  windowspool_status_condition_reason: poolGauge('Always 1: the reason of each condition of a pool.', {
    type: { values: CONDITIONS },
    reason: {
      values: Object.keys(reasons) as readonly Reason[],
      see: '[reasons](reasons.md#reasons), one per condition',
    },
  }),
  windowspool_status_confirmed_timestamp_seconds: poolGauge(
    'When the status of a pool was last written or confirmed without a write; before the first time, when this process first reconciled the pool. If this was long ago, the status is stale.',
  ),
  windowspool_status_written_timestamp_seconds: poolGauge(
    'When the status of a pool was last written. No series before the first write of this process.',
  ),
  windowspool_paused: poolGauge(
    '1 if a pool is paused, by spec.paused or the annotation winpool.dev/paused, otherwise 0.',
  ),
  windowspool_paused_start_timestamp_seconds: poolGauge('Since when a pool is paused. No series if it is not.'),
  windowspool_prerequisite: poolGauge(
    'Always 1: a prerequisite of a pool that is not met (status False), ignored by annotation (Ignored), a warning (Warning), or could not be checked (Unknown). No series for a prerequisite that is met. Only False blocks the creation of the node group.',
    {
      reason: { values: prerequisiteReasons, see: 'reasons of the [prerequisites](checks.md)' },
      status: { values: ['False', 'Ignored', 'Warning', 'Unknown'] },
    },
  ),
  windowspool_advice: poolGauge(
    'Always 1: advice for a pool that works, which blocks nothing. No series for advice that the pool follows or ignores.',
    { reason: { values: adviceReasons, see: 'reasons of [advice](advice.md)' } },
  ),
} as const;

const nodes = {
  windowspool_nodes: poolGauge('Nodes of a pool by verification result. Their sum is status.nodes.total.', {
    state: { values: ['verified', 'joining', 'failing'] },
  }),
  windowspool_nodes_desired: poolGauge(
    'Desired size of the node group in EKS, or of the object in machines.ref. No series while it is not known, or for existingNodes.',
  ),
  windowspool_node_claims: poolGauge(
    'NodeClaims of a pool by state. No series while they are not known, or for a pool without karpenter.',
    { state: { values: ['withNode', 'withoutNode', 'deleting'] } },
  ),
  windowspool_node_claims_drifted: poolGauge(
    'NodeClaims of a pool that differ from the NodePool or the node class, and that Karpenter replaces. No series while they are not known, or for a pool without karpenter.',
  ),
  windowspool_machines: poolGauge(
    'Machines of a pool by state. No series while they are not known, or for a pool without machines.',
    { state: { values: ['withNode', 'withoutNode', 'deleting'] } },
  ),
  windowspool_machines_outdated: poolGauge(
    'Machines of a pool that are made from an earlier template. No series while they are not known, or for a pool without machines.',
  ),
  windowspool_nodes_min: poolGauge(
    'Minimum size in spec.nodeGroup.scaling.minSize. No series for machines and existingNodes.',
  ),
  windowspool_nodes_max: poolGauge(
    'Maximum size in spec.nodeGroup.scaling.maxSize. No series for machines and existingNodes.',
  ),
  windowspool_nodes_max_unavailable: poolGauge(
    'How many nodes of a pool a rolling update may replace at the same time: disruption.maxUnavailable, or else that of the node group, as a number of nodes. No series while the desired size is not known, or for existingNodes.',
  ),
  windowspool_warm_instances: poolGauge(
    'Instances in the warm pool of the node group, which are not nodes. No series without a warm pool.',
  ),
  windowspool_nodes_ready: poolGauge('Nodes of a pool that are Ready.'),
  windowspool_nodes_gated: poolGauge(
    'Nodes of a pool with the gate taint (verification.policy Gate), which keeps pods away until the nodes are verified.',
  ),
  windowspool_nodes_quarantined: poolGauge(
    'Nodes of a pool with the quarantine taint (verification.policy Quarantine or Gate), which keeps new pods away because the nodes fail.',
  ),
  windowspool_nodes_below_minimum_revision: poolGauge(
    'Nodes of a pool below its verification.minimumRevision, also if the check only warns. No series without a minimumRevision.',
  ),
  windowspool_nodes_by_kernel: poolGauge(
    'Nodes of a pool by kernel version, at most 20 versions per pool. Other versions, and those that are not a Windows build, are counted as other.',
    { kernel_version: { bounds: 'at most 20 kernel versions per pool, and other' } },
  ),
  windowspool_node_failures: poolGauge(
    'Nodes of a pool that fail a check, by its reason. A node that fails two checks counts in both. No series for a check that no node fails.',
    { reason: nodeCheck },
  ),
  windowspool_node_warnings: poolGauge(
    'Verified nodes of a pool with a warning, by the reason of the check. No series for a check without such nodes.',
    { reason: nodeCheck },
  ),
  windowspool_image_pulls: poolGauge(
    'Images of verification.requiredImages that the operator pulls on nodes before it verifies them, by state, each image once for each node. Images that the node lists are not counted. No series without verification.imagePrePull.',
    { state: { values: PULL_STATES } },
  ),
  windowspool_smoke_tests: poolGauge(
    'New nodes that have not passed the smoke test, by its state. No series without verification.smokeTest.',
    { state: { values: TEST_STATES } },
  ),
  windowspool_pod_ip_addresses: poolGauge(
    'IP addresses for pods on the nodes of a pool: the sum of their allocatable vpc.amazonaws.com/PrivateIPv4Address.',
  ),
  windowspool_subnet_free_ip_addresses: poolGauge(
    'Free IP addresses in the subnets of a pool. No series unless they were read: before the creation of the node group, and while a prerequisite or the pool fails.',
  ),
  windowspool_subnet_needed_ip_addresses: poolGauge(
    'Free IP addresses that a pool needs to scale to nodeGroup.scaling.maxSize. It has a series if windowspool_subnet_free_ip_addresses has one.',
  ),
} as const;

const operation = { values: ['Replace', 'Remove', 'DrainNodeGroup'] } as const;
const reason = { values: ['Requested', 'Unhealthy', 'Outdated'] } as const;

/** Nodes that are replaced, removed or remediated. */
const operations = {
  windowspool_nodes_leaving: poolGauge(
    'Nodes of a pool that are replaced or removed, because a user requested it or because they are unhealthy (remediation). DrainNodeGroup: their node group is replaced, or was a canary. Stages: draining; blocked (pods block the drain); ending (the termination of the instance was requested); drained (the provisioner of the node must terminate it). No series for a stage without nodes.',
    { operation, reason, stage: { values: ['draining', 'blocked', 'ending', 'drained'] satisfies TerminatingStage[] } },
  ),
  windowspool_nodes_leaving_start_timestamp_seconds: poolGauge(
    'When the drain of the first node that is replaced or removed started. No series if there is none, or if all of them wait for their provisioner.',
  ),
  windowspool_nodes_waiting_to_leave: poolGauge(
    'Nodes of a pool that are to be replaced or removed, and wait for their turn.',
  ),
  windowspool_evictions_total: poolCounter(
    'Evictions of pods from nodes that are replaced or removed: accepted; blocked, by a PodDisruptionBudget or an admission webhook, at each attempt; failed, once per pass over a node in which a call failed.',
    { result: { values: ['accepted', 'blocked', 'failed'] } },
  ),
  windowspool_instances_ended_total: poolCounter(
    'Instances whose termination was requested: those of nodes that are replaced or removed, and those that never became nodes.',
    { operation, reason },
  ),
  windowspool_drains_aborted_total: poolCounter(
    'Nodes that stay although they were to be replaced or removed: timed-out (the drain); refused (by AWS, or because the instance is not one of the pool); withdrawn (the request was canceled).',
    { reason: { values: ['timed-out', 'refused', 'withdrawn'] } },
  ),
  windowspool_remediation_short_circuited: poolGauge(
    '1 while no node is remediated because more nodes fail than remediation.maxUnhealthy allows, otherwise 0. No series unless remediation.policy is Replace.',
  ),
} as const;

const nodeGroups = {
  windowspool_node_group_info: poolGauge(
    'Always 1: the node group of a pool with its AMI type, capacity type, Kubernetes version and AMI release.',
    {
      node_group: { bounds: 'one per pool' },
      ami_type: { bounds: 'one per pool' },
      capacity_type: { values: ['OnDemand', 'Spot'] },
      kubernetes_version: { bounds: 'one per pool' },
      release_version: { bounds: 'one per pool' },
    },
  ),
  windowspool_node_group_status: poolGauge('Always 1: the last known status of the node group in EKS.', {
    status: { values: GROUP_STATUSES },
  }),
  windowspool_node_group_health_issues: poolGauge(
    'Health issues of the node group in EKS, by code. No series for a code that EKS does not report.',
    {
      code: {
        values: [...HEALTH_CODES, 'other'] as const,
        see: '[EKS codes](https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html), and other for unknown codes',
      },
    },
  ),
  windowspool_node_group_release_timestamp_seconds: poolGauge('Date of the AMI release of the node group.'),
  windowspool_node_group_release_end_timestamp_seconds: poolGauge(
    'When AWS makes the AMI of the node group private, about four months after its release. After that, no node can be launched from it. A custom AMI has it if Amazon owns it.',
  ),
  windowspool_node_group_latest_release_timestamp_seconds: poolGauge(
    'Date of the newest AMI release for the node group.',
  ),
  windowspool_replacement_in_progress: poolGauge(
    'Always 1 while a new node group replaces the node group of a pool, by stage: creating; verifying (it lacks verified nodes); draining (nodes of the old group leave); blocked (a node of it could not be drained); deleting. No series if no replacement is in progress.',
    { stage: { values: ['creating', 'verifying', 'draining', 'blocked', 'deleting'] satisfies ReplacementStage[] } },
  ),
  windowspool_replacement_start_timestamp_seconds: poolGauge(
    'When the replacement of the node group began. No series if none is in progress.',
  ),
  windowspool_canary_in_progress: poolGauge(
    'Always 1 while a version is tried on a canary, or the canary is removed, by stage: creating; verifying (not all of its nodes are verified); waiting (they are, but not for long enough); passed (the node group is updated next); draining; blocked (a node of it could not be drained); deleting. No series if there is no canary.',
    {
      stage: {
        values: [
          'creating',
          'verifying',
          'waiting',
          'passed',
          'draining',
          'blocked',
          'deleting',
        ] satisfies CanaryStage[],
      },
    },
  ),
  windowspool_canary_start_timestamp_seconds: poolGauge('When the canary began. No series if there is none.'),
  windowspool_update_in_progress: poolGauge(
    'Always 1 while the node group is updated. The type is other if the operator did not start the update.',
    { type: updateType },
  ),
  windowspool_update_start_timestamp_seconds: poolGauge(
    'When the update in progress started. No series if this is not known.',
    { type: updateType },
  ),
  windowspool_drift_fields: poolGauge(
    'Fields of the node group that differ from the spec and are not corrected (driftPolicy Report), by part.',
    { part: { values: PARTS } },
  ),
  windowspool_drift_corrected_total: poolCounter(
    'Fields of the node group that were corrected although the spec did not change, by part.',
    { part: { values: PARTS } },
  ),
  windowspool_disruption_reservation: poolGauge(
    '1 while a pool counts towards --max-pools-updating because it disrupts nodes, otherwise 0.',
  ),
  windowspool_disruption_reservation_start_timestamp_seconds: poolGauge(
    'Since when a pool counts towards --max-pools-updating. No series if it does not.',
  ),
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

/** A value of a gauge. */
export function gaugeSample<N extends NameOf<'gauge'>>(metric: N, labels: LabelsOf<N>, value: number): GaugeSample {
  return { metric, labels, value } as unknown as GaugeSample;
}

/** The current value of a gauge. */
export type GaugeSample = Sample<NameOf<'gauge'>>;
/** An increment of a counter by `value`. */
export type CounterSample = Sample<NameOf<'counter'>>;
/** When something happened to the pool, in seconds since the Unix epoch. */
export type TimeSample = Sample<
  'windowspool_status_confirmed_timestamp_seconds' | 'windowspool_status_written_timestamp_seconds'
>;

/** The gauges whose only label is the pool. */
type Plain = { [N in GaugeSample['metric']]: object extends LabelsOf<N> ? N : never }[GaugeSample['metric']];

/** The gauge, if there is a value. */
export function optionalSample(metric: Plain, value: number | undefined): GaugeSample[] {
  return value === undefined ? [] : [gaugeSample(metric, {}, value)];
}

/** Milliseconds in seconds. */
export function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined || Number.isNaN(ms) ? undefined : ms / 1_000;
}

/** A time in seconds since the Unix epoch. */
export function secondsOf(time: string | undefined): number | undefined {
  return inSeconds(time === undefined ? undefined : Date.parse(time));
}
