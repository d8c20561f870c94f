import type {
  CreateAccessEntryRequest,
  CreateNodegroupRequest,
  LaunchTemplateSpecification,
} from '@aws-sdk/client-eks';
import { AwsFault, invalidRequest } from '../awsFault.ts';
import { entryPath } from '../eks/accessEntryRecord.ts';
import type { LocalAwsState } from '../state.ts';
import type { OperationName, Operations } from '../wire/operations.ts';
import type { Service } from '../wire/shapes.ts';
import { fleetQuestions } from './accessFleet.ts';
import { templateQuestions } from './accessTemplates.ts';
import type { Context } from './conditions.ts';
import { type AccessQuestion, notAuthorized } from './iam.ts';
import { requestTags, resourceTags, tagsOfMissing } from './tagContext.ts';

/** The fields of a request of EKS that decide about its permissions. */
interface Given {
  readonly clusterName?: string;
  readonly name?: string;
  readonly nodegroupName?: string;
  readonly launchTemplate?: LaunchTemplateSpecification;
  readonly addonName?: string;
  readonly serviceAccountRoleArn?: string;
  readonly principalArn?: string;
  readonly resourceArn?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly tagKeys?: readonly string[];
}

/**
 * The IAM checks before an operation. Actions, resources and condition keys: AWS' service authorization reference
 * for Amazon EKS. The checks of EKS on the caller's behalf at CreateNodegroup: as seen in issue threads of its clients.
 */
export function questionsOf<K extends OperationName>(
  cloud: LocalAwsState,
  service: Service,
  name: K,
  input: Operations[K]['input'],
): AccessQuestion[] {
  if (service !== 'eks') return fleetQuestions(cloud, service, name, input);
  const given = input as Given;
  const action = `eks:${name}`;
  const clusterArn = cloud.arn(`cluster/${given.clusterName ?? given.name}`);
  switch (name) {
    case 'CreateNodegroup':
      return createQuestions(cloud, clusterArn, input as CreateNodegroupRequest);
    case 'DescribeAddon':
    case 'UpdateAddon':
      return [
        { action, resource: addonArn(cloud, given) },
        ...(given.serviceAccountRoleArn === undefined
          ? []
          : [passRole(given.serviceAccountRoleArn, 'eks.amazonaws.com')]),
      ];
    case 'CreateAccessEntry':
      return createEntryQuestions(cloud, clusterArn, input as CreateAccessEntryRequest);
    case 'DescribeAccessEntry':
      return [{ action, ...entryOf(cloud, given) }];
    case 'TagResource':
    case 'UntagResource':
      return [{ action, ...taggedBy(cloud, given) }];
    default:
      // DescribeUpdate without a node group is about the cluster.
      if (given.nodegroupName === undefined) return [{ action, resource: clusterArn }];
      return [
        { action, ...groupOf(cloud, given) },
        ...templateQuestions(cloud, given.launchTemplate, subnetsOf(cloud, given)),
      ];
  }
}

type Resource = Pick<AccessQuestion, 'resource' | 'context'>;

function createQuestions(cloud: LocalAwsState, clusterArn: string, request: CreateNodegroupRequest): AccessQuestion[] {
  const { nodeRole = '', tags = {} } = request;
  const roleName = nodeRole.split('/').at(-1);
  const onRole = (action: string): AccessQuestion => ({
    action,
    resource: nodeRole,
    denied: (caller) => new AwsFault('AccessDeniedException', notAuthorized(caller, action, `role ${roleName}`)),
  });
  const resource = cloud.arn(`nodegroup/${request.clusterName}/${request.nodegroupName}/*`);
  return [
    { action: 'eks:CreateNodegroup', resource: clusterArn, context: requestTags(tags) },
    ...taggingQuestions(resource, tags),
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

/** The group, or what EKS takes in its place if there is none. */
function groupOf(cloud: LocalAwsState, { clusterName, name, nodegroupName = '' }: Given): Resource {
  const { nodegroup } = cloud.groups.get(nodegroupName) ?? {};
  const missing = cloud.arn(`nodegroup/${clusterName ?? name}/${nodegroupName}/none`);
  return {
    resource: nodegroup?.nodegroupArn ?? missing,
    context: resourceTags(nodegroup?.tags ?? tagsOfMissing(cloud)),
  };
}

const subnetsOf = (cloud: LocalAwsState, { nodegroupName = '' }: Given): readonly string[] | undefined =>
  cloud.groups.get(nodegroupName)?.nodegroup.subnets;

/** Of an add-on that does not exist, EKS authorizes the path of the request. Seen: terraform-aws-modules/terraform-aws-eks#1725. */
const addonArn = (cloud: LocalAwsState, { clusterName, addonName = '' }: Given): string =>
  cloud.addons.get(addonName)?.addonArn ?? cloud.arn(`/clusters/${clusterName}/addons/${addonName}`);

function createEntryQuestions(
  cloud: LocalAwsState,
  clusterArn: string,
  { clusterName = '', principalArn = '', type = 'STANDARD', tags = {} }: CreateAccessEntryRequest,
): AccessQuestion[] {
  const { accessEntryPassRole: service } = cloud.switches;
  const entry = { 'eks:principalArn': principalArn, 'eks:accessEntryType': type };
  return [
    { action: 'eks:CreateAccessEntry', resource: clusterArn, context: { ...requestTags(tags), ...entry } },
    ...taggingQuestions(cloud.arn(`${entryPath(clusterName, principalArn)}/*`), tags),
    ...(service === 'none' ? [] : [passRole(principalArn, service)]),
  ];
}

const taggingQuestions = (resource: string, tags: Readonly<Record<string, string>>): AccessQuestion[] =>
  Object.keys(tags).length === 0 ? [] : [{ action: 'eks:TagResource', resource, context: requestTags(tags) }];

const passRole = (resource: string, service: string): AccessQuestion => ({
  action: 'iam:PassRole',
  resource,
  context: { 'iam:PassedToService': service },
});

function entryOf(cloud: LocalAwsState, { clusterName = '', principalArn = '' }: Given): Resource {
  const { accessEntryArn, type, tags } = cloud.accessEntries.get(principalArn) ?? {};
  const context = { ...resourceTags(tags ?? {}), 'eks:principalArn': principalArn };
  return {
    resource: accessEntryArn ?? cloud.arn(`${entryPath(clusterName, principalArn)}/none`),
    context: { ...context, ...(type !== undefined && { 'eks:accessEntryType': type }) },
  };
}

function taggedBy(cloud: LocalAwsState, { resourceArn = '', tags = {}, tagKeys }: Given): Resource {
  const tagged =
    [...cloud.groups.values()].find(({ nodegroup }) => nodegroup.nodegroupArn === resourceArn)?.nodegroup ??
    [...cloud.accessEntries.values()].find(({ accessEntryArn }) => accessEntryArn === resourceArn);
  const change: Context = tagKeys === undefined ? requestTags(tags) : { 'aws:TagKeys': tagKeys };
  return { resource: resourceArn, context: { ...resourceTags(tagged?.tags ?? tagsOfMissing(cloud)), ...change } };
}
