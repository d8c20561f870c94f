/** How messages describe an automatic update that is due, and windows in which none starts. Pure. */
import type { WindowsPool } from '../../../api/api.gen.ts';
import { windowFault } from '../../../disruption/maintenance.ts';
import type { NodeGroup, VersionChange } from '../../../ports/eks.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { joined } from '../../../util/words.ts';
import { followsImage, selectedImage } from '../launchTemplate/image.ts';
import { hasLaunchSettings } from '../launchTemplate/launchSettings.ts';
import type { DueVersion } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { releaseEnd } from './releaseVersion.ts';
import { pinnedTemplateVersion, templateIn } from './userLaunchTemplate.ts';

/** What the group has and what an automatic update installs, in sentences. */
export function describeDueUpdate(s: EksState, group: NodeGroup, { change }: Pick<DueVersion, 'change'>): string {
  return `Node group ${group.name} has ${joined(dueParts(s, group, change))}.${releaseEnd(group.releaseVersion ?? '', s.now)}`;
}

/** The current versions, each with the target: `AMI release 1.36-2026.02.11 (newest: 1.36-2026.03.17)`. */
function dueParts(s: EksState, group: NodeGroup, change: VersionChange): string[] {
  const { releaseVersion, launchTemplate: seen } = group;
  const { version } = change.launchTemplate ?? {};
  const image = dueImage(s, group);
  return [
    ...(image === undefined ? [] : [`AMI ${releaseVersion} (in the SSM parameter: ${image})`]),
    ...(change.releaseVersion === releaseVersion || isOfTemplate(change) ? [] : [newerRelease(releaseVersion, change)]),
    ...(version === undefined
      ? []
      : [`version ${seen?.version} of launch template ${seen?.name} (desired: ${version})`]),
  ];
}

/** Whether the group has a custom AMI, and therefore no release. */
function isOfTemplate({ kubernetesVersion }: VersionChange): boolean {
  return kubernetesVersion === undefined;
}

function newerRelease(current: string | undefined, { releaseVersion, kubernetesVersion }: VersionChange): string {
  if (releaseVersion !== undefined) return `AMI release ${current} (newest: ${releaseVersion})`;
  return `AMI release ${current}, from which new nodes cannot start (EKS installs the newest for Kubernetes ${kubernetesVersion})`;
}

/** The AMI that the group gets from the parameter; undefined if it has it. */
function dueImage({ pool: { spec }, prerequisites }: EksState, group: NodeGroup): string | undefined {
  const image = followsImage(spec) ? selectedImage(spec, prerequisites) : undefined;
  return image === group.releaseVersion ? undefined : image;
}

/** What the user can do to update nevertheless: `set nodeGroup.releaseVersion: 1.36-2026.03.17`. */
export function overrideFor(s: EksState, group: NodeGroup, change: VersionChange): string {
  const image = dueImage(s, group);
  if (image !== undefined) return `set nodeGroup.ami.id: ${image}`;
  const pins =
    hasLaunchSettings(s.pool.spec) && change.releaseVersion === group.releaseVersion ? [] : pinsFor(s, group, change);
  return pins.length === 0 ? 'remove nodeGroup.update.maintenanceWindows' : `set ${joined(pins)}`;
}

function pinsFor(s: EksState, { releaseVersion }: NodeGroup, change: VersionChange): string[] {
  const { version } = hasLaunchSettings(s.pool.spec) ? {} : (change.launchTemplate ?? {});
  return [
    ...(change.releaseVersion === releaseVersion || change.releaseVersion === undefined
      ? []
      : [`nodeGroup.releaseVersion: ${change.releaseVersion}`]),
    ...(version === undefined ? [] : [`nodeGroup.launchTemplate.version: ${version}`]),
  ];
}

/** The error in the maintenance windows of a pool whose updates are automatic, in sentences; undefined if there is none. */
export function faultInWindows({ spec }: Pick<WindowsPool, 'spec'>): string | undefined {
  const { update, releaseVersion } = nodeGroupIn(spec);
  const follows = !releaseVersion || (templateIn(spec) && pinnedTemplateVersion(spec) === undefined);
  const fault =
    update.policy === 'Automatic' &&
    follows &&
    windowFault(update.maintenanceWindows, 'spec.nodeGroup.update.maintenanceWindows');
  return fault ? `${fault} No automatic update starts in that window.` : undefined;
}
