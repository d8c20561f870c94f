/** Messages that show the known errors. */

/** Messages of public reports, in the words of their components, and the entry of the catalogue that explains each: at least one for each entry. */
export const ERROR_MESSAGES: readonly (readonly [message: string, name: string])[] = [
  [
    'Back-off pulling image "app:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "app:1": no match for platform in manifest: not found',
    'ImageBuildMismatch',
  ],
  ['no matching manifest for windows/amd64 10.0.17763 in the manifest list entries', 'ImageBuildMismatch'],
  [
    'hcs::CreateComputeSystem app: The container operating system does not match the host operating system.: unknown',
    'ImageBuildMismatch',
  ],
  ['a Windows version 10.0.20348-based image is incompatible with a 10.0.17763 host', 'ImageBuildMismatch'],
  ['failed to create shim task: hcs::CreateComputeSystem app: (0xc0370101)', 'ImageBuildMismatch'],
  ['hcsshim::ImportLayer failed in Win32: There is not enough space on the disk. (0x70): unknown', 'DiskFull'],
  [
    'failure in a Windows system call: The paging file is too small for this operation to complete. (0x5af)',
    'PageFileTooSmall',
  ],
  [
    'hcs::CreateProcess: Insufficient system resources exist to complete the requested service. (0x5aa)',
    'NodeOutOfResources',
  ],
  ['hcs::System::CreateProcess app: The directory name is invalid.: unknown', 'WorkingDirectoryInvalid'],
  ['hcs::System::CreateProcess app: The system cannot find the file specified.: unknown', 'CommandNotFound'],
  [
    "container's runAsUserName (ContainerAdministrator) which will be regarded as root identity and will break non-root policy",
    'RunAsNonRootAsAdministrator',
  ],
  ['Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ', 'EphemeralStorageExceeded'],
  ['Container app exceeded its local ephemeral storage limit "1Gi". ', 'EphemeralStorageExceeded'],
  ['Usage of EmptyDir volume "data" exceeds the limit "1Gi". ', 'EphemeralStorageExceeded'],
  ['The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi. ', 'NodeUnderPressure'],
  ['Pod was rejected: The node had condition: [DiskPressure]. ', 'NodeUnderPressure'],
  [
    'Warm pool for resource vpc.amazonaws.com/PrivateIPv4Address is currently empty because the specified subnet does not have enough free cidr blocks, will retry in 2m0s',
    'SubnetWithoutBlocks',
  ],
  [
    'InsufficientCidrBlocks: The specified subnet does not have enough free cidr blocks to satisfy the request.',
    'SubnetWithoutBlocks',
  ],
  [
    'Unsupported: The instance type m9.xlarge is not supported yet by the vpc resource controller',
    'InstanceTypeUnsupported',
  ],
  ['The instance type t2.large is not supported for Windows prefix delegation', 'InstanceTypeUnsupported'],
  ['Resource vpc.amazonaws.com/PrivateIPv4Address are being cooled down, will retry in 30s', 'AddressesCoolingDown'],
  [
    'Warm pool for resource vpc.amazonaws.com/PrivateIPv4Address is currently empty, will retry in 600ms',
    'NoWarmAddress',
  ],
  ['0/3 nodes are available: 1 Insufficient vpc.amazonaws.com/PrivateIPv4Address', 'NodeOutOfPodAddresses'],
  [
    'failed to parse Kubernetes args: pod does not have label vpc.amazonaws.com/PrivateIPv4Address',
    'PodWithoutAddress',
  ],
  [
    'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized',
    'CNINotInitialized',
  ],
  [
    'transport: Error while dialing open //./pipe/containerd-containerd: The system cannot find the file specified.',
    'ContainerdStopped',
  ],
  [
    '[container runtime is down, PLEG is not healthy: pleg was last seen active … ago; threshold is …]',
    'ContainerdStopped',
  ],
  [
    'failed to get sandbox image "602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause-windows:latest": failed to pull image: 401 Unauthorized',
    'PauseImageMissing',
  ],
  ['Failed to create pod sandbox: no runtime for "docker" is configured', 'RuntimeHandlerUnknown'],
  ['hcs::CreateComputeSystem app: The user name or password is incorrect. (0x52e)', 'GMSALogonFailed'],
  [
    'hcsshim::ActivateLayer failed in Win32: The process cannot access the file because it is being used by another process. (0x20)',
    'FileInUse',
  ],
  ['hcs::System::Start: The virtual machine or container exited unexpectedly. (0xc0370106)', 'ContainerEndedAtStart'],
  [
    'failed to resolve reference "a/b:1": pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials',
    'RegistryCredentials',
  ],
  [
    'failed to copy: httpReadSeeker: 429 Too Many Requests: toomanyrequests: You have reached your pull rate limit',
    'RegistryRateLimit',
  ],
  [
    'failed to do request: Head "https://registry.example/v2/": dial tcp: lookup registry.example: no such host',
    'RegistryUnreachable',
  ],
  [
    'failed to do request: Head "https://registry.example/v2/": connectex: No connection could be made because the target machine actively refused it.',
    'RegistryUnreachable',
  ],
  [
    'failed to pull and unpack image "registry.example/a:1": failed to copy: httpReadSeeker: failed open: failed to do request: Get "https://mcr.microsoft.com/v2/": dial tcp 204.79.197.219:443: connectex: A connection attempt failed because the connected party did not properly respond',
    'RegistryUnreachable',
  ],
  [
    'failed to resolve reference "registry.example/a:1": failed to do request: Head "https://registry.example/v2/": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2021-01-01T00:00:00Z is before 2026-01-01T00:00:00Z',
    'RegistryCertificate',
  ],
  [
    'Failed to apply default image tag "Registry.example/App:1": couldn\'t parse image name "Registry.example/App:1": invalid reference format: repository name must be lowercase',
    'ImageNameInvalid',
  ],
  ['ErrImagePull: pull QPS exceeded', 'PullsLimitedByKubelet'],
  [
    'failed to pull and unpack image "a:1": not implemented: media type "application/vnd.docker.distribution.manifest.v1+prettyjws" is no longer supported since containerd v2.1',
    'ImageFormatRemoved',
  ],
  [
    'rpc error: code = Canceled desc = failed to pull and unpack image "a:1": failed to extract layer sha256:01: context canceled',
    'PullInterrupted',
  ],
  [
    'Unhealthy: Readiness probe failed: Get "http://10.0.1.77:80/": dial tcp 10.0.1.77:80: connectex: No connection could be made because the target machine actively refused it.',
    'ProbeRefused',
  ],
  [
    'Unhealthy: Readiness probe failed: Get "http://172.16.1.4:8080/healthz": dial tcp 172.16.1.4:8080: i/o timeout (Client.Timeout exceeded while awaiting headers)',
    'ProbeTimeout',
  ],
  [
    'Unhealthy: Startup probe failed: Get "http://10.0.1.4/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    'ProbeTimeout',
  ],
  [
    'Unhealthy: Liveness probe errored: rpc error: code = DeadlineExceeded desc = failed to exec in container: timeout 1s exceeded: context deadline exceeded',
    'ProbeCommandTooSlow',
  ],
  [
    'Unhealthy: Liveness probe failed: command "powershell.exe -command Test-Path C:\\ready" timed out',
    'ProbeCommandTooSlow',
  ],
  ['Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503', 'ProbeAnswersWithError'],
  [
    'Unhealthy: Liveness probe failed: encountered an error during CreateProcess: failure in a Windows system call: The system cannot find the file specified. (0x2)',
    'CommandNotFound',
  ],
  [
    'Unhealthy: Readiness probe failed: hcsshim::System::CreateProcess: The paging file is too small for this operation to complete. (0x5af)',
    'PageFileTooSmall',
  ],
  [
    'MountVolume.MountDevice failed for volume "pv" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name smb.csi.k8s.io not found in the list of registered CSI drivers',
    'CSIDriverNotOnNode',
  ],
  [
    'AttachVolume.Attach failed for volume "pv" : CSINode ip-10-0-1-9.ec2.internal does not contain driver ebs.csi.aws.com',
    'CSIDriverNotOnNode',
  ],
  [
    'connection error: desc = "transport: Error while dialing open \\\\.\\pipe\\csi-proxy-filesystem-v1beta1: The system cannot find the file specified."',
    'CSIProxyUnavailable',
  ],
  [
    'transport: Error while dialing dial unix C:\\var\\lib\\kubelet\\plugins\\smb.csi.k8s.io\\csi.sock: connect: No connection could be made because the target machine actively refused it.',
    'CSIDriverNotResponding',
  ],
  [
    'NewSmbGlobalMapping failed. output: "New-SmbGlobalMapping : The network path was not found. Windows System Error 53"',
    'SMBServerNotFound',
  ],
  ['NewSmbGlobalMapping failed. result: 67, err: <nil>', 'SMBServerNotFound'],
  [
    'NewSmbGlobalMapping failed. output: "New-SmbGlobalMapping : The user name or password is incorrect. Windows System Error 1326"',
    'SMBLogonFailed',
  ],
  [
    'NewSmbGlobalMapping failed. output: "New-SmbGlobalMapping : Multiple connections to a server or shared resource by the same user"',
    'SMBOtherUser',
  ],
  [
    'Multi-Attach error for volume "pvc-1" Volume is already exclusively attached to one node',
    'VolumeAttachedElsewhere',
  ],
  [
    'failed to create containerd task: failed to create shim task: hcs::CreateComputeSystem app: The directory name is invalid.: unknown',
    'MountInvalid',
  ],
  ['failed to create containerd task: hcsshim::CreateComputeSystem app: The parameter is incorrect.', 'MountInvalid'],
  [
    'hcs::CreateProcess app: failed to create user process token: failed to logon user: Access is denied.',
    'HostProcessLogonFailed',
  ],
  ['hcs::CreateComputeSystem app: winapi error #3489792023: unknown', 'GMSACredentialsFailed'],
  ['hcsshim::CreateComputeSystem app: winapi error #1355.', 'GMSALogonFailed'],
  ['hcsshim::ImportLayer failed: (0x80070070)', 'DiskFull'],
  [
    'failed to extract layer sha256:01: hcsshim::ProcessBaseLayer \\\\?\\C:\\snapshots\\25: The system cannot find the path specified.: unknown',
    'ImageLayerUnusable',
  ],
  ['StartError: failed to create containerd task: context deadline exceeded: unknown', 'ContainerTimeout'],
  ['hcsshim::System::Start: context deadline exceeded', 'ContainerTimeout'],
  [
    'hcs::System::Start: This operation returned because the timeout period expired. (0x5b4): unknown',
    'ContainerTimeout',
  ],
  [
    'hcs::CreateProcess app: C:\\start.sh: %1 is not a valid Win32 application. (0xc1): unknown',
    'CommandNotExecutable',
  ],
  ['Failed to attach endpoint: A Compute System with the specified identifier does not exist.', 'ContainerGone'],
  [
    'failed to copy: httpReadSeeker: failed open: unexpected status code https://prod-eu-west-1-starport-layer-bucket.s3.eu-west-1.amazonaws.com/a?X-Amz-Date=1: 403 Forbidden',
    'ImageLayersDenied',
  ],
  ['0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.', 'VolumeUnbound'],
  ['0/3 nodes are available: 3 Too many pods.', 'TooManyPods'],
  ['hcs::System::Start app: No hypervisor is present on this system. (0xc0370102): unknown', 'HyperVMissing'],
  ['failed to reserve sandbox name "app_shop_u_0": name "app_shop_u_0" is reserved for "9f"', 'NameReserved'],
  ['ContainerStatusUnknown: The container could not be located when the pod was terminated', 'ContainerLost'],
  [
    'failed to setup network for sandbox "9a": plugin type="calico" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized',
    'CNIUnauthorized',
  ],
  [
    'plugin type="calico" failed (add): error getting ClusterInformation: Get "https://10.96.0.1:443/": dial tcp 10.96.0.1:443: i/o timeout',
    'CNIWithoutAPIServer',
  ],
  [
    'plugin type="flannel" failed (add): loadFlannelSubnetEnv failed: open /run/flannel/subnet.env: The system cannot find the path specified.',
    'CNINotInitialized',
  ],
  ['hcnCreateEndpoint failed in Win32: The specified port already exists. (0x803b0013)', 'HNSPortInUse'],
  ['failed to create the new HNSEndpoint: hnsCall failed in Win32: The object already exists. (0x1392)', 'HNSFailed'],
  [
    'networkPlugin cni failed to set up pod "win_default" network: Network OVNKubernetesHybridOverlayNetwork not found',
    'HNSFailed',
  ],
  [
    'failed to mount container storage: hcsshim::PrepareLayer - failed failed in Win32: The device is not ready. (0x15): unknown',
    'ImageLayerUnusable',
  ],
  [
    'Unhealthy: Readiness probe failed: encountered an error during CreateProcess: failure in a Windows system call: The requested virtual machine or container operation is not valid in the current state. (0xc0370105)',
    'ContainerGone',
  ],
  [
    'failed to extract layer sha256:01: hcsshim::ImportLayer failed in Win32: The filename or extension is too long. (0xce): unknown',
    'ImagePathTooLong',
  ],
  ['Failed to create endpoint: HNS failed with error : Element not found.', 'HNSFailed'],
  ['failed to find HNSNetwork flannel.4096: Network flannel.4096 not found', 'HNSFailed'],
  ['hcs::CreateComputeSystem app: The requested operation for attach namespace failed.: unknown', 'HNSFailed'],
  ['hcnDeleteNamespace failed in Win32: The specified request is unsupported. (0x803b0015)', 'HNSFailed'],
  ['Kubelet stopped posting node status.', 'KubeletSilent'],
  ['Kubelet never posted node status.', 'KubeletSilent'],
  ['Pod was terminated in response to imminent node shutdown.', 'NodeShutDown'],
  ['node is shutting down', 'NodeShutDown'],
  ['PLEG is not healthy: pleg was last seen active … ago; threshold is …', 'RuntimeTooSlow'],
  ['0/3 nodes are available: 3 node(s) had volume node affinity conflict.', 'VolumeInOtherZone'],
  ["0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.", 'HostPortTaken'],
  ["pod didn't trigger scale-up: 1 max node group size reached", 'NodeGroupAtMaximum'],
  [
    "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    'RejectedByAffinity',
  ],
  [
    "Pod was rejected: Node didn't have enough resource: vpc.amazonaws.com/PrivateIPv4Address, requested: 1, used: 9, capacity: 9",
    'RejectedByResources',
  ],
  [
    'failed to resolve reference "mcr.microsoft.com/windows/servercore:ltsc2021": mcr.microsoft.com/windows/servercore:ltsc2021: not found',
    'ImageNotFound',
  ],
  ['ImagePullBackOff', 'ImagePullFailed'],
  ['0/3 nodes are available: 1 Insufficient cpu, 2 Insufficient memory.', 'InsufficientResources'],
  ['Pulling: Pulling image "mcr.microsoft.com/windows/servercore:ltsc2022"', 'ImagePulling'],
  ['Unhealthy: Readiness probe failed: curl: (6) Could not resolve host: cart.shop', 'NameNotResolved'],
  [
    'FailedPostStartHook: PostStartHook failed: Resolve-DnsName : cart.shop : DNS name does not exist',
    'NameNotResolved',
  ],
  [
    'Unhealthy: Liveness probe failed: System.Net.Sockets.SocketException: No such host is known. (cart.shop:80)',
    'NameNotResolved',
  ],
];
