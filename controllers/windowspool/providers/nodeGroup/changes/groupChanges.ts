/** What an update of the settings of a node group sends. The one that is due is found in derive/configChange.ts. */

import type { WindowsPool } from '../../../api/api.gen.ts';
import type { ConfigChange } from '../../../ports/eks.ts';
import { scalingIn } from '../../../rules/nodeSource.ts';
import { hashOf } from '../../../util/hash.ts';
import { desiredNodeGroup } from '../desired/desiredNodeGroup.ts';
import { DESIRED, labelField, taintField, updateField, WARM_POOL } from './appliedFields.ts';

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
