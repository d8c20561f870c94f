/** What the calls that bring a node group to its desired state send. The call that is due is in derive/configChange.ts. */

import type { WindowsPool } from '../../api.gen.ts';
import type { TagChange } from '../../model/changes.ts';
import { scalingIn } from '../../nodeSource.ts';
import type { ConfigChange, NodeGroup } from '../../ports/eks.ts';
import { hashOf } from '../../util/hash.ts';
import { DESIRED, labelField, tagField, taintField, updateField, WARM_POOL } from './applied.ts';
import { differencesToCorrect } from './differences.ts';
import { desiredNodeGroup, keptTags } from './nodeGroup.ts';

/**
 * A hash of what an update sends and what it is to reach: a failed one is not repeated while this stays the same. When an autoscaler resizes
 * the group meanwhile, it is another update.
 */
export function configTargetOf(pool: WindowsPool, change: ConfigChange): string {
  const desired = desiredNodeGroup(pool);
  return hashOf({ labels: desired.labels, taints: desired.taints, scaling: scalingIn(pool.spec), change });
}

/** The fields that an update changes, to be recorded before it is sent. */
export function fieldsOfChange(
  pool: WindowsPool,
  { labels, taints, scaling, update, warmPool }: ConfigChange,
): string[] {
  return [
    ...[...Object.keys(labels?.set ?? {}), ...(labels?.remove ?? [])].map(labelField),
    ...[...(taints?.set ?? []), ...(taints?.remove ?? [])].map(taintField),
    ...(scaling?.minSize !== undefined || scaling?.maxSize !== undefined ? ['scaling'] : []),
    ...(scaling?.desiredSize !== undefined && scaling.desiredSize === scalingIn(pool.spec).desiredSize
      ? [DESIRED]
      : []),
    ...Object.keys(update ?? {}).map(updateField),
    ...(warmPool ? [WARM_POOL] : []),
  ];
}

/** The tags to set and to remove. Tags that were never in the pool's spec are not changed: other tools tag node groups too. */
export function tagChangeFor(pool: WindowsPool, seen: NodeGroup): TagChange | undefined {
  const corrected = fieldsToCorrect(pool, seen);
  const wanted = keptTags(pool);
  const set = Object.fromEntries(Object.entries(wanted).filter(([key]) => corrected.has(tagField(key))));
  const remove = Object.keys(seen.tags).filter((key) => !(key in wanted) && corrected.has(tagField(key)));
  return Object.keys(set).length > 0 || remove.length > 0 ? { set, remove } : undefined;
}

/** The fields that an update or a change of the tags corrects. */
export function fieldsToCorrect(pool: WindowsPool, seen: NodeGroup): ReadonlySet<string> {
  return new Set(differencesToCorrect(pool, seen).map(({ field }) => field));
}
