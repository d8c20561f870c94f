import type { TagSpecification } from '@aws-sdk/client-ec2';
import { autoScalingArn } from '../ec2/autoScaling.ts';
import { tagsOfGroup } from '../ec2/autoScalingTags.ts';
import { templateNamed } from '../ec2/launchTemplates.ts';
import type { LocalAwsState } from '../state.ts';
import type { OperationName, Operations } from '../wire/operations.ts';
import type { Service } from '../wire/shapes.ts';
import type { Context } from './conditions.ts';
import type { AccessQuestion } from './iam.ts';
import { requestTags, resourceTags, tagsOfList, tagsOfMissing } from './tagContext.ts';

type Questions = {
  readonly [K in OperationName]?: (cloud: LocalAwsState, input: Operations[K]['input'], name: K) => AccessQuestion[];
};

/** The operations that are not allowed as a whole. Resources and condition keys: AWS' service authorization reference. */
const questions: Questions = {
  CreateLaunchTemplate: (cloud, { TagSpecifications }) => newTemplateQuestions(cloud, TagSpecifications),
  CreateLaunchTemplateVersion: templateQuestion,
  DeleteLaunchTemplateVersions: templateQuestion,
  DeleteLaunchTemplate: templateQuestion,
  GetParameter: (cloud, { Name }) => [{ action: 'ssm:GetParameter', resource: parameterArn(cloud, Name) }],
  // It needs no permission: API reference of STS.
  GetCallerIdentity: () => [],
  GetRole: ({ cluster: { accountId } }, { RoleName }) => [
    { action: 'iam:GetRole', resource: `arn:aws:iam::${accountId}:role/${RoleName}` },
  ],
  ListAttachedRolePolicies: ({ cluster: { accountId } }, { RoleName }) => [
    { action: 'iam:ListAttachedRolePolicies', resource: `arn:aws:iam::${accountId}:role/${RoleName}` },
  ],
  SetDesiredCapacity: (cloud, { AutoScalingGroupName }, name) => [groupQuestion(cloud, name, AutoScalingGroupName)],
  TerminateInstanceInAutoScalingGroup: (cloud, { InstanceId = '' }, name) => [
    groupQuestion(cloud, name, cloud.instances.get(InstanceId)?.autoScalingGroup),
  ],
  CreateOrUpdateTags: (cloud, { Tags = [] }, name) =>
    Tags.map((tag) => {
      const keys = { 'aws:TagKeys': Object.keys(tagsOfList(Tags)) };
      return groupQuestion(cloud, name, tag.ResourceId, { ...requestTags(tagsOfList([tag])), ...keys });
    }),
  DeleteTags: (cloud, { Tags = [] }, name) =>
    Tags.map(({ ResourceId }) =>
      groupQuestion(cloud, name, ResourceId, { 'aws:TagKeys': Object.keys(tagsOfList(Tags)) }),
    ),
};

/** The IAM checks before an operation of EC2, Auto Scaling, SSM, IAM or STS. */
export function fleetQuestions<K extends OperationName>(
  cloud: LocalAwsState,
  service: Service,
  name: K,
  input: Operations[K]['input'],
): AccessQuestion[] {
  return questions[name]?.(cloud, input, name) ?? [{ action: `${service}:${name}`, resource: '*' }];
}

/** Tags at the creation are authorized as ec2:CreateTags: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/supported-iam-actions-tagging.html */
function newTemplateQuestions(
  { cluster: { region, accountId } }: LocalAwsState,
  specifications: readonly TagSpecification[] = [],
): AccessQuestion[] {
  const tags = tagsOfList(specifications.flatMap(({ Tags = [] }) => Tags));
  const resource = `arn:aws:ec2:${region}:${accountId}:launch-template/*`;
  const context = requestTags(tags);
  const tagging = { ...context, 'ec2:CreateAction': 'CreateLaunchTemplate' };
  return [
    { action: 'ec2:CreateLaunchTemplate', resource, context },
    ...(Object.keys(tags).length > 0 ? [{ action: 'ec2:CreateTags', resource, context: tagging }] : []),
  ];
}

function templateQuestion(
  cloud: LocalAwsState,
  { LaunchTemplateId: id, LaunchTemplateName: name }: Operations['DeleteLaunchTemplate']['input'],
  operation: OperationName,
): AccessQuestion[] {
  const template = id === undefined ? templateNamed(cloud, name) : cloud.launchTemplates.get(id);
  const { region, accountId } = cloud.cluster;
  return [
    {
      action: `ec2:${operation}`,
      resource: `arn:aws:ec2:${region}:${accountId}:launch-template/${template?.id ?? id ?? name}`,
      context: resourceTags(template?.tags ?? tagsOfMissing(cloud), 'ec2'),
    },
  ];
}

function groupQuestion(
  cloud: LocalAwsState,
  operation: OperationName,
  name = 'none',
  request: Context = {},
): AccessQuestion {
  const group = [...cloud.groups.values()].find(({ autoScalingGroup }) => autoScalingGroup === name);
  const { region, accountId } = cloud.cluster;
  const none = `arn:aws:autoscaling:${region}:${accountId}:autoScalingGroup:none:autoScalingGroupName/${name}`;
  const tags = group === undefined ? {} : tagsOfList(tagsOfGroup(cloud, group));
  return {
    action: `autoscaling:${operation}`,
    resource: group === undefined ? none : autoScalingArn(cloud, group),
    context: { ...request, ...resourceTags(tags, 'autoscaling') },
  };
}

/** Public parameters belong to no account. */
function parameterArn({ cluster: { region, accountId } }: LocalAwsState, name = ''): string {
  const isPublic = name.startsWith('/aws/service/');
  return `arn:aws:ssm:${region}:${isPublic ? '' : accountId}:parameter${name}`;
}
