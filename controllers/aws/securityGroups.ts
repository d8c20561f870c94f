/** The port SecurityGroups on EC2: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSecurityGroups.html */
import type { IpPermission } from '@aws-sdk/client-ec2';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type { SecurityGroup, SecurityGroups, SecurityRule } from '../windowspool/ports/prerequisites.ts';
import type { Ec2Call } from './calls.ts';
import { everyPage } from './pages.ts';
import type { AwsRateLimiter } from './rateLimiter.ts';

export class Ec2SecurityGroups implements SecurityGroups {
  readonly #ec2: Ec2Call;
  readonly #limiter: AwsRateLimiter;

  constructor(ec2: Ec2Call, limiter: AwsRateLimiter) {
    this.#ec2 = ec2;
    this.#limiter = limiter;
  }

  async find(ids: readonly string[], signal: AbortSignal): Promise<CallResult<readonly SecurityGroup[]>> {
    // For an ID that does not exist, a filter returns nothing, and GroupIds an error in place of the other groups.
    const input = { Filters: [{ Name: 'group-id', Values: [...ids] }] };
    const result = await everyPage(this.#ec2, this.#limiter, 'DescribeSecurityGroups', input, signal);
    if (!result.ok) return result;
    const groups = result.value.flatMap(({ SecurityGroups = [] }) => SecurityGroups);
    return {
      ok: true,
      value: groups.map(({ GroupId: id = '', IpPermissions = [], IpPermissionsEgress = [] }) => ({
        id,
        inbound: IpPermissions.map(ruleOf),
        outbound: IpPermissionsEgress.map(ruleOf),
      })),
    };
  }
}

function ruleOf({
  IpProtocol: protocol = '',
  FromPort: from,
  ToPort: to,
  UserIdGroupPairs: pairs = [],
  IpRanges: v4 = [],
  Ipv6Ranges: v6 = [],
  PrefixListIds: lists = [],
}: IpPermission): SecurityRule {
  return {
    // All protocols have the number -1.
    protocol: protocol === '-1' ? 'all' : protocol === '6' ? 'tcp' : protocol,
    ...(from !== undefined && to !== undefined && { ports: { from, to } }),
    groups: pairs.flatMap(({ GroupId }) => GroupId ?? []),
    hasAddresses: v4.length + v6.length + lists.length > 0,
  };
}
