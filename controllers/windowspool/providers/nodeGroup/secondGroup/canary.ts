/**
 * A canary: a second node group on which a version is tried before the main group is updated (`nodeGroup.update.canary`). Pure.
 *
 *   update due --recorded--> created --all nodes verified for `after`--> main group is updated --> drained, then deleted
 *                               |                                                                      ^
 *                               +--a node fails or does not join, EKS refuses it, another version------+
 */
import type { CanarySpec, FailedChange, WindowsPool, WindowsPoolSpec } from '../../../api/api.gen.ts';
import { CANARY_TAG } from '../../../api/labels.ts';
import type { NodeCheck } from '../../../api/reasons.ts';
import { FINDING_LENGTH } from '../../../api/statusLimits.ts';
import type { VerificationResult } from '../../../model/poolNodesView.ts';
import { describeFinding, isOfTheRelease } from '../../../nodes/releaseChecks.ts';
import type { NodeGroup, TemplateVersion, VersionChange } from '../../../ports/eks.ts';
import type { LaunchSettings } from '../../../ports/ownTemplates.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { durationOf } from '../../../util/durations.ts';
import { hashOf } from '../../../util/hash.ts';
import { count, cut, describeFailure, duration, sentence } from '../../../util/words.ts';
import { remedyForTaint } from '../changes/reservedTaints.ts';
import { acceptsUpdates, nodeGroupNameOf, secondNameOf } from '../desired/desiredNodeGroup.ts';
import {
  desiredLaunchSettings,
  isLaunchSettingsAnswered,
  isLaunchSettingsKnown,
} from '../launchTemplate/desiredLaunchSettings.ts';
import { describeRelease } from '../launchTemplate/image.ts';
import { isCustom } from '../launchTemplate/launchSettings.ts';
import { ownTemplateIn, versionWith } from '../launchTemplate/ownTemplate.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { ownedGroup, rejectionOf } from '../observation/knownGroups.ts';
import { describeFirstIssue } from '../reporting/healthIssues.ts';
import { imageIn } from '../versions/versionChanges.ts';
import { canaryIn, isDraining } from './secondGroup.ts';

/** The canary that the spec asks for; undefined when updates begin without one. */
export function canarySpecIn(spec: WindowsPoolSpec): CanarySpec | undefined {
  return nodeGroupIn(spec).update.canary;
}

/** Whether the group is a canary, by its tag. */
export function isCanary({ tags }: Pick<NodeGroup, 'tags'>): boolean {
  return CANARY_TAG in tags;
}

/** A hash of what a canary tries: while it stays the same, the canary goes on. */
export function canaryTargetOf({ spec }: WindowsPool, change: VersionChange): string {
  const { kubernetesVersion, releaseVersion, launchTemplate } = change;
  return hashOf({ kubernetesVersion, releaseVersion, launchTemplate, nodes: canarySpecIn(spec)?.nodes });
}

/** Whether a canary exists, or is about to be created, that has not ended. */
export function isOpen({ pool }: Pick<EksState, 'pool'>): boolean {
  return canaryIn(pool) !== undefined && !isDraining({ pool });
}

/** Whether the main group is known, and EKS is not updating it. */
export function isMainIdle({ pool, group }: Pick<EksState, 'pool' | 'group'>): boolean {
  const main = ownedGroup(pool, group);
  const isUpdating = pool.status?.nodeGroup?.update?.status === 'InProgress';
  return main !== undefined && acceptsUpdates(main) && !isUpdating;
}

/**
 * Whether an update that is not due any more is one that the spec dropped, that the main group got, or that cannot be made. Until the launch template and
 * what it should contain are read, such as the SSM parameter of a custom AMI, that is unknown.
 */
export function isMainSettled(s: EksState): boolean {
  return isMainIdle(s) && (isLaunchSettingsKnown(s) || isLaunchSettingsAnswered(s));
}

/** Whether the group with the name of the canary is another canary, such as one whose record was lost: it shows nothing about the update. */
export function isAnotherCanary(s: EksState): boolean {
  const canary = ownedGroup(s.pool, s.second);
  return canary !== undefined && canary.tags[CANARY_TAG] !== canaryIn(s.pool)?.target;
}

/** Whether all nodes of the canary are verified and accept pods. */
export function isWhole(s: EksState): boolean {
  const canary = ownedGroup(s.pool, s.second);
  if (canary?.status !== 'ACTIVE' || isAnotherCanary(s)) return false;
  const { verified, total } = s.poolNodes.inGroup(canary.name);
  return verified > 0 && verified === total && verified >= canary.scaling.desiredSize;
}

/**
 * When the nodes of the open canary will have been verified for long enough, in epoch milliseconds, if all of them are verified; undefined if the spec
 * asks for no canary. In the run that finds the last of them verified, status does not have the phase yet.
 */
export function passesAt({ pool, now }: Pick<EksState, 'pool' | 'now'>): number | undefined {
  const record = canaryIn(pool);
  const after = canarySpecIn(pool.spec)?.soakDuration;
  if (after === undefined) return undefined;
  return (record?.phase === 'Soaking' ? Date.parse(record.lastTransitionTime) : now) + durationOf(after);
}

/** Whether the canary has shown that the main group may be updated. */
export function hasPassed(s: EksDerived): boolean {
  const at = passesAt(s);
  return at !== undefined && s.now >= at && isWhole(s) && s.due.version?.isTried === true;
}

/** The release that the canary has and that failed on it: at least as many of its nodes fail because of their AMI as are verified. */
export function failedRelease(s: EksState): FailedChange['release'] {
  const canary = ownedGroup(s.pool, s.second);
  if (!canary?.releaseVersion) return undefined;
  const found = failingNodes(s, canary.name).flatMap(({ node, failures }) => {
    const failure = failures.find(isOfTheRelease);
    return failure ? [{ node: node.name, finding: cut(describeFinding(failure), FINDING_LENGTH) }] : [];
  });
  const [first] = found;
  if (!first || found.length < s.poolNodes.inGroup(canary.name).verified) return undefined;
  return { version: canary.releaseVersion, ...first };
}

/** Why a canary fails. */
interface CanaryFault {
  readonly message: string;
  /** Whether EKS does not offer the release yet: the same canary may be created later. */
  readonly isTransient?: true;
}

/** Why the version change that the canary tries is not for the main group; undefined while nothing shows that, and once the main group is updated. */
export function canaryFault(s: EksState, change: VersionChange): CanaryFault | undefined {
  const why = isMainSettled(s) ? faultOf(s) : undefined;
  if (!why) return undefined;
  const { name = '' } = canaryIn(s.pool) ?? {};
  const message = `Canary ${name} with ${describeTried(triedBy(s, change))} failed: ${sentence(why)} Node group ${nodeGroupNameOf(s.pool)} was not updated`;
  return { message, ...(refusalOf(s)?.isTransient && { isTransient: true }) };
}

/** Checks that a node fails for a while when it restarts: the time in which new nodes join is enough for that. */
const TRANSIENT_CHECKS: readonly NodeCheck[] = ['NotReady'];

function faultOf(s: EksState): string | undefined {
  const refusal = refusalOf(s);
  if (refusal) return describeFailure({ ...refusal, message: `${refusal.message}${remedyForTaint(s.pool, refusal)}` });
  if (s.second?.kind !== 'seen') return undefined;
  const canary = ownedGroup(s.pool, s.second);
  if (!canary) return `a node group with this name exists, which does not belong to the pool. Delete it`;
  if (canary.status === 'CREATE_FAILED') return `EKS could not create it: ${describeFirstIssue(canary)}`;
  const failing = failingNodes(s, canary.name).find((result) => isShown(result, s));
  if (failing) return `node ${failing.node.name} failed verification: ${describeFailures(failing)}`;
  const record = canaryIn(s.pool);
  if (record?.phase !== 'Verifying' || isWhole(s)) return undefined;
  if (s.now < Date.parse(record.lastTransitionTime) + s.settings.joinGraceMs) return undefined;
  if (canary.status === 'DEGRADED') return `EKS says that it is DEGRADED: ${describeFirstIssue(canary)}`;
  const { verified } = s.poolNodes.inGroup(canary.name);
  const [first] = failingNodes(s, canary.name);
  const why = first ? `; node ${first.node.name}: ${describeFailures(first)}` : '';
  return `${verified} of ${count(canary.scaling.desiredSize, 'node')} verified after ${duration(s.settings.joinGraceMs)} (--join-grace)${why}`;
}

/**
 * Whether the node shows at once that the canary fails. A new node without pod addresses fails early only by an event, which any user who may create events in
 * the namespace default can forge: the failure of a canary is remembered, so its node has the time in which new nodes join.
 */
function isShown({ node, failures }: VerificationResult, { now, settings }: EksState): boolean {
  const isNew = now < node.createdAt + settings.joinGraceMs;
  return failures.some(({ reason }) => !TRANSIENT_CHECKS.includes(reason) && !(isNew && reason === 'NoPodAddresses'));
}

function refusalOf(s: EksState) {
  return rejectionOf(s, 'createCanary')?.error;
}

/** A kubelet can label its node as one of the group, and must not make its release fail. */
function failingNodes({ poolNodes }: EksState, group: string): VerificationResult[] {
  return poolNodes.failing.filter(({ node }) => poolNodes.isListed(node) && poolNodes.groupOf(node) === group);
}

function describeFailures({ failures: [failure] }: VerificationResult): string {
  return failure ? describeFinding(failure) : 'unknown';
}

/** What a canary tries. The release of a group with a custom AMI is its ID, as EKS reports it. */
type Tried = Pick<VersionChange, 'kubernetesVersion' | 'releaseVersion' | 'launchTemplate'>;

/** What a canary of this update tries. */
export function triedBy(s: EksState, change: VersionChange): Tried {
  const image = imageIn(s, change);
  return image === undefined ? change : { ...change, releaseVersion: image };
}

/** What a canary tries, in words: `release 1.36-2026.03.17`, `AMI ami-0a000002 and version 3 of its launch template`. */
export function describeTried({ kubernetesVersion, releaseVersion, launchTemplate }: Tried): string {
  const version = releaseVersion
    ? describeRelease(releaseVersion)
    : `the newest release for Kubernetes ${kubernetesVersion}`;
  return launchTemplate ? `${version} and version ${launchTemplate.version} of its launch template` : version;
}

/**
 * The launch settings of a canary that needs a version of its own of the launch template; undefined if it needs none, or its launch settings are not known. With a custom AMI,
 * the user data contains the name of the node group: the version differs from the one that is tried in that name only.
 */
export function canaryLaunchSettings(s: EksState): LaunchSettings | undefined {
  return isCustom(s.pool.spec) ? desiredLaunchSettings(s, secondNameOf(s.pool)) : undefined;
}

/** The version for the canary of this update. `missing`: it must be created first. Undefined if the main group has no launch template. */
export function canaryTemplate(
  s: EksState,
  main: NodeGroup,
  change: VersionChange,
): TemplateVersion | 'missing' | undefined {
  if (!isCustom(s.pool.spec)) {
    const { id, version = '' } = main.launchTemplate ?? {};
    return change.launchTemplate ?? (main.launchTemplate && { ...(id !== undefined && { id }), version });
  }
  const template = ownTemplateIn(s);
  const launchSettings = canaryLaunchSettings(s);
  const found = template && launchSettings && versionWith(template, launchSettings, undefined);
  return found ? { id: template.id, version: found.version } : 'missing';
}
