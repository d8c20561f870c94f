/*
 * The lifecycle of a node group in EKS:
 *
 *   CREATING -> ACTIVE | CREATE_FAILED        ACTIVE -> UPDATING -> ACTIVE | DEGRADED        ACTIVE <-> DEGRADED
 *   any -> DELETING -> gone | DELETE_FAILED
 *
 * How its nodes are replaced when its version changes is in rollout.ts.
 */
import type { CreateNodegroupRequest, Issue, Nodegroup } from '@aws-sdk/client-eks';
import { AwsFault, inUse, invalidRequest } from '../awsFault.ts';
import { durations } from '../durations.ts';
import { newestInEks } from '../ec2/images.ts';
import { livingInstances, runningInstances, terminate } from '../ec2/instances.ts';
import { copyTemplate } from '../ec2/launchConfig.ts';
import { userDataFault } from '../ec2/mergedUserData.ts';
import { resize, scaleTo } from '../ec2/scaling.ts';
import { emptyWarmPool } from '../ec2/warmPool.ts';
import { stopDrain } from '../nodes/nodeDrain.ts';
import type { GroupRecord, Plans, TemplateUse } from '../records.ts';
import { windowsOf } from '../releases.ts';
import { type LocalAwsState, takePlan } from '../state.ts';
import { admitNodes, withdrawRole } from './admission.ts';
import { later, reviewAccess, setStatus } from './groupStatus.ts';
import { forgetTokens, once } from './idempotency.ts';
import { templateUse } from './templateRules.ts';
import { checkCreate } from './validation.ts';
import { configuredWarmPool } from './warmPoolConfig.ts';

/** CreateNodegroup: validates the request, and creates a group that is CREATING. */
export function createNodegroup(cloud: LocalAwsState, request: CreateNodegroupRequest): { nodegroup: Nodegroup } {
  const name = request.nodegroupName ?? '';
  return once(cloud, request, { operation: 'CreateNodegroup', group: name }, () => {
    checkCreate(request, cloud);
    checkCluster(cloud, 'create Nodegroup');
    if (cloud.groups.has(name)) {
      throw inUse(`NodeGroup already exists with name ${name} and cluster name ${cloud.cluster.name}`);
    }
    if (cloud.groups.size >= cloud.nodegroupLimit) {
      throw new AwsFault(
        'ResourceLimitExceededException',
        `Cluster ${cloud.cluster.name} has ${cloud.groups.size} node groups; the quota is ${cloud.nodegroupLimit}`,
      );
    }
    const group = newGroup(cloud, request);
    cloud.groups.set(name, group);
    copyTemplate(cloud, group);
    admitNodes(cloud, group.nodegroup);
    startCreating(cloud, group);
    return { nodegroup: structuredClone(group.nodegroup) };
  });
}

/** DescribeNodegroup. */
export function describeNodegroup(cloud: LocalAwsState, name: string | undefined): { nodegroup: Nodegroup } {
  const group = cloud.group(name);
  const { nodegroup } = group;
  if (cloud.switches.rolloutGrowth === 'hidden' || group.growth === 0) return { nodegroup };
  const { minSize = 0, maxSize = 0, desiredSize = 0 } = nodegroup.scalingConfig ?? {};
  const scalingConfig = { minSize, maxSize: maxSize + group.growth, desiredSize: desiredSize + group.growth };
  return { nodegroup: { ...nodegroup, scalingConfig } };
}

/** DeleteNodegroup: the group is DELETING, and gone when its instances are. */
export function deleteNodegroup(cloud: LocalAwsState, name: string | undefined): { nodegroup: Nodegroup } {
  const group = cloud.group(name);
  const status = group.nodegroup.status;
  if (status === 'DELETING') {
    if (cloud.switches.deleteWhileDeleting === 'accept') return { nodegroup: structuredClone(group.nodegroup) };
    throw inUse('Nodegroup cannot be deleted as it is currently being deleted');
  }
  const busy = status === 'CREATING' || status === 'UPDATING';
  if (busy && cloud.switches.deleteWhileBusy === 'conflict') {
    throw inUse(
      `Nodegroup cannot be deleted as it is currently ${status === 'CREATING' ? 'being created' : 'being updated'}`,
    );
  }
  startDeleting(cloud, group);
  return { nodegroup: structuredClone(group.nodegroup) };
}

/** Rejects a change of node groups while the cluster is not ready for one. */
export function checkCluster(cloud: LocalAwsState, action: string): void {
  const { runningUpdate, status } = cloud.clusterState;
  if (runningUpdate !== undefined) {
    throw inUse(
      `Cannot ${action} because cluster ${cloud.cluster.name} currently has update ${runningUpdate} in progress`,
    );
  }
  // Seen.
  if (status !== 'ACTIVE') throw invalidRequest(`Cluster '${cloud.cluster.name}' is not in ACTIVE status`);
}

function newGroup(cloud: LocalAwsState, request: CreateNodegroupRequest): GroupRecord {
  const name = request.nodegroupName ?? '';
  const uuid = cloud.nextUuid();
  const now = cloud.timeline.now();
  const version = request.version ?? cloud.clusterState.version;
  const template = request.launchTemplate === undefined ? undefined : templateUse(cloud, request.launchTemplate);
  // checkCreate has checked that the template exists.
  if (template !== undefined && !('data' in template)) throw template;
  const image = template?.data.ImageId;
  const releaseVersion =
    request.releaseVersion ?? image ?? newestInEks(cloud, version, request.amiType)?.releaseVersion;
  const nodegroup: Nodegroup = {
    nodegroupName: name,
    nodegroupArn: cloud.arn(`nodegroup/${cloud.cluster.name}/${name}/${uuid}`),
    clusterName: cloud.cluster.name,
    version,
    ...(releaseVersion === undefined ? {} : { releaseVersion }),
    createdAt: now,
    modifiedAt: now,
    status: 'CREATING',
    health: { issues: [] },
    ...defaultsFor(request, template),
    ...givenIn(request),
    ...(template === undefined ? {} : { launchTemplate: template.specification }),
  };
  const group = { name, autoScalingGroup: `eks-${name}-${uuid}`, nodegroup: structuredClone(nodegroup) };
  return { ...group, epoch: 0, growth: 0, autoScalingTags: [], ...(template === undefined ? {} : { template }) };
}

// The defaults of EKS. Those of instance type and disk size: API reference of CreateNodegroup.
function defaultsFor(
  { amiType = 'AL2023_x86_64_STANDARD' }: CreateNodegroupRequest,
  template: TemplateUse | undefined,
): Nodegroup {
  const diskSize = windowsOf(amiType) === undefined ? 20 : 50;
  return {
    capacityType: 'ON_DEMAND',
    scalingConfig: { minSize: 1, maxSize: 2, desiredSize: 2 },
    ...(template?.data.InstanceType === undefined ? { instanceTypes: ['t3.medium'] } : {}),
    amiType: template?.data.ImageId === undefined ? (amiType as Nodegroup['amiType']) : 'CUSTOM',
    ...(template === undefined ? { diskSize } : {}),
    updateConfig: { maxUnavailable: 1 },
    tags: {},
  };
}

// The fields of the request. Empty labels and taints leave no key.
function givenIn(request: CreateNodegroupRequest): Nodegroup {
  const {
    clusterName: _cluster,
    nodegroupName: _name,
    clientRequestToken: _token,
    labels,
    taints,
    ...others
  } = request;
  const { warmPoolConfig, ...rest } = others;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return {
    ...given,
    ...(labels === undefined || Object.keys(labels).length === 0 ? {} : { labels }),
    ...(taints === undefined || taints.length === 0 ? {} : { taints }),
    ...(warmPoolConfig === undefined ? {} : { warmPoolConfig: configuredWarmPool(undefined, warmPoolConfig) }),
  };
}

function startCreating(cloud: LocalAwsState, group: GroupRecord): void {
  const failure = takePlan(cloud.plans.createFailures, group.name) ?? templateFailure(group);
  if (failure !== undefined) {
    later(cloud, group, failure.afterSeconds ?? durations.create, () => failCreation(cloud, group, failure.issues));
    return;
  }
  later(cloud, group, durations.launch, () => resize(cloud, group));
  later(cloud, group, durations.create, () => finishCreating(cloud, group, durations.joinTimeout - durations.create));
}

// EKS reads the user data after it has accepted the request. Seen: aws-ia/terraform-aws-eks-blueprints#1729.
function templateFailure({ template }: GroupRecord): Plans['createFailures'][number] | undefined {
  const message = userDataFault(template?.data);
  if (message === undefined) return undefined;
  return { issues: [{ code: 'Ec2LaunchTemplateInvalidConfiguration', message }] };
}

function finishCreating(cloud: LocalAwsState, group: GroupRecord, patience: number): void {
  // An Auto Scaling group retries.
  if (patience > 0) resize(cloud, group);
  const issue = group.launchIssue ?? joinIssue(cloud, group);
  if (issue === undefined) {
    group.nodegroup.resources = { autoScalingGroups: [{ name: group.autoScalingGroup }] };
    setStatus(cloud, group, 'ACTIVE');
    reviewAccess(cloud, group);
  } else if (patience > 0) {
    later(cloud, group, patience, () => finishCreating(cloud, group, 0));
  } else {
    failCreation(cloud, group, [issue]);
  }
}

function joinIssue(cloud: LocalAwsState, group: GroupRecord): Issue | undefined {
  const missing = livingInstances(cloud, group.name).filter((instance) => !instance.joined);
  if (missing.length === 0) return undefined;
  // Seen.
  const message = 'Instances failed to join the kubernetes cluster';
  return { code: 'NodeCreationFailure', message, resourceIds: missing.map(({ id }) => id) };
}

function failCreation(cloud: LocalAwsState, group: GroupRecord, issues: Issue[]): void {
  group.nodegroup.health = { issues: structuredClone(issues) };
  setStatus(cloud, group, 'CREATE_FAILED');
}

function startDeleting(cloud: LocalAwsState, group: GroupRecord): void {
  group.epoch += 1;
  stopUpdates(cloud, group);
  setStatus(cloud, group, 'DELETING');
  const failure = takePlan(cloud.plans.deleteFailures, group.name);
  later(cloud, group, durations.delete / 2, () => {
    if (failure !== undefined) return;
    scaleTo(cloud, group, 0);
    emptyWarmPool(cloud, group);
    for (const instance of runningInstances(cloud, group.name)) terminate(cloud, instance);
  });
  later(cloud, group, durations.delete, () => {
    if (failure === undefined) {
      cloud.groups.delete(group.name);
      for (const [id, template] of cloud.launchTemplates)
        if (template.group === group.name) cloud.launchTemplates.delete(id);
      for (const [id, update] of cloud.updates) if (update.group === group.name) cloud.updates.delete(id);
      forgetTokens(cloud, group.name);
      withdrawRole(cloud, group.nodegroup.nodeRole);
    } else {
      group.nodegroup.health = { issues: structuredClone(failure.issues) };
      setStatus(cloud, group, 'DELETE_FAILED');
    }
  });
}

// Running updates end with the group, also when its deletion fails.
function stopUpdates(cloud: LocalAwsState, group: GroupRecord): void {
  delete group.rollout;
  group.growth = 0;
  for (const instance of livingInstances(cloud, group.name)) stopDrain(instance);
  for (const { group: owner, update } of cloud.updates.values())
    if (owner === group.name && update.status === 'InProgress') update.status = 'Cancelled';
}
