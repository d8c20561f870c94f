/** The configuration files of the programs of a real node. Pure. */
import { CNI_FOLDER } from './distribution.ts';
import { PAUSE_IMAGE } from './images.ts';

/** Of all pods. */
export const POD_CIDR = '10.244.0.0/16';
/** The Service of CoreDNS, by the convention of kubeadm. */
export const DNS_ADDRESS = '10.96.0.10';

/** One node: nodes share the network namespace, and nothing else. */
export interface NodeLayout {
  /** Counted from 1. */
  readonly number: number;
  readonly name: string;
  /** Of its kubelet. */
  readonly address: string;
  readonly dir: string;
  readonly containerdSocket: string;
}

export function nodeLayout(number: number, dir: string): NodeLayout {
  return {
    number,
    name: `node-${number}`,
    address: `172.31.255.${10 + number}`,
    dir: `${dir}/${number}`,
    // A socket's path has at most 107 characters.
    containerdSocket: `/run/containerd-${number}.sock`,
  };
}

/** Format: https://github.com/containerd/containerd/blob/main/docs/cri/config.md */
export function containerdConfig({ dir, containerdSocket }: NodeLayout, registries: string): string {
  return `version = 3
root = '${dir}/containerd'
state = '${dir}/containerd-state'
[grpc]
  address = '${containerdSocket}'
[ttrpc]
  address = '${containerdSocket}.ttrpc'
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = '${PAUSE_IMAGE}'
[plugins.'io.containerd.cri.v1.images'.registry]
  config_path = '${registries}'
[plugins.'io.containerd.cri.v1.runtime']
  # Without the capability SYS_RESOURCE, no process may get a lower score.
  restrict_oom_score_adj = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ['${CNI_FOLDER}']
  conf_dir = '${dir}/cni'
`;
}

/** A bridge of its own for each node. Format: https://www.cni.dev/docs/spec/ */
export function cniConfig({ number, dir }: NodeLayout): object {
  const ranges = [[{ subnet: `10.244.${number}.0/24` }]];
  return {
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: `pods${number}`,
        isGateway: true,
        hairpinMode: true,
        ipam: { type: 'host-local', ranges, routes: [{ dst: '0.0.0.0/0' }], dataDir: `${dir}/addresses` },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}

/**
 * Nobody else reaches the kubelet in these namespaces, so it trusts every client, as the API server is one that cannot log in without a certificate.
 * Format: https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/
 */
export function kubeletConfig({ dir, address, containerdSocket }: NodeLayout, cgroup: string): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address,
    healthzBindAddress: address,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}`,
    enforceNodeAllocatable: [],
    // Machines with cgroup v1 or swap still run tests.
    failCgroupV1: false,
    failSwapOn: false,
    clusterDNS: [DNS_ADDRESS],
    clusterDomain: 'cluster.local',
    // No names are resolved outside of the cluster.
    resolvConf: '',
    podLogsDir: `${dir}/pod-logs`,
    // The machine's disk may be fuller than the defaults allow.
    evictionHard: {
      'nodefs.available': '1Mi',
      'imagefs.available': '1Mi',
      'nodefs.inodesFree': '1',
      'memory.available': '50Mi',
    },
    // For the same reason: at 100, the kubelet removes no image. What a test imported cannot be pulled again.
    imageGCHighThresholdPercent: 100,
    // Otherwise, an image that a pod has pulled from a registry before cannot be used under the name with which it was imported.
    imagePullCredentialsVerificationPolicy: 'NeverVerify',
    imageGCLowThresholdPercent: 99,
    // Faster than the defaults, so that tests do not wait.
    nodeStatusUpdateFrequency: '2s',
    fileCheckFrequency: '1s',
    syncFrequency: '10s',
  };
}

/** CoreDNS listens on the address of the host, behind the Service kube-dns. */
export function corefile(address: string, kubeconfig: string): string {
  return `.:53 {
  bind ${address}
  errors
  health ${address}:8080
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${kubeconfig}
  }
}
`;
}
