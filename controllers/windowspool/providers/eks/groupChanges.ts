/** The smallest calls that lead from a node group to the spec. */

import type { WindowsPool } from '../../api.gen.ts';
import type { TagChange } from '../../model/changes.ts';
import type { ObservedState } from '../../model/observedState.ts';
import { scalingIn } from '../../nodeSource.ts';
import type { ConfigChange, NodeGroup, Scaling } from '../../ports/eks.ts';
import { hashOf } from '../../util/hash.ts';
import { appliedOf, DESIRED, labelField, tagField, taintField, updateField } from './applied.ts';
import { differencesOf, differencesToMend } from './differences.ts';
import { desiredNodeGroup, keptTags, labelsFor, taintsFor, updateOf } from './nodeGroup.ts';

/**
 * What an update sends and what it is to reach, as a hash: a failed one is not repeated while this stays the same. An autoscaler that
 * moves the group meanwhile makes it another update.
 */
export function configTargetOf(pool: WindowsPool, change: ConfigChange): string {
  const desired = desiredNodeGroup(pool);
  return hashOf({ labels: desired.labels, taints: desired.taints, scaling: scalingIn(pool.spec), change });
}

/** The smallest UpdateNodegroupConfig that puts right what is the operator's to put right, undefined when there is nothing to do. */
export function configChangeFor(pool: WindowsPool, seen: NodeGroup): ConfigChange | undefined {
  const mended = fieldsToMend(pool, seen);
  const labels = labelChange(pool, seen, mended);
  const taints = taintChange(pool, seen, mended);
  const scaling = scalingChange(pool, seen, mended);
  const update = updateChange(pool, mended);
  if (!labels && !taints && !scaling && !update) return undefined;
  return {
    ...(labels && { labels }),
    ...(taints && { taints }),
    ...(scaling && { scaling }),
    ...(update && { update }),
  };
}

type FieldNames = ReadonlySet<string>;

function fieldsToMend(pool: WindowsPool, seen: NodeGroup): FieldNames {
  return new Set(differencesToMend(pool, seen).map(({ field }) => field));
}

function labelChange(pool: WindowsPool, seen: NodeGroup, mended: FieldNames): ConfigChange['labels'] {
  const wanted = labelsFor(pool);
  const set = Object.fromEntries(Object.entries(wanted).filter(([key]) => mended.has(labelField(key))));
  const remove = Object.keys(seen.labels).filter((key) => !(key in wanted) && mended.has(labelField(key)));
  return Object.keys(set).length > 0 || remove.length > 0 ? { set, remove } : undefined;
}

function taintChange(pool: WindowsPool, seen: NodeGroup, mended: FieldNames): ConfigChange['taints'] {
  const wanted = taintsFor(pool);
  const kept = new Set(wanted.map(taintField));
  const set = wanted.filter((taint) => mended.has(taintField(taint)));
  const remove = seen.taints.filter((taint) => !kept.has(taintField(taint)) && mended.has(taintField(taint)));
  return set.length > 0 || remove.length > 0 ? { set, remove } : undefined;
}

/** All settings of the spec where one differs: whether EKS would keep the other is not documented. */
function updateChange({ spec }: WindowsPool, mended: FieldNames): ConfigChange['update'] {
  const { update = {} } = updateOf(spec);
  return Object.keys(update).some((setting) => mended.has(updateField(setting))) ? update : undefined;
}

/**
 * Min and max follow the spec. The desired size belongs to the autoscaler: it is sent when the user changed it since it was last
 * sent, and when the new bounds would leave it outside, which EKS refuses.
 */
function scalingChange(pool: WindowsPool, { scaling: seen }: NodeGroup, mended: FieldNames) {
  const asked = changedDesired(pool);
  // A size is sent with the bounds that it was checked against.
  if (!mended.has('scaling') && asked === undefined) return undefined;
  const { min, max } = scalingIn(pool.spec);
  const desired = asked ?? Math.min(Math.max(seen.desired, min), max);
  const change: Partial<Scaling> = {
    ...(min !== seen.min && { min }),
    ...(max !== seen.max && { max }),
    ...(desired !== seen.desired && { desired }),
  };
  return Object.keys(change).length > 0 ? change : undefined;
}

/** The spec's desired size when the user changed it since it was last sent. A lost memory sends nothing. */
function changedDesired(pool: WindowsPool): number | undefined {
  const { desired } = scalingIn(pool.spec);
  const applied = appliedOf(pool);
  if (desired === undefined || !applied) return undefined;
  // Another size may have been sent just before a crash: only sending again makes sure of the last word.
  if (applied.has(DESIRED)) return desired;
  return pool.status?.nodeGroup?.lastAppliedDesired === desired ? undefined : desired;
}

/** The fields that an update changes, to be remembered before it is sent. */
export function fieldsOfChange(pool: WindowsPool, { labels, taints, scaling, update }: ConfigChange): string[] {
  return [
    ...[...Object.keys(labels?.set ?? {}), ...(labels?.remove ?? [])].map(labelField),
    ...[...(taints?.set ?? []), ...(taints?.remove ?? [])].map(taintField),
    ...(scaling?.min !== undefined || scaling?.max !== undefined ? ['scaling'] : []),
    ...(scaling?.desired !== undefined && scaling.desired === scalingIn(pool.spec).desired ? [DESIRED] : []),
    ...Object.keys(update ?? {}).map(updateField),
  ];
}

/**
 * Whether what the operator's own update put right is wrong again as soon as it ended: something else edits the group, too. To put it right
 * at once would go on for ever, so that waits for the next look.
 */
export function isUndone({ pool, group, update }: ObservedState): boolean {
  const last = pool.status?.nodeGroup?.update;
  if (group.kind !== 'seen' || update?.status !== 'Successful' || update.id !== last?.id) return false;
  const change = configChangeFor(pool, group.group);
  if (!change || configTargetOf(pool, change) !== last.target) return false;
  const drift = differencesOf(pool, group.group).filter(({ isDrift }) => isDrift);
  const edited = new Set(drift.map(({ field }) => field));
  return fieldsOfChange(pool, change).every((field) => edited.has(field));
}

/** The tags to write and to remove. Tags that the pool never had in its spec are left alone: other tools tag node groups too. */
export function tagChangeFor(pool: WindowsPool, seen: NodeGroup): TagChange | undefined {
  const mended = fieldsToMend(pool, seen);
  const wanted = keptTags(pool);
  const set = Object.fromEntries(Object.entries(wanted).filter(([key]) => mended.has(tagField(key))));
  const remove = Object.keys(seen.tags).filter((key) => !(key in wanted) && mended.has(tagField(key)));
  return Object.keys(set).length > 0 || remove.length > 0 ? { set, remove } : undefined;
}
