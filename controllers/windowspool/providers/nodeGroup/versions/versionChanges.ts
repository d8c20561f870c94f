/** What a change of the Kubernetes version, AMI release and launch template version of a node group sends. Pure. */

import type { WindowsPool } from '../../../api/api.gen.ts';
import type { VersionChange } from '../../../ports/eks.ts';
import { hashOf } from '../../../util/hash.ts';
import { isTemplateField, RELEASE, TEMPLATE, VERSION } from '../changes/appliedFields.ts';
import { launchSettingsField } from '../changes/appliedRecord.ts';
import { isReferenceDrift } from '../changes/describeDifferences.ts';
import { pinnedMinor, pinsOf, updateOf } from '../desired/desiredNodeGroup.ts';
import { desiredLaunchSettings, wantedTexts } from '../launchTemplate/desiredLaunchSettings.ts';
import { hasLaunchSettings } from '../launchTemplate/launchSettings.ts';
import type { Difference } from '../model/changes.ts';
import type { EksState } from '../model/groupState.ts';
import { isNewerMinor } from './releaseVersion.ts';
import { pinnedTemplateVersion } from './userLaunchTemplate.ts';

/** The AMI in the launch template of an update without a release, which is one of a group with a custom AMI; undefined for other updates. */
export function imageIn(s: EksState, { kubernetesVersion }: VersionChange): string | undefined {
  return kubernetesVersion === undefined ? desiredLaunchSettings(s)?.imageId : undefined;
}

/** A hash of what the update sends and how nodes are replaced: a failed one is not repeated while this stays the same. */
export function versionTargetOf({ spec }: WindowsPool, change: VersionChange): string {
  return hashOf({ version: change, ...updateOf(spec) });
}

/** The fields that the update changes. */
export function fieldsOfVersionChange(pool: WindowsPool, { launchTemplate }: VersionChange): string[] {
  const { spec } = pool;
  const { kubernetesVersion, releaseVersion } = pinsOf(spec);
  const isTemplateSent = launchTemplate !== undefined && pinnedTemplateVersion(spec) !== undefined;
  const isLaunchSettingsSent = launchTemplate !== undefined && hasLaunchSettings(spec);
  return [
    ...(kubernetesVersion ? [VERSION] : []),
    ...(releaseVersion ? [RELEASE] : []),
    ...(isTemplateSent ? [TEMPLATE] : []),
    ...(isLaunchSettingsSent ? Object.keys(wantedTexts(pool)).map(launchSettingsField) : []),
  ];
}

/** Whether the spec pins a version that is newer than the control plane, which a kubelet must not be. */
export function isAheadOfCluster({ pool, cluster }: Pick<EksState, 'pool' | 'cluster'>): boolean {
  const minor = pinnedMinor(pool.spec);
  return minor !== undefined && cluster.kind === 'seen' && isNewerMinor(minor, cluster.cluster.kubernetesVersion);
}

/** Whether the group's launch settings differ from the spec only in what the spec refers to: an SSM parameter, tags, a ConfigMap. */
export function hasOnlyReferenceDrift({ pool }: Pick<EksState, 'pool'>, differences: readonly Difference[]): boolean {
  const differing = differences.filter(({ field }) => isTemplateField(field));
  return differing.length > 0 && differing.every((difference) => isReferenceDrift(pool, difference));
}
