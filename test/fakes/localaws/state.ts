import { createHash } from 'node:crypto';
import type { AccessEntry, Addon, ResolveConflicts } from '@aws-sdk/client-eks';
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
import type {
  ClusterState,
  GroupRecord,
  InstanceRecord,
  NodeEvent,
  OwnImage,
  Plans,
  SettingEvent,
  TemplateRecord,
  UpdateRecord,
} from './records.ts';
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
  /** The roles that were deleted and created again, by ARN. */
  readonly recreatedRoles = new Map<string, { readonly id: string; readonly createdAt: Date }>();
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
