/** What the local AWS remembers of node groups, launch templates, images, instances and updates, and what happens to them. */
import type { Tag as AutoScalingTag } from '@aws-sdk/client-auto-scaling';
import type { ResponseLaunchTemplateData, Tag } from '@aws-sdk/client-ec2';
import type {
  AddonIssue,
  AuthenticationMode,
  ClusterStatus,
  ErrorDetail,
  IpFamily,
  Issue,
  LaunchTemplateSpecification,
  Nodegroup,
  ResolveConflicts,
  Taint,
  Update,
  WarmPoolConfig,
} from '@aws-sdk/client-eks';
import type { SubnetRecord } from './network.ts';

/** A node group with EKS' internal state. A new `epoch` cancels everything that is scheduled for the old one. */
export interface GroupRecord {
  readonly name: string;
  readonly autoScalingGroup: string;
  readonly nodegroup: Nodegroup;
  epoch: number;
  /** Instances that the Auto Scaling group has beyond the configuration, while its nodes are replaced. */
  growth: number;
  /** Tags that users gave the Auto Scaling group. */
  autoScalingTags: readonly AutoScalingTag[];
  /** The user's launch template, if it was created from one. */
  template?: TemplateUse;
  /** The change of version in progress. */
  rollout?: Rollout;
  /** Why the Auto Scaling group has fewer instances than desired. */
  launchIssue?: Issue;
  /** The warm pool that another client of Auto Scaling gave it. */
  warmPool?: WarmPoolConfig;
  /** EKS will check the access of its nodes. */
  reviewPending?: boolean;
}

/** A version of a launch template. */
export interface TemplateVersion {
  readonly number: number;
  readonly createdAt: Date;
  readonly description?: string;
  readonly data: ResponseLaunchTemplateData;
}

/** A launch template. `group`: EKS made it for that node group. Versions are in order; any but the default can be gone. */
export interface TemplateRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly group?: string;
  tags: Readonly<Record<string, string>>;
  defaultVersion: number;
  /** The number of the last version, which is not used again. */
  lastNumber: number;
  versions: TemplateVersion[];
}

/** An image of a user. `amiType` and `releaseVersion`: the image of EKS that it was made from. */
export interface OwnImage {
  readonly id: string;
  readonly name: string;
  /** The account that owns it. */
  readonly owner: string;
  readonly amiType: string;
  readonly releaseVersion: string;
  /** `windows`, or empty for Linux. */
  readonly platform: string;
  readonly architecture: string;
  readonly state: string;
  /** The size of its root volume, in GiB. */
  readonly rootVolumeGiB: number;
  readonly createdAt: Date;
  /** ISO 8601. */
  readonly deprecatedAt?: string;
}

/** A launch template version as a group uses it: EKS copies the data, whatever becomes of the template. */
export interface TemplateUse {
  readonly specification: Required<LaunchTemplateSpecification>;
  readonly data: ResponseLaunchTemplateData;
}

/** The target of a change of version: what new instances get at once, and the group when it succeeds. */
export type Target = Pick<Nodegroup, 'version' | 'releaseVersion' | 'launchTemplate'>;

/** A change of version in progress. `outdated` has the ids of the instances to be replaced. */
export interface Rollout {
  readonly update: Update;
  readonly target: Target;
  readonly template?: TemplateUse;
  readonly force: boolean;
  readonly outdated: ReadonlySet<string>;
}

/** An update of a node group, of an add-on, or of the cluster (then without either). */
export interface UpdateRecord {
  readonly group?: string;
  readonly addon?: string;
  readonly update: Update;
}

/** EC2's codes for the states of an instance. */
export const instanceCodes = { pending: 0, running: 16, 'shutting-down': 32, terminated: 48, stopped: 80 } as const;

/** An EC2 instance that belongs to a node group, and the node on it. */
export interface InstanceRecord {
  readonly id: string;
  readonly group: string;
  readonly autoScalingGroup: string;
  readonly type: string;
  readonly subnet: SubnetRecord;
  readonly privateIp: string;
  readonly nodeName: string;
  readonly imageId: string;
  /** From the launch template. */
  readonly tags: readonly Tag[];
  /** When it was last launched or started. */
  launchedAt: Date;
  defect: NodeDefect;
  readonly releaseVersion: string;
  /** `--node-labels` and `--register-with-taints`: those of the group at the launch, or of the user data if the launch template has the image. */
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly registerWithTaints: readonly Taint[];
  /** Whether the launch template has the image, so that EKS does not configure the node. */
  readonly isCustom: boolean;
  /** The arguments of its kubelet in that case, by their names without dashes. */
  readonly kubelet: Readonly<Record<string, string>>;
  /** Whether its user data makes it join the cluster. */
  readonly bootstraps: boolean;
  kernelVersion: string;
  boots: number;
  /** How often it was started, or went to the warm pool: what is scheduled for another number is void. */
  starts: number;
  state: 'pending' | 'running' | 'stopped' | 'terminated';
  /** Its Auto Scaling group has taken it out of service, and a lifecycle hook delays its termination. EC2 does not show that. */
  terminating?: 'Terminating:Wait' | 'Terminating:Proceed';
  /** It is in the warm pool of its Auto Scaling group: it has the group's tags, and is not a member. */
  warm?: 'Pending' | 'Stopped' | 'Running' | 'Hibernated';
  /** It goes to the warm pool in place of its termination. */
  returns?: true;
  joined: boolean;
  /** Stops the running drain. */
  drain?: AbortController;
  drained: boolean;
}

/** The reasons of the warnings of the VPC resource controller about nodes: its pkg/provider/prefix/provider.go and pkg/utils/errors.go. */
export const controllerWarningReasons = ['Unsupported', 'InsufficientCidrBlocks'] as const;
export type ControllerWarning = (typeof controllerWarningReasons)[number];

/**
 * The defect of a node: another kernel than that of its release (the full version, only the build such as `10.0.17763`, or only the
 * revision), or it does not work.
 */
export interface NodeDefect {
  readonly build?: string;
  readonly revision?: number;
  readonly kernelVersion?: string;
  readonly neverJoins?: boolean;
  readonly noPodAddresses?: boolean;
  /** The warning of the VPC resource controller in an event about the node, which then gets no addresses. */
  readonly controllerWarning?: ControllerWarning;
  readonly notReady?: boolean;
  /** Memory in MiB that the kubelet reserves; a node of EKS reserves 100 to 500. */
  readonly reservedMiB?: number;
  /** It runs another operating system, as after a change of the launch template of its scaling group. */
  readonly operatingSystem?: 'linux';
}

/** The effect of a change in AWS on a node in the Kubernetes cluster. */
export type NodeEvent =
  | { readonly kind: 'join' | 'lost' | 'leave' | 'restart'; readonly instance: InstanceRecord }
  | { readonly kind: 'podAddresses'; readonly instance: InstanceRecord }
  | { readonly kind: 'controllerWarning'; readonly instance: InstanceRecord; readonly reason: ControllerWarning }
  | { readonly kind: 'cordon'; readonly instance: InstanceRecord; readonly on: boolean }
  | {
      readonly kind: 'drain';
      readonly instance: InstanceRecord;
      /** Stops the attempt. */
      readonly signal: AbortSignal;
      readonly drained: () => void;
    }
  | { readonly kind: 'ready'; readonly instance: InstanceRecord; readonly ready: boolean }
  | {
      readonly kind: 'relabel';
      readonly instance: InstanceRecord;
      readonly before: Nodegroup;
      readonly after: Nodegroup;
    };

/** A write or read of EKS in the settings of the Kubernetes cluster. */
export type SettingEvent =
  | {
      readonly kind: 'addon';
      readonly conflicts: ResolveConflicts;
      /** Called once, with the conflict if there was one. */
      readonly done: (conflict: string | undefined) => void;
    }
  | { readonly kind: 'readAwsAuth' }
  | { readonly kind: 'mapRole'; readonly roleArn: string; readonly groups: readonly string[] }
  | { readonly kind: 'unmapRole'; readonly roleArn: string };

/** Injected failures that have not occurred yet; each is used once. `group` undefined: any group. */
export interface Plans {
  readonly createFailures: { readonly group?: string; readonly issues: Issue[]; readonly afterSeconds?: number }[];
  readonly updateFailures: UpdateFailure[];
  readonly addonFailures: AddonIssue[];
  readonly deleteFailures: { readonly group?: string; readonly issues: Issue[] }[];
  readonly nodes: { readonly group?: string; readonly defect: NodeDefect }[];
  /** Nodes whose pods are not evicted. */
  readonly blockedDrains: { readonly group?: string }[];
}

/** How an update fails: with which errors, and whether the group is DEGRADED then. */
export interface UpdateFailure {
  readonly group?: string;
  readonly errors: ErrorDetail[];
  readonly degraded?: boolean;
  readonly status?: 'Failed' | 'Cancelled';
}

/** The state of the cluster that an administrator can change. `autoMode`: EKS Auto Mode, `computeConfig.enabled` of the API. */
export interface ClusterState {
  exists: boolean;
  status: ClusterStatus;
  version: string;
  caData: string;
  ipFamily: IpFamily;
  authenticationMode: AuthenticationMode;
  autoMode: boolean;
  runningUpdate?: string;
  /** The last upgrade: the version before, and when it ended in epoch milliseconds. Absent after a rollback. */
  upgraded?: { readonly from: string; readonly at: number };
}
