/**
 * What no public source settles about EKS. Each is a switch, so that a client can be tested against both answers.
 * The first value is the default.
 */
export const switchTable = {
  /** Is UpdateNodegroupConfig accepted while the group is DEGRADED? */
  updatesWhileDegraded: ['accept', 'reject'],
  /** Is DeleteNodegroup accepted while the group is CREATING or UPDATING? */
  deleteWhileBusy: ['accept', 'conflict'],
  /** What does a second DeleteNodegroup get while the group is DELETING? */
  deleteWhileDeleting: ['conflict', 'accept'],
  /** Do instances carry the tags eks:cluster-name and eks:nodegroup-name beside aws:autoscaling:groupName? */
  instanceNodegroupTag: ['on', 'off'],
  /** What does a used clientRequestToken give after its group is gone: the old answer, or is it forgotten? */
  tokensAfterDelete: ['remembered', 'forgotten'],
  /** Is an update that changes nothing accepted? */
  updatesWithoutChange: ['accept', 'reject'],
  /** A policy condition on a resource's tags, and the resource does not exist: 404 or 403? */
  missingUnderTagCondition: ['notFound', 'denied'],
  /**
   * For which ARN does EKS authorize the Describe call of a resource that does not exist? A placeholder that spells the request's path was seen for
   * DescribeAddon, `arn:aws:eks:REGION:ACCOUNT:/clusters/CLUSTER/addons/NAME`: terraform-aws-modules/terraform-aws-eks#1725.
   */
  missingAddonArn: ['path', 'addon'],
  /** The same for DescribeNodegroup: not known. A policy that names node groups only would deny it before each first creation. */
  missingNodegroupArn: ['nodegroup', 'path'],
  /** The same for DescribeAccessEntry: not known. */
  missingAccessEntryArn: ['accessEntry', 'path'],
  /** Labels with kubernetes.io/ or k8s.io/: judged by the kubelet (which refuses to start with unknown ones), or refused by EKS as in 2021? */
  reservedLabels: ['kubelet', 'reject'],
  /** Taints with kubernetes.io/ or k8s.io/: accepted, or refused as such labels were in 2021? */
  reservedTaints: ['accept', 'reject'],
  /** In which order does ListUpdates answer? */
  updateOrder: ['oldestFirst', 'newestFirst'],
  /** Does the account already have the service-linked role AWSServiceRoleForAmazonEKSNodegroup? */
  nodegroupServiceRole: ['exists', 'missing'],
  /**
   * As what does EKS let the nodes of a new group with an AMI type WINDOWS_* in when their role has no access? EC2_WINDOWS: the user guide, the
   * comment on CreateAccessEntry.type in the service model, terraform-aws-eks#2471. EC2_LINUX was seen with custom AMIs: containers-roadmap#2327.
   */
  nodegroupAccessEntry: ['EC2_WINDOWS', 'EC2_LINUX', 'none'],
  /** With authentication mode API_AND_CONFIG_MAP, does EKS create that entry also for a role that aws-auth maps already? */
  mappedRoleAccessEntry: ['created', 'none'],
  /** For which service must the caller be allowed to pass the role to CreateAccessEntry? The service authorization reference names none. */
  accessEntryPassRole: ['none', 'eks.amazonaws.com', 'ec2.amazonaws.com'],
  /**
   * Does the account already have the service-linked role AWSServiceRoleForEC2Spot? EC2 needs it for the first Spot Instance of an account:
   * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/service-linked-roles-spot-instance-requests.html
   */
  spotServiceRole: ['exists', 'missing'],
  /** Where a Windows node comes with an access entry of type EC2_LINUX, its kube-proxy lacks permissions. Where does that show? */
  linuxAccessEntry: ['healthIssue', 'notReady', 'nobody'],
  /** What does a change of a node group get while the cluster is UPDATING? */
  changeWhileClusterUpdates: ['invalidRequest', 'invalidParameter'],
  /** After a failed change of version: may the old nodes take pods again? */
  afterFailedUpdate: ['uncordoned', 'cordoned'],
  /** A change of version that names a launch template version, but neither version nor release: does the image stay? */
  templateOnlyUpdate: ['newestRelease', 'keepsRelease'],
  /**
   * Does EKS take a release as soon as SSM names it? SSM was seen ahead of it: awslabs/amazon-eks-ami#559 the other way round, eksctl-io/eksctl#7976 this way.
   */
  releaseInEks: ['later', 'atOnce'],
  /**
   * Does CreateNodegroup take a Kubernetes version that is older than the cluster's? "By default, the Kubernetes version of the cluster is used, and this is the
   * only accepted specified value": the SDK's comment on CreateNodegroupRequest.version.
   */
  olderVersionAtCreation: ['reject', 'accept'],
  /** Does DescribeAutoScalingGroups list the instances of a warm pool among the group's? Its reference only has WarmPoolSize; DescribeWarmPool lists them. */
  warmInstances: ['hidden', 'listed'],
  /** When does a node get the labels and taints of its group: as it registers, or up to 30 s after it is Ready as in aws/containers-roadmap#1962? */
  groupSettingsOnNodes: ['atRegistration', 'later'],
  /** Do the instances that a change of version needs for a while show in DescribeNodegroup's scalingConfig? */
  rolloutGrowth: ['hidden', 'shown'],
  /**
   * What does TerminateInstanceInAutoScalingGroup of an instance get that leaves already? Accepted hundreds of times: kubernetes/autoscaler#2930; with
   * a smaller size each time: #4095. ScalingActivityInProgress is in the service model.
   */
  repeatedTermination: ['accept', 'refuse'],
  /** Windows AMI types outside the commercial Regions: the model of CreateNodegroup says "only supported for commercial AWS Regions". */
  windowsOutsideCommercialRegions: ['reject', 'accept'],
  /** Do Windows nodes of a node group beside Auto Mode get addresses for their pods, where the vpc-cni add-on is installed? Without it they don't. */
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
   * What does a node get while the cluster's role lacks AmazonEKSVPCResourceController? Its troubleshooting page expects no capacity; the source
   * advertises it before the first address is taken, so that pods wait instead. No event tells either way: the controller only logs it.
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
