/**
 * Tags of a group's scaling group that tell the cluster-autoscaler what its next node is like. While a group has no nodes, the autoscaler has
 * no other source, and assumes Linux. Pure.
 *
 * Keys and values: "Auto-Discovery Setup" and "Scaling a node group to 0" in
 * https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md; how they are read:
 * buildNodeFromTemplate in aws_manager.go and extractTaintsFromAsg in the same folder.
 */
import type { WindowsPool } from '../../../api/api.gen.ts';
import {
  EXPECTED_BUILD_LABEL,
  GATE_TAINT_KEY,
  PLAIN_GATE_TAINT_KEY,
  POOL_KEY,
  AUTOSCALER_PREFIX as PREFIX,
} from '../../../api/labels.ts';
import { isReadinessTaint, REGISTRATION_TAINT } from '../../../nodes/nodeTaints.ts';
import { buildOf, POD_ADDRESSES, WINDOWS_BUILD_LABEL } from '../../../nodes/windowsVersions.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import type { Taint } from '../../../ports/nodes.ts';
import { ownTemplateIn } from '../launchTemplate/ownTemplate.ts';
import type { ScalingTagChange } from '../model/changes.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf } from '../observation/knownGroups.ts';
import { isOwnedBy } from './desiredNodeGroup.ts';

/** The tag for the number of pod addresses of a node. */
const ADDRESSES = `resources/${POD_ADDRESSES}`;

/**
 * The tag for the disk size of a node: without it, pods that request ephemeral storage fit no new node. It is set when missing, and never
 * changed or removed: users set it themselves to the allocatable size, and its owner cannot be determined. Only the size of a former version of the
 * operator's launch template is known to be the operator's.
 */
const STORAGE = 'resources/ephemeral-storage';

const OS = 'label/kubernetes.io/os';
const ARCHITECTURE = 'label/kubernetes.io/arch';
const BUILD = `label/${WINDOWS_BUILD_LABEL}`;

/** Tags that every pool can have: they are known to be the operator's without a record in status. */
const STANDING: readonly string[] = [
  OS,
  ARCHITECTURE,
  BUILD,
  ADDRESSES,
  `label/${POOL_KEY}`,
  `label/${EXPECTED_BUILD_LABEL}`,
  `taint/${REGISTRATION_TAINT.key}`,
  `taint/${GATE_TAINT_KEY}`,
];

/**
 * AWS allows 50 tags on a scaling group. Five are those of EKS, and others may have some. For labels and taints beyond this limit, the
 * autoscaler calls DescribeNodegroup if it is permitted to, so they come last.
 */
const MOST_TAGS = 40;

/**
 * The tags that describe a new node of the group, by short key. Labels and taints are those that the group has, not those of the spec: with
 * desired values that are not applied yet, the autoscaler would start nodes that do not fit.
 */
export function autoscalerTags(
  pool: WindowsPool,
  group: NodeGroup,
  podAddresses: number | undefined,
): ReadonlyMap<string, string> {
  const tags: (readonly [string, string])[] = [
    [OS, 'windows'],
    [ARCHITECTURE, 'amd64'],
    [BUILD, buildOf(pool.spec.windowsVersion)],
    ...(podAddresses === undefined ? [] : [[ADDRESSES, String(podAddresses)] as const]),
    ...storageOf(group),
    ...[...strongest(group.taints)].map(
      ([key, { value = '', effect }]) => [`taint/${key}`, `${value}:${effect}`] as const,
    ),
    ...Object.entries(group.labels)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [`label/${key}`, value] as const),
  ];
  return new Map(tags.slice(0, MOST_TAGS));
}

function storageOf({ diskSizeGiB, launchSettings }: NodeGroup): (readonly [string, string])[] {
  const size = diskSizeGiB ?? launchSettings?.['disk.sizeGiB'];
  return size === undefined ? [] : [[STORAGE, `${size}Gi`]];
}

/**
 * One taint per key, because a tag has one value: the one with the strongest effect. Gate taints without the prefix of a startup taint are
 * left out, because the autoscaler would conclude that no pod ever fits.
 */
function strongest(taints: readonly Taint[]): ReadonlyMap<string, Taint> {
  const order = ['PreferNoSchedule', 'NoSchedule', 'NoExecute'];
  return new Map(
    taints
      .filter((taint) => taint.key !== PLAIN_GATE_TAINT_KEY && !isReadinessTaint(taint))
      .sort((a, b) => order.indexOf(a.effect) - order.indexOf(b.effect) || (a.key < b.key ? -1 : 1))
      .map((taint) => [taint.key, taint]),
  );
}

/** The changes for each scaling group that was read. Only tags that the operator has set are removed. */
export function scalingTagChanges(s: EksState): ScalingTagChange[] {
  const group = groupOf(s);
  if (!s.autoscaler || !group || !isOwnedBy(s.pool, group)) return [];
  const { podAddresses } = s.autoscaler;
  const wanted = autoscalerTags(s.pool, group, podAddresses);
  // When the number of addresses is unknown, the existing tag stays.
  const dropped = ownTags(s.pool).filter(
    (key) => !wanted.has(key) && (key !== ADDRESSES || podAddresses !== undefined),
  );
  const formerSizes = formerSizesOf(s);
  return Object.entries(s.autoscaler.tags).flatMap(([scalingGroup, found]) => {
    const differing = [...wanted].filter(
      ([key, value]) =>
        found[PREFIX + key] !== value &&
        !(key === STORAGE && PREFIX + key in found && !formerSizes.includes(found[PREFIX + key] ?? '')),
    );
    const remove = dropped.map((key) => PREFIX + key).filter((key) => key in found);
    const set = Object.fromEntries(differing.map(([key, value]) => [PREFIX + key, value]));
    return differing.length + remove.length > 0 ? [{ scalingGroup, set, remove }] : [];
  });
}

/** The sizes of the disk in the versions of the operator's launch template. */
function formerSizesOf(s: EksState): string[] {
  return ownTemplateIn(s)?.versions.map(({ launchSettings }) => `${launchSettings.disk.sizeGiB}Gi`) ?? [];
}

/** The short keys of all tags that the operator owns. */
function ownTags(pool: WindowsPool): string[] {
  return [...STANDING, ...rememberedTags(pool)].sort();
}

/** Whether a tag is for a label or a taint of the user, so that it is removed with it. */
function isRemembered(key: string): boolean {
  return key !== STORAGE && !STANDING.includes(key);
}

/** The short keys of the tags that the operator has set, or may have set, for labels and taints of the user. */
export function rememberedTags({ status }: WindowsPool): readonly string[] {
  return status?.tracking?.scalingTags ?? [];
}

/** The remembered keys with those of a change that is about to be sent. */
export function withScalingTags(remembered: readonly string[], change: ScalingTagChange): string[] {
  const set = Object.keys(change.set)
    .map((key) => key.slice(PREFIX.length))
    .filter(isRemembered);
  return [...new Set([...remembered, ...set])].sort();
}

/**
 * The keys to remember after a read: the tags that describe a node of the group now, and former ones until they are observed to be gone. For
 * a group that is being created, they are remembered before its scaling groups exist.
 */
export function nextScalingTags(s: EksState): readonly string[] | undefined {
  const group = groupOf(s);
  const before = rememberedTags(s.pool);
  const isKnown = s.autoscaler !== undefined || group?.status === 'CREATING';
  if (!isKnown || !group || !isOwnedBy(s.pool, group)) return before.length > 0 ? before : undefined;
  const wanted = autoscalerTags(s.pool, group, s.autoscaler?.podAddresses);
  const found = s.autoscaler && Object.values(s.autoscaler.tags);
  const exists = (key: string) => found?.some((tags) => PREFIX + key in tags) ?? true;
  const own = [...new Set([...wanted.keys(), ...before.filter(exists)])].filter(isRemembered).sort();
  return own.length > 0 ? own : undefined;
}

/** Removes all tags of the operator from the scaling groups of a group that is retained. */
export function retainTagChanges(pool: WindowsPool, group: NodeGroup): ScalingTagChange[] {
  const remove = ownTags(pool).map((key) => PREFIX + key);
  return group.autoScalingGroups.map((scalingGroup) => ({ scalingGroup, set: {}, remove }));
}

/** The tags of a scaling group after a change. */
export function changedTags(
  found: Readonly<Record<string, string>>,
  { set, remove }: ScalingTagChange,
): Readonly<Record<string, string>> {
  return { ...Object.fromEntries(Object.entries(found).filter(([key]) => !remove.includes(key))), ...set };
}
