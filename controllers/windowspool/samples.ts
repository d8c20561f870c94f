/** The current metrics of a pool. Pure. Values that are in status are taken from it, so that dashboards and kubectl show the same. */
import type { NodeGroupState, WindowsPoolStatus } from './api.gen.ts';
import { terminatingNodeSamples } from './disruption/samples.ts';
import type { ConditionType, GaugeSample, LabelsOf } from './metricCatalogue.ts';
import type { ConditionSet, ConditionState } from './model/conditions.ts';
import { NODE_OPERATION } from './model/disruption.ts';
import type { ObservedState } from './model/observedState.ts';
import { nodeSourceOf } from './nodeSource.ts';
import { kernelSeries } from './nodes/kernels.ts';
import { type HealthCode, isHealthCode } from './ports/eks.ts';
import { countByPart, reportedDrift } from './providers/eks/differences.ts';
import { isOwnedBy } from './providers/eks/nodeGroup.ts';
import { addressesFor } from './providers/eks/prerequisites/capacityChecks.ts';
import { examine } from './providers/eks/prerequisites/checks.ts';
import { checkInputOf } from './providers/eks/prerequisites/examination.ts';
import { dateOf, lifeOf } from './providers/eks/upgrades/releaseVersion.ts';
import { groupOf, isPaused } from './queries.ts';

const STATUSES = ['True', 'False', 'Unknown'] as const;

/** Every gauge of a pool, from its observed state, its conditions, and its status. */
export function samplesOf(s: ObservedState, assessment: ConditionSet, status: WindowsPoolStatus): GaugeSample[] {
  return [
    ...describe(s),
    ...conditionSamples(assessment),
    ...nodeSamples(s, status),
    ...findingSamples(s),
    ...terminatingNodeSamples(s),
    ...prerequisiteSamples(s),
    ...(status.nodeGroup ? groupSamples(status.nodeGroup) : []),
    ...reservationSamples(status),
    ...(status.nodeGroup ? updateSamples(status, status.nodeGroup) : []),
    ...(status.nodeGroup ? driftSamples(s) : []),
  ];
}

function describe({ pool }: ObservedState): GaugeSample[] {
  const source = nodeSourceOf(pool).name;
  return [
    { metric: 'windowspool_info', labels: { windows_version: pool.spec.windowsVersion, source }, value: 1 },
    { metric: 'windowspool_paused', labels: {}, value: Number(isPaused(pool)) },
  ];
}

function conditionSamples(assessment: ConditionSet): GaugeSample[] {
  return (Object.entries(assessment) as [ConditionType, ConditionState][]).flatMap(([type, finding]) => [
    ...STATUSES.map((status): GaugeSample => {
      const value = Number(status === finding.status);
      return { metric: 'windowspool_status_condition', labels: { type, status }, value };
    }),
    { metric: 'windowspool_status_condition_reason', labels: { type, reason: finding.reason }, value: 1 },
  ]);
}

function nodeSamples({ pool, poolNodes }: ObservedState, { nodes, revisions }: WindowsPoolStatus): GaugeSample[] {
  const { scaling } = pool.spec;
  const states = { verified: poolNodes.verified, joining: poolNodes.joining.length, failing: poolNodes.failing.length };
  return [
    ...(Object.keys(states) as (keyof typeof states)[]).map(
      (state): GaugeSample => ({ metric: 'windowspool_nodes', labels: { state }, value: states[state] }),
    ),
    ...Object.entries(kernelSeries(poolNodes)).map(
      ([kernel_version, value]): GaugeSample => ({
        metric: 'windowspool_nodes_by_kernel',
        labels: { kernel_version },
        value,
      }),
    ),
    ...given('windowspool_nodes_desired', nodes?.desired),
    ...given('windowspool_nodes_min', scaling?.min),
    ...given('windowspool_nodes_max', scaling?.max),
    ...given('windowspool_nodes_ready', poolNodes.ready),
    ...given('windowspool_nodes_gated', poolNodes.gated),
    ...given('windowspool_nodes_quarantined', poolNodes.quarantined),
    ...given('windowspool_nodes_below_minimum_revision', revisions?.belowMinimum),
    ...given('windowspool_pod_ip_addresses', poolNodes.podAddresses),
  ];
}

function findingSamples({ poolNodes }: ObservedState): GaugeSample[] {
  const failures = [...poolNodes.failing, ...poolNodes.joining].flatMap((result) => result.failures);
  const warnings = poolNodes.warned.flatMap((result) => result.warnings);
  const counted = [
    ['windowspool_node_failures', failures],
    ['windowspool_node_warnings', warnings],
  ] as const;
  return counted.flatMap(([metric, findings]) =>
    [...Map.groupBy(findings, ({ reason }) => reason)].map(
      ([reason, found]): GaugeSample => ({ metric, labels: { reason }, value: found.length }),
    ),
  );
}

function prerequisiteSamples(s: ObservedState): GaugeSample[] {
  const input = checkInputOf(s);
  if (!input) return [];
  const { failed, warned, ignored, unknown } = examine(input);
  const addresses = addressesFor(input);
  const sample = (labels: LabelsOf<'windowspool_prerequisite'>): GaugeSample => ({
    metric: 'windowspool_prerequisite',
    labels,
    value: 1,
  });
  return [
    ...failed.map(({ check }) => sample({ reason: check.reason, status: 'False' })),
    ...warned.map(({ check }) => sample({ reason: check.reason, status: 'Warning' })),
    ...ignored.map(({ check }) => sample({ reason: check.reason, status: 'Ignored' })),
    ...unknown.map(({ check }) => sample({ reason: check.reason, status: 'Unknown' })),
    ...given('windowspool_subnet_free_ip_addresses', addresses?.free),
    ...given('windowspool_subnet_needed_ip_addresses', addresses?.needed),
  ];
}

function groupSamples(group: NodeGroupState): GaugeSample[] {
  const { status, amiType, kubernetesVersion = '', releaseVersion = '', latestReleaseVersion = '' } = group;
  const labels = {
    node_group: group.name,
    ami_type: amiType ?? '',
    kubernetes_version: kubernetesVersion,
    release_version: releaseVersion,
  };
  return [
    ...(status ? [{ metric: 'windowspool_node_group_info', labels, value: 1 } as const] : []),
    ...(status
      ? [{ metric: 'windowspool_node_group_status', labels: { status: status as Status }, value: 1 } as const]
      : []),
    ...[...Map.groupBy(group.healthIssues ?? [], ({ code }) => codeOf(code))].map(
      ([code, issues]): GaugeSample => ({
        metric: 'windowspool_node_group_health_issues',
        labels: { code },
        value: issues.length,
      }),
    ),
    ...given('windowspool_node_group_release_timestamp_seconds', secondsOf(dateOf(releaseVersion))),
    ...given('windowspool_node_group_release_end_timestamp_seconds', inSeconds(lifeOf(releaseVersion)?.private)),
    ...given('windowspool_node_group_latest_release_timestamp_seconds', secondsOf(dateOf(latestReleaseVersion))),
  ];
}

type Status = LabelsOf<'windowspool_node_group_status'>['status'];

function codeOf(code: string): HealthCode | 'other' {
  return isHealthCode(code) ? code : 'other';
}

/** The pool's share of the disruption budget. */
function reservationSamples({ disruption }: WindowsPoolStatus): GaugeSample[] {
  return [
    { metric: 'windowspool_disruption_claim', labels: {}, value: Number(disruption !== undefined) },
    ...given('windowspool_disruption_claim_start_timestamp_seconds', secondsOf(disruption?.since)),
  ];
}

/** The update in progress, whether the operator or another client started it. */
function updateSamples({ disruption }: WindowsPoolStatus, nodeGroup: NodeGroupState): GaugeSample[] {
  const own = nodeGroup.update?.status === 'InProgress' ? nodeGroup.update : undefined;
  const type = own ? typeOf(own.type) : 'other';
  const since = disruption?.cause === NODE_OPERATION ? undefined : secondsOf(disruption?.since);
  const start = own?.startedAt ? secondsOf(own.startedAt) : type === 'ConfigUpdate' ? undefined : since;
  const labels = { type } as const;
  const inProgress = own !== undefined || nodeGroup.status === 'UPDATING';
  return [
    ...(inProgress ? [{ metric: 'windowspool_update_in_progress', labels, value: 1 } as const] : []),
    ...(inProgress && start !== undefined
      ? [{ metric: 'windowspool_update_start_timestamp_seconds', labels, value: start } as const]
      : []),
  ];
}

function typeOf(type: string): LabelsOf<'windowspool_update_in_progress'>['type'] {
  return type === 'VersionUpdate' || type === 'ConfigUpdate' ? type : 'other';
}

function driftSamples(s: ObservedState): GaugeSample[] {
  const group = groupOf(s);
  const drift = countByPart(group && isOwnedBy(s.pool, group) ? reportedDrift(s.pool, group) : []);
  return Object.entries(drift).map(([part, value]) => ({
    metric: 'windowspool_drift_fields',
    labels: { part: part as keyof typeof drift },
    value,
  }));
}

/** The gauges whose only label is the pool. */
type Plain = { [N in GaugeSample['metric']]: object extends LabelsOf<N> ? N : never }[GaugeSample['metric']];

function given(metric: Plain, value: number | undefined): GaugeSample[] {
  return value === undefined ? [] : [{ metric, labels: {}, value }];
}

function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined || Number.isNaN(ms) ? undefined : ms / 1_000;
}

function secondsOf(time: string | undefined): number | undefined {
  return inSeconds(time === undefined ? undefined : Date.parse(time));
}
