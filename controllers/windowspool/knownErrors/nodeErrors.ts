/** Errors in the condition Ready of nodes. */
import type { KnownError } from './knownError.ts';

export const NODE_ERRORS: readonly KnownError[] = [
  {
    name: 'KubeletSilent',
    writtenBy: 'kube-controller-manager (reasons NodeStatusUnknown, NodeStatusNeverUpdated)',
    pattern: /kubelet (?:stopped|never) post(?:ing|ed) node status/i,
    cause: 'The kubelet of the node no longer reports to the API server.',
    remedy:
      'If the instance is stopped or terminated, its group replaces it. If it runs but does not respond, it may be out of memory, because Windows has no OOM killer: replace it, set memory limits for all containers, and reserve memory for Windows. If it responds, check the service kubelet, its client certificate, which may have expired, and the route to the API server.',
    source:
      'Azure/AKS#2491, Azure/aks-engine#2441, kubernetes/kubernetes#77943, kubernetes/kubernetes#106499, projectcalico/calico#9178',
  },
  {
    name: 'NodeShutDown',
    writtenBy: 'kubelet, in the condition Ready of a node and in status.message of a pod',
    pattern: /node is shutting down|imminent node shutdown/i,
    cause: 'The node is being shut down.',
    remedy:
      'Pods with a controller are created again on other nodes. If nobody stopped the node, look at the state of its instance, such as an interruption of Spot capacity.',
    source: 'https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/',
  },
  {
    name: 'RuntimeTooSlow',
    writtenBy: 'kubelet, in the condition Ready of a node',
    pattern: /PLEG is not healthy/i,
    cause: 'containerd takes more than 3 minutes to list the containers of the node.',
    remedy:
      'If the CPU or the disk of the node is busy, or it runs many pods, use larger nodes or fewer pods (nodeGroup.kubelet.maxPods). Otherwise, containerd hangs: replace the node.',
    source: 'kubernetes/kubernetes pkg/kubelet/pleg/generic.go',
  },
];
