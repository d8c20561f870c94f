/**
 * How clients create and delete launch templates. Rules: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/launch-template-restrictions.html.
 * As in EC2, the data of a version is hardly validated: instances fail to launch from it.
 */
import type {
  CreateLaunchTemplateRequest,
  CreateLaunchTemplateResult,
  CreateLaunchTemplateVersionRequest,
  CreateLaunchTemplateVersionResult,
  DeleteLaunchTemplateRequest,
  DeleteLaunchTemplateResult,
  DeleteLaunchTemplateVersionsRequest,
  DeleteLaunchTemplateVersionsResult,
  DeleteLaunchTemplateVersionsResponseErrorItem as ErrorItem,
  ResponseLaunchTemplateData,
  TagSpecification,
} from '@aws-sdk/client-ec2';
import { AwsFault } from '../awsFault.ts';
import type { LocalAwsState } from '../state.ts';
import { addVersion, templateFor, templateNamed, templateOf, templateVersionOf } from './launchTemplates.ts';

const MOST_VERSIONS_AT_ONCE = 200;

/** CreateLaunchTemplate. The same request with the same token returns the first response. */
export function createLaunchTemplate(
  cloud: LocalAwsState,
  request: CreateLaunchTemplateRequest,
): CreateLaunchTemplateResult {
  const { LaunchTemplateName: name = '', LaunchTemplateData: data = {}, TagSpecifications } = request;
  const description = request.VersionDescription;
  return onceInEc2(cloud, 'CreateLaunchTemplate', request, () => {
    checkName(name);
    // Seen.
    if (templateNamed(cloud, name) !== undefined)
      throw new AwsFault('InvalidLaunchTemplateName.AlreadyExistsException', 'Launch template name already in use.');
    const template = addVersion(cloud, name, data as ResponseLaunchTemplateData, { description });
    template.tags = tagsOf(TagSpecifications);
    return { LaunchTemplate: templateOf(cloud, template) };
  });
}

/** CreateLaunchTemplateVersion, without a source version. */
export function createLaunchTemplateVersion(
  cloud: LocalAwsState,
  request: CreateLaunchTemplateVersionRequest,
): CreateLaunchTemplateVersionResult {
  return onceInEc2(cloud, 'CreateLaunchTemplateVersion', request, () => {
    const { name } = templateFor(cloud, request);
    const data = (request.LaunchTemplateData ?? {}) as ResponseLaunchTemplateData;
    const template = addVersion(cloud, name, data, { description: request.VersionDescription });
    const newest = template.versions.at(-1);
    return newest === undefined ? {} : { LaunchTemplateVersion: templateVersionOf(cloud, template, newest) };
  });
}

/** DeleteLaunchTemplateVersions: what cannot be deleted is in the response. */
export function deleteLaunchTemplateVersions(
  cloud: LocalAwsState,
  request: DeleteLaunchTemplateVersionsRequest,
): DeleteLaunchTemplateVersionsResult {
  const { Versions: numbers = [] } = request;
  if (numbers.length > MOST_VERSIONS_AT_ONCE)
    throw new AwsFault('InvalidParameterValue', `A request can delete at most ${MOST_VERSIONS_AT_ONCE} versions`);
  const template = templateFor(cloud, request);
  const { id, name, defaultVersion } = template;
  const named = (number: string) => ({
    LaunchTemplateId: id,
    LaunchTemplateName: name,
    VersionNumber: Number(number),
  });
  const failed = numbers.flatMap((number): ErrorItem[] => {
    if (Number(number) === defaultVersion)
      return [{ ...named(number), ResponseError: { Code: 'unexpectedError', Message: 'It is the default version' } }];
    if (template.versions.some((version) => version.number === Number(number))) return [];
    return [{ ...named(number), ResponseError: { Code: 'launchTemplateVersionDoesNotExist' } }];
  });
  const deleted = numbers.filter((number) => !failed.some(({ VersionNumber }) => VersionNumber === Number(number)));
  template.versions = template.versions.filter(({ number }) => !deleted.includes(String(number)));
  return {
    SuccessfullyDeletedLaunchTemplateVersions: deleted.map(named),
    UnsuccessfullyDeletedLaunchTemplateVersions: failed,
  };
}

/** DeleteLaunchTemplate, with all versions. */
export function deleteLaunchTemplate(
  cloud: LocalAwsState,
  request: DeleteLaunchTemplateRequest,
): DeleteLaunchTemplateResult {
  const template = templateFor(cloud, request);
  cloud.launchTemplates.delete(template.id);
  if (cloud.switches.tokensAfterDelete === 'forgotten')
    for (const [key, { group }] of cloud.tokens) if (group === template.id) cloud.tokens.delete(key);
  return { LaunchTemplate: templateOf(cloud, template) };
}

// Seen: the API reference allows 128 characters, EC2 does not (awsdocs/aws-cloudformation-user-guide#132).
function checkName(name: string): void {
  if (/^[a-zA-Z0-9().\-/_]{3,125}$/.test(name)) return;
  throw new AwsFault(
    'InvalidLaunchTemplateName.MalformedException',
    'The specified launch template name is invalid. A launch template name must be between 3 and 125 characters, and may contain letters, numbers, and the following characters: ()./_.',
  );
}

const tagsOf = (specifications: readonly TagSpecification[] | undefined): Record<string, string> =>
  Object.fromEntries(
    (specifications ?? [])
      .filter(({ ResourceType }) => ResourceType === 'launch-template')
      .flatMap(({ Tags = [] }) => Tags.map(({ Key = '', Value = '' }) => [Key, Value])),
  );

/** EC2's idempotency: https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html */
function onceInEc2<T extends object>(
  cloud: LocalAwsState,
  operation: string,
  request: { readonly ClientToken?: string | undefined },
  run: () => T & { readonly LaunchTemplate?: { LaunchTemplateId?: string | undefined } | undefined },
): T {
  const { ClientToken: token, ...payload } = request;
  if (token === undefined) return run();
  const key = `${operation}/${token}`;
  const text = JSON.stringify(payload);
  const used = cloud.tokens.get(key);
  if (used === undefined) {
    const answer = run();
    const group = answer.LaunchTemplate?.LaunchTemplateId ?? '';
    cloud.tokens.set(key, { group, request: text, answer: structuredClone(answer) });
    return answer;
  }
  if (used.request === text) return structuredClone(used.answer) as T;
  throw new AwsFault(
    'IdempotentParameterMismatch',
    'The client token you have provided is associated with another request',
  );
}
