/** The port Capacity on EC2. */
import type { Subnet as Ec2Subnet, InstanceTypeInfo } from '@aws-sdk/client-ec2';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type { Capacity, InstanceType, Offering, Subnet, SubnetTerm } from '../windowspool/ports/prerequisites.ts';
import type { Ec2Call, Ec2Operations } from './calls.ts';
import { everyPage, type PagedOperation } from './pages.ts';
import type { AwsRateLimiter } from './rateLimiter.ts';
import { type Filters, filter, selected, tagsOf } from './terms.ts';

/** Uses filters: if a name or id in a request does not exist, EC2 returns an error in place of the others. */
export class Ec2Capacity implements Capacity {
  readonly #ec2: Ec2Call;
  readonly #limiter: AwsRateLimiter;

  constructor(ec2: Ec2Call, limiter: AwsRateLimiter) {
    this.#ec2 = ec2;
    this.#limiter = limiter;
  }

  async instanceTypes(names: readonly string[], signal: AbortSignal): Promise<CallResult<readonly InstanceType[]>> {
    return this.#list('DescribeInstanceTypes', { Filters: filter('instance-type', names) }, signal, (page) =>
      (page.InstanceTypes ?? []).map(instanceTypeOf),
    );
  }

  async offerings(instanceTypes: readonly string[], signal: AbortSignal): Promise<CallResult<readonly Offering[]>> {
    const input = { LocationType: 'availability-zone' as const, Filters: filter('instance-type', instanceTypes) };
    return this.#list('DescribeInstanceTypeOfferings', input, signal, (page) =>
      (page.InstanceTypeOfferings ?? []).map(({ InstanceType: instanceType = '', Location: zone = '' }) => ({
        instanceType,
        zone,
      })),
    );
  }

  async subnets(
    terms: readonly SubnetTerm[],
    vpcId: string,
    signal: AbortSignal,
  ): Promise<CallResult<readonly Subnet[]>> {
    const read = (Filters: Filters) =>
      this.#list('DescribeSubnets', { Filters }, signal, ({ Subnets = [] }) => Subnets.map(subnetOf));
    return selected('subnet-id', terms, vpcId, read);
  }

  async encryptsVolumes(signal: AbortSignal): Promise<CallResult<boolean>> {
    const call = (bounded: AbortSignal) => this.#ec2('GetEbsEncryptionByDefault', {}, bounded);
    const result = await this.#limiter.run('ec2', 'GetEbsEncryptionByDefault', call, signal);
    return result.ok ? { ok: true, value: result.value.EbsEncryptionByDefault ?? false } : result;
  }

  async #list<O extends PagedOperation, T>(
    operation: O,
    input: Ec2Operations[O][0],
    signal: AbortSignal,
    read: (page: Ec2Operations[O][1]) => readonly T[],
  ): Promise<CallResult<readonly T[]>> {
    const result = await everyPage(this.#ec2, this.#limiter, operation, input, signal);
    return result.ok ? { ok: true, value: result.value.flatMap(read) } : result;
  }
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
