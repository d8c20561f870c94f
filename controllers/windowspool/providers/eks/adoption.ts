/** Whether a pool adopts a node group that it did not create (`nodeGroup.adoption`). */

import type { WindowsPool } from '../../api.gen.ts';
import { ADOPTABLE_TAG, POOL_KEY } from '../../labels.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Step } from '../../model/steps.ts';
import { nodeGroupIn } from '../../nodeSource.ts';
import { amiTypeOf } from '../../nodes/windows.ts';
import { CUSTOM, type NodeGroup } from '../../ports/eks.ts';
import { remembering } from './applied.ts';
import { isCustom } from './machine/machine.ts';
import { isMadeFromOwn } from './machine/machineTemplate.ts';
import { acceptsUpdates } from './nodeGroup.ts';

/** Whether a group can be adopted. `refused`: `why` is the rest of a sentence about the group, and `fix` tells what permits the adoption. */
export type Adoption =
  | { readonly kind: 'take' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'refused'; readonly why: string; readonly fix?: string };

/** Decides whether a group that the pool does not own is adopted. Adoption only sets a tag, but the group must be complete and idle. */
export function adoptionOf(s: Pick<ObservedState, 'pool' | 'settings'>, group: NodeGroup): Adoption {
  const { spec } = s.pool;
  const { tags, status, amiType } = group;
  if (nodeGroupIn(spec).adoption !== 'IfUnowned' || tags[POOL_KEY] !== undefined) return { kind: 'forbidden' };
  const fitting = (['Core', 'Full'] as const).map((edition) => amiTypeOf(spec.windowsVersion, edition));
  // A custom AMI may be one of Linux, unless the operator itself has put it into the launch template of the group.
  const isOwnCustom = amiType === CUSTOM && isCustom(spec) && isMadeFromOwn(s.pool, group);
  if (!isOwnCustom && !fitting.includes(amiType)) {
    const why = `its AMI type is ${amiType || 'unknown'}, but windowsVersion ${spec.windowsVersion} requires ${fitting.join(' or ')}`;
    return { kind: 'refused', why };
  }
  // A group that failed to create is deleted and recreated, which is for its owner to decide.
  if (status.endsWith('_FAILED')) return { kind: 'refused', why: `it is ${status}` };
  const missing = missingPermission(s, group);
  if (missing) return { kind: 'refused', ...missing };
  return { kind: acceptsUpdates(group) ? 'take' : 'wait' };
}

/**
 * What an adoption lacks; undefined if it is permitted. Users who can edit pools must not get a node group by that alone: the administrator of the
 * operator permits adoption, and an administrator in AWS names the pool.
 */
function missingPermission({ pool, settings }: Pick<ObservedState, 'pool' | 'settings'>, { tags }: NodeGroup) {
  const { name } = pool.metadata;
  const named = tags[ADOPTABLE_TAG];
  if (named === undefined)
    return { why: `it does not have the tag ${ADOPTABLE_TAG}=${name}`, fix: 'set that tag on it' };
  if (named !== name) return { why: `it has the tag ${ADOPTABLE_TAG}=${named}`, fix: `change the value to ${name}` };
  if (settings.enableNodeGroupAdoption) return undefined;
  return { why: `the operator runs without ${ADOPTION_FLAG}`, fix: 'set that flag' };
}

const ADOPTION_FLAG = '--enable-node-group-adoption';

/** The tag that marks a group as owned by the pool. */
export function ownershipTag({ metadata }: WindowsPool): Readonly<Record<typeof POOL_KEY, string>> {
  return { [POOL_KEY]: metadata.name };
}

/** The observed state after these steps, an adoption among them: it shows which steps follow. */
export function afterAdoption(s: ObservedState, steps: readonly Step[]): ObservedState {
  const memory = steps.find((step) => step.kind === 'remember')?.memory;
  const status = memory ? remembering(s.pool.status, memory) : s.pool.status;
  const pool = status ? { ...s.pool, status } : s.pool;
  if (s.group.kind !== 'seen') return s;
  const { group } = s.group;
  return { ...s, pool, group: { kind: 'seen', group: { ...group, tags: { ...group.tags, ...ownershipTag(pool) } } } };
}
