/* Generated from crds/windowspools.yaml by `make generate`. Do not edit. */

/**
 * WindowsPool is a pool of Windows nodes that are provisioned, schedulable and verified. The operator creates an EKS managed node group and manages it throughout its lifecycle. It creates a RuntimeClass that schedules pods to the right Windows build, and verifies the kernel build and patch level of every node. To find out what is wrong with a pool, read its conditions: each message names the object, the cause and the next step.
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
 * Desired state of the pool. Set exactly one of nodeGroup (EKS creates the nodes), karpenter (Karpenter creates them when pods need them), machines (Cluster API or OpenShift creates them) and existingNodes (another tool created them).
 */
export interface WindowsPoolSpec {
  /**
   * Windows Server version of every node: Windows2019 is build 10.0.17763, Windows2022 is 10.0.20348, Windows2025 is 10.0.26100. With process isolation, container images must have the same build. Immutable: for another version, create another pool.
   */
  windowsVersion: 'Windows2019' | 'Windows2022' | 'Windows2025';
  nodeGroup?: NodeGroupSpec;
  karpenter?: KarpenterSpec;
  machines?: MachinesSpec;
  existingNodes?: ExistingNodesSpec;
  labels?: NodeLabels;
  /**
   * Taints of every node of the pool, in addition to the registration taint. NoExecute is not accepted, because it evicts running pods as soon as it is added.
   */
  taints?: TaintSpec[];
  /**
   * The taint with which nodes register, to keep Linux pods off Windows nodes. OSWindows: os=windows:NoSchedule. Pods that use the pool's RuntimeClass tolerate it. None: nodes register without this taint.
   */
  registrationTaint: 'OSWindows' | 'None';
  verification: VerificationSpec;
  disruption?: DisruptionSpec;
  remediation?: RemediationSpec;
  runtimeClass: RuntimeClassSpec;
  /**
   * What happens to the node group when the pool is deleted. Delete: the operator deletes it, and EKS terminates its nodes. Retain: the node group and its nodes stay. The operator removes its labels, taints and tags under winpool.dev and keeps everything else. Existing nodes are never terminated: Delete restores their original labels and taints, Retain keeps those of the pool. You can change this field while a deletion is in progress.
   */
  deletionPolicy: 'Delete' | 'Retain';
  /**
   * Pauses all changes to AWS, nodes and the RuntimeClass. The pool is still observed, and status.pendingSteps shows the changes that are due. The annotation winpool.dev/paused has the same effect, with any value except "false". The deletion of a paused pool waits until it is resumed.
   */
  paused: boolean;
}
/**
 * The EKS managed node group. EKS cannot change its name, edition, role, subnets, instance types, capacity type, diskSizeGiB and launch template. Therefore, these fields are immutable while the group exists, unless its creation failed or immutableChangePolicy is Replace. The name is always immutable. The version of the launch template can change. The launch settings are ami, kubelet, disk, metadataOptions, securityGroups, instanceTags and userData. If you set one of them, the operator creates a launch template for the pool, with secure defaults for the others: an encrypted gp3 root volume, and IMDSv2 with a hop limit of 1. A change of these settings replaces every node in a rolling update. Unless immutableChangePolicy is Replace, the first of them cannot be added to an existing group, and the last cannot be removed. See docs/how-to/launch-templates.md.
 */
export interface NodeGroupSpec {
  /**
   * Name of the node group in EKS. Default: the name of the pool.
   */
  name?: string;
  /**
   * Windows Server edition: Core, or Full with the desktop experience. Together with windowsVersion it determines the EKS AMI type.
   */
  edition: 'Core' | 'Full';
  /**
   * IAM role of the nodes: its name, or its ARN. A name works in every account: the operator derives the ARN from the partition and account of the EKS cluster. A role with a path needs its ARN. Use a role that no Linux node group uses, because its EKS access entry must have the type EC2_WINDOWS.
   */
  nodeRole: string;
  /**
   * What happens when you change a field that EKS cannot change on a node group: edition, nodeRole, subnets, instanceTypes, capacityType, diskSizeGiB, the first ami or kubelet, or another launchTemplate. Reject: the API server rejects the change. Replace: the operator creates a new node group beside the old one and waits until enough of its nodes are verified. Then it drains the nodes of the old node group within disruption.maxUnavailable, and deletes that node group.
   */
  immutableChangePolicy: 'Reject' | 'Replace';
  /**
   * Who creates a missing access entry for the node role. EKS: EKS creates it together with the node group, unless ami or kubelet is set. Operator: the operator creates it (type EC2_WINDOWS) before the node group. The operator never changes an existing entry, and does not delete the entry with the pool.
   */
  accessEntryManagement: 'EKS' | 'Operator';
  /**
   * Subnets in which EKS launches the nodes, selected by ID or by tags. The operator resolves tags when it creates the node group; status.nodeGroup.subnets shows the result. The operator reports a subnet that matches later, but does not use it, because EKS cannot change the subnets of a node group.
   */
  subnets: SubnetTerm[];
  scaling: ScalingSpec;
  warmPool?: WarmPoolSpec;
  /**
   * EC2 instance types, all of them x86_64. Default: m5.large, or the type in the launch template; set the type in only one of the two places. The number of pods on a node is limited by the addresses of one network interface, minus one: 9 on m5.large, 14 on m5.xlarge.
   */
  instanceTypes?: string[];
  /**
   * EC2 capacity type of the nodes.
   */
  capacityType: 'OnDemand' | 'Spot';
  ami?: AmiSpec;
  /**
   * Size of the root volume in GiB, for a node group without a launch template. Default: 50. It needs no permission for launch templates, but cannot change, and the volume is encrypted only if the account encrypts by default. For a disk that can change, set disk instead. Windows images are large, so many pools need more than the default.
   */
  diskSizeGiB?: number;
  disk?: DiskSpec;
  metadataOptions?: MetadataOptions;
  /**
   * Security groups of the nodes, selected by ID or by tags, in addition to the cluster security group. A launch setting. When other groups get the tags, update.policy decides: Manual reports it, Automatic updates to them. EC2 allows 5 groups by default.
   */
  securityGroups?: SecurityGroupTerm[];
  instanceTags?: InstanceTags;
  kubelet?: KubeletSpec;
  userData?: UserData;
  launchTemplate?: LaunchTemplateSpec;
  /**
   * Whether the pool adopts an existing node group of this name that it did not create. Never: the operator does not change the group. IfUnowned: if the group has the tag winpool.dev/adoptable-by with the name of this pool, and its AMI type matches windowsVersion (CUSTOM, if the operator created its launch template for a pool of this name), the operator sets the tag winpool.dev/pool on it. The operator must run with --enable-node-group-adoption. Then, status.pendingSteps shows the differences from the spec, and driftPolicy determines what happens to them. The operator manages an adopted group like any other, and deletionPolicy applies to it.
   */
  adoption: 'Never' | 'IfUnowned';
  /**
   * What the operator does when the node group differs from the spec although the spec did not change: another client edited the group, or the operator adopted it with differences. Correct: the operator reverts the group to the spec. Report: the condition UpToDate and status.pendingSteps show the differences. The operator always applies changes to the spec. It compares only what the spec sets, and ignores the size, and labels, taints and tags of other tools.
   */
  driftPolicy: 'Correct' | 'Report';
  /**
   * AMI release of the nodes: a Kubernetes minor version and a date, such as 1.35-2026.01.22. A change to another release starts a rolling update, which replaces every node. An older release rolls the nodes back, if EKS still offers it. If omitted, a new node group starts with the newest release and keeps it.
   */
  releaseVersion?: string;
  /**
   * Kubernetes minor version of the nodes, such as 1.35. It must not be newer than that of the cluster, nor more than three minor versions older. A change to another version starts a rolling update to its newest AMI release, or to releaseVersion. Before a rollback of the cluster, set the previous version. If omitted, a new node group starts with the version of the cluster and keeps it.
   */
  kubernetesVersion?: string;
  update: UpdateSpec;
  tags?: AwsTags;
}
export interface SubnetTerm {
  /**
   * ID of the subnet, such as subnet-0123456789abcdef0.
   */
  id?: string;
  tags?: SubnetTags;
}
/**
 * Tags that a subnet must have, all of them with these values, such as kubernetes.io/role/internal-elb: "1".
 */
export interface SubnetTags {
  [k: string]: string;
}
/**
 * Size of the node group.
 */
export interface ScalingSpec {
  /**
   * Minimum number of nodes. A pool with fewer verified nodes is not Ready. A new node group starts with this size.
   */
  minSize: number;
  /**
   * Maximum number of nodes.
   */
  maxSize: number;
  /**
   * Desired number of nodes. Omit it if an autoscaler sets the size. The operator sends it to EKS only when you change it, so that it does not conflict with an autoscaler. EKS ignores PodDisruptionBudgets when it shrinks a node group.
   */
  desiredSize?: number;
}
/**
 * Instances that have booted once and wait beside the node group, so that it grows faster. They are not nodes before the group takes them, and cost money. Without this field, the operator does not change a warm pool that the group has; when you remove the field, the operator removes the warm pool. See docs/how-to/scale.md.
 */
export interface WarmPoolSpec {
  /**
   * Minimum number of instances in the warm pool, even if maxGroupPreparedCapacity is reached.
   */
  minSize: number;
  /**
   * Maximum number of instances in the node group and the warm pool together. The size of the warm pool is this number minus the desired size of the node group. Default: scaling.maxSize, or minSize if that is greater.
   */
  maxGroupPreparedCapacity?: number;
  /**
   * State of the instances in the warm pool. Stopped: you pay for their volumes. Running: they start fastest, and cost as much as nodes. Hibernated: only with instance types and volumes that EC2 can hibernate.
   */
  poolState: 'Stopped' | 'Running' | 'Hibernated';
  /**
   * Whether instances return to the warm pool when the node group shrinks. Otherwise they are terminated.
   */
  reuseOnScaleIn: boolean;
}
/**
 * A custom AMI, built from an EKS-optimized Windows AMI, instead of one that EKS selects by windowsVersion and edition. A launch setting. The AMI must have the Windows version of windowsVersion; edition then has no effect. EKS does not configure such nodes: the operator writes their user data, with the labels and taints of the pool. Therefore, a change of labels, taints, registrationTaint or the gate replaces every node in a rolling update, and so does a change to another AMI. Not together with launchTemplate, releaseVersion, kubernetesVersion and warmPool. See docs/how-to/custom-amis.md.
 */
export interface AmiSpec {
  /**
   * ID of the AMI, such as ami-0123456789abcdef0.
   */
  id?: string;
  /**
   * Name of an SSM parameter whose value is the ID of the AMI, such as /windowspool/golden. A new node group starts with that AMI. When the value changes, update.policy decides: Manual reports it, Automatic updates to it in a maintenance window.
   */
  ssmParameter?: string;
}
export interface DiskSpec {
  /**
   * Size in GiB. It must not be smaller than the image of the AMI, which has 50 GiB.
   */
  sizeGiB: number;
  /**
   * EBS volume type.
   */
  type: 'gp3' | 'gp2' | 'io1' | 'io2';
  /**
   * I/O operations per second. Required for io1 and io2. Default for gp3: 3000.
   */
  iops?: number;
  /**
   * Throughput in MiB/s, only for gp3. Default: 125.
   */
  throughput?: number;
  /**
   * Whether the volume is encrypted. If false, the account decides whether it is encrypted by default.
   */
  encrypted: boolean;
  /**
   * KMS key that encrypts the volume: an ARN, a key ID or an alias. Default: the EBS key of the account. The key policy must allow the service-linked role of EC2 Auto Scaling to use the key.
   */
  kmsKeyID?: string;
}
export interface MetadataOptions {
  /**
   * Required: only IMDSv2, which needs a session token. Optional: IMDSv1 as well.
   */
  httpTokens: 'Required' | 'Optional';
  /**
   * Number of network hops of a response with a session token. AWS recommends 1, so that pods that do not use the network of the host cannot read the credentials of the node role. Such pods that need the instance metadata need 2.
   */
  httpPutResponseHopLimit: number;
}
export interface SecurityGroupTerm {
  /**
   * ID of the security group, such as sg-0123456789abcdef0.
   */
  id?: string;
  tags?: SecurityGroupTags;
}
/**
 * Tags that a security group must have, all of them with these values.
 */
export interface SecurityGroupTags {
  [k: string]: string;
}
/**
 * AWS tags of the EC2 instances and their volumes. A launch setting.
 */
export interface InstanceTags {
  [k: string]: string;
}
/**
 * Settings of the kubelet. A launch setting. EKS passes none to the AMIs that it selects: without ami, the operator therefore selects the newest EKS-optimized AMI for the version of the cluster, with the limits of a custom AMI. When EKS publishes another one, update.policy decides. Windows has no OOM killer: reserve at least 2Gi of memory for the system. A change replaces every node in a rolling update. A node whose kubelet has other settings gets a warning. See docs/how-to/custom-amis.md.
 */
export interface KubeletSpec {
  systemReserved?: SystemReserved;
  kubeReserved?: KubeReserved;
  evictionHard?: EvictionThresholds;
  /**
   * Maximum number of pods on a node. Default: 110. The IP addresses of a node may allow fewer.
   */
  maxPods?: number;
  extraArgs?: KubeletArguments;
}
/**
 * Resources that pods cannot request, for Windows and its services: cpu, memory and ephemeral-storage, such as memory: 2Gi. On Windows, the kubelet only subtracts them from the allocatable resources of the node: set memory limits on pods, too.
 */
export interface SystemReserved {
  [k: string]: string;
}
/**
 * Resources that pods cannot request, for the kubelet and containerd, in addition to systemReserved.
 */
export interface KubeReserved {
  [k: string]: string;
}
/**
 * Thresholds below which the kubelet evicts pods: memory.available, nodefs.available and imagefs.available, each a quantity or a percentage. If you set one of them, the operator passes the defaults of the kubelet for the others: 500Mi for memory.available and 10% for nodefs.available. On Windows, imagefs.available may have no effect, because newer kubelets do not measure it.
 */
export interface EvictionThresholds {
  [k: string]: string;
}
/**
 * Other arguments that tune the kubelet, without leading dashes, such as image-gc-high-threshold: "80". See docs/how-to/custom-amis.md. The operator does not check whether the kubelet of the AMI knows them: with an unknown one, nodes do not join.
 */
export interface KubeletArguments {
  [k: string]: string;
}
/**
 * A PowerShell script that nodes run once, as an administrator, when they start for the first time: for agents, or to join a domain. It is in a ConfigMap in the namespace of the operator, because only its administrators should run programs on all nodes. A launch setting. When the ConfigMap changes, update.policy decides: Manual reports it, Automatic updates the node group. User data is not confidential: read secrets with the node role. See docs/how-to/user-data.md.
 */
export interface UserData {
  /**
   * Name of the ConfigMap in the namespace of the operator.
   */
  configMap: string;
  /**
   * Key of the script in the data of the ConfigMap. Another key is a change of the spec, which is applied at once.
   */
  key: string;
  /**
   * Whether the script runs before or after the bootstrap, which starts the kubelet. If a script before the bootstrap throws an error, the node does not join the cluster. After the bootstrap, pods may already run. AfterBootstrap requires ami or kubelet, because EKS runs its own bootstrap last.
   */
  phase: 'BeforeBootstrap' | 'AfterBootstrap';
}
/**
 * Your launch template, for settings that have no field in the pool, such as additional disks. It replaces ami, kubelet, disk, metadataOptions, securityGroups, instanceTags and userData. It must not set what the pool sets (AMI, subnets, instance profile, Spot), nor a shutdown behavior or hibernation. See docs/how-to/launch-templates.md.
 */
export interface LaunchTemplateSpec {
  /**
   * ID of the launch template, such as lt-0123456789abcdef0.
   */
  id?: string;
  /**
   * Name of the launch template.
   */
  name?: string;
  /**
   * Version of the launch template: a number, $Default or $Latest. A change to another number starts a rolling update, which replaces every node. When $Default or $Latest resolves to another version, update.policy decides: Manual reports it, Automatic updates to it.
   */
  version: number | string;
}
/**
 * When EKS updates nodes to another Kubernetes version or AMI release, and how it replaces them.
 */
export interface UpdateSpec {
  /**
   * Manual: nodes are updated when you change releaseVersion or kubernetesVersion; the condition UpToDate reports newer releases. Automatic: nodes follow the newest AMI release of kubernetesVersion or, if that is omitted, of the version of the cluster, so they also follow an upgrade of the control plane. A node group that was rolled back is not updated to the Kubernetes version or release that it had. If releaseVersion is set, nothing is automatic.
   */
  policy: 'Manual' | 'Automatic';
  /**
   * When automatic updates may start. An update that is in progress when its window ends continues, because EKS cannot stop it. If omitted, automatic updates may start at any time. Updates that you request by changing a version in the spec do not wait for a window.
   */
  maintenanceWindows?: MaintenanceWindow[];
  /**
   * Whether EKS terminates a node even if it cannot evict all pods within 15 minutes, for example because of a PodDisruptionBudget. If false, the update then fails with PodEvictionFailure.
   */
  force: boolean;
  /**
   * Default: new nodes join before old ones are terminated, which needs additional capacity. Minimal: old nodes are terminated first. Use it if capacity is limited or expensive. If omitted, the node group keeps its setting. The default of a new node group is Default.
   */
  strategy?: 'Default' | 'Minimal';
  canary?: CanarySpec;
}
export interface MaintenanceWindow {
  /**
   * Start of the window as a cron expression: minute, hour, day of month, month, day of week. "0 2 * * SAT" is every Saturday at 02:00.
   */
  schedule: string;
  /**
   * Length of the window as a Go duration, such as 4h or 90m.
   */
  duration: string;
  /**
   * Time zone of the schedule, such as Europe/Berlin. Default: Etc/UTC.
   */
  timeZone?: string;
}
/**
 * Tries another AMI release, Kubernetes version, launch template version or custom AMI on a few nodes first. The operator creates a second, temporary node group with this version beside the node group of the pool. The node group of the pool is updated when the nodes of the canary have been verified for soakDuration. Then the operator drains and deletes the canary. If a node of the canary fails verification, does not join, or EKS cannot create the canary, the canary is deleted and the node group of the pool is not updated to this version. See docs/how-to/canary-updates.md.
 */
export interface CanarySpec {
  /**
   * Number of nodes of the canary, in addition to those of the node group. At most scaling.maxSize.
   */
  nodes: number;
  /**
   * How long all nodes of the canary must have been verified before the node group of the pool is updated, as a Go duration.
   */
  soakDuration: string;
}
/**
 * AWS tags of the node group, in addition to those of the operator. EKS does not propagate them to the instances; instanceTags sets tags there.
 */
export interface AwsTags {
  [k: string]: string;
}
/**
 * Nodes that Karpenter creates when pods need them. The operator keeps a NodePool with the name of the pool, verifies the nodes like those of a node group, and replaces a node by deleting its NodeClaim, which Karpenter then drains. A node belongs to the pool while a NodeClaim of the NodePool refers to it and both have the same provider ID. See docs/how-to/karpenter.md.
 */
export interface KarpenterSpec {
  nodeClass?: NodeClassSpec;
  nodeClassRef?: NodeClassReference;
  /**
   * Whether the pool adopts a NodePool and an EC2NodeClass of its name that it did not create. Never: the operator does not change them. IfUnowned: if the object has the annotation winpool.dev/adoptable-by with the name of this pool, the operator sets what the pool defines in it, and manages it like one that it created. status.pendingSteps of a paused pool shows the differences, and whether they replace every node.
   */
  adoption: 'Never' | 'IfUnowned';
  /**
   * Requirements of the NodePool, such as instance types, zones and capacity types. The operator adds the operating system, the architecture and the Windows build.
   */
  requirements?: NodeRequirement[];
  limits?: KarpenterLimits;
  /**
   * Karpenter tries NodePools with a higher weight first. If omitted, it is 0.
   */
  weight?: number;
  /**
   * When Karpenter replaces a node because of its age, such as 720h. This is not limited by disruption.maxUnavailable or maintenance windows. A change replaces every node.
   */
  expireAfter: string;
  /**
   * How long Karpenter drains a node before it deletes the pods that are left, even those that a PodDisruptionBudget protects. If omitted, it waits for them without a limit. A change replaces every node.
   */
  terminationGracePeriod?: string;
  consolidation: ConsolidationSpec;
  update?: KarpenterUpdateSpec;
}
/**
 * The EC2NodeClass of the nodes, which the operator creates with the name of the pool, and deletes with it. A change replaces every node, except that of the subnets, which replaces the nodes in other subnets.
 */
export interface NodeClassSpec {
  /**
   * Windows Server edition of the EKS-optimized AMI: Core, or Full with the desktop experience. With ami, it has no effect.
   */
  edition: 'Core' | 'Full';
  /**
   * Name of the IAM role of the nodes. It needs an access entry of the type EC2_WINDOWS in the EKS cluster.
   */
  role: string;
  /**
   * Subnets of the nodes, selected by ID or by tags.
   */
  subnets: SubnetTerm[];
  /**
   * Security groups of the nodes, selected by ID or by tags. Include the cluster security group, or one that is allowed to reach the cluster.
   */
  securityGroups: SecurityGroupTerm[];
  ami?: NodeClassAmi;
  disk?: DiskSpec;
  metadataOptions?: MetadataOptions;
  instanceTags?: InstanceTags1;
  kubelet?: NodeClassKubelet;
  userData?: NodeClassUserData;
}
/**
 * The AMI of the nodes, which must be EKS-optimized or built from such an AMI, and have the Windows version of windowsVersion. If omitted, it is the newest EKS-optimized AMI for windowsVersion, edition and the Kubernetes version of the cluster. The operator selects it by its ID, so that every node has the same one. A newer AMI replaces every node, in maintenance windows if there are any.
 */
export interface NodeClassAmi {
  /**
   * ID of the AMI, such as ami-0123456789abcdef0. It does not change until you change it.
   */
  id?: string;
  /**
   * Name of an SSM parameter whose value is the ID of the AMI, such as /windowspool/golden. The pool follows its value.
   */
  ssmParameter?: string;
}
/**
 * AWS tags of the EC2 instances and their volumes. A launch setting.
 */
export interface InstanceTags1 {
  [k: string]: string;
}
/**
 * Settings of the kubelet. Windows has no OOM killer, so reserve at least 2Gi of memory for the system.
 */
export interface NodeClassKubelet {
  systemReserved?: SystemReserved1;
  kubeReserved?: KubeReserved1;
  evictionHard?: EvictionThresholds1;
  /**
   * Maximum number of pods on a node. Default: 110. The IP addresses of a node may allow fewer.
   */
  maxPods?: number;
  /**
   * Maximum number of pods for each CPU core, if that is less than maxPods.
   */
  podsPerCore?: number;
  evictionSoft?: SoftEvictionThresholds;
  evictionSoftGracePeriod?: SoftEvictionGracePeriods;
  /**
   * Longest time in seconds that a pod gets to terminate when it is evicted because of evictionSoft.
   */
  evictionMaxPodGracePeriod?: number;
  /**
   * Disk usage above which the kubelet removes unused images. Default: 85.
   */
  imageGCHighThresholdPercent?: number;
  /**
   * Disk usage down to which the kubelet removes unused images. Default: 80.
   */
  imageGCLowThresholdPercent?: number;
  /**
   * Address of the DNS server of pods. Windows nodes use only the first one.
   */
  clusterDNS?: string[];
}
/**
 * Resources that pods cannot request, for Windows and its services: cpu, memory and ephemeral-storage, such as memory: 2Gi. On Windows, the kubelet only subtracts them from the allocatable resources of the node: set memory limits on pods, too.
 */
export interface SystemReserved1 {
  [k: string]: string;
}
/**
 * Resources that pods cannot request, for the kubelet and containerd, in addition to systemReserved.
 */
export interface KubeReserved1 {
  [k: string]: string;
}
/**
 * Thresholds below which the kubelet evicts pods: memory.available, nodefs.available and imagefs.available, each a quantity or a percentage. If you set one of them, the operator passes the defaults of the kubelet for the others: 500Mi for memory.available and 10% for nodefs.available. On Windows, imagefs.available may have no effect, because newer kubelets do not measure it.
 */
export interface EvictionThresholds1 {
  [k: string]: string;
}
/**
 * Thresholds below which the kubelet evicts pods after evictionSoftGracePeriod.
 */
export interface SoftEvictionThresholds {
  [k: string]: string;
}
/**
 * How long each threshold of evictionSoft is crossed before pods are evicted, such as 2m.
 */
export interface SoftEvictionGracePeriods {
  [k: string]: string;
}
/**
 * A PowerShell script that nodes run once, as an administrator, before they join the cluster. It is in a ConfigMap in the namespace of the operator, because only its administrators should run programs on all nodes. A change replaces every node. User data is not confidential: read secrets with the node role. See docs/how-to/user-data.md.
 */
export interface NodeClassUserData {
  /**
   * Name of the ConfigMap in the namespace of the operator.
   */
  configMap: string;
  /**
   * Key of the script in the data of the ConfigMap.
   */
  key: string;
}
/**
 * The node class of the nodes, such as an EC2NodeClass, which you own. Its AMI must have the build of windowsVersion. Immutable: for another node class, create another pool.
 */
export interface NodeClassReference {
  /**
   * API group of the node class, such as karpenter.k8s.aws.
   */
  group: string;
  /**
   * Kind of the node class, such as EC2NodeClass.
   */
  kind: string;
  /**
   * Name of the node class.
   */
  name: string;
}
export interface NodeRequirement {
  /**
   * Key of the label, such as node.kubernetes.io/instance-type.
   */
  key: string;
  /**
   * How the label is compared with the values.
   */
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt' | 'Gte' | 'Lte';
  /**
   * Values of the label. Gt, Lt, Gte and Lte take one number.
   */
  values?: string[];
  /**
   * How many different values Karpenter must be able to choose from.
   */
  minValues?: number;
}
/**
 * Most resources of all nodes, such as cpu, memory and nodes. If omitted, Karpenter creates as many nodes as pods need.
 */
export interface KarpenterLimits {
  [k: string]: number | string;
}
/**
 * When Karpenter removes nodes that pods do not need, or replaces them by cheaper ones.
 */
export interface ConsolidationSpec {
  /**
   * WhenEmpty: only nodes without pods. WhenEmptyOrUnderutilized: also nodes whose pods fit on others.
   */
  policy: 'WhenEmpty' | 'WhenEmptyOrUnderutilized';
  /**
   * How long after the last change of its pods a node may be consolidated. A new Windows node takes several minutes to start.
   */
  consolidateAfter: string;
}
/**
 * When Karpenter may replace nodes that differ from the NodePool or the node class, such as after a change of the AMI (drift).
 */
export interface KarpenterUpdateSpec {
  /**
   * When Karpenter may start to replace such nodes, at most disruption.maxUnavailable at a time. If omitted, it may start at any time. Nodes that you replace with the annotation winpool.dev/replace do not wait for a window.
   */
  maintenanceWindows?: MaintenanceWindow[];
}
/**
 * Machines that Cluster API or the Machine API of OpenShift creates. The operator verifies their nodes like those of a node group, and sets the pool's labels and taints on them. It replaces and removes a node by draining it and deleting its Machine. It does not call AWS for such a pool. A node belongs to the pool while a Machine of the object refers to it and both have the same provider ID. Set exactly one of ref (you or GitOps own the object) and template (the operator creates it).
 */
export interface MachinesSpec {
  ref?: MachineSetReference;
  template?: MachineSetTemplate;
  /**
   * Desired number of Machines. Omit it if an autoscaler or another tool sets the size. The operator writes it to the object only when you change it, so that it does not conflict with an autoscaler.
   */
  desiredSize?: number;
  update?: MachinesUpdateSpec;
}
/**
 * The object whose Machines the pool has. The operator does not create, change or delete it, except for its number of replicas. The version in apiVersion can change, everything else is immutable.
 */
export interface MachineSetReference {
  /**
   * The API of the object: cluster.x-k8s.io is Cluster API, machine.openshift.io is the Machine API of OpenShift.
   */
  apiVersion: 'cluster.x-k8s.io/v1beta2' | 'cluster.x-k8s.io/v1beta1' | 'machine.openshift.io/v1beta1';
  /**
   * Kind of the object. Only Cluster API has MachineDeployments and MachinePools. Nodes of a MachinePool are replaced only if its infrastructure provider creates Machines for them.
   */
  kind: 'MachineDeployment' | 'MachineSet' | 'MachinePool';
  /**
   * Namespace of the object.
   */
  namespace: string;
  /**
   * Name of the object.
   */
  name: string;
}
/**
 * The object whose Machines the pool has, like its manifest. The operator creates it, applies changes of this template to it, and deletes it with the pool, unless deletionPolicy is Retain. The version in apiVersion, labels, annotations and spec can change, everything else is immutable.
 */
export interface MachineSetTemplate {
  /**
   * The API of the object: cluster.x-k8s.io is Cluster API, machine.openshift.io is the Machine API of OpenShift.
   */
  apiVersion: 'cluster.x-k8s.io/v1beta2' | 'cluster.x-k8s.io/v1beta1' | 'machine.openshift.io/v1beta1';
  /**
   * Kind of the object. Only Cluster API has MachineDeployments and MachinePools.
   */
  kind: 'MachineDeployment' | 'MachineSet' | 'MachinePool';
  metadata: MachineSetMetadata;
  /**
   * Spec of the object, without replicas: machines.desiredSize has the number of Machines. Its API checks the fields.
   */
  spec: {
    [k: string]: unknown;
  };
  infrastructureTemplate?: InfrastructureTemplate;
}
/**
 * Metadata of the object.
 */
export interface MachineSetMetadata {
  /**
   * Namespace of the object.
   */
  namespace: string;
  /**
   * Name of the object. On Azure and vSphere, MachineSets of OpenShift have at most 9 characters.
   */
  name: string;
  /**
   * Labels of the object, in addition to those of the operator.
   */
  labels?: {
    [k: string]: string;
  };
  /**
   * Annotations of the object, such as those of the cluster-autoscaler.
   */
  annotations?: {
    [k: string]: string;
  };
}
/**
 * The machine template to which spec.template.spec.infrastructureRef refers. Such templates are immutable, so the operator creates another one for each change, sets infrastructureRef, and deletes those that are no longer used. Omit it if you own the template.
 */
export interface InfrastructureTemplate {
  /**
   * API of the template, such as infrastructure.cluster.x-k8s.io/v1beta1.
   */
  apiVersion: string;
  /**
   * Kind of the template, such as AzureMachineTemplate or VSphereMachineTemplate.
   */
  kind: string;
  /**
   * Spec of the template.
   */
  spec: {
    [k: string]: unknown;
  };
}
/**
 * When nodes of Machines that are made from an earlier template are replaced. It applies to a MachineDeployment with the strategy OnDelete: with another strategy, the controller of the Machines replaces them itself.
 */
export interface MachinesUpdateSpec {
  /**
   * Manual: you replace them, and the condition MachinesReady shows how many there are. Automatic: the operator replaces them within disruption.maxUnavailable. It waits until each new node is verified, and stops when one fails.
   */
  policy: 'Manual' | 'Automatic';
  /**
   * When the operator may start to replace a node. If omitted, it may start at any time. Nodes that you replace with the annotation winpool.dev/replace do not wait for a window.
   */
  maintenanceWindows?: MaintenanceWindow[];
}
/**
 * Nodes that another tool created: self-managed node groups, kOps, AKS, GKE, OpenShift, on-premises machines. The operator verifies them like the nodes of a node group, sets the pool's labels and taints on them, and restores the original values when they leave the pool. It never terminates such a node, and does not call AWS for it. A node belongs to the pool while it has the label kubernetes.io/os=windows and is matched by the selector or listed in the ConfigMap.
 */
export interface ExistingNodesSpec {
  instancesConfigMap?: InstancesConfigMap;
  selector?: NodeSelector;
}
/**
 * ConfigMap that lists hosts in the format of OpenShift's windows-instances: each key is the IPv4 address or DNS name of a host, each value is username=NAME. The operator watches it, and compares each key, and what it resolves to, with the addresses in the status of the nodes. It ignores the username, because it does not log in to hosts. By default the operator may only read ConfigMaps named windows-instances; grant it access to others.
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
 * Label selector for the nodes. All requirements must be met. A kubelet can set most labels of its own node, except those under node-restriction.kubernetes.io/: prefer these if you do not trust your nodes.
 */
export interface NodeSelector {
  matchLabels?: MatchLabels;
  /**
   * Label requirements that a node must meet.
   */
  matchExpressions?: LabelRequirement[];
}
/**
 * Labels that a node must have, with their values.
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
   * In: the node has the label with one of the values. NotIn: it has none of the values, or does not have the label. Exists: it has the label. DoesNotExist: it does not have the label.
   */
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /**
   * Values for In and NotIn.
   */
  values?: string[];
}
/**
 * Labels of every node of the pool, in addition to those of the operator.
 */
export interface NodeLabels {
  [k: string]: string;
}
export interface TaintSpec {
  /**
   * Key of the taint. EKS accepts at most 63 characters, including the prefix.
   */
  key: string;
  /**
   * Value of the taint.
   */
  value?: string;
  /**
   * Effect on pods that do not tolerate the taint.
   */
  effect: 'NoSchedule' | 'PreferNoSchedule';
}
/**
 * How the operator verifies nodes.
 */
export interface VerificationSpec {
  /**
   * What happens to a node that is not verified. Report: the pool reports it. Quarantine: a node that fails also gets the taint status-taint.cluster-autoscaler.kubernetes.io/winpool-quarantine:NoSchedule, with the reason as value, until it passes; running pods are not evicted. Gate: as Quarantine, and nodes register with the taint startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate:NoSchedule, which the operator removes once they are verified, so that no pod is scheduled to an unverified node. If EKS rejects that taint key, the taint is winpool.dev/unverified:NoSchedule.
   */
  policy: 'Report' | 'Quarantine' | 'Gate';
  /**
   * Leaves the gate to the Node Readiness Controller: nodes register with this taint (effect NoSchedule) instead of the operator's, and the operator never removes it from a node. Key of the taint of a NodeReadinessRule that requires the node condition winpool.dev/Verified to be True. Only with the policy Gate.
   */
  readinessTaint?: string;
  /**
   * Minimum patch level of the nodes: the fourth number of the kernel version (UBR), such as 2340 in 10.0.20348.2340. A container image that is newer than its host may fail to start.
   */
  minimumRevision?: number;
  /**
   * Memory that a node should reserve for the system (capacity minus allocatable), such as 2Gi. A node with less gets a warning. Omit it if you cannot configure the kubelet: nodes of a node group reserve 100 to 500 MiB, unless nodeGroup.kubelet sets more.
   */
  minimumReservedMemory?: string;
  /**
   * Checks that warn instead of failing the node. A node that fails no other check is verified. Checks that never fail a node are not accepted.
   */
  warnOnly?: (
    | 'NotReady'
    | 'NodeUnreadable'
    | 'WrongArchitecture'
    | 'UnknownKernelVersion'
    | 'WrongBuild'
    | 'RevisionTooLow'
    | 'BuildLabelMismatch'
    | 'RegistrationTaintMissing'
    | 'WrongContainerRuntime'
    | 'RuntimeHandlerMissing'
    | 'KubeletVersionSkew'
    | 'UnhealthyCondition'
    | 'RequiredConditionMissing'
    | 'ImagePullFailed'
    | 'ImagesMissing'
    | 'SmokeTestFailed'
    | 'SmokeTestPending'
    | 'NoPodAddresses'
  )[];
  /**
   * Images that a node must have before it is verified. With the policy Gate, no pod is scheduled to the node before. After --join-grace, a node without them fails. A node that has had them once stays verified when the kubelet removes them later. The kubelet reports the 50 largest images of a node.
   */
  requiredImages?: string[];
  imagePrePull?: ImagePrePullSpec;
  smokeTest?: SmokeTestSpec;
  /**
   * Conditions that a node must have before it is verified, for example one that an antivirus agent or a node problem detector sets. With the policy Gate, no pod is scheduled to the node before. After --join-grace, a node without them fails.
   */
  requiredConditions?: NodeConditionMatch[];
  /**
   * Conditions that make a node fail verification, such as DiskPressure=True of the kubelet, or KernelDeadlock=True of a node problem detector.
   */
  unhealthyConditions?: NodeConditionMatch1[];
}
/**
 * The operator pulls the images in requiredImages on each new node before the node is verified, one after the other, with pods in the namespace winpool-node-pods that tolerate the gate. Each pod runs cmd.exe /c exit and is deleted afterwards. To use the defaults, set {}.
 */
export interface ImagePrePullSpec {
  /**
   * How long the pull of one image may take, as a duration such as 30m. After that, it failed, and the operator tries it again later.
   */
  timeout: string;
  /**
   * Secrets with the credentials of registries. They must exist in the namespace of these pods, winpool-node-pods by default, and the flag --allowed-image-pull-secrets of the operator lists them.
   */
  imagePullSecrets?: ImagePullSecret[];
}
/**
 * A Secret in the namespace of these pods.
 */
export interface ImagePullSecret {
  /**
   * Name of the Secret.
   */
  name: string;
}
/**
 * The operator runs a pod on each new node before the node is verified, in the namespace winpool-node-pods. It checks that a pod starts, has an IP address, resolves names, and reaches a Service. A node whose test fails is not verified, and the operator repeats the test with a growing delay.
 */
export interface SmokeTestSpec {
  /**
   * Image of the pod, for the Windows version of the pool and with curl.exe, such as mcr.microsoft.com/windows/nanoserver:ltsc2022. If it is large, add it to requiredImages.
   */
  image: string;
  /**
   * URL of a Service, with its full name: Windows does not resolve kubernetes.default.svc. Change it if the domain of the cluster is not cluster.local. Any HTTP response passes, and certificates are not checked.
   */
  serviceURL: string;
  /**
   * How long one attempt may take, including the pull of the image, as a duration such as 10m.
   */
  timeout: string;
  /**
   * Secrets with the credentials of registries. They must exist in the namespace of these pods, winpool-node-pods by default, and the flag --allowed-image-pull-secrets of the operator lists them.
   */
  imagePullSecrets?: ImagePullSecret1[];
}
/**
 * A Secret in the namespace of these pods.
 */
export interface ImagePullSecret1 {
  /**
   * Name of the Secret.
   */
  name: string;
}
/**
 * A condition of the Node with a status.
 */
export interface NodeConditionMatch {
  /**
   * Type of the condition, such as DiskPressure.
   */
  type: string;
  /**
   * Status of the condition.
   */
  status: 'True' | 'False' | 'Unknown';
}
/**
 * A condition of the Node with a status.
 */
export interface NodeConditionMatch1 {
  /**
   * Type of the condition, such as DiskPressure.
   */
  type: string;
  /**
   * Status of the condition.
   */
  status: 'True' | 'False' | 'Unknown';
}
/**
 * Limits on how nodes are disrupted.
 */
export interface DisruptionSpec {
  /**
   * Maximum number of nodes that a rolling update replaces at a time: a number from 1 to 100, or a percentage such as 33%. The same limit applies to nodes that are replaced or removed by annotation. If omitted, the node group keeps its setting. The default of a new node group and of existingNodes is 1.
   */
  maxUnavailable?: number | string;
  drain?: DrainSpec;
}
/**
 * How the operator drains nodes that are replaced or removed by annotation, or remediated. In a rolling update, EKS drains the nodes; see nodeGroup.update.
 */
export interface DrainSpec {
  /**
   * How long a drain may take, as a Go duration such as 15m or 1h30m. After that, the node stays and is uncordoned, and its annotation gets the value timed-out.
   */
  timeout: string;
  /**
   * Grace period of evicted pods, as a Go duration such as 90s or 5m. Default: terminationGracePeriodSeconds of each pod.
   */
  gracePeriod?: string;
  /**
   * What happens to pods with emptyDir volumes. Evict: they are evicted, and the data in these volumes is lost. Block: the drain does not start while such a pod runs on the node.
   */
  podsWithEmptyDir: 'Evict' | 'Block';
  /**
   * What happens to pods that no controller recreates. Block: the drain does not start while such a pod runs on the node. Evict: they are evicted.
   */
  podsWithoutController: 'Block' | 'Evict';
}
/**
 * What happens to nodes that fail verification for longer than unhealthyAfter, and to instances that do not join as nodes. A node with the annotation winpool.dev/remediation is excluded, regardless of the value of the annotation.
 */
export interface RemediationSpec {
  /**
   * Report: the condition Disrupting names the nodes. Replace: the operator drains and replaces them as with the annotation winpool.dev/replace, within the disruption budget. For existingNodes, only Report is accepted.
   */
  policy: 'Report' | 'Replace';
  /**
   * How long a node must have failed verification, as a Go duration such as 15m or 1h30m. The condition winpool.dev/Verified of the node shows when it started to fail.
   */
  unhealthyAfter: string;
  /**
   * Maximum number of failing nodes: a number from 1 to 100, or a percentage of the nodes, rounded down. If more nodes fail, the operator replaces none of them, because the nodes are probably not the cause.
   */
  maxUnhealthy: number | string;
}
/**
 * The RuntimeClass that schedules pods to nodes of this Windows build and tolerates their taints. Without a name, the pool uses the RuntimeClass that all pools of its version share: windows-2019, windows-2022 or windows-2025.
 */
export interface RuntimeClassSpec {
  /**
   * Name of a RuntimeClass for this pool only. It also selects the label winpool.dev/pool of the pool, and tolerates the taints in spec.taints.
   */
  name?: string;
  /**
   * Handler in the containerd configuration. To set another handler, also set name. runhcs-wcow-hypervisor is Hyper-V isolation, which requires bare-metal hosts that are configured for it.
   */
  handler: string;
  /**
   * What happens to a RuntimeClass of this name that no pool created. If it fits, the pool uses it unchanged. If it does not fit, the value applies. Never: the condition RuntimeClassReady is False with the reason NotOwned. IfUnowned: if it selects Windows nodes and has the annotation winpool.dev/adoptable-by with the name of the pool, the operator deletes it and creates its own, because the handler of a RuntimeClass is immutable; running pods are not affected.
   */
  adoption: 'Never' | 'IfUnowned';
}
/**
 * Observed state of the pool.
 */
export interface WindowsPoolStatus {
  /**
   * The generation of the spec that this status is based on; -1 before the first reconciliation.
   */
  observedGeneration?: number;
  /**
   * Ready is the summary: whether pods can run on the pool. NodeGroupReady, RuntimeClassReady, NodesVerified and PrerequisitesMet are its parts. UpToDate shows whether the node group matches the spec. Instead of these two, a pool of Karpenter has NodePoolReady, a pool of machines has MachinesReady, and a pool of existingNodes has NodesFound. Disrupting, Reconciling, Stalled and Paused are present only while they are True, RemediationAllowed only while it is False.
   */
  conditions?: Condition[];
  summary?: PoolSummary;
  nodes?: NodeCounts;
  /**
   * Kernel versions of the nodes, the most frequent first, at most 20.
   */
  builds?: BuildCount[];
  revisions?: RevisionRange;
  /**
   * Nodes that fail a check, by name, at most 20; nodes.failing is the total.
   */
  failingNodes?: FailingNode[];
  /**
   * Checks that need attention. A check that is met has no entry. See docs/reference/checks.md and docs/reference/advice.md.
   */
  checks?: CheckState[];
  nodeGroup?: NodeGroupState;
  disruption?: DisruptionState;
  karpenter?: KarpenterStatus;
  machines?: MachinesState;
  existingNodes?: ExistingNodesState;
  cluster?: ClusterState;
  runtimeClass?: RuntimeClassState;
  /**
   * Changes that are due but not made.
   */
  pendingSteps?: PendingStep[];
  tracking?: Tracking;
}
export interface Condition {
  /**
   * Type of the condition.
   */
  type: string;
  /**
   * Status of the condition.
   */
  status: 'True' | 'False' | 'Unknown';
  /**
   * The generation of the spec that the condition is based on.
   */
  observedGeneration?: number;
  /**
   * When the status last changed.
   */
  lastTransitionTime: string;
  /**
   * A reason from the catalogue in docs/reference/reasons.md.
   */
  reason: string;
  /**
   * The object, the cause and the next step.
   */
  message: string;
}
/**
 * Text for the columns of kubectl get.
 */
export interface PoolSummary {
  /**
   * The reason of Ready, or Stalled: and the reason of Stalled if the pool is Ready, and Paused after a comma.
   */
  reason?: string;
  /**
   * Number of nodes that joined and desired size, such as 3/3; for existingNodes, only the number of nodes.
   */
  nodes?: string;
  /**
   * Number of verified nodes and of nodes that joined, such as 2/3.
   */
  verified?: string;
  /**
   * The kernel version of all nodes, or the number of different kernel versions, such as 2 builds.
   */
  build?: string;
}
/**
 * Number of nodes by state.
 */
export interface NodeCounts {
  /**
   * Desired size of the node group in EKS.
   */
  desired?: number;
  /**
   * Nodes that joined the cluster.
   */
  total?: number;
  /**
   * Nodes that are Ready.
   */
  ready?: number;
  /**
   * Nodes that are Ready and pass every check.
   */
  verified?: number;
  /**
   * Nodes that joined recently and do not pass every check yet.
   */
  joining?: number;
  /**
   * Nodes that fail a check.
   */
  failing?: number;
  /**
   * Nodes with the taint of unverified nodes (verification.policy Gate), or with a taint under readiness.k8s.io/.
   */
  gated?: number;
  /**
   * Nodes with the taint of failing nodes (verification.policy Quarantine or Gate).
   */
  quarantined?: number;
}
export interface BuildCount {
  /**
   * The kernel version that the kubelet reports.
   */
  kernelVersion: string;
  /**
   * Number of nodes with it.
   */
  nodes: number;
}
/**
 * Range of the patch levels of the nodes. Only kernel versions with a revision are compared, such as 10.0.20348.2340.
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
   * Number of nodes below verification.minimumRevision or without a revision, even if that check only warns. Absent if minimumRevision is not set.
   */
  belowMinimum?: number;
}
export interface FailingNode {
  /**
   * Name of the node.
   */
  name: string;
  /**
   * The first check that the node fails.
   */
  reason: string;
  /**
   * What the check found and what it expected.
   */
  message: string;
}
export interface CheckState {
  /**
   * Name of the check: its section in docs/reference/checks.md, such as windows-ipam, or, for advice, in docs/reference/advice.md.
   */
  name: string;
  /**
   * Required: while it is not met, it blocks the creation of the node group. Warning: it may cause problems. Advice: it would make the pool more robust, and does not affect a condition.
   */
  severity: 'Required' | 'Warning' | 'Advice';
  /**
   * NotMet: the message says how to fix it. Unknown: it could not be checked. Ignored: it is not met, and the annotation winpool.dev/ignore-prerequisites names it. Ignored advice has no entry.
   */
  status: 'NotMet' | 'Unknown' | 'Ignored';
  /**
   * The reason, such as WindowsIPAMDisabled. To ignore the check, add it to the annotation winpool.dev/ignore-prerequisites.
   */
  reason: string;
  /**
   * What the check found and how to fix it.
   */
  message: string;
}
/**
 * The node group as last described by EKS.
 */
export interface NodeGroupState {
  /**
   * Name in EKS.
   */
  name: string;
  /**
   * ARN of the group. It is kept after the group is deleted, to distinguish the next group from it.
   */
  arn?: string;
  /**
   * Status in EKS; absent if the group does not exist.
   */
  status?: string;
  /**
   * AMI type.
   */
  amiType?: string;
  /**
   * Kubernetes version of the AMI.
   */
  kubernetesVersion?: string;
  /**
   * AMI release, or the ID of the custom AMI.
   */
  releaseVersion?: string;
  /**
   * Date of the AMI release, such as 2026-01-22, or of the creation of the custom AMI. AWS makes an AMI release private about 4 months later; after that, no node can be launched from it.
   */
  releaseDate?: string;
  /**
   * Date around which AWS makes the AMI private, if the group uses an AMI of Amazon by its ID: the newest EKS-optimized one of a pool with kubelet and without ami, or one that ami selects.
   */
  privateDate?: string;
  /**
   * Date on which EC2 deprecates the custom AMI.
   */
  deprecationDate?: string;
  /**
   * The newest AMI release for nodeGroup.kubernetesVersion or, if that is omitted, for the version of the cluster. With ami.ssmParameter, the ID of the AMI in the parameter.
   */
  latestReleaseVersion?: string;
  /**
   * IDs of the subnets of the group.
   */
  subnets?: string[];
  launchTemplate?: LaunchTemplateState;
  /**
   * Health issues that EKS reports.
   */
  healthIssues?: HealthIssueState[];
  /**
   * Names of the EC2 Auto Scaling groups of the group.
   */
  autoScalingGroups?: string[];
  warmPool?: WarmPoolState;
  /**
   * Present while the group differs from the spec in fields that EKS cannot change; during this time, these fields can be changed in the spec.
   */
  differs?: boolean;
  rollback?: RollbackState;
  update?: UpdateState;
  replacement?: SecondNodeGroup;
  canary?: SecondNodeGroup;
  /**
   * Changes that EKS rejected or that failed. The operator does not retry them until the spec or the value of the annotation winpool.dev/retry changes. The operator also retries the creation of a group at intervals.
   */
  failedChanges?: FailedChange[];
}
/**
 * The launch template that the group was created from: yours, or the one that the operator created for the pool.
 */
export interface LaunchTemplateState {
  /**
   * ID of the launch template.
   */
  id: string;
  /**
   * Name of the launch template.
   */
  name: string;
  /**
   * Version number that the group has.
   */
  version: string;
  /**
   * Version number that the spec resolves to; absent if EKS would not accept it.
   */
  desiredVersion?: string;
}
export interface HealthIssueState {
  /**
   * Code of the issue in EKS.
   */
  code: string;
  /**
   * Message from EKS.
   */
  message: string;
  /**
   * The affected AWS resources.
   */
  resourceIds?: string[];
}
/**
 * The warm pool of the group; absent if it has none.
 */
export interface WarmPoolState {
  /**
   * Minimum number of instances in it.
   */
  minSize: number;
  /**
   * Maximum number of instances in the group and the warm pool together; absent: the maximum size of the group.
   */
  maxGroupPreparedCapacity?: number;
  /**
   * State of the instances in it.
   */
  poolState: string;
  /**
   * Whether instances return to the warm pool when the group shrinks.
   */
  reuseOnScaleIn: boolean;
  /**
   * Number of instances in it, as last read from EC2 Auto Scaling.
   */
  instances?: number;
}
/**
 * Present while the group has an older release than it had before. Automatic updates do not undo this, until the cluster has the Kubernetes version of the group or a newer one than the group had, 7 days have passed, or the value of the annotation winpool.dev/retry changes. The time and the cluster end only a rollback to another Kubernetes version.
 */
export interface RollbackState {
  /**
   * AMI release that the group had before.
   */
  from: string;
  /**
   * When the operator observed it.
   */
  time: string;
  /**
   * The value of the annotation winpool.dev/retry at that time.
   */
  retry?: string;
  /**
   * Since when EKS has reported a version of the cluster that ends this. It ends when later answers confirm the version.
   */
  clusterChangeTime?: string;
}
/**
 * The last update of the group that the operator started.
 */
export interface UpdateState {
  /**
   * ID of the update in EKS.
   */
  id: string;
  /**
   * Type of the update in EKS.
   */
  type: string;
  /**
   * Hash of the request and of the desired state.
   */
  target: string;
  /**
   * Hash of what an automatic update installs.
   */
  content?: string;
  /**
   * Description of the change.
   */
  change?: string;
  /**
   * The desired size in the request, if any.
   */
  desiredSize?: number;
  /**
   * Status of the update in EKS.
   */
  status: string;
  /**
   * When EKS started the update.
   */
  startedAt?: string;
  /**
   * Errors of a failed update, as reported by EKS.
   */
  errors?: string[];
}
export interface SecondNodeGroup {
  /**
   * Name in EKS of the second node group: the one that this one replaces, or the canary.
   */
  name: string;
  /**
   * How far it is. Creating: the new node group or the canary does not exist yet. Verifying: not enough of its nodes are verified. Soaking: all nodes of the canary are verified. Draining: the nodes of the old node group or of the canary leave, and then it is deleted. After the spec was reverted: Returning: nodes have left this node group, and not enough are verified. Cancelling: the other node group is drained next, which has never served the pool. Discarding: its nodes leave, and then it is deleted.
   */
  phase: 'Creating' | 'Verifying' | 'Soaking' | 'Cancelling' | 'Returning' | 'Draining' | 'Discarding';
  /**
   * When the replacement or the canary began.
   */
  startTime: string;
  /**
   * When the phase last changed.
   */
  lastTransitionTime: string;
  /**
   * ARN of the group.
   */
  arn?: string;
  /**
   * Last observed status in EKS.
   */
  status?: string;
  /**
   * Its nodes.
   */
  nodes?: number;
  /**
   * Since when EKS has not had the group.
   */
  absenceStartTime?: string;
  blocked?: BlockedNode;
  /**
   * Verified nodes of the canary.
   */
  verified?: number;
  /**
   * Hash of the version that the canary tries, and of the number of nodes.
   */
  target?: string;
  /**
   * Kubernetes version that the canary tries.
   */
  kubernetesVersion?: string;
  /**
   * AMI release that the canary tries, or the ID of the custom AMI.
   */
  releaseVersion?: string;
  /**
   * Version of the launch template that the canary tries, if it differs from that of the node group of the pool. With a custom AMI, the canary itself has another version, whose user data has its name.
   */
  templateVersion?: string;
}
/**
 * The last node that could not be drained. The operator retries.
 */
export interface BlockedNode {
  /**
   * Name of the node.
   */
  node: string;
  /**
   * What prevented the drain or the termination.
   */
  message: string;
  /**
   * When the operator gave up.
   */
  time: string;
}
export interface FailedChange {
  /**
   * Hash of the desired state, while the change is due.
   */
  target?: string;
  /**
   * Hash of what an automatic update installs. The entry stays when another update is due, and the operator does not repeat the update when the newest release, or the AMI in the parameter, is the same again.
   */
  content?: string;
  /**
   * The reason in the conditions.
   */
  reason: string;
  /**
   * What failed, and the cause as AWS reports it.
   */
  message: string;
  /**
   * What to do before a retry. Absent if AWS reports only the cause.
   */
  remedy?: string;
  /**
   * When it failed.
   */
  time: string;
  /**
   * The value of the annotation winpool.dev/retry when it failed.
   */
  retry?: string;
  release?: FailedRelease;
}
/**
 * A release, or a custom AMI, whose node on a canary failed a check that depends on the AMI alone. Automatic updates of other pools to it wait.
 */
export interface FailedRelease {
  /**
   * The release, or the ID of the AMI.
   */
  version: string;
  /**
   * Name of a node that failed.
   */
  node: string;
  /**
   * The check that it failed.
   */
  finding: string;
}
/**
 * Present while the pool disrupts nodes: from before the first node is terminated until all new nodes are verified or have failed. The flag --max-pools-updating limits the number of such pools, except those whose nodes are all drained and wait for their provisioner.
 */
export interface DisruptionState {
  /**
   * Update: EKS replaces the nodes. NodeReplacement: the operator drains nodes.
   */
  reason: 'Update' | 'NodeReplacement';
  /**
   * Hash of the desired state.
   */
  target?: string;
  /**
   * Description of the change.
   */
  change?: string;
  /**
   * When the disruption started.
   */
  startTime: string;
  /**
   * When the operator stops waiting for new nodes to be verified. Present after the old nodes are terminated.
   */
  deadline?: string;
  /**
   * Names of nodes that no longer exist, at most the last 20.
   */
  terminatedNodes?: string[];
  /**
   * Nodes that are replaced or removed.
   */
  nodes?: LeavingNode[];
}
export interface LeavingNode {
  /**
   * Name of the node.
   */
  name: string;
  /**
   * UID of the node, or the ID of an instance that did not join as a node.
   */
  uid: string;
  /**
   * ID of its EC2 instance; empty for machines and existingNodes.
   */
  instanceID: string;
  /**
   * Replace; Remove: the node group shrinks by one; DrainNodeGroup: the node group is replaced, or was a canary.
   */
  operation: 'Replace' | 'Remove' | 'DrainNodeGroup';
  /**
   * Unhealthy: spec.remediation replaces the node. Outdated: machines.update does, because its Machine is made from an earlier template. Otherwise absent.
   */
  reason?: 'Unhealthy' | 'Outdated';
  /**
   * When its drain started.
   */
  startTime: string;
  /**
   * When the operator recorded that it would request the termination of its instance. Removed if AWS rejects the request.
   */
  terminationRequestTime?: string;
  /**
   * When AWS accepted the request to terminate its instance.
   */
  terminationAcceptedTime?: string;
  /**
   * When a node of existingNodes was drained: it stays cordoned until its provisioner terminates it.
   */
  drainedTime?: string;
}
/**
 * The NodeClaims of the NodePool. Absent while they are not known.
 */
export interface KarpenterStatus {
  /**
   * NodeClaims that exist and are not being deleted.
   */
  nodeClaims?: number;
  /**
   * NodeClaims whose node has not registered yet.
   */
  withoutNode?: number;
  /**
   * NodeClaims that are being deleted.
   */
  deleting?: number;
  /**
   * NodeClaims that differ from the NodePool or the node class, and that Karpenter replaces.
   */
  drifted?: number;
}
/**
 * The Machines of the object in spec.machines.ref. Absent while they are not known.
 */
export interface MachinesState {
  /**
   * Desired number of Machines in the object.
   */
  replicas?: number;
  /**
   * Machines that exist and are not being deleted.
   */
  total?: number;
  /**
   * Machines that have no node yet.
   */
  withoutNode?: number;
  /**
   * Machines that are being deleted.
   */
  deleting?: number;
  /**
   * Machines that are made from an earlier template of the object.
   */
  outdated?: number;
  /**
   * Kind and name of the infrastructure template of new Machines, such as AzureMachineTemplate/windows-1. Absent for OpenShift.
   */
  infrastructureTemplate?: string;
  failedTemplate?: FailedTemplate;
}
/**
 * A node that was created from infrastructureTemplate and fails a check that depends on the image alone. Automatic rollouts of that template in other pools wait. Absent if there is none.
 */
export interface FailedTemplate {
  /**
   * Name of the node.
   */
  node: string;
  /**
   * The check that it failed.
   */
  finding: string;
}
/**
 * Errors in the ConfigMap of instancesConfigMap. Absent if there are none.
 */
export interface ExistingNodesState {
  /**
   * Addresses that no Windows node of the cluster has, at most 20.
   */
  unknownAddresses?: string[];
  /**
   * Entries that are invalid and ignored, at most 20.
   */
  malformedEntries?: MalformedEntry[];
}
export interface MalformedEntry {
  /**
   * Key of the entry.
   */
  entry: string;
  /**
   * What is wrong with it.
   */
  message: string;
}
/**
 * The EKS cluster in which the node group was created. The pool does not manage a group in another cluster.
 */
export interface ClusterState {
  /**
   * Name of the cluster.
   */
  name: string;
  /**
   * ARN of the cluster.
   */
  arn: string;
}
/**
 * The RuntimeClass of the pool.
 */
export interface RuntimeClassState {
  /**
   * Name of the RuntimeClass: the runtimeClassName of pods.
   */
  name: string;
}
export interface PendingStep {
  /**
   * What the operator would do.
   */
  description: string;
  /**
   * Why the operator does not make the change. Paused: the pool is paused. Adopting: the operator adopts the node group first. UpdatePending: the operator writes the launch template first. Drifted: nodeGroup.driftPolicy is Report.
   */
  reason: string;
}
/**
 * What the operator tracks between reconciliations. Not part of the API; it can change in any release.
 */
export interface Tracking {
  /**
   * The fields of the node group that the operator manages, each with a digest of its value when it last matched the spec. The digest is "?" while a change is being sent.
   */
  applied?: string[];
  /**
   * The same for the node group that is being replaced.
   */
  secondApplied?: string[];
  /**
   * Tags for the cluster-autoscaler that the operator set on the Auto Scaling group for the labels and taints of the pool, without the prefix k8s.io/cluster-autoscaler/node-template/.
   */
  scalingTags?: string[];
  /**
   * Labels and taints of existing nodes that the spec sets or has set, and that the operator may remove from nodes. The record on a node is not trusted for anything else.
   */
  marks?: string[];
  /**
   * Name of the launch template that the operator created, or is about to create, for the pool.
   */
  ownTemplate?: string;
  /**
   * The generation of the pool and the number of MachineSets when unused infrastructure templates were last deleted, or Deleted.
   */
  usedMachineTemplate?: string;
  /**
   * The desiredSize that was last sent to EKS, or to the object of the machines.
   */
  lastAppliedDesiredSize?: number;
  /**
   * The key of the gate taint if EKS rejected the default key.
   */
  gateTaint?: string;
  /**
   * When the pool was Ready for the first time.
   */
  firstReadyTime?: string;
  /**
   * Whether the pool was Ready.
   */
  ready?: boolean;
  /**
   * Since when nodes have been joining, while none fails.
   */
  joiningSince?: string;
  /**
   * Whether nodes were missing for longer than --join-grace.
   */
  nodesMissing?: boolean;
  prerequisites?: PrerequisitesRecord;
}
/**
 * What PrerequisitesMet reported last. Absent if all prerequisites were met, without a remark.
 */
export interface PrerequisitesRecord {
  /**
   * NotMet: a prerequisite was not met, or could not be checked. Remarked: all were met, with warnings or ignored ones. ReadDenied: facts could not be read without a permission. Denied: a call was denied that the pool needs. Unavailable: AWS could not be reached.
   */
  result?: 'NotMet' | 'Remarked' | 'ReadDenied' | 'Denied' | 'Unavailable';
  /**
   * Since when the condition has had its status, unless it was True.
   */
  since?: string;
  /**
   * Hash of what an event reported: warnings, ignored prerequisites, errors in the annotation.
   */
  remarks?: string;
}
