import type { Tag } from '@aws-sdk/client-ec2';
import { autoScalingArn } from '../ec2/autoScaling.ts';
import { tagsOfGroup } from '../ec2/autoScalingTags.ts';
import { templateNamed } from '../ec2/launchTemplates.ts';
import type { LocalAwsState } from '../state.ts';
import type { OperationName } from '../wire/operations.ts';
import type { Context } from './conditions.ts';
import type { AccessQuestion } from './iam.ts';

type Given = Readonly<Record<string, unknown>>;

/**
 * The IAM checks before an operation of EC2, Auto Scaling, SSM, IAM or STS; undefined for one of EKS. Resources and condition
 * keys: AWS' service authorization reference.
 */
export function fleetQuestions(cloud: LocalAwsState, name: OperationName, given: Given): AccessQuestion[] | undefined {
  const { accountId } = cloud.cluster;
  switch (name) {
    case 'DescribeInstances':
    case 'DescribeInstanceTypes':
    case 'DescribeInstanceTypeOfferings':
    case 'DescribeSecurityGroups':
    case 'DescribeSubnets':
    case 'DescribeImages':
    case 'DescribeLaunchTemplates':
    case 'DescribeLaunchTemplateVersions':
    case 'GetEbsEncryptionByDefault':
      return [{ action: `ec2:${name}`, resource: '*' }];
    case 'CreateLaunchTemplate':
      return createTemplateQuestions(cloud, given);
    case 'CreateLaunchTemplateVersion':
    case 'DeleteLaunchTemplateVersions':
    case 'DeleteLaunchTemplate':
      return [templateQuestion(cloud, name, given)];
    case 'GetParameter':
      return [{ action: 'ssm:GetParameter', resource: parameterArn(cloud, given.Name) }];
    case 'GetCallerIdentity':
      // It needs no permission: API reference of STS.
      return [];
    case 'ListAttachedRolePolicies':
      return [{ action: 'iam:ListAttachedRolePolicies', resource: `arn:aws:iam::${accountId}:role/${given.RoleName}` }];
    case 'DescribeAutoScalingGroups':
      return [{ action: `autoscaling:${name}`, resource: '*' }];
    case 'SetDesiredCapacity':
      return [groupQuestion(cloud, name, String(given.AutoScalingGroupName))];
    case 'TerminateInstanceInAutoScalingGroup': {
      const instance = cloud.instances.get(String(given.InstanceId));
      return [groupQuestion(cloud, name, instance?.autoScalingGroup ?? 'none')];
    }
    case 'CreateOrUpdateTags':
    case 'DeleteTags':
      return tagQuestions(cloud, name, given);
    default:
      return undefined;
  }
}

function tagQuestions(cloud: LocalAwsState, name: OperationName, { Tags }: Given): AccessQuestion[] {
  const tags = listOf(Tags) as readonly { ResourceId?: string; Key?: string; Value?: string }[];
  const keys = tags.flatMap(({ Key = '' }) => Key);
  return tags.map(({ ResourceId = 'none', Key, Value }) =>
    groupQuestion(cloud, name, ResourceId, {
      ...(name === 'CreateOrUpdateTags' && contextOf(['aws:RequestTag/'], [{ Key, Value }])),
      'aws:TagKeys': keys,
    }),
  );
}

/** Tags at the creation are authorized as ec2:CreateTags: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/supported-iam-actions-tagging.html */
function createTemplateQuestions(cloud: LocalAwsState, { TagSpecifications }: Given): AccessQuestion[] {
  const specifications = listOf(TagSpecifications) as readonly { readonly Tags?: readonly Tag[] }[];
  const tags = specifications.flatMap(({ Tags = [] }) => Tags);
  const context = {
    ...contextOf(['aws:RequestTag/'], tags),
    ...(tags.length > 0 && { 'aws:TagKeys': tags.flatMap(({ Key = '' }) => Key) }),
  };
  const { region, accountId } = cloud.cluster;
  const resource = `arn:aws:ec2:${region}:${accountId}:launch-template/*`;
  const tagging = { ...context, 'ec2:CreateAction': 'CreateLaunchTemplate' };
  return [
    { action: 'ec2:CreateLaunchTemplate', resource, context },
    ...(tags.length > 0 ? [{ action: 'ec2:CreateTags', resource, context: tagging }] : []),
  ];
}

function templateQuestion(cloud: LocalAwsState, operation: OperationName, given: Given): AccessQuestion {
  const { LaunchTemplateId: id, LaunchTemplateName: name } = given;
  const template =
    id === undefined ? templateNamed(cloud, name as string | undefined) : cloud.launchTemplates.get(String(id));
  const { region, accountId } = cloud.cluster;
  // Of a template that does not exist, EC2 has no tags. Whether it then answers "not found" or "denied" is a switch.
  const missing = cloud.switches.missingUnderTagCondition === 'notFound' ? tagsOfMissing(cloud) : {};
  const found: Readonly<Record<string, string>> = template?.tags ?? missing;
  const tags = Object.entries(found).map(([Key, Value]) => ({ Key, Value }));
  return {
    action: `ec2:${operation}`,
    resource: `arn:aws:ec2:${region}:${accountId}:launch-template/${template?.id ?? id ?? name}`,
    context: contextOf(['aws:ResourceTag/', 'ec2:ResourceTag/'], tags),
  };
}

/** The tags that the shipped policy requires. */
const tagsOfMissing = (cloud: LocalAwsState) => ({
  'winpool.dev/pool': 'none',
  'winpool.dev/usable-by': cloud.cluster.name,
});

function groupQuestion(
  cloud: LocalAwsState,
  operation: OperationName,
  name: string,
  request: Context = {},
): AccessQuestion {
  const group = [...cloud.groups.values()].find(({ autoScalingGroup }) => autoScalingGroup === name);
  const { region, accountId } = cloud.cluster;
  const none = `arn:aws:autoscaling:${region}:${accountId}:autoScalingGroup:none:autoScalingGroupName/${name}`;
  const tags = group === undefined ? [] : tagsOfGroup(cloud, group);
  return {
    action: `autoscaling:${operation}`,
    resource: group === undefined ? none : autoScalingArn(cloud, group),
    context: { ...request, ...contextOf(['aws:ResourceTag/', 'autoscaling:ResourceTag/'], tags) },
  };
}

const contextOf = (prefixes: readonly string[], tags: readonly Tag[]): Record<string, string> =>
  Object.fromEntries(prefixes.flatMap((prefix) => tags.map(({ Key, Value = '' }) => [`${prefix}${Key}`, Value])));

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Public parameters belong to no account. */
function parameterArn({ cluster: { region, accountId } }: LocalAwsState, name: unknown): string {
  const isPublic = String(name).startsWith('/aws/service/');
  return `arn:aws:ssm:${region}:${isPublic ? '' : accountId}:parameter${name}`;
}
