/**
 * What the cluster-autoscaler takes the next node of a group for: tags of the group's scaling group. While a group has no node it knows
 * nothing else, and takes the node for Linux. Pure.
 *
 * Keys and values: "Auto-Discovery Setup" and "Scaling a node group to 0" in
 * https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md; how they are read:
 * buildNodeFromTemplate in aws_manager.go and extractTaintsFromAsg in the same folder.
 */
import type { WindowsPool } from '../../api.gen.ts';
import {
  EXPECTED_BUILD_LABEL,
  GATE_TAINT_KEY,
  PLAIN_GATE_TAINT_KEY,
  POOL_KEY,
  AUTOSCALER_PREFIX as PREFIX,
} from '../../labels.ts';
import type { ScalingTagChange } from '../../model/changes.ts';
import type { ObservedState } from '../../model/observedState.ts';
import { REGISTRATION_TAINT } from '../../nodes/nodeTaints.ts';
import { buildOf, POD_ADDRESSES, WINDOWS_BUILD_LABEL } from '../../nodes/windows.ts';
import type { NodeGroup } from '../../ports/eks.ts';
import type { Taint } from '../../ports/nodes.ts';
import { groupOf } from '../../queries.ts';
import { isOwnedBy } from './nodeGroup.ts';

/** The tag by which an empty group says how many pods get an address. */
const ADDRESSES = `resources/${POD_ADDRESSES}`;

/**
 * The tag by which an empty group says how large the disk of a node is: without it, pods that request ephemeral storage fit no new node. It is set
 * where there is none, and never changed or removed: users set it themselves, to what pods can use of the disk, and nobody could tell whose it is.
 */
const STORAGE = 'resources/ephemeral-storage';

const OS = 'label/kubernetes.io/os';
const ARCHITECTURE = 'label/kubernetes.io/arch';
const BUILD = `label/${WINDOWS_BUILD_LABEL}`;

/** The tags that every pool has, or can have: nobody has to remember that they are the operator's. */
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
 * AWS takes 50 tags a scaling group. Five are EKS', and others may have some. What is beyond, the autoscaler reads from EKS itself where it
 * may call DescribeNodegroup: of labels and taints only, so they come last.
 */
const MOST_TAGS = 40;

/**
 * The tags of a new node of the group, by their short keys. Labels and taints are those that the group has, not those that the spec wants:
 * what is not yet true, or is left to people, would make the autoscaler start nodes that do not fit.
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
    ...(group.diskSizeGiB === undefined ? [] : [[STORAGE, `${group.diskSizeGiB}Gi`] as const]),
    ...[...strongest(group.taints)].map(
      ([key, { value = '', effect }]) => [`taint/${key}`, `${value}:${effect}`] as const,
    ),
    ...Object.entries(group.labels)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [`label/${key}`, value] as const),
  ];
  return new Map(tags.slice(0, MOST_TAGS));
}

/**
 * One taint for each key, because a tag has one value: the one that keeps most pods away. A gate without the prefix of a startup taint would look
 * like one that no pod ever passes.
 */
function strongest(taints: readonly Taint[]): ReadonlyMap<string, Taint> {
  const order = ['PreferNoSchedule', 'NoSchedule', 'NoExecute'];
  return new Map(
    taints
      .filter(({ key }) => key !== PLAIN_GATE_TAINT_KEY)
      .sort((a, b) => order.indexOf(a.effect) - order.indexOf(b.effect) || (a.key < b.key ? -1 : 1))
      .map((taint) => [taint.key, taint]),
  );
}

/** What differs on each scaling group that was looked at. Only tags that the operator itself has set are ever taken away. */
export function scalingTagChanges(s: ObservedState): ScalingTagChange[] {
  const group = groupOf(s);
  if (!s.autoscaler || !group || !isOwnedBy(s.pool, group)) return [];
  const { podAddresses } = s.autoscaler;
  const wanted = autoscalerTags(s.pool, group, podAddresses);
  // How many addresses a node has was not found out: what stands there stays.
  const dropped = ownTags(s.pool).filter(
    (key) => !wanted.has(key) && (key !== ADDRESSES || podAddresses !== undefined),
  );
  return Object.entries(s.autoscaler.tags).flatMap(([scalingGroup, found]) => {
    const differing = [...wanted].filter(
      ([key, value]) => found[PREFIX + key] !== value && !(key === STORAGE && PREFIX + key in found),
    );
    const remove = dropped.map((key) => PREFIX + key).filter((key) => key in found);
    const set = Object.fromEntries(differing.map(([key, value]) => [PREFIX + key, value]));
    return differing.length + remove.length > 0 ? [{ scalingGroup, set, remove }] : [];
  });
}

/** The short keys of all tags that are the operator's. */
function ownTags(pool: WindowsPool): string[] {
  return [...STANDING, ...rememberedTags(pool)].sort();
}

/** Whether a tag comes from a label or a taint of the user, so that it goes with them. */
function isRemembered(key: string): boolean {
  return key !== STORAGE && !STANDING.includes(key);
}

/** The short keys of the tags that the operator has set, or may have, for labels and taints of the user. */
export function rememberedTags({ status }: WindowsPool): readonly string[] {
  return status?.nodeGroup?.scalingTags ?? [];
}

/** With the keys of tags that are about to be set. */
export function withScalingTags(remembered: readonly string[], change: ScalingTagChange): string[] {
  const set = Object.keys(change.set)
    .map((key) => key.slice(PREFIX.length))
    .filter(isRemembered);
  return [...new Set([...remembered, ...set])].sort();
}

/**
 * What is remembered after a look: the tags that a node of the group has now, and former ones until they are seen to be gone. Those of a
 * group that is being made are remembered with it.
 */
export function nextScalingTags(s: ObservedState): readonly string[] | undefined {
  const group = groupOf(s);
  const before = rememberedTags(s.pool);
  const isKnown = s.autoscaler !== undefined || group?.status === 'CREATING';
  if (!isKnown || !group || !isOwnedBy(s.pool, group)) return before.length > 0 ? before : undefined;
  const wanted = autoscalerTags(s.pool, group, s.autoscaler?.podAddresses);
  const found = s.autoscaler && Object.values(s.autoscaler.tags);
  const stands = (key: string) => found?.some((tags) => PREFIX + key in tags) ?? true;
  const own = [...new Set([...wanted.keys(), ...before.filter(stands)])].filter(isRemembered).sort();
  return own.length > 0 ? own : undefined;
}

/** Takes all of the operator's tags from the scaling groups of a group that outlives its pool. */
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
