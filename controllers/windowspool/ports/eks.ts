/** EKS: node groups and their updates, the cluster, AMI releases. */
import type { CallResult } from './callResult.ts';
import type { Taint } from './nodes.ts';

/** A node group's status as EKS names it: https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html */
export type NodeGroupStatus =
  | 'CREATING'
  | 'ACTIVE'
  | 'UPDATING'
  | 'DELETING'
  | 'CREATE_FAILED'
  | 'DELETE_FAILED'
  | 'DEGRADED';

/** The size of a node group, in nodes. */
export interface Scaling {
  readonly minSize: number;
  readonly maxSize: number;
  readonly desiredSize: number;
}

/** How a rolling update replaces nodes: EKS `updateConfig`. */
export interface UpdateSettings {
  /** How many nodes at a time: `2`, or a percentage: `33%`. */
  readonly maxUnavailable?: string;
  readonly strategy?: 'Default' | 'Minimal';
}

/** Instances that have booted once and wait beside a node group, which takes them before it launches others: EKS `warmPoolConfig`. */
export interface WarmPool {
  readonly minSize: number;
  /** How many instances the warm pool and the group have together. Undefined in EKS: the maximum size of the group. */
  readonly maxGroupPreparedCapacity: number | undefined;
  readonly poolState: 'Stopped' | 'Running' | 'Hibernated';
  /** Whether instances return to the warm pool when the group shrinks. */
  readonly reuseOnScaleIn: boolean;
}

/** One entry of EKS `health.issues`, or of the errors of an update. */
export interface HealthIssue {
  readonly code: string;
  readonly message: string;
  readonly resourceIds: readonly string[];
}

/** A version of a launch template, by ID or by name, never both. */
export interface TemplateVersion {
  readonly id?: string;
  readonly name?: string;
  /** A number, `$Latest` or `$Default`. */
  readonly version: string;
}

/** The AMI type of a group whose launch template names an AMI. */
export const CUSTOM = 'CUSTOM';

/** A node group as EKS describes it. */
export interface NodeGroup {
  readonly name: string;
  readonly arn: string;
  readonly status: NodeGroupStatus;
  readonly amiType: string;
  readonly capacityType: 'OnDemand' | 'Spot';
  readonly instanceTypes: readonly string[];
  readonly subnets: readonly string[];
  readonly nodeRoleArn: string;
  readonly diskSizeGiB: number | undefined;
  /** The launch template that the group was created from, with its version number; undefined: EKS' own. */
  readonly launchTemplate: Required<TemplateVersion> | undefined;
  /**
   * The settings of its version of the operator's launch template, as text by field. Not from EKS: the operator adds them when it has read the
   * template. Absent: the group has no such template, or its version is unknown.
   */
  readonly launchSettings?: Readonly<Record<string, string>>;
  readonly kubernetesVersion: string | undefined;
  readonly releaseVersion: string | undefined;
  readonly scaling: Scaling;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly update: UpdateSettings;
  /** Undefined: it has none. */
  readonly warmPool: WarmPool | undefined;
  /** Without the `aws:*` tags, which are read-only. */
  readonly tags: Readonly<Record<string, string>>;
  readonly healthIssues: readonly HealthIssue[];
  readonly autoScalingGroups: readonly string[];
  /** When EKS created the group, in epoch milliseconds; 0 if it did not say. */
  readonly createdAt: number;
  /** When EKS last changed the group, in epoch milliseconds. */
  readonly modifiedAt: number;
}

/** The input of CreateNodegroup. */
export interface NewNodeGroup
  extends Pick<
    NodeGroup,
    'name' | 'capacityType' | 'subnets' | 'nodeRoleArn' | 'scaling' | 'labels' | 'taints' | 'tags'
  > {
  /** {@link CUSTOM}: the launch template has an AMI. */
  readonly amiType: string;
  /** Empty: the launch template has one. */
  readonly instanceTypes: readonly string[];
  /** Absent: that of the launch template. */
  readonly diskSizeGiB?: number;
  readonly launchTemplate?: TemplateVersion;
  /** Absent: the EKS default. */
  readonly update?: UpdateSettings;
  /** Absent: none. */
  readonly warmPool?: WarmPool;
  /** Absent: that of the cluster. */
  readonly kubernetesVersion?: string;
  /** Absent: the newest. */
  readonly releaseVersion?: string;
}

/** The input of UpdateNodegroupConfig: only what differs. At least one member is present. */
export interface ConfigChange {
  readonly labels?: { readonly set: Readonly<Record<string, string>>; readonly remove: readonly string[] };
  readonly taints?: { readonly set: readonly Taint[]; readonly remove: readonly Taint[] };
  readonly scaling?: Partial<Scaling>;
  readonly update?: UpdateSettings;
  /** All of its settings; `Removed`: its instances are terminated. */
  readonly warmPool?: WarmPool | 'Removed';
}

/** The input of UpdateNodegroupVersion. */
export interface VersionChange {
  /**
   * A minor version, such as `1.35`. Always set, because the EKS documentation is ambiguous about requests without it; absent only for a group with a
   * custom AMI, for which EKS accepts none.
   */
  readonly kubernetesVersion?: string;
  /** An AMI release, such as `1.35-2026.01.22`. Absent: the newest. */
  readonly releaseVersion?: string;
  /** Another version of the launch template. Absent: the group's current version. */
  readonly launchTemplate?: TemplateVersion;
  /** Whether pods that are not evicted in time are deleted. */
  readonly force: boolean;
}

/** An EKS update: https://docs.aws.amazon.com/eks/latest/APIReference/API_Update.html */
export interface NodeGroupUpdate {
  readonly id: string;
  readonly type: string;
  readonly status: 'InProgress' | 'Failed' | 'Cancelled' | 'Successful';
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly errors: readonly HealthIssue[];
}

/** EKS managed node groups of the operator's cluster. Every call takes a signal and has its own timeout. */
export interface NodeGroups {
  /** The group, or undefined when EKS says that it does not exist. Error `gone` if the cluster does not exist. */
  describe(name: string, signal: AbortSignal): Promise<CallResult<NodeGroup | undefined>>;
  /** The names of all managed node groups of the cluster, also of those that no pool owns. */
  names(signal: AbortSignal): Promise<CallResult<readonly string[]>>;
  /** Idempotent for the same token. Error `busy` if the name is taken. */
  create(desired: NewNodeGroup, token: string, signal: AbortSignal): Promise<CallResult<NodeGroup>>;
  updateConfig(
    name: string,
    change: ConfigChange,
    token: string,
    signal: AbortSignal,
  ): Promise<CallResult<NodeGroupUpdate>>;
  /** Starts a rolling update: every node is replaced. */
  updateVersion(
    name: string,
    change: VersionChange,
    token: string,
    signal: AbortSignal,
  ): Promise<CallResult<NodeGroupUpdate>>;
  describeUpdate(name: string, id: string, signal: AbortSignal): Promise<CallResult<NodeGroupUpdate | undefined>>;
  /** Succeeds for a group that does not exist or is being deleted. */
  delete(name: string, signal: AbortSignal): Promise<CallResult<void>>;
  tag(arn: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<CallResult<void>>;
  untag(arn: string, keys: readonly string[], signal: AbortSignal): Promise<CallResult<void>>;
}

/** The EKS cluster that the operator runs in. */
export interface Cluster {
  readonly name: string;
  readonly arn: string;
  /** The URL of its API server. */
  readonly endpoint: string;
  /** The certificate authority of its API server: a PEM bundle in base64. */
  readonly certificateAuthority: string;
  /** The IPv4 addresses of its Services, such as `172.20.0.0/16`; absent for a cluster of IPv6. */
  readonly serviceCidr?: string;
  /** The IAM role of the control plane. */
  readonly roleArn: string;
  readonly vpcId: string;
  /** The cluster security group: EKS gives it to the control plane, and to nodes whose launch template has no security groups. */
  readonly securityGroup?: string;
  /** The other security groups of the control plane. */
  readonly additionalSecurityGroups?: readonly string[];
  /** Whether nodes reach its API server only through the internet: the endpoint in the VPC is off. */
  readonly isPublicOnly?: true;
  readonly status: string;
  readonly kubernetesVersion: string;
  /** `ipv4` or `ipv6`. */
  readonly ipFamily: string;
  /** Where EKS looks up the permissions of an IAM role: CONFIG_MAP (aws-auth), API (access entries) or API_AND_CONFIG_MAP. */
  readonly authenticationMode: string;
  readonly autoMode: boolean;
  /** Whether EKS' certificate authority is that of the operator's API server. */
  readonly isOurs: boolean;
}

/** Reads the EKS cluster of the operator. */
export interface Clusters {
  /** The cluster, or undefined when EKS says that it does not exist. */
  describe(signal: AbortSignal): Promise<CallResult<Cluster | undefined>>;
}

/** The Windows AMI releases that EKS publishes. */
export interface Releases {
  /** The newest release (`1.35-2026.01.22`) for a Kubernetes minor version; undefined when EKS has none. */
  newest(
    windows: { readonly year: string; readonly edition: 'Core' | 'Full' },
    minor: string,
    signal: AbortSignal,
  ): Promise<CallResult<string | undefined>>;
  /** Whether EKS publishes an AMI for a Kubernetes minor version in the operator's Region. */
  exists(
    windows: { readonly year: string; readonly edition: 'Core' | 'Full' },
    minor: string,
    signal: AbortSignal,
  ): Promise<CallResult<boolean>>;
}

/**
 * The public SSM parameter with the ID of the newest EKS-optimized Windows AMI for a Kubernetes minor version. Source:
 * https://docs.aws.amazon.com/eks/latest/userguide/retrieve-windows-ami-id.html
 */
export function imageParameterOf(year: string, edition: string, minor: string): string {
  return `${releaseParameterOf(year, edition, minor)}/image_id`;
}

/** The parameter above it, whose value is JSON about the same AMI. */
export function releaseParameterOf(year: string, edition: string, minor: string): string {
  return `/aws/service/ami-windows-latest/Windows_Server-${year}-English-${edition}-EKS_Optimized-${minor}`;
}

/** The EKS health issue codes: https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html */
export const HEALTH_CODES = [
  'AccessDenied',
  'AmiIdNotFound',
  'AsgInstanceLaunchFailures',
  'AutoScalingGroupInstanceRefreshActive',
  'AutoScalingGroupInvalidConfiguration',
  'AutoScalingGroupNotFound',
  'AutoScalingGroupOptInRequired',
  'AutoScalingGroupRateLimitExceeded',
  'ClusterUnreachable',
  'Ec2InstanceTypeDoesNotExist',
  'Ec2LaunchTemplateDeletionFailure',
  'Ec2LaunchTemplateInvalidConfiguration',
  'Ec2LaunchTemplateMaxLimitExceeded',
  'Ec2LaunchTemplateNotFound',
  'Ec2LaunchTemplateVersionMaxLimitExceeded',
  'Ec2LaunchTemplateVersionMismatch',
  'Ec2SecurityGroupDeletionFailure',
  'Ec2SecurityGroupNotFound',
  'Ec2SubnetInvalidConfiguration',
  'Ec2SubnetListTooLong',
  'Ec2SubnetMissingIpv6Assignment',
  'Ec2SubnetNotFound',
  'IamInstanceProfileNotFound',
  'IamLimitExceeded',
  'IamNodeRoleNotFound',
  'IamThrottling',
  'InstanceLimitExceeded',
  'InsufficientFreeAddresses',
  'InternalFailure',
  'KubernetesLabelInvalid',
  'LimitExceeded',
  'NodeCreationFailure',
  'NodeTerminationFailure',
  'PodEvictionFailure',
  'SourceEc2LaunchTemplateNotFound',
  'Unknown',
] as const;

/** One of {@link HEALTH_CODES}. */
export type HealthCode = (typeof HEALTH_CODES)[number];

/** Whether it is one of these codes. EKS may add others. */
export function isHealthCode(code: string): code is HealthCode {
  return HEALTH_CODES.some((known) => known === code);
}

/**
 * Errors of EC2 that EKS quotes in AsgInstanceLaunchFailures and NodeCreationFailure, because it has no codes of its own for them:
 * https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html and https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
 */
export const LAUNCH_ERRORS = [
  'InsufficientFreeAddressesInSubnet',
  'InsufficientInstanceCapacity',
  'InvalidAMIID',
  'InvalidBlockDeviceMapping',
  'InvalidKMSKey',
  'InvalidSubnetID',
  'MaxFleetCountExceeded',
  'MaxSpotInstanceCountExceeded',
  'SpotMaxPriceTooLow',
  'UnauthorizedOperation',
  'UnfulfillableCapacity',
  'Unsupported',
  'VcpuLimitExceeded',
] as const;

/** One of {@link LAUNCH_ERRORS}. */
export type LaunchError = (typeof LAUNCH_ERRORS)[number];

/**
 * What EC2 says where EKS leaves out the code: terraform-aws-modules/terraform-aws-eks#2149 and runs-on/runs-on#88 (fleet requests), aws/aws-parallelcluster#1115
 * (Spot), https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshooting-launch.html (vCPUs, capacity).
 */
const WITHOUT_CODE: Readonly<Partial<Record<LaunchError, string>>> = {
  InsufficientInstanceCapacity: 'do not have sufficient \\S{1,32} capacity',
  MaxFleetCountExceeded: 'quota for maximum (?:Spot )?Fleet Requests',
  MaxSpotInstanceCountExceeded: 'Max spot instance count exceeded',
  VcpuLimitExceeded: 'more vCPU capacity than your current vCPU limit',
};

const LAUNCH_ERROR_PATTERNS = LAUNCH_ERRORS.map((code) => {
  const words = WITHOUT_CODE[code];
  return [code, new RegExp(`\\b${code}\\b${words ? `|${words}` : ''}`, 'i')] as const;
});

/** The errors of EC2 in the message of a health issue. */
export function launchErrorsIn({ message }: Pick<HealthIssue, 'message'>): readonly LaunchError[] {
  return LAUNCH_ERROR_PATTERNS.flatMap(([code, pattern]) => (pattern.test(message) ? [code] : []));
}
