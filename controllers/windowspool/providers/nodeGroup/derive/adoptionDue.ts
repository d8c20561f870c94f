/** Whether a pool adopts a node group that it did not create (`nodeGroup.adoption`). Pure. */
import { ADOPTABLE_BY, POOL_KEY } from '../../../api/labels.ts';
import { amiTypeOf } from '../../../nodes/windowsVersions.ts';
import { CUSTOM, type NodeGroup } from '../../../ports/eks.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { ADOPTION_FLAG, adoptionTagCommand } from '../desired/adoption.ts';
import { acceptsUpdates, isOwnedBy } from '../desired/desiredNodeGroup.ts';
import { isCustom } from '../launchTemplate/launchSettings.ts';
import { isMadeFromOwn } from '../launchTemplate/ownTemplate.ts';
import type { Adoption } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf } from '../observation/knownGroups.ts';

/** Whether the pool adopts the group; undefined if it owns it, or none is known. */
export function adoptionIn(s: EksState): Adoption | undefined {
  const group = groupOf(s);
  return group && !isOwnedBy(s.pool, group) ? adoptionOf(s, group) : undefined;
}

/** Decides whether a group that the pool does not own is adopted. Adoption only sets a tag, but the group must be complete and idle. */
function adoptionOf(s: EksState, group: NodeGroup): Adoption {
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
function missingPermission({ pool, settings }: EksState, group: NodeGroup) {
  const { name } = pool.metadata;
  const named = group.tags[ADOPTABLE_BY];
  if (named !== name) {
    const why = named === undefined ? `does not have the tag ${ADOPTABLE_BY}` : `has the tag ${ADOPTABLE_BY}=${named}`;
    return { why: `it ${why}`, fix: `tag it with the pool's name: ${adoptionTagCommand(pool, group)}` };
  }
  if (settings.enableNodeGroupAdoption) return undefined;
  return { why: `the operator runs without ${ADOPTION_FLAG}`, fix: 'set that flag.' };
}
