/** The port Capacity on EC2. */
import type { Subnet as Ec2Subnet, InstanceTypeInfo } from '@aws-sdk/client-ec2';
import type { Capacity, InstanceType, Subnet } from '../windowspool/ports/prerequisites.ts';
import type { Ec2Call } from './calls.ts';
import { everyItem } from './pages.ts';
import { mapped } from './results.ts';
import { filter, selected, tagsOf } from './terms.ts';

/** Uses filters: if a name or id in a request does not exist, EC2 returns an error in place of the others. */
export function createCapacity(ec2: Ec2Call): Capacity {
  return {
    instanceTypes: (names, signal) => {
      const input = { Filters: filter('instance-type', names) };
      return everyItem(ec2, 'DescribeInstanceTypes', input, signal, ({ InstanceTypes = [] }) =>
        InstanceTypes.map(instanceTypeOf),
      );
    },
    offerings: (instanceTypes, signal) => {
      const input = { LocationType: 'availability-zone' as const, Filters: filter('instance-type', instanceTypes) };
      return everyItem(ec2, 'DescribeInstanceTypeOfferings', input, signal, ({ InstanceTypeOfferings = [] }) =>
        InstanceTypeOfferings.map(({ InstanceType: instanceType = '', Location: zone = '' }) => ({
          instanceType,
          zone,
        })),
      );
    },
    subnets: (terms, vpcId, signal) =>
      selected('subnet-id', terms, vpcId, (Filters) =>
        everyItem(ec2, 'DescribeSubnets', { Filters }, signal, ({ Subnets = [] }) => Subnets.map(subnetOf)),
      ),
    encryptsVolumes: async (signal) =>
      mapped(
        await ec2('GetEbsEncryptionByDefault', {}, signal),
        ({ EbsEncryptionByDefault = false }) => EbsEncryptionByDefault,
      ),
  };
}

function instanceTypeOf({
  InstanceType: name,
  BareMetal: isBareMetal,
  HibernationSupported: hibernates,
  MemoryInfo: { SizeInMiB: memoryMiB } = {},
  ProcessorInfo: { SupportedArchitectures: architectures = [], SupportedFeatures: features = [] } = {},
  NetworkInfo,
  Hypervisor: hypervisor,
}: InstanceTypeInfo): InstanceType {
  const virtualization = isBareMetal ? 'always' : features.includes('nested-virtualization') ? 'ifEnabled' : undefined;
  return {
    name: name ?? '',
    architectures,
    addressesPerInterface: NetworkInfo?.Ipv4AddressesPerInterface,
    // Bare metal has no hypervisor.
    ...(hypervisor && { isNitro: hypervisor === 'nitro' }),
    ...(virtualization && { virtualization }),
    ...(hibernates !== undefined && { hibernates }),
    ...(memoryMiB !== undefined && { memoryMiB }),
  };
}

function subnetOf(subnet: Ec2Subnet): Subnet {
  const { SubnetId: id = '', AvailabilityZone: zone = '', AvailableIpAddressCount: freeAddresses = 0, Tags } = subnet;
  return { id, zone, freeAddresses, tags: tagsOf(Tags) };
}
