/** The current metrics of a pool. Pure. Values that are in status are taken from it, so that dashboards and kubectl show the same. */
import type { NodeGroupState, WindowsPoolStatus } from './api.gen.ts';
import { terminatingNodeSamples } from './disruption/samples.ts';
import { type ConditionType, type GaugeSample, gaugeSample, type LabelsOf } from './metricCatalogue.ts';
import type { ConditionSet, ConditionState } from './model/conditions.ts';
import { NODE_REPLACEMENT } from './model/disruption.ts';
import type { Derived } from './model/due.ts';
import { PULL_STATES, TEST_STATES } from './model/nodePods.ts';
import type { ObservedState } from './model/observedState.ts';
import { nodeSourceOf } from './nodeSource.ts';
import { kernelSeries } from './nodes/kernels.ts';
import { type HealthCode, isHealthCode } from './ports/eks.ts';
import { canaryStage } from './providers/eks/canary/status.ts';
import { countByPart } from './providers/eks/differences.ts';
import { isOwnedBy } from './providers/eks/nodeGroup.ts';
import { addressesFor } from './providers/eks/prerequisites/capacityChecks.ts';
import { replacementStage } from './providers/eks/replacement/status.ts';
import { dateOf, lifeOf } from './providers/eks/upgrades/releaseVersion.ts';
import { groupOf, isPaused } from './queries.ts';
import type { AdviceReason } from './reasons.ts';

const STATUSES = ['True', 'False', 'Unknown'] as const;

/** Every gauge of a pool, from its observed state, its conditions, and its status. */
export function samplesOf(s: Derived, assessment: ConditionSet, status: WindowsPoolStatus): GaugeSample[] {
  return [
    ...describe(s),
    ...conditionSamples(assessment),
    ...nodeSamples(s, status),
    ...findingSamples(s),
    ...nodePodSamples(s),
    ...terminatingNodeSamples(s),
    ...prerequisiteSamples(s),
    ...adviceSamples(status),
    ...(status.nodeGroup ? groupSamples(status.nodeGroup) : []),
    ...reservationSamples(status),
    ...replacementSamples(s, status),
    ...canarySamples(s, status),
    ...(status.nodeGroup ? updateSamples(status, status.nodeGroup) : []),
    ...(status.nodeGroup ? driftSamples(s) : []),
  ];
}

function describe({ pool }: ObservedState): GaugeSample[] {
  const source = nodeSourceOf(pool).name;
  return [
    gaugeSample('windowspool_info', { windows_version: pool.spec.windowsVersion, source }, 1),
    gaugeSample('windowspool_paused', {}, Number(isPaused(pool))),
  ];
}

function conditionSamples(assessment: ConditionSet): GaugeSample[] {
  return (Object.entries(assessment) as [ConditionType, ConditionState][]).flatMap(([type, finding]) => [
    ...STATUSES.map((status) =>
      gaugeSample('windowspool_status_condition', { type, status }, Number(status === finding.status)),
    ),
    gaugeSample('windowspool_status_condition_reason', { type, reason: finding.reason }, 1),
  ]);
}

function nodeSamples({ pool, poolNodes }: ObservedState, { nodes, revisions }: WindowsPoolStatus): GaugeSample[] {
  const { scaling } = pool.spec.nodeGroup ?? {};
  const states = { verified: poolNodes.verified, joining: poolNodes.joining.length, failing: poolNodes.failing.length };
  return [
    ...(Object.keys(states) as (keyof typeof states)[]).map((state) =>
      gaugeSample('windowspool_nodes', { state }, states[state]),
    ),
    ...Object.entries(kernelSeries(poolNodes)).map(([kernel_version, value]) =>
      gaugeSample('windowspool_nodes_by_kernel', { kernel_version }, value),
    ),
    ...given('windowspool_nodes_desired', nodes?.desired),
    ...given('windowspool_nodes_min', scaling?.minSize),
    ...given('windowspool_nodes_max', scaling?.maxSize),
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
    [...Map.groupBy(findings, ({ reason }) => reason)].map(([reason, found]) =>
      gaugeSample(metric, { reason }, found.length),
    ),
  );
}

function nodePodSamples({ pool, poolNodes }: ObservedState): GaugeSample[] {
  const { imagePrePull, smokeTest } = pool.spec.verification;
  const needed = poolNodes.podNeeds.map(({ preparation }) => preparation);
  const images = needed.flatMap((preparation) => preparation.images);
  const count = (found: readonly { readonly kind: string }[], state: string) =>
    found.filter(({ kind }) => kind === state).length;
  const pulls = images.map(({ state }) => state);
  const tests = needed.flatMap(({ test }) => test ?? []);
  return [
    ...(imagePrePull ? PULL_STATES : []).map((state) =>
      gaugeSample('windowspool_image_pulls', { state }, count(pulls, state)),
    ),
    ...(smokeTest ? TEST_STATES : []).map((state) =>
      gaugeSample('windowspool_smoke_tests', { state }, count(tests, state)),
    ),
  ];
}

function prerequisiteSamples({ due: { prerequisites } }: Derived): GaugeSample[] {
  const { input, examination } = prerequisites;
  if (!input || !examination) return [];
  const { failed, warned, ignored, unknown } = examination;
  const addresses = addressesFor(input);
  const listed = { False: failed, Warning: warned, Ignored: ignored, Unknown: unknown };
  return [
    ...(Object.keys(listed) as (keyof typeof listed)[]).flatMap((status) =>
      listed[status].map(({ check: { reason } }) => gaugeSample('windowspool_prerequisite', { reason, status }, 1)),
    ),
    ...given('windowspool_subnet_free_ip_addresses', addresses?.free),
    ...given('windowspool_subnet_needed_ip_addresses', addresses?.needed),
  ];
}

function adviceSamples({ advice = [] }: WindowsPoolStatus): GaugeSample[] {
  return advice.map(({ reason }) => gaugeSample('windowspool_advice', { reason: reason as AdviceReason }, 1));
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
    ...(status
      ? [
          gaugeSample('windowspool_node_group_info', labels, 1),
          gaugeSample('windowspool_node_group_status', { status: status as Status }, 1),
        ]
      : []),
    ...[...Map.groupBy(group.healthIssues ?? [], ({ code }) => codeOf(code))].map(([code, issues]) =>
      gaugeSample('windowspool_node_group_health_issues', { code }, issues.length),
    ),
    ...given('windowspool_warm_instances', group.warmPool?.instances),
    ...given('windowspool_node_group_release_timestamp_seconds', secondsOf(group.releaseDate)),
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
    gaugeSample('windowspool_disruption_reservation', {}, Number(disruption !== undefined)),
    ...given('windowspool_disruption_reservation_start_timestamp_seconds', secondsOf(disruption?.startTime)),
  ];
}

/** The replacement of the node group by a second one. */
function replacementSamples(s: ObservedState, { nodeGroup }: WindowsPoolStatus): GaugeSample[] {
  const stage = nodeGroup?.former && replacementStage(s);
  if (!stage) return [];
  return [
    gaugeSample('windowspool_replacement_in_progress', { stage }, 1),
    ...given('windowspool_replacement_start_timestamp_seconds', secondsOf(nodeGroup.former?.since)),
  ];
}

/** The canary of an update. */
function canarySamples(s: Derived, { nodeGroup }: WindowsPoolStatus): GaugeSample[] {
  const stage = nodeGroup?.canary && canaryStage(s);
  if (!stage) return [];
  return [
    gaugeSample('windowspool_canary_in_progress', { stage }, 1),
    ...given('windowspool_canary_start_timestamp_seconds', secondsOf(nodeGroup.canary?.since)),
  ];
}

/** The update in progress, whether the operator or another client started it. */
function updateSamples({ disruption }: WindowsPoolStatus, nodeGroup: NodeGroupState): GaugeSample[] {
  const own = nodeGroup.update?.status === 'InProgress' ? nodeGroup.update : undefined;
  const type = own ? typeOf(own.type) : 'other';
  const since = disruption?.reason === NODE_REPLACEMENT ? undefined : secondsOf(disruption?.startTime);
  const start = own?.startedAt ? secondsOf(own.startedAt) : type === 'ConfigUpdate' ? undefined : since;
  const labels = { type } as const;
  if (!own && nodeGroup.status !== 'UPDATING') return [];
  const inProgress = gaugeSample('windowspool_update_in_progress', labels, 1);
  if (start === undefined) return [inProgress];
  return [inProgress, gaugeSample('windowspool_update_start_timestamp_seconds', labels, start)];
}

function typeOf(type: string): LabelsOf<'windowspool_update_in_progress'>['type'] {
  return type === 'VersionUpdate' || type === 'ConfigUpdate' ? type : 'other';
}

function driftSamples(s: Derived): GaugeSample[] {
  const group = groupOf(s);
  const drift = countByPart(group && isOwnedBy(s.pool, group) ? s.due.differences.reported : []);
  return (Object.keys(drift) as (keyof typeof drift)[]).map((part) =>
    gaugeSample('windowspool_drift_fields', { part }, drift[part]),
  );
}

/** The gauges whose only label is the pool. */
type Plain = { [N in GaugeSample['metric']]: object extends LabelsOf<N> ? N : never }[GaugeSample['metric']];

function given(metric: Plain, value: number | undefined): GaugeSample[] {
  return value === undefined ? [] : [gaugeSample(metric, {}, value)];
}

function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined || Number.isNaN(ms) ? undefined : ms / 1_000;
}

function secondsOf(time: string | undefined): number | undefined {
  return inSeconds(time === undefined ? undefined : Date.parse(time));
}
