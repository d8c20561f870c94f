/** Errors of the network of pods: of the VPC resource controller, the CNI plugins and the Host Network Service of Windows. */
import type { KnownError, Subject } from './knownError.ts';

const CNI_PLUGINS: Subject = {
  name: 'CNI plugins',
  pattern:
    /plugin type=|networkPlugin cni|failed to (?:setup|set up|destroy) network for sandbox|failed \((?:add|delete)\)/i,
};

export const NETWORK_ERRORS: readonly KnownError[] = [
  {
    name: 'SubnetWithoutBlocks',
    writtenBy:
      'the VPC resource controller (events ResourceAllocationFailed of a pod, InsufficientCidrBlocks of a node)',
    pattern: /not have enough free cidr blocks|InsufficientCidrBlocks/i,
    cause: 'The subnet of the node has no free block of 16 addresses, which prefix delegation needs.',
    remedy:
      'Reserve a CIDR range for prefixes in the subnet (aws ec2 create-subnet-cidr-reservation), use subnets with more addresses, or turn prefix delegation off.',
    source: 'aws/amazon-vpc-resource-controller-k8s pkg/handler/warm.go, aws/amazon-vpc-resource-controller-k8s#264',
  },
  {
    name: 'InstanceTypeUnsupported',
    writtenBy: 'the VPC resource controller (event Unsupported of a node)',
    pattern: /instance type \S{1,64} is not supported (?:for Windows|yet by the vpc resource controller)/i,
    cause: 'The VPC resource controller does not support the instance type, so pods on the node get no addresses.',
    remedy: 'Use another type in nodeGroup.instanceTypes. This does not change while the nodes run.',
    isLasting: true,
    source: 'aws/amazon-vpc-resource-controller-k8s pkg/node/node.go, aws/karpenter-provider-aws#4604',
  },
  {
    name: 'AddressesCoolingDown',
    writtenBy: 'the VPC resource controller (event ResourceAllocationFailed of a pod)',
    pattern: /vpc\.amazonaws\.com\/PrivateIPv4Address are being cooled down/i,
    cause: 'The addresses of pods that were deleted are not given out again for 30 seconds.',
    remedy: 'Wait. If this occurs often, use more or larger nodes.',
    source: 'aws/amazon-vpc-resource-controller-k8s pkg/handler/warm.go',
  },
  {
    name: 'NoWarmAddress',
    writtenBy: 'the VPC resource controller (event ResourceAllocationFailed of a pod)',
    pattern: /warm pool for resource vpc\.amazonaws\.com\/PrivateIPv4Address is currently empty/i,
    cause: 'The node has no free address for the pod yet.',
    remedy:
      'Wait some seconds. If it remains, the subnet has no free addresses: compare AvailableIpAddressCount (aws ec2 describe-subnets).',
    isPossible: true,
    source: 'aws/amazon-vpc-resource-controller-k8s pkg/handler/warm.go',
  },
  {
    name: 'NodeOutOfPodAddresses',
    writtenBy: 'kube-scheduler',
    pattern: /Insufficient vpc\.amazonaws\.com\/PrivateIPv4Address/,
    cause: 'All pod addresses of the Windows nodes that fit the pod are taken.',
    remedy: 'Use more or larger nodes, or enable prefix delegation, with which a node has more addresses.',
    source: 'aws/containers-roadmap#240, https://docs.aws.amazon.com/eks/latest/best-practices/windows-networking.html',
  },
  {
    name: 'PodWithoutAddress',
    writtenBy: 'the VPC CNI plugin for Windows',
    pattern:
      /does not have label vpc\.amazonaws\.com\/PrivateIPv4Address|failed to assign an IP address to (?:pod|container)/i,
    cause: 'The pod did not get an IP address.',
    remedy:
      'If the pod has a limit of vpc.amazonaws.com/PrivateIPv4Address, look at its event ResourceAllocationFailed and at the addresses of the node. If not, set nodeSelector kubernetes.io/os: windows, so that the webhook of EKS adds it, and check that Windows IPAM is enabled (kubectl windowspool doctor).',
    isGeneric: true,
    isPossible: true,
    source: 'https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html',
  },
  {
    name: 'CNINotInitialized',
    writtenBy: 'containerd, in the condition Ready of a node and in events FailedCreatePodSandBox',
    pattern:
      /cni plugin not initialized|cni config uninitialized|NetworkPluginNotReady|loadFlannelSubnetEnv failed|failed to find plugin "[^"]{0,64}" in path/i,
    cause: 'The CNI plugin of the node is not set up.',
    remedy:
      'On EKS, the bootstrap script of the AMI does that: read its log on the node (C:\\ProgramData\\Amazon\\EKS\\logs). On other nodes, the DaemonSet of the network does it: check that its pods run on the node.',
    source: 'kubernetes-sigs/sig-windows-tools#362',
  },
  {
    name: 'CNIUnauthorized',
    writtenBy: 'Calico (events FailedCreatePodSandBox, FailedKillPod)',
    pattern: /connection is unauthorized|: Unauthorized\b/i,
    within: CNI_PLUGINS,
    cause: 'The API server does not accept the credentials of the CNI plugin on the node.',
    remedy:
      'The token in the kubeconfig of the plugin has expired or was revoked: restart the pod of the network on the node (calico-node-windows), which writes a new one. If it returns each day, update the network. If the clock of the node is wrong, correct it (w32tm /query /status).',
    source: 'projectcalico/calico#8757, projectcalico/calico#8379',
  },
  {
    name: 'CNIWithoutAPIServer',
    writtenBy: 'CNI plugins (events FailedCreatePodSandBox, FailedKillPod)',
    pattern: /dial tcp\b.{0,256}(?:timeout|refused|did not properly respond|no such host|unreachable)/i,
    within: CNI_PLUGINS,
    cause: 'The CNI plugin of the node cannot reach the API server.',
    remedy:
      'If the address in the message is that of the Service kubernetes, look at kube-proxy on the node. Otherwise, look at the routes and the security groups of the node.',
    source: 'https://kubernetes.io/docs/tasks/debug/debug-cluster/windows/',
  },
  {
    name: 'HNSPortInUse',
    writtenBy: 'the Host Network Service of Windows (HCN_E_PORT_ALREADY_EXISTS)',
    pattern: /0x803b0013|the specified port already exists/i,
    cause: 'Another endpoint on the node has the port: that of another pod with the same hostPort, or a leftover one.',
    remedy:
      'Let one pod with this hostPort run on a node, or use a Service. If the node has no other pod with it, replace the node.',
    source: 'https://learn.microsoft.com/windows-server/networking/technologies/hcn/hcn-top',
  },
  {
    name: 'HNSFailed',
    writtenBy: 'the Host Network Service (HNS) of Windows, through CNI plugins and hcsshim',
    pattern:
      /HNS failed with error|hnsCall failed|\bhcn[A-Z]\w{1,40} failed|HNS ?(?:Endpoint|Network)\b|operation for attach namespace failed|(?:plugin|cni)\b.{0,512}\bNetwork \S{1,128} not found|0x803b00[0-9a-f]{2}\b/i,
    cause: 'The Host Network Service of the node cannot set up or remove the network of the pod.',
    remedy:
      'If pods on other nodes start, the state of HNS on this node is broken, such as by a leftover endpoint or a lost network: replace the node. A restart of the service hns interrupts the network of all its pods. If it occurs on all nodes, compare the configuration of the network plugin (names of networks, subnets of pods and Services).',
    source:
      'kubernetes/kubernetes#74766, openshift/windows-machine-config-bootstrapper#210, Azure/aks-engine#853, projectcalico/calico#5189, projectcalico/calico#6974, https://learn.microsoft.com/windows-server/networking/technologies/hcn/hcn-top',
  },
];
