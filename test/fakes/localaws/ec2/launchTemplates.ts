/** Launch templates of EC2: those of users, and the one that EKS creates for each group. */
import type {
  DescribeLaunchTemplatesRequest,
  DescribeLaunchTemplatesResult,
  DescribeLaunchTemplateVersionsRequest,
  DescribeLaunchTemplateVersionsResult,
  LaunchTemplate,
  LaunchTemplateVersion,
  ResponseLaunchTemplateData,
} from '@aws-sdk/client-ec2';
import { AwsFault } from '../awsFault.ts';
import type { TemplateRecord, TemplateVersion } from '../records.ts';
import type { LocalAwsState } from '../state.ts';
import { checkInput } from '../wire/model.ts';
import { operationOf } from '../wire/shapes.ts';
import { listOf } from './ec2Filters.ts';

/** A new version of the template of that name, or a new template. */
export function addVersion(
  cloud: LocalAwsState,
  name: string,
  data: ResponseLaunchTemplateData,
  { group, description }: { readonly group?: string; readonly description?: string | undefined } = {},
): TemplateRecord {
  const createdAt = cloud.timeline.now();
  let template = templateNamed(cloud, name);
  if (template === undefined) {
    const made = group === undefined ? {} : { group };
    const tags = group === undefined ? usableBy(cloud) : tagsOfEks(cloud, group);
    template = {
      id: cloud.nextId('lt'),
      name,
      createdAt,
      tags,
      defaultVersion: 1,
      lastNumber: 0,
      versions: [],
      ...made,
    };
    cloud.launchTemplates.set(template.id, template);
  }
  template.lastNumber += 1;
  const described = description === undefined ? {} : { description };
  template.versions.push({ number: template.lastNumber, createdAt, ...described, data: structuredClone(data) });
  return template;
}

/** The tag by which an administrator lets the operator of the cluster use a template: docs/how-to/launch-templates.md. */
const usableBy = (cloud: LocalAwsState) => ({ 'winpool.dev/usable-by': cloud.cluster.name });

const tagsOfEks = (cloud: LocalAwsState, group: string) => ({
  'eks:cluster-name': cloud.cluster.name,
  'eks:nodegroup-name': group,
});

/**
 * A user's change of a template: adds a version, sets the tags or the default version, deletes a version or the template. A new template has the
 * tag that the shipped policy requires, unless the tags are given.
 */
export interface TemplateChange {
  readonly name: string;
  readonly data?: object;
  readonly tags?: Readonly<Record<string, string>>;
  readonly defaultVersion?: number;
  readonly deleteVersion?: number;
  readonly exists?: boolean;
}

/** Changes a template, and returns its id and newest version. Throws RangeError, or EC2's fault for the data. */
export function changeTemplate(
  cloud: LocalAwsState,
  { name, data, tags, defaultVersion, deleteVersion, exists }: TemplateChange,
): { readonly id: string; readonly version: number } {
  const create = operationOf('ec2', 'CreateLaunchTemplate');
  if (create !== undefined) checkInput(create, { LaunchTemplateName: name, LaunchTemplateData: data ?? {} });
  const template = data === undefined ? templateNamed(cloud, name) : addVersion(cloud, name, data);
  if (template === undefined) throw new RangeError(`there is no launch template ${name}; give data to make one`);
  const named = [defaultVersion, deleteVersion].filter((number) => number !== undefined);
  const wrong = named.find((number) => !template.versions.some((version) => version.number === number));
  if (wrong !== undefined) throw new RangeError(`launch template ${name} has no version ${wrong}`);
  if (tags !== undefined) template.tags = tags;
  if (defaultVersion !== undefined) template.defaultVersion = defaultVersion;
  if (deleteVersion === template.defaultVersion) throw new RangeError('the default version can not be deleted');
  template.versions = template.versions.filter(({ number }) => number !== deleteVersion);
  if (exists === false) cloud.launchTemplates.delete(template.id);
  return { id: template.id, version: latestOf(template) };
}

/** The template of that name. */
export const templateNamed = (cloud: LocalAwsState, name: string | undefined): TemplateRecord | undefined =>
  [...cloud.launchTemplates.values()].find((template) => template.name === name);

/** A version by number, `$Latest` or `$Default`. */
export function versionOf(template: TemplateRecord, version: string): TemplateVersion | undefined {
  const number =
    version === '$Latest' ? latestOf(template) : version === '$Default' ? template.defaultVersion : Number(version);
  return template.versions.find((candidate) => candidate.number === number);
}

/** DescribeLaunchTemplates: by ids, names or filters. */
export function describeLaunchTemplates(
  cloud: LocalAwsState,
  request: DescribeLaunchTemplatesRequest,
): DescribeLaunchTemplatesResult {
  const { LaunchTemplateIds: ids = [], LaunchTemplateNames: names = [] } = request;
  for (const id of ids) if (!cloud.launchTemplates.has(id)) throw noId(id);
  for (const name of names) if (templateNamed(cloud, name) === undefined) throw noName();
  const all = [...cloud.launchTemplates.values()]
    .filter(({ id, name }) => (ids.length === 0 && names.length === 0) || ids.includes(id) || names.includes(name))
    .map((template) => templateOf(cloud, template));
  return listOf('LaunchTemplates', all, request, { most: 200 });
}

/** DescribeLaunchTemplateVersions of one template, newest first. */
export function describeLaunchTemplateVersions(
  cloud: LocalAwsState,
  request: DescribeLaunchTemplateVersionsRequest,
): DescribeLaunchTemplateVersionsResult {
  const template = templateFor(cloud, request);
  const { Versions: requested = [], MinVersion = '1', MaxVersion = '$Latest' } = request;
  const missing = requested.find((version) => versionOf(template, version) === undefined);
  if (missing !== undefined) throw noVersion(template, missing);
  const numbers = requested.map((version) => versionOf(template, version)?.number);
  const least = Number(MinVersion);
  const most = MaxVersion === '$Latest' ? latestOf(template) : Number(MaxVersion);
  const all = template.versions
    .filter(({ number }) => (requested.length === 0 ? number >= least && number <= most : numbers.includes(number)))
    .map((version) => templateVersionOf(cloud, template, version))
    .reverse();
  return listOf('LaunchTemplateVersions', all, request, { most: 200 });
}

/** The template that a request names by ID or by name. */
export function templateFor(
  cloud: LocalAwsState,
  {
    LaunchTemplateId: id,
    LaunchTemplateName: name,
  }: Pick<DescribeLaunchTemplateVersionsRequest, 'LaunchTemplateId' | 'LaunchTemplateName'>,
): TemplateRecord {
  if ((id === undefined) === (name === undefined)) {
    const message = 'The request must contain exactly one of LaunchTemplateId and LaunchTemplateName';
    throw new AwsFault('InvalidParameterCombination', message);
  }
  const template = id === undefined ? templateNamed(cloud, name) : cloud.launchTemplates.get(id);
  if (template !== undefined) return template;
  throw id === undefined ? noName() : noId(id);
}

// Seen, all three.
const noId = (id: string): AwsFault =>
  new AwsFault(
    'InvalidLaunchTemplateId.NotFound',
    `The specified launch template, with template ID ${id}, does not exist.`,
  );

const noName = (): AwsFault =>
  new AwsFault(
    'InvalidLaunchTemplateName.NotFoundException',
    'At least one of the launch templates specified in the request does not exist.',
  );

const noVersion = ({ id }: TemplateRecord, version: string): AwsFault =>
  new AwsFault(
    'InvalidLaunchTemplateId.VersionNotFound',
    `Could not find the specified version ${version} for the launch template with ID ${id}.`,
  );

const latestOf = ({ versions }: TemplateRecord): number => versions.at(-1)?.number ?? 0;

const creatorOf = (cloud: LocalAwsState): string => `arn:aws:iam::${cloud.cluster.accountId}:root`;

/** EC2's description of a template. */
export const templateOf = (cloud: LocalAwsState, template: TemplateRecord): LaunchTemplate => ({
  LaunchTemplateId: template.id,
  LaunchTemplateName: template.name,
  CreateTime: template.createdAt,
  CreatedBy: creatorOf(cloud),
  DefaultVersionNumber: template.defaultVersion,
  LatestVersionNumber: latestOf(template),
  Tags: Object.entries(template.tags).map(([Key, Value]) => ({ Key, Value })),
});

/** EC2's description of a version. */
export const templateVersionOf = (
  cloud: LocalAwsState,
  template: TemplateRecord,
  { number, createdAt, description, data }: TemplateVersion,
): LaunchTemplateVersion => ({
  LaunchTemplateId: template.id,
  LaunchTemplateName: template.name,
  VersionNumber: number,
  CreateTime: createdAt,
  CreatedBy: creatorOf(cloud),
  DefaultVersion: number === template.defaultVersion,
  ...(description === undefined ? {} : { VersionDescription: description }),
  LaunchTemplateData: data,
});
