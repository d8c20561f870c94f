/** What the scheduler and autoscalers say of a pod without a node, and the kubelet of a pod that it rejects. */
import type { KnownError } from './knownError.ts';

export const SCHEDULING_ERRORS: readonly KnownError[] = [
  {
    name: 'VolumeInOtherZone',
    writtenBy: 'kube-scheduler',
    pattern: /volume node affinity conflict/i,
    cause: 'The volume of the pod can only be attached in another zone than that of these nodes.',
    remedy:
      'Add nodes in the zone of the volume (kubectl describe pv): a subnet of that zone in nodeGroup.subnets. For new volumes, use a StorageClass with volumeBindingMode: WaitForFirstConsumer.',
    source: 'https://kubernetes.io/docs/concepts/storage/storage-classes/#volume-binding-mode',
  },
  {
    name: 'VolumeUnbound',
    writtenBy: 'kube-scheduler',
    pattern: /unbound immediate PersistentVolumeClaims/i,
    cause: 'A PersistentVolumeClaim of the pod has no volume yet.',
    remedy: 'Look at its events (kubectl describe pvc). The nodes are not the cause.',
    source: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/#binding',
  },
  {
    name: 'TooManyPods',
    writtenBy: 'kube-scheduler',
    pattern: /\bToo many pods\b/i,
    cause: 'Nodes that fit the pod run as many pods as their kubelets allow.',
    remedy: 'Use more nodes, or raise nodeGroup.kubelet.maxPods if the nodes have memory and addresses for more pods.',
    source: 'https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/',
  },
  {
    name: 'HostPortTaken',
    writtenBy: 'kube-scheduler',
    pattern: /didn't have free ports for the requested pod ports/i,
    cause: 'Pods on these nodes have the hostPort that the pod requests.',
    remedy:
      'Use more nodes than pods with this hostPort, also during an update (maxSurge), or a Service instead of hostPort.',
    source: 'https://kubernetes.io/docs/concepts/configuration/overview/',
  },
  {
    name: 'NodeGroupAtMaximum',
    writtenBy: 'cluster-autoscaler (event NotTriggerScaleUp)',
    pattern: /max node group size reached/i,
    cause: 'The cluster-autoscaler adds no node: a node group has its maximum size.',
    remedy: 'If it is the group of the pool, raise nodeGroup.scaling.maxSize.',
    source: 'https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md',
  },
  {
    name: 'RejectedByAffinity',
    writtenBy: 'kubelet (status.reason NodeAffinity)',
    pattern: /Predicate NodeAffinity failed/i,
    cause: 'The labels of the node changed after the pod was scheduled to it, so that it no longer fits the pod.',
    remedy:
      'Delete the pod: its controller creates another one. Compare nodeSelector and affinity of the pod with the labels of the node (kubectl get node --show-labels), such as after an upgrade of Windows in place.',
    source: 'kubernetes/kubernetes pkg/kubelet/lifecycle/predicate.go',
  },
  {
    name: 'RejectedByResources',
    writtenBy: 'kubelet (status.reason OutOf and the resource)',
    pattern: /Node didn't have enough resource: /i,
    cause: 'The node did not have enough of the resource when the pod arrived: other pods had taken it.',
    remedy: 'Delete the pod: its controller creates another one. If it occurs often, use more or larger nodes.',
    source: 'kubernetes/kubernetes pkg/kubelet/lifecycle/predicate.go',
  },
  {
    name: 'InsufficientResources',
    writtenBy: 'kube-scheduler',
    pattern: /\bInsufficient (?:cpu|memory|ephemeral-storage)\b/,
    cause: 'Nodes that otherwise fit the pod have less CPU, memory or disk space left than it requests.',
    remedy:
      'The message names the resource. Lower the requests of the pod, or use more or larger nodes. kubectl describe node shows what the other pods of a node request.',
    source:
      'https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#my-pods-are-pending-with-event-message-failedscheduling',
  },
];
