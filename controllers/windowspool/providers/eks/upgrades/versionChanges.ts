/** The call that brings a node group to its desired Kubernetes version, AMI release and launch template version. Pure. */

import type { WindowsPool } from '../../../api.gen.ts';
import type { ObservedState } from '../../../model/observedState.ts';
import { nodeGroupIn } from '../../../nodeSource.ts';
import {
  type ConfigChange,
  CUSTOM,
  type NodeGroup,
  type TemplateVersion,
  type VersionChange,
} from '../../../ports/eks.ts';
import { groupOf } from '../../../queries.ts';
import { hashOf } from '../../../util/hash.ts';
import { isTemplateField, RELEASE, TEMPLATE, VERSION } from '../applied.ts';
import { machineField } from '../appliedRecord.ts';
import { differencesOf, differencesToCorrect, isFollowing } from '../differences.ts';
import { configChangeFor } from '../groupChanges.ts';
import { desiredMachine, wantedTexts } from '../machine/desiredMachine.ts';
import { hasMachine, isCustom } from '../machine/machine.ts';
import { pinnedMinor, pinsOf, updateOf } from '../nodeGroup.ts';
import { desiredTemplate } from './desiredTemplate.ts';
import { isMadeFrom, pinnedTemplateVersion } from './launchTemplate.ts';
import { isNewerMinor, isNewerRelease, lifeOf, minorOf } from './releaseVersion.ts';

/** The UpdateNodegroupVersion that is due, undefined when there is none: first for what the spec pins, then an automatic one. */
export function versionChangeFor(s: ObservedState): VersionChange | undefined {
  const group = changeableGroup(s);
  return group && (askedChange(s, group) ?? automaticChange(s, group));
}

/** The update that is due when it is automatic: to the newest release and launch template version, with policy Automatic. */
export function automaticChangeFor(s: ObservedState): VersionChange | undefined {
  const group = changeableGroup(s);
  return group && !askedChange(s, group) ? automaticChange(s, group) : undefined;
}

/** The group, unless EKS selects its AMI and should not, or the other way round: another group has to replace it. */
function changeableGroup(s: ObservedState): NodeGroup | undefined {
  const group = groupOf(s);
  return group && isCustom(s.pool.spec) === (group.amiType === CUSTOM) ? group : undefined;
}

/** The AMI in the launch template of an update without a release, which is one of a group with a custom AMI; undefined for other updates. */
export function imageIn(s: ObservedState, { kubernetesVersion }: VersionChange): string | undefined {
  return kubernetesVersion === undefined ? desiredMachine(s)?.imageId : undefined;
}

/** A hash of what the update sends and how nodes are replaced: a failed one is not repeated while this stays the same. */
export function versionTargetOf({ spec }: WindowsPool, change: VersionChange): string {
  return hashOf({ version: change, ...updateOf(spec) });
}

/**
 * A hash of what the update installs on this group: that of {@link versionTargetOf} differs when the version of the operator's launch template was pruned
 * and is created again. Undefined while the content of that template is not known.
 */
export function contentOf(s: ObservedState, { launchTemplate, ...rest }: VersionChange): string | undefined {
  const { spec } = s.pool;
  const machine = launchTemplate && hasMachine(spec) ? desiredMachine(s) : launchTemplate;
  if (launchTemplate && !machine) return undefined;
  return hashOf({ version: { ...rest, template: machine }, ...updateOf(spec), group: groupOf(s)?.arn });
}

/** The settings that must be sent before a version update: it would replace more nodes at a time than the spec now allows. */
export function preparationFor(s: ObservedState): ConfigChange | undefined {
  const group = groupOf(s);
  const update = group && versionChangeFor(s) && configChangeFor(s.pool, group)?.update;
  return update && { update };
}

/** The fields that the update changes. */
export function fieldsOfVersionChange(pool: WindowsPool, { launchTemplate }: VersionChange): string[] {
  const { spec } = pool;
  const { kubernetesVersion, releaseVersion } = pinsOf(spec);
  const isTemplateSent = launchTemplate !== undefined && pinnedTemplateVersion(spec) !== undefined;
  const isMachineSent = launchTemplate !== undefined && hasMachine(spec);
  return [
    ...(kubernetesVersion ? [VERSION] : []),
    ...(releaseVersion ? [RELEASE] : []),
    ...(isTemplateSent ? [TEMPLATE] : []),
    ...(isMachineSent ? Object.keys(wantedTexts(pool)).map(machineField) : []),
  ];
}

/** Whether the spec pins a version that is newer than the control plane, which a kubelet must not be. */
export function isAheadOfCluster({ pool, cluster }: Pick<ObservedState, 'pool' | 'cluster'>): boolean {
  const minor = pinnedMinor(pool.spec);
  return minor !== undefined && cluster.kind === 'seen' && isNewerMinor(minor, cluster.cluster.kubernetesVersion);
}

/** The update to what the spec pins: a Kubernetes version, a release, a launch template version. */
function askedChange(s: ObservedState, group: NodeGroup): VersionChange | undefined {
  const versions = isAheadOfCluster(s) ? undefined : pinnedVersions(s.pool, group);
  const isTemplateDue = differencesToCorrect(s.pool, group).some(({ field }) => isTemplateField(field));
  return combined(s, group, versions, isTemplateDue ? templateFor(s, group) : undefined);
}

/** With policy Automatic, the update to what the spec does not pin: the newest release, and the current version of `$Latest` or `$Default`. */
function automaticChange(s: ObservedState, group: NodeGroup): VersionChange | undefined {
  if (nodeGroupIn(s.pool.spec).update.policy !== 'Automatic') return undefined;
  return combined(s, group, isAheadOfCluster(s) ? undefined : newerVersions(s, group), followedTemplate(s, group));
}

type Versions = Pick<VersionChange, 'kubernetesVersion' | 'releaseVersion'>;

/**
 * One update for both, because it replaces every node. A group with a custom AMI has neither version nor release of its own. Without a new release it names the present one, because EKS might use the newest.
 * When AWS has made the present one private, no node can start from it: unless the spec pins it, it is left out, and EKS uses the newest.
 */
function combined(
  s: ObservedState,
  group: NodeGroup,
  versions: Versions | undefined,
  launchTemplate: TemplateVersion | undefined,
): VersionChange | undefined {
  const { pool } = s;
  const { force } = nodeGroupIn(pool.spec).update;
  const { amiType, kubernetesVersion, releaseVersion } = group;
  if (amiType === CUSTOM) return launchTemplate && { launchTemplate, force };
  const isLeftOut = releaseVersion !== undefined && !nodeGroupIn(pool.spec).releaseVersion && isGone(s, releaseVersion);
  const present = kubernetesVersion && { kubernetesVersion, ...(releaseVersion && !isLeftOut && { releaseVersion }) };
  const base = versions ?? (launchTemplate && present);
  if (!base) return undefined;
  const release = base.releaseVersion ?? releaseToTry(s, base);
  return {
    ...base,
    ...(release && { releaseVersion: release }),
    ...(launchTemplate && { launchTemplate }),
    force,
  };
}

/** With a canary, an update names its release, which EKS would choose otherwise: what the canary shows is true of one release only. */
function releaseToTry(s: ObservedState, { kubernetesVersion }: Versions): string | undefined {
  const newest = nodeGroupIn(s.pool.spec).update.canary && newestFor(s);
  return newest && minorOf(newest) === kubernetesVersion ? newest : undefined;
}

/** Whether the AMI of a release is private. AWS keeps the newest one public, whatever its age. */
function isGone(s: ObservedState, release: string): boolean {
  const newest = newestFor(s);
  const isOld = s.now >= (lifeOf(release)?.private ?? Number.POSITIVE_INFINITY);
  return isOld && newest !== undefined && isNewerRelease(newest, release);
}

/**
 * The version of the launch template that the group lacks, although the spec did not change: the spec follows `$Latest` or `$Default`, or the tags of
 * security groups. Undefined also when it does not exist yet, or EKS does not accept it.
 */
export function followedTemplate(s: ObservedState, group: NodeGroup): TemplateVersion | undefined {
  if (hasMachine(s.pool.spec)) return followsMachine(s, group) ? templateFor(s, group) : undefined;
  return pinnedTemplateVersion(s.pool.spec) === undefined ? templateFor(s, group) : undefined;
}

/** Whether the group's machine differs from the spec only because other security groups have the tags in the spec. */
export function followsMachine({ pool }: Pick<ObservedState, 'pool'>, group: NodeGroup): boolean {
  const differing = differencesOf(pool, group).filter(({ field }) => isTemplateField(field));
  return differing.length > 0 && differing.every((difference) => isFollowing(pool, difference));
}

/** The version of the launch template that the group lacks; undefined for a group of another template, or of none. */
function templateFor(s: ObservedState, group: NodeGroup): TemplateVersion | undefined {
  const template = desiredTemplate(s, group);
  if (!template || !isMadeFrom(group, template)) return undefined;
  return template.version === group.launchTemplate?.version ? undefined : template;
}

function newerVersions(s: ObservedState, { releaseVersion }: NodeGroup): Versions | undefined {
  const newest = newestFor(s);
  if (nodeGroupIn(s.pool.spec).releaseVersion || !newest || !releaseVersion) return undefined;
  if (!isNewerRelease(newest, releaseVersion)) return undefined;
  return { kubernetesVersion: minorOf(newest), releaseVersion: newest };
}

/**
 * The newest release of the desired minor version. While it cannot be read, the last known one is used, so that a failed update does not
 * look like a new target.
 */
function newestFor({ pool, cluster, newestRelease }: ObservedState): string | undefined {
  const newest = newestRelease?.ok ? newestRelease.value : pool.status?.nodeGroup?.latestReleaseVersion;
  const known = cluster.kind === 'seen' ? cluster.cluster.kubernetesVersion : undefined;
  const minor = nodeGroupIn(pool.spec).kubernetesVersion ?? known;
  return newest && (minor === undefined || minorOf(newest) === minor) ? newest : undefined;
}

function pinnedVersions(pool: WindowsPool, group: NodeGroup): Versions | undefined {
  const differs = differencesToCorrect(pool, group).some(({ field }) => field === VERSION || field === RELEASE);
  const kubernetesVersion = pinnedMinor(pool.spec);
  if (!differs || kubernetesVersion === undefined) return undefined;
  const { releaseVersion } = pinsOf(pool.spec);
  return { kubernetesVersion, ...(releaseVersion && { releaseVersion }) };
}
