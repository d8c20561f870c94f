/** The metrics of a pool with a node group. Pure. */
import type { NodeGroupState, WindowsPoolStatus } from '../../../api/api.gen.ts';
import {
  type GaugeSample,
  gaugeSample,
  inSeconds,
  type LabelsOf,
  optionalSample,
  secondsOf,
} from '../../../api/metricCatalogue.ts';
import { maxUnavailableOf } from '../../../disruption/nodeBudget.ts';
import { NODE_REPLACEMENT } from '../../../model/disruption.ts';
import { type HealthCode, isHealthCode } from '../../../ports/eks.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { countByPart } from '../changes/describeDifferences.ts';
import { addressesFor } from '../checks/freeAddressesCheck.ts';
import { isOwnedBy } from '../desired/desiredNodeGroup.ts';
import type { EksDerived } from '../model/groupDue.ts';
import { groupOf } from '../observation/knownGroups.ts';
import { stageOf } from '../secondGroup/describeSecondGroup.ts';
import { dateOf, lifeOf } from '../versions/releaseVersion.ts';

/** The gauges of a pool with a node group, in addition to those of every pool. */
export function nodeGroupSamples(s: EksDerived, status: WindowsPoolStatus): GaugeSample[] {
  const { nodeGroup } = status;
  return [
    ...prerequisiteSamples(s),
    ...(nodeGroup ? groupSamples(s, nodeGroup) : []),
    ...sizeSamples(s, status),
    ...(nodeGroup ? secondGroupSamples(s, nodeGroup) : []),
    ...(nodeGroup ? updateSamples(status, nodeGroup) : []),
    ...(nodeGroup ? driftSamples(s) : []),
  ];
}

function prerequisiteSamples({ due: { prerequisites } }: EksDerived): GaugeSample[] {
  const { input, results } = prerequisites;
  if (!input || !results) return [];
  const { failed, warned, ignored, unknown } = results;
  const addresses = addressesFor(input);
  const listed = { False: failed, Warning: warned, Ignored: ignored, Unknown: unknown };
  return [
    ...(Object.keys(listed) as (keyof typeof listed)[]).flatMap((status) =>
      listed[status].map(({ check: { reason } }) => gaugeSample('windowspool_prerequisite', { reason, status }, 1)),
    ),
    ...optionalSample('windowspool_subnet_free_ip_addresses', addresses?.free),
    ...optionalSample('windowspool_subnet_needed_ip_addresses', addresses?.needed),
  ];
}

function sizeSamples(s: EksDerived, { nodes }: WindowsPoolStatus): GaugeSample[] {
  if (nodes?.desired === undefined) return [];
  const limit = maxUnavailableOf(s.pool, nodes.desired, groupOf(s)?.update.maxUnavailable);
  return [gaugeSample('windowspool_nodes_max_unavailable', {}, limit)];
}

function groupSamples({ pool }: EksDerived, group: NodeGroupState): GaugeSample[] {
  const { status, amiType, kubernetesVersion = '', releaseVersion = '', latestReleaseVersion = '' } = group;
  const labels = {
    node_group: group.name,
    ami_type: amiType ?? '',
    capacity_type: nodeGroupIn(pool.spec).capacityType,
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
    ...optionalSample('windowspool_warm_instances', group.warmPool?.instances),
    ...optionalSample('windowspool_node_group_release_timestamp_seconds', secondsOf(group.releaseDate)),
    ...optionalSample(
      'windowspool_node_group_release_end_timestamp_seconds',
      inSeconds(lifeOf(releaseVersion)?.private) ?? secondsOf(group.privateDate),
    ),
    ...optionalSample(
      'windowspool_node_group_latest_release_timestamp_seconds',
      secondsOf(dateOf(latestReleaseVersion)),
    ),
  ];
}

type Status = LabelsOf<'windowspool_node_group_status'>['status'];

function codeOf(code: string): HealthCode | 'other' {
  return isHealthCode(code) ? code : 'other';
}

/** The replacement of the node group by a new one, or the canary of an update. */
function secondGroupSamples(s: EksDerived, { replacement, canary }: NodeGroupState): GaugeSample[] {
  const stage = stageOf(s);
  const start = secondsOf((replacement ?? canary)?.startTime);
  if (canary && stage)
    return [
      gaugeSample('windowspool_canary_in_progress', { stage }, 1),
      ...optionalSample('windowspool_canary_start_timestamp_seconds', start),
    ];
  if (!replacement || !stage || stage === 'waiting' || stage === 'passed') return [];
  return [
    gaugeSample('windowspool_replacement_in_progress', { stage }, 1),
    ...optionalSample('windowspool_replacement_start_timestamp_seconds', start),
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

function driftSamples(s: EksDerived): GaugeSample[] {
  const group = groupOf(s);
  const drift = countByPart(group && isOwnedBy(s.pool, group) ? s.due.differences.reported : []);
  return (Object.keys(drift) as (keyof typeof drift)[]).map((part) =>
    gaugeSample('windowspool_drift_fields', { part }, drift[part]),
  );
}
