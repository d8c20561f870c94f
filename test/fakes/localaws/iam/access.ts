import type {
  CreateAccessEntryRequest,
  CreateNodegroupRequest,
  LaunchTemplateSpecification,
} from '@aws-sdk/client-eks';
import { AwsFault, invalidRequest } from '../awsFault.ts';
import { entryPath } from '../eks/accessEntryRecord.ts';
import type { LocalAwsState } from '../state.ts';
import type { OperationName, Operations } from '../wire/operations.ts';
import { fleetQuestions } from './accessFleet.ts';
import { templateQuestions } from './accessTemplates.ts';
import type { Context } from './conditions.ts';
import { type AccessQuestion, notAuthorized } from './iam.ts';

/**
 * The IAM checks before an operation. Actions, resources and condition keys: AWS' service authorization reference
 * for Amazon EKS. The checks of EKS on the caller's behalf at CreateNodegroup: as seen in issue threads of its clients.
 */
export function questionsOf<K extends OperationName>(
  cloud: LocalAwsState,
  name: K,
  input: Operations[K]['input'],
): AccessQuestion[] {
  const given: Readonly<Record<string, unknown>> = { ...input };
  const clusterArn = cloud.arn(`cluster/${given.clusterName ?? given.name}`);
  const elsewhere = fleetQuestions(cloud, name, given);
  if (elsewhere !== undefined) return elsewhere;
  switch (name) {
    case 'DescribeCluster':
    case 'ListNodegroups':
      return [{ action: `eks:${name}`, resource: clusterArn }];
    case 'CreateNodegroup':
      return createQuestions(cloud, clusterArn, input as CreateNodegroupRequest);
    case 'DescribeAddon':
    case 'UpdateAddon':
      return [
        { action: `eks:${name}`, resource: addonArn(cloud, given) },
        ...(given.serviceAccountRoleArn === undefined
          ? []
          : [passRole(String(given.serviceAccountRoleArn), 'eks.amazonaws.com')]),
      ];
    case 'CreateAccessEntry':
      return createEntryQuestions(cloud, clusterArn, input as CreateAccessEntryRequest);
    case 'DescribeAccessEntry':
      return entryQuestions(cloud, name, given);
    case 'TagResource':
    case 'UntagResource':
      return tagQuestions(cloud, name, given);
    default:
      // DescribeUpdate without a node group is about the cluster.
      if (given.nodegroupName === undefined) return [{ action: `eks:${name}`, resource: clusterArn }];
      return [
        ...groupQuestions(cloud, name, String(given.nodegroupName), given),
        ...templateQuestions(
          cloud,
          given.launchTemplate as LaunchTemplateSpecification | undefined,
          cloud.groups.get(String(given.nodegroupName))?.nodegroup.subnets,
        ),
      ];
  }
}

function createQuestions(cloud: LocalAwsState, clusterArn: string, request: CreateNodegroupRequest): AccessQuestion[] {
  const { nodeRole = '', tags = {} } = request;
  const roleName = nodeRole.split('/').at(-1);
  const onRole = (action: string): AccessQuestion => ({
    action,
    resource: nodeRole,
    denied: (caller) => new AwsFault('AccessDeniedException', notAuthorized(caller, action, `role ${roleName}`)),
  });
  const tagging = {
    action: 'eks:TagResource',
    resource: cloud.arn(`nodegroup/${request.clusterName}/${request.nodegroupName}/*`),
  };
  return [
    { action: 'eks:CreateNodegroup', resource: clusterArn, context: requestTags(tags) },
    ...(Object.keys(tags).length === 0 ? [] : [{ ...tagging, context: requestTags(tags) }]),
    passRole(nodeRole, 'eks.amazonaws.com'),
    ...serviceRoleQuestions(cloud),
    // A contradictory request is rejected before that.
    ...((request.diskSize ?? request.remoteAccess)
      ? []
      : templateQuestions(cloud, request.launchTemplate, request.subnets)),
    onRole('iam:GetRole'),
    onRole('iam:ListAttachedRolePolicies'),
    {
      action: 'ec2:DescribeSubnets',
      resource: '*',
      denied: (caller) =>
        new AwsFault(
          'AccessDeniedException',
          `You are not authorized to perform ec2:DescribeSubnets. ${notAuthorized(caller, 'ec2:DescribeSubnets')}`,
        ),
    },
  ];
}

// Both messages were seen: terraform-aws-modules/terraform-aws-eks#823, XenitAB/terraform-modules#396.
function serviceRoleQuestions(cloud: LocalAwsState): AccessQuestion[] {
  const name = 'AWSServiceRoleForAmazonEKSNodegroup';
  const service = 'eks-nodegroup.amazonaws.com';
  const resource = `arn:aws:iam::${cloud.cluster.accountId}:role/aws-service-role/${service}/${name}`;
  const find: AccessQuestion = {
    action: 'iam:GetRole',
    resource,
    denied: () =>
      invalidRequest(`Failed to validate if SLR: ${name} already exists due to missing permissions for 'iam:GetRole'`),
  };
  const create: AccessQuestion = {
    action: 'iam:CreateServiceLinkedRole',
    resource,
    context: { 'iam:AWSServiceName': service },
    denied: () =>
      invalidRequest(
        `Failed to create service linked role: ${name} due to missing permissions for 'iam:CreateServiceLinkedRole'`,
      ),
  };
  return cloud.switches.nodegroupServiceRole === 'exists' ? [find] : [find, create];
}

function groupQuestions(
  cloud: LocalAwsState,
  name: string,
  group: string,
  given: Readonly<Record<string, unknown>>,
): AccessQuestion[] {
  const record = cloud.groups.get(group);
  const cluster = given.clusterName ?? given.name;
  // The authorization of a change of a missing group depends on its tags: missingUnderTagCondition.
  const arn = record?.nodegroup.nodegroupArn ?? cloud.arn(`nodegroup/${cluster}/${group}/none`);
  return [{ action: `eks:${name}`, resource: arn, context: resourceTags(record?.nodegroup.tags, missingTags(cloud)) }];
}

/** Of an add-on that does not exist, EKS authorizes the path of the request. Seen: terraform-aws-modules/terraform-aws-eks#1725. */
function addonArn(cloud: LocalAwsState, { clusterName, addonName }: Readonly<Record<string, unknown>>): string {
  return cloud.addons.get(String(addonName))?.addonArn ?? cloud.arn(`/clusters/${clusterName}/addons/${addonName}`);
}

function createEntryQuestions(
  cloud: LocalAwsState,
  clusterArn: string,
  { clusterName = '', principalArn = '', type = 'STANDARD', tags = {} }: CreateAccessEntryRequest,
): AccessQuestion[] {
  const tagging = { action: 'eks:TagResource', resource: cloud.arn(`${entryPath(clusterName, principalArn)}/*`) };
  return [
    {
      action: 'eks:CreateAccessEntry',
      resource: clusterArn,
      context: { ...requestTags(tags), 'eks:principalArn': principalArn, 'eks:accessEntryType': type },
    },
    ...(Object.keys(tags).length === 0 ? [] : [{ ...tagging, context: requestTags(tags) }]),
    ...(cloud.switches.accessEntryPassRole === 'none'
      ? []
      : [passRole(principalArn, cloud.switches.accessEntryPassRole)]),
  ];
}

const passRole = (resource: string, service: string): AccessQuestion => ({
  action: 'iam:PassRole',
  resource,
  context: { 'iam:PassedToService': service },
});

function entryQuestions(
  cloud: LocalAwsState,
  name: string,
  { clusterName, principalArn }: Readonly<Record<string, unknown>>,
): AccessQuestion[] {
  const entry = cloud.accessEntries.get(String(principalArn));
  const path = entryPath(String(clusterName), String(principalArn));
  const type: Record<string, string> = entry?.type === undefined ? {} : { 'eks:accessEntryType': entry.type };
  const context = { ...resourceTags(entry?.tags, {}), ...type, 'eks:principalArn': String(principalArn) };
  return [{ action: `eks:${name}`, resource: entry?.accessEntryArn ?? cloud.arn(`${path}/none`), context }];
}

function tagQuestions(cloud: LocalAwsState, name: string, given: Readonly<Record<string, unknown>>): AccessQuestion[] {
  const resource = String(given.resourceArn);
  const group = [...cloud.groups.values()].find(({ nodegroup }) => nodegroup.nodegroupArn === resource)?.nodegroup;
  const tagged = group ?? [...cloud.accessEntries.values()].find(({ accessEntryArn }) => accessEntryArn === resource);
  const request =
    name === 'UntagResource'
      ? { 'aws:TagKeys': given.tagKeys as readonly string[] }
      : requestTags((given.tags ?? {}) as Record<string, string>);
  const context = { ...resourceTags(tagged?.tags, missingTags(cloud)), ...request };
  return [{ action: `eks:${name}`, resource, context }];
}

// A resource that does not exist has no tags. Whether AWS then answers "not found" or "denied" is a switch: for the
// first, it is evaluated as if it had the tag that the shipped policy requires.
const missingTags = (cloud: LocalAwsState): Record<string, string> =>
  cloud.switches.missingUnderTagCondition === 'notFound' ? { 'winpool.dev/pool': 'none' } : {};

function requestTags(tags: Readonly<Record<string, string>>): Context {
  const keys = Object.keys(tags);
  return { ...prefixed('aws:RequestTag/', tags), ...(keys.length > 0 && { 'aws:TagKeys': keys }) };
}

const resourceTags = (tags: Readonly<Record<string, string>> | undefined, otherwise: Record<string, string>) =>
  prefixed('aws:ResourceTag/', tags ?? otherwise);

const prefixed = (prefix: string, tags: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(tags).map(([key, value]) => [prefix + key, value]));
