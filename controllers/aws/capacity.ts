/** The port Capacity on EC2. */
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type { Capacity, InstanceType, Offering, Subnet } from '../windowspool/ports/prerequisites.ts';
import type { Ec2Call, Ec2Operations } from './calls.ts';
import { everyPage } from './pages.ts';
import type { AwsRateLimiter } from './rateLimiter.ts';

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
      (page.InstanceTypes ?? []).map(({ InstanceType: name = '', ProcessorInfo, NetworkInfo, Hypervisor }) => ({
        name,
        architectures: ProcessorInfo?.SupportedArchitectures ?? [],
        addressesPerInterface: NetworkInfo?.Ipv4AddressesPerInterface,
        // Bare metal has no hypervisor.
        ...(Hypervisor && { isNitro: Hypervisor === 'nitro' }),
      })),
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

  async subnets(ids: readonly string[], signal: AbortSignal): Promise<CallResult<readonly Subnet[]>> {
    return this.#list('DescribeSubnets', { Filters: filter('subnet-id', ids) }, signal, (page) =>
      (page.Subnets ?? []).map(({ SubnetId: id = '', AvailabilityZone: zone = '', AvailableIpAddressCount }) => ({
        id,
        zone,
        freeAddresses: AvailableIpAddressCount ?? 0,
      })),
    );
  }

  async #list<O extends keyof Ec2Operations, T>(
    operation: O,
    input: Ec2Operations[O][0],
    signal: AbortSignal,
    read: (page: Ec2Operations[O][1]) => readonly T[],
  ): Promise<CallResult<readonly T[]>> {
    const result = await everyPage(this.#ec2, this.#limiter, operation, input, signal);
    return result.ok ? { ok: true, value: result.value.flatMap(read) } : result;
  }
}

function filter(Name: string, values: readonly string[]) {
  return [{ Name, Values: [...values] }];
}
