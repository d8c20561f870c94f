/** Rules for the replacement of a node group. */
import type { SecondNodeGroup } from '../../../api/api.gen.ts';
import type { RuleResult } from '../../../model/decisions.ts';
import type { Step } from '../../../model/steps.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { nodeGroupIn, scalingIn } from '../../../rules/nodeSource.ts';
import { waitFor, waitMeanwhile } from '../../../rules/ruleChains.ts';
import { timeOf } from '../../../util/durations.ts';
import { joined } from '../../../util/words.ts';
import { DESIRED, desiredFields } from '../changes/appliedFields.ts';
import { retryCommand } from '../changes/describeFailedChanges.ts';
import { configTargetOf } from '../changes/groupChanges.ts';
import { immutableDifferences, isOwnedBy, nodeGroupNameOf, secondNameOf } from '../desired/desiredNodeGroup.ts';
import { resolvedSubnets } from '../desired/subnets.ts';
import { tokenFor, waitForPrerequisites } from '../groupRules.ts';
import { isTemplateKnown } from '../launchTemplate/desiredLaunchSettings.ts';
import { followsImage, selectedImage } from '../launchTemplate/image.ts';
import { isTemplateDeleted } from '../launchTemplate/ownTemplate.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf, ownedGroup } from '../observation/knownGroups.ts';
import { writeAheadRecordFor } from '../reporting/writeAheadStatus.ts';
import { factsOf } from './phases.ts';
import { canBeReplaced, neededToDrain, newRecord, replacementIn, secondGroup, secondIn } from './secondGroup.ts';

/**
 * Ensures that a pool whose status was lost finds its groups again, whichever of the two names they have: a group that it did not find would be
 * created a second time.
 */
export function recallNodeGroups(s: EksDerived): RuleResult | Step[] | undefined {
  const { pool, group } = s;
  const second = ownedGroup(pool, s.second);
  if (!second || secondIn(pool)) return undefined;
  const main = ownedGroup(pool, group);
  const isOutdated = main && (s.due.differences.immutable.length > 0 || isTemplateDeleted(s, main));
  // Until the launch template is read, it is not known which of the groups replaces the other one.
  if (main && isOutdated === undefined) return waitFor('AWSUnavailable', 'read', { progress: true });
  if (main && !isOutdated) {
    const text = `continue to replace node group ${second.name} with ${main.name}`;
    return switched(s, { name: main.name, replacement: recalled(second), text, keepsMain: true });
  }
  const text = `use node group ${second.name}, which belongs to the pool`;
  return switched(s, { name: second.name, replacement: main && recalled(main), text });

  // Which of them has served the pool is not known any more: neither group is deleted without a drain.
  function recalled(old: NodeGroup) {
    return newRecord(old, 'Returning', s.now);
  }
}

/** Ensures that the second group becomes the main one again as soon as the spec describes it again. The other one becomes the second group. */
export function revertReplacement(s: EksDerived): Step[] | undefined {
  const { pool, group } = s;
  const second = ownedGroup(pool, s.second);
  const record = replacementIn(pool);
  if (!second || !record) return undefined;
  if (['CREATING', 'CREATE_FAILED', 'DELETING', 'DELETE_FAILED'].includes(second.status)) return undefined;
  const main = group.kind === 'seen' ? group.group : undefined;
  const isMainOwned = main && isOwnedBy(pool, main);
  if (isMainOwned && s.due.differences.immutable.length === 0) return undefined;
  // Without its launch template, it gets none of the settings.
  if (immutableDifferences(pool, second).length > 0 || isTemplateDeleted(s, second) !== false) return undefined;
  const text = `return to node group ${second.name}, which matches the spec again`;
  // A main group that was not found may have been created a moment ago: it is forgotten when EKS has not had it for a time.
  const left = main ? isMainOwned && main : { name: nodeGroupNameOf(pool) };
  const replacement = left ? newRecord(left, factsOf(record).whenReverted, s.now) : undefined;
  return switched(s, { name: second.name, replacement, text });
}

/**
 * Ensures that there is never a third group: if the spec changes once more before the main group has served, that group is deleted and created
 * again. If it has, the second group goes first.
 */
export function discardOutdatedGroup(s: EksDerived): Step[] | undefined {
  const { pool, group } = s;
  const record = replacementIn(pool);
  const second = secondGroup(s);
  if (!record || factsOf(record).served !== 'second' || !second) return undefined;
  if (group.kind !== 'seen' || s.due.differences.immutable.length === 0) return undefined;
  // A record with swapped names must not delete the group that serves: EKS knows which of them was there first.
  if (group.group.createdAt <= second.createdAt) return undefined;
  const why = `it does not match the spec, and node group ${record.name} serves the pool`;
  return [{ kind: 'deleteNodeGroup', group: group.group.name, why }];
}

/** Ensures that a group that EKS cannot change stays unless the spec allows its replacement. What EKS can change is not delayed. */
export function keepUnchangeableGroup(s: EksDerived): RuleResult | undefined {
  const isKept = s.due.differences.immutable.length > 0 && !canBeReplaced(s.pool);
  return isKept ? waitMeanwhile('ImmutableDifference', 'watch') : undefined;
}

/** Ensures that a group that was rolled back is not replaced by one with the version or release that it left: EKS creates groups with the newest. */
export function waitForRollback(s: EksDerived): RuleResult | undefined {
  const { replacement, rollback } = s.due;
  const { kubernetesVersion, releaseVersion } = nodeGroupIn(s.pool.spec);
  if (replacement.length === 0 || !rollback || releaseVersion) return undefined;
  const { record, until, heldRelease } = rollback;
  const isWithinMinor = until === undefined;
  if (isWithinMinor ? heldRelease === undefined : kubernetesVersion !== undefined) return undefined;
  const when = isWithinMinor
    ? `a release after ${heldRelease} exists`
    : `the cluster has returned to Kubernetes ${groupOf(s)?.kubernetesVersion}, or at ${timeOf(until)}`;
  const field = isWithinMinor ? 'releaseVersion' : 'kubernetesVersion';
  const message = `It was rolled back from AMI release ${record.from}, which a new node group would undo. The new one is created when ${when}. To create it now, set nodeGroup.${field}, or run: ${retryCommand(s.pool)}`;
  return waitMeanwhile('ImmutableDifference', 'read', { message });
}

/** Ensures that a group that EKS cannot change is replaced by a new one, once no prerequisite of that is known to be missing. */
export function replaceChangedGroup(s: EksDerived): RuleResult | Step[] | undefined {
  const { replacement: differences } = s.due;
  if (differences.length === 0 || s.group.kind !== 'seen') return undefined;
  // The chains that follow keep the group as the spec says in all other fields.
  const blocked = waitForPrerequisites(s);
  if (blocked) return { ...blocked, continues: true };
  if (!s.prerequisites?.complete || !isKnownToCreate(s)) {
    const message = 'A new node group replaces it when AWS has answered what the new group depends on.';
    return waitMeanwhile('ImmutableDifference', 'read', { message, progress: true });
  }
  const { group } = s.group;
  const name = secondNameOf(s.pool);
  const text = `replace node group ${group.name} with ${name}: ${joined(differences)}`;
  return switched(s, { name, replacement: newRecord(group, 'Creating', s.now), text, isNew: true });
}

/** Whether AWS has answered everything that the creation of a group would wait for: until then, the existing one is kept up to date. */
function isKnownToCreate(s: EksState): boolean {
  const { spec } = s.pool;
  const isImageKnown = !followsImage(spec) || selectedImage(spec, s.prerequisites) !== undefined;
  return isTemplateKnown(s) && isImageKnown && resolvedSubnets(spec, s.prerequisites) !== undefined;
}

interface Switch {
  /** The name of the main group from now on. */
  readonly name: string;
  /** The record of the second group; undefined: the pool has none. */
  readonly replacement: SecondNodeGroup | undefined;
  readonly text: string;
  /** Whether the main group does not exist yet. */
  readonly isNew?: true;
  /** Whether the main group stays the same, and only the record is restored. */
  readonly keepsMain?: true;
}

/** The step that switches the names of the two groups in status. Nothing in AWS changes. */
function switched(s: EksState, { name, replacement, text, isNew, keepsMain }: Switch): Step[] {
  const { pool } = s;
  const { desiredSize } = scalingIn(pool.spec);
  const ahead = writeAheadRecordFor(s, {
    nodeGroupName: name,
    // What the main group has is unknown until it is read: the values of the spec are sent again.
    initial: {
      applied: isNew ? [] : (pool.status?.tracking?.secondApplied ?? []),
      desired: desiredSize,
    },
    sending: [...desiredFields(pool).keys(), ...(isNew || desiredSize === undefined ? [] : [DESIRED])],
    isSwitched: true,
    ...(replacement && { second: { replacement } }),
  });
  return ahead ? [{ kind: 'switchNodeGroup', ahead, text, ...(keepsMain && { keepsMain }) }] : [];
}

/** Ensures that no rolling update begins while another group is replaced: its nodes leave first. */
export function waitForReplacement(s: EksDerived): RuleResult | undefined {
  const isDue = replacementIn(s.pool) && s.due.version;
  return isDue ? waitMeanwhile('Replacing', 'read', { progress: true }) : undefined;
}

/** Ensures that the main group can grow until it can take over from the second one, even if an autoscaler removes its empty nodes. */
export function growToTakeOver(s: EksDerived): Step[] | undefined {
  const { pool, group } = s;
  if (group.kind !== 'seen' || !replacementIn(pool) || !secondGroup(s)) return undefined;
  if (s.due.config?.change.scaling) return undefined;
  const needed = Math.min(neededToDrain(s), group.group.scaling.maxSize);
  if (group.group.scaling.desiredSize >= needed) return undefined;
  const change = { scaling: { desiredSize: needed } };
  const token = tokenFor(pool, 'grow', change, pool.status?.nodeGroup?.update?.id);
  return [{ kind: 'updateConfig', group: group.group.name, change, token, target: configTargetOf(pool, change) }];
}
