import type * as autoscaling from '@aws-sdk/client-auto-scaling';
import type * as ec2 from '@aws-sdk/client-ec2';
import type * as eks from '@aws-sdk/client-eks';
import type * as iam from '@aws-sdk/client-iam';
import type * as ssm from '@aws-sdk/client-ssm';
import type * as sts from '@aws-sdk/client-sts';
import { AwsFault } from '../awsFault.ts';
import { describeAutoScalingGroups, setDesiredCapacity, terminateInGroup } from '../ec2/autoScaling.ts';
import { createOrUpdateTags, deleteTags, describeTags } from '../ec2/autoScalingTags.ts';
import { describeInstances, describeSubnets } from '../ec2/ec2Queries.ts';
import { terminateInstances } from '../ec2/endInstance.ts';
import { describeImages } from '../ec2/images.ts';
import { describeInstanceTypeOfferings, describeInstanceTypes } from '../ec2/instanceTypeQueries.ts';
import { describeLaunchTemplates, describeLaunchTemplateVersions } from '../ec2/launchTemplates.ts';
import { getParameter } from '../ec2/parameters.ts';
import { accessEntryArns, createAccessEntry, deleteAccessEntry, describeAccessEntry } from '../eks/accessEntries.ts';
import { describeAddon, updateAddon } from '../eks/addons.ts';
import { checkClusterName, describeCluster, eksPage } from '../eks/cluster.ts';
import { createNodegroup, deleteNodegroup, describeNodegroup } from '../eks/nodegroups.ts';
import { tagResource, tagsOf, untagResource } from '../eks/tags.ts';
import { describeUpdate, updateIds, updateNodegroupConfig } from '../eks/updates.ts';
import { updateNodegroupVersion } from '../eks/versionUpdates.ts';
import { questionsOf } from '../iam/access.ts';
import type { Policy } from '../iam/iam.ts';
import { listAttachedRolePolicies } from '../iam/rolePolicies.ts';
import type { LocalAwsState } from '../state.ts';
import { checkInput, checkOutput } from './model.ts';
import { protocols } from './protocols.ts';
import { type Operation, operationOf, type Service } from './shapes.ts';

/** The operations that the local AWS serves, with their input and output as the SDK clients have them. */
export interface Operations {
  DescribeCluster: { input: eks.DescribeClusterRequest; output: eks.DescribeClusterResponse };
  ListClusters: { input: eks.ListClustersRequest; output: eks.ListClustersResponse };
  CreateNodegroup: { input: eks.CreateNodegroupRequest; output: eks.CreateNodegroupResponse };
  DescribeNodegroup: { input: eks.DescribeNodegroupRequest; output: eks.DescribeNodegroupResponse };
  ListNodegroups: { input: eks.ListNodegroupsRequest; output: eks.ListNodegroupsResponse };
  DeleteNodegroup: { input: eks.DeleteNodegroupRequest; output: eks.DeleteNodegroupResponse };
  UpdateNodegroupConfig: { input: eks.UpdateNodegroupConfigRequest; output: eks.UpdateNodegroupConfigResponse };
  UpdateNodegroupVersion: { input: eks.UpdateNodegroupVersionRequest; output: eks.UpdateNodegroupVersionResponse };
  DescribeUpdate: { input: eks.DescribeUpdateRequest; output: eks.DescribeUpdateResponse };
  ListUpdates: { input: eks.ListUpdatesRequest; output: eks.ListUpdatesResponse };
  TagResource: { input: eks.TagResourceRequest; output: eks.TagResourceResponse };
  UntagResource: { input: eks.UntagResourceRequest; output: eks.UntagResourceResponse };
  ListTagsForResource: { input: eks.ListTagsForResourceRequest; output: eks.ListTagsForResourceResponse };
  DescribeAddon: { input: eks.DescribeAddonRequest; output: eks.DescribeAddonResponse };
  UpdateAddon: { input: eks.UpdateAddonRequest; output: eks.UpdateAddonResponse };
  ListAddons: { input: eks.ListAddonsRequest; output: eks.ListAddonsResponse };
  CreateAccessEntry: { input: eks.CreateAccessEntryRequest; output: eks.CreateAccessEntryResponse };
  DescribeAccessEntry: { input: eks.DescribeAccessEntryRequest; output: eks.DescribeAccessEntryResponse };
  ListAccessEntries: { input: eks.ListAccessEntriesRequest; output: eks.ListAccessEntriesResponse };
  DeleteAccessEntry: { input: eks.DeleteAccessEntryRequest; output: eks.DeleteAccessEntryResponse };
  DescribeInstances: { input: ec2.DescribeInstancesRequest; output: ec2.DescribeInstancesResult };
  DescribeInstanceTypes: { input: ec2.DescribeInstanceTypesRequest; output: ec2.DescribeInstanceTypesResult };
  DescribeInstanceTypeOfferings: {
    input: ec2.DescribeInstanceTypeOfferingsRequest;
    output: ec2.DescribeInstanceTypeOfferingsResult;
  };
  DescribeSubnets: { input: ec2.DescribeSubnetsRequest; output: ec2.DescribeSubnetsResult };
  DescribeImages: { input: ec2.DescribeImagesRequest; output: ec2.DescribeImagesResult };
  DescribeLaunchTemplates: {
    input: ec2.DescribeLaunchTemplatesRequest;
    output: ec2.DescribeLaunchTemplatesResult;
  };
  DescribeLaunchTemplateVersions: {
    input: ec2.DescribeLaunchTemplateVersionsRequest;
    output: ec2.DescribeLaunchTemplateVersionsResult;
  };
  TerminateInstances: { input: ec2.TerminateInstancesRequest; output: ec2.TerminateInstancesResult };
  DescribeAutoScalingGroups: {
    input: autoscaling.AutoScalingGroupNamesType;
    output: autoscaling.AutoScalingGroupsType;
  };
  DescribeTags: { input: autoscaling.DescribeTagsType; output: autoscaling.TagsType };
  CreateOrUpdateTags: { input: autoscaling.CreateOrUpdateTagsType; output: Record<string, never> };
  DeleteTags: { input: autoscaling.DeleteTagsType; output: Record<string, never> };
  SetDesiredCapacity: { input: autoscaling.SetDesiredCapacityType; output: Record<string, never> };
  TerminateInstanceInAutoScalingGroup: {
    input: autoscaling.TerminateInstanceInAutoScalingGroupType;
    output: autoscaling.ActivityType;
  };
  GetParameter: { input: ssm.GetParameterRequest; output: ssm.GetParameterResult };
  GetCallerIdentity: { input: sts.GetCallerIdentityRequest; output: sts.GetCallerIdentityResponse };
  ListAttachedRolePolicies: {
    input: iam.ListAttachedRolePoliciesRequest;
    output: iam.ListAttachedRolePoliciesResponse;
  };
}

/** The name of a served operation. */
export type OperationName = keyof Operations;

/** Who calls. */
export interface Caller {
  readonly arn: string;
  readonly userAgent: string;
  /** Of the account: no policy limits it. */
  readonly isAdministrator?: boolean;
}

/** The access key id of the account's administrator. Any other one is the operator's. */
export const ADMINISTRATOR = 'ADMINISTRATOR';

type Handler<K extends OperationName> = (
  cloud: LocalAwsState,
  input: Operations[K]['input'],
  caller: Caller,
) => Operations[K]['output'];

const handlers: { readonly [K in OperationName]: { readonly service: Service; readonly run: Handler<K> } } = {
  DescribeCluster: eksCall((cloud) => describeCluster(cloud)),
  ListClusters: {
    service: 'eks',
    run: (cloud, input) => {
      const { items, nextToken } = eksPage(cloud.clusterState.exists ? [cloud.cluster.name] : [], input);
      return { clusters: items, ...(nextToken === undefined ? {} : { nextToken }) };
    },
  },
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
  ListUpdates: eksCall((cloud, input) => {
    const { items, nextToken } = eksPage(updateIds(cloud, input.nodegroupName), input);
    return { updateIds: items, ...(nextToken === undefined ? {} : { nextToken }) };
  }),
  TagResource: { service: 'eks', run: (cloud, { resourceArn, tags }) => tagResource(cloud, resourceArn, tags ?? {}) },
  UntagResource: {
    service: 'eks',
    run: (cloud, { resourceArn, tagKeys }) => untagResource(cloud, resourceArn, tagKeys ?? []),
  },
  ListTagsForResource: {
    service: 'eks',
    run: (cloud, { resourceArn }) => ({ tags: { ...tagsOf(cloud, resourceArn) } }),
  },
  DescribeAddon: eksCall((cloud, { addonName }) => describeAddon(cloud, addonName)),
  UpdateAddon: eksCall(updateAddon),
  ListAddons: eksCall((cloud, input) => {
    const { items, nextToken } = eksPage([...cloud.addons.keys()].sort(), input);
    return { addons: items, ...(nextToken === undefined ? {} : { nextToken }) };
  }),
  CreateAccessEntry: eksCall(createAccessEntry),
  DescribeAccessEntry: eksCall((cloud, { principalArn }) => describeAccessEntry(cloud, principalArn)),
  ListAccessEntries: eksCall((cloud, input) => {
    const { items, nextToken } = eksPage(accessEntryArns(cloud, input.associatedPolicyArn), input);
    return { accessEntries: items, ...(nextToken === undefined ? {} : { nextToken }) };
  }),
  DeleteAccessEntry: eksCall((cloud, { principalArn }) => deleteAccessEntry(cloud, principalArn)),
  DescribeInstances: { service: 'ec2', run: describeInstances },
  DescribeInstanceTypes: { service: 'ec2', run: describeInstanceTypes },
  DescribeInstanceTypeOfferings: { service: 'ec2', run: describeInstanceTypeOfferings },
  DescribeSubnets: { service: 'ec2', run: describeSubnets },
  DescribeImages: { service: 'ec2', run: describeImages },
  DescribeLaunchTemplates: { service: 'ec2', run: describeLaunchTemplates },
  DescribeLaunchTemplateVersions: { service: 'ec2', run: describeLaunchTemplateVersions },
  TerminateInstances: { service: 'ec2', run: terminateInstances },
  DescribeAutoScalingGroups: { service: 'autoscaling', run: describeAutoScalingGroups },
  DescribeTags: { service: 'autoscaling', run: describeTags },
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
  ListAttachedRolePolicies: { service: 'iam', run: listAttachedRolePolicies },
};

/**
 * Does one call: checks the input against the service model, asks the policy, and runs it on the state as of now.
 * Returns what the SDK client would return, or throws an AwsFault. Nothing of the answer is shared with the state.
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
  if (!caller.isAdministrator) policy.check(questionsOf(cloud, name, input), caller.arn);
  if ('DryRun' in input && input.DryRun === true) {
    throw new AwsFault('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.');
  }
  const output = structuredClone(handlers[name].run(cloud, input, caller));
  checkOutput(operation, output);
  return output;
}

/** The operation of the service model, if the local AWS serves it; else a fault that says which of the two it lacks. */
export function servedOperation(service: Service, name: string): Operation {
  const operation = operationOf(service, name);
  if (operation === undefined) {
    throw new AwsFault(protocols[service].noOperation, `${service} has no operation ${name}`);
  }
  if (!isServed(name) || handlers[name].service !== service) {
    throw new AwsFault(
      'NotImplementedException',
      `hack/localaws does not serve ${service} ${name} yet; add it to wire/calls.ts`,
    );
  }
  return operation;
}

/** Is there such an operation here? */
export const isServed = (name: string): name is OperationName => Object.hasOwn(handlers, name);

/** The service that an operation belongs to. */
export const serviceOf = (name: OperationName): Service => handlers[name].service;

// Every operation below a cluster answers first whether that cluster exists.
function eksCall<K extends OperationName>(run: Handler<K>): { service: 'eks'; run: Handler<K> } {
  return {
    service: 'eks',
    run: (cloud, input, caller) => {
      checkClusterName(cloud, clusterNameIn(input));
      return run(cloud, input, caller);
    },
  };
}

// Most operations call it clusterName; DescribeCluster, DescribeUpdate and ListUpdates call it name.
function clusterNameIn(input: object): string | undefined {
  if ('clusterName' in input) return String(input.clusterName);
  return 'name' in input ? String(input.name) : undefined;
}
