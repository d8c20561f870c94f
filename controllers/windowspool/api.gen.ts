/* Generated from crds/windowspools.yaml by `make generate`. Do not edit. */

/**
 * A pool of Windows nodes that is provisioned, schedulable and verified. The operator creates an EKS managed node group for it and keeps it, creates a RuntimeClass that puts pods on the right Windows build, and checks the kernel build and patch level of every node before it counts the node. Read the pool's conditions first: each message names the object and the next move.
 */
export interface WindowsPool {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: WindowsPoolSpec;
  status?: WindowsPoolStatus;
}
export interface ObjectMeta {
  name: string;
  uid: string;
  resourceVersion: string;
  generation: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  finalizers?: string[];
  annotations?: {
    [k: string]: string;
  };
  labels?: {
    [k: string]: string;
  };
}
/**
 * What the pool shall be. It has nodeGroup, whose nodes EKS makes, or existingNodes, which something else made.
 */
export interface WindowsPoolSpec {
  /**
   * The Windows Server version of every node: Windows2019 is build 10.0.17763, Windows2022 is 10.0.20348, Windows2025 is 10.0.26100. Container images must be of the same build (see runtimeClass.imageCompatibility). It cannot change: another version is another pool.
   */
  windowsVersion: 'Windows2019' | 'Windows2022' | 'Windows2025';
  nodeGroup?: NodeGroupSpec;
  existingNodes?: ExistingNodesSpec;
  scaling?: ScalingSpec;
  labels?: NodeLabels;
  /**
   * Taints for every node of the pool, beside the registration taint.
   */
  taints?: TaintSpec[];
  /**
   * Whether nodes register with the taint os=windows:NoSchedule, which keeps Linux pods away. Pods that use the pool's RuntimeClass tolerate it.
   */
  registrationTaint: boolean;
  verification: VerificationSpec;
  disruption?: DisruptionSpec;
  remediation?: RemediationSpec;
  runtimeClass: RuntimeClassSpec;
  /**
   * What happens when the node group differs from the spec and no change of the spec made that: somebody edited the group, or it was adopted so. Correct: it is put right. Report: condition UpToDate and status.pendingSteps say so. A change of the spec is always carried out. Only what the spec says is compared: labels, taints and tags of others are left alone, and so is the size.
   */
  driftPolicy: 'Correct' | 'Report';
  /**
   * What happens to the node group when the pool is deleted. Delete: it is deleted with its nodes. Retain: it stays with its nodes; the labels, taints and tags under winpool.dev are taken from it, all else is kept. Existing nodes are never ended: with Delete they get back what they had, with Retain they keep the labels and taints of the pool. May be changed while a deletion is stuck.
   */
  deletionPolicy: 'Delete' | 'Retain';
  /**
   * Stops all changes to AWS, nodes and the RuntimeClass, not observation: status.pendingSteps says what would be done. The annotation winpool.dev/paused does the same, with any value but "false". A paused pool that is deleted waits until it is resumed.
   */
  paused: boolean;
}
/**
 * The EKS managed node group. EKS cannot change its name, edition, role, subnets, instance types, capacity type, disk size and launch template (but its version), so they cannot change while the group exists, except after its creation failed.
 */
export interface NodeGroupSpec {
  /**
   * Name of the node group in EKS. Default: the name of the pool.
   */
  name?: string;
  /**
   * Windows Server edition: Core, or Full with the desktop. With windowsVersion it is the AMI type of EKS.
   */
  edition: 'Core' | 'Full';
  /**
   * ARN of the IAM role of the nodes. Use a role that no Linux node group uses: its access entry in EKS must be of type EC2_WINDOWS.
   */
  nodeRoleArn: string;
  /**
   * Whether the operator creates a missing access entry of the node role, of type EC2_WINDOWS, before the node group. With false, EKS creates it together with the group. An entry of another type is never changed, and the entry stays when the pool is deleted.
   */
  manageAccessEntry: boolean;
  /**
   * The subnets in which EKS starts the nodes.
   */
  subnets: Subnet[];
  /**
   * EC2 instance types, all of them x86_64. Default: m5.large, or what the launch template says; only one of them may name a type. A node runs at most as many pods as one network interface has addresses, less one: 9 on m5.large, 14 on m5.xlarge.
   */
  instanceTypes?: string[];
  /**
   * How EC2 capacity is bought.
   */
  capacityType: 'OnDemand' | 'Spot';
  /**
   * Size of the root disk in GiB. Default: 50. With a launch template the disk is described there. Windows images are large: many pools need more than the default.
   */
  diskSizeGiB?: number;
  launchTemplate?: LaunchTemplateSpec;
  /**
   * Whether a node group of this name that somebody else made becomes the pool's. Never: it is never changed. IfUnowned: if no other pool has it and its AMI is of windowsVersion, the tag winpool.dev/pool makes it the pool's, and nothing else changes at first; how it differs from the spec is shown in status.pendingSteps and follows driftPolicy. From then on it is the pool's like any other, and deletionPolicy decides about it.
   */
  adoption: 'Never' | 'IfUnowned';
  /**
   * The AMI release of the nodes, such as 1.35-2026.01.22: a Kubernetes minor version and a date. Another one is a rolling update: every node is replaced. EKS cannot go back to an older release. Without it, a new group starts with the newest one and keeps it.
   */
  releaseVersion?: string;
  /**
   * The Kubernetes minor version of the nodes, such as 1.35. It must not be newer than the cluster's. Another one is a rolling update to its newest AMI release, or to releaseVersion. Without it, a new group starts with the cluster's version and keeps it.
   */
  kubernetesVersion?: string;
  update: UpdateSpec;
  tags?: AwsTags;
}
export interface Subnet {
  /**
   * Id of the subnet, such as subnet-0123456789abcdef0.
   */
  id: string;
}
/**
 * A launch template of yours, for what the pool has no field for: disks, metadata options, tags of instances, security groups, user data. It must not hold what the pool says: AMI, subnets, instance profile, Spot; nor a shutdown behavior or hibernation. See docs/launch-templates.md.
 */
export interface LaunchTemplateSpec {
  /**
   * Id of the launch template, such as lt-0123456789abcdef0.
   */
  id?: string;
  /**
   * Name of the launch template.
   */
  name?: string;
  /**
   * A number, $Default or $Latest. Another number is a rolling update: every node is replaced. A version that $Default or $Latest comes to stand for follows update.policy: Manual only tells of it, Automatic moves to it.
   */
  version: number | string;
}
/**
 * When nodes get another Kubernetes version or AMI release, and how they are replaced then.
 */
export interface UpdateSpec {
  /**
   * Manual: nodes change when releaseVersion or kubernetesVersion do, and condition UpToDate tells of newer releases. Automatic: they follow the newest AMI release of kubernetesVersion, or else of the cluster's version, so an upgrade of the control plane brings them along. With releaseVersion set, nothing is automatic.
   */
  policy: 'Manual' | 'Automatic';
  /**
   * When automatic updates may begin. One that runs when its window ends goes on: EKS cannot stop it. Without any, they begin at any time. What you set yourself is never held back.
   */
  maintenanceWindows?: MaintenanceWindow[];
  /**
   * Whether pods that a PodDisruptionBudget protects are deleted when they are not gone after 15 minutes. Without it EKS gives up then, and the update fails with PodEvictionFailure.
   */
  force: boolean;
  /**
   * Default: new nodes join before old ones go, which needs room for them. Minimal: old nodes go first, where capacity is scarce or dear. Without it the group keeps what it has; a new one has Default.
   */
  strategy?: 'Default' | 'Minimal';
}
export interface MaintenanceWindow {
  /**
   * When the window begins, as cron says it: minute, hour, day of month, month, day of week. "0 2 * * SAT" is Saturdays at 2.
   */
  schedule: string;
  /**
   * How long it is open: 4h, 90m or 1h30m.
   */
  duration: string;
  /**
   * The time zone of the schedule, such as Europe/Berlin. Default: Etc/UTC.
   */
  timeZone?: string;
}
/**
 * AWS tags of the node group, beside those of the operator. EKS does not pass them on to the instances.
 */
export interface AwsTags {
  [k: string]: string;
}
/**
 * Nodes that something else made: a self-managed group, kops, AKS, GKE, OpenShift, machines on premises. They are verified like the nodes of a node group, get labels and taints of the pool, and get back what they had when they leave it. No node is ever ended, and AWS is not asked. A node belongs to the pool while it has the label kubernetes.io/os=windows, and the selector matches it or the ConfigMap lists it.
 */
export interface ExistingNodesSpec {
  instancesConfigMap?: InstancesConfigMap;
  selector?: NodeSelector;
}
/**
 * A ConfigMap in the format of OpenShift's windows-instances: each key is the IPv4 address or DNS name of a host, each value is username=NAME. It is watched. A key is compared with the addresses in the status of the nodes; the username is not used, because the operator logs in nowhere. The operator's own rights are for ConfigMaps named windows-instances; grant it others.
 */
export interface InstancesConfigMap {
  /**
   * Namespace of the ConfigMap.
   */
  namespace: string;
  /**
   * Name of the ConfigMap.
   */
  name: string;
}
/**
 * Which nodes, by their labels, as in any label selector of Kubernetes: all terms must hold. A kubelet can set most labels of its own node; it cannot set those under node-restriction.kubernetes.io/, so prefer these where nodes are not trusted.
 */
export interface NodeSelector {
  matchLabels?: MatchLabels;
  /**
   * Conditions on labels that a node must fulfil.
   */
  matchExpressions?: LabelRequirement[];
}
/**
 * Labels that a node must have with these values.
 */
export interface MatchLabels {
  [k: string]: string;
}
export interface LabelRequirement {
  /**
   * Key of the label.
   */
  key: string;
  /**
   * In: the node has the label with one of the values. NotIn: it has it with none of them, or not at all. Exists: it has the label. DoesNotExist: it has not.
   */
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /**
   * The values of In and NotIn.
   */
  values?: string[];
}
/**
 * The size of a pool with a node group.
 */
export interface ScalingSpec {
  /**
   * The fewest nodes. A pool with fewer verified nodes is not Ready. A new pool starts with this many.
   */
  min: number;
  /**
   * The most nodes.
   */
  max: number;
  /**
   * How many nodes to run now. Leave it out where an autoscaler decides. When set, it is sent to EKS once for each change you make, so that an autoscaler is not fought. EKS ignores PodDisruptionBudgets when it makes a group smaller.
   */
  desired?: number;
}
/**
 * Labels for every node of the pool, beside those of the operator.
 */
export interface NodeLabels {
  [k: string]: string;
}
export interface TaintSpec {
  /**
   * Key of the taint; EKS takes at most 63 characters, prefix included.
   */
  key: string;
  /**
   * Value of the taint.
   */
  value?: string;
  /**
   * What happens to pods that do not tolerate the taint.
   */
  effect: 'NoSchedule' | 'NoExecute' | 'PreferNoSchedule';
}
/**
 * How every node is checked before it is counted.
 */
export interface VerificationSpec {
  /**
   * What happens to a node that is not verified. Report: the pool says so, the node is left alone. Quarantine: a node that fails also gets the taint status-taint.cluster-autoscaler.kubernetes.io/winpool-quarantine with the reason as its value and effect NoSchedule, until it passes; pods that run there stay. Gate: as Quarantine, and nodes are born with the taint startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate:NoSchedule, which a node loses once it is verified: no pod that does not tolerate that is bound to a node before. Should EKS refuse that key, the taint is winpool.dev/unverified:NoSchedule.
   */
  policy: 'Report' | 'Quarantine' | 'Gate';
  /**
   * The patch floor: the least fourth number of the kernel version, 2340 in 10.0.20348.2340. An image that is newer than an under-patched host fails to start there.
   */
  minimumRevision?: number;
  /**
   * Warns of each node that reserves less memory for the system (capacity less allocatable), such as 2Gi. Omit it where you cannot configure the kubelet: nodes of a node group reserve 100 to 500 MiB, and EKS passes no kubelet arguments to its Windows AMIs.
   */
  minimumReservedMemory?: string;
  /**
   * Checks that warn instead of fail. A node that fails no other check counts as verified. Checks that always warn are not accepted.
   */
  warnOnly?: (
    | 'NotReady'
    | 'WrongArchitecture'
    | 'UnknownKernelVersion'
    | 'WrongBuild'
    | 'RevisionTooLow'
    | 'BuildLabelMismatch'
    | 'RegistrationTaintMissing'
    | 'WrongContainerRuntime'
    | 'RuntimeHandlerMissing'
    | 'KubeletVersionSkew'
    | 'NoPodAddresses'
  )[];
}
/**
 * How many nodes may be taken away at a time.
 */
export interface DisruptionSpec {
  /**
   * How many nodes a rolling update replaces at a time: a number from 1 to 100, or a percentage of the nodes such as 33%. Without it the group keeps what it has; a new one has 1. As many nodes may be out while nodes are replaced or removed by annotation; of existingNodes 1 without it.
   */
  maxUnavailable?: number | string;
  drain?: DrainSpec;
}
/**
 * How nodes are emptied that are replaced or removed by annotation. EKS drains the nodes of its own updates as nodeGroup.update says.
 */
export interface DrainSpec {
  /**
   * How long a node may take until it is empty: 15m, 2h or 1h30m. Then it stays, takes pods again, and its annotation gets the value timed-out.
   */
  timeout: string;
  /**
   * How long pods get to end: 90s, 5m or 1m30s. Without it each pod gets its own terminationGracePeriodSeconds.
   */
  gracePeriod?: string;
  /**
   * Whether pods with emptyDir volumes are evicted; what is in these volumes is lost. With false such a pod keeps its node.
   */
  deleteEmptyDirData: boolean;
  /**
   * Whether pods without a controller are evicted, which nobody makes anew. With false such a pod keeps its node.
   */
  evictBarePods: boolean;
}
/**
 * Replaces nodes that fail verification, in the way of the annotation winpool.dev/replace: one budget, drained first; and instances that never become nodes. Without it they are told of and stay. A node with the annotation winpool.dev/remediation, whatever its value, is not replaced. For existingNodes the condition NodesLeaving says which nodes these are, and nothing is done to them.
 */
export interface RemediationSpec {
  /**
   * How long a node has failed before it is replaced: 15m, 2h or 1h30m. The condition winpool.dev/Verified of the node says since when.
   */
  unhealthyAfter: string;
  /**
   * While more nodes than this fail, none of them is replaced, because the cause is hardly the nodes: a number from 1 to 100, or a percentage of the nodes, rounded down.
   */
  maxUnhealthy: number | string;
}
/**
 * The RuntimeClass that puts pods on nodes of this Windows build and tolerates their taint.
 */
export interface RuntimeClassSpec {
  /**
   * Whether the operator creates and keeps the RuntimeClass.
   */
  manage: boolean;
  /**
   * Version: one RuntimeClass, such as windows-2022, shared by the pools of a version; it ends with the last of them. Pool: one for this pool alone, which also selects the pool's label and tolerates the pool's own taints.
   */
  scope: 'Version' | 'Pool';
  /**
   * Name of the RuntimeClass, only with scope Pool. Default: the name of the pool.
   */
  name?: string;
  /**
   * The handler of containerd; another than the default only with scope Pool. runhcs-wcow-hypervisor is Hyper-V isolation, which needs metal hosts that are set up for it.
   */
  handler: string;
  /**
   * Which images the nodes run in process isolation. Strict: images of their own build, as on every Windows version. Relaxed, only with Windows2025 and scope Pool: images of Windows Server 2022, too, as Microsoft's compatibility table of 2025 has it. The RuntimeClass says so in its annotation winpool.dev/image-builds; where pods run does not change.
   */
  imageCompatibility: 'Strict' | 'Relaxed';
}
/**
 * What the pool is, as the operator sees it.
 */
export interface WindowsPoolStatus {
  /**
   * The generation of the spec that this status is about; -1 before the operator has seen the pool.
   */
  observedGeneration?: number;
  /**
   * Ready is the summary. NodeGroupReady, RuntimeClassReady, NodesVerified and PrerequisitesMet are its parts. UpToDate tells whether the node group is as the spec says. A pool of existing nodes has NodesFound in place of NodeGroupReady and UpToDate. NodesLeaving, Reconciling, Stalled and Paused are there only while they are true.
   */
  conditions?: Condition[];
  summary?: PoolSummary;
  nodes?: NodeCounts;
  /**
   * The kernel versions of the nodes, most nodes first, at most 20.
   */
  builds?: BuildCount[];
  revisions?: RevisionRange;
  /**
   * Nodes that fail a check, by name, at most 20; nodes.failing counts them all.
   */
  failingNodes?: FailingNode[];
  nodeGroup?: NodeGroupState;
  disruption?: DisruptionState;
  existingNodes?: ExistingNodesState;
  cluster?: ClusterState;
  runtimeClass?: RuntimeClassState;
  /**
   * What the operator would do if the pool were not paused, what it is about to do to a group that it just adopted, and what driftPolicy Report leaves to people.
   */
  pendingSteps?: string[];
}
export interface Condition {
  /**
   * Name of the condition.
   */
  type: string;
  /**
   * Whether it holds.
   */
  status: 'True' | 'False' | 'Unknown';
  /**
   * The generation of the spec that it is about.
   */
  observedGeneration?: number;
  /**
   * When the status last changed.
   */
  lastTransitionTime: string;
  /**
   * One word from the operator's catalogue of reasons.
   */
  reason: string;
  /**
   * What is so, about which object, and the next move.
   */
  message: string;
}
/**
 * Text for the columns of kubectl get.
 */
export interface PoolSummary {
  /**
   * Nodes that joined of nodes that EKS wants, such as 3/3; of existing nodes how many there are.
   */
  nodes?: string;
  /**
   * Nodes that pass every check of nodes that joined, such as 2/3.
   */
  verified?: string;
  /**
   * The kernel version of all nodes, or how many there are, such as 2 builds.
   */
  build?: string;
}
/**
 * How many nodes are in which state.
 */
export interface NodeCounts {
  /**
   * How many nodes EKS wants.
   */
  desired?: number;
  /**
   * How many have joined the cluster.
   */
  total?: number;
  /**
   * How many are Ready.
   */
  ready?: number;
  /**
   * How many are Ready and pass every check.
   */
  verified?: number;
  /**
   * How many joined a short while ago and are not complete yet.
   */
  joining?: number;
  /**
   * How many fail a check.
   */
  failing?: number;
  /**
   * How many have the taint of nodes that were not verified yet.
   */
  gated?: number;
  /**
   * How many have the taint of nodes that fail a check.
   */
  quarantined?: number;
}
export interface BuildCount {
  /**
   * The kernel version as the kubelet reports it.
   */
  kernelVersion: string;
  /**
   * How many nodes have it.
   */
  nodes: number;
}
/**
 * How far the patch levels of the nodes are apart. Only kernel versions with a revision count, such as 10.0.20348.2340.
 */
export interface RevisionRange {
  /**
   * The newest kernel version of a node.
   */
  newest?: string;
  /**
   * The oldest kernel version of a node.
   */
  oldest?: string;
  /**
   * How many nodes are below verification.minimumRevision or tell no revision, also where that only warns. Absent without a minimumRevision.
   */
  belowMinimum?: number;
}
export interface FailingNode {
  /**
   * Name of the Node.
   */
  name: string;
  /**
   * The first check that it fails.
   */
  reason: string;
  /**
   * What was found and what was expected.
   */
  message: string;
}
/**
 * The node group as EKS described it last.
 */
export interface NodeGroupState {
  /**
   * Its name in EKS.
   */
  name: string;
  /**
   * Its ARN; kept after the group is gone, to tell the next one from it.
   */
  arn?: string;
  /**
   * Its status in EKS, absent while there is none.
   */
  status?: string;
  /**
   * The AMI type.
   */
  amiType?: string;
  /**
   * The Kubernetes version of its AMI.
   */
  kubernetesVersion?: string;
  /**
   * The release of its AMI.
   */
  releaseVersion?: string;
  launchTemplate?: LaunchTemplateState;
  /**
   * The day of that release, such as 2026-01-22. AWS makes an AMI private about 4 months later: no node starts from it any more.
   */
  releaseDate?: string;
  /**
   * The newest release for nodeGroup.kubernetesVersion, or else for the version of the cluster.
   */
  latestReleaseVersion?: string;
  /**
   * The health issues that EKS reports.
   */
  healthIssues?: HealthIssueState[];
  /**
   * The EC2 scaling groups behind it.
   */
  autoScalingGroups?: string[];
  /**
   * Present while the group differs from the spec in what EKS cannot change; such fields of the spec may change then.
   */
  differs?: boolean;
  /**
   * The labels, taints, tags, bounds, versions and update settings of the group that are the operator's to keep, each with a digest of the value that it last was seen to have as the spec said it; "?" while a change of it is being sent. Others are left alone.
   */
  applied?: string[];
  /**
   * The tags of the scaling group that the operator set for the cluster-autoscaler because of the pool's own labels and taints, without their prefix k8s.io/cluster-autoscaler/node-template/.
   */
  scalingTags?: string[];
  /**
   * The value of scaling.desired that was last sent to EKS.
   */
  lastAppliedDesired?: number;
  update?: UpdateState;
  /**
   * The key of the gate's taint where it is another than the usual one, which EKS refused.
   */
  gateTaint?: string;
  failedTarget?: FailedTarget;
  /**
   * What failed before failedTarget and is still asked for: a release, say, and then a label.
   */
  moreFailedTargets?: FormerFailedTarget[];
}
/**
 * The user's launch template that the group was made from.
 */
export interface LaunchTemplateState {
  /**
   * Its id.
   */
  id: string;
  /**
   * Its name.
   */
  name: string;
  /**
   * The number of its version that the group has.
   */
  version: string;
  /**
   * The number that the version in the spec stands for; absent when EKS would not take it.
   */
  wantedVersion?: string;
}
export interface HealthIssueState {
  /**
   * EKS' code of the issue.
   */
  code: string;
  /**
   * EKS' words.
   */
  message: string;
  /**
   * The AWS resources it is about.
   */
  resourceIds?: string[];
}
/**
 * The operator's last update of the group.
 */
export interface UpdateState {
  /**
   * EKS' id of the update.
   */
  id: string;
  /**
   * EKS' type of the update.
   */
  type: string;
  /**
   * A hash of what was sent and what it was to reach.
   */
  target: string;
  /**
   * What was sent, in words.
   */
  change?: string;
  /**
   * The desired size that was sent, if any.
   */
  desired?: number;
  /**
   * EKS' status of the update.
   */
  status: string;
  /**
   * When EKS began it.
   */
  startedAt?: string;
  /**
   * EKS' words where the update failed.
   */
  errors?: string[];
}
/**
 * What EKS refused or failed to do. It is not tried again until the spec changes, or the annotation winpool.dev/retry gets another value; a creation also after a while.
 */
export interface FailedTarget {
  /**
   * A hash of what was wanted.
   */
  target: string;
  /**
   * The reason in the conditions.
   */
  reason: string;
  /**
   * AWS' words.
   */
  message: string;
  /**
   * When it failed.
   */
  time: string;
  /**
   * The value of the annotation winpool.dev/retry when it failed.
   */
  retry?: string;
}
export interface FormerFailedTarget {
  /**
   * A hash of what was wanted.
   */
  target: string;
  /**
   * The reason in the conditions.
   */
  reason: string;
  /**
   * AWS' words.
   */
  message: string;
  /**
   * When it failed.
   */
  time: string;
  /**
   * The value of the annotation winpool.dev/retry when it failed.
   */
  retry?: string;
}
/**
 * Present from before the pool loses its first node until it has its nodes again. No more pools than the operator's flag --max-pools-updating have it at a time, those aside whose nodes are all drained and left to what made them.
 */
export interface DisruptionState {
  /**
   * What takes the nodes away: Upgrade or NodeOperation.
   */
  cause: string;
  /**
   * A hash of what was wanted.
   */
  target?: string;
  /**
   * What is done, in words.
   */
  change?: string;
  /**
   * When the pool got its turn.
   */
  since: string;
  /**
   * The old nodes are gone, and the nodes are not all verified: the latest end of the wait for them.
   */
  settlesBy?: string;
  /**
   * Names of those of these nodes that are gone already: the last 20.
   */
  gone?: string[];
  /**
   * The nodes that go one by one, because of an annotation or of remediation.
   */
  nodes?: LeavingNode[];
}
export interface LeavingNode {
  /**
   * The node.
   */
  name: string;
  /**
   * Its UID; the id of the instance where that never became a node.
   */
  uid: string;
  /**
   * Its EC2 instance; empty for a node of existingNodes.
   */
  instance: string;
  /**
   * Replace; Remove, then the group gets smaller by it; or Remediate, because it failed.
   */
  operation: string;
  /**
   * When its drain began.
   */
  since: string;
  /**
   * When the end of its instance was asked for.
   */
  ended?: string;
  /**
   * When a node of existingNodes was found empty: it stays cordoned until what made it ends it.
   */
  drained?: string;
}
/**
 * What instancesConfigMap says that cannot be carried out. Absent where all of it can.
 */
export interface ExistingNodesState {
  /**
   * Addresses that no Windows node of the cluster has, at most 20.
   */
  unknownAddresses?: string[];
  /**
   * Entries that are not used, at most 20. The others are.
   */
  malformedEntries?: MalformedEntry[];
}
export interface MalformedEntry {
  /**
   * The key of the entry.
   */
  entry: string;
  /**
   * What is wrong with it.
   */
  message: string;
}
/**
 * The EKS cluster in which the node group was created. Another one later is refused.
 */
export interface ClusterState {
  /**
   * Its name in EKS.
   */
  name: string;
  /**
   * Its ARN.
   */
  arn: string;
}
/**
 * The RuntimeClass of the pool.
 */
export interface RuntimeClassState {
  /**
   * Its name: use it as runtimeClassName in pods.
   */
  name: string;
}
