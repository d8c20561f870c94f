/** Rules for the replacement of a node group. */
import type { FormerNodeGroup } from '../../../api/api.gen.ts';
import type { RuleResult } from '../../../model/decisions.ts';
import type { Step } from '../../../model/steps.ts';
import { instanceIdOf } from '../../../nodes/lostNodes.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { scalingIn } from '../../../rules/nodeSource.ts';
import { waitFor, waitMeanwhile } from '../../../rules/ruleChains.ts';
import { timeOf } from '../../../util/durations.ts';
import { count, joined } from '../../../util/words.ts';
import { DESIRED, desiredFields, entriesOf } from '../changes/appliedFields.ts';
import { configTargetOf } from '../changes/groupChanges.ts';
import { immutableDifferences, isOwnedBy, nodeGroupNameOf, otherNameOf } from '../desired/desiredNodeGroup.ts';
import { resolvedSubnets } from '../desired/subnets.ts';
import { tokenFor, waitForPrerequisites } from '../groupRules.ts';
import { isTemplateKnown } from '../launchTemplate/desiredMachine.ts';
import { followsImage, selectedImage } from '../launchTemplate/image.ts';
import { isTemplateDeleted } from '../launchTemplate/machineTemplate.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { ownedGroup } from '../observation/knownGroups.ts';
import { memoryFor } from '../reporting/writeAheadStatus.ts';
import {
  canaryIn,
  canBeReplaced,
  canShrink,
  canTakeOver,
  drainRetriedAt,
  formerIn,
  isDraining,
  isRetiring,
  neededToDrain,
  nodesOfOther,
  otherGroup,
  otherGroupIn,
} from './replacement.ts';

/**
 * Ensures that a pool whose status was lost finds its groups again, whichever of the two names they have: a group that it did not find would be
 * created a second time.
 */
export function recallNodeGroups(s: EksDerived): RuleResult | Step[] | undefined {
  const { pool, group } = s;
  const former = otherGroup(s);
  if (!former || s.former?.kind !== 'seen' || otherGroupIn(pool)) return undefined;
  const main = ownedGroup(pool, group);
  const isOutdated = main && (s.due.differences.immutable.length > 0 || isTemplateDeleted(s, main));
  // Until the launch template is read, it is not known which of the groups replaces the other one.
  if (main && isOutdated === undefined) return waitFor('AWSUnavailable', 'read', { progress: true });
  if (main && !isOutdated) {
    const text = `continue to replace node group ${former.name} with ${main.name}`;
    return switched(s, { name: main.name, former: recordOf(former), text, exists: true, keepsMain: true });
  }
  const text = `use node group ${former.name}, which belongs to the pool`;
  return switched(s, { name: former.name, former: recordOf(main), text, exists: true });

  // What served is not known any more: neither group is deleted without a drain.
  function recordOf(left: NodeGroup | undefined) {
    return left && { ...recordFor(left, s.now), served: true, successorServed: true };
  }
}

/** Ensures that the former group serves the pool again as soon as the spec describes it again. The other one becomes the former group. */
export function returnToFormerGroup(s: EksDerived): Step[] | undefined {
  const { pool, group } = s;
  const former = otherGroup(s);
  const record = formerIn(pool);
  if (!former || s.former?.kind !== 'seen' || !record) return undefined;
  if (['CREATING', 'CREATE_FAILED', 'DELETING', 'DELETE_FAILED'].includes(former.status)) return undefined;
  const main = group.kind === 'seen' ? group.group : undefined;
  const isMainRight = main && isOwnedBy(pool, main) && s.due.differences.immutable.length === 0;
  // Without its launch template, it gets none of the settings.
  if (isMainRight || immutableDifferences(pool, former).length > 0 || isTemplateDeleted(s, former) !== false)
    return undefined;
  const text = `return to node group ${former.name}, which matches the spec again`;
  const left = main
    ? isOwnedBy(pool, main) && recordFor(main, s.now)
    : // It may have been created a moment ago: it is forgotten when EKS has not had it for a time.
      { name: nodeGroupNameOf(pool), since: timeOf(s.now) };
  const served = record.successorServed === true || isDraining(s);
  const roles = { ...(served && { served: true }), ...(record.served && { successorServed: true }) };
  return switched(s, { name: former.name, former: left ? { ...left, ...roles } : undefined, text, exists: true });
}

/**
 * Ensures that there is never a third group: if the spec changes once more before the main group has served, that group is deleted and created
 * again. If it serves, the former group goes first.
 */
export function discardOutdatedGroup(s: EksDerived): Step[] | undefined {
  const { pool, group } = s;
  const record = formerIn(pool);
  if (!record || record.successorServed || isDraining(s) || !otherGroup(s)) return undefined;
  if (group.kind !== 'seen' || s.due.differences.immutable.length === 0) return undefined;
  const why = `it does not match the spec, and node group ${record.name} serves the pool`;
  return [{ kind: 'deleteNodeGroup', group: group.group.name, why }];
}

/** Ensures that a group that EKS cannot change stays unless the spec allows its replacement. What EKS can change is not delayed. */
export function keepUnchangeableGroup(s: EksDerived): RuleResult | undefined {
  const isKept = s.due.differences.immutable.length > 0 && !canBeReplaced(s.pool);
  return isKept ? waitMeanwhile('ImmutableDifference', 'watch') : undefined;
}

/** Ensures that a group that EKS cannot change is replaced by a second one, once no prerequisite of that is known to be missing. */
export function replaceChangedGroup(s: EksDerived): RuleResult | Step[] | undefined {
  const { replacement: differences } = s.due;
  if (differences.length === 0 || s.group.kind !== 'seen') return undefined;
  // The chains that follow keep the group as the spec says in all other fields.
  const blocked = waitForPrerequisites(s);
  if (blocked) return { ...blocked, continues: true };
  if (!s.prerequisites?.complete || !isKnownToCreate(s)) {
    const message = 'A second node group replaces it when AWS has answered what the new group depends on.';
    return waitMeanwhile('ImmutableDifference', 'read', { message, progress: true });
  }
  const { group } = s.group;
  const name = otherNameOf(s.pool);
  const text = `replace node group ${group.name} with ${name}: ${joined(differences)}`;
  return switched(s, { name, former: { ...recordFor(group, s.now), served: true }, text, exists: false });
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
  /** What status records of the other group; undefined: the pool has none. */
  readonly former: FormerNodeGroup | undefined;
  readonly text: string;
  /** Whether the main group exists. */
  readonly exists: boolean;
  /** Whether the main group stays the same, and only the record is restored. */
  readonly keepsMain?: true;
}

/** The step that switches the names of the two groups in status. Nothing in AWS changes. */
function switched(s: EksState, { name, former, text, exists, keepsMain }: Switch): Step[] {
  const { pool } = s;
  const { desiredSize } = scalingIn(pool.spec);
  const memory = memoryFor(s, {
    nodeGroupName: name,
    // What the main group has is unknown until it is read: the values of the spec are sent again.
    initial: exists
      ? { applied: pool.status?.bookkeeping?.formerApplied ?? [], desired: desiredSize }
      : { applied: entriesOf(desiredFields(pool)), desired: desiredSize },
    ...(exists && { sending: [...desiredFields(pool).keys(), ...(desiredSize === undefined ? [] : [DESIRED])] }),
    switched: { former },
  });
  return memory ? [{ kind: 'switchNodeGroup', memory, text, ...(keepsMain && { keepsMain }) }] : [];
}

function recordFor({ name, arn, status }: NodeGroup, now: number): FormerNodeGroup {
  return { name, arn, status, since: timeOf(now) };
}

/** Ensures that no rolling update begins while a former group exists: its nodes leave first. */
export function waitForFormerGroup(s: EksDerived): RuleResult | undefined {
  const isDue = formerIn(s.pool) && s.due.version;
  return isDue ? waitMeanwhile('Replacing', 'read', { progress: true }) : undefined;
}

/** Ensures that the main group can grow until it can take over from the former one, even if an autoscaler removes its empty nodes. */
export function growToTakeOver(s: EksDerived): Step[] | undefined {
  const { pool, group } = s;
  if (group.kind !== 'seen' || !formerIn(pool) || !otherGroup(s)) return undefined;
  if (s.due.config?.change.scaling) return undefined;
  const needed = Math.min(neededToDrain(s), group.group.scaling.maxSize);
  if (group.group.scaling.desiredSize >= needed) return undefined;
  const change = { scaling: { desiredSize: needed } };
  const token = tokenFor(pool, 'grow', change, pool.status?.nodeGroup?.update?.id);
  return [{ kind: 'updateConfig', group: group.group.name, change, token, target: configTargetOf(pool, change) }];
}

/** Ensures that a former group is left alone while it is not known, not the pool's, or EKS works on it. */
export function waitForFormerState(s: EksState): RuleResult | Step[] | undefined {
  const former = otherGroup(s);
  if (!former || s.former?.kind !== 'seen' || !otherGroupIn(s.pool)) return [];
  const isBusy = ['UPDATING', 'DELETING'].includes(former.status);
  return isBusy ? waitFor(reasonOf(s), 'read', { progress: true }) : undefined;
}

/** Ensures that the deletion of the former group is tried again after a failure, not at every read. */
export function retryFormerDeletion(s: EksState): RuleResult | Step[] | undefined {
  const former = otherGroup(s);
  if (former?.status !== 'DELETE_FAILED') return undefined;
  const until = former.modifiedAt + s.settings.createRetryMs;
  return s.now < until ? waitFor(reasonOf(s), 'time', { until }) : deleted(former, 'it is DELETE_FAILED');
}

/** Ensures that a former group that never had a node to drain is deleted at once. */
export function deleteUnusedFormerGroup(s: EksState): RuleResult | Step[] | undefined {
  const former = otherGroup(s);
  if (!former || !['CREATING', 'CREATE_FAILED'].includes(former.status)) return undefined;
  return nodesOfOther(s).length > 0 && former.status === 'CREATING'
    ? waitFor(reasonOf(s), 'read', { progress: true })
    : deleted(former, `it is ${former.status} and no longer needed`);
}

/** Ensures that the former group is untouched until the main one has enough verified nodes. */
export function waitForMainGroup(s: EksState): RuleResult | undefined {
  return isDraining(s) || canTakeOver(s) ? undefined : waitFor(reasonOf(s), 'watch', { progress: true });
}

/** Ensures that status records that the main group serves before the former one changes: from here on, only the spec itself can reverse the roles. */
export function beginDraining(s: EksState): Step[] | undefined {
  const former = otherGroup(s);
  const record = formerIn(s.pool);
  if (isDraining(s) || !former || !record || s.group.kind !== 'seen') return undefined;
  const memory = memoryFor(s, { former: { ...record, drainingSince: timeOf(s.now) } });
  if (!memory) return undefined;
  const nodes = count(nodesOfOther(s).length, 'node');
  return [{ kind: 'beginDraining', memory, text: `drain the ${nodes} of node group ${former.name}, then delete it` }];
}

/**
 * Ensures that the former group can shrink to zero, that an autoscaler does not let it grow again, and that no instance of it gets ready for the next
 * node: a warm pool fills up while its group shrinks, or takes the instances of the nodes that leave.
 */
export function shrinkFormerGroup(s: EksState): Step[] | undefined {
  const former = otherGroup(s);
  if (!former || canShrink(former)) return undefined;
  const { scaling, warmPool } = former;
  const change = {
    ...(scaling.minSize > 0 && { scaling: { minSize: 0, maxSize: Math.max(1, scaling.desiredSize) } }),
    ...(warmPool && { warmPool: 'Removed' as const }),
  };
  const token = tokenFor(s.pool, 'shrink', { ...change, group: former.arn }, otherGroupIn(s.pool)?.drainingSince);
  return [{ kind: 'shrinkFormerGroup', group: former.name, change, token }];
}

/** Ensures that the former group is deleted when its last node is gone. */
export function deleteDrainedGroup(s: EksState): Step[] | undefined {
  const former = otherGroup(s);
  if (!former || nodesOfOther(s).length > 0) return undefined;
  const why = canaryIn(s.pool) ? 'the canary has ended' : `node group ${nodeGroupNameOf(s.pool)} replaces it`;
  return deleted(former, why, true);
}

/** Ensures that no node of the former group leaves soon after a drain that failed, nor before the main group has enough verified nodes. */
export function waitForDrain(s: EksState): RuleResult | undefined {
  if (isRetiring(s)) return undefined;
  const until = canTakeOver(s) ? drainRetriedAt(s) : undefined;
  if (until === undefined) return waitFor(reasonOf(s), 'watch', { progress: true });
  return waitFor(canaryIn(s.pool) ? 'CanaryBlocked' : 'ReplacementBlocked', 'time', { until });
}

/** Ensures that evicted pods do not land on other nodes that leave too: all nodes of the former group are cordoned before the first is drained. */
export function cordonFormerNodes(s: EksState): Step[] | undefined {
  const former = otherGroup(s);
  if (!former) return undefined;
  return nodesOfOther(s)
    .filter(({ unschedulable }) => !unschedulable)
    .map((node) => ({
      kind: 'cordonNode',
      node,
      check: { instanceID: instanceIdOf(node), scalingGroups: former.autoScalingGroups },
    }));
}

/** What the other group is: a canary, or one that is being replaced. */
function reasonOf({ pool }: EksState) {
  return canaryIn(pool) ? 'CanaryRunning' : 'Replacing';
}

function deleted({ name }: NodeGroup, why: string, isDrained = false): Step[] {
  return [{ kind: 'deleteFormerGroup', group: name, why, isDrained }];
}
