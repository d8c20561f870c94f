import type {
  _InstanceType,
  DescribeInstancesRequest,
  DescribeInstancesResult,
  DescribeSubnetsRequest,
  DescribeSubnetsResult,
  Instance,
  Subnet,
  Tag,
} from '@aws-sdk/client-ec2';
import { AwsFault } from '../awsFault.ts';
import { type SubnetRecord, vpcId } from '../network.ts';
import { type InstanceRecord, instanceCodes } from '../records.ts';
import type { LocalAwsState } from '../state.ts';
import { doNotExist, type Filters, listOf } from './ec2Filters.ts';

const instanceFilters: Filters<Instance> = {
  'instance-id': ({ InstanceId }) => InstanceId ?? '',
  'instance-state-name': ({ State }) => State?.Name ?? '',
};

const subnetFilters: Filters<Subnet> = {
  'subnet-id': ({ SubnetId }) => SubnetId ?? '',
  'vpc-id': ({ VpcId }) => VpcId ?? '',
};

/** DescribeInstances: by ids or filters, one reservation an instance, 5 to 1000 a page. */
export function describeInstances(cloud: LocalAwsState, request: DescribeInstancesRequest): DescribeInstancesResult {
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
    .map((record) => instanceOf(cloud, record));
  const { Instances, ...rest } = listOf('Instances', all, request, { filters: instanceFilters });
  const reservations = Instances.map((instance) => ({
    ReservationId: instance.InstanceId?.replace('i-', 'r-') ?? '',
    OwnerId: cloud.cluster.accountId,
    Groups: [],
    Instances: [instance],
  }));
  return { Reservations: reservations, ...rest };
}

/** DescribeSubnets: by ids or filters. */
export function describeSubnets(cloud: LocalAwsState, request: DescribeSubnetsRequest): DescribeSubnetsResult {
  const ids = request.SubnetIds ?? [];
  const missing = ids.filter((id) => !cloud.subnets.some((subnet) => subnet.id === id));
  if (missing.length > 0) throw new AwsFault('InvalidSubnetID.NotFound', doNotExist('subnet ID', missing));
  const all = cloud.subnets
    .filter(({ id }) => ids.length === 0 || ids.includes(id))
    .map((record) => subnetOf(cloud, record));
  return listOf('Subnets', all, request, { filters: subnetFilters });
}

/** The tags of an instance: those of its launch, and those of its group. */
function instanceTags(cloud: LocalAwsState, { tags, autoScalingGroup, group }: InstanceRecord): Tag[] {
  const own = {
    'aws:autoscaling:groupName': autoScalingGroup,
    'eks:cluster-name': cloud.cluster.name,
    'eks:nodegroup-name': group,
  };
  return [...tags, ...Object.entries(own).map(([Key, Value]) => ({ Key, Value }))];
}

function instanceOf(cloud: LocalAwsState, record: InstanceRecord): Instance {
  const { state, subnet } = record;
  return {
    InstanceId: record.id,
    ImageId: record.imageId,
    InstanceType: record.type as _InstanceType,
    State: { Code: instanceCodes[state], Name: state },
    LaunchTime: record.launchedAt,
    Placement: { AvailabilityZone: subnet.zone, Tenancy: 'default' },
    // EC2 writes the lowercase word, whatever the enum of the SDK says.
    Platform: 'windows' as NonNullable<Instance['Platform']>,
    Architecture: 'x86_64',
    ...(state === 'terminated'
      ? {}
      : { PrivateIpAddress: record.privateIp, PrivateDnsName: record.nodeName, SubnetId: subnet.id, VpcId: vpcId }),
    Tags: instanceTags(cloud, record),
  };
}

const subnetOf = (cloud: LocalAwsState, record: SubnetRecord): Subnet => ({
  SubnetId: record.id,
  VpcId: vpcId,
  AvailabilityZone: record.zone,
  AvailabilityZoneId: record.zoneId,
  AvailableIpAddressCount: record.freeAddresses,
  CidrBlock: `10.0.${record.network}.0/24`,
  State: 'available',
  OwnerId: cloud.cluster.accountId,
  MapPublicIpOnLaunch: false,
  AssignIpv6AddressOnCreation: cloud.clusterState.ipFamily === 'ipv6',
  Ipv6Native: false,
  Ipv6CidrBlockAssociationSet: ipv6BlocksOf(cloud, record),
  SubnetArn: `arn:aws:ec2:${cloud.cluster.region}:${cloud.cluster.accountId}:subnet/${record.id}`,
  Tags: Object.entries({ [`kubernetes.io/cluster/${cloud.cluster.name}`]: 'shared', ...record.tags }).map(
    ([Key, Value]) => ({ Key, Value }),
  ),
});

// The subnets of an IPv6 cluster have both families.
const ipv6BlocksOf = (cloud: LocalAwsState, { network, id }: SubnetRecord): Subnet['Ipv6CidrBlockAssociationSet'] =>
  cloud.clusterState.ipFamily === 'ipv4'
    ? []
    : [
        {
          AssociationId: id.replace('subnet-', 'subnet-cidr-assoc-'),
          Ipv6CidrBlock: `2600:1f14:abc:de0${network}::/64`,
          Ipv6CidrBlockState: { State: 'associated' },
        },
      ];
