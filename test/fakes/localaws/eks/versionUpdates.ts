import type { Update, UpdateNodegroupVersionRequest, UpdateParam } from '@aws-sdk/client-eks';
import { type AwsFault, invalidParameter } from '../awsFault.ts';
import { newestInEks } from '../ec2/images.ts';
import type { GroupRecord, Target, TemplateUse } from '../records.ts';
import { minorNumber } from '../releases.ts';
import type { LocalAwsState } from '../state.ts';
import { once } from './idempotency.ts';
import { checkCluster } from './nodegroups.ts';
import { startRollout } from './rollout.ts';
import { changesNothing } from './rolloutFacts.ts';
import { templateFault, templateUse } from './templateRules.ts';
import { checkUpdatable, openUpdate } from './updates.ts';
import { minorFault, releaseFault } from './validation.ts';

/** UpdateNodegroupVersion: validates the request, and starts an update that is InProgress while the nodes are replaced. */
export function updateNodegroupVersion(
  cloud: LocalAwsState,
  request: UpdateNodegroupVersionRequest,
): { update: Update } {
  const group = cloud.group(request.nodegroupName);
  return once(cloud, request, { operation: 'UpdateNodegroupVersion', group: group.name }, () => {
    const aim = aimOf(cloud, group, request);
    const fault = noChangeFault(cloud, group, aim.target);
    if (fault !== undefined) throw fault;
    checkCluster(cloud, 'update Nodegroup');
    checkUpdatable(cloud, group);
    const update = openUpdate(cloud, { group: group.name }, 'VersionUpdate', paramsOf(aim));
    startRollout(cloud, group, update, { ...aim, force: request.force === true });
    return { update: structuredClone(update) };
  });
}

interface Aim {
  readonly target: Target;
  readonly template?: TemplateUse;
}

// Throws the fault of an invalid target.
function aimOf(cloud: LocalAwsState, group: GroupRecord, request: UpdateNodegroupVersionRequest): Aim {
  const template = templateOf(cloud, group, request);
  const aim = template === undefined ? {} : { template };
  const launchTemplate = template === undefined ? {} : { launchTemplate: template.specification };
  if (group.nodegroup.amiType === 'CUSTOM') {
    // Seen.
    if (template === undefined)
      throw invalidParameter("Launch template details can't be null for Custom ami type node group");
    return { ...aim, target: { ...launchTemplate, releaseVersion: template.data.ImageId } };
  }
  const target = releaseTargetOf(cloud, group, request);
  const fault = targetFault(cloud, group, target);
  if (fault !== undefined) throw fault;
  return { ...aim, target: { ...target, ...launchTemplate } };
}

function templateOf(
  cloud: LocalAwsState,
  { nodegroup, template: present }: GroupRecord,
  { launchTemplate: requested, version, releaseVersion }: UpdateNodegroupVersionRequest,
): TemplateUse | undefined {
  if (requested === undefined) return undefined;
  if (present === undefined)
    throw invalidParameter(`Node group ${nodegroup.nodegroupName} was not created with a launch template`);
  const use = templateUse(cloud, requested);
  if (!('data' in use)) throw use;
  if (use.specification.id !== present.specification.id)
    throw invalidParameter(`The launch template of a node group can't change; it is ${present.specification.id}`);
  const { instanceTypes } = nodegroup;
  const fault = templateFault(cloud, use, { instanceTypes, version, releaseVersion });
  if (fault !== undefined) throw fault;
  if ((use.data.ImageId === undefined) !== (nodegroup.amiType !== 'CUSTOM'))
    throw invalidParameter(`A node group can't change between an image of EKS and one of its launch template`);
  return use;
}

// API reference: the default version is the cluster's, the default release is the newest of the version. If only a
// release is given, it is assumed to be of the group's own version.
function releaseTargetOf(
  cloud: LocalAwsState,
  { nodegroup }: GroupRecord,
  { version: requested, releaseVersion }: UpdateNodegroupVersionRequest,
): Target {
  const otherwise = releaseVersion === undefined ? cloud.clusterState.version : nodegroup.version;
  const version = requested ?? otherwise ?? '';
  const newest = newestInEks(cloud, version, nodegroup.amiType)?.releaseVersion;
  return { version, releaseVersion: releaseVersion ?? newest };
}

function targetFault(cloud: LocalAwsState, { nodegroup }: GroupRecord, target: Target): AwsFault | undefined {
  const { version = '', releaseVersion = '' } = target;
  const fault = minorFault(cloud, version);
  if (fault !== undefined) return fault;
  const isEarlier = minorNumber(version) < minorNumber(nodegroup.version ?? '');
  // The meaning is that of the service model.
  if (isEarlier && cloud.switches.earlierNodegroupVersions === 'reject') {
    return invalidParameter(`Nodegroup version ${nodegroup.version} can't be rolled back to the earlier ${version}`);
  }
  return releaseFault(cloud, version, releaseVersion, nodegroup.amiType);
}

function noChangeFault(cloud: LocalAwsState, { nodegroup }: GroupRecord, target: Target): AwsFault | undefined {
  if (cloud.switches.updatesWithoutChange === 'accept') return undefined;
  const same = changesNothing(nodegroup, target);
  return same ? invalidParameter('The update changes nothing of the node group') : undefined;
}

function paramsOf({ target: { version, releaseVersion }, template }: Aim): UpdateParam[] {
  const rows: [UpdateParam['type'], string | undefined][] = [
    ['Version', version],
    ['ReleaseVersion', releaseVersion],
    ['LaunchTemplateName', template?.specification.name],
    ['LaunchTemplateVersion', template?.specification.version],
  ];
  return rows.filter(([, value]) => value !== undefined).map(([type, value]) => ({ type, value }));
}
