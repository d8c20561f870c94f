/** Whether another group has to replace the main one. Pure. */

import { nodeGroupIn } from '../../../nodeSource.ts';
import { ownedGroup } from '../groups.ts';
import type { GroupDifferences } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { acceptsUpdates } from '../nodeGroup.ts';
import { formerIn } from '../replacement/replacement.ts';

/** The differences for which another group has to replace the main one; empty when the spec refuses that, and while a replacement is in progress. */
export function replacementDue(s: EksState, { unchangeable }: GroupDifferences): readonly string[] {
  const group = ownedGroup(s.pool, s.group);
  if (!group || formerIn(s.pool) || s.former || nodeGroupIn(s.pool.spec).immutableChangePolicy !== 'Replace') return [];
  return acceptsUpdates(group) ? unchangeable : [];
}
