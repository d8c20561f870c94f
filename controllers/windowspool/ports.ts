/**
 * What the domain needs from the world, in the domain's words. The adapters in controllers/kubernetes and controllers/aws
 * implement these; cmd/operator wires them. Nothing here knows an SDK.
 *
 * Expected trouble is a value (`Answer`), a bug is an exception.
 */
import type { WindowsPool, WindowsPoolStatus } from './api.gen.ts';

/**
 * Why a call did not do its work, classified once at the edge.
 * - `throttled`, `unavailable`: try again later, with backoff (429, 5xx, network, time-outs).
 * - `busy`: the object is being changed by somebody else; try again later (409 ResourceInUse, 428).
 * - `denied`: the operator lacks a right (403); somebody must grant it.
 * - `refused`: the request itself is wrong (InvalidParameter, InvalidRequest); the same one will be refused again.
 * - `limit`: a quota is used up (ResourceLimitExceeded).
 * - `conflict`: the object changed since it was read (a failed precondition); read it again.
 * - `gone`: the object, or what it belongs to, does not exist.
 * - `unknown`: none of these; treated as a slow retry.
 */
export type TroubleKind =
  | 'throttled'
  | 'unavailable'
  | 'busy'
  | 'denied'
  | 'refused'
  | 'limit'
  | 'conflict'
  | 'gone'
  | 'unknown';

/** A failed call. `message` is the other side's own words without request ids and encoded authorization blobs. */
export interface Trouble {
  readonly kind: TroubleKind;
  /** The operation that failed, as its API names it: `CreateNodegroup`, `patch runtimeclasses`. */
  readonly operation: string;
  /** The error's name, as its API gives it: `InvalidParameterException`, `Forbidden`. */
  readonly code: string;
  readonly message: string;
}

/** The answer to a call that may fail in expected ways. */
export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly trouble: Trouble };

/** A node group's status as EKS names it: https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html */
export type NodeGroupStatus =
  | 'CREATING'
  | 'ACTIVE'
  | 'UPDATING'
  | 'DELETING'
  | 'CREATE_FAILED'
  | 'DELETE_FAILED'
  | 'DEGRADED';

export type TaintEffect = 'NoSchedule' | 'NoExecute' | 'PreferNoSchedule';

/** A taint in Kubernetes' spelling; the EKS adapter translates the effect. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: TaintEffect;
}

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
  describe(name: string, signal: AbortSignal): Promise<Answer<NodeGroup | undefined>>;
  /** Repeating a call with the same token gives the same group. A taken name is the trouble `busy`. */
  create(wish: NewNodeGroup, token: string, signal: AbortSignal): Promise<Answer<NodeGroup>>;
  updateConfig(
    name: string,
    change: ConfigChange,
    token: string,
    signal: AbortSignal,
  ): Promise<Answer<NodeGroupUpdate>>;
  /** A rolling update: every node is replaced. */
  updateVersion(
    name: string,
    change: VersionChange,
    token: string,
    signal: AbortSignal,
  ): Promise<Answer<NodeGroupUpdate>>;
  describeUpdate(name: string, id: string, signal: AbortSignal): Promise<Answer<NodeGroupUpdate | undefined>>;
  /** Deleting what is already gone, or going, is done. */
  delete(name: string, signal: AbortSignal): Promise<Answer<void>>;
  tag(arn: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer<void>>;
  untag(arn: string, keys: readonly string[], signal: AbortSignal): Promise<Answer<void>>;
}

/** The EKS cluster that the operator runs in. */
export interface Cluster {
  readonly name: string;
  readonly arn: string;
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
  describe(signal: AbortSignal): Promise<Answer<Cluster | undefined>>;
}

/** The AMI releases that EKS publishes for Windows. */
export interface Releases {
  /** The newest release (`1.35-2026.01.22`) of a minor version of Kubernetes; undefined when EKS has none. */
  newest(
    windows: { readonly year: string; readonly edition: 'Core' | 'Full' },
    minor: string,
    signal: AbortSignal,
  ): Promise<Answer<string | undefined>>;
}

/** An EC2 instance of a node group's scaling group. */
export interface Instance {
  readonly id: string;
  readonly privateDnsName: string;
  /** Epoch milliseconds. */
  readonly launchedAt: number;
}

export interface Instances {
  /** The pending and running instances of a scaling group, by the tag that EC2 Auto Scaling puts on them. */
  ofScalingGroup(name: string, signal: AbortSignal): Promise<Answer<readonly Instance[]>>;
}

/** The scaling groups of EC2 behind the node groups of the operator's one cluster. */
export interface ScalingGroups {
  /** The tags of all of them, by their names. */
  tags(signal: AbortSignal): Promise<Answer<Readonly<Record<string, Readonly<Record<string, string>>>>>>;
  /** Tags of the group alone: instances do not get them. */
  setTags(group: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer<void>>;
  /** Removing a tag that is not there is done. */
  removeTags(group: string, keys: readonly string[], signal: AbortSignal): Promise<Answer<void>>;
}

/** A condition of a Node, without its times. */
export interface NodeCondition {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** What the operator keeps of a Node. */
export interface NodeRecord {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly deleting: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** The annotation winpool.dev/claim: empty when there is none, undefined when the node has no annotations at all. */
  readonly claim: string | undefined;
  readonly providerID: string;
  readonly taints: readonly Taint[];
  /** The Ready condition's status; `Unknown` when there is none. */
  readonly ready: 'True' | 'False' | 'Unknown';
  readonly readyReason: string;
  /** The condition winpool.dev/Verified. */
  readonly verified: NodeCondition | undefined;
  readonly kernelVersion: string;
  readonly containerRuntimeVersion: string;
  /** Names of the handlers that RuntimeClasses can name, the default one as ''; empty where containerd does not report them (before 2.0). */
  readonly runtimeHandlers: readonly string[];
  readonly kubeletVersion: string;
  readonly operatingSystem: string;
  readonly architecture: string;
  /** IP addresses and DNS names by which the node is reached, each once, in the order of `status.addresses`. */
  readonly addresses: readonly string[];
  /** Kubernetes quantities: memory, vpc.amazonaws.com/PrivateIPv4Address and the rest. */
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}

/**
 * A list of Windows hosts as it is known.
 * - `unknown`: it was not read yet, or could not be: then `trouble` says why.
 * - `absent`: there is no such ConfigMap.
 */
export type InstanceList =
  | { readonly kind: 'unknown'; readonly trouble?: Trouble }
  | { readonly kind: 'absent' }
  | { readonly kind: 'seen'; readonly data: Readonly<Record<string, string>> };

/** What a pool of existing nodes writes to a node, all of it at once. */
export interface NodeMarks {
  /** Labels with their values; null removes a label. */
  readonly labels: Readonly<Record<string, string | null>>;
  readonly taints: { readonly set: readonly Taint[]; readonly remove: readonly Taint[] };
  /** The annotation winpool.dev/claim; undefined removes it. */
  readonly claim: string | undefined;
}

export interface Nodes {
  /** From the API server, past every cache and whatever its labels are; undefined when there is none of this name. */
  read(name: string, signal: AbortSignal): Promise<Answer<NodeRecord | undefined>>;
  /** The nodes that have the label winpool.dev/pool of this pool and do not say that they run Windows: no watch brings them. */
  outside(pool: string, signal: AbortSignal): Promise<Answer<readonly NodeRecord[]>>;
  /** Sets one label, only on the very node that was observed (its uid is a precondition). */
  setLabel(node: NodeRecord, key: string, value: string, signal: AbortSignal): Promise<Answer<void>>;
  /**
   * Sets and removes taints, by key and effect; the others stay as they are. Only on the very version of the node that was observed: the
   * trouble `conflict` when it changed since, because then the verdict on it may be another.
   */
  setTaints(
    node: NodeRecord,
    change: { readonly set: readonly Taint[]; readonly remove: readonly Taint[] },
    signal: AbortSignal,
  ): Promise<Answer<void>>;
  /** Writes labels, taints and record in one call, only on the very version of the node that was observed, as setTaints does. */
  setMarks(node: NodeRecord, marks: NodeMarks, signal: AbortSignal): Promise<Answer<void>>;
  /**
   * Writes the condition winpool.dev/Verified of the very node that was observed, or removes it. `now`, in epoch milliseconds, becomes its
   * time of transition where its status changes.
   */
  setVerified(
    node: NodeRecord,
    condition: NodeCondition | undefined,
    now: number,
    signal: AbortSignal,
  ): Promise<Answer<void>>;
}

/** A pod that eviction does not move from its node. */
export interface StuckPod {
  readonly namespace: string;
  readonly name: string;
  /**
   * The PodDisruptionBudgets in its way: one that allows no disruption, or several, with which the eviction API never evicts a pod. None: the
   * pod tolerates every taint, and its controller puts it back on the cordoned node.
   */
  readonly budgets: readonly string[];
}

export interface Evictions {
  /** The stuck pods on these nodes by namespace and name, from the API server: nothing is kept of pods. */
  stuckOn(nodes: readonly string[], signal: AbortSignal): Promise<Answer<readonly StuckPod[]>>;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: 'Equal' | 'Exists';
  readonly value?: string;
  readonly effect?: TaintEffect;
}

/** The parts of a RuntimeClass that the operator decides. */
export interface RuntimeClassWish {
  readonly name: string;
  readonly handler: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Toleration[];
  /** The annotation winpool.dev/image-builds: the builds of images that its nodes run. Empty when there is none. */
  readonly imageBuilds: string;
}

/** A RuntimeClass in the cluster. */
export interface RuntimeClass extends RuntimeClassWish {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleting: boolean;
  /** Whether a WindowsPool made it: the label `app.kubernetes.io/managed-by=windowspool-operator`. */
  readonly managed: boolean;
  /** Names and UIDs of the WindowsPools that own it. */
  readonly owners: readonly { readonly name: string; readonly uid: string }[];
}

export interface RuntimeClasses {
  /** From the cache. */
  get(name: string): RuntimeClass | undefined;
  /** Makes one that does not exist, owned by the pool; the trouble `conflict` when it does. */
  create(wish: RuntimeClassWish, pool: WindowsPool, signal: AbortSignal): Promise<Answer<void>>;
  /** Server-side apply with the pool's own field manager and owner reference, only on the object that was observed. */
  apply(wish: RuntimeClassWish, seen: RuntimeClass, pool: WindowsPool, signal: AbortSignal): Promise<Answer<void>>;
  /** Drops the pool's owner reference and field manager, so that the pool's end does not end the object. */
  release(seen: RuntimeClass, pool: WindowsPool, signal: AbortSignal): Promise<Answer<void>>;
  /** Deletes the very object that was observed. */
  delete(seen: RuntimeClass, signal: AbortSignal): Promise<Answer<void>>;
}

export interface Pools {
  /** From the cache. */
  get(name: string): WindowsPool | undefined;
  /** From the API server, past every cache; undefined when it is gone. */
  read(name: string, signal: AbortSignal): Promise<Answer<WindowsPool | undefined>>;
  /** All pools, from the API server, past every cache. */
  list(signal: AbortSignal): Promise<Answer<readonly WindowsPool[]>>;
  addFinalizer(pool: WindowsPool, signal: AbortSignal): Promise<Answer<WindowsPool>>;
  removeFinalizer(pool: WindowsPool, signal: AbortSignal): Promise<Answer<void>>;
  /** Replaces the status, only if nobody changed the pool since it was read. */
  writeStatus(pool: WindowsPool, status: WindowsPoolStatus, signal: AbortSignal): Promise<Answer<WindowsPool>>;
}

/** Kubernetes events about a pool. Never blocks and never fails a reconcile. */
export interface Events {
  publish(
    pool: WindowsPool,
    event: {
      readonly type: 'Normal' | 'Warning';
      readonly reason: string;
      readonly action: string;
      readonly message: string;
    },
  ): void;
}

/** What is shown of a pool as metrics; replaced at every report, dropped with the pool. */
export interface PoolMetrics {
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
  readonly nodes: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
  /** Kernel version -> nodes; at most 20 of them, and `other`. */
  readonly kernels: Readonly<Record<string, number>>;
  /** Nodes below verification.minimumRevision; undefined without one. */
  readonly belowMinimum: number | undefined;
  /** Prerequisites that are not met (`False`) or not known (`Unknown`). */
  readonly prerequisites: readonly { readonly reason: string; readonly status: string }[];
  readonly nodeGroupStatus: NodeGroupStatus | undefined;
  /** Fields that only people put right, by part: label, taint, scaling, tag, version, release, update. */
  readonly drift: Readonly<Record<string, number>>;
}

export interface Metrics {
  show(pool: string, metrics: PoolMetrics): void;
  /** Counts fields that the operator put right although no change of the spec asked for it, by part. */
  corrected(pool: string, fields: Readonly<Record<string, number>>): void;
  drop(pool: string): void;
}
