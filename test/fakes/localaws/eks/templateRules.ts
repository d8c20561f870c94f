/*
 * EKS' rules for a user's launch template: user guide of EKS, "Customize managed nodes with launch templates".
 * Messages marked "seen" are EKS' own, the others only have the same meaning.
 */
import type { CreateNodegroupRequest, LaunchTemplateSpecification } from '@aws-sdk/client-eks';
import { type AwsFault, invalidParameter, invalidRequest } from '../awsFault.ts';
import { imageNamed, isLaunchable } from '../ec2/images.ts';
import { offeredType } from '../ec2/instanceTypeQueries.ts';
import { templateNamed, versionOf } from '../ec2/launchTemplates.ts';
import type { TemplateUse } from '../records.ts';
import type { LocalAwsState } from '../state.ts';

/** The other fields of a request. */
type TemplateRequest = Pick<CreateNodegroupRequest, 'instanceTypes' | 'amiType' | 'version' | 'releaseVersion'>;

/** The template version of a request; the default version if it names none. EKS reports version numbers, never `$Latest` or `$Default`. */
export function templateUse(cloud: LocalAwsState, requested: LaunchTemplateSpecification): TemplateUse | AwsFault {
  const { id, name, version = '$Default' } = requested;
  // Seen.
  if ((id === undefined) === (name === undefined))
    return invalidParameter('Either provide launch template ID or launch template name in the request.');
  const template = id === undefined ? templateNamed(cloud, name) : cloud.launchTemplates.get(id);
  if (template === undefined) return invalidParameter(`Launch template ${id ?? name} does not exist`);
  const found = versionOf(template, version);
  if (found === undefined) return invalidParameter(`Launch template ${template.id} has no version ${version}`);
  const specification = { id: template.id, name: template.name, version: String(found.number) };
  return { specification, data: structuredClone(found.data) };
}

/** The first reason why EKS rejects a template version for a group. */
export function templateFault(cloud: LocalAwsState, use: TemplateUse, request: TemplateRequest): AwsFault | undefined {
  return forbiddenFault(use) ?? typeFault(cloud, use, request) ?? imageFault(cloud, use, request);
}

function forbiddenFault({ specification: { name }, data }: TemplateUse): AwsFault | undefined {
  const no = (what: string) => invalidParameter(`Launch template ${name} should not specify ${what}`);
  // Seen, the first.
  if (data.IamInstanceProfile !== undefined)
    return no('an instance profile. The noderole in your request will be used to construct an instance profile.');
  if (data.NetworkInterfaces?.some(({ SubnetId }) => SubnetId !== undefined)) return no('a subnet.');
  if (data.InstanceMarketOptions !== undefined) return no('a request for Spot Instances.');
  if (data.HibernationOptions?.Configured === true) return no('hibernation.');
  return data.InstanceInitiatedShutdownBehavior === undefined ? undefined : no('a shutdown behavior.');
}

function typeFault(cloud: LocalAwsState, { data }: TemplateUse, { instanceTypes = [] }: TemplateRequest) {
  if (data.InstanceType === undefined) return undefined;
  // Seen.
  if (instanceTypes.length > 0)
    return invalidRequest('Cannot specify instance types in launch template and API request');
  if (offeredType(cloud, data.InstanceType) !== undefined) return undefined;
  return invalidParameter(`The following supplied instance types do not exist: [${data.InstanceType}]`);
}

function imageFault(cloud: LocalAwsState, { data: { ImageId: id } }: TemplateUse, request: TemplateRequest) {
  if (id === undefined) return undefined;
  const { amiType = 'CUSTOM', version, releaseVersion } = request;
  // Seen, all but the second field and the image that does not exist.
  if (amiType !== 'CUSTOM')
    return invalidParameter(
      'You cannot specify an AMI Type other than CUSTOM, when specifying an image id in your launch template.',
    );
  if (version !== undefined) return customFault('kubernetesVersion');
  if (releaseVersion !== undefined) return customFault('releaseVersion');
  const image = imageNamed(cloud, id);
  if (image === undefined) return invalidParameter(`The image id '[${id}]' does not exist`);
  if (isLaunchable(cloud, id)) return undefined;
  return invalidRequest(
    `You are not authorized to launch instances with this launch template. Not authorized for images: [${id}]`,
  );
}

const customFault = (field: string): AwsFault =>
  invalidParameter(`You cannot specify the field ${field} when using custom AMIs.`);
