import type { GetParameterRequest, GetParameterResult } from '@aws-sdk/client-ssm';
import { AwsFault } from '../awsFault.ts';
import { amiTypesOf, dayOf, minors } from '../releases.ts';
import type { LocalAwsState } from '../state.ts';
import { imageFamily, imageIdFor, newestRelease } from './images.ts';

const folder = '/aws/service/ami-windows-latest/';

/** GetParameter of SSM: the newest image of a Windows version, edition and Kubernetes minor, or a parameter of a user. */
export function getParameter(cloud: LocalAwsState, { Name: name = '' }: GetParameterRequest): GetParameterResult {
  const value = cloud.parameters.get(name);
  if (value !== undefined) return ownParameter(cloud, name, value);
  const hasJson = cloud.switches.releaseParameter === 'exists';
  const [minor, amiType] = familyNamed(name.endsWith('/image_id') || !hasJson ? name : `${name}/image_id`) ?? ['', ''];
  const release = newestRelease(cloud, minor, amiType);
  if (release === undefined) throw new AwsFault('ParameterNotFound', `Parameter ${name} not found.`);
  const days = cloud.releases.map(({ date }) => date);
  const date = release.releaseVersion.slice(minor.length + 1);
  const imageId = imageIdFor(amiType, release.releaseVersion);
  return {
    Parameter: {
      Name: name,
      Type: 'String',
      Value: name.endsWith('/image_id') ? imageId : descriptionOf(release.releaseVersion, imageId, name),
      Version: days.indexOf(date) + 1,
      LastModifiedDate: new Date(dayOf(date)),
      ARN: `arn:aws:ssm:${cloud.cluster.region}::parameter${name}`,
      DataType: 'text',
    },
  };
}

function descriptionOf(release: string, imageId: string, name: string): string {
  const family = name.slice(folder.length);
  const date = release.slice(release.indexOf('-') + 1);
  return JSON.stringify({ image_name: `${family}-${date}`, image_id: imageId, release_version: release });
}

function ownParameter({ cluster }: LocalAwsState, name: string, value: string): GetParameterResult {
  const ARN = `arn:aws:ssm:${cluster.region}:${cluster.accountId}:parameter${name}`;
  return { Parameter: { Name: name, Type: 'String', Value: value, Version: 1, ARN, DataType: 'aws:ec2:image' } };
}

function familyNamed(name: string): readonly [minor: string, amiType: string] | undefined {
  const families = minors.flatMap((minor) => amiTypesOf(minor).map((amiType) => [minor, amiType] as const));
  return families.find(([minor, amiType]) => name === `${folder}${imageFamily(amiType, minor)}/image_id`);
}
