/** Security groups of the VPC. */
import type {
  DescribeSecurityGroupsRequest,
  DescribeSecurityGroupsResult,
  IpPermission,
  SecurityGroup,
} from '@aws-sdk/client-ec2';
import { AwsFault } from '../awsFault.ts';
import { clusterSecurityGroupId, vpcId } from '../network.ts';
import type { LocalAwsState } from '../state.ts';
import { checkInput } from '../wire/model.ts';
import { operationOf } from '../wire/shapes.ts';
import { doNotExist, type Filters, listOf } from './ec2Filters.ts';

const groupFilters: Filters<SecurityGroup> = {
  'group-id': ({ GroupId }) => GroupId ?? '',
  'vpc-id': ({ VpcId }) => VpcId ?? '',
};

/** DescribeSecurityGroups: by ids or filters, 5 to 1000 a page. */
export function describeSecurityGroups(
  cloud: LocalAwsState,
  request: DescribeSecurityGroupsRequest,
): DescribeSecurityGroupsResult {
  const ids = request.GroupIds ?? [];
  const missing = ids.filter((id) => !cloud.securityGroups.has(id));
  if (missing.length > 0) throw new AwsFault('InvalidGroup.NotFound', doNotExist('security group', missing));
  const all = [...cloud.securityGroups.keys()]
    .filter((id) => ids.length === 0 || ids.includes(id))
    .map((id) => groupOf(cloud, id));
  return listOf('SecurityGroups', all, request, { filters: groupFilters });
}

/** A user's change: the rules of a group, as EC2's IpPermissions, or its tags, in place of the present ones; `exists: false` deletes it. */
export interface SecurityGroupChange {
  readonly id: string;
  readonly inbound?: readonly object[];
  readonly outbound?: readonly object[];
  readonly tags?: Readonly<Record<string, string>>;
  readonly exists?: boolean;
}

/** Changes a group, or creates it without rules and tags. Throws EC2's fault for rules that are not in its model. */
export function changeSecurityGroup(cloud: LocalAwsState, { id, tags, exists, ...rules }: SecurityGroupChange): void {
  const { inbound, outbound } = rules as { readonly inbound?: IpPermission[]; readonly outbound?: IpPermission[] };
  const authorize = operationOf('ec2', 'AuthorizeSecurityGroupIngress');
  for (const permissions of [inbound, outbound])
    if (authorize && permissions) checkInput(authorize, { GroupId: id, IpPermissions: permissions });
  if (exists === false && id === clusterSecurityGroupId) throw new RangeError(`${id} is that of the cluster`);
  const before = cloud.securityGroups.get(id);
  const after = {
    inbound: inbound ?? before?.inbound ?? [],
    outbound: outbound ?? before?.outbound ?? [],
    tags: tags ?? before?.tags ?? {},
  };
  if (exists === false) cloud.securityGroups.delete(id);
  else cloud.securityGroups.set(id, after);
}

function groupOf(cloud: LocalAwsState, id: string): SecurityGroup {
  const { inbound = [], outbound = [], tags = {} } = cloud.securityGroups.get(id) ?? {};
  return {
    GroupId: id,
    GroupName: id,
    Description: '',
    OwnerId: cloud.cluster.accountId,
    VpcId: vpcId,
    IpPermissions: inbound,
    IpPermissionsEgress: outbound,
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
  };
}

/** Whether the API server accepts connections from instances with these groups: they have that of the cluster, or its rules allow them. */
export function isAdmitted(cloud: LocalAwsState, groups: readonly string[]): boolean {
  const { inbound = [] } = cloud.securityGroups.get(clusterSecurityGroupId) ?? {};
  return groups.includes(clusterSecurityGroupId) || inbound.some((rule) => isForApiServer(rule) && names(rule, groups));
}

const isForApiServer = ({ IpProtocol, FromPort = 0, ToPort = 65_535 }: IpPermission): boolean =>
  IpProtocol === '-1' || (IpProtocol === 'tcp' && FromPort <= 443 && ToPort >= 443);

const names = ({ UserIdGroupPairs = [], IpRanges = [] }: IpPermission, groups: readonly string[]): boolean =>
  IpRanges.length > 0 || UserIdGroupPairs.some(({ GroupId = '' }) => groups.includes(GroupId));
