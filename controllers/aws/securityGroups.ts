/** The port SecurityGroups on EC2: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSecurityGroups.html */
import type { SecurityGroup as Ec2Group, IpPermission } from '@aws-sdk/client-ec2';
import type { SecurityGroup, SecurityGroups, SecurityRule } from '../windowspool/ports/prerequisites.ts';
import type { Ec2Call } from './calls.ts';
import { everyItem } from './pages.ts';
import { type Filters, filter, selected, tagsOf } from './terms.ts';

export function createSecurityGroups(ec2: Ec2Call): SecurityGroups {
  const list = (Filters: Filters, signal: AbortSignal) =>
    everyItem(ec2, 'DescribeSecurityGroups', { Filters }, signal, ({ SecurityGroups: groups = [] }) =>
      groups.map(groupOf),
    );
  return {
    // For an ID that does not exist, a filter returns nothing, and GroupIds an error in place of the other groups.
    find: (ids, signal) => list(filter('group-id', ids), signal),
    selectedBy: (terms, vpcId, signal) => selected('group-id', terms, vpcId, (filters) => list(filters, signal)),
  };
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
