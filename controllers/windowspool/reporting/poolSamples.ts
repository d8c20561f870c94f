/** The current metrics of a pool. Pure. Values that are in status are taken from it, so that dashboards and kubectl show the same. */
import type { WindowsPoolStatus } from '../api/api.gen.ts';
import {
  type ConditionType,
  type GaugeSample,
  gaugeSample,
  optionalSample,
  secondsOf,
} from '../api/metricCatalogue.ts';
import type { AdviceReason } from '../api/reasons.ts';
import { terminatingNodeSamples } from '../disruption/leavingNodeSamples.ts';
import type { ConditionSet, ConditionState } from '../model/conditions.ts';
import type { Derived } from '../model/due.ts';
import { PULL_STATES, TEST_STATES } from '../model/nodePodNeeds.ts';
import type { ObservedState } from '../model/observedState.ts';
import { kernelSeries } from '../nodes/kernels.ts';
import { supportEndOf } from '../nodes/windowsVersions.ts';
import { providerOf } from '../providers/providers.ts';
import { nodeSourceOf } from '../rules/nodeSource.ts';
import { isPaused } from '../rules/poolQueries.ts';

const STATUSES = ['True', 'False', 'Unknown'] as const;

/** Every gauge of a pool, from its observed state, its conditions, and its status. */
export function samplesOf(s: Derived, assessment: ConditionSet, status: WindowsPoolStatus): GaugeSample[] {
  return [
    ...describe(s, status),
    ...conditionSamples(assessment),
    ...nodeSamples(s, status),
    ...findingSamples(s),
    ...nodePodSamples(s),
    ...terminatingNodeSamples(s),
    ...adviceSamples(status),
    ...reservationSamples(status),
    ...(providerOf(s.pool).samples?.(s, status) ?? []),
  ];
}

function describe({ pool }: ObservedState, { conditions, tracking }: WindowsPoolStatus): GaugeSample[] {
  const { windowsVersion, verification } = pool.spec;
  const { creationTimestamp, deletionTimestamp } = pool.metadata;
  const labels = {
    windows_version: windowsVersion,
    source: nodeSourceOf(pool).name,
    verification_policy: verification.policy,
  };
  const pause = conditions?.find(({ type }) => type === 'Paused');
  return [
    gaugeSample('windowspool_info', labels, 1),
    ...optionalSample('windowspool_created_timestamp_seconds', secondsOf(creationTimestamp)),
    ...optionalSample('windowspool_deletion_timestamp_seconds', secondsOf(deletionTimestamp)),
    ...optionalSample('windowspool_first_ready_timestamp_seconds', secondsOf(tracking?.firstReadyTime)),
    ...optionalSample('windowspool_windows_version_end_timestamp_seconds', secondsOf(supportEndOf(windowsVersion))),
    gaugeSample('windowspool_paused', {}, Number(isPaused(pool))),
    ...optionalSample('windowspool_paused_start_timestamp_seconds', secondsOf(pause?.lastTransitionTime)),
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
    ...optionalSample('windowspool_nodes_desired', nodes?.desired),
    ...optionalSample('windowspool_nodes_min', scaling?.minSize),
    ...optionalSample('windowspool_nodes_max', scaling?.maxSize),
    ...optionalSample('windowspool_nodes_ready', poolNodes.ready),
    ...optionalSample('windowspool_nodes_gated', poolNodes.gated),
    ...optionalSample('windowspool_nodes_quarantined', poolNodes.quarantined),
    ...optionalSample('windowspool_nodes_below_minimum_revision', revisions?.belowMinimum),
    ...optionalSample('windowspool_pod_ip_addresses', poolNodes.podAddresses),
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

function adviceSamples({ checks = [] }: WindowsPoolStatus): GaugeSample[] {
  const advice = checks.filter(({ severity }) => severity === 'Advice');
  return advice.map(({ reason }) => gaugeSample('windowspool_advice', { reason: reason as AdviceReason }, 1));
}

/** The pool's share of the disruption budget. */
function reservationSamples({ disruption }: WindowsPoolStatus): GaugeSample[] {
  return [
    gaugeSample('windowspool_disruption_reservation', {}, Number(disruption !== undefined)),
    ...optionalSample('windowspool_disruption_reservation_start_timestamp_seconds', secondsOf(disruption?.startTime)),
  ];
}
