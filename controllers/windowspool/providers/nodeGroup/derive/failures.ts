/** Changes that EKS refused or failed to make, of this run or from status. Status keeps them, so that they are not repeated forever. Pure. */
import type { FailedChange, WindowsPool } from '../../../api/api.gen.ts';
import type { Step } from '../../../model/steps.ts';
import type { CallError } from '../../../ports/callResult.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { timeOf } from '../../../util/durations.ts';
import { sentence } from '../../../util/words.ts';
import { describeError, isRetriable, MOST_FAILED_CHANGES, NOT_OFFERED } from '../changes/describeFailedChanges.ts';
import { remedyForTaint } from '../changes/reservedTaints.ts';
import { isRetried, retryOf } from '../changes/retryAnnotation.ts';
import { nodeGroupNameOf, pinnedMinor } from '../desired/desiredNodeGroup.ts';
import { isLaunchSettingsKnown } from '../launchTemplate/desiredLaunchSettings.ts';
import type { FailedTarget, Failures } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { rejectionOf } from '../observation/knownGroups.ts';
import { describeStuckPods, isEvictionFailure } from '../observation/stuckPods.ts';
import { faultInWords } from '../reporting/faultInWords.ts';
import { scriptFirst } from '../reporting/nodeScript.ts';
import { canaryFault, failedRelease } from '../secondGroup/canary.ts';
import { isNewerMinor } from '../versions/releaseVersion.ts';
import type { OpenChanges } from './openChanges.ts';

/** The failures, and which of them stand in the way of a change that is due. */
export interface KnownFailures extends Failures {
  /** Whether the last attempt at this target failed and is not to be repeated. */
  readonly standing: ReadonlySet<string>;
  /** The targets that failed, and for which the user has requested a retry. */
  readonly askedAgain: ReadonlySet<string>;
}

/**
 * The failures of the changes that are open, and those of automatic updates. A release may have failed, and later a label: all are kept, or they would be
 * retried in turns. One for which the user has requested a retry is kept until it succeeds.
 */
export function failuresOf(s: EksState, open: OpenChanges): KnownFailures {
  const targets = openTargets(s, open);
  const inStatus = failuresInStatus(s);
  const known = inStatus.filter((failed) => targets.has(failed.target) && !isRetryDue(s, failed));
  const remembered = known.filter((failed) => !isRetried(s.pool, failed));
  const found = [
    refusedCreation(s, open),
    refusedUpdate(s, 'updateConfig', targets),
    refusedUpdate(s, 'updateNodeGroupVersion', targets),
    failedUpdate(s, targets),
    failedCanary(s, open, remembered),
  ].filter((failed) => failed !== undefined);
  const all = withKnown(s, open, found, known);
  const standing = all.filter((failed) => !isRetried(s.pool, failed));
  const automatic = open.version?.isAutomatic ? open.version.target : undefined;
  const ofAutomatic = standing.find(({ target }) => target === automatic);
  // While it is not known what the launch template should contain, none is forgotten: its update may be due again.
  const ofTargets = isLaunchSettingsKnown(s) ? all : withKnown(s, open, found, inStatus);
  return {
    asked: standing.find(({ target }) => target !== automatic),
    automatic: ofAutomatic,
    remembered,
    targets: ofTargets,
    changes: failedChanges(ofTargets, failedUpdates(s, open, ofAutomatic), open),
    standing: new Set(standing.map(({ target }) => target)),
    askedAgain: new Set(known.filter((failed) => isRetried(s.pool, failed)).map(({ target }) => target)),
  };
}

/** The failures of this run, and others that are known. */
function withKnown(
  s: EksState,
  open: OpenChanges,
  found: readonly FailedTarget[],
  known: readonly FailedTarget[],
): FailedTarget[] {
  const isFound = ({ target }: FailedTarget) => found.some((failed) => failed.target === target);
  const all = [...found, ...known.filter((failed) => !isFound(failed))];
  const recurring = recurringFailure(s, open);
  return recurring && !all.some(({ target }) => target === recurring.target) ? [...all, recurring] : all;
}

/** One list of both. The failure of the automatic update that is due has both keys. */
function failedChanges(
  ofTargets: readonly FailedTarget[],
  updates: readonly FailedUpdate[],
  { version }: OpenChanges,
): FailedChange[] {
  const due = updates.find(({ content }) => content === version?.content);
  const isDue = ({ target }: FailedTarget) => due !== undefined && target === version?.target;
  const kept = ofTargets.slice(0, MOST_FAILED_CHANGES - FAILED_UPDATES);
  const hasDue = kept.some(isDue);
  return [
    ...kept.map((failed) => (isDue(failed) && due ? { ...failed, content: due.content } : failed)),
    ...updates.filter((failed) => !(hasDue && failed === due)),
  ];
}

/** The former failure of an automatic update that is due again, after another one was due. One for which the user has requested a retry is over. */
function recurringFailure(s: EksState, { version }: OpenChanges): FailedTarget | undefined {
  if (version?.content === undefined) return undefined;
  const found = failedUpdatesIn(s.pool).find(({ content }) => content === version.content);
  if (!found || isRetried(s.pool, found)) return undefined;
  return { ...withoutKeys(found), target: version.target };
}

/** The automatic updates that failed, whether they are due or not, for which the user has requested no retry. The last one is the first. */
function failedUpdates(s: EksState, open: OpenChanges, ofDue: FailedTarget | undefined): FailedUpdate[] {
  const found = [failedLongUpdate(s), failedDueUpdate(open, ofDue)].filter((failed) => failed !== undefined);
  const known = failedUpdatesIn(s.pool).filter((failed) => !isRetried(s.pool, failed));
  const isNew = ({ content }: FailedUpdate) => !known.some((failed) => failed.content === content);
  const all = new Map([...found.filter(isNew), ...known].map((failed) => [failed.content, failed]));
  return [...all.values()].slice(0, FAILED_UPDATES);
}

/** How many automatic updates are remembered. */
const FAILED_UPDATES = 5;

/** A failed automatic update: `content` is the hash of what it was to install. */
type FailedUpdate = FailedChange & { readonly content: string };

function failedUpdatesIn({ status }: WindowsPool): readonly FailedUpdate[] {
  const failed = status?.nodeGroup?.failedChanges ?? [];
  return failed.flatMap((each) => (each.content === undefined ? [] : { ...withoutKeys(each), content: each.content }));
}

function withoutKeys({ target: _target, content: _content, ...failed }: FailedChange): FailedChange {
  return failed;
}

/** The failed automatic update that is due. */
function failedDueUpdate({ version }: OpenChanges, failed: FailedTarget | undefined): FailedUpdate | undefined {
  if (!failed || isRetriable(failed) || version?.content === undefined) return undefined;
  return { ...withoutKeys(failed), content: version.content };
}

/** The update that has just failed, even if another one became due since it began. */
function failedLongUpdate(s: EksState): FailedUpdate | undefined {
  const content = s.pool.status?.nodeGroup?.update?.content;
  const failed = content === undefined ? undefined : resultOfUpdate(s);
  if (content === undefined || !failed) return undefined;
  return { ...withoutKeys(failed), content };
}

function failuresInStatus({ pool }: EksState): FailedTarget[] {
  const failed = pool.status?.nodeGroup?.failedChanges ?? [];
  return failed.flatMap((each) => (each.target === undefined ? [] : { ...withoutKeys(each), target: each.target }));
}

/** Whether it is time to retry what EKS may accept by now: at the next regular read, which is due after at least 3/4 of the interval. */
function isRetryDue({ now, settings }: EksState, { reason, time }: FailedTarget): boolean {
  return isRetriable({ reason }) && now >= Date.parse(time) + settings.resyncMs / 2;
}

function refusedCreation(s: EksState, { creation }: OpenChanges): FailedTarget | undefined {
  const lasting = rejectionOf(s, 'createNodeGroup');
  if (!lasting) return undefined;
  const { error, at } = lasting;
  const reason = error.kind === 'limit' ? 'QuotaExceeded' : 'CreateRejected';
  const message = `EKS rejected the creation of node group ${nodeGroupNameOf(s.pool)}: ${error.message}${olderPin(s, error)}${remedyForTaint(s.pool, error)}`;
  return { target: creation.spec, reason, message, time: timeOf(at), ...retryOf(s.pool) };
}

/**
 * Points to the pin as the possible cause: the cluster's Kubernetes version "is the only accepted specified value", according to the API
 * reference. https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html
 */
function olderPin({ pool, cluster }: EksState, { message }: CallError): string {
  const pinned = pinnedMinor(pool.spec);
  const version = cluster.kind === 'seen' ? cluster.cluster.kubernetesVersion : undefined;
  if (!pinned || !version || !isNewerMinor(version, pinned) || !/version/i.test(message)) return '';
  const field = nodeGroupIn(pool.spec).kubernetesVersion ? 'kubernetesVersion' : 'releaseVersion';
  return `${message.endsWith('.') ? '' : '.'} nodeGroup.${field} pins Kubernetes ${pinned}, but the cluster runs ${version}. EKS creates node groups only with the version of the cluster. Remove the pin, or pin ${version}`;
}

function refusedUpdate(s: EksState, step: Step['kind'], open: ReadonlySet<string>): FailedTarget | undefined {
  const lasting = rejectionOf(s, step);
  const target = lasting?.target;
  if (lasting?.error.kind !== 'refused' || target === undefined || !open.has(target)) return undefined;
  const message = `EKS rejected the update of node group ${nodeGroupNameOf(s.pool)}: ${lasting.error.message}${remedyForTaint(s.pool, lasting.error)}`;
  const reason = lasting.error.isTransient ? NOT_OFFERED : 'UpdateRejected';
  return { target, reason, message, time: timeOf(lasting.at), ...retryOf(s.pool) };
}

/** The failure of an update that is still due. */
function failedUpdate(s: EksState, open: ReadonlySet<string>): FailedTarget | undefined {
  const failed = resultOfUpdate(s);
  return failed && open.has(failed.target) ? failed : undefined;
}

/** The failure of the last update. Only DescribeUpdate reports it: the group is ACTIVE again, and unchanged. */
function resultOfUpdate(s: EksState): FailedTarget | undefined {
  const { pool, update, now } = s;
  const recorded = pool.status?.nodeGroup?.update;
  if (update?.status !== 'Failed' || recorded?.id !== update.id) return undefined;
  const words = update.errors.map((error) => sentence(faultInWords(error) ?? describeError(error))).join(' ');
  const { pods, remedy } = isEvictionFailure(update) ? describeStuckPods(s.stuckPods) : { pods: '' };
  const script = update.errors.some(({ code }) => code === 'NodeCreationFailure') ? scriptFirst(s) : '';
  const what = recorded.change ? ` (${recorded.change})` : '';
  const message = `Update of node group ${nodeGroupNameOf(pool)}${what} failed: ${words || 'EKS reports no reason.'}${script}${pods}`;
  const { target } = recorded;
  return { target, reason: 'UpdateFailed', message, ...(remedy && { remedy }), time: timeOf(now), ...retryOf(pool) };
}

/** The failure of the version that a canary tries. The first one found stays. */
function failedCanary(
  s: EksState,
  { version }: OpenChanges,
  remembered: readonly FailedTarget[],
): FailedTarget | undefined {
  const fault = version?.isTried ? canaryFault(s, version.change) : undefined;
  if (!version || !fault) return undefined;
  const { target } = version;
  const known = remembered.find((failed) => failed.target === target);
  const { message, isTransient } = fault;
  const reason = isTransient ? NOT_OFFERED : 'CanaryFailed';
  const release = failedRelease(s);
  return known ?? { target, reason, message, time: timeOf(s.now), ...retryOf(s.pool), ...(release && { release }) };
}

/** The targets that are open now: none when the group matches the spec, for whatever reason. */
function openTargets(s: EksState, { creation, preparation, config, version }: OpenChanges): ReadonlySet<string> {
  const changes = [preparation, config, version].flatMap((change) => change?.target ?? []);
  return new Set([...(s.group.kind === 'seen' ? [] : [creation.spec]), ...changes]);
}
