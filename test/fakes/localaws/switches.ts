/**
 * Questions about EKS that no public source answers. Each is a switch, so that a client can be tested with both answers. The first value is
 * the default.
 */
export const switchTable = {
  /** Is UpdateNodegroupConfig accepted while the group is DEGRADED? */
  updatesWhileDegraded: ['accept', 'reject'],
  /** Is DeleteNodegroup accepted while the group is CREATING or UPDATING? */
  deleteWhileBusy: ['accept', 'conflict'],
  /** What does a second DeleteNodegroup return while the group is DELETING? */
  deleteWhileDeleting: ['conflict', 'accept'],
  /** What does a used clientRequestToken return after its group is gone: the old response, or is it forgotten? */
  tokensAfterDelete: ['remembered', 'forgotten'],
  /** Is an update that changes nothing accepted? */
  updatesWithoutChange: ['accept', 'reject'],
  /** A policy condition on a resource's tags, and the resource does not exist: 404 or 403? */
  missingUnderTagCondition: ['notFound', 'denied'],
  /**
   * Which taints does EKS reject because of their prefix? Users saw it reject `kubernetes.io/arch`. "Label cannot contain reserved prefixes [kubernetes.io/, k8s.io/,
   * eks.amazonaws.com/]" was seen for labels; labels below `node-role.kubernetes.io/` were accepted.
   */
  reservedTaints: ['prefixes', 'subdomains', 'none'],
  /** Does the account already have the service-linked role AWSServiceRoleForAmazonEKSNodegroup? */
  nodegroupServiceRole: ['exists', 'missing'],
  /**
   * Which access does EKS grant to the nodes of a new group with an AMI type WINDOWS_* if their role has none? EC2_WINDOWS: the user guide, the
   * comment on CreateAccessEntry.type in the service model, terraform-aws-eks#2471. EC2_LINUX was seen with custom AMIs: containers-roadmap#2327.
   */
  nodegroupAccessEntry: ['EC2_WINDOWS', 'EC2_LINUX', 'none'],
  /** For which service must the caller be allowed to pass the role to CreateAccessEntry? The service authorization reference names none. */
  accessEntryPassRole: ['none', 'eks.amazonaws.com', 'ec2.amazonaws.com'],
  /** If a Windows node joins with an access entry of type EC2_LINUX, its kube-proxy lacks permissions. Where is that visible? */
  linuxAccessEntry: ['healthIssue', 'notReady', 'nobody'],
  /**
   * Does EKS accept a release as soon as it is in SSM? SSM was seen ahead of EKS: awslabs/amazon-eks-ami#559 the other way round, eksctl-io/eksctl#7976 this way.
   */
  releaseInEks: ['later', 'atOnce'],
  /**
   * Does SSM have a parameter with JSON about the newest image of EKS, with its release_version? terraform-aws-modules/terraform-aws-eks reads it for Windows; the user
   * guide only has the parameter of the ID.
   */
  releaseParameter: ['exists', 'missing'],
  /**
   * Does CreateNodegroup accept a Kubernetes version that is older than the cluster's? "By default, the Kubernetes version of the cluster is used, and this is the
   * only accepted specified value": the SDK's comment on CreateNodegroupRequest.version.
   */
  olderVersionAtCreation: ['reject', 'accept'],
  /**
   * Does UpdateNodegroupVersion accept an earlier Kubernetes version than the group has? "You must roll back these separately using the UpdateNodegroupVersion
   * API": the user guide's page rollback-cluster. "You cannot roll back a node group to an earlier Kubernetes version or AMI version": the SDK's comment.
   */
  earlierNodegroupVersions: ['accept', 'reject'],
  /** Does DescribeAutoScalingGroups list the instances of a warm pool among the group's? Its reference only has WarmPoolSize; DescribeWarmPool lists them. */
  warmInstances: ['hidden', 'listed'],
  /**
   * Are there warm pools of Spot Instances? PutWarmPool once refused groups with a mixed instances policy or Spot Instances (boto3 1.29), and its current
   * reference has neither; node groups have such a policy.
   */
  spotWarmPools: ['reject', 'accept'],
  /**
   * After a change of version, labels or taints: which instances does the warm pool have? A rolling update of CloudFormation keeps them: its
   * reference of AWS::AutoScaling::WarmPool.
   */
  outdatedWarmInstances: ['replaced', 'kept'],
  /**
   * Do instances register as nodes before they leave the warm pool? "Instances complete EKS initialization" when they join the group, says the user
   * guide. Without EKS' support they registered: keikoproj/instance-manager#277.
   */
  nodesOfWarmInstances: ['absent', 'registered'],
  /** What happens to the Node of an instance that returns to the warm pool? */
  nodesOfReusedInstances: ['deleted', 'kept'],
  /** When does a node get the labels and taints of its group: as it registers, or up to 30 s after it is Ready as in aws/containers-roadmap#1962? */
  groupSettingsOnNodes: ['atRegistration', 'later'],
  /**
   * Does EKS also give the labels and taints of a group to its nodes if the image is in the launch template, up to 30 s after they are Ready? Its user
   * guide only says that it merges no user data then; what is said about Linux nodes is aws/containers-roadmap#1962.
   */
  settingsOfCustomNodes: ['later', 'never'],
  /** Are the additional instances of a change of version included in DescribeNodegroup's scalingConfig? */
  rolloutGrowth: ['hidden', 'shown'],
  /**
   * What does TerminateInstanceInAutoScalingGroup return for an instance that is already terminating? Accepted hundreds of times: kubernetes/autoscaler#2930; with
   * a smaller size each time: #4095. ScalingActivityInProgress is in the service model.
   */
  repeatedTermination: ['accept', 'refuse'],
  /** Do Windows nodes of a node group in a cluster with Auto Mode get addresses for their pods if the vpc-cni add-on is installed? Without it they don't. */
  addressesBesideAutoMode: ['withAddon', 'never'],
  /** After an update of an add-on failed: does DescribeAddon show the configuration from before? */
  failedAddonUpdate: ['showsOldValues', 'showsNewValues'],
  /**
   * What happens to a node while the cluster's role lacks AmazonEKSVPCResourceController? Its troubleshooting page expects no capacity; the
   * source advertises it before the first address is assigned, so that pods wait instead. There is no event in either case: the controller
   * only logs it.
   */
  withoutControllerPolicy: ['noAddresses', 'addressesAdvertised'],
} as const satisfies Record<string, readonly [string, string, ...string[]]>;

/** One value for each switch. */
export type Switches = { [K in keyof typeof switchTable]: (typeof switchTable)[K][number] };

/** All switches, the given ones set, the others at their default. Throws on a name or a value that does not exist. */
export function switchesWith(given: Partial<Switches> = {}): Switches {
  const settings: Record<string, string> = {};
  for (const [name, values] of Object.entries(switchTable)) settings[name] = values[0];
  for (const [name, value] of Object.entries(given)) {
    const values: readonly string[] | undefined = (switchTable as Record<string, readonly string[]>)[name];
    if (values === undefined)
      throw new RangeError(`no switch ${name}; there are ${Object.keys(switchTable).join(', ')}`);
    if (!values.includes(value)) throw new RangeError(`switch ${name} is ${value}; it can be ${values.join(' or ')}`);
    settings[name] = value;
  }
  return settings as Switches;
}
