/** What follows from the adoption of a node group that the pool did not create (`nodeGroup.adoption`). */

import type { WindowsPool } from '../../../api/api.gen.ts';
import { ADOPTABLE_BY, POOL_KEY } from '../../../api/labels.ts';
import type { Step } from '../../../model/steps.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { shellWord } from '../../../util/words.ts';
import type { EksState } from '../model/groupState.ts';
import { statusWith } from '../reporting/writeAheadStatus.ts';

/** The tag that marks a group as owned by the pool. */
export function ownershipTag({ metadata }: WindowsPool): Readonly<Record<typeof POOL_KEY, string>> {
  return { [POOL_KEY]: metadata.name };
}

/** The flag of the operator with which its administrator permits adoption. */
export const ADOPTION_FLAG = '--enable-node-group-adoption';

/** The command that lets the pool adopt the group. */
export function adoptionTagCommand({ metadata }: WindowsPool, { arn }: Pick<NodeGroup, 'arn'>): string {
  return `aws eks tag-resource --resource-arn ${shellWord(arn)} --tags ${ADOPTABLE_BY}=${metadata.name}`;
}

/** The observed state after these steps, an adoption among them: it shows which steps follow. */
export function afterAdoption(s: EksState, steps: readonly Step[]): EksState {
  const ahead = steps.find((step) => step.kind === 'writeAhead')?.ahead;
  const status = ahead ? statusWith(s.pool.status, ahead) : s.pool.status;
  const pool = status ? { ...s.pool, status } : s.pool;
  if (s.group.kind !== 'seen') return s;
  const { group } = s.group;
  return { ...s, pool, group: { kind: 'seen', group: { ...group, tags: { ...group.tags, ...ownershipTag(pool) } } } };
}
