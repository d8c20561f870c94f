import { createHash } from 'node:crypto';
import type { Tag as AutoScalingTag } from '@aws-sdk/client-auto-scaling';
import type { ResponseLaunchTemplateData, Tag } from '@aws-sdk/client-ec2';
import type {
  AccessEntry,
  Addon,
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
import { notFound } from './awsFault.ts';
import { newEntry } from './eks/accessEntryRecord.ts';
import {
  accountId,
  clusterSecurityGroup,
  clusterSecurityGroupId,
  nodeRoleArn,
  type SecurityGroupRecord,
  type SubnetRecord,
  subnetsOf,
} from './network.ts';
import { type ReleaseDay, releaseDays } from './releases.ts';
import { type Switches, switchesWith } from './switches.ts';
import { type Clock, Timeline } from './timeline.ts';

/** The one cluster of the local AWS. `kubernetesVersion` is a minor such as `1.36`, `caData` base64 as in a kubeconfig. */
export interface ClusterOptions {
  readonly name: string;
  readonly region: string;
  readonly accountId?: string;
  readonly caData: string;
  readonly endpoint: string;
  readonly kubernetesVersion: string;
  /** The minor of the API server, if that is older than `kubernetesVersion`: kubelets are not newer. */
  readonly apiServerVersion?: string;
}

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
  | { readonly kind: 'mapRole'; readonly roleArn: string; readonly groups: readonly string[] };

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
}

/** Options of the state machine. */
export interface StateOptions {
  readonly cluster: ClusterOptions;
  readonly clock?: Clock;
  readonly speed?: number;
  readonly switches?: Partial<Switches>;
  /** Node groups a cluster may have. */
  readonly nodegroupLimit?: number;
  /** Nodes a node group may have. Default: 450, as in EKS. */
  readonly nodeLimit?: number;
  /** The ids of the cluster's subnets, in zones a, b and c; those of network.ts if not given. */
  readonly subnetIds?: readonly string[];
  /** The published releases, oldest first; by default those of releases.ts. */
  readonly releases?: readonly ReleaseDay[];
}

/** The state of the local AWS. Other modules implement its behavior. Nothing here reads the system clock or is random. */
export class LocalAwsState {
  readonly cluster: ClusterOptions & { readonly accountId: string; readonly createdAt: Date };
  readonly timeline: Timeline;
  readonly switches: Switches;
  readonly nodegroupLimit: number;
  readonly nodeLimit: number;
  readonly groups = new Map<string, GroupRecord>();
  readonly updates = new Map<string, UpdateRecord>();
  readonly instances = new Map<string, InstanceRecord>();
  readonly subnets: SubnetRecord[];
  /** The published releases, oldest first. */
  readonly releases: ReleaseDay[];
  /** By id. */
  readonly launchTemplates = new Map<string, TemplateRecord>();
  /** By id. */
  readonly ownImages = new Map<string, OwnImage>();
  /** The parameters of users in SSM: their values by name. */
  readonly parameters = new Map<string, string>();
  /** By name. */
  readonly addons = new Map<string, Addon>();
  /** By the ARN of the principal. */
  readonly accessEntries = new Map<string, AccessEntry>();
  /** Whether the ConfigMap amazon-vpc-cni has enable-windows-prefix-delegation, as last read. */
  prefixDelegation = false;
  /** Roles and their groups in the ConfigMap aws-auth, as last read. */
  readonly awsAuth = new Map<string, readonly string[]>();
  /** The policies that are attached to the role of the cluster, by name. */
  readonly clusterRolePolicies = new Set(['AmazonEKSClusterPolicy', 'AmazonEKSVPCResourceController']);
  /** By ID. */
  readonly securityGroups = new Map<string, SecurityGroupRecord>([[clusterSecurityGroupId, clusterSecurityGroup]]);
  /** Whether the account encrypts new volumes by default: that of the local AWS does. */
  encryptsVolumes = true;
  /** The zones that offer an instance type, if not all do. */
  readonly offerings = new Map<string, readonly string[]>();
  readonly plans: Plans = {
    createFailures: [],
    updateFailures: [],
    addonFailures: [],
    deleteFailures: [],
    nodes: [],
    blockedDrains: [],
  };
  /** Answers by clientRequestToken. */
  readonly tokens = new Map<string, { readonly group: string; readonly request: string; readonly answer: unknown }>();
  readonly clusterState: ClusterState;
  #counter = 0;
  #listeners: ((event: NodeEvent) => void)[] = [];
  #settingListeners: ((event: SettingEvent) => void)[] = [];

  constructor(options: StateOptions) {
    this.timeline = new Timeline(options.clock ?? { now: () => Date.now() }, options.speed);
    this.switches = switchesWith(options.switches);
    this.nodegroupLimit = options.nodegroupLimit ?? 30;
    this.nodeLimit = options.nodeLimit ?? 450;
    this.subnets = subnetsOf(options.cluster.region, options.subnetIds);
    this.releases = structuredClone([...(options.releases ?? releaseDays)]);
    this.cluster = { accountId, ...options.cluster, createdAt: this.timeline.now() };
    const { kubernetesVersion, caData } = options.cluster;
    this.clusterState = {
      exists: true,
      status: 'ACTIVE',
      version: minorOf(kubernetesVersion),
      caData,
      ipFamily: 'ipv4',
      authenticationMode: 'API_AND_CONFIG_MAP',
      autoMode: false,
    };
    // The cluster is prepared for Windows nodes according to the user guide of EKS.
    const entry = newEntry(this, { principalArn: nodeRoleArn, type: 'EC2_WINDOWS' }, seededUuid);
    this.accessEntries.set(nodeRoleArn, entry);
  }

  /** A UUID that depends only on the number of previous ones. */
  nextUuid(): string {
    const hex = this.#nextHex();
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
  }

  /** An ID such as `i-0123456789abcdef0`, also deterministic. */
  nextId(prefix: string): string {
    return `${prefix}-0${this.#nextHex().slice(0, 16)}`;
  }

  /** The group of that name. Throws EKS' fault if there is none. */
  group(name: string | undefined): GroupRecord {
    const group = this.groups.get(name ?? '');
    if (group === undefined) throw notFound(`No node group found for name: ${name}.`);
    return group;
  }

  /** Whether there is a listener to node events. */
  get followed(): boolean {
    return this.#listeners.length > 0;
  }

  /** Calls all listeners with a node event. */
  emit(event: NodeEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Calls `listener` with every node event from now on. */
  onNodeEvent(listener: (event: NodeEvent) => void): void {
    this.#listeners.push(listener);
  }

  /** Calls all listeners with an event about the settings of the cluster. */
  emitSetting(event: SettingEvent): void {
    for (const listener of this.#settingListeners) listener(event);
  }

  /** Writes the settings of the add-ons into the Kubernetes cluster, if there is one. `done` gets the conflict. */
  applyAddon(conflicts: ResolveConflicts, done: (conflict: string | undefined) => void): void {
    if (this.#settingListeners.length === 0) done(undefined);
    else this.emitSetting({ kind: 'addon', conflicts, done });
  }

  /** Calls `listener` with every such event from now on. */
  onSetting(listener: (event: SettingEvent) => void): void {
    this.#settingListeners.push(listener);
  }

  /** `arn:aws:eks:<region>:<account>:<rest>` */
  arn(rest: string): string {
    return `arn:aws:eks:${this.cluster.region}:${this.cluster.accountId}:${rest}`;
  }

  #nextHex(): string {
    this.#counter += 1;
    return createHash('sha256').update(`${this.cluster.name}/${this.#counter}`).digest('hex');
  }
}

const seededUuid = '00000000-0000-4000-8000-000000000000';

/** Removes and returns the first plan for the group. */
export function takePlan<P extends { readonly group?: string }>(plans: P[], group: string): P | undefined {
  const index = plans.findIndex((plan) => plan.group === undefined || plan.group === group);
  return index < 0 ? undefined : plans.splice(index, 1)[0];
}

const minorOf = (version: string): string => version.replace(/^v/, '').split('.').slice(0, 2).join('.');
