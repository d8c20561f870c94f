/** Whether another group has to replace the main one. Pure. */

import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { acceptsUpdates } from '../desired/desiredNodeGroup.ts';
import type { GroupDifferences } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { ownedGroup } from '../observation/knownGroups.ts';
import { replacementIn } from '../secondGroup/secondGroup.ts';

/** The differences for which another group has to replace the main one; empty when the spec refuses that, and while a replacement is in progress. */
export function replacementDue(s: EksState, { unchangeable }: GroupDifferences): readonly string[] {
  const group = ownedGroup(s.pool, s.group);
  if (!group || replacementIn(s.pool) || s.second || nodeGroupIn(s.pool.spec).immutableChangePolicy !== 'Replace')
    return [];
  return acceptsUpdates(group) ? unchangeable : [];
}
