/** Rules for the node group of a pool that is not being deleted, and for its tags. */

import type { WindowsPool } from '../../api/api.gen.ts';
import type { Reason } from '../../api/reasons.ts';
import type { RuleResult, Wait } from '../../model/decisions.ts';
import type { Step } from '../../model/steps.ts';
import { roleArnOf } from '../../nodes/nodeRole.ts';
import type { CallError } from '../../ports/callResult.ts';
import type { ConfigChange, NodeGroup, VersionChange } from '../../ports/eks.ts';
import { nodeGroupIn, scalingIn } from '../../rules/nodeSource.ts';
import { unreadReason } from '../../rules/poolQueries.ts';
import { UNREACHABLE_SHOWN_AFTER_MS } from '../../rules/retryIntervals.ts';
import { waitFor } from '../../rules/ruleChains.ts';
import { hashOf } from '../../util/hash.ts';
import { desiredFields, entriesOf, sentToCreate, tagField } from './changes/appliedFields.ts';
import { launchSettingsField } from './changes/appliedRecord.ts';
import { failureOf, reasonOf } from './changes/describeFailedChanges.ts';
import { fieldsOfChange } from './changes/groupChanges.ts';
import { missingAccessEntry } from './checks/nodeRoleChecks.ts';
import { rememberedTags, scalingTagChanges, withScalingTags } from './desired/autoscalerTags.ts';
import { creationOf, desiredNodeGroup, isOwnedBy } from './desired/desiredNodeGroup.ts';
import { resolvedSubnets } from './desired/subnets.ts';
import { followsImage, selectedImage } from './launchTemplate/image.ts';
import { AMI, hasLaunchSettings } from './launchTemplate/launchSettings.ts';
import type { Difference } from './model/changes.ts';
import type { DueConfig, EksDerived } from './model/groupDue.ts';
import type { EksState } from './model/groupState.ts';
import { waitForSecondLook } from './observation/confirmation.ts';
import { groupOf, hasCluster, isClusterMismatch } from './observation/knownGroups.ts';
import { writeAhead } from './reporting/writeAheadStatus.ts';
import { replacementIn, sizeToReplace } from './secondGroup/secondGroup.ts';
import { reservationFor } from './versions/updateReservation.ts';
import { fieldsOfVersionChange } from './versions/versionChanges.ts';

/** Ensures that a group is never changed in a cluster that is not the operator's or not the pool's. */
export function stopOnClusterMismatch(s: EksState) {
  if (!isClusterMismatch(s)) return undefined;
  return waitFor(hasCluster(s) ? 'ClusterMismatch' : 'ClusterNotConfigured', 'watch');
}

/** Ensures that nothing is decided about groups that could not be read, or of which one answer contradicts what was known. */
export function waitForAws(s: EksState) {
  const { group, second, cluster, now } = s;
  if (cluster.kind === 'unreachable') return waitForRead(cluster.error, { message: 'The EKS cluster cannot be read.' });
  for (const view of [group, second]) {
    if (view?.kind === 'unconfirmed') return waitForSecondLook(s, view);
    if (view?.kind !== 'unreachable') continue;
    const isLasting = !view.last || now - view.since >= UNREACHABLE_SHOWN_AFTER_MS;
    const what = view === group ? 'The node group' : 'The other node group';
    return waitForRead(view.error, isLasting ? { message: `${what} cannot be read.` } : {});
  }
  const message = 'The EKS cluster does not exist.';
  return cluster.kind === 'seen' ? undefined : waitFor('ClusterNotFound', 'read', { message });
}

/** Waits until AWS answers a call that failed. */
export function waitForRead(error: CallError, more: Pick<Wait, 'until' | 'message'> = {}): RuleResult {
  return waitFor(unreadReason(error), 'read', { progress: true, ...more });
}

/** Ensures that a group with the pool's name that the pool does not own is never changed or deleted, nor are its nodes. */
export function skipUnownedGroup(s: EksDerived) {
  const group = groupOf(s);
  if (!group || isOwnedBy(s.pool, group)) return undefined;
  const kind = s.due.adoption?.kind;
  if (kind === 'refused') return waitFor('AdoptionRejected', 'read');
  return kind === 'forbidden' ? waitFor('NotOwned', 'read') : waitFor('Adopting', 'read', { progress: true });
}

/** Ensures that an unowned group is adopted when the user allows it. Only its tag changes; everything else follows in later runs. */
export function adoptUnownedGroup(s: EksDerived): Step[] | undefined {
  const { pool, group } = s;
  if (group.kind !== 'seen' || s.due.adoption?.kind !== 'take') return undefined;
  // A group that only lost its tag is still the recorded one: what the spec changed since is not drift.
  const isKnown = pool.status?.nodeGroup?.arn === group.group.arn;
  // What another one lacks of the desired fields is drift, and its size counts as sent.
  const initial = { applied: entriesOf(desiredFields(pool)), desired: scalingIn(pool.spec).desiredSize };
  const ahead = writeAhead(s, isKnown ? {} : { initial });
  return [...ahead, { kind: 'adoptNodeGroup', group: group.group, pool: pool.metadata.name }];
}

/** Ensures that the deletion of a group is waited for; then it is recreated. */
export function waitForGroupToGo({ group }: EksState) {
  const isLeaving = group.kind === 'seen' && group.group.status === 'DELETING';
  return isLeaving ? waitFor('Deleting', 'read', { progress: true }) : undefined;
}

/**
 * Ensures that a group which failed to create, and never recovers, is replaced: at once when the spec or the retry annotation changed, and every
 * `createRetryMs` because the cause may be elsewhere (permissions, quotas, subnets).
 */
export function replaceFailedGroup(s: EksDerived): RuleResult | Step[] | undefined {
  if (s.group.kind !== 'seen') return undefined;
  const { group } = s.group;
  if (group.status !== 'CREATE_FAILED' && group.status !== 'DELETE_FAILED') return undefined;
  const until = group.modifiedAt + s.settings.createRetryMs;
  const isAtOnce = group.status === 'CREATE_FAILED' && isOtherCreation(s, group);
  const reason = group.status === 'CREATE_FAILED' ? 'CreateFailed' : 'DeleteFailed';
  if (!isAtOnce && s.now < until) return waitFor(reason, 'time', { until });
  return [{ kind: 'deleteNodeGroup', group: group.name, why: `it is ${group.status}` }];
}

/** Whether the spec has changed since the group was created, or the retry annotation requests another attempt. Its removal requests none. */
function isOtherCreation({ due: { creation: desired } }: EksDerived, { tags }: NodeGroup): boolean {
  const created = creationOf(tags);
  return created.spec !== desired?.spec || (desired.retry !== undefined && desired.retry !== created.retry);
}

/**
 * Ensures that the group exists, once no prerequisite is known to be missing. A rejected creation is retried after `createRetryMs`, or when
 * the spec or the retry annotation changes.
 */
export function createMissingGroup(s: EksDerived): RuleResult | Step[] | undefined {
  const { pool, group, cluster } = s;
  if (group.kind !== 'absent' || cluster.kind !== 'seen') return undefined;
  const blocked = waitForPrerequisites(s);
  if (blocked) return blocked;
  const failed = s.due.failures.remembered.find(({ target }) => target === s.due.creation?.spec);
  const until = Date.parse(failed?.time ?? '') + s.settings.createRetryMs;
  if (failed && s.now < until) return waitFor(failed.reason as Reason, 'time', { until });
  const subnets = resolvedSubnets(pool.spec, s.prerequisites);
  if (!subnets)
    return waitFor('Creating', 'read', { message: 'It is created when its subnets are known.', progress: true });
  const { template } = s.due;
  // The rules for the template create it first.
  if (hasLaunchSettings(pool.spec) && !template)
    return waitFor('Creating', 'read', { message: 'It is created when its launch template exists.', progress: true });
  const nodeRoleArn = roleArnOf(nodeGroupIn(pool.spec).nodeRole, cluster.cluster);
  // The same spec can be replaced by another one and come back.
  const lastGroup = pool.status?.nodeGroup?.arn ?? replacementIn(pool)?.startTime;
  const wanted = desiredNodeGroup(pool, template);
  const size = sizeToReplace(s, s.due.replacement);
  const desired = {
    ...wanted,
    scaling: { ...wanted.scaling, ...(size !== undefined && { desiredSize: size }) },
    nodeRoleArn,
    subnets,
  };
  return [
    // If the group exists after all, what the spec changed meanwhile is sent.
    ...writeAhead(s, { sending: sentToCreate(pool) }),
    ...accessEntryFirst(s),
    { kind: 'createNodeGroup', desired, token: tokenFor(pool, 'create', desired, lastGroup) },
  ];
}

/** Waits for the first prerequisite that blocks what is to be created. */
export function waitForPrerequisites({ due }: EksDerived): RuleResult | undefined {
  const [first] = due.prerequisites.blocking;
  return first && waitFor(first.check.reason, 'read');
}

/** Ensures one change at a time: EKS refuses a second one while it works on the first. */
export function waitForRunningUpdate({ group }: EksState) {
  const status = group.kind === 'seen' ? group.group.status : undefined;
  if (status !== 'CREATING' && status !== 'UPDATING') return undefined;
  return waitFor(status === 'CREATING' ? 'Creating' : 'Updating', 'read', { progress: true });
}

/**
 * Ensures that the result of an update is known before the next one is sent: a failed one leaves the group unchanged, so the same update
 * would be sent forever.
 */
export function waitForUpdateResult({ pool, group, update }: EksState): RuleResult | undefined {
  const recorded = pool.status?.nodeGroup?.update;
  if (group.kind !== 'seen' || recorded?.status !== 'InProgress') return undefined;
  const isKnown = update?.id === recorded.id && update.status !== 'InProgress';
  if (isKnown) return undefined;
  const message = 'It is updated when the result of the last update is known.';
  return waitFor('UpdatePending', 'read', { message, progress: true });
}

/** Ensures that a deleted access entry of the node role is recreated while its group exists. */
export function restoreAccessEntry(s: EksDerived): Step[] | undefined {
  return s.group.kind === 'seen' && !s.due.isToBeMade ? accessEntryFirst(s) : undefined;
}

/**
 * Ensures that a rolling update obeys the current limits of the spec: its settings are sent first, in an update of their own. If that fails,
 * the rolling update does not begin.
 */
export function prepareRollingUpdate(s: EksDerived): RuleResult | Step[] | undefined {
  const { preparation } = s.due;
  if (!preparation) return undefined;
  return configSteps(s, preparation) ?? waitAfterConfig(s, preparation);
}

/**
 * Ensures that the Kubernetes version and the AMI release are the desired ones before anything else changes: other changes of the spec may
 * need them.
 */
export function correctVersion(s: EksDerived): Step[] | undefined {
  if (s.group.kind !== 'seen' || !s.due.version) return undefined;
  const { change, target, releaseFailure } = s.due.version;
  const token = tokenFor(s.pool, 'version', change, s.pool.status?.nodeGroup?.update?.id);
  const fields = fieldsOfVersionChange(s.pool, change);
  return [
    ...reserveUpdate(s, change, target, fields),
    {
      kind: 'updateNodeGroupVersion',
      group: s.group.group.name,
      change,
      token,
      target,
      ...driftAmong(s, fields),
      ...(releaseFailure && { failedElsewhere: releaseFailure }),
    },
  ];
}

/** Ensures that labels, taints and size follow the spec. A failed update is not repeated until the spec changes. */
export function correctConfig(s: EksDerived): RuleResult | Step[] | undefined {
  return s.due.config && (configSteps(s, s.due.config) ?? waitAfterConfig(s, s.due.config));
}

/** Waits after an update of the settings that failed before, or that another client has just reverted: the operator corrects that at the next read. */
function waitAfterConfig({ due: { failures } }: EksDerived, { hasFailed, target }: DueConfig): RuleResult {
  if (hasFailed) return waitFor(reasonOf(failureOf(failures, target)), 'watch');
  return waitFor('Drifted', 'read', { progress: true });
}

/** The steps of an update; undefined when it failed before, or was just reverted by another controller. */
function configSteps(s: EksDerived, { change, target, hasFailed, isUndone }: DueConfig): Step[] | undefined {
  if (s.group.kind !== 'seen' || hasFailed || isUndone) return undefined;
  const token = tokenFor(s.pool, 'update', change, s.pool.status?.nodeGroup?.update?.id);
  const fields = fieldsOfChange(s.pool, change);
  return [
    ...rememberSending(s, fields),
    {
      kind: 'updateConfig',
      group: s.group.group.name,
      ...terminatedBy(change, s.group.group),
      change,
      token,
      target,
      ...driftAmong(s, fields),
    },
  ];
}

/** How many nodes a smaller desired size terminates. */
function terminatedBy({ scaling }: ConfigChange, { scaling: seen }: NodeGroup): { ends?: number } {
  const ends = seen.desiredSize - (scaling?.desiredSize ?? seen.desiredSize);
  return ends > 0 ? { ends } : {};
}

/** Ensures that the tags follow the spec; EKS accepts them in any state. */
export function correctTags(s: EksDerived): Step[] | undefined {
  if (s.group.kind !== 'seen') return undefined;
  if (['DELETING', 'CREATE_FAILED', 'DELETE_FAILED'].includes(s.group.group.status)) return undefined;
  const change = s.due.tags;
  if (!change) return undefined;
  const fields = [...Object.keys(change.set), ...change.remove].map(tagField);
  return [
    ...rememberSending(s, fields),
    { kind: 'correctTags', group: s.group.group, change, ...driftAmong(s, fields) },
  ];
}

/**
 * Ensures that the cluster-autoscaler knows what a new node is like while the group is empty: otherwise it would never start the first one.
 * The operator's tags are recorded in status before they are set.
 */
export function correctScalingTags(s: EksState): Step[] | undefined {
  if (s.group.kind !== 'seen') return undefined;
  return scalingTagChanges(s).flatMap((change): Step[] => {
    const scalingTags = withScalingTags(rememberedTags(s.pool), change);
    const isKnown = scalingTags.length === rememberedTags(s.pool).length;
    return [...(isKnown ? [] : writeAhead(s, { scalingTags })), { kind: 'correctScalingTags', change }];
  });
}

/** The step before a group is created that needs it: EKS would create an entry of type EC2_LINUX for a role that has none. */
export function accessEntryFirst(s: EksDerived): Step[] {
  const { input } = s.due.prerequisites;
  const role = input && missingAccessEntry(input);
  if (!role) return [];
  // The token is new each time: an existing entry is refused by its name, and for a deleted one EKS would repeat its earlier answer.
  return [{ kind: 'createAccessEntry', role, token: tokenFor(s.pool, 'access', role, String(s.now)) }];
}

/** The differences among the fields that are drift. */
function driftAmong(
  { due: { differences } }: EksDerived,
  fields: readonly string[],
): { drift?: readonly Difference[] } {
  const drift = differences.all.filter(({ field, isDrift }) => isDrift && fields.includes(field));
  return drift.length > 0 ? { drift } : {};
}

/**
 * Records which fields are about to be sent: after a crash it is unknown whether they were, and their desired values are sent again.
 * Corrected drift is not recorded: the record already has the value, and if the call fails, the field is still drift.
 */
function rememberSending(s: EksDerived, fields: readonly string[]): Step[] {
  return writeAhead(s, { sending: changedAmong(s, fields) });
}

function changedAmong(s: EksDerived, fields: readonly string[]): string[] {
  const edited = driftAmong(s, fields).drift?.map(({ field }) => field) ?? [];
  return fields.filter((field) => !edited.includes(field) && !keepsImage(s, field));
}

/** Whether the update leaves the AMI as it is, because the parameter in the spec has none. */
function keepsImage({ pool: { spec }, prerequisites }: EksState, field: string): boolean {
  return field === launchSettingsField(AMI) && followsImage(spec) && selectedImage(spec, prerequisites) === undefined;
}

/** Reserves the pool's share of the disruption budget, and records what is about to be sent. */
function reserveUpdate(s: EksDerived, change: VersionChange, target: string, fields: readonly string[]): Step[] {
  return writeAhead(s, { sending: changedAmong(s, fields), reservation: reservationFor(s, change, target) }).map(
    ({ ahead }) => ({
      kind: 'reserveUpdate',
      ahead,
    }),
  );
}

/**
 * A client request token: when a call is repeated after a crash, EKS repeats its answer; the same change of another group, or after another
 * update, gets another token. The pool's UID distinguishes a recreated pool from the former one.
 */
export function tokenFor(pool: WindowsPool, step: string, payload: unknown, last: string | undefined): string {
  return `${pool.metadata.name.slice(0, 40)}-${hashOf({ uid: pool.metadata.uid, step, payload, last })}`;
}
