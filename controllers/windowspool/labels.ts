/** The names under which the operator marks what is its own. */

/** Every label, taint and tag under this prefix is the operator's: the schema refuses it to users. */
export const OWN_PREFIX = 'winpool.dev/';

/** The tag of a node group and the label of its nodes: the pool's name. By name, because backup tools and GitOps change UIDs. */
export const POOL_KEY = 'winpool.dev/pool';

/** The label that the group's nodes get: the build that they should have. The kubelet's own label says which they have. */
export const EXPECTED_BUILD_LABEL = 'winpool.dev/windows-build';

/** The tag with a hash of what the group was created from: a failed creation is repeated at once when it would differ. */
export const CREATED_FROM_TAG = 'winpool.dev/created-from';

/** The label that EKS puts on every node of a managed node group. */
export const NODE_GROUP_LABEL = 'eks.amazonaws.com/nodegroup';

/** Holds a deleted pool until its node group is gone. */
export const FINALIZER = 'winpool.dev/finalizer';

/** The annotation that pauses a pool like spec.paused, with any value but `false`: a typo must not let the operator go on. */
export const PAUSED_ANNOTATION = 'winpool.dev/paused';

/** The annotation that asks for another try of what failed, by any other value than it had then. */
export const RETRY_ANNOTATION = 'winpool.dev/retry';

/** The annotation of a pool that lists prerequisites which must not hold it back, by their reasons: `NodeRoleShared,TooFewAddresses`. */
export const IGNORE_PREREQUISITES_ANNOTATION = 'winpool.dev/ignore-prerequisites';

/** The condition of a Node that says what its pool's checks found. */
export const VERIFIED_CONDITION = 'winpool.dev/Verified';

/** What the tags begin with by which the cluster-autoscaler knows a new node. Status remembers the rest: `label/team`, `taint/os`. */
export const AUTOSCALER_PREFIX = 'k8s.io/cluster-autoscaler/node-template/';

/** The annotation in which a pool of existing nodes records what it did to a node. */
export const OWNERSHIP_ANNOTATION = 'winpool.dev/claim';

/**
 * The annotations of a node by which people say what becomes of it, with the value `true`. Who may annotate nodes may end instances:
 * replace drains the node and ends its instance, so that another one starts; remove makes the group smaller by it.
 */
export const REPLACE_ANNOTATION = 'winpool.dev/replace';
export const REMOVE_ANNOTATION = 'winpool.dev/remove';
/** With the value `true`, the node is ended without being drained. */
export const EXCLUDE_FROM_DRAIN_ANNOTATION = 'winpool.dev/exclude-from-drain';
/** With any value, the node is not replaced although it fails. It gets `timed-out` or `refused` where that was tried. */
export const REMEDIATION_ANNOTATION = 'winpool.dev/remediation';
/** Says who cordoned a node that goes: `by-operator`, or `before`, and then the cordon is somebody else's and is not taken back. */
export const CORDONED_ANNOTATION = 'winpool.dev/cordoned';
export const CORDONED_BY_OPERATOR = 'by-operator';
export const CORDONED_BEFORE = 'before';

export const OPERATION_ANNOTATIONS = [
  REPLACE_ANNOTATION,
  REMOVE_ANNOTATION,
  EXCLUDE_FROM_DRAIN_ANNOTATION,
  REMEDIATION_ANNOTATION,
  CORDONED_ANNOTATION,
] as const;

/** The label of every node of Windows, by which nodes are watched. The kubelet sets it. */
export const OS_LABEL = 'kubernetes.io/os';
export const WINDOWS = 'windows';

/** The annotation in which a RuntimeClass says which builds of images its nodes run, for people and other tools: `10.0.26100,10.0.20348`. */
export const IMAGE_BUILDS_ANNOTATION = 'winpool.dev/image-builds';

/** Where a RuntimeClass says who made it. */
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
export const MANAGED_BY = 'windowspool-operator';

/**
 * The taint of nodes that were not verified yet (verification.policy Gate). The cluster-autoscaler takes a node with a taint of this prefix
 * for one that still starts, and leaves the taint out when it simulates a new node:
 * https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md#how-does-cluster-autoscaler-treat-nodes-with-taints
 * EKS takes keys of at most 63 characters.
 */
export const GATE_TAINT_KEY = 'startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate';

/**
 * The same taint where EKS refuses that prefix, which no source excludes: labels with kubernetes.io/ were refused in 2021. The
 * cluster-autoscaler has to be told of it by its flag --startup-taint.
 */
export const PLAIN_GATE_TAINT_KEY = 'winpool.dev/unverified';

/**
 * The taint of nodes that fail an enforced check; its value is the reason. The cluster-autoscaler does not expect a new node to have a taint
 * of this prefix, and counts a node that has it as started (same source).
 */
export const QUARANTINE_TAINT_KEY = 'status-taint.cluster-autoscaler.kubernetes.io/winpool-quarantine';
