import type {
  _InstanceType,
  DescribeInstancesRequest,
  DescribeInstancesResult,
  DescribeInstanceTypesRequest,
  DescribeInstanceTypesResult,
  DescribeSubnetsRequest,
  DescribeSubnetsResult,
  Filter,
  Instance,
  InstanceTypeInfo,
  Subnet,
  Tag,
} from '@aws-sdk/client-ec2';
import { AwsFault } from './awsFault.ts';
import { like } from './iam.ts';
import { type InstanceTypeRecord, instanceTypes, type SubnetRecord, vpcId } from './network.ts';
import { pageOf } from './paging.ts';
import type { CloudState, InstanceRecord } from './state.ts';

/** Reads a filter's values from a thing. */
type Filters<T> = Readonly<Record<string, (thing: T) => string>>;

const instanceFilters: Filters<Instance> = {
  'instance-id': ({ InstanceId }) => InstanceId ?? '',
  'instance-state-name': ({ State }) => State?.Name ?? '',
  'instance-type': ({ InstanceType }) => InstanceType ?? '',
  'private-dns-name': ({ PrivateDnsName }) => PrivateDnsName ?? '',
  'private-ip-address': ({ PrivateIpAddress }) => PrivateIpAddress ?? '',
  'subnet-id': ({ SubnetId }) => SubnetId ?? '',
  'vpc-id': ({ VpcId }) => VpcId ?? '',
  'image-id': ({ ImageId }) => ImageId ?? '',
  platform: ({ Platform }) => Platform ?? '',
  'availability-zone': ({ Placement }) => Placement?.AvailabilityZone ?? '',
};

/** DescribeInstances: by ids or filters, one reservation an instance, 5 to 1000 a page. */
export function describeInstances(cloud: CloudState, request: DescribeInstancesRequest): DescribeInstancesResult {
  const ids = request.InstanceIds ?? [];
  if (ids.length > 0 && request.MaxResults !== undefined) {
    throw new AwsFault(
      'InvalidParameterCombination',
      'The parameter instancesSet cannot be used with the parameter maxResults',
    );
  }
  const missing = ids.filter((id) => !cloud.instances.has(id));
  if (missing.length > 0) throw new AwsFault('InvalidInstanceID.NotFound', doNotExist('instance ID', missing));
  const all = [...cloud.instances.values()]
    .filter(({ id }) => ids.length === 0 || ids.includes(id))
    .map((record) => instanceOf(cloud, record))
    .filter((instance) => fits(instance, request.Filters, instanceFilters, instance.Tags));
  const page = pageOf(all, request.NextToken, pageSize(request.MaxResults, 1000), 'InvalidNextToken');
  const reservations = page.items.map((instance) => ({
    ReservationId: instance.InstanceId?.replace('i-', 'r-') ?? '',
    OwnerId: cloud.cluster.accountId,
    Groups: [],
    Instances: [instance],
  }));
  return { Reservations: reservations, ...(page.nextToken === undefined ? {} : { NextToken: page.nextToken }) };
}

/** DescribeSubnets: by ids or filters. */
export function describeSubnets(cloud: CloudState, request: DescribeSubnetsRequest): DescribeSubnetsResult {
  const ids = request.SubnetIds ?? [];
  const missing = ids.filter((id) => !cloud.subnets.some((subnet) => subnet.id === id));
  if (missing.length > 0) throw new AwsFault('InvalidSubnetID.NotFound', doNotExist('subnet ID', missing));
  const filters: Filters<Subnet> = {
    'subnet-id': ({ SubnetId }) => SubnetId ?? '',
    'vpc-id': ({ VpcId }) => VpcId ?? '',
    'availability-zone': ({ AvailabilityZone }) => AvailabilityZone ?? '',
    state: ({ State }) => State ?? '',
  };
  const all = cloud.subnets
    .filter(({ id }) => ids.length === 0 || ids.includes(id))
    .map((record) => subnetOf(cloud, record))
    .filter((subnet) => fits(subnet, request.Filters, filters, subnet.Tags));
  const page = pageOf(all, request.NextToken, pageSize(request.MaxResults, 1000), 'InvalidNextToken');
  return { Subnets: page.items, ...(page.nextToken === undefined ? {} : { NextToken: page.nextToken }) };
}

/** DescribeInstanceTypes: at most 100 names, or filters, 5 to 100 a page. */
export function describeInstanceTypes(
  _cloud: CloudState,
  request: DescribeInstanceTypesRequest,
): DescribeInstanceTypesResult {
  const names: readonly string[] = request.InstanceTypes ?? [];
  const missing = names.filter((name) => !instanceTypes.some((type) => type.name === name));
  if (missing.length > 0) {
    throw new AwsFault(
      'InvalidInstanceType',
      `The following supplied instance types do not exist: [${missing.join(', ')}]`,
    );
  }
  const filters: Filters<InstanceTypeInfo> = {
    'instance-type': ({ InstanceType }) => InstanceType ?? '',
    'processor-info.supported-architecture': ({ ProcessorInfo }) => ProcessorInfo?.SupportedArchitectures?.[0] ?? '',
    hypervisor: ({ Hypervisor }) => Hypervisor ?? '',
  };
  const all = instanceTypes
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .map(typeInfoOf)
    .filter((type) => fits(type, request.Filters, filters, []));
  const page = pageOf(all, request.NextToken, pageSize(request.MaxResults, 100), 'InvalidNextToken');
  return { InstanceTypes: page.items, ...(page.nextToken === undefined ? {} : { NextToken: page.nextToken }) };
}

function fits<T>(
  thing: T,
  filters: readonly Filter[] | undefined,
  known: Filters<T>,
  tags: readonly Tag[] = [],
): boolean {
  return (filters ?? []).every(({ Name: name = '', Values: patterns = [] }) => {
    const found = valuesOf(thing, name, known, tags);
    return patterns.some((pattern) => found.some((value) => like(pattern, value)));
  });
}

function valuesOf<T>(thing: T, filter: string, known: Filters<T>, tags: readonly Tag[]): string[] {
  if (filter === 'tag-key') return tags.map(({ Key }) => Key ?? '');
  if (filter.startsWith('tag:'))
    return tags.filter(({ Key }) => `tag:${Key}` === filter).map(({ Value }) => Value ?? '');
  const read = known[filter];
  if (read === undefined) throw new AwsFault('InvalidParameterValue', `The filter '${filter}' is invalid`);
  return [read(thing)];
}

function pageSize(asked: number | undefined, most: number): number {
  if (asked === undefined) return most;
  if (Number.isInteger(asked) && asked >= 5 && asked <= most) return asked;
  throw new AwsFault(
    'InvalidParameterValue',
    `Value ( ${asked} ) for parameter maxResults is invalid. Expecting a value between 5 and ${most}.`,
  );
}

const doNotExist = (what: string, ids: readonly string[]): string =>
  ids.length === 1 ? `The ${what} '${ids[0]}' does not exist` : `The ${what}s '${ids.join(', ')}' do not exist`;

const stateCodes = { pending: 0, running: 16, terminated: 48 } as const;

function instanceOf(cloud: CloudState, record: InstanceRecord): Instance {
  const { state, subnet } = record;
  const groupTags = { 'eks:cluster-name': cloud.cluster.name, 'eks:nodegroup-name': record.group };
  const tags = {
    'aws:autoscaling:groupName': record.autoScalingGroup,
    ...(cloud.switches.instanceNodegroupTag === 'on' ? groupTags : {}),
  };
  return {
    InstanceId: record.id,
    ImageId: record.imageId,
    InstanceType: record.type as _InstanceType,
    State: { Code: stateCodes[state], Name: state },
    LaunchTime: record.launchedAt,
    Placement: { AvailabilityZone: subnet.zone, Tenancy: 'default' },
    // EC2 writes the lowercase word, whatever the enum of the SDK says.
    Platform: 'windows' as NonNullable<Instance['Platform']>,
    Architecture: 'x86_64',
    ...(state === 'terminated'
      ? {}
      : { PrivateIpAddress: record.privateIp, PrivateDnsName: record.nodeName, SubnetId: subnet.id, VpcId: vpcId }),
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
  };
}

const subnetOf = (cloud: CloudState, record: SubnetRecord): Subnet => ({
  SubnetId: record.id,
  VpcId: vpcId,
  AvailabilityZone: record.zone,
  AvailabilityZoneId: record.zoneId,
  AvailableIpAddressCount: record.freeAddresses,
  CidrBlock: `10.0.${record.network}.0/24`,
  State: 'available',
  OwnerId: cloud.cluster.accountId,
  MapPublicIpOnLaunch: false,
  SubnetArn: `arn:aws:ec2:${cloud.cluster.region}:${cloud.cluster.accountId}:subnet/${record.id}`,
  Tags: [{ Key: `kubernetes.io/cluster/${cloud.cluster.name}`, Value: 'shared' }],
});

const typeInfoOf = (type: InstanceTypeRecord): InstanceTypeInfo => ({
  InstanceType: type.name as _InstanceType,
  CurrentGeneration: true,
  SupportedUsageClasses: ['on-demand', 'spot'],
  BareMetal: false,
  Hypervisor: type.hypervisor,
  ProcessorInfo: { SupportedArchitectures: [type.architecture] },
  VCpuInfo: { DefaultVCpus: type.cpus },
  MemoryInfo: { SizeInMiB: type.memoryMiB },
  NetworkInfo: {
    MaximumNetworkInterfaces: type.interfaces,
    Ipv4AddressesPerInterface: type.addressesPerInterface,
    Ipv6Supported: true,
  },
});
