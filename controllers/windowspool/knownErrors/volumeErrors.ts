/** Errors of volumes. The kubelet and the controller that attaches volumes write them before the containers of a pod start. */
import type { KnownError, Subject } from './knownError.ts';

const SMB: Subject = { name: 'SMB shares', pattern: /SmbGlobalMapping/i };

export const VOLUME_ERRORS: readonly KnownError[] = [
  {
    name: 'CSIDriverNotOnNode',
    writtenBy: 'kubelet (event FailedMount), kube-controller-manager (event FailedAttachVolume)',
    pattern:
      /driver name \S{1,128} not found in the list of registered CSI drivers|CSINode \S{1,253} does not contain driver/i,
    cause: 'The CSI driver is not registered on the node.',
    remedy:
      'If the node is new, wait until the pod of the driver runs on it. Otherwise, look at its DaemonSet for Windows: many charts install one only with a value such as windows.enabled, and some drivers do not support Windows, such as that of EFS.',
    source:
      'kubernetes-csi/csi-driver-smb#427, kubernetes-csi/csi-driver-smb#594, https://docs.aws.amazon.com/eks/latest/userguide/efs-csi.html',
  },
  {
    name: 'CSIProxyUnavailable',
    writtenBy: 'CSI drivers for Windows, in an event FailedMount',
    pattern: /pipe[\\/]+csi-proxy/i,
    cause: 'csi-proxy does not run on the node, or not with the version of the API that the CSI driver uses.',
    remedy:
      'Check the service csi-proxy on the node (Get-Service csi-proxy) and its version, or use a version of the driver that runs in HostProcess containers and needs no csi-proxy.',
    source: 'kubernetes-sigs/aws-ebs-csi-driver#1322, kubernetes-csi/csi-driver-smb#233',
  },
  {
    name: 'CSIDriverNotResponding',
    writtenBy: 'kubelet (event FailedMount)',
    pattern: /csi\.sock\b.{0,128}(?:refused|cannot find|no such file)/i,
    cause: 'The CSI driver on the node does not respond.',
    remedy: 'Look at the pod of the driver on the node, and read the logs of its containers.',
    source: 'kubernetes-csi/csi-driver-smb#148',
  },
  {
    name: 'SMBServerNotFound',
    writtenBy: 'the CSI drivers of SMB and Azure Files, in an event FailedMount',
    pattern: /network path was not found|network name cannot be found|(?:System Error|result:) (?:53|67)\b/i,
    within: SMB,
    cause: 'The node does not find the server of the SMB share, or the share.',
    remedy:
      'The node resolves the name, not the pod: names of Services such as server.default.svc.cluster.local do not work. Use a name that the DNS of the node knows, or an address, and let the node reach TCP port 445 of the server.',
    source: 'kubernetes-csi/csi-driver-smb#294, kubernetes-csi/csi-driver-smb#432',
  },
  {
    name: 'SMBLogonFailed',
    writtenBy: 'the CSI drivers of SMB and Azure Files, in an event FailedMount',
    pattern: /password is (?:incorrect|not correct)|(?:System Error|result:) (?:86|1326)\b/i,
    within: SMB,
    cause: 'The server of the SMB share does not accept the user or the password.',
    remedy: 'Correct the Secret of the volume (nodeStageSecretRef). A user of a domain has the form DOMAIN\\user.',
    source: 'kubernetes-csi/csi-driver-smb#520',
  },
  {
    name: 'SMBOtherUser',
    writtenBy: 'the CSI drivers of SMB and Azure Files, in an event FailedMount',
    pattern: /multiple connections to a server|(?:System Error|result:) 1219\b/i,
    within: SMB,
    cause: 'The node is already connected to the server of the SMB share as another user, and Windows allows only one.',
    remedy:
      'Use the same user for all volumes of this server. If the password was changed, drain and replace the node: a connection remains when no pod uses it.',
    source: 'kubernetes-csi/csi-driver-smb#219',
  },
  {
    name: 'VolumeAttachedElsewhere',
    writtenBy: 'kube-controller-manager (event FailedAttachVolume)',
    pattern: /Multi-Attach error for volume/i,
    cause: 'The volume is attached to another node.',
    remedy:
      'Wait until the pod that uses it has ended: kubectl get volumeattachments shows the node. If that node does not come back, terminate its instance. The volume is then detached.',
    source: 'https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/#non-graceful-node-shutdown',
  },
  {
    name: 'MountInvalid',
    writtenBy: 'hcsshim when it creates a container',
    pattern:
      /CreateComputeSystem\b.{0,256}(?:the directory name is invalid|\(0x10b\)|the parameter is incorrect|\(0x57\)|volume label syntax is incorrect|\(0x7b\))/i,
    cause: 'A volume of the pod cannot be mounted into the container.',
    remedy:
      'If the pod mounts a single file, such as with subPath or with the hostPath of a file, mount its folder. If mountPath or hostPath has a drive or a folder that does not exist, or a link, correct it. If other pods with the same volumes start on other nodes, replace the node.',
    isPossible: true,
    source:
      'kubernetes/kubernetes#95547, containerd/containerd#4915, moby/moby#41114, https://kubernetes.io/docs/concepts/windows/intro/#compatibility-linux-similarities',
  },
];
