/** What EKS refused or failed to do. Remembered in status, so that it is not tried again for ever. Pure. */

import type { NodeGroupState } from '../../api.gen.ts';
import { RETRY_ANNOTATION } from '../../labels.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { StepError } from '../../model/stepError.ts';
import type { Step } from '../../model/steps.ts';
import { nodeGroupIn } from '../../nodeSource.ts';
import type { CallError } from '../../ports/callResult.ts';
import type { NodeGroupUpdate } from '../../ports/eks.ts';
import { createdFrom, groupOf } from '../../queries.ts';
import type { Reason } from '../../reasons.ts';
import { timeOf } from '../../util/durations.ts';
import { joined, sentence } from '../../util/words.ts';
import { configChangeFor, configTargetOf } from './groupChanges.ts';
import { nodeGroupNameOf, pinnedMinor } from './nodeGroup.ts';
import { describeStuckPods, isEvictionFailure } from './upgrades/evictions.ts';
import { isNewerMinor } from './upgrades/releaseVersion.ts';
import { automaticChangeFor, preparationFor, versionChangeFor, versionTargetOf } from './upgrades/versionChanges.ts';

export type FailedTarget = NonNullable<NodeGroupState['failedTarget']>;

/** The failure of what the spec asks for: found out just now, or remembered. An automatic update is none of that. */
export function failedTargetOf(s: ObservedState): FailedTarget | undefined {
  const automatic = automaticTarget(s);
  return standingFailures(s).find(({ target }) => target !== automatic);
}

/** The failure of the update to the newest release, which nobody asked for. */
export function failedAutomaticUpdate(s: ObservedState): FailedTarget | undefined {
  const automatic = automaticTarget(s);
  return standingFailures(s).find(({ target }) => target === automatic);
}

/**
 * All that status remembers: a release may have failed, and then a label. None is forgotten for another, or both would be tried in turns.
 * One that the user wants to be tried again is forgotten when it went well.
 */
export function failedTargetsOf(s: ObservedState): FailedTarget[] {
  const found = [refusedCreation(s), refusedConfig(s), refusedVersion(s), failedUpdate(s)].filter(
    (failed) => failed !== undefined,
  );
  const isFound = ({ target }: FailedTarget) => found.some((failed) => failed.target === target);
  return [...found, ...openFailures(s).filter((failed) => !isFound(failed))];
}

/** What the last try at this target came to. */
export function hasFailed(s: ObservedState, target: string): boolean {
  return standingFailures(s).some((failed) => failed.target === target);
}

/** Whether the user wants that a target which failed is tried again. */
export function isAskedAgain(s: ObservedState, target: string): boolean {
  return openFailures(s).some((failed) => failed.target === target && isRetried(s, failed));
}

/** What is remembered to have failed, is still asked for, and is not to be tried again because the user says so. */
export function rememberedFailures(s: ObservedState): FailedTarget[] {
  return openFailures(s).filter((failed) => !isRetried(s, failed));
}

/** Found out just now or remembered, and not to be tried again. */
function standingFailures(s: ObservedState): FailedTarget[] {
  return failedTargetsOf(s).filter((failed) => !isRetried(s, failed));
}

function openFailures(s: ObservedState): FailedTarget[] {
  const { failedTarget, moreFailedTargets = [] } = s.pool.status?.nodeGroup ?? {};
  const open = openTargets(s);
  return [...(failedTarget ? [failedTarget] : []), ...moreFailedTargets].filter(
    (failed) => open.has(failed.target) && !hasPassed(s, failed),
  );
}

/** Whether it is time to send again what EKS may accept by now: at the next regular look, which comes after 3/4 of the interval at the earliest. */
function hasPassed({ now, settings }: ObservedState, { reason, time }: FailedTarget): boolean {
  return reason === NOT_OFFERED && now >= Date.parse(time) + settings.resyncMs / 2;
}

function isRetried({ pool }: ObservedState, failed: FailedTarget): boolean {
  const { retry } = retryOf(pool);
  return retry !== undefined && retry !== failed.retry;
}

/** The annotation that asks for another try, as it is now. */
function retryOf({ metadata }: ObservedState['pool']): Pick<FailedTarget, 'retry'> {
  const retry = metadata.annotations?.[RETRY_ANNOTATION]?.slice(0, RETRY_LENGTH);
  return retry === undefined ? {} : { retry };
}

function refusedCreation(s: ObservedState): FailedTarget | undefined {
  const lasting = lastingError(s, 'createNodeGroup');
  if (!lasting) return undefined;
  const { error, at } = lasting;
  const reason = error.kind === 'limit' ? 'QuotaExceeded' : 'CreateRefused';
  const message = `EKS refused to create node group ${nodeGroupNameOf(s.pool)}: ${error.message}${olderPin(s, error)}`;
  return { target: createdFrom(s), reason, message, time: timeOf(at), ...retryOf(s.pool) };
}

/**
 * That the pin may be the cause: the cluster's Kubernetes version "is the only accepted specified value", as the API reference says of
 * CreateNodegroup. https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html
 */
function olderPin({ pool, cluster }: ObservedState, { message }: CallError): string {
  const pinned = pinnedMinor(pool.spec);
  const version = cluster.kind === 'seen' ? cluster.cluster.kubernetesVersion : undefined;
  if (!pinned || !version || !isNewerMinor(version, pinned) || !/version/i.test(message)) return '';
  const field = nodeGroupIn(pool.spec).kubernetesVersion ? 'kubernetesVersion' : 'releaseVersion';
  return `${message.endsWith('.') ? '' : '.'} spec.nodeGroup.${field} pins Kubernetes ${pinned}, and the cluster has ${version}: EKS creates node groups of the cluster's version. Remove the pin, or pin ${version}`;
}

function refusedConfig(s: ObservedState): FailedTarget | undefined {
  return refusedUpdate(s, 'updateConfig');
}

function refusedVersion(s: ObservedState): FailedTarget | undefined {
  return refusedUpdate(s, 'updateNodeGroupVersion');
}

function refusedUpdate(s: ObservedState, step: Step['kind']): FailedTarget | undefined {
  const lasting = lastingError(s, step);
  const target = lasting?.target;
  if (lasting?.error.kind !== 'refused' || target === undefined || !openTargets(s).has(target)) return undefined;
  const message = `EKS refused to update node group ${nodeGroupNameOf(s.pool)}: ${lasting.error.message}`;
  const reason = lasting.error.passes ? NOT_OFFERED : 'UpdateRefused';
  return { target, reason, message, time: timeOf(lasting.at), ...retryOf(s.pool) };
}

const NOT_OFFERED = 'ReleaseNotOffered' satisfies Reason;

/** When a failed change of a node group is tried again, in a sentence. */
export function describeRetry({ reason }: FailedTarget): string {
  if (reason === NOT_OFFERED)
    return `It is tried again at each --resync-interval, and at once when the spec or the annotation ${RETRY_ANNOTATION} changes.`;
  return `It is not tried again until the spec or the annotation ${RETRY_ANNOTATION} changes.`;
}

/** Only DescribeUpdate tells that an update failed: the group is ACTIVE again, and as it was. */
function failedUpdate(s: ObservedState): FailedTarget | undefined {
  const { pool, update, now } = s;
  const memory = pool.status?.nodeGroup?.update;
  if (update?.status !== 'Failed' || memory?.id !== update.id || !openTargets(s).has(memory.target)) return undefined;
  const words = update.errors.map((error) => sentence(describeError(error))).join(' ');
  const pods = isEvictionFailure(update) ? ` ${describeStuckPods(s.stuckPods)}` : '';
  const message = `Update ${update.id} of node group ${nodeGroupNameOf(pool)} failed: ${words || 'EKS gives no reason.'}${pods}`;
  return { target: memory.target, reason: 'UpdateFailed', message, time: timeOf(now), ...retryOf(pool) };
}

/** EKS' words, with the nodes that it names beside them. */
export function describeError({ code, message, resourceIds }: NodeGroupUpdate['errors'][number]): string {
  const named = resourceIds.filter((id) => !message.includes(id));
  return `${code}: ${message}${named.length > 0 ? ` (${joined(named)})` : ''}`;
}

/** The schema takes no longer one. */
const RETRY_LENGTH = 256;

/** What the spec asks for now; nothing when the group is as it says, by whatever means. */
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

/** Trouble that the same call would meet again. */
function lastingError({ errors }: ObservedState, step: Step['kind']): StepError | undefined {
  return errors.find((entry) => entry.step === step && ['refused', 'limit', 'unknown'].includes(entry.error.kind));
}
