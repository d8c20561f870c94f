/** What the node group shall be, and how it differs from what it is. Only what the spec decides is compared. */
import type { WindowsPool } from './api.gen.ts';
import { hashOf } from './hash.ts';
import { CREATED_FROM_TAG, EXPECTED_BUILD_LABEL, POOL_KEY } from './labels.ts';
import type { ConfigChange, NewNodeGroup, NodeGroup, Scaling, Taint } from './ports.ts';
import { amiTypeOf, buildOf } from './windows.ts';

/** The taint that keeps Linux pods away: https://kubernetes.io/docs/concepts/windows/user-guide/#taints-and-tolerations */
export const REGISTRATION_TAINT: Taint = { key: 'os', value: 'windows', effect: 'NoSchedule' };

/** The group's name in EKS. */
export function nodeGroupNameOf(pool: WindowsPool): string {
  return pool.spec.nodeGroup.name ?? pool.metadata.name;
}

/** What CreateNodegroup is asked for, with everything said: EKS' own defaults have moved over the years. */
export function wishFor(pool: WindowsPool): NewNodeGroup {
  const { spec } = pool;
  const wish = {
    name: nodeGroupNameOf(pool),
    amiType: amiTypeOf(spec.windowsVersion, spec.nodeGroup.edition),
    capacityType: spec.nodeGroup.capacityType,
    instanceTypes: spec.nodeGroup.instanceTypes,
    subnets: spec.nodeGroup.subnets.map((subnet) => subnet.id),
    nodeRoleArn: spec.nodeGroup.nodeRoleArn,
    diskSizeGiB: spec.nodeGroup.diskSizeGiB,
    scaling: { min: spec.scaling.min, max: spec.scaling.max, desired: spec.scaling.desired ?? spec.scaling.min },
    labels: {
      ...spec.labels,
      [POOL_KEY]: pool.metadata.name,
      // Not node.kubernetes.io/windows-build: a label from the group would override what the kubelet measured.
      [EXPECTED_BUILD_LABEL]: buildOf(spec.windowsVersion),
    },
    taints: [...(spec.registrationTaint ? [REGISTRATION_TAINT] : []), ...(spec.taints ?? [])],
  };
  const tags = { ...spec.nodeGroup.tags, [POOL_KEY]: pool.metadata.name };
  return { ...wish, tags: { ...tags, [CREATED_FROM_TAG]: hashOf({ ...wish, tags }) } };
}

/**
 * What an update sends and what it is to reach, as a hash: a failed one is not repeated while this stays the same. An autoscaler that
 * moves the group meanwhile makes it another update.
 */
export function configTargetOf(pool: WindowsPool, change: ConfigChange): string {
  const wish = wishFor(pool);
  return hashOf({ labels: wish.labels, taints: wish.taints, scaling: pool.spec.scaling, change });
}

/**
 * The smallest UpdateNodegroupConfig that leads from the group to the spec, undefined when there is nothing to do.
 * Labels and taints of the group are the operator's alone, so what the spec does not have is removed.
 */
export function configChangeFor(pool: WindowsPool, seen: NodeGroup): ConfigChange | undefined {
  const wish = wishFor(pool);
  const labels = labelChange(wish.labels, seen.labels);
  const taints = taintChange(wish.taints, seen.taints);
  const scaling = scalingChange(pool, seen.scaling);
  if (!labels && !taints && !scaling) return undefined;
  return { ...(labels && { labels }), ...(taints && { taints }), ...(scaling && { scaling }) };
}

function labelChange(wanted: NewNodeGroup['labels'], seen: NodeGroup['labels']): ConfigChange['labels'] {
  const set = Object.fromEntries(Object.entries(wanted).filter(([key, value]) => seen[key] !== value));
  const remove = Object.keys(seen).filter((key) => !(key in wanted));
  return Object.keys(set).length > 0 || remove.length > 0 ? { set, remove } : undefined;
}

function taintChange(wanted: readonly Taint[], seen: readonly Taint[]): ConfigChange['taints'] {
  // EKS keys taints by key and effect; an absent value and an empty one are the same.
  const same = (a: Taint, b: Taint) => a.key === b.key && a.effect === b.effect;
  const equal = (a: Taint, b: Taint) => same(a, b) && (a.value ?? '') === (b.value ?? '');
  const set = wanted.filter((taint) => !seen.some((other) => equal(taint, other)));
  const remove = seen.filter((taint) => !wanted.some((other) => same(taint, other)));
  return set.length > 0 || remove.length > 0 ? { set, remove } : undefined;
}

/**
 * Min and max follow the spec. The desired size belongs to the autoscaler: it is sent when the user changed it since it was last
 * sent, and when the new bounds would leave it outside, which EKS refuses.
 */
function scalingChange(pool: WindowsPool, seen: Scaling): Partial<Scaling> | undefined {
  const { min, max } = pool.spec.scaling;
  const desired = userChangedDesired(pool) ?? Math.min(Math.max(seen.desired, min), max);
  const change = {
    ...(min !== seen.min && { min }),
    ...(max !== seen.max && { max }),
    ...(desired !== seen.desired && { desired }),
  };
  return Object.keys(change).length > 0 ? change : undefined;
}

/** The spec's desired size when the user changed it since it was last sent. A lost memory (no ARN in status) sends nothing. */
function userChangedDesired(pool: WindowsPool): number | undefined {
  const { desired } = pool.spec.scaling;
  const memory = pool.status?.nodeGroup;
  if (desired === undefined || memory?.arn === undefined) return undefined;
  return memory.lastAppliedDesired === desired ? undefined : desired;
}

export interface TagChange {
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}

/**
 * The tags to write and to remove. Tags that the operator did not write (`tagKeys` in status remembers which it did) are left
 * alone: other tools tag node groups too.
 */
export function tagChangeFor(pool: WindowsPool, seen: NodeGroup): TagChange | undefined {
  const wanted = keptTags(pool);
  const set = Object.fromEntries(Object.entries(wanted).filter(([key, value]) => seen.tags[key] !== value));
  const remove = (pool.status?.nodeGroup?.tagKeys ?? []).filter((key) => !(key in wanted) && key in seen.tags);
  return Object.keys(set).length > 0 || remove.length > 0 ? { set, remove } : undefined;
}

/** The tags that are kept up to date. What the group was created from is not: it stays as it was. */
function keptTags(pool: WindowsPool): Readonly<Record<string, string>> {
  return { ...pool.spec.nodeGroup.tags, [POOL_KEY]: pool.metadata.name };
}

/** The keys to remember in status: what the spec has now, and what was the operator's and still has to go. */
export function tagKeysFor(pool: WindowsPool, seen: NodeGroup | undefined): string[] {
  const remembered = pool.status?.nodeGroup?.tagKeys ?? [];
  const leaving = seen ? remembered.filter((key) => key in seen.tags) : [];
  return [...new Set([...Object.keys(keptTags(pool)), ...leaving])].sort();
}

/** Whether the group is this pool's: by its tag, whatever it is called. */
export function isOwnedBy(pool: WindowsPool, group: NodeGroup): boolean {
  return group.tags[POOL_KEY] === pool.metadata.name;
}

/** What differs and can't be changed in place, in words; empty when nothing does. Only a restored or adopted pool gets here. */
export function immutableDifferences(pool: WindowsPool, seen: NodeGroup): string[] {
  const wish = wishFor(pool);
  const pairs: readonly (readonly [string, string, string])[] = [
    ['AMI type', seen.amiType, wish.amiType],
    ['capacity type', seen.capacityType, wish.capacityType],
    ['instance types', seen.instanceTypes.join(', '), wish.instanceTypes.join(', ')],
    ['subnets', [...seen.subnets].sort().join(', '), [...wish.subnets].sort().join(', ')],
    ['node role', seen.nodeRoleArn, wish.nodeRoleArn],
    ['disk size', String(seen.diskSizeGiB ?? wish.diskSizeGiB), String(wish.diskSizeGiB)],
  ];
  return pairs
    .filter(([, found, wanted]) => found !== wanted)
    .map(([what, found, wanted]) => `${what} is ${found} and the spec says ${wanted}`);
}
