import { AwsFault } from '../awsFault.ts';
import { copyOf } from '../copy.ts';
import { describeAutoScalingGroups, setDesiredCapacity, terminateInGroup } from '../ec2/autoScaling.ts';
import { createOrUpdateTags, deleteTags } from '../ec2/autoScalingTags.ts';
import { describeInstances, describeSubnets } from '../ec2/ec2Queries.ts';
import { describeImages } from '../ec2/images.ts';
import { describeInstanceTypeOfferings, describeInstanceTypes } from '../ec2/instanceTypeQueries.ts';
import { describeLaunchTemplates, describeLaunchTemplateVersions } from '../ec2/launchTemplates.ts';
import {
  createLaunchTemplate,
  createLaunchTemplateVersion,
  deleteLaunchTemplate,
  deleteLaunchTemplateVersions,
} from '../ec2/launchTemplateWrites.ts';
import { getParameter } from '../ec2/parameters.ts';
import { describeSecurityGroups } from '../ec2/securityGroups.ts';
import { createAccessEntry, describeAccessEntry } from '../eks/accessEntries.ts';
import { describeAddon, updateAddon } from '../eks/addons.ts';
import { checkClusterName, describeCluster, eksPage } from '../eks/cluster.ts';
import { createNodegroup, deleteNodegroup, describeNodegroup } from '../eks/nodegroups.ts';
import { tagResource, untagResource } from '../eks/tags.ts';
import { describeUpdate, updateNodegroupConfig } from '../eks/updates.ts';
import { updateNodegroupVersion } from '../eks/versionUpdates.ts';
import { questionsOf } from '../iam/access.ts';
import type { Policy } from '../iam/iam.ts';
import { getRole, listAttachedRolePolicies } from '../iam/roles.ts';
import type { LocalAwsState } from '../state.ts';
import { checkInput, checkOutput } from './model.ts';
import type { Caller, OperationName, Operations } from './operations.ts';
import { protocols } from './protocols.ts';
import { type Operation, operationOf, type Service } from './shapes.ts';

/** The access key id of the account's administrator. Any other one is the operator's. */
export const ADMINISTRATOR = 'ADMINISTRATOR';

type Handler<K extends OperationName> = (
  cloud: LocalAwsState,
  input: Operations[K]['input'],
  caller: Caller,
) => Operations[K]['output'];

const handlers: { readonly [K in OperationName]: { readonly service: Service; readonly run: Handler<K> } } = {
  DescribeCluster: eksCall((cloud) => describeCluster(cloud)),
  CreateNodegroup: eksCall(createNodegroup),
  DescribeNodegroup: eksCall((cloud, { nodegroupName }) => describeNodegroup(cloud, nodegroupName)),
  ListNodegroups: eksCall((cloud, input) => {
    const { items, nextToken } = eksPage([...cloud.groups.keys()].sort(), input);
    return { nodegroups: items, ...(nextToken === undefined ? {} : { nextToken }) };
  }),
  DeleteNodegroup: eksCall((cloud, { nodegroupName }) => deleteNodegroup(cloud, nodegroupName)),
  UpdateNodegroupConfig: eksCall(updateNodegroupConfig),
  UpdateNodegroupVersion: eksCall(updateNodegroupVersion),
  DescribeUpdate: eksCall(describeUpdate),
  TagResource: { service: 'eks', run: (cloud, { resourceArn, tags }) => tagResource(cloud, resourceArn, tags ?? {}) },
  UntagResource: {
    service: 'eks',
    run: (cloud, { resourceArn, tagKeys }) => untagResource(cloud, resourceArn, tagKeys ?? []),
  },
  DescribeAddon: eksCall((cloud, { addonName }) => describeAddon(cloud, addonName)),
  UpdateAddon: eksCall(updateAddon),
  CreateAccessEntry: eksCall(createAccessEntry),
  DescribeAccessEntry: eksCall((cloud, { principalArn }) => describeAccessEntry(cloud, principalArn)),
  DescribeInstances: { service: 'ec2', run: describeInstances },
  DescribeInstanceTypes: { service: 'ec2', run: describeInstanceTypes },
  DescribeInstanceTypeOfferings: { service: 'ec2', run: describeInstanceTypeOfferings },
  DescribeSecurityGroups: { service: 'ec2', run: describeSecurityGroups },
  DescribeSubnets: { service: 'ec2', run: describeSubnets },
  GetEbsEncryptionByDefault: {
    service: 'ec2',
    run: ({ encryptsVolumes }) => ({ EbsEncryptionByDefault: encryptsVolumes }),
  },
  DescribeImages: { service: 'ec2', run: describeImages },
  DescribeLaunchTemplates: { service: 'ec2', run: describeLaunchTemplates },
  DescribeLaunchTemplateVersions: { service: 'ec2', run: describeLaunchTemplateVersions },
  CreateLaunchTemplate: { service: 'ec2', run: createLaunchTemplate },
  CreateLaunchTemplateVersion: { service: 'ec2', run: createLaunchTemplateVersion },
  DeleteLaunchTemplateVersions: { service: 'ec2', run: deleteLaunchTemplateVersions },
  DeleteLaunchTemplate: { service: 'ec2', run: deleteLaunchTemplate },
  DescribeAutoScalingGroups: { service: 'autoscaling', run: describeAutoScalingGroups },
  CreateOrUpdateTags: { service: 'autoscaling', run: createOrUpdateTags },
  DeleteTags: { service: 'autoscaling', run: deleteTags },
  SetDesiredCapacity: { service: 'autoscaling', run: setDesiredCapacity },
  TerminateInstanceInAutoScalingGroup: { service: 'autoscaling', run: terminateInGroup },
  GetParameter: { service: 'ssm', run: getParameter },
  GetCallerIdentity: {
    service: 'sts',
    run: ({ cluster }, _, { arn }) => ({
      Account: cluster.accountId,
      Arn: arn,
      UserId: arn.split('/').slice(1).join(':'),
    }),
  },
  GetRole: { service: 'iam', run: getRole },
  ListAttachedRolePolicies: { service: 'iam', run: listAttachedRolePolicies },
};

/**
 * Runs one call: checks the input against the service model and the policy, and applies it to the current state. Returns the output of the
 * SDK client, or throws an AwsFault. The output shares nothing with the state.
 */
export function call<K extends OperationName>(
  cloud: LocalAwsState,
  policy: Policy,
  name: K,
  input: Operations[K]['input'],
  caller: Caller,
): Operations[K]['output'] {
  const operation = servedOperation(handlers[name].service, name);
  cloud.timeline.settle();
  checkInput(operation, input);
  if (!caller.isAdministrator) policy.check(questionsOf(cloud, handlers[name].service, name, input), caller.arn);
  if ('DryRun' in input && input.DryRun === true) {
    throw new AwsFault('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.');
  }
  const output = copyOf(handlers[name].run(cloud, input, caller));
  checkOutput(operation, output);
  return output;
}

/** The operation of the service model, if the local AWS serves it; otherwise throws the fault for an unknown or an unserved operation. */
export function servedOperation(service: Service, name: string): Operation {
  const operation = operationOf(service, name);
  if (operation === undefined) {
    throw new AwsFault(protocols[service].noOperation, `${service} has no operation ${name}`);
  }
  if (!isServed(name) || handlers[name].service !== service) {
    throw new AwsFault(
      'NotImplementedException',
      `test/fakes/localaws does not serve ${service} ${name} yet; add it to wire/calls.ts`,
    );
  }
  return operation;
}

/** Whether the operation is served. */
export const isServed = (name: string): name is OperationName => Object.hasOwn(handlers, name);

/** The service that an operation belongs to. */
export const serviceOf = (name: OperationName): Service => handlers[name].service;

// Every operation of a cluster first checks that the cluster exists.
function eksCall<K extends OperationName>(run: Handler<K>): { service: 'eks'; run: Handler<K> } {
  return {
    service: 'eks',
    run: (cloud, input, caller) => {
      checkClusterName(cloud, clusterNameIn(input));
      return run(cloud, input, caller);
    },
  };
}

// The field is clusterName in most operations, and name in DescribeCluster and DescribeUpdate.
function clusterNameIn(input: object): string | undefined {
  if ('clusterName' in input) return String(input.clusterName);
  return 'name' in input ? String(input.name) : undefined;
}
