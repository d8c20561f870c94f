import type {
  DescribeInstanceTypeOfferingsRequest,
  DescribeInstanceTypeOfferingsResult,
  DescribeInstanceTypesRequest,
  DescribeInstanceTypesResult,
  InstanceTypeInfo,
  InstanceTypeOffering,
} from '@aws-sdk/client-ec2';
import { AwsFault } from '../awsFault.ts';
import { instanceType, instanceTypes } from '../network.ts';
import type { LocalAwsState } from '../state.ts';
import { type Filters, listOf } from './ec2Filters.ts';

const typeFilters: Filters<InstanceTypeInfo> = {
  'instance-type': ({ InstanceType }) => InstanceType ?? '',
};

const offeringFilters: Filters<InstanceTypeOffering> = {
  'instance-type': ({ InstanceType }) => InstanceType ?? '',
  location: ({ Location }) => Location ?? '',
};

/** The zones of the region that offer an instance type: all, unless a test changed them. */
export const zonesOffering = (cloud: LocalAwsState, type: string): readonly string[] =>
  cloud.offerings.get(type) ?? cloud.subnets.map(({ zone }) => zone);

/** The instance type with that name, if the region offers it. */
export const offeredType = (cloud: LocalAwsState, name: string): ReturnType<typeof instanceType> =>
  zonesOffering(cloud, name).length > 0 ? instanceType(name) : undefined;

/** DescribeInstanceTypes: by names or filters, 5 to 100 a page. */
export function describeInstanceTypes(
  cloud: LocalAwsState,
  request: DescribeInstanceTypesRequest,
): DescribeInstanceTypesResult {
  const names: readonly string[] = request.InstanceTypes ?? [];
  if (names.length > 0 && request.MaxResults !== undefined) {
    throw new AwsFault(
      'InvalidParameterCombination',
      'The parameter instanceTypes cannot be used with the parameter maxResults',
    );
  }
  const missing = names.filter((name) => offeredType(cloud, name) === undefined);
  if (missing.length > 0) {
    throw new AwsFault(
      'InvalidInstanceType',
      `The following supplied instance types do not exist: [${missing.join(', ')}]`,
    );
  }
  const all = instanceTypes
    .filter(({ InstanceType: name }) => names.length === 0 || names.includes(name))
    .filter(({ InstanceType }) => offeredType(cloud, InstanceType) !== undefined);
  return listOf('InstanceTypes', all, request, { filters: typeFilters, most: 100 });
}

/** DescribeInstanceTypeOfferings: by region or zone, 5 to 1000 a page. */
export function describeInstanceTypeOfferings(
  cloud: LocalAwsState,
  request: DescribeInstanceTypeOfferingsRequest,
): DescribeInstanceTypeOfferingsResult {
  const { LocationType = 'region' } = request;
  const all = instanceTypes.flatMap(({ InstanceType }) =>
    locationsOf(cloud, InstanceType, LocationType).map((Location) => ({ InstanceType, LocationType, Location })),
  );
  return listOf('InstanceTypeOfferings', all, request, { filters: offeringFilters });
}

function locationsOf(cloud: LocalAwsState, type: string, by: string): readonly string[] {
  const zones = zonesOffering(cloud, type);
  if (by === 'availability-zone') return zones;
  if (by === 'availability-zone-id')
    return cloud.subnets.filter(({ zone }) => zones.includes(zone)).map(({ zoneId }) => zoneId);
  return by === 'region' && zones.length > 0 ? [cloud.cluster.region] : [];
}
