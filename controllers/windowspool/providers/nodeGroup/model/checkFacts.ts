/** The facts that are read for the checks of a pool with a node group, and the input of a check. */
import type { WindowsPoolSpec } from '../../../api/api.gen.ts';
import type { CallError, CallResult } from '../../../ports/callResult.ts';
import type { Cluster, NodeGroup } from '../../../ports/eks.ts';
import type { OwnTemplate, OwnTemplateVersion } from '../../../ports/ownTemplates.ts';
import type {
  AccessEntry,
  Addon,
  ConfigMapOwner,
  Image,
  InstanceType,
  LaunchTemplate,
  LinuxNodeView,
  Offering,
  RoleMapping,
  ScriptSource,
  SecurityGroup,
  Subnet,
} from '../../../ports/prerequisites.ts';

/**
 * Everything that the checks need beside the cluster. A fact that nothing needed was not read and is absent, and its checks return nothing. A failed read
 * carries its error.
 */
export interface CheckFacts extends Facts {
  /** Whether everything was read, or only what can change for an existing group. */
  readonly complete: boolean;
}

/** The facts that checks name in `needs`. */
export type FactName = keyof Facts;

/** The value of a fact. */
export type FactValue<N extends FactName> = Extract<NonNullable<Facts[N]>, { ok: true }>['value'];

/** How each of them is read is in checks/factTable.ts. */
export interface Facts {
  /** ConfigMap kube-system/amazon-vpc-cni. */
  readonly cniConfig?: CallResult<Readonly<Record<string, string>> | undefined>;
  readonly cniAddon?: CallResult<Addon | undefined>;
  /** Who manages and last wrote enable-windows-ipam in that ConfigMap; read when the operator is about to set it. */
  readonly cniConfigOwner?: CallResult<ConfigMapOwner | undefined>;
  /** Whether Deployment kube-system/vpc-resource-controller exists. */
  readonly legacyController?: CallResult<boolean>;
  /** The names of the policies attached to the cluster's role. */
  readonly clusterRolePolicies?: CallResult<readonly string[]>;
  /** Whether the webhook that requests addresses for Windows pods exists. */
  readonly podWebhook?: CallResult<boolean>;
  readonly accessEntry?: CallResult<AccessEntry | undefined>;
  /** When the node role was created, in epoch milliseconds; undefined if it does not exist. Read only for a role with an access entry. */
  readonly roleCreatedAt?: CallResult<number | undefined>;
  readonly roleMappings?: CallResult<readonly RoleMapping[]>;
  /** The version that spec.nodeGroup.launchTemplate resolves to. */
  readonly launchTemplate?: CallResult<LaunchTemplate | undefined>;
  /** The value of the SSM parameter in spec.nodeGroup.ami. */
  readonly imageParameter?: CallResult<string | undefined>;
  /** The AMI that spec.nodeGroup.ami selects; absent while its parameter has no ID. */
  readonly image?: CallResult<SelectedImage>;
  /** Whether EKS publishes an AMI for the pool's Kubernetes version. Read only for versions that the operator's table does not list yet. */
  readonly ami?: CallResult<boolean>;
  /** Whether a Linux node accepts pods; if none does, one that is only cordoned. */
  readonly linuxNode?: CallResult<LinuxNodeView>;
  /** Node roles of the groups that have Linux nodes. */
  readonly linuxRoles?: CallResult<readonly { readonly group: string; readonly nodeRoleArn: string }[]>;
  readonly instanceTypes?: CallResult<readonly InstanceType[]>;
  readonly offerings?: CallResult<readonly Offering[]>;
  readonly subnets?: CallResult<readonly Subnet[]>;
  /** The security groups that the spec selects. */
  readonly securityGroups?: CallResult<readonly SecurityGroup[]>;
  /** The security groups of the control plane. Read only for a launch template whose groups lack the cluster security group. */
  readonly controlPlaneRules?: CallResult<readonly SecurityGroup[]>;
  /** The ConfigMap with the script that the spec names. */
  readonly userData?: CallResult<ScriptSource>;
  /** The names of all node groups of the cluster. Read before another group replaces that of the pool. */
  readonly nodeGroups?: CallResult<readonly string[]>;
  // The rest can be an hour old, so only advice uses it.
  /** The subnets that the spec selects. Their zones do not change. */
  readonly subnetZones?: CallResult<readonly Subnet[]>;
  /** The nodes that are in no managed node group. Read only for a node role without an access entry. */
  readonly unmanagedNodes?: CallResult<readonly string[]>;
  /** The node of each pod of CoreDNS. */
  readonly dnsNodes?: CallResult<readonly string[]>;
  /** The instance types of the pool. What they support does not change. */
  readonly instanceFeatures?: CallResult<readonly InstanceType[]>;
  /** The security groups of the control plane, and those of the nodes that are selected by ID, with their rules. */
  readonly securityRules?: CallResult<readonly SecurityGroup[]>;
  /** Whether EC2 encrypts all new volumes. */
  readonly encryptsVolumes?: CallResult<boolean>;
}

/** A custom AMI as read: that of the spec, and that of the node group. */
export interface SelectedImage {
  /** The ID that the spec selects. */
  readonly id: string;
  /** Undefined: there is no AMI with this ID. */
  readonly found: Image | undefined;
  /** The AMI of the node group, if it has one that was read; `found` is undefined if it does not exist any more. */
  readonly ofGroup?: { readonly id: string; readonly found: Image | undefined };
}

/** When each step about Windows IPAM was last done, in epoch milliseconds. */
export type IpamAttempts = Readonly<Partial<Record<'updateAddon' | 'applyCniConfig', number>>>;

/** When the operator enables Windows IPAM. Times are epoch milliseconds, durations milliseconds. */
export interface IpamOffer {
  readonly now: number;
  /** When this process last did each step. */
  readonly attempts: IpamAttempts;
  /** The error of the last attempt, if the same attempt would fail again. */
  readonly error: CallError | undefined;
  readonly pollMs: number;
  /** How long until it enables again what another user disabled. */
  readonly resyncMs: number;
  /** How long until a failed update of the add-on is retried. */
  readonly createRetryMs: number;
}

/** The launch template of a pool that sets launch settings. */
export interface OwnTemplateView {
  readonly name: string;
  /** The tags that mark it as the pool's. */
  readonly ownerTags: Readonly<Record<string, string>>;
  /** The template with that name; undefined: it does not exist. */
  readonly found: OwnTemplate | undefined;
  readonly isOwn: boolean;
  /** The template that the pool's node group was created from; undefined if it was created without one, or is still to be created. */
  readonly ofGroup: NodeGroup['launchTemplate'];
  /** A version that EC2 returns differently from what the operator wrote. */
  readonly unlike: OwnTemplateVersion | undefined;
}

/** The input of a check. */
export interface CheckInput {
  readonly spec: WindowsPoolSpec;
  readonly cluster: Cluster;
  readonly region: string;
  readonly facts: CheckFacts;
  /** Whether the pool's node group is still to be created. */
  readonly creating: boolean;
  /** The EKS status of the pool's node group; undefined if it does not exist. */
  readonly groupStatus: string | undefined;
  /** The subnets of the pool's node group; undefined if it is still to be created. */
  readonly groupSubnets: readonly string[] | undefined;
  /** The launch template for the launch settings; undefined if the spec does not set launch settings, or the template was not read. */
  readonly ownTemplate?: OwnTemplateView | undefined;
  /** Why the nodes cannot get the user data that the operator would write, as a sentence with the next step; absent: they can. */
  readonly userDataProblem?: string;
  /** Whether the operator creates a missing access entry. */
  readonly managesAccessEntry: boolean;
  /** What the operator does about Windows IPAM; undefined: nothing, because --enable-windows-ipam is off or the pool is paused. */
  readonly windowsIpam?: IpamOffer;
  /** Instances of the pool, whether or not they are nodes yet: their addresses are no longer free. */
  readonly instances: number;
  /** How many instances its warm pool has. */
  readonly warmInstances: number;
  /** The size of the group that the new one replaces, which it gets; absent: the spec sets the size. */
  readonly sizeToReplace?: number;
  /** The number of nodes of the canary that is to be created; absent when none is. */
  readonly canaryNodes?: number;
}

/**
 * How many facts are read.
 * - `nothing`: the pool is being deleted, or its cluster or group is unknown or not its own.
 * - `standing`: what others can change while the group looks healthy. Cheap, and cached for long.
 * - `complete`: everything, because a group must be created or something fails.
 */
export type Scope = 'nothing' | 'standing' | 'complete';
