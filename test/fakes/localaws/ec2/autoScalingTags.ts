/** The tags of Auto Scaling groups. An autoscaler reads the labels and resources of nodes of an empty group from them. */
import type { CreateOrUpdateTagsType, DeleteTagsType, Tag, TagDescription } from '@aws-sdk/client-auto-scaling';
import { AwsFault } from '../awsFault.ts';
import { tagsFault } from '../eks/validation.ts';
import type { GroupRecord } from '../records.ts';
import type { LocalAwsState } from '../state.ts';
import { pageOf } from '../wire/paging.ts';

/** A value that Auto Scaling rejects. */
export const validationError = (message: string): AwsFault => new AwsFault('ValidationError', message);

/** A page of Auto Scaling: MaxRecords is from 1 to 100, by default 50. */
export function pageOfRecords<T>(
  all: readonly T[],
  {
    MaxRecords: most = 50,
    NextToken,
  }: { readonly MaxRecords?: number | undefined; readonly NextToken?: string | undefined },
) {
  if (!Number.isInteger(most) || most < 1 || most > 100)
    throw validationError(`The number of records is ${most}; it must be from 1 to 100`);
  return pageOf(all, NextToken, most, 'InvalidNextToken');
}

/** The group with that name; the error has the message of Auto Scaling. */
export function autoScalingGroup(cloud: LocalAwsState, name: string | undefined): GroupRecord {
  const group = [...cloud.groups.values()].find(({ autoScalingGroup: found }) => found === name);
  if (group !== undefined) return group;
  throw validationError(`AutoScalingGroup name not found - AutoScalingGroup ${name} not found`);
}

/** All tags of a group: those of EKS, which the autoscaler finds its groups by, and those of others. */
export function tagsOfGroup(cloud: LocalAwsState, group: GroupRecord): TagDescription[] {
  const { name } = cloud.cluster;
  const own = new Map([
    ['eks:cluster-name', name],
    ['eks:nodegroup-name', group.name],
    ['k8s.io/cluster-autoscaler/enabled', 'true'],
    [`k8s.io/cluster-autoscaler/${name}`, 'owned'],
    [`kubernetes.io/cluster/${name}`, 'owned'],
  ]);
  const ofEks = [...own].map(([Key, Value]) => ({ Key, Value, PropagateAtLaunch: true }));
  const ofOthers = group.autoScalingTags.filter(({ Key }) => !own.has(Key ?? ''));
  return [...ofEks, ...ofOthers].map(({ Key = '', Value = '', PropagateAtLaunch = false }) => ({
    ResourceId: group.autoScalingGroup,
    ResourceType: 'auto-scaling-group',
    Key,
    Value,
    PropagateAtLaunch,
  }));
}

/** "The maximum number of tags that you can add or remove using a single call is 25": the user guide's page ec2-auto-scaling-tagging. */
const MOST_TAGS = 25;

/** CreateOrUpdateTags: all of them or none. */
export function createOrUpdateTags(
  cloud: LocalAwsState,
  { Tags: tags = [] }: CreateOrUpdateTagsType,
): Record<string, never> {
  checkNumber(tags);
  for (const tag of tags) {
    const group = groupOf(cloud, tag);
    const { Key, Value = '' } = tag;
    const present = Object.fromEntries(tagsOfGroup(cloud, group).map(({ Key: key, Value: value }) => [key, value]));
    const fault = tagsFault({ ...present, [Key ?? '']: Value });
    if (fault !== undefined) throw validationError(fault.message);
  }
  for (const { ResourceId, ResourceType: _type, ...tag } of tags) {
    const group = autoScalingGroup(cloud, ResourceId);
    group.autoScalingTags = [...group.autoScalingTags.filter(({ Key }) => Key !== tag.Key), structuredClone(tag)];
  }
  return {};
}

/** DeleteTags: an unknown tag is not an error. */
export function deleteTags(cloud: LocalAwsState, { Tags: tags = [] }: DeleteTagsType): Record<string, never> {
  checkNumber(tags);
  for (const tag of tags) groupOf(cloud, tag);
  for (const { ResourceId, Key } of tags) {
    const group = autoScalingGroup(cloud, ResourceId);
    group.autoScalingTags = group.autoScalingTags.filter((tag) => tag.Key !== Key);
  }
  return {};
}

function checkNumber(tags: readonly Tag[]): void {
  if (tags.length > MOST_TAGS)
    throw validationError(`The number of tags is ${tags.length}; it must be at most ${MOST_TAGS}`);
}

function groupOf(cloud: LocalAwsState, { ResourceId, ResourceType }: Tag): GroupRecord {
  if (ResourceType !== undefined && ResourceType !== 'auto-scaling-group')
    throw validationError(`ResourceType is ${ResourceType}; it must be auto-scaling-group`);
  return autoScalingGroup(cloud, ResourceId);
}
