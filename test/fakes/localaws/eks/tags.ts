import { AwsFault } from '../awsFault.ts';
import type { LocalAwsState } from '../state.ts';
import { tagsFault } from './validation.ts';

// The tags API has errors of its own: NotFoundException and BadRequestException, never ResourceNotFound or InvalidParameter.
const badRequest = (message: string): AwsFault => new AwsFault('BadRequestException', message);

/** The mutable tags of the resource with that ARN. */
function tagsOf(cloud: LocalAwsState, arn: string | undefined): Record<string, string> {
  if (arn === undefined || !/^arn:[\w-]+:eks:/.test(arn)) throw badRequest(`${arn} is not an ARN of EKS`);
  const group = [...cloud.groups.values()].find(({ nodegroup }) => nodegroup.nodegroupArn === arn)?.nodegroup;
  const tagged = group ?? [...cloud.accessEntries.values()].find(({ accessEntryArn }) => accessEntryArn === arn);
  if (tagged === undefined || !cloud.clusterState.exists)
    throw new AwsFault('NotFoundException', `No resource found for ARN: ${arn}`);
  tagged.tags ??= {};
  return tagged.tags;
}

/**
 * TagResource: adds tags and replaces values. Tags of AWS, such as those that CloudFormation sets, stay and do not count towards the limit:
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-eks-fargateprofile-tag.html
 */
export function tagResource(
  cloud: LocalAwsState,
  arn: string | undefined,
  tags: Record<string, string>,
): Record<string, never> {
  const present = tagsOf(cloud, arn);
  const counted = Object.fromEntries(Object.entries(present).filter(([key]) => !key.startsWith('aws:')));
  const fault = tagsFault({ ...counted, ...tags });
  if (fault !== undefined) throw badRequest(fault.message);
  Object.assign(present, tags);
  return {};
}

/** UntagResource: removes tags; an unknown key is not an error. */
export function untagResource(
  cloud: LocalAwsState,
  arn: string | undefined,
  keys: readonly string[],
): Record<string, never> {
  const present = tagsOf(cloud, arn);
  if (keys.length < 1 || keys.length > 50) throw badRequest(`tagKeys has ${keys.length} keys; 1 to 50 are allowed`);
  for (const key of keys) delete present[key];
  return {};
}
