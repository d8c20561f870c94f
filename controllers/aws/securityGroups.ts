/** The port SecurityGroups on EC2: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSecurityGroups.html */
import type { SecurityGroup as Ec2Group, IpPermission } from '@aws-sdk/client-ec2';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type {
  SecurityGroup,
  SecurityGroups,
  SecurityGroupTerm,
  SecurityRule,
} from '../windowspool/ports/prerequisites.ts';
import type { Ec2Call } from './calls.ts';
import { everyPage } from './pages.ts';
import type { AwsRateLimiter } from './rateLimiter.ts';
import { type Filters, filter, selected, tagsOf } from './terms.ts';

export class Ec2SecurityGroups implements SecurityGroups {
  readonly #ec2: Ec2Call;
  readonly #limiter: AwsRateLimiter;

  constructor(ec2: Ec2Call, limiter: AwsRateLimiter) {
    this.#ec2 = ec2;
    this.#limiter = limiter;
  }

  async find(ids: readonly string[], signal: AbortSignal): Promise<CallResult<readonly SecurityGroup[]>> {
    // For an ID that does not exist, a filter returns nothing, and GroupIds an error in place of the other groups.
    return this.#list(filter('group-id', ids), signal);
  }

  async selectedBy(
    terms: readonly SecurityGroupTerm[],
    vpcId: string,
    signal: AbortSignal,
  ): Promise<CallResult<readonly SecurityGroup[]>> {
    return selected('group-id', terms, vpcId, (filters) => this.#list(filters, signal));
  }

  async #list(filters: Filters, signal: AbortSignal): Promise<CallResult<readonly SecurityGroup[]>> {
    const input = { Filters: filters };
    const result = await everyPage(this.#ec2, this.#limiter, 'DescribeSecurityGroups', input, signal);
    if (!result.ok) return result;
    return { ok: true, value: result.value.flatMap(({ SecurityGroups = [] }) => SecurityGroups.map(groupOf)) };
  }
}

function groupOf({ GroupId: id = '', Tags, IpPermissions = [], IpPermissionsEgress = [] }: Ec2Group): SecurityGroup {
  return {
    id,
    tags: tagsOf(Tags),
    inbound: IpPermissions.map(ruleOf),
    outbound: IpPermissionsEgress.map(ruleOf),
  };
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
