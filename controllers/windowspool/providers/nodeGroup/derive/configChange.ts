/** The smallest UpdateNodegroupConfig, and the smallest change of tags, that bring a node group to its desired state. Pure. */
import type { WindowsPool } from '../../../api/api.gen.ts';
import type { ConfigChange, NodeGroup, Scaling } from '../../../ports/eks.ts';
import { scalingIn } from '../../../rules/nodeSource.ts';
import { DESIRED, labelField, tagField, taintField, updateField, WARM_POOL } from '../changes/appliedFields.ts';
import { appliedOf } from '../changes/appliedRecord.ts';
import { configTargetOf, fieldsOfChange } from '../changes/groupChanges.ts';
import { keptTags, labelsFor, taintsFor, updateOf, warmPoolOf } from '../desired/desiredNodeGroup.ts';
import type { Difference, TagChange } from '../model/changes.ts';
import type { GroupDifferences, OpenConfig } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf } from '../observation/knownGroups.ts';

/** The change of the settings that is due, as far as the group is known; undefined when there is none. */
export function openConfigOf(s: EksState, { toCorrect }: GroupDifferences): OpenConfig | undefined {
  const group = groupOf(s);
  const change = group && configChangeFor(s.pool, group, fieldsIn(toCorrect));
  return change && { change, target: configTargetOf(s.pool, change) };
}

/**
 * The part of it that must be sent before a version update, if one is due: that would replace more nodes at a time than the spec now allows.
 */
export function preparationIn({ pool }: EksState, { change: { update } }: OpenConfig): OpenConfig | undefined {
  return update && { change: { update }, target: configTargetOf(pool, { update }) };
}

/** The smallest UpdateNodegroupConfig that corrects the fields that the operator owns; undefined when there is nothing to do. */
function configChangeFor(pool: WindowsPool, seen: NodeGroup, corrected: FieldNames): ConfigChange | undefined {
  const labels = labelChange(pool, seen, corrected);
  const taints = taintChange(pool, seen, corrected);
  const scaling = scalingChange(pool, seen, corrected);
  const update = updateChange(pool, corrected);
  const warmPool = warmPoolChange(pool, corrected);
  if (!labels && !taints && !scaling && !update && !warmPool) return undefined;
  return {
    ...(labels && { labels }),
    ...(taints && { taints }),
    ...(scaling && { scaling }),
    ...(update && { update }),
    ...(warmPool && { warmPool }),
  };
}

type FieldNames = ReadonlySet<string>;

function fieldsIn(differences: readonly Difference[]): FieldNames {
  return new Set(differences.map(({ field }) => field));
}

function labelChange(pool: WindowsPool, seen: NodeGroup, corrected: FieldNames): ConfigChange['labels'] {
  const wanted = labelsFor(pool);
  const set = Object.fromEntries(Object.entries(wanted).filter(([key]) => corrected.has(labelField(key))));
  const remove = Object.keys(seen.labels).filter((key) => !(key in wanted) && corrected.has(labelField(key)));
  return Object.keys(set).length > 0 || remove.length > 0 ? { set, remove } : undefined;
}

function taintChange(pool: WindowsPool, seen: NodeGroup, corrected: FieldNames): ConfigChange['taints'] {
  const wanted = taintsFor(pool);
  const kept = new Set(wanted.map(taintField));
  const set = wanted.filter((taint) => corrected.has(taintField(taint)));
  const remove = seen.taints.filter((taint) => !kept.has(taintField(taint)) && corrected.has(taintField(taint)));
  return set.length > 0 || remove.length > 0 ? { set, remove } : undefined;
}

/** All settings of the spec when one differs: whether EKS keeps those that are not sent is not documented. */
function updateChange({ spec }: WindowsPool, corrected: FieldNames): ConfigChange['update'] {
  const { update = {} } = updateOf(spec);
  return Object.keys(update).some((setting) => corrected.has(updateField(setting))) ? update : undefined;
}

/** All settings when one differs, for the same reason. A warm pool that the spec no longer has is removed if the spec once had it. */
function warmPoolChange({ spec }: WindowsPool, corrected: FieldNames): ConfigChange['warmPool'] {
  return corrected.has(WARM_POOL) ? (warmPoolOf(spec).warmPool ?? 'Removed') : undefined;
}

/**
 * Min and max follow the spec. The autoscaler owns the desired size: it is sent when the user has changed it since it was last sent, and
 * when it is outside the new bounds, which EKS refuses.
 */
function scalingChange(pool: WindowsPool, { scaling: seen }: NodeGroup, corrected: FieldNames) {
  const asked = changedDesired(pool);
  // A size is sent with the bounds that it was validated against.
  if (!corrected.has('scaling') && asked === undefined) return undefined;
  const { minSize: min, maxSize: max } = scalingIn(pool.spec);
  const desired = asked ?? Math.min(Math.max(seen.desiredSize, min), max);
  const change: Partial<Scaling> = {
    ...(min !== seen.minSize && { minSize: min }),
    ...(max !== seen.maxSize && { maxSize: max }),
    ...(desired !== seen.desiredSize && { desiredSize: desired }),
  };
  return Object.keys(change).length > 0 ? change : undefined;
}

/** The spec's desired size when the user has changed it since it was last sent; undefined without a record in status. */
function changedDesired(pool: WindowsPool): number | undefined {
  const { desiredSize: desired } = scalingIn(pool.spec);
  const applied = appliedOf(pool);
  if (desired === undefined || !applied) return undefined;
  // Another size may have been sent just before a crash, so the size is sent again.
  if (applied.has(DESIRED)) return desired;
  return pool.status?.tracking?.lastAppliedDesiredSize === desired ? undefined : desired;
}

/**
 * Whether a correction by the operator's last update has been reverted as soon as that update ended: another controller edits the group too.
 * Correcting it again waits for the next read, or both would write forever.
 */
export function isUndone(
  { pool, group, update }: EksState,
  { all }: GroupDifferences,
  { change, target }: OpenConfig,
): boolean {
  const last = pool.status?.nodeGroup?.update;
  if (group.kind !== 'seen' || update?.status !== 'Successful' || update.id !== last?.id) return false;
  if (target !== last.target) return false;
  const edited = fieldsIn(all.filter(({ isDrift }) => isDrift));
  return fieldsOfChange(pool, change).every((field) => edited.has(field));
}

/** The tags to set and to remove. Tags that were never in the pool's spec are not changed: other tools tag node groups too. */
export function openTagsOf(s: EksState, { toCorrect }: GroupDifferences): TagChange | undefined {
  const seen = groupOf(s);
  if (!seen) return undefined;
  const corrected = fieldsIn(toCorrect);
  const wanted = keptTags(s.pool);
  const set = Object.fromEntries(Object.entries(wanted).filter(([key]) => corrected.has(tagField(key))));
  const remove = Object.keys(seen.tags).filter((key) => !(key in wanted) && corrected.has(tagField(key)));
  return Object.keys(set).length > 0 || remove.length > 0 ? { set, remove } : undefined;
}
