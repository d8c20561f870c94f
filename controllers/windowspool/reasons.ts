/** The catalogue of reasons. Conditions, events, metrics and the table in the docs use it: a reason that is not here cannot be reported. */

/** Reasons of node verification. Those that can fail a node are the values of spec.verification.warnOnly. */
const nodeChecks = {
  WrongArchitecture: 'A node is not x86_64. Check the instance types of the node group.',
  UnknownKernelVersion:
    'A node reports a kernel version that is no Windows build. Look at the node; nothing can be verified until it is known.',
  WrongBuild:
    'A node runs another Windows build than the pool. Its pods fail with 0xc0370101. Replace the node and check the AMI.',
  RevisionTooLow:
    'A node is patched less than verification.minimumRevision. Newer images fail there with 0xc0370106. Move to a newer AMI release.',
  BuildLabelMismatch:
    'The label node.kubernetes.io/windows-build differs from the kernel. The operator corrects it; while paused, resume the pool.',
  RegistrationTaintMissing:
    'A node lacks the taint os=windows:NoSchedule. Linux pods may land on it. Replace the node.',
  WrongContainerRuntime: 'A node does not run containerd. Check the AMI of the node group.',
  RuntimeHandlerMissing:
    'A node reports the handlers of its container runtime, and the one of the RuntimeClass is not among them: its pods fail there. Check runtimeClass.handler and the configuration of containerd.',
  KubeletVersionSkew:
    'The kubelet is newer than the API server or more than three minor versions older. Upgrade the older of the two.',
  NotReady:
    'A node is not Ready for longer than it may take to join. Look at its kubelet, and at kube-proxy: its role may lack rights.',
  NoPodAddresses: 'A node has no addresses for pods. Enable Windows IPAM in the VPC CNI (enable-windows-ipam).',
  ArrivedUngated:
    'A warning: a node joined without the taint of the gate, so pods may have come before it was verified. Of existingNodes: let its kubelet register with the taint. In a node group EKS added the taint late: check the pods on the node.',
  ForeignTaint:
    'A warning: a node has a taint of somebody else where the pool has one with another value. It is left as it is. Change one of the two.',
  UnsupportedWindowsVersion:
    'A warning: the Kubernetes project does not support the kubelet of a node of existingNodes on its Windows version. Move to a supported pair, or ask the vendor of the node image.',
  LittleReservedMemory:
    'A warning: a node reserves less memory for the system than verification.minimumReservedMemory. Set memory limits on its pods; where you configure the kubelet, raise systemReserved.',
} as const;

/** Reasons of the checks before a node group is created. docs/prerequisites.md has a section for each. */
const prerequisites = {
  ClusterNotActive:
    'EKS makes no node group while its cluster is not ACTIVE. Wait, or look at the health of the cluster.',
  UnsupportedIPFamily: 'The EKS cluster is not of IP family ipv4, which Windows nodes need. Use another cluster.',
  UnsupportedRegion:
    'A warning: EKS documents Windows node groups for the commercial Regions only. When EKS refuses the group, use existingNodes.',
  AutoModeUnsupported:
    'The EKS cluster runs in Auto Mode, whose own nodes cannot run Windows. The node group of the pool can, and needs the vpc-cni add-on: install it. With the add-on this is a warning.',
  UnsupportedVersion:
    'The Kubernetes version of the nodes does not go with the Windows version of the pool, or EKS publishes no AMI for both. The message says which to change. A warning where only the Kubernetes project does not support the pair.',
  NoLinuxNode: 'The cluster has no Linux node that takes pods. CoreDNS runs nowhere else. Add one.',
  WindowsIPAMDisabled:
    'Windows IPAM is off, so pods get no addresses. Switch it on where the message says: in the vpc-cni add-on, or in ConfigMap amazon-vpc-cni.',
  LegacyResourceController:
    'The old vpc-resource-controller runs in the cluster and disables the one of EKS. Delete its Deployment.',
  ClusterRolePolicyMissing:
    'The IAM role of the cluster does not have the policy AmazonEKSVPCResourceController. Unless another policy grants the same, pods get no addresses. Attach it.',
  PodWebhookMissing:
    'The webhook is missing that requests an address for each Windows pod. Windows pods without such a request get no address. Restore it.',
  NodeAccessWrong:
    'The access of the node role is not that of Windows nodes, or EKS did not create it. Give it an access entry of type EC2_WINDOWS, or the groups in aws-auth.',
  NodeRoleShared:
    'Linux node groups use the node role, too. An access entry fits one operating system; under aws-auth it is a warning. Create the pool with a role of its own.',
  LaunchTemplateNotFound: 'EC2 knows no such version of the launch template. Put nodeGroup.launchTemplate right.',
  LaunchTemplateUnfit:
    'EKS takes no launch template with these settings. Make a version without what the message names; $Latest and $Default follow.',
  InstanceTypeUnsupported: 'An instance type does not exist or cannot run Windows pods. Name another one.',
  SubnetNotFound: 'A subnet of the pool does not exist. Put nodeGroup.subnets right.',
  InstanceTypeNotOffered:
    "EC2 does not offer the pool's instance types in the zones of its subnets. Use other subnets or other types.",
  TooFewAddresses:
    'The subnets have too few free addresses for scaling.desired or scaling.min nodes. Add a subnet, or lower the size. A warning where only scaling.max nodes have too few.',
} as const;

const others = {
  AllVerified: 'Every node passes every check.',
  NoNodes: 'The pool has no nodes and wants none.',
  Joining: 'Nodes are on their way. Nothing to do unless it takes longer than the join grace.',
  MembershipLabelRemoved:
    'Nodes lost the label eks.amazonaws.com/nodegroup or kubernetes.io/os, or have another value in it, so they are not counted. Put it back, or terminate their instances.',
  WrongOperatingSystem:
    'An instance of the node group joined as a node that does not run Windows. Terminate it, and check the AMI in the launch template of the scaling group.',
  NodesMissing: 'Instances run, or should run, but have not joined. Look at the instances named in the message.',
  NodesFailing: 'Nodes fail different checks. status.failingNodes has one line for each.',
  ChecksPassed: 'The node passes every enforced check: its condition winpool.dev/Verified is True.',
  Verified: 'The pool has the verified nodes that it must have.',

  NodesFound: 'The pool has the nodes that spec.existingNodes says.',
  NoNodesFound:
    'No Windows node is as spec.existingNodes says. Compare it with the labels and addresses of your nodes; a node must have kubernetes.io/os=windows.',
  InstancesUnknown:
    'The ConfigMap of existingNodes could not be read, so the pool keeps the nodes that it has. Grant the right in the message, or wait.',
  InstancesMissing:
    'There is no such ConfigMap as existingNodes.instancesConfigMap names, so it lists no node. Make it, or put namespace and name right.',
  MalformedInstances:
    'Entries of the ConfigMap of existingNodes are not used, because they are no addresses with username=NAME. status.existingNodes has them; the others are used.',
  UnknownAddresses:
    'Addresses in the ConfigMap of existingNodes belong to no Windows node. status.existingNodes has them. Wait for the nodes to join, or correct the addresses.',
  ClaimedByAnother:
    'A node that spec.existingNodes names belongs to another pool, the first that had it. Narrow the selector of one of the two, or delete one pool.',
  MarksUndone:
    'Something else keeps changing labels or taints that the pool sets on a node. The pool does not fight: it waits a minute. Take these keys from the pool, or from what sets them.',
  Releasing: 'The pool is deleted, and its nodes get back the labels and taints that they had.',

  Active: 'The node group is ACTIVE.',
  Creating: 'The node group is being created. EKS takes some minutes.',
  Updating: 'EKS is updating the node group.',
  Degraded: 'EKS reports health issues of the node group. The message quotes them.',
  CreateFailed:
    'EKS could not create the node group. Mend the cause in the message; it is created anew after a while, or at once when the spec changes.',
  CreateRefused:
    'EKS refused to create the node group. Mend the cause in the message; it is tried again after a while, or at once when the spec changes.',
  QuotaExceeded:
    'A quota of the AWS account is used up. Raise the quota or delete what is not needed; it is tried again after a while.',
  UpdateFailed:
    'An update of the node group failed, and the group is as it was before. It is not tried again until the spec or the annotation winpool.dev/retry changes. After an automatic update, the next release is tried by itself.',
  UpdateRefused:
    'EKS refused an update of the node group. It is not tried again until the spec or the annotation winpool.dev/retry changes. After an automatic update, the next release is tried by itself.',
  ReleaseNotOffered:
    'EKS does not offer an AMI release yet that its SSM parameter names, or the release that the spec pins. The update is tried again at each --resync-interval. Nothing to do, unless the pin is wrong.',
  WaitingForWindow:
    'There is a newer AMI release, and the automatic update to it begins in the next maintenance window. To have it now, set nodeGroup.releaseVersion to the one in the message.',
  InvalidMaintenanceWindow:
    'A maintenance window can never open, so no automatic update begins in it. The message names the field: put it right.',
  NotOwned:
    'An object of this name exists that is not of this pool. It is never changed and never deleted. Choose another name or remove it.',
  Adopting: 'A node group that nobody owns is about to become the pool’s (nodeGroup.adoption: IfUnowned).',
  AdoptionRefused:
    'A node group of this name exists that nodeGroup.adoption does not take over, for the cause in the message. Choose another name, or put the cause right.',
  AsSpecified: 'The node group is as the spec says.',
  Outdated: 'The node group is not yet as the spec says. The operator is about to change it.',
  ReleaseNotVerified:
    'The newest AMI release is not rolled out by itself: a node that has it fails verification in the pool that the message names. Look at that node; the update begins when it is verified or gone, or with a newer release. A release that is pinned goes ahead.',
  WaitingForBudget:
    'A rolling update is due, and as many other pools as --max-pools-updating allows lose nodes now. It begins when one of them is done; nothing to do.',
  UpdateAvailable:
    'There is a newer AMI release for the node group, or another version of its launch template. Set the one in the message. AWS makes AMIs private about four months after their release.',
  Drifted:
    'The node group differs from the spec, and no change of the spec made that. The message names each field with both values. With driftPolicy: Correct the operator puts it right; with Report, do it yourself or change the spec.',
  ImmutableDifference:
    'The node group differs from the spec in something that EKS cannot change. Put the spec right, or create another pool.',
  Deleting: 'The node group is being deleted.',
  DeleteFailed:
    'EKS could not delete the node group. Mend the cause in the message; it is tried again. deletionPolicy: Retain lets the pool go without it.',
  Retained: 'The pool is deleted and leaves its node group. The marks of the operator are taken from it first.',
  MarksLeft:
    'The pool is gone, and labels, taints or tags of the operator are left on the node group or its nodes. The message says which, and why: remove them yourself.',

  WindowsIPAMEnabled:
    'The operator enabled Windows IPAM for the cluster (--enable-windows-ipam). Where the message names a tool that manages the ConfigMap, enable it there, too: the tool may revert it.',
  Met: 'Nothing that the pool needs is missing.',
  MetWithWarnings:
    'Nothing that the pool needs is missing. The message has warnings, which block nothing: what was found and what to do about each.',
  PrerequisitesIgnored:
    'Prerequisites are not met or could not be checked, and the annotation winpool.dev/ignore-prerequisites says to ignore them: they block nothing. The message names each. Remove its reason from the annotation to enforce it again.',
  NotChecked:
    'A prerequisite could not be checked, for another cause than a missing right. It is tried again; nothing waits for it.',
  AccessDenied:
    "A call was denied. Grant the right in the message: for AWS to the operator's role (config/aws/iam-policy.json has them all), else to its ServiceAccount (config/rbac).",
  AWSUnavailable:
    'AWS cannot be reached, throttles or fails. The operator goes on trying; what is shown of the node group is what was seen last.',
  ClusterNotFound: 'EKS knows no cluster of this name. Check --cluster-name and --region.',
  ClusterMismatch:
    'The EKS cluster is not the one whose API server the operator uses, or not the one in which this pool was created. Check --cluster-name and --region.',

  Available: 'The RuntimeClass is there: use it as runtimeClassName.',
  UsedAsIs: 'A RuntimeClass of this name was there before and fits. It is used and never changed.',
  NotManaged: 'The pool does not manage a RuntimeClass (runtimeClass.manage is false).',
  Pending: 'The object is about to be made.',
  Failed: 'A call to the API server failed. The operator tries again.',

  Paused: 'The pool is paused: nothing is changed. status.pendingSteps says what would be done.',

  NodeGroupAdopted: 'A node group that nobody owned is the pool’s now: it has the tag winpool.dev/pool.',
  AccessEntryCreated: 'The node role got an access entry of type EC2_WINDOWS. It stays when the pool goes.',
  NodeGroupCreated: 'EKS accepted the creation of the node group.',
  NodeGroupUpdated: 'EKS accepted an update of the node group.',
  NodeGroupDeleted: 'EKS accepted the deletion of the node group.',
  TagsCorrected: 'The tags of the node group were put right.',
  RuntimeClassCreated: 'The RuntimeClass was created.',
  RuntimeClassApplied: 'The RuntimeClass was put right, or is now shared with this pool.',
  RuntimeClassReleased: 'The pool no longer owns the RuntimeClass.',
  RuntimeClassDeleted: 'The RuntimeClass was deleted.',
  NodeClaimed: 'A node got the labels and taints of its pool. Its annotation winpool.dev/claim records what it had.',
  NodeReleased: 'A node is no longer of the pool, and has got back what it had.',
  NodeLabelled: 'The label node.kubernetes.io/windows-build of a node was put right.',
  Draining: 'Nodes that were to be replaced or removed are being emptied, or their instances end. Nothing to do.',
  DrainBlocked:
    'Pods stay on a node that is to be replaced or removed, for the cause in the message. Let them go, or take the annotation away; after disruption.drain.timeout the node stays.',
  WaitingForTurn:
    'A node is to be replaced or removed, and waits: as many nodes or pools as allowed are out now, EKS works on the group, or the pool is paused. It goes when that is over; nothing to do.',
  RemovalRefused:
    'A node has the annotation winpool.dev/remove, and the pool must not get smaller, for the cause in the message. Lower the size in the spec, or set winpool.dev/replace=true.',
  TooManyUnhealthy:
    'More nodes fail verification than remediation.maxUnhealthy allows, so none of them is replaced. Look for the cause in NodesVerified; or set winpool.dev/replace=true on a node.',
  Drained:
    'A node of existingNodes that was to be replaced or removed is empty and stays cordoned. End it with what made it; the message says how, where that is known. To keep it, take the annotation away.',
  ReplacementDue:
    'A node of existingNodes has failed verification for longer than remediation.unhealthyAfter. The operator ends no such node: end it with what made it, or set winpool.dev/replace=true to have it drained first.',
  NodeDrained: 'A node of existingNodes that was to be replaced or removed is empty. End it with what made it.',
  NodeDisruptionBegun: 'It is the turn of the nodes in the message: they are emptied and go.',
  NodeDisruptionEnded: 'The nodes that went one by one are gone, and the pool has its nodes again.',
  NodeCordoned: 'A node that is to be replaced or removed takes no more pods.',
  InstanceEnded: 'The instance of a node that was to be replaced or removed is being ended.',
  NodeStays:
    'A node that was to be replaced or removed stays and takes pods again. Its annotation was taken away, or has another value (timed-out, refused, uncordoned): to try again, set it to true, or take winpool.dev/remediation away. Without either the node waits for another turn.',
  GateTaintReplaced:
    'EKS refused the key of the taint that nodes are born with under Gate, so they are born with winpool.dev/unverified instead. Give the cluster-autoscaler the flag --startup-taint=winpool.dev/unverified, or it takes nodes at the gate for nodes that no pod fits.',
  NodeTainted: 'A node got or lost a taint of the operator, because its verdict or verification.policy changed.',
} as const;

/** Every reason with its meaning and remedy. */
export const reasons = { ...nodeChecks, ...prerequisites, ...others } as const;

/** Reasons of normal progress: they cause no event and need no action. */
export const onTheWay: ReadonlySet<string> = new Set<Reason>([
  'Pending',
  'Outdated',
  'WaitingForWindow',
  'WaitingForBudget',
  'Adopting',
  'Creating',
  'Updating',
  'Joining',
  'Deleting',
  'Retained',
  'Releasing',
]);

/** A reason of node verification. */
export type NodeCheck = keyof typeof nodeChecks;
/** A reason of a prerequisite check. */
export type PrerequisiteReason = keyof typeof prerequisites;
/** Any reason that the operator reports. */
export type Reason = keyof typeof reasons;

/** The reasons of node verification. */
export const nodeCheckReasons = Object.keys(nodeChecks) as readonly NodeCheck[];
/** The reasons of the prerequisite checks. */
export const prerequisiteReasons = Object.keys(prerequisites) as readonly PrerequisiteReason[];

/** The remedy for nodes that fail a check, for messages. */
export function remedyFor(reason: NodeCheck): string {
  return remedies[reason];
}

const remedies: Readonly<Record<NodeCheck, string>> = {
  WrongArchitecture: 'Check the instance types of the node group.',
  UnknownKernelVersion: 'Look at the node.',
  WrongBuild: 'Drain and end the node, and check the AMI.',
  RevisionTooLow: 'Move to a newer AMI release.',
  BuildLabelMismatch: 'Resume the pool if it is paused: the operator corrects the label.',
  RegistrationTaintMissing: 'Drain and end the node.',
  WrongContainerRuntime: 'Check the AMI of the node group.',
  RuntimeHandlerMissing: 'Check runtimeClass.handler and the configuration of containerd.',
  KubeletVersionSkew: 'Upgrade the older of the two.',
  NotReady: 'Look at its kubelet and kube-proxy.',
  NoPodAddresses: 'Check that the VPC CNI has Windows IPAM enabled.',
  ArrivedUngated: 'Let its kubelet register with the taint.',
  ForeignTaint: 'Change the taint of the pool or of the node.',
  UnsupportedWindowsVersion: 'Move to a version of Kubernetes and of Windows that go together.',
  LittleReservedMemory: 'Set memory limits on the pods, or raise systemReserved where you configure the kubelet.',
};
