/** What a kubelet on Windows does unless it is configured otherwise. */

/**
 * The defaults of a kubelet on Windows: https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/eviction/defaults_windows.go. If one threshold is
 * set, the kubelet sets those that are left out to zero, and such a node would fill its disk:
 * https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/#hard-eviction-thresholds
 */
export const DEFAULT_EVICTION_HARD = { 'memory.available': '500Mi', 'nodefs.available': '10%' } as const;

/** How many pods a kubelet accepts: maxPods in https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/ */
export const DEFAULT_MAX_PODS = 110;

/** The most that nodeGroup.kubelet.maxPods can be, and that AWS names: https://aws.amazon.com/blogs/containers/increasing-pod-density-for-windows-nodes-on-amazon-eks/ */
export const MOST_PODS = 250;
