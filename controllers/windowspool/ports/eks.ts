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

export interface Scaling {
  readonly min: number;
  readonly max: number;
  readonly desired: number;
}

/** How a rolling update replaces nodes: EKS' `updateConfig`. */
export interface UpdateSettings {
  /** How many nodes at a time: `2`, or a share of them: `33%`. */
  readonly maxUnavailable?: string;
  readonly strategy?: 'Default' | 'Minimal';
}

/** One entry of EKS' `health.issues`. */
export interface HealthIssue {
  readonly code: string;
  readonly message: string;
  readonly resourceIds: readonly string[];
}

/** A version of a user's launch template: by its id or by its name, never both. */
export interface TemplateVersion {
  readonly id?: string;
  readonly name?: string;
  /** A number, `$Latest` or `$Default`. */
  readonly version: string;
}

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
  /** The user's launch template that it was made from, with the number of its version; undefined: EKS' own. */
  readonly launchTemplate: Required<TemplateVersion> | undefined;
  readonly kubernetesVersion: string | undefined;
  readonly releaseVersion: string | undefined;
  readonly scaling: Scaling;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly update: UpdateSettings;
  /** Without the `aws:*` tags, which nobody may write. */
  readonly tags: Readonly<Record<string, string>>;
  readonly healthIssues: readonly HealthIssue[];
  readonly autoScalingGroups: readonly string[];
  /** Epoch milliseconds of EKS' last change to the group. */
  readonly modifiedAt: number;
}

/** What CreateNodegroup is asked for. */
export interface NewNodeGroup {
  readonly name: string;
  readonly amiType: string;
  readonly capacityType: 'OnDemand' | 'Spot';
  /** None: the launch template has one. */
  readonly instanceTypes: readonly string[];
  readonly subnets: readonly string[];
  readonly nodeRoleArn: string;
  /** Absent: the launch template's. */
  readonly diskSizeGiB?: number;
  readonly launchTemplate?: TemplateVersion;
  readonly scaling: Scaling;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly tags: Readonly<Record<string, string>>;
  /** Absent: EKS' own. */
  readonly update?: UpdateSettings;
  /** Absent: the cluster's. */
  readonly kubernetesVersion?: string;
  /** Absent: the newest. */
  readonly releaseVersion?: string;
}

/** What UpdateNodegroupConfig is asked for: only what differs. At least one member is present. */
export interface ConfigChange {
  readonly labels?: { readonly set: Readonly<Record<string, string>>; readonly remove: readonly string[] };
  readonly taints?: { readonly set: readonly Taint[]; readonly remove: readonly Taint[] };
  readonly scaling?: Partial<Scaling>;
  readonly update?: UpdateSettings;
}

/** What UpdateNodegroupVersion is asked for. */
export interface VersionChange {
  /** A minor version, such as `1.35`. Always said: what EKS takes without it has had two answers in its documentation. */
  readonly kubernetesVersion: string;
  /** A release of its AMI, such as `1.35-2026.01.22`. Absent: the newest. */
  readonly releaseVersion?: string;
  /** Another version of the launch template. Absent: the one that the group has. */
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
  readonly errors: readonly {
    readonly code: string;
    readonly message: string;
    readonly resourceIds: readonly string[];
  }[];
}

/** EKS managed node groups of the operator's one cluster. Every call takes a signal and has a time-out of its own. */
export interface NodeGroups {
  /** The group, or undefined when EKS says that it does not exist. A cluster that is gone is the trouble `gone`. */
  describe(name: string, signal: AbortSignal): Promise<CallResult<NodeGroup | undefined>>;
  /** Repeating a call with the same token gives the same group. A taken name is the trouble `busy`. */
  create(desired: NewNodeGroup, token: string, signal: AbortSignal): Promise<CallResult<NodeGroup>>;
  updateConfig(
    name: string,
    change: ConfigChange,
    token: string,
    signal: AbortSignal,
  ): Promise<CallResult<NodeGroupUpdate>>;
  /** A rolling update: every node is replaced. */
  updateVersion(
    name: string,
    change: VersionChange,
    token: string,
    signal: AbortSignal,
  ): Promise<CallResult<NodeGroupUpdate>>;
  describeUpdate(name: string, id: string, signal: AbortSignal): Promise<CallResult<NodeGroupUpdate | undefined>>;
  /** Deleting what is already gone, or going, is done. */
  delete(name: string, signal: AbortSignal): Promise<CallResult<void>>;
  tag(arn: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<CallResult<void>>;
  untag(arn: string, keys: readonly string[], signal: AbortSignal): Promise<CallResult<void>>;
}

/** The EKS cluster that the operator runs in. */
export interface Cluster {
  readonly name: string;
  readonly arn: string;
  /** The IAM role of the control plane. */
  readonly roleArn: string;
  readonly status: string;
  readonly kubernetesVersion: string;
  /** `ipv4` or `ipv6`. */
  readonly ipFamily: string;
  /** Where EKS looks up what an IAM role may do: CONFIG_MAP (aws-auth), API (access entries) or API_AND_CONFIG_MAP. */
  readonly authenticationMode: string;
  readonly autoMode: boolean;
  /** Whether EKS' certificate authority is the one of the API server that the operator talks to. */
  readonly isOurs: boolean;
}

export interface Clusters {
  /** The cluster, or undefined when EKS says that it does not exist. */
  describe(signal: AbortSignal): Promise<CallResult<Cluster | undefined>>;
}

/** The AMI releases that EKS publishes for Windows. */
export interface Releases {
  /** The newest release (`1.35-2026.01.22`) of a minor version of Kubernetes; undefined when EKS has none. */
  newest(
    windows: { readonly year: string; readonly edition: 'Core' | 'Full' },
    minor: string,
    signal: AbortSignal,
  ): Promise<CallResult<string | undefined>>;
  /** Whether EKS publishes an AMI for a minor version of Kubernetes in the operator's Region. */
  exists(
    windows: { readonly year: string; readonly edition: 'Core' | 'Full' },
    minor: string,
    signal: AbortSignal,
  ): Promise<CallResult<boolean>>;
}

/** EKS' codes of health issues: https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html */
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

export type HealthCode = (typeof HEALTH_CODES)[number];
