/** The rules for the node group of a pool that lives, and for its tags. */

import type { WindowsPool } from '../../api.gen.ts';
import { reservationFor, waitsForBudget } from '../../disruption/reservation.ts';
import { CREATED_FROM_TAG } from '../../labels.ts';
import type { Difference } from '../../model/changes.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Memory, Step } from '../../model/steps.ts';
import { scalingIn } from '../../nodeSource.ts';
import type { ConfigChange, NodeGroup, VersionChange } from '../../ports/eks.ts';
import { createdFrom, groupOf, isClusterMismatch } from '../../queries.ts';
import { hashOf } from '../../util/hash.ts';
import { adoptionOf } from './adoption.ts';
import { desiredFields, entriesOf, remembering, tagField } from './applied.ts';
import { rememberedTags, scalingTagChanges, withScalingTags } from './autoscalerTags.ts';
import { differencesOf } from './differences.ts';
import { hasFailed, rememberedFailures } from './failedTarget.ts';
import { configChangeFor, configTargetOf, fieldsOfChange, isUndone, tagChangeFor } from './groupChanges.ts';
import { desiredNodeGroup, isOwnedBy, nodeGroupNameOf } from './nodeGroup.ts';
import { blockers, checkInputOf, isToBeMade } from './prerequisites/examination.ts';
import { missingAccessEntry } from './prerequisites/roleChecks.ts';
import { waitingForWindow } from './upgrades/automaticUpdates.ts';
import { desiredTemplateVersion } from './upgrades/launchTemplate.ts';
import { doubtAbout, unverifiedRelease } from './upgrades/releaseFailures.ts';
import { fieldsOfVersionChange, preparationFor, versionChangeFor, versionTargetOf } from './upgrades/versionChanges.ts';

/** Ensures that a group in a cluster which is not ours, or which is not the pool's, is never touched. */
export function stopOnClusterMismatch(s: ObservedState) {
  return isClusterMismatch(s) ? [] : undefined;
}

/** Ensures that nothing is decided about a group that could not be looked at. */
export function waitForAws({ group, cluster }: ObservedState) {
  return group.kind === 'unreachable' || cluster.kind !== 'seen' ? [] : undefined;
}

/** Ensures that a group of our name that is not ours is never changed and never deleted, nor are its nodes. */
export function skipUnownedGroup(s: ObservedState) {
  const group = groupOf(s);
  return group && !isOwnedBy(s.pool, group) ? [] : undefined;
}

/** Ensures that a group which nobody owns becomes the pool's, where the user wants that: only its tag changes, all else is for later runs. */
export function adoptUnownedGroup(s: ObservedState): Step[] | undefined {
  const { pool, group } = s;
  if (group.kind !== 'seen' || isOwnedBy(pool, group.group)) return undefined;
  if (adoptionOf(pool, group.group).kind !== 'take') return undefined;
  // One that only lost its tag is still what is remembered: what the spec changed since is no drift.
  const isKnown = pool.status?.nodeGroup?.arn === group.group.arn;
  const memory = isKnown ? remember(s, {}) : rememberAnew(s);
  return [...memory, { kind: 'adoptNodeGroup', group: group.group, pool: pool.metadata.name }];
}

/** Ensures that a group which somebody deletes is waited for; the next one is made when it is gone. */
export function waitForGroupToGo({ group }: ObservedState) {
  return group.kind === 'seen' && group.group.status === 'DELETING' ? [] : undefined;
}

/**
 * Ensures that a failed creation, which never heals, is replaced: at once when the spec would now create something else, and now and
 * then because its cause may lie outside (rights, quotas, subnets).
 */
export function replaceFailedGroup(s: ObservedState): Step[] | undefined {
  if (s.group.kind !== 'seen') return undefined;
  const { group } = s.group;
  if (group.status !== 'CREATE_FAILED' && group.status !== 'DELETE_FAILED') return undefined;
  const changed = group.status === 'CREATE_FAILED' && group.tags[CREATED_FROM_TAG] !== createdFrom(s);
  if (!changed && s.now < group.modifiedAt + s.settings.createRetryMs) return [];
  return [{ kind: 'deleteNodeGroup', group: group.name, why: `it is ${group.status}` }];
}

/**
 * Ensures that there is a group, once nothing is known to be missing for it. What EKS refused is tried again only after a while, or when
 * the spec changed.
 */
export function createMissingGroup(s: ObservedState): Step[] | undefined {
  const { pool, group, cluster } = s;
  if (group.kind !== 'absent' || cluster.kind !== 'seen') return undefined;
  if (blockers(s).length > 0) return [];
  const failed = rememberedFailures(s).find(({ target }) => target === createdFrom(s));
  if (failed && s.now < Date.parse(failed.time) + s.settings.createRetryMs) return [];
  const desired = desiredNodeGroup(pool, desiredTemplateVersion(s));
  return [
    ...rememberAnew(s),
    ...accessEntryFirst(s),
    { kind: 'createNodeGroup', desired, token: tokenFor(pool, 'create', desired, pool.status?.nodeGroup?.arn) },
  ];
}

/** Ensures one change at a time: EKS refuses a second one while it works on the first. */
export function waitForRunningUpdate({ group }: ObservedState) {
  return group.kind === 'seen' && (group.group.status === 'CREATING' || group.group.status === 'UPDATING')
    ? []
    : undefined;
}

/**
 * Ensures that the end of an update is known before the next one is sent: a failed one leaves the group as it was, so the same update
 * would be sent for ever.
 */
export function waitForUpdateResult({ pool, group, update }: ObservedState): Step[] | undefined {
  const memory = pool.status?.nodeGroup?.update;
  if (group.kind !== 'seen' || memory?.status !== 'InProgress') return undefined;
  return update?.id === memory.id && update.status !== 'InProgress' ? undefined : [];
}

/** Ensures that a role whose access entry somebody deleted gets it back, while its group lives. */
export function restoreAccessEntry(s: ObservedState): Step[] | undefined {
  return s.group.kind === 'seen' && !isToBeMade(s) ? accessEntryFirst(s) : undefined;
}

/** Ensures that an automatic update begins only inside a maintenance window. The rest of the spec does not wait for that. */
export function waitForMaintenanceWindow(s: ObservedState): Step[] | undefined {
  return waitingForWindow(s) ? (correctConfig(s) ?? []) : undefined;
}

/** Ensures that a release which fails in one pool is not rolled out to the next ones by itself. The rest of the spec does not wait for that. */
export function waitForVerifiedRelease(s: ObservedState): Step[] | undefined {
  return unverifiedRelease(s) ? (correctConfig(s) ?? []) : undefined;
}

/** Ensures that no more pools lose nodes at a time than allowed. What replaces no node does not wait for that. */
export function waitForBudget(s: ObservedState): Step[] | undefined {
  return waitsForBudget(s) ? (correctConfig(s) ?? []) : undefined;
}

/**
 * Ensures that a rolling update obeys the spec's limit as it is now: the settings that rule it are sent first, and alone. Where they fail, it
 * does not begin.
 */
export function prepareRollingUpdate(s: ObservedState): Step[] | undefined {
  const version = versionChangeFor(s);
  const change = preparationFor(s);
  if (!version || !change || hasFailed(s, versionTargetOf(s.pool, version))) return undefined;
  return configSteps(s, change) ?? [];
}

/**
 * Ensures that the Kubernetes version and the AMI release are those that are wanted, before anything else is changed: what is new in the
 * rest may need them.
 */
export function correctVersion(s: ObservedState): Step[] | undefined {
  if (s.group.kind !== 'seen') return undefined;
  const change = versionChangeFor(s);
  if (!change) return undefined;
  const target = versionTargetOf(s.pool, change);
  if (hasFailed(s, target)) return undefined;
  const token = tokenFor(s.pool, 'version', change, s.pool.status?.nodeGroup?.update?.id);
  const fields = fieldsOfVersionChange(s.pool, change);
  const doubt = doubtAbout(s, change);
  return [
    ...reserveDisruption(s, change, target, fields),
    {
      kind: 'updateNodeGroupVersion',
      group: s.group.group.name,
      change,
      token,
      target,
      ...driftAmong(s, fields),
      ...(doubt && { doubt }),
    },
  ];
}

/** Ensures that labels, taints and size follow the spec, and that what failed is not repeated until the spec changes. */
export function correctConfig(s: ObservedState): Step[] | undefined {
  if (s.group.kind !== 'seen') return undefined;
  const change = configChangeFor(s.pool, s.group.group);
  return change && configSteps(s, change);
}

/** The steps of an update; undefined when it failed before, or was undone just now. */
function configSteps(s: ObservedState, change: ConfigChange): Step[] | undefined {
  const target = configTargetOf(s.pool, change);
  if (s.group.kind !== 'seen' || hasFailed(s, target) || isUndone(s)) return undefined;
  const token = tokenFor(s.pool, 'update', change, s.pool.status?.nodeGroup?.update?.id);
  const fields = fieldsOfChange(s.pool, change);
  return [
    ...rememberSending(s, fields),
    {
      kind: 'updateConfig',
      group: s.group.group.name,
      ...endedBy(change, s.group.group),
      change,
      token,
      target,
      ...driftAmong(s, fields),
    },
  ];
}

/** How many nodes a smaller size ends. */
function endedBy({ scaling }: ConfigChange, { scaling: seen }: NodeGroup): { ends?: number } {
  const ends = seen.desired - (scaling?.desired ?? seen.desired);
  return ends > 0 ? { ends } : {};
}

/** Ensures that the tags follow the spec; EKS takes them in every state. */
export function correctTags(s: ObservedState): Step[] | undefined {
  if (s.group.kind !== 'seen') return undefined;
  if (['DELETING', 'CREATE_FAILED', 'DELETE_FAILED'].includes(s.group.group.status)) return undefined;
  const change = tagChangeFor(s.pool, s.group.group);
  if (!change) return undefined;
  const fields = [...Object.keys(change.set), ...change.remove].map(tagField);
  return [
    ...rememberSending(s, fields),
    { kind: 'correctTags', group: s.group.group, change, ...driftAmong(s, fields) },
  ];
}

/**
 * Ensures that the cluster-autoscaler knows what a new node is like, even while there is none: else it would never start the first. Which
 * tags are the operator's is remembered before they are set.
 */
export function correctScalingTags(s: ObservedState): Step[] | undefined {
  if (s.group.kind !== 'seen') return undefined;
  return scalingTagChanges(s).flatMap((change): Step[] => {
    const scalingTags = withScalingTags(rememberedTags(s.pool), change);
    const isKnown = scalingTags.length === rememberedTags(s.pool).length;
    return [...(isKnown ? [] : remember(s, { scalingTags })), { kind: 'correctScalingTags', change }];
  });
}

/** Before the group: EKS would make an entry of type EC2_LINUX for a role that has none. */
function accessEntryFirst(s: ObservedState): Step[] {
  const input = checkInputOf(s);
  const role = input && missingAccessEntry(input);
  if (!role) return [];
  // Another token each time: one that is there is refused by its name, and for one that was deleted the old answer would come again.
  return [{ kind: 'createAccessEntry', role, token: tokenFor(s.pool, 'access', role, String(s.now)) }];
}

/** What of the fields no change of the spec made. */
function driftAmong({ pool, group }: ObservedState, fields: readonly string[]): { drift?: readonly Difference[] } {
  if (group.kind !== 'seen') return {};
  const drift = differencesOf(pool, group.group).filter(({ field, isDrift }) => isDrift && fields.includes(field));
  return drift.length > 0 ? { drift } : {};
}

/**
 * Remembers, before there is a group or before it becomes the pool's, what it is to be. What an adopted one lacks of that is drift, and its
 * size counts as sent.
 */
function rememberAnew(s: ObservedState): Step[] {
  return remember(s, { anew: { applied: entriesOf(desiredFields(s.pool)), desired: scalingIn(s.pool.spec).desired } });
}

/**
 * Remembers which fields are about to be sent: after a crash nobody knows whether they were, and whatever the spec says of them by then is
 * sent again. An edit that is put right is not among them: what is sent is what memory has already, and where the call fails it is still
 * an edit.
 */
function rememberSending(s: ObservedState, fields: readonly string[]): Step[] {
  return remember(s, { sending: changedAmong(s, fields) });
}

function changedAmong(s: ObservedState, fields: readonly string[]): string[] {
  const edited = driftAmong(s, fields).drift?.map(({ field }) => field) ?? [];
  return fields.filter((field) => !edited.includes(field));
}

/** Claims the pool's share of the disruption budget, and remembers with it what is about to be sent. */
function reserveDisruption(s: ObservedState, change: VersionChange, target: string, fields: readonly string[]): Step[] {
  return remember(s, { sending: changedAmong(s, fields), reservation: reservationFor(s, change, target) }).map(
    ({ memory }) => ({
      kind: 'reserveDisruption',
      memory,
    }),
  );
}

/** The memory that must be written before AWS is touched, nothing when status has it. */
function remember(s: ObservedState, what: Omit<Memory, 'cluster' | 'nodeGroupName'>) {
  if (s.cluster.kind !== 'seen') return [];
  const { name, arn } = s.cluster.cluster;
  const memory: Memory = { cluster: { name, arn }, nodeGroupName: nodeGroupNameOf(s.pool), ...what };
  const { status } = s.pool;
  return hashOf(remembering(status, memory)) === hashOf(status ?? {}) ? [] : [{ kind: 'remember', memory } as const];
}

/**
 * A client request token: a crash repeats a call and EKS answers as before; the same wish after another group or update is another
 * call. The pool's UID keeps a pool that is made anew apart from its namesake.
 */
export function tokenFor(pool: WindowsPool, step: string, payload: unknown, last: string | undefined): string {
  return `${pool.metadata.name.slice(0, 40)}-${hashOf({ uid: pool.metadata.uid, step, payload, last })}`;
}
