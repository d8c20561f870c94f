/** Changes that EKS refused or failed to make. They are recorded in status, so that they are not repeated forever. Pure. */

import type { Bookkeeping, NodeGroupState, WindowsPool } from '../../api.gen.ts';
import { RETRY_ANNOTATION } from '../../labels.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Step } from '../../model/steps.ts';
import { nodeGroupIn } from '../../nodeSource.ts';
import type { CallError } from '../../ports/callResult.ts';
import type { NodeGroupUpdate } from '../../ports/eks.ts';
import { createdFrom, groupOf, rejectionOf } from '../../queries.ts';
import type { Reason } from '../../reasons.ts';
import { timeOf } from '../../util/durations.ts';
import { count, joined, sentence } from '../../util/words.ts';
import { canaryFault, failedRelease } from './canary/canary.ts';
import { configChangeFor, configTargetOf } from './groupChanges.ts';
import { isMachineKnown } from './machine/desiredMachine.ts';
import { nodeGroupNameOf, pinnedMinor } from './nodeGroup.ts';
import { describeStuckPods, isEvictionFailure } from './upgrades/evictions.ts';
import { isNewerMinor } from './upgrades/releaseVersion.ts';
import {
  automaticChangeFor,
  contentOf,
  preparationFor,
  versionChangeFor,
  versionTargetOf,
} from './upgrades/versionChanges.ts';

/** A failed change: the hash of what it was to reach, and the reason. */
export type FailedTarget = NonNullable<NodeGroupState['failedTarget']>;

/** A failed automatic update: the hash of what it was to install, and the reason. */
type FailedUpdate = NonNullable<Bookkeeping['failedUpdates']>[number];

/** The failure of what the spec asks for, from this run or from status. Automatic updates are excluded. */
export function failedTargetOf(s: ObservedState): FailedTarget | undefined {
  const automatic = automaticTarget(s);
  return standingFailures(s).find(({ target }) => target !== automatic);
}

/** The failure of the automatic update to the newest release. */
export function failedAutomaticUpdate(s: ObservedState): FailedTarget | undefined {
  const automatic = automaticTarget(s);
  return standingFailures(s).find(({ target }) => target === automatic);
}

/**
 * All failures for status: a release may have failed, and later a label. All are kept, or they would be retried in turns. One for which the
 * user has requested a retry is kept until it succeeds. While it is not known what the launch template should contain, none is forgotten: its update
 * may be due again.
 */
export function failedTargetsOf(s: ObservedState): FailedTarget[] {
  return isMachineKnown(s) ? failures(s) : failures(s, failuresInStatus(s));
}

/** The failures of this run, and others that are known. */
function failures(s: ObservedState, known = openFailures(s)): FailedTarget[] {
  const found = [refusedCreation(s), refusedConfig(s), refusedVersion(s), failedUpdate(s), failedCanary(s)].filter(
    (failed) => failed !== undefined,
  );
  const isFound = ({ target }: FailedTarget) => found.some((failed) => failed.target === target);
  const all = [...found, ...known.filter((failed) => !isFound(failed))];
  const recurring = recurringFailure(s);
  return recurring && !all.some(({ target }) => target === recurring.target) ? [...all, recurring] : all;
}

/** The former failure of an automatic update that is due again, after another one was due. One for which the user has requested a retry is over. */
function recurringFailure(s: ObservedState): FailedTarget | undefined {
  const change = s.group.kind === 'absent' ? undefined : automaticChangeFor(s);
  const content = change && contentOf(s, change);
  const found = content && failedUpdatesIn(s.pool).find((failed) => failed.content === content);
  if (!change || !found || isRetried(s, found)) return undefined;
  const { content: _content, ...failed } = found;
  return { target: versionTargetOf(s.pool, change), ...failed };
}

/** The automatic updates that failed, whether they are due or not, for which the user has requested no retry. The last one is the first. */
export function failedUpdates(s: ObservedState): FailedUpdate[] {
  const found = [failedLongUpdate(s), failedDueUpdate(s)].filter((failed) => failed !== undefined);
  const known = failedUpdatesIn(s.pool).filter((failed) => !isRetried(s, failed));
  const isNew = ({ content }: FailedUpdate) => !known.some((failed) => failed.content === content);
  const all = new Map([...found.filter(isNew), ...known].map((failed) => [failed.content, failed]));
  return [...all.values()].slice(0, FAILED_UPDATES);
}

/** The number of entries in the schema. */
const FAILED_UPDATES = 5;

function failedUpdatesIn({ status }: WindowsPool): readonly FailedUpdate[] {
  return status?.bookkeeping?.failedUpdates ?? [];
}

/** The failed automatic update that is due. */
function failedDueUpdate(s: ObservedState): FailedUpdate | undefined {
  const failed = failedAutomaticUpdate(s);
  const change = failed && !isPassing(failed) ? automaticChangeFor(s) : undefined;
  const content = change && contentOf(s, change);
  if (!failed || content === undefined) return undefined;
  const { target: _target, ...rest } = failed;
  return { content, ...rest };
}

/** The update that has just failed, even if another one became due since it began. */
function failedLongUpdate(s: ObservedState): FailedUpdate | undefined {
  const content = s.pool.status?.nodeGroup?.update?.content;
  const failed = content === undefined ? undefined : resultOfUpdate(s);
  if (content === undefined || !failed) return undefined;
  const { target: _target, ...rest } = failed;
  return { content, ...rest };
}

/** Whether the last attempt at this target failed and is not to be repeated. */
export function hasFailed(s: ObservedState, target: string): boolean {
  return standingFailures(s).some((failed) => failed.target === target);
}

/** Whether the user has requested a retry of a target that failed. */
export function isAskedAgain(s: ObservedState, target: string): boolean {
  return openFailures(s).some((failed) => failed.target === target && isRetried(s, failed));
}

/** The failures in status whose targets are still open, and for which the user has requested no retry. */
export function rememberedFailures(s: ObservedState): FailedTarget[] {
  return openFailures(s).filter((failed) => !isRetried(s, failed));
}

/** Failures from this run or from status that are not to be retried. */
function standingFailures(s: ObservedState): FailedTarget[] {
  return failures(s).filter((failed) => !isRetried(s, failed));
}

function openFailures(s: ObservedState): FailedTarget[] {
  const open = openTargets(s);
  return failuresInStatus(s).filter((failed) => open.has(failed.target) && !hasPassed(s, failed));
}

function failuresInStatus({ pool }: ObservedState): FailedTarget[] {
  const { failedTarget, moreFailedTargets = [] } = pool.status?.nodeGroup ?? {};
  return [...(failedTarget ? [failedTarget] : []), ...moreFailedTargets];
}

/** Whether it is time to retry what EKS may accept by now: at the next regular read, which is due after at least 3/4 of the interval. */
function hasPassed({ now, settings }: ObservedState, { reason, time }: FailedTarget): boolean {
  return isPassing({ reason }) && now >= Date.parse(time) + settings.resyncMs / 2;
}

function isRetried({ pool }: ObservedState, failed: Pick<FailedTarget, 'retry'>): boolean {
  const { retry } = retryOf(pool);
  return retry !== undefined && retry !== failed.retry;
}

/** The current value of the retry annotation. */
function retryOf({ metadata }: ObservedState['pool']): Pick<FailedTarget, 'retry'> {
  const retry = metadata.annotations?.[RETRY_ANNOTATION]?.slice(0, RETRY_LENGTH);
  return retry === undefined ? {} : { retry };
}

function refusedCreation(s: ObservedState): FailedTarget | undefined {
  const lasting = rejectionOf(s, 'createNodeGroup');
  if (!lasting) return undefined;
  const { error, at } = lasting;
  const reason = error.kind === 'limit' ? 'QuotaExceeded' : 'CreateRejected';
  const message = `EKS rejected the creation of node group ${nodeGroupNameOf(s.pool)}: ${error.message}${olderPin(s, error)}`;
  return { target: createdFrom(s), reason, message, time: timeOf(at), ...retryOf(s.pool) };
}

/**
 * Points to the pin as the possible cause: the cluster's Kubernetes version "is the only accepted specified value", according to the API
 * reference. https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html
 */
function olderPin({ pool, cluster }: ObservedState, { message }: CallError): string {
  const pinned = pinnedMinor(pool.spec);
  const version = cluster.kind === 'seen' ? cluster.cluster.kubernetesVersion : undefined;
  if (!pinned || !version || !isNewerMinor(version, pinned) || !/version/i.test(message)) return '';
  const field = nodeGroupIn(pool.spec).kubernetesVersion ? 'kubernetesVersion' : 'releaseVersion';
  return `${message.endsWith('.') ? '' : '.'} nodeGroup.${field} pins Kubernetes ${pinned}, but the cluster runs ${version}. EKS creates node groups only with the version of the cluster. Remove the pin, or pin ${version}`;
}

function refusedConfig(s: ObservedState): FailedTarget | undefined {
  return refusedUpdate(s, 'updateConfig');
}

function refusedVersion(s: ObservedState): FailedTarget | undefined {
  return refusedUpdate(s, 'updateNodeGroupVersion');
}

function refusedUpdate(s: ObservedState, step: Step['kind']): FailedTarget | undefined {
  const lasting = rejectionOf(s, step);
  const target = lasting?.target;
  if (lasting?.error.kind !== 'refused' || target === undefined || !openTargets(s).has(target)) return undefined;
  const message = `EKS rejected the update of node group ${nodeGroupNameOf(s.pool)}: ${lasting.error.message}`;
  const reason = lasting.error.passes ? NOT_OFFERED : 'UpdateRejected';
  return { target, reason, message, time: timeOf(lasting.at), ...retryOf(s.pool) };
}

const NOT_OFFERED = 'ReleaseNotOffered' satisfies Reason;

/** Whether the same change may succeed later, without a change of the spec. */
export function isPassing({ reason }: Pick<FailedTarget, 'reason'>): boolean {
  return reason === NOT_OFFERED;
}

/** When a failed change of a node group is tried again, in a sentence. */
export function describeRetry(pool: WindowsPool, failed: FailedTarget): string {
  if (isPassing(failed)) return `Retried at each --resync-interval; to retry now: ${retryCommand(pool)}`;
  return `Not retried until the spec changes or you run: ${retryCommand(pool)}`;
}

/** The command that retries a failed change. */
export function retryCommand({ metadata }: WindowsPool): string {
  return `kubectl annotate wp ${metadata.name} ${RETRY_ANNOTATION}=$(date +%s) --overwrite`;
}

/** The failure of an update that is still due. */
function failedUpdate(s: ObservedState): FailedTarget | undefined {
  const failed = resultOfUpdate(s);
  return failed && openTargets(s).has(failed.target) ? failed : undefined;
}

/** The failure of the last update. Only DescribeUpdate reports it: the group is ACTIVE again, and unchanged. */
function resultOfUpdate(s: ObservedState): FailedTarget | undefined {
  const { pool, update, now } = s;
  const memory = pool.status?.nodeGroup?.update;
  if (update?.status !== 'Failed' || memory?.id !== update.id) return undefined;
  const words = update.errors.map((error) => sentence(describeError(error))).join(' ');
  const pods = isEvictionFailure(update) ? ` ${describeStuckPods(s.stuckPods)}` : '';
  const message = `Update ${update.id} of node group ${nodeGroupNameOf(pool)} failed: ${words || 'EKS reports no reason.'}${verifiedStill(s)}${pods}`;
  return { target: memory.target, reason: 'UpdateFailed', message, time: timeOf(now), ...retryOf(pool) };
}

/** The failure of the version that a canary tries. The first one found stays. */
function failedCanary(s: ObservedState): FailedTarget | undefined {
  const fault = canaryFault(s);
  if (!fault) return undefined;
  const target = versionTargetOf(s.pool, fault.change);
  const known = rememberedFailures(s).find((failed) => failed.target === target);
  const { message, passes } = fault;
  const reason = passes ? NOT_OFFERED : 'CanaryFailed';
  const release = failedRelease(s);
  return known ?? { target, reason, message, time: timeOf(s.now), ...retryOf(s.pool), ...(release && { release }) };
}

/** How many nodes are still verified: a failed update leaves the group as it was. */
function verifiedStill({ poolNodes: { verified, total } }: ObservedState): string {
  return total > 0 ? ` ${verified} of ${count(total, 'node')} are still verified.` : '';
}

/** The message of EKS, with the resources that it does not name itself. */
export function describeError({ code, message, resourceIds }: NodeGroupUpdate['errors'][number]): string {
  const named = resourceIds.filter((id) => !message.includes(id));
  return `${code}: ${message}${named.length > 0 ? ` (${joined(named)})` : ''}`;
}

/** The maximum length in the schema. */
const RETRY_LENGTH = 256;

/** The targets that are open now: none when the group matches the spec, for whatever reason. */
function openTargets(s: ObservedState): ReadonlySet<string> {
  const creation = s.group.kind === 'seen' ? undefined : createdFrom(s);
  return new Set(
    [creation, openPreparation(s), openConfig(s), openVersion(s)].filter((target) => target !== undefined),
  );
}

function openConfig(s: ObservedState): string | undefined {
  const group = s.group.kind === 'absent' ? undefined : groupOf(s);
  const change = group && configChangeFor(s.pool, group);
  return change && configTargetOf(s.pool, change);
}

function openVersion(s: ObservedState): string | undefined {
  const change = s.group.kind === 'absent' ? undefined : versionChangeFor(s);
  return change && versionTargetOf(s.pool, change);
}

function automaticTarget(s: ObservedState): string | undefined {
  const change = s.group.kind === 'absent' ? undefined : automaticChangeFor(s);
  return change && versionTargetOf(s.pool, change);
}

function openPreparation(s: ObservedState): string | undefined {
  const change = s.group.kind === 'absent' ? undefined : preparationFor(s);
  return change && configTargetOf(s.pool, change);
}
