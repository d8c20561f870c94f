/** The UpdateNodegroupVersion that is due: to the desired Kubernetes version, AMI release and launch template version. Pure. */
import type { WindowsPool } from '../../../api/api.gen.ts';
import { CUSTOM, type NodeGroup, type TemplateVersion, type VersionChange } from '../../../ports/eks.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { hashOf } from '../../../util/hash.ts';
import { isTemplateField, RELEASE, VERSION } from '../changes/appliedFields.ts';
import { pinnedMinor, pinsOf, updateOf } from '../desired/desiredNodeGroup.ts';
import { desiredLaunchSettings } from '../launchTemplate/desiredLaunchSettings.ts';
import { hasLaunchSettings, isCustom } from '../launchTemplate/launchSettings.ts';
import type { Difference } from '../model/changes.ts';
import type { EksDue, GroupDifferences, OpenVersion, Rollback } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf } from '../observation/knownGroups.ts';
import { canarySpecIn, canaryTargetOf, isOpen } from '../secondGroup/canary.ts';
import { canaryIn } from '../secondGroup/secondGroup.ts';
import { isNewerRelease, isPrivate, minorOf } from '../versions/releaseVersion.ts';
import { isMadeFrom, pinnedTemplateVersion } from '../versions/userLaunchTemplate.ts';
import { hasOnlyReferenceDrift, isAheadOfCluster, versionTargetOf } from '../versions/versionChanges.ts';
import { newestFor } from './newestRelease.ts';

/** The version change that is due, undefined when there is none: first for what the spec pins, then an automatic one. */
export function openVersionOf(
  s: EksState,
  {
    differences,
    template,
    followedTemplate,
    rollback,
  }: Pick<EksDue, 'differences' | 'template' | 'followedTemplate' | 'rollback'>,
): OpenVersion | undefined {
  const group = changeableGroup(s);
  const asked = group && askedChange(s, group, differences.toCorrect, template);
  const change = asked ?? (group && automaticChange(s, group, { followedTemplate, rollback }));
  if (!change) return undefined;
  const isAutomatic = asked === undefined;
  return {
    change,
    isAutomatic,
    target: versionTargetOf(s.pool, change),
    content: isAutomatic ? contentOf(s, change) : undefined,
    isTried: isTried(s, change),
  };
}

/** The group, unless EKS selects its AMI and should not, or the other way round: another group has to replace it. */
function changeableGroup(s: EksState): NodeGroup | undefined {
  const group = groupOf(s);
  return group && isCustom(s.pool.spec) === (group.amiType === CUSTOM) ? group : undefined;
}

/**
 * A hash of what the update installs on this group: that of {@link versionTargetOf} differs when the version of the operator's launch template was pruned
 * and is created again. Undefined while the content of that template is not known.
 */
function contentOf(s: EksState, { launchTemplate, ...rest }: VersionChange): string | undefined {
  const { spec } = s.pool;
  const launchSettings = launchTemplate && hasLaunchSettings(spec) ? desiredLaunchSettings(s) : launchTemplate;
  if (launchTemplate && !launchSettings) return undefined;
  return hashOf({ version: { ...rest, template: launchSettings }, ...updateOf(spec), group: groupOf(s)?.arn });
}

/** Whether the open canary tries the update. */
function isTried(s: EksState, change: VersionChange): boolean {
  if (!isOpen(s) || !canarySpecIn(s.pool.spec)) return false;
  return canaryIn(s.pool)?.target === canaryTargetOf(s.pool, change);
}

/** The update to what the spec pins: a Kubernetes version, a release, a launch template version. */
function askedChange(
  s: EksState,
  group: NodeGroup,
  toCorrect: readonly Difference[],
  template: TemplateVersion | undefined,
): VersionChange | undefined {
  const versions = isAheadOfCluster(s) ? undefined : pinnedVersions(s.pool, toCorrect);
  const isTemplateDue = toCorrect.some(({ field }) => isTemplateField(field));
  return combined(s, group, versions, isTemplateDue ? templateFor(group, template) : undefined);
}

/**
 * With policy Automatic, the update to what the spec does not pin: the newest release, and the current version of `$Latest` or `$Default`. A rollback is
 * not undone.
 */
function automaticChange(
  s: EksState,
  group: NodeGroup,
  { followedTemplate, rollback }: Pick<EksDue, 'followedTemplate' | 'rollback'>,
): VersionChange | undefined {
  if (nodeGroupIn(s.pool.spec).update.policy !== 'Automatic') return undefined;
  return combined(s, group, isAheadOfCluster(s) ? undefined : newerVersions(s, group, rollback), followedTemplate);
}

type Versions = Pick<VersionChange, 'kubernetesVersion' | 'releaseVersion'>;

/**
 * One update for both, because it replaces every node. A group with a custom AMI has neither version nor release of its own. Without a new release it names the present one, because EKS might use the newest.
 * When AWS has made the present one private, no node can start from it: unless the spec pins it, it is left out, and EKS uses the newest.
 */
function combined(
  s: EksState,
  group: NodeGroup,
  versions: Versions | undefined,
  launchTemplate: TemplateVersion | undefined,
): VersionChange | undefined {
  const { pool } = s;
  const { force } = nodeGroupIn(pool.spec).update;
  const { amiType, kubernetesVersion, releaseVersion } = group;
  if (amiType === CUSTOM) return launchTemplate && { launchTemplate, force };
  const isLeftOut =
    releaseVersion !== undefined &&
    !nodeGroupIn(pool.spec).releaseVersion &&
    isPrivate(releaseVersion, newestFor(s), s.now);
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
function releaseToTry(s: EksState, { kubernetesVersion }: Versions): string | undefined {
  const newest = nodeGroupIn(s.pool.spec).update.canary && newestFor(s);
  return newest && minorOf(newest) === kubernetesVersion ? newest : undefined;
}

function newerVersions(
  s: EksState,
  { releaseVersion }: NodeGroup,
  rollback: Rollback | undefined,
): Versions | undefined {
  const newest = newestFor(s);
  if (nodeGroupIn(s.pool.spec).releaseVersion || !newest || !releaseVersion) return undefined;
  if (!isNewerRelease(newest, releaseVersion) || newest === rollback?.heldRelease) return undefined;
  return { kubernetesVersion: minorOf(newest), releaseVersion: newest };
}

function pinnedVersions(pool: WindowsPool, toCorrect: readonly Difference[]): Versions | undefined {
  const differs = toCorrect.some(({ field }) => field === VERSION || field === RELEASE);
  const kubernetesVersion = pinnedMinor(pool.spec);
  if (!differs || kubernetesVersion === undefined) return undefined;
  const { releaseVersion } = pinsOf(pool.spec);
  return { kubernetesVersion, ...(releaseVersion && { releaseVersion }) };
}

/**
 * The version of the launch template that the group lacks, although the spec did not change: the spec follows `$Latest` or `$Default`, or the tags of
 * security groups. Undefined also when it does not exist yet, or EKS does not accept it.
 */
export function followedTemplateOf(
  s: EksState,
  { all }: GroupDifferences,
  template: TemplateVersion | undefined,
): TemplateVersion | undefined {
  const group = groupOf(s);
  if (!group) return undefined;
  if (hasLaunchSettings(s.pool.spec)) return hasOnlyReferenceDrift(s, all) ? templateFor(group, template) : undefined;
  return pinnedTemplateVersion(s.pool.spec) === undefined ? templateFor(group, template) : undefined;
}

/** The version of the launch template that the group lacks; undefined for a group of another template, or of none. */
function templateFor(group: NodeGroup, template: TemplateVersion | undefined): TemplateVersion | undefined {
  if (!template || !isMadeFrom(group, template)) return undefined;
  return template.version === group.launchTemplate?.version ? undefined : template;
}
