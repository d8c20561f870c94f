/**
 * The checks of EKS, with the caller's permissions, whether it can launch instances from a launch template.
 *
 * EKS documents them nowhere. A CloudTrail event of such a check is a RunInstances with the template's ID and version, an image, a subnet and an
 * instance type: https://github.com/GnatorX/cfnd. EC2 authorizes it for each resource of the launch. The keys of each resource:
 * https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html. What the request itself names is no resource of the
 * template: "Launch templates" in https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ExamplePolicies_EC2.html.
 */
import type { ResponseLaunchTemplateData } from '@aws-sdk/client-ec2';
import type { LaunchTemplateSpecification } from '@aws-sdk/client-eks';
import { invalidRequest } from '../awsFault.ts';
import { ownerOfImage } from '../ec2/images.ts';
import { templateNamed, versionOf } from '../ec2/launchTemplates.ts';
import type { TemplateRecord } from '../records.ts';
import type { LocalAwsState } from '../state.ts';
import type { Context } from './conditions.ts';
import type { AccessQuestion } from './iam.ts';
import { resourceTags } from './tagContext.ts';

/** A resource of a launch: the part of its ARN after the account, and its own condition keys. */
interface LaunchedResource {
  readonly path: string;
  /** An image belongs to no account. */
  readonly ofNoAccount?: true;
  readonly isOfTemplate: boolean;
  readonly context?: Context;
}

/** The checks for the launch template of a node group with these subnets. */
export function templateQuestions(
  cloud: LocalAwsState,
  specification: LaunchTemplateSpecification | undefined,
  subnets: readonly string[] = [],
): AccessQuestion[] {
  if (specification === undefined) return [];
  const { id, name, version } = specification;
  const template = id === undefined ? templateNamed(cloud, name) : cloud.launchTemplates.get(id);
  // Nothing can be launched from it: EKS rejects the request for that.
  if (!template) return [];
  const data = versionOf(template, version ?? '$Default')?.data ?? {};
  const templatePath = `launch-template/${template.id}`;
  const { region, accountId } = cloud.cluster;
  const arn = (path: string, account = accountId) => `arn:aws:ec2:${region}:${account}:${path}`;
  const denied = () =>
    // Seen.
    invalidRequest(
      'You are not authorized to launch instances with this launch template. ' +
        `Encoded authorization failure message: ${Buffer.from(cloud.nextUuid()).toString('base64url')}`,
    );
  const ofLaunch = launchedResources(cloud, templatePath, template, data, subnets[0]);
  return [
    ...ofLaunch.map(({ path, ofNoAccount, isOfTemplate, context }) => ({
      action: 'ec2:RunInstances',
      resource: ofNoAccount ? arn(path, '') : arn(path),
      context: {
        ...context,
        'ec2:LaunchTemplate': arn(templatePath),
        'ec2:IsLaunchTemplateResource': String(isOfTemplate),
      },
      denied,
    })),
    ...taggedTypes(data).map((type) => ({ ...TAGGING, resource: arn(`${type}/*`), denied })),
  ];
}

function launchedResources(
  cloud: LocalAwsState,
  templatePath: string,
  template: TemplateRecord,
  { ImageId, KeyName, SecurityGroupIds = [], BlockDeviceMappings = [] }: ResponseLaunchTemplateData,
  subnet: string | undefined,
): LaunchedResource[] {
  return [
    { path: templatePath, isOfTemplate: true, context: resourceTags(template.tags ?? {}, 'ec2') },
    // Seen: true in the decoded message of a denied check.
    { path: 'instance/*', isOfTemplate: true },
    {
      path: `image/${ImageId ?? 'ami-0123456789abcdef0'}`,
      ofNoAccount: true,
      isOfTemplate: ImageId !== undefined,
      context: { 'ec2:Owner': ImageId === undefined ? 'amazon' : ownerOfImage(cloud, ImageId) },
    },
    { path: `subnet/${subnet}`, isOfTemplate: false },
    // Seen with a subnet in the request: false.
    { path: 'network-interface/*', isOfTemplate: false },
    { path: 'volume/*', isOfTemplate: BlockDeviceMappings.length > 0 },
    ...(SecurityGroupIds.length > 0
      ? SecurityGroupIds.map((id) => ({ path: `security-group/${id}`, isOfTemplate: true }))
      : [{ path: 'security-group/sg-default', isOfTemplate: false }]),
    ...(KeyName === undefined ? [] : [{ path: `key-pair/${KeyName}`, isOfTemplate: true }]),
  ];
}

/** EC2's guide, "Grant permission to tag Amazon EC2 resources during creation": asked only where the launch gives tags, also by a template. */
const TAGGING = { action: 'ec2:CreateTags', context: { 'ec2:CreateAction': 'RunInstances' } };

/** The types of the resources that a launch from the template tags. */
function taggedTypes({ TagSpecifications = [] }: ResponseLaunchTemplateData): string[] {
  return TagSpecifications.flatMap(({ ResourceType = '', Tags = [] }) => (Tags.length > 0 ? [ResourceType] : []));
}
