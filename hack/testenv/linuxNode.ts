/** The Linux node that a cluster must have before Windows nodes join it. */
/** Outside of the addresses of the benches' nodes, which are counted from 10.0.0.0. */
const NAME = 'ip-10-255-0-10.eu-west-1.compute.internal';

/** A Linux node on which CoreDNS would run. kwok plays its kubelet. */
export function linuxNode(): object {
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: NAME,
      annotations: { 'kwok.x-k8s.io/node': 'fake' },
      labels: { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64', 'kubernetes.io/hostname': NAME },
    },
    spec: { providerID: 'aws:///eu-west-1a/i-00000000000000010' },
    status: {
      capacity: { cpu: '2', memory: '8Gi', pods: '29' },
      allocatable: { cpu: '2', memory: '7Gi', pods: '29' },
      // As the kubelet says it at its registration; kwok goes on saying it.
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          message: 'kubelet is posting ready status',
          lastHeartbeatTime: now,
          lastTransitionTime: now,
        },
      ],
      nodeInfo: {
        operatingSystem: 'linux',
        architecture: 'amd64',
        osImage: 'Amazon Linux 2023',
        kernelVersion: '6.1.147',
        kubeletVersion: 'v1.36.1-eks-1234567',
        containerRuntimeVersion: 'containerd://2.1.6',
        kubeProxyVersion: '',
        machineID: '',
        systemUUID: '',
        bootID: '',
      },
    },
  };
}
