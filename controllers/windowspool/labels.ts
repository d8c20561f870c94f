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

/** Where a RuntimeClass says who made it. */
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
export const MANAGED_BY = 'windowspool-operator';
