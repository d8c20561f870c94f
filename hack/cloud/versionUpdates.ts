import type { Update, UpdateNodegroupVersionRequest, UpdateParam } from '@aws-sdk/client-eks';
import { type AwsFault, invalidParameter } from './awsFault.ts';
import { once } from './idempotency.ts';
import { newestRelease } from './images.ts';
import { checkCluster } from './nodegroups.ts';
import { minorNumber } from './releases.ts';
import { startRollout } from './rollout.ts';
import type { CloudState, GroupRecord, Target } from './state.ts';
import { checkUpdatable, openUpdate } from './updates.ts';
import { minorFault, releaseFault } from './validation.ts';

/** UpdateNodegroupVersion: checks, then an update that is InProgress while the nodes are replaced. */
export function updateNodegroupVersion(cloud: CloudState, request: UpdateNodegroupVersionRequest): { update: Update } {
  const group = cloud.group(request.nodegroupName);
  return once(cloud, request, { operation: 'UpdateNodegroupVersion', group: group.name }, () => {
    const target = targetOf(cloud, group, request);
    const fault = targetFault(cloud, group, target) ?? noChangeFault(cloud, group, target);
    if (fault !== undefined) throw fault;
    checkCluster(cloud, 'update Nodegroup');
    checkUpdatable(cloud, group);
    const update = openUpdate(cloud, group.name, 'VersionUpdate', paramsOf(target));
    startRollout(cloud, group, update, { target, force: request.force === true });
    return { update: structuredClone(update) };
  });
}

// API reference: without a version the cluster's is meant, without a release the newest of the version. Where only a
// release is named, it is taken to be one of the group's own version.
function targetOf(cloud: CloudState, { nodegroup }: GroupRecord, request: UpdateNodegroupVersionRequest): Target {
  const otherwise = request.releaseVersion === undefined ? cloud.clusterState.version : nodegroup.version;
  const version = request.version ?? otherwise ?? '';
  const releaseVersion = request.releaseVersion ?? newestRelease(cloud, version, nodegroup.amiType)?.releaseVersion;
  return { version, releaseVersion };
}

function targetFault(cloud: CloudState, { nodegroup }: GroupRecord, target: Target): AwsFault | undefined {
  const { version = '', releaseVersion = '' } = target;
  const fault = minorFault(cloud, version);
  if (fault !== undefined) return fault;
  // The sense is that of the user guide.
  if (minorNumber(version) < minorNumber(nodegroup.version ?? '')) {
    return invalidParameter(`Nodegroup version ${nodegroup.version} can't be rolled back to the earlier ${version}`);
  }
  return releaseFault(cloud, version, releaseVersion, nodegroup.amiType);
}

function noChangeFault(cloud: CloudState, { nodegroup }: GroupRecord, target: Target): AwsFault | undefined {
  if (cloud.switches.updatesWithoutChange === 'accept') return undefined;
  const same = nodegroup.version === target.version && nodegroup.releaseVersion === target.releaseVersion;
  return same ? invalidParameter('The update changes nothing of the node group') : undefined;
}

function paramsOf({ version, releaseVersion }: Target): UpdateParam[] {
  return [
    { type: 'Version', value: version },
    { type: 'ReleaseVersion', value: releaseVersion },
  ];
}
