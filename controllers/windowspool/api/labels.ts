/** The labels, annotations, taints and tags that the operator uses. */

/** The operator owns every label, taint and tag with this prefix: the schema rejects it in specs. */
export const OWN_PREFIX = 'winpool.dev/';

/** The tag of a node group and the label of its nodes, with the pool's name. Not its UID, because backup tools and GitOps change UIDs. */
export const POOL_KEY = 'winpool.dev/pool';

/**
 * The tag of a node group, and the annotation of a RuntimeClass, by which its owner permits a pool, the value, to adopt or replace it. The operator only
 * reads it.
 */
export const ADOPTABLE_BY = 'winpool.dev/adoptable-by';

/** The label of a group's nodes with the build that they should have. The kubelet's own label has the build that they run. */
export const EXPECTED_BUILD_LABEL = 'winpool.dev/windows-build';

/** The tag with a hash of what the group was created from: a failed creation is retried at once when the hash would differ. */
export const CREATED_FROM_TAG = 'winpool.dev/created-from';

/** The tag of a canary, with the hash of the version that is tried on it: without it, the group would be the one that serves the pool. */
export const CANARY_TAG = 'winpool.dev/canary';

/** The tag of a launch template with the name of the cluster whose operator may use it: the IAM policy requires it. */
export const USABLE_BY_TAG = 'winpool.dev/usable-by';
/** Annotation of a MachineDeployment or MachineSet: the pool that may change its size and delete its Machines. */
export const USABLE_BY_ANNOTATION = 'winpool.dev/usable-by';

/** Annotation of an object that the operator created: the hash of machines.template, or of the manifest of a NodePool, that was applied last. */
export const TEMPLATE_HASH_ANNOTATION = 'winpool.dev/template-hash';

/** The label that EKS puts on every node of a managed node group. */
export const NODE_GROUP_LABEL = 'eks.amazonaws.com/nodegroup';

/** Keeps a deleted pool until its node group is gone. */
export const FINALIZER = 'winpool.dev/finalizer';

/** The annotation that pauses a pool like spec.paused, with any value but `false`: a typo must not let the operator continue. */
export const PAUSED_ANNOTATION = 'winpool.dev/paused';

/** The annotation that retries what failed, whenever its value changes. */
export const RETRY_ANNOTATION = 'winpool.dev/retry';

/** The annotation that lists the prerequisites to ignore, by reason: `NodeRoleShared,TooFewAddresses`. */
export const IGNORE_PREREQUISITES_ANNOTATION = 'winpool.dev/ignore-prerequisites';

/** The condition of a Node with the result of its verification. */
export const VERIFIED_CONDITION = 'winpool.dev/Verified';

/**
 * Conditions of a Node that the operator reads again later: what happened to the node once cannot be observed again. They are written together with
 * winpool.dev/Verified, and like the kubelet's, they are True while something is wrong.
 */
export const IMAGES_PENDING_CONDITION = 'winpool.dev/ImagesPending';
export const SMOKE_TEST_PENDING_CONDITION = 'winpool.dev/SmokeTestPending';
export const GATE_TAINT_MISSING_CONDITION = 'winpool.dev/GateTaintMissing';

/** The conditions that the operator sets on a Node. */
export const OWN_CONDITIONS = [
  VERIFIED_CONDITION,
  IMAGES_PENDING_CONDITION,
  SMOKE_TEST_PENDING_CONDITION,
  GATE_TAINT_MISSING_CONDITION,
] as const;

/** The prefix of the tags that tell the cluster-autoscaler what a new node looks like. Status records the rest: `label/team`, `taint/os`. */
export const AUTOSCALER_PREFIX = 'k8s.io/cluster-autoscaler/node-template/';

/** The annotation in which a pool of existing nodes records what it changed on a node. */
export const OWNERSHIP_ANNOTATION = 'winpool.dev/ownership';

/**
 * Annotations by which users request operations on a node, with the value `true`. A user who can annotate nodes can terminate instances: replace drains
 * the node and terminates its instance, so that the group starts another; remove also shrinks the group by one.
 */
export const REPLACE_ANNOTATION = 'winpool.dev/replace';
export const REMOVE_ANNOTATION = 'winpool.dev/remove';
/** With the value `true`, the node is terminated without a drain. */
export const EXCLUDE_FROM_DRAIN_ANNOTATION = 'winpool.dev/exclude-from-drain';
/** With any value, the node is not remediated. The operator sets `timed-out` or `refused` after a failed attempt. */
export const REMEDIATION_ANNOTATION = 'winpool.dev/remediation';
/** Who cordoned a terminating node: `by-operator`, or `before` for another controller or user, whose cordon stays. */
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

/** The taint of nodes that Cluster API has not initialized yet: https://cluster-api.sigs.k8s.io/developer/providers/contracts/bootstrap-config#taint-nodes-at-creation */
export const UNINITIALIZED_TAINT_KEY = 'node.cluster.x-k8s.io/uninitialized';

/** The label of nodes by operating system, which the kubelet sets. The operator watches only Windows nodes. */
export const OS_LABEL = 'kubernetes.io/os';
export const WINDOWS = 'windows';

/** The label that says who created a RuntimeClass or a pod. */
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
export const MANAGED_BY = 'windowspool-operator';

/** The label that says what a pod of the operator on a node is for. */
export const PURPOSE_LABEL = 'app.kubernetes.io/component';

/**
 * The taint of nodes that are not verified yet (verification.policy Gate). The cluster-autoscaler treats a node with a taint of this prefix as still
 * starting, and leaves the taint out when it simulates a new node:
 * https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md#how-does-cluster-autoscaler-treat-nodes-with-taints
 * EKS accepts keys of at most 63 characters.
 */
export const GATE_TAINT_KEY = 'startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate';

/**
 * The gate taint in case EKS rejects that prefix, which no source rules out: EKS rejected labels with kubernetes.io/ in 2021. The cluster-autoscaler
 * must know it from its flag --startup-taint.
 */
export const PLAIN_GATE_TAINT_KEY = 'winpool.dev/unverified';

/**
 * The taint of nodes that fail an enforced check; its value is the reason. The cluster-autoscaler does not expect the taint on a new node, and counts
 * a node that has it as started (same source).
 */
export const QUARANTINE_TAINT_KEY = 'status-taint.cluster-autoscaler.kubernetes.io/winpool-quarantine';
