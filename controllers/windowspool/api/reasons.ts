/** The catalogue of reasons. Conditions, events, metrics and the table in the docs use it: a reason that is not here cannot be reported. */

/** Reasons of node verification. Those that can fail a node are the values of spec.verification.warnOnly. */
const nodeChecks = {
  NodeUnreadable:
    'A node has a value that the operator cannot read, which the message names. The operator does not change its labels and taints. Correct the value (kubectl get node NODE --output yaml), or replace the node.',
  WrongArchitecture: 'A node is not x86_64. Check the instance types of the node group.',
  UnknownKernelVersion:
    'A node reports a kernel version that is not a Windows build, so it cannot be verified. Check the node (kubectl describe node NODE).',
  WrongBuild:
    'A node runs another Windows build than the pool. Pods of the pool fail on it with 0xc0370101. Check the AMI, and replace the node (kubectl annotate node NODE winpool.dev/replace=true).',
  RevisionTooLow:
    'The patch level of a node is lower than verification.minimumRevision. Newer images fail on it with 0xc0370106. Update to a newer AMI release.',
  BuildLabelMismatch:
    'The label node.kubernetes.io/windows-build of a node differs from its kernel. The operator corrects it. If the pool is paused, resume it.',
  RegistrationTaintMissing:
    'A node does not have the taint os=windows:NoSchedule, so Linux pods may be scheduled to it. Replace it (kubectl annotate node NODE winpool.dev/replace=true).',
  WrongContainerRuntime: 'A node does not run containerd. Check the AMI of the node group.',
  RuntimeHandlerMissing:
    'A node reports its runtime handlers, and the handler of the RuntimeClass is not one of them, so pods fail on it. Check runtimeClass.handler and the containerd configuration.',
  KubeletVersionSkew:
    'The kubelet of a node is newer than the API server, or more than three minor versions older. Upgrade the older of the two.',
  NotReady:
    'A node is not Ready, and --join-grace has passed since it joined. Check its kubelet and kube-proxy (kubectl describe node NODE), and the access entry of the node role.',
  UnhealthyCondition:
    'A node has a condition that verification.unhealthyConditions lists, such as DiskPressure. Check the node (kubectl describe node NODE). With spec.remediation, it is reported or replaced after remediation.unhealthyAfter.',
  RequiredConditionMissing:
    'A node does not have a condition of verification.requiredConditions, and --join-grace has passed since it joined. Check the agent that sets the condition.',
  ImagePullFailed:
    'The operator cannot pull an image of verification.requiredImages on a node, and --join-grace has passed since it joined. The message has the cause. The operator tries again; to try now, run kubectl annotate wp POOL winpool.dev/retry=$(date +%s) --overwrite.',
  ImagesMissing:
    'A node does not have an image of verification.requiredImages, and --join-grace has passed since it joined. Check what pulls the images, and whether the node can reach the registry.',
  SmokeTestFailed:
    'The smoke test of a node failed (verification.smokeTest), and --join-grace has passed since it joined. The message has the check: Start, PodIP, DNS or Service. The operator repeats the test; to do that now, run kubectl annotate wp POOL winpool.dev/retry=$(date +%s) --overwrite.',
  SmokeTestPending:
    'The smoke test of a node has no result (verification.smokeTest), and --join-grace and its timeout have passed since the node joined. Check its pod (kubectl get pods -A -l app.kubernetes.io/component=smoke-test).',
  NoPodAddresses:
    'A node has no IP addresses for pods. The message has the cause if it is known, such as a warning of the VPC resource controller. Otherwise, check that Windows IPAM is enabled in the VPC CNI (enable-windows-ipam).',
  GateTaintMissing:
    'Warning: a node joined without the gate taint, so pods may have been scheduled to it before it was verified. In a node group, EKS added the taint late: check the pods on the node. For existingNodes, configure the kubelet to register with the taint.',
  ForeignTaint:
    'Warning: a node of existingNodes has a taint of the pool with another value, set by another controller or user. The operator does not change it. Change the taint in the pool or on the node.',
  UnsupportedWindowsVersion:
    'Warning: the Kubernetes project does not support the kubelet version of a node of existingNodes on its Windows version. Use supported versions, or ask the vendor of the node image.',
  KubeletReservationMismatch:
    'Warning: what a node reserves (capacity minus allocatable) differs from nodeGroup.kubelet. The node is older than this setting: replace it, or wait for the rolling update. If new nodes have the warning, the bootstrap script of the AMI does not pass the arguments to the kubelet.',
  MaxPodsMismatch:
    'Warning: the number of pods that a node accepts (its capacity) differs from nodeGroup.kubelet.maxPods. The node is older than this setting: replace it, or wait for the rolling update. If new nodes have the warning, the bootstrap script of the AMI does not pass the arguments to the kubelet.',
  ReservedMemoryTooLow:
    'Warning: a node reserves less memory for the system than verification.minimumReservedMemory. Set memory limits on its pods, or raise systemReserved in the configuration of its kubelet (nodeGroup.kubelet).',
  NodePressure:
    'Warning: the kubelet of a node reports memory, disk or PID pressure, or the network of the node is unavailable. Check the pods on the node (kubectl describe node NODE). To fail such nodes, list the condition in verification.unhealthyConditions.',
} as const;

/** Reasons of required checks and warnings, in the order of the checks. docs/reference/checks.md has a section for each. */
const prerequisites = {
  ClusterNotActive:
    'The EKS cluster is not ACTIVE, and EKS creates and updates node groups only in an ACTIVE cluster. Wait, or check the health of the cluster.',
  UnsupportedIPFamily: 'The IP family of the EKS cluster is not ipv4, which Windows nodes need. Use another cluster.',
  UnsupportedRegion:
    'Warning: EKS documents Windows node groups only for commercial Regions. If EKS rejects the node group, create a self-managed node group and a pool of existingNodes.',
  AutoModeUnsupported:
    'The EKS cluster runs in Auto Mode, whose nodes cannot run Windows. A node group in this cluster can, but it needs the vpc-cni add-on: install it. With the add-on, this is a warning.',
  UnsupportedVersion:
    'EKS does not support the Kubernetes version of the nodes with the Windows version of the pool, or publishes no AMI for them, or the nodes are or would be newer than the control plane. The message names the version to change. A warning if only the Kubernetes project does not support the versions.',
  NoLinuxNode:
    'The cluster has no Linux node that accepts pods, and CoreDNS runs only on Linux. Add a Linux node group, or uncordon a node.',
  NodePoolsOverlap:
    'Warning: Karpenter can create nodes for the pods of the pool from another NodePool, whose nodes the operator does not verify. Add a taint to that NodePool, or delete it.',
  WindowsIPAMDisabled:
    'Windows IPAM is disabled, so pods get no IP addresses. Enable it where the message says: in the vpc-cni add-on, or in ConfigMap kube-system/amazon-vpc-cni.',
  ServiceCIDRNotPassed:
    'Warning: Karpenter does not pass the Service CIDR of the cluster to Windows nodes, and they do not assume this one. Set it in a script of karpenter.nodeClass.userData.',
  PrefixDelegationUnsupported:
    'Warning: prefix delegation is enabled for Windows, and Karpenter does not know of the addresses that it adds. Disable it if only pools of Karpenter run Windows.',
  LegacyResourceController:
    'The legacy vpc-resource-controller runs in the cluster and disables the one in the control plane. Delete its Deployment.',
  ClusterRolePolicyMissing:
    'Warning: the IAM role of the cluster does not have the policy AmazonEKSVPCResourceController. Unless another policy grants the same permissions, pods get no IP addresses. Attach the policy.',
  PodWebhookMissing:
    'Warning: the webhook vpc-resource-mutating-webhook does not exist. Without it, Windows pods do not request an IP address. Restore it, or set the limit vpc.amazonaws.com/PrivateIPv4Address: 1 in the pods.',
  NodeAccessInvalid:
    'The node role does not have the access of Windows nodes. The message says what is wrong and has the commands: an access entry of type EC2_WINDOWS is missing, it has another type or is older than the role, or ConfigMap kube-system/aws-auth lacks groups of the role.',
  NodeRoleShared:
    'Linux node groups have the same node role, and an access entry has the groups of only one operating system. Use a role for Windows nodes only. If aws-auth maps the role, this is a warning.',
  LaunchTemplateNotFound:
    "The launch template, or this version of it, does not exist. Correct nodeGroup.launchTemplate. If it was the operator's, set nodeGroup.immutableChangePolicy: Replace to change its settings.",
  LaunchTemplateInvalid:
    "EKS does not accept a launch template with these settings. Create a version without the settings that the message names. With $Latest or $Default, the spec does not need to change. For the operator's own launch template, delete the version that the message names.",
  LaunchTemplateNotOwned:
    "A launch template with the name of the pool's exists, and does not have the pool's tags. The operator does not change it. Set the tags, or delete the template.",
  SecurityGroupNotFound:
    'An item of nodeGroup.securityGroups matches no security group. Correct nodeGroup.securityGroups.',
  UserDataNotFound:
    'The ConfigMap that userData of nodeGroup or karpenter.nodeClass names does not exist in the namespace of the operator, or does not have the key. Create it, or correct userData.',
  UserDataInvalid:
    'Nodes cannot run the script that userData names: it is too long, is empty, or contains tags of user data, the bootstrap of EKS or exit. Correct the ConfigMap.',
  UserDataSyntaxError:
    'Warning: the script that userData names may have a syntax error, and then nodes do not join. Test it with PowerShell. If PowerShell reports no error, ignore the warning.',
  UserDataRestarts:
    'Warning: the script that userData names seems to restart the node, and then the node does not join. Remove the restart. If only a later task restarts the node, ignore the warning.',
  AMIInvalid:
    'No node can start from the AMI of the pool, it is not known, or it has another Windows version than the pool. Set ami of nodeGroup or karpenter.nodeClass to an AMI that exists and fits windowsVersion.',
  NodeGroupQuotaReached:
    'The cluster has as many node groups as EKS allows by default, and a replacement needs one more. Delete an unused node group. If the quota of the account is higher, ignore this prerequisite.',
  InstanceTypeUnsupported:
    'An instance type does not exist, is not x86_64, or has no IP addresses for pods. Set another instance type.',
  SubnetNotFound: 'An item of nodeGroup.subnets matches no subnet. Correct nodeGroup.subnets.',
  InstanceTypeNotOffered:
    "EC2 does not offer the pool's instance types in the zones of its subnets. Use other subnets or other instance types.",
  TooFewAddresses:
    'The subnets have too few free IP addresses for nodeGroup.scaling.desiredSize or minSize. Add a subnet, or lower the size. A warning if they have too few only for maxSize.',
  SubnetNotUsed:
    'Warning: a subnet matches the tags in nodeGroup.subnets, and the node group does not use it, because EKS cannot change the subnets of a node group. To use it, set nodeGroup.immutableChangePolicy: Replace and select it by ID, or create another pool.',
} as const;

/**
 * Reasons of advice. docs/reference/advice.md has a section for each. These are no reasons of conditions and events: advice is only in status.checks and in a metric.
 */
export const adviceReasons = [
  'SecretInUserData',
  'KubeletPortClosed',
  'HyperVUnavailable',
  'HibernationUnavailable',
  'SubnetsInOneZone',
  'DnsOnOneNode',
  'RoleMappingShared',
  'RootVolumeNotEncrypted',
  'RootVolumeSmall',
] as const;

const others = {
  AllVerified: 'Every node passes every check.',
  NoNodes: 'The pool has no nodes, and needs none: its desired size is 0, or no pod needs a node of Karpenter.',
  Joining: 'Nodes are joining. No action is needed unless it takes longer than --join-grace.',
  MembershipLabelRemoved:
    'Nodes lost the label eks.amazonaws.com/nodegroup or kubernetes.io/os, or have another value of it, so they are not counted. Restore the label (kubectl label node NODE KEY=VALUE), or terminate their instances.',
  WrongOperatingSystem:
    'An instance of the node group joined as a node that does not run Windows. Check the AMI and the AMI type of the node group, and the launch template of its Auto Scaling group, and terminate the instance.',
  NodesMissing:
    'Instances of the node group are missing, or run but did not join within --join-grace. Check the instances in the message.',
  NodesFailing: 'Nodes fail different checks. status.failingNodes lists them.',
  ChecksPassed: 'The node passes every enforced check: its condition winpool.dev/Verified is True.',
  AwaitingReadinessRule:
    'Enough nodes are verified, but a NodeReadinessRule keeps pods off some of them with a taint under readiness.k8s.io/. See which of its conditions is missing (kubectl describe nodereadinessrules).',
  EnoughNodesVerified: 'The pool has at least as many verified nodes as it needs.',

  NodesFound: 'The pool has the nodes that spec.existingNodes selects.',
  NoNodesFound:
    'No Windows node matches spec.existingNodes. Compare it with the labels and addresses of the nodes (kubectl get nodes -l kubernetes.io/os=windows --show-labels).',
  InstancesUnknown:
    'The operator could not read the ConfigMap of existingNodes, or look up a host in it, so the pool keeps its nodes. Wait, or fix the cause in the message.',
  InstancesMissing:
    'The ConfigMap in existingNodes.instancesConfigMap does not exist, so it lists no nodes. Create it, or correct namespace and name.',
  MalformedInstances:
    'The operator ignores entries of the ConfigMap of existingNodes, because they are not an address with the value username=NAME. status.existingNodes.malformedEntries lists them. Correct the entries.',
  UnknownAddresses:
    'The ConfigMap of existingNodes contains addresses that no Windows node has. status.existingNodes.unknownAddresses lists them. Wait for the nodes to join, or correct the addresses.',
  OwnedByOtherPool:
    'A node matches spec.existingNodes or spec.machines of several pools, and belongs to the first pool that selected it. Narrow spec.existingNodes of one of them, or delete one pool.',
  NodeChangesReverted:
    'Another controller keeps reverting labels or taints that the pool sets on a node. The operator waits for a minute before it sets them again. Remove these keys from the pool, or from the other controller.',
  NodePoolReady: 'The NodePool is as the spec says, and Karpenter can create nodes from it.',
  NodePoolNotReady:
    'Karpenter cannot create nodes with the NodePool or its node class, or has not evaluated them. The message has what Karpenter reports. Correct the node class or spec.karpenter, or check that Karpenter runs.',
  NodePoolNotOwned:
    'A NodePool or EC2NodeClass with the name of the pool exists, and the pool did not create it. Delete it, or create another pool with another name.',
  NodePoolRejected:
    'The API server does not accept the NodePool or the EC2NodeClass. The message has its answer. Correct spec.karpenter, or the labels and taints of the pool.',
  NodePoolApplied: 'The operator created the NodePool or the EC2NodeClass, or changed it.',
  NodePoolDeleting:
    'The NodePool is being deleted, and Karpenter drains and deletes its nodes. After that, the EC2NodeClass is deleted.',
  NodePoolUnknown: 'The NodePool could not be read, so the pool keeps its nodes. No action is needed unless it lasts.',
  KarpenterMissing: 'The cluster does not serve karpenter.sh/v1. Install Karpenter.',
  NodeClaimsWithoutNode:
    'A NodeClaim has had no node for longer than --join-grace. The message has what Karpenter reports. Fix the cause: Karpenter deletes the NodeClaim and tries again.',
  NodeClaimDeleted:
    'The operator deleted the NodeClaim of a node that is replaced or removed. Karpenter drains the node.',
  MachinesReady: 'The object in machines.ref has all its Machines, and each of them has a node.',
  MachinesScaling:
    'The Machines of the pool are being created or deleted. No action is needed unless it takes longer than --join-grace.',
  MachinesRollingOut:
    'The controller of the object in machines.ref replaces its Machines, because its template has changed. disruption.maxUnavailable does not limit this. No action is needed.',
  RolloutHalted:
    'The operator replaces no more nodes of an earlier template, because a Machine of the current one fails. Correct the template of the MachineDeployment, or fix the cause in the message.',
  MachinesMissing:
    'The object in machines.ref has fewer Machines than it should, and its controller reports why. Fix the cause in the message.',
  MachinesWithoutNode:
    'A Machine has had no node for longer than --join-grace. The message has what its controller reports. Fix the cause, or delete the Machine.',
  MachineFailed:
    'The controller of a Machine has given it up. Fix the cause in the message, and delete the Machine: another one is created.',
  RemediatedByNodeRepair:
    'Karpenter runs with the feature gate NodeRepair and replaces nodes that are not Ready, so the operator replaces none of the failing nodes. Set remediation.policy: Report, or turn off the feature gate.',
  RemediatedByHealthCheck:
    'A MachineHealthCheck replaces the Machines of the pool, too, so the operator replaces none of its failing nodes. Set remediation.policy: Report, or exclude the Machines from the MachineHealthCheck.',
  MachineSetMissing: 'The object in machines.ref does not exist. Create it, or create another pool for another object.',
  MachineSetDeleting:
    'The object of the Machines is being deleted, and its nodes with it. Delete the pool, too, unless the operator creates the object.',
  MachineSetNotUsable:
    'The object in machines.ref does not allow the pool to change its size or delete its Machines. Annotate it with the command in the message.',
  InvalidTemplate:
    'The template of the machines (spec.machines.template) cannot be applied. Correct the field in the message.',
  MachineSetNotOwned:
    'An object with the name in machines.template exists, and the pool did not create it. Create a pool with machines.ref for it, delete it, or create another pool for another name.',
  MachineSetRejected:
    'The object that the operator creates from machines.template cannot be applied. The message has the answer of the API server. Correct the template.',
  MachineSetApplied:
    'The operator created the object from machines.template, or applied a change of the template to it.',
  MachinePoolWithoutMachines:
    'The infrastructure provider of the MachinePool creates no Machines, so the operator cannot replace its nodes. Delete the instance with the tools of the platform.',
  MachineSetPaused:
    'The object in machines.ref is paused, so its controller does nothing. The message has the cause. Resume it.',
  MachinesUnknown:
    'The object in machines.ref could not be read, so the pool keeps its nodes. No action is needed unless it lasts.',
  MachineAPIMissing:
    'The cluster does not serve the API in machines.ref.apiVersion. Install Cluster API, or correct the version.',
  MachinesScaled: 'The operator set the number of Machines to machines.desiredSize.',
  MachineDeleted: 'The operator deleted the Machine of a node that is replaced or removed.',
  Releasing: 'The pool is being deleted, and the operator restores the original labels and taints of its nodes.',

  Active: 'The node group is ACTIVE.',
  Creating: 'EKS is creating the node group, which takes several minutes.',
  Updating: 'EKS is updating the node group.',
  Degraded: 'EKS reports health issues of the node group. The message lists each issue with its remedy.',
  CreateFailed:
    'EKS failed to create the node group. Fix the cause in the message. The operator retries every --create-retry-interval, and immediately when the spec changes.',
  CreateRejected:
    'EKS rejected the creation of the node group. Fix the cause in the message. The operator retries every --create-retry-interval, and immediately when the spec changes.',
  QuotaExceeded:
    'A quota of the AWS account is exceeded. Request a higher quota, or delete unused resources. The operator retries every --create-retry-interval, and immediately when the spec changes.',
  UpdateFailed:
    'An update of the node group failed, and some nodes may have the new version. Not retried until the spec changes or you run kubectl annotate wp POOL winpool.dev/retry=$(date +%s) --overwrite. After a failed automatic update, the operator installs the next release automatically.',
  UpdateRejected:
    'EKS rejected an update of the node group. The operator does not retry it until the spec changes or you run kubectl annotate wp POOL winpool.dev/retry=$(date +%s) --overwrite. After a rejected automatic update, the operator installs the next release automatically.',
  ReleaseNotOffered:
    'EKS does not offer the AMI release in the SSM parameter or in the spec yet. The operator retries at each --resync-interval. No action is needed unless nodeGroup.releaseVersion is wrong.',
  WaitingForWindow: 'An automatic update waits for the next maintenance window. To update now, follow the message.',
  InvalidMaintenanceWindow:
    'A maintenance window never opens, so no automatic update starts in it. Correct the field in the message.',
  NotOwned:
    'An object with this name exists, and this pool does not manage it. The operator neither changes nor deletes it. Choose another name, delete the object, or allow its adoption (docs/how-to/adopt.md).',
  Adopting: 'The pool is about to adopt a node group that no pool manages (nodeGroup.adoption: IfUnowned).',
  AdoptionRejected:
    'A node group with this name exists, and the pool cannot adopt it. Fix the cause in the message, or choose another nodeGroup.name.',
  MatchesSpec: 'The node group matches the spec.',
  UpdatePending:
    'The node group does not match the spec yet. The operator is about to change it, or waits for what the message names.',
  ReleaseNotVerified:
    'The automatic update to the newest AMI release waits, because nodes with this release fail verification in the pool that the message names, or failed on its canary. The message shows until when. The next release, and one that the spec pins, are not delayed.',
  WaitingForBudget:
    'A rolling update waits, because as many other pools as --max-pools-updating allows are replacing nodes. It starts when one of them finishes. No action is needed.',
  RolledBack:
    'The node group was rolled back to an older AMI release or Kubernetes version, and automatic updates do not undo this. Roll the cluster back, or update the node group with the command in the message.',
  UpdateAvailable:
    'A newer AMI release or launch template version is available. Set the version in the message. AWS makes an AMI private about four months after its release.',
  Drifted:
    'The node group differs from the spec, and the spec did not change. The message names each field with both values. With driftPolicy Correct, the operator reverts the group to the spec. With Report, change the group or the spec.',
  ImmutableDifference:
    'The node group differs from the spec in fields that EKS cannot change. Correct the spec, set nodeGroup.immutableChangePolicy: Replace, or create another pool. A new node group then replaces it.',
  Replacing:
    'A new node group replaces the node group of the pool (nodeGroup.immutableChangePolicy: Replace). The message shows how far it is. No action is needed. To cancel, revert the spec.',
  ReplacementBlocked:
    'A node of the node group that is being replaced could not be drained within disruption.drain.timeout, or its instance could not be terminated. The operator retries after --create-retry-interval. Fix the cause in the message, or revert the spec.',
  ReplacementStarted:
    'Another node group becomes the one that the spec describes, because EKS cannot change the current one.',
  ReplacementDraining: 'Enough nodes of the new node group are verified. The operator starts to drain the old one.',
  CanaryRunning:
    'A new version is tried on a canary (nodeGroup.update.canary), or the canary is being removed. The message shows how far it is. No action is needed.',
  CanaryBlocked:
    'A canary has ended, and a node of it could not be drained within disruption.drain.timeout, or its instance could not be terminated. The canary stays until then. The operator retries after --create-retry-interval. Fix the cause in the message.',
  CanaryFailed:
    'The canary of a new version failed, and the node group of the pool was not updated to this version. The message has the cause. Fix it and change the annotation winpool.dev/retry, set another version, or wait for the next release.',
  CanaryStarted: 'A new version is tried on a canary before the node group of the pool is updated.',
  CanaryEnded: 'A canary has ended. The operator drains its nodes, and then deletes its node group.',
  Deleting: 'EKS is deleting the node group.',
  DeleteFailed:
    'EKS failed to delete the node group. Fix the cause in the message; the operator retries. To delete the pool without its node group, set deletionPolicy: Retain.',
  Retained:
    'The pool is being deleted, and its node group stays. The operator first removes its own labels, taints and tags from the node group.',
  CleanupIncomplete:
    'The pool was deleted, and labels, taints or tags of the operator remain on the node group or its nodes. The message names them and the cause. Remove them manually.',

  WindowsIPAMEnabled:
    'The operator enabled Windows IPAM for the cluster (--enable-windows-ipam). If the message names a tool that manages the ConfigMap, also enable Windows IPAM in that tool, because the tool may revert the change.',
  Met: 'The operator has its permissions, and all prerequisites are met.',
  MetWithWarnings:
    'All prerequisites are met, with warnings that do not block the pool. status.checks lists each warning with its remedy.',
  PrerequisitesIgnored:
    'Prerequisites that are not met, or could not be checked, are ignored by the annotation winpool.dev/ignore-prerequisites. status.checks lists them. To enforce one again, remove its reason from the annotation.',
  NotChecked:
    'A prerequisite could not be checked because a call failed. The operator retries. This does not block the pool.',
  AccessDenied:
    'A call was denied. Grant the permission in the message: for AWS, to the IAM role of the operator (config/aws/iam-policy.json); for the API server, to its ServiceAccount (config/rbac). After 10 minutes, the pool is Stalled.',
  AWSUnavailable:
    'The operator cannot reach AWS, or AWS throttles calls or returns errors. The operator retries. Until then, the status shows the last known state.',
  Unconfirmed:
    'EKS did not find the node group, or returned it as failed or without the tag winpool.dev/pool, unlike status, or the pool lost its status. The operator reads it again within 10 seconds. Until then, it changes nothing, and status shows the last known state. No action is needed.',
  ClusterNotFound: 'The EKS cluster does not exist. Check the flags --cluster-name and --region of the operator.',
  ClusterNotConfigured:
    'The pool has a nodeGroup, and the operator is not configured for an EKS cluster. Set the flags --cluster-name and --region of the operator (clusterName and region in the Helm chart, or in your overlay). Pools of existingNodes do not need them.',
  ClusterMismatch:
    'The EKS cluster is not the cluster that the operator runs in, or not the one in which the node group was created. The operator does not change anything. Check the flags --cluster-name and --region of the operator.',

  Available: 'The RuntimeClass exists. Set its name as the runtimeClassName of pods.',
  Unmanaged: 'The operator did not create the RuntimeClass. It fits the pool, and the pool uses it unchanged.',
  Pending: 'The object is about to be created, or the operator waits for another condition.',
  Failed: 'A call failed. The message has the error, and the operator retries.',

  Paused:
    'The pool is paused, and the operator does not change anything. status.pendingSteps shows the changes that are due.',

  NodeGroupAdopted: 'The pool adopted a node group that no pool managed: it now has the tag winpool.dev/pool.',
  AccessEntryCreated:
    'The operator created an access entry of type EC2_WINDOWS for the node role. It is kept when the pool is deleted.',
  LaunchTemplateCreated: 'The operator created a launch template for the pool.',
  LaunchTemplateVersionCreated:
    "The operator added a version to the pool's launch template. A rolling update of the node group follows.",
  LaunchTemplateDeleted: "The operator deleted the pool's launch template.",
  NodeGroupCreated: 'EKS accepted the creation of the node group.',
  NodeGroupUpdated: 'EKS accepted an update of the node group.',
  NodeGroupDeleted: 'EKS accepted the deletion of the node group.',
  TagsCorrected: 'The operator corrected the tags of the node group.',
  RuntimeClassCreated: 'The operator created the RuntimeClass.',
  RuntimeClassApplied: 'The operator corrected the RuntimeClass.',
  RuntimeClassReleased: 'The pool is no longer an owner of the RuntimeClass.',
  RuntimeClassDeleted: 'The operator deleted the RuntimeClass.',
  NodeAdopted:
    'The operator set the labels and taints of the pool on a node. The annotation winpool.dev/ownership records the original values.',
  NodeReleased: 'A node left the pool, and the operator restored its original labels and taints.',
  NodeLabelled: 'The operator corrected the label node.kubernetes.io/windows-build of a node.',
  Draining:
    'Nodes that are replaced or removed are being drained, or their instances are terminating. No action is needed.',
  DrainBlocked:
    'Pods block the drain of a node that is replaced or removed. The message names the cause. Scale the workload up or delete the pods, or cancel by removing the annotation winpool.dev/replace or winpool.dev/remove of the node. After disruption.drain.timeout, the node stays.',
  DisruptionPending:
    'The replacement or removal of a node waits: the maximum number of nodes or pools is being disrupted, EKS is changing the node group, or the pool is paused. It continues automatically. No action is needed.',
  RemovalRejected:
    'A node has the annotation winpool.dev/remove, but the pool must not shrink. The message names the cause. Lower the size in the spec, or replace the node instead (winpool.dev/replace=true).',
  TooManyUnhealthy:
    'More nodes failed than remediation.maxUnhealthy allows, so the nodes are probably not the cause, and the operator replaces none of them. Check NodesVerified. To replace a node anyway, run kubectl annotate node NODE winpool.dev/replace=true.',
  Drained:
    'A node whose instance the operator does not terminate is drained and stays cordoned. Terminate it with its provisioner; if the operator can identify the provisioner, the message contains the command. To keep the node, remove the annotation.',
  ReplacementDue:
    'A node has failed verification for longer than remediation.unhealthyAfter, and remediation.policy is Report. Replace it (kubectl annotate node NODE winpool.dev/replace=true), or terminate a node of existingNodes with its provisioner.',
  NodeDrained: 'A node whose instance the operator does not terminate is drained. Terminate it with its provisioner.',
  NodeDisruptionStarted: 'The operator starts to drain and terminate the nodes in the message.',
  NodeDisruptionFinished:
    'The nodes that were replaced or removed no longer exist, and the other nodes of the pool have joined.',
  NodeCordoned: 'The operator cordoned a node that is replaced or removed.',
  InstanceTerminated: 'The operator requested the termination of an instance whose node is replaced or removed.',
  NodeDisruptionCanceled:
    'A node that was to be replaced or removed stays and is uncordoned. Its annotation was removed, or has the value timed-out, refused or uncordoned. To retry, set it to true; after remediation, remove winpool.dev/remediation. The value left: its instance went to the warm pool.',
  GateTaintReplaced:
    'EKS rejected the key of the gate taint, so nodes register with winpool.dev/unverified instead. Set --startup-taint=winpool.dev/unverified on the cluster-autoscaler: otherwise it treats gated nodes as nodes to which no pod can be scheduled.',
  ImageNotStarted:
    'An image of verification.requiredImages is on the node, but cmd.exe did not start in a container of it. No action is needed if the image has no cmd.exe. Otherwise, pods with this image may fail: the message has the cause.',
  NodeTainted:
    'The operator set or removed its own taints on a node, because the result of the verification or verification.policy changed.',
} as const;

/** Every reason with its meaning and remedy. */
export const reasons = { ...nodeChecks, ...prerequisites, ...others } as const;

/** Reasons of normal progress: they cause no event and need no action. */
export const onTheWay: ReadonlySet<string> = new Set<Reason>([
  'Pending',
  'UpdatePending',
  'WaitingForWindow',
  'WaitingForBudget',
  'Replacing',
  'CanaryRunning',
  'Adopting',
  'Creating',
  'Updating',
  'Joining',
  'Deleting',
  'Retained',
  'Releasing',
  'MachinesUnknown',
  'MachinesScaling',
  'MachinesRollingOut',
]);

/** A reason of node verification. */
export type NodeCheck = keyof typeof nodeChecks;
/** A reason of advice. */
export type AdviceReason = (typeof adviceReasons)[number];
/** A reason of a required check or a warning. */
export type PrerequisiteReason = keyof typeof prerequisites;
/** A reason of any check of a pool. */
export type CheckReason = PrerequisiteReason | AdviceReason;
/** Any reason that the operator reports. */
export type Reason = keyof typeof reasons;

/** The reasons of node verification. */
export const nodeCheckReasons = Object.keys(nodeChecks) as readonly NodeCheck[];
/** The reasons of required checks and warnings. */
export const prerequisiteReasons = Object.keys(prerequisites) as readonly PrerequisiteReason[];
/** The reasons of all checks of a pool. */
export const checkReasons: readonly CheckReason[] = [...prerequisiteReasons, ...adviceReasons];

/** The remedy for nodes that fail a check, for messages; `node`: the first of them. */
export function remedyFor(reason: NodeCheck, node: string): string {
  return remedies[reason].replace('NODE', node);
}

const REPLACE = 'To have the operator drain and replace it: kubectl annotate node NODE winpool.dev/replace=true';

const remedies: Readonly<Record<NodeCheck, string>> = {
  NodeUnreadable: 'Correct the value: kubectl edit node NODE --subresource=status',
  WrongArchitecture: 'Check the instance types of the node group.',
  UnknownKernelVersion: 'Check the node: kubectl describe node NODE',
  WrongBuild: `Pods of the pool fail on it. ${REPLACE}`,
  RevisionTooLow: 'Move to a newer AMI release; for a node group, set nodeGroup.releaseVersion.',
  BuildLabelMismatch: 'Resume the pool if it is paused; the operator corrects the label.',
  RegistrationTaintMissing: REPLACE,
  WrongContainerRuntime: 'Check the AMI of the node.',
  RuntimeHandlerMissing: 'Check runtimeClass.handler and the containerd configuration.',
  KubeletVersionSkew: 'Upgrade the older of the two.',
  NotReady: 'Check its kubelet and kube-proxy: kubectl describe node NODE',
  UnhealthyCondition: 'Check the node: kubectl describe node NODE',
  RequiredConditionMissing: 'Check the agent that sets the condition: kubectl describe node NODE',
  ImagePullFailed:
    'Check the name of the image, verification.imagePrePull.imagePullSecrets, and whether the node can reach the registry.',
  ImagesMissing: 'Check what pulls the images: kubectl get events --field-selector reason=Failed --all-namespaces',
  SmokeTestFailed: 'Check the network of the node: kubectl describe node NODE',
  SmokeTestPending: 'Check its pod: kubectl get pods -A -l app.kubernetes.io/component=smoke-test',
  NoPodAddresses: 'Check that Windows IPAM is enabled in the VPC CNI.',
  GateTaintMissing: 'Configure its kubelet to register with the taint.',
  ForeignTaint: 'Change the taint of the pool or of the node.',
  UnsupportedWindowsVersion: 'Move to a supported combination of Kubernetes and Windows versions.',
  KubeletReservationMismatch: 'Replace the node: kubectl annotate node NODE winpool.dev/replace=true',
  MaxPodsMismatch: 'Replace the node: kubectl annotate node NODE winpool.dev/replace=true',
  ReservedMemoryTooLow: 'Set memory limits on the pods, or raise systemReserved in the kubelet configuration.',
  NodePressure: 'Check the pods on the node: kubectl describe node NODE',
};
