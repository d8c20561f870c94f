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
  /** Do instances carry the tags eks:cluster-name and eks:nodegroup-name in addition to aws:autoscaling:groupName? */
  instanceNodegroupTag: ['on', 'off'],
  /** What does a used clientRequestToken return after its group is gone: the old response, or is it forgotten? */
  tokensAfterDelete: ['remembered', 'forgotten'],
  /** Is an update that changes nothing accepted? */
  updatesWithoutChange: ['accept', 'reject'],
  /** A policy condition on a resource's tags, and the resource does not exist: 404 or 403? */
  missingUnderTagCondition: ['notFound', 'denied'],
  /**
   * For which ARN does EKS authorize the Describe call of a resource that does not exist? A placeholder with the request's path was seen
   * for DescribeAddon, `arn:aws:eks:REGION:ACCOUNT:/clusters/CLUSTER/addons/NAME`: terraform-aws-modules/terraform-aws-eks#1725.
   */
  missingAddonArn: ['path', 'addon'],
  /** The same for DescribeNodegroup: not known. A policy that names node groups only would deny it before each first creation. */
  missingNodegroupArn: ['nodegroup', 'path'],
  /** The same for DescribeAccessEntry: not known. */
  missingAccessEntryArn: ['accessEntry', 'path'],
  /** Labels with kubernetes.io/ or k8s.io/: checked by the kubelet (which does not start with unknown ones), or rejected by EKS as in 2021? */
  reservedLabels: ['kubelet', 'reject'],
  /** Taints with kubernetes.io/ or k8s.io/: accepted, or rejected like such labels in 2021? */
  reservedTaints: ['accept', 'reject'],
  /** In which order does ListUpdates answer? */
  updateOrder: ['oldestFirst', 'newestFirst'],
  /** Does the account already have the service-linked role AWSServiceRoleForAmazonEKSNodegroup? */
  nodegroupServiceRole: ['exists', 'missing'],
  /**
   * Which access does EKS grant to the nodes of a new group with an AMI type WINDOWS_* if their role has none? EC2_WINDOWS: the user guide, the
   * comment on CreateAccessEntry.type in the service model, terraform-aws-eks#2471. EC2_LINUX was seen with custom AMIs: containers-roadmap#2327.
   */
  nodegroupAccessEntry: ['EC2_WINDOWS', 'EC2_LINUX', 'none'],
  /** With authentication mode API_AND_CONFIG_MAP, does EKS create that entry also for a role that aws-auth already maps? */
  mappedRoleAccessEntry: ['created', 'none'],
  /** For which service must the caller be allowed to pass the role to CreateAccessEntry? The service authorization reference names none. */
  accessEntryPassRole: ['none', 'eks.amazonaws.com', 'ec2.amazonaws.com'],
  /**
   * When EKS checks whether it can launch instances from a template, what is ec2:IsLaunchTemplateResource for the volumes and the security group
   * that neither the template nor the request names?
   */
  derivedLaunchResources: ['ofRequest', 'ofTemplate'],
  /**
   * Does the account already have the service-linked role AWSServiceRoleForEC2Spot? EC2 needs it for the first Spot Instance of an account:
   * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/service-linked-roles-spot-instance-requests.html
   */
  spotServiceRole: ['exists', 'missing'],
  /** If a Windows node joins with an access entry of type EC2_LINUX, its kube-proxy lacks permissions. Where is that visible? */
  linuxAccessEntry: ['healthIssue', 'notReady', 'nobody'],
  /** What does a change of a node group return while the cluster is UPDATING? */
  changeWhileClusterUpdates: ['invalidRequest', 'invalidParameter'],
  /** After a failed change of version: are the old nodes uncordoned? */
  afterFailedUpdate: ['uncordoned', 'cordoned'],
  /** A change of version that names a launch template version, but neither version nor release: is the image kept? */
  templateOnlyUpdate: ['newestRelease', 'keepsRelease'],
  /**
   * Does EKS accept a release as soon as it is in SSM? SSM was seen ahead of EKS: awslabs/amazon-eks-ami#559 the other way round, eksctl-io/eksctl#7976 this way.
   */
  releaseInEks: ['later', 'atOnce'],
  /**
   * Does CreateNodegroup accept a Kubernetes version that is older than the cluster's? "By default, the Kubernetes version of the cluster is used, and this is the
   * only accepted specified value": the SDK's comment on CreateNodegroupRequest.version.
   */
  olderVersionAtCreation: ['reject', 'accept'],
  /** Does DescribeAutoScalingGroups list the instances of a warm pool among the group's? Its reference only has WarmPoolSize; DescribeWarmPool lists them. */
  warmInstances: ['hidden', 'listed'],
  /**
   * Are there warm pools of Spot Instances? PutWarmPool once refused groups with a mixed instances policy or Spot Instances (boto3 1.29), and its current
   * reference has neither; node groups have such a policy.
   */
  spotWarmPools: ['reject', 'accept'],
  /** Does DescribeNodegroup return a warmPoolConfig that was disabled? */
  disabledWarmPool: ['hidden', 'shown'],
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
  /** Windows AMI types outside the commercial Regions: the model of CreateNodegroup says "only supported for commercial AWS Regions". */
  windowsOutsideCommercialRegions: ['reject', 'accept'],
  /** Do Windows nodes of a node group in a cluster with Auto Mode get addresses for their pods if the vpc-cni add-on is installed? Without it they don't. */
  addressesBesideAutoMode: ['withAddon', 'never'],
  /**
   * UpdateAddon without serviceAccountRoleArn: does the add-on lose its role? "If you don't specify an existing IAM role, then the add-on uses
   * the permissions assigned to the node IAM role" (SDK); eksctl sends the role that the add-on has.
   */
  addonRoleLeftOut: ['removed', 'kept'],
  /** After an update of an add-on failed: does DescribeAddon show the configuration from before? */
  failedAddonUpdate: ['showsOldValues', 'showsNewValues'],
  /**
   * Does EKS revert a field of an add-on that another user changed, before the add-on's next update? It did, every 15 minutes, until 2022:
   * https://aws.amazon.com/blogs/containers/amazon-eks-add-ons-preserve-customer-edits/
   */
  addonDrift: ['keptUntilUpdate', 'putBack'],
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
