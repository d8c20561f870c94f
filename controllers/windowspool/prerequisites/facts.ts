/** What the checks of prerequisites look at: gathered once, plain data. */
import type { WindowsPoolSpec } from '../api.gen.ts';
import type { CallError, CallResult } from '../ports/answer.ts';
import type { Cluster } from '../ports/eks.ts';
import type {
  AccessEntry,
  Addon,
  ConfigMapOwner,
  ControllerWarning,
  InstanceType,
  LaunchTemplate,
  Offering,
  RoleMapping,
  Subnet,
} from '../ports/prerequisites.ts';
import type { PrerequisiteReason } from '../reasons.ts';

/**
 * All that was found out beside the cluster itself. A fact that is absent was not asked for, because nothing needed it: its checks say
 * nothing. One that was asked for and not found out carries the trouble.
 */
export interface PrerequisiteFacts {
  /** Whether everything was asked, or only what can turn for a group that lives. */
  readonly complete: boolean;
  /** ConfigMap kube-system/amazon-vpc-cni. */
  readonly cniConfig?: CallResult<Readonly<Record<string, string>> | undefined>;
  readonly cniAddon?: CallResult<Addon | undefined>;
  /** Who has a say in enable-windows-ipam of that ConfigMap; asked where the operator is about to set it. */
  readonly cniConfigOwner?: CallResult<ConfigMapOwner | undefined>;
  /** Whether Deployment kube-system/vpc-resource-controller exists. */
  readonly legacyController?: CallResult<boolean>;
  /** The names of the policies that are attached to the role of the cluster. */
  readonly clusterRolePolicies?: CallResult<readonly string[]>;
  /** Whether the webhook exists that requests pod addresses for Windows pods. */
  readonly podWebhook?: CallResult<boolean>;
  /** What the VPC resource controller warns of, by node; asked for a few nodes that have no addresses for pods. No check looks at it. */
  readonly controllerWarnings?: readonly {
    readonly node: string;
    readonly answer: CallResult<readonly ControllerWarning[]>;
  }[];
  readonly accessEntry?: CallResult<AccessEntry | undefined>;
  readonly roleMappings?: CallResult<readonly RoleMapping[]>;
  /** The version that spec.nodeGroup.launchTemplate stands for. */
  readonly launchTemplate?: CallResult<LaunchTemplate | undefined>;
  /** Whether EKS publishes an AMI for the pool's Kubernetes version. Asked only for versions that the operator's table does not list yet. */
  readonly ami?: CallResult<boolean>;
  /** Whether a Linux node takes pods. */
  readonly linuxNode?: CallResult<boolean>;
  /** Node roles of the groups that have Linux nodes. */
  readonly linuxRoles?: CallResult<readonly { readonly group: string; readonly nodeRoleArn: string }[]>;
  readonly instanceTypes?: CallResult<readonly InstanceType[]>;
  readonly offerings?: CallResult<readonly Offering[]>;
  readonly subnets?: CallResult<readonly Subnet[]>;
}

/** The right that finding out needs: an IAM action, or a verb and an object of Kubernetes. */
export const RIGHTS: Readonly<Record<Exclude<keyof PrerequisiteFacts, 'complete' | 'controllerWarnings'>, string>> = {
  cniConfig: 'get configmaps kube-system/amazon-vpc-cni',
  cniAddon: 'eks:DescribeAddon',
  cniConfigOwner: 'get configmaps kube-system/amazon-vpc-cni',
  legacyController: 'get deployments.apps kube-system/vpc-resource-controller',
  clusterRolePolicies: 'iam:ListAttachedRolePolicies',
  podWebhook: 'get mutatingwebhookconfigurations.admissionregistration.k8s.io vpc-resource-mutating-webhook',
  accessEntry: 'eks:DescribeAccessEntry',
  roleMappings: 'get configmaps kube-system/aws-auth',
  ami: 'ssm:GetParameter',
  linuxNode: 'list nodes',
  linuxRoles: 'eks:DescribeNodegroup',
  launchTemplate: 'ec2:DescribeLaunchTemplateVersions',
  instanceTypes: 'ec2:DescribeInstanceTypes',
  offerings: 'ec2:DescribeInstanceTypeOfferings',
  subnets: 'ec2:DescribeSubnets',
};

/** When the operator enables Windows IPAM. Epoch milliseconds, and durations in milliseconds. */
export interface IpamOffer {
  readonly now: number;
  /** When this process last did each step about it. */
  readonly attempts: IpamAttempts;
  /** Why the last try came to nothing, where the same try would come to nothing again. */
  readonly error: CallError | undefined;
  readonly pollMs: number;
  /** Until it enables again what another user disabled. */
  readonly resyncMs: number;
  /** Until an update of the add-on that failed is tried again. */
  readonly createRetryMs: number;
}

/** When a step about Windows IPAM was last done, in epoch milliseconds. */
export type IpamAttempts = Readonly<Partial<Record<'updateAddon' | 'applyCniConfig', number>>>;

/** What a check looks at. */
export interface CheckInput {
  readonly spec: WindowsPoolSpec;
  readonly cluster: Cluster;
  readonly region: string;
  readonly facts: PrerequisiteFacts;
  /** Whether the pool's node group is still to be made. */
  readonly creating: boolean;
  /** The status that EKS gives the pool's node group; undefined while there is none. */
  readonly groupStatus: string | undefined;
  /** Whether the operator makes an access entry that is missing. */
  readonly managesAccessEntry: boolean;
  /** What the operator does about Windows IPAM; undefined: nothing, because --enable-windows-ipam is off or the pool is paused. */
  readonly windowsIpam?: IpamOffer;
  /** Instances that the pool has, nodes or not yet: their addresses are no longer free. */
  readonly instances: number;
  /** Prerequisites that the user asked to ignore. */
  readonly ignored: ReadonlySet<PrerequisiteReason>;
}
