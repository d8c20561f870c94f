/** Durations in seconds at speed 1. A second stands for about a minute of the real EKS. */
export const durations = {
  /** From the create call until its instances are launched. */
  launch: 0.5,
  /** From launch until the kubelet registers. */
  boot: 1,
  /** From the end of its first boot until an instance of a warm pool is stopped or hibernated. */
  stop: 0.3,
  /**
   * From when an instance leaves the warm pool until its kubelet registers, by the state of the pool. Not measured: a stopped instance boots without the
   * steps of its first boot, a hibernated one only resumes, and on a running one only the kubelet starts.
   */
  startStopped: 0.5,
  startHibernated: 0.3,
  startRunning: 0.2,
  /** From registration until EKS has set the labels and taints of the group on the node, where it does that later. */
  lateSettings: 0.5,
  /** From registration until the VPC resource controller has given the node its pod addresses. */
  podAddresses: 0.5,
  /** CREATING. */
  create: 3,
  /** How long EKS waits for nodes that don't join before a creation fails. */
  joinTimeout: 20,
  /** From one attempt of a kubelet to register until the next. */
  joinRetry: 1,
  /** From a change of access to the cluster, or the end of a change of a group, until EKS has checked the group's health. */
  healthCheck: 1,
  /** UPDATING, for a change of configuration. */
  configUpdate: 1.5,
  /** UPDATING, of an add-on. */
  addonUpdate: 1,
  /** From the request for another version until the Auto Scaling group launches it. */
  versionSetup: 0.5,
  /** How long the nodes of another version may take to join. */
  versionJoin: 15,
  /** How long pods may take to leave a node. */
  drain: 15,
  /** How long they take without a Kubernetes API server. */
  memoryDrain: 0.2,
  /** From an empty node until its instance is terminated, so that load balancers deregister it. */
  drained: 0.2,
  /** From when Auto Scaling takes an instance out of service until EKS gets the event of its lifecycle hook. */
  hook: 0.5,
  /** From the termination of an instance until the cloud controller deletes its Node, which is not Ready by then. */
  lostNode: 0.5,
  /** The polling interval of EKS. */
  look: 0.1,
  /** An upgrade of the cluster itself. */
  clusterUpgrade: 8,
  /** From the publication of a new release in SSM until EKS accepts it. */
  releaseLag: 4,
  /** DELETING; the instances are terminated half-way. */
  delete: 2,
  /** From the termination of an instance until DescribeInstances no longer returns it. */
  forgetInstance: 60,
} as const;
