/**
 * What errors of Windows nodes and pods mean, as data. The conditions of pools, the kubectl plugin and docs/errors.md read it. To add an error, add an entry: its name,
 * what writes the message, the words by which it is recognized, the cause, the remedy, and a public source. The first entry that fits explains a message, so
 * specific ones come before those that quote other errors.
 */

/** A known error. */
export interface KnownError {
  /** Searchable, as the reason of a condition. */
  readonly name: string;
  /** The components that write the message, with their versions where they differ. */
  readonly writtenBy: string;
  readonly pattern: RegExp;
  /** A sentence. */
  readonly cause: string;
  /** Sentences. If the error has several causes, also how to tell them apart. */
  readonly remedy: string;
  /** The message has other causes, too. */
  readonly isPossible?: true;
  /** Waiting does not help: a new node with it fails at once. */
  readonly isLasting?: true;
  /** Follows another error, which explains more if it is present. */
  readonly isGeneric?: true;
  readonly source: string;
}

export const KNOWN_ERRORS: readonly KnownError[] = [
  {
    name: 'ImageBuildMismatch',
    writtenBy:
      'containerd when it pulls (no match for platform in manifest), hcsshim when it starts a container, with and without 0xc0370101, Docker',
    pattern:
      /no match for platform in manifest|no matching manifest for windows|container operating system does not match the host operating system|Windows version [\d.]+-based image is incompatible with|0xc0370101/i,
    cause:
      'The image is of another Windows build than the node, or its manifest has no variant for the build of the node.',
    remedy:
      'Use an image of the build of the node, or the RuntimeClass of a pool with the build of the image. Its name, its registry and the imagePullSecrets are not the cause.',
    isLasting: true,
    source:
      'https://learn.microsoft.com/virtualization/windowscontainers/deploy-containers/version-compatibility, containerd/containerd#6989, microsoft/Windows-Containers#223',
  },
  {
    name: 'DiskFull',
    writtenBy: 'hcsshim and containerd when they extract an image or create a container',
    pattern: /not enough space on the disk|\(0x70\)|no space left on device/i,
    cause: 'The disk of the node is full.',
    remedy:
      'Remove images that are not used from the node, or replace it with a larger root volume (nodeGroup.disk.sizeGiB).',
    source: 'https://learn.microsoft.com/windows/win32/debug/system-error-codes--0-499-, Azure/acs-engine#2015',
  },
  {
    name: 'PageFileTooSmall',
    writtenBy: 'hcsshim, also in the message of a probe',
    pattern: /paging file is too small|0x(?:8007)?05af\b|\b0x5af\b/i,
    cause: 'The node is out of commit memory: its memory and its page file are full.',
    remedy:
      'Set memory limits for all containers, reserve memory for Windows (nodeGroup.kubelet.systemReserved), or use larger instance types. Windows has no OOM killer.',
    source: 'https://learn.microsoft.com/windows/win32/debug/system-error-codes--1300-1699-, Azure/AKS#1941',
  },
  {
    name: 'NodeOutOfResources',
    writtenBy: 'hcsshim',
    pattern: /insufficient system resources exist|\(0x5aa\)|not enough memory resources are available/i,
    cause: 'The node lacks memory or another resource of the kernel.',
    remedy:
      'Set memory limits for all containers, and use larger instance types or fewer pods on each node (nodeGroup.kubelet.maxPods).',
    isPossible: true,
    source: 'https://learn.microsoft.com/windows/win32/debug/system-error-codes--1300-1699-',
  },
  {
    name: 'WorkingDirectoryInvalid',
    writtenBy: 'hcsshim when it starts the process of a container',
    pattern: /the directory name is invalid|\(0x10b\)/i,
    cause: 'workingDir does not exist in the image, or is a file.',
    remedy: 'Correct workingDir of the container, or create the folder in the image.',
    isLasting: true,
    source: 'https://learn.microsoft.com/windows/win32/debug/system-error-codes--0-499-, Azure/aks-engine#5086',
  },
  {
    name: 'CommandNotFound',
    writtenBy: 'hcsshim when it starts the process of a container',
    pattern:
      /CreateProcess.*(?:cannot find the (?:file|path) specified|\(0x[23]\))|starting container process caused.*cannot find the file/i,
    cause: 'The image does not have the program of command, or of its entry point.',
    remedy:
      'Correct command and args. Windows does not split a quoted command at its spaces, and nanoserver has no PowerShell.',
    isLasting: true,
    source: 'containerd/containerd#6300',
  },
  {
    name: 'RunAsNonRootAsAdministrator',
    writtenBy: 'kubelet',
    pattern: /will break non-root policy|breaks non-root policy|runAsUserName \(ContainerAdministrator\)/i,
    cause: 'runAsNonRoot does not allow the user ContainerAdministrator.',
    remedy: 'Set securityContext.windowsOptions.runAsUserName: ContainerUser, or remove runAsNonRoot.',
    isLasting: true,
    source: 'kubernetes/kubernetes#112469',
  },
  {
    name: 'EphemeralStorageExceeded',
    writtenBy: 'kubelet, in status.message of a pod that was evicted',
    pattern:
      /local ephemeral storage (?:usage|limit)|ephemeral local storage usage exceeds|usage of EmptyDir volume .* exceeds the limit/i,
    cause: 'The pod was evicted: it used more disk space than its limit of ephemeral-storage.',
    remedy:
      'Raise the limit of ephemeral-storage, or of the emptyDir volume. The writable layer of a Windows container can take many GiB.',
    source: 'kubernetes/kubernetes#83038',
  },
  {
    name: 'NodeUnderPressure',
    writtenBy: 'kubelet, in status.message of a pod that was evicted or rejected',
    pattern: /the node was low on resource|the node had condition: \[/i,
    cause: 'The pod was evicted or rejected, because its node was low on the resource that the message names.',
    remedy:
      'For ephemeral-storage, remove images or use a larger root volume (nodeGroup.disk.sizeGiB). For memory, set memory limits for all containers.',
    source: 'https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/',
  },
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
    writtenBy: 'containerd, in the condition Ready of a node',
    pattern: /cni plugin not initialized|cni config uninitialized|NetworkPluginNotReady/i,
    cause: 'The CNI plugin of the node is not set up.',
    remedy:
      'On EKS, the bootstrap script of the AMI does that: read its log on the node (C:\\ProgramData\\Amazon\\EKS\\logs). On other nodes, the DaemonSet of the network does it: check that its pods run on the node.',
    source: 'kubernetes-sigs/sig-windows-tools#362',
  },
  {
    name: 'ContainerdStopped',
    writtenBy: 'kubelet, in the condition Ready of a node and in events',
    pattern:
      /pipe[\\/]+containerd-containerd[^.]{0,64}: the system cannot find the file specified|container runtime is down|failed to connect to containerd/i,
    cause: 'containerd does not run on the node, or does not respond.',
    remedy: 'Restart the service containerd on the node, or replace the node.',
    source: 'containerd/containerd#9437',
  },
  {
    name: 'PauseImageMissing',
    writtenBy: 'containerd (event FailedCreatePodSandBox)',
    pattern: /failed to (?:get|pull) (?:the )?(?:sandbox|pause) image/i,
    cause:
      'The node no longer has the pause image, such as after the kubelet removed images, and containerd cannot pull it without credentials.',
    remedy: 'Replace the node. To prevent it, use an AMI release that pins the image, and a larger root volume.',
    source: 'awslabs/amazon-eks-ami#1632, awslabs/amazon-eks-ami#1597, aws/containers-roadmap#1912',
  },
  {
    name: 'RuntimeHandlerUnknown',
    writtenBy: 'containerd (event FailedCreatePodSandBox), kubelet',
    pattern: /no runtime for "[^"]{0,64}" is configured|RuntimeClass "[^"]{0,253}" not found|unknown runtime handler/i,
    cause: 'containerd does not have the handler of the RuntimeClass.',
    remedy: 'Correct handler in the RuntimeClass: runhcs-wcow-process. The handler docker existed only in dockershim.',
    isLasting: true,
    source: 'https://github.com/containerd/containerd/blob/main/internal/cri/config/config.go',
  },
  {
    name: 'GMSALogonFailed',
    writtenBy: 'hcsshim when it starts a container with a credential spec',
    pattern:
      /user ?name or password is incorrect|\(0x52e\)|no logon servers available|\(0x51f\)|domain (?:either )?does not exist or could not be contacted|\(0x54b\)/i,
    cause: 'Windows cannot log on the account of the container.',
    remedy:
      'With a gMSA: check that the node can reach a domain controller, that it may read the password of the account (Test-ADServiceAccount), and that Sid and Guid in the credential spec are those of the domain. Without one: check that the image has the user in runAsUserName.',
    isPossible: true,
    source: 'https://learn.microsoft.com/virtualization/windowscontainers/manage-containers/gmsa-troubleshooting',
  },
  {
    name: 'FileInUse',
    writtenBy: 'hcsshim when it mounts or removes a layer',
    pattern: /being used by another process|\(0x20\)/i,
    cause: 'A file of the container is held by another process on the node.',
    remedy:
      'If many pods fail, exclude the folders of containerd from the antivirus program of the node. If one pod stays in Terminating, containerd lost its container, such as in a restart: replace the node.',
    isPossible: true,
    source: 'microsoft/Windows-Containers#106, microsoft/Windows-Containers#207, microsoft/hcsshim#2553',
  },
  {
    name: 'ContainerEndedAtStart',
    writtenBy: 'hcsshim (HCS_E_UNEXPECTED_EXIT)',
    pattern: /0xc0370106|virtual machine or container exited unexpectedly/i,
    cause: 'The container ended while Windows started it.',
    remedy:
      'If the image is newer than the patch level of the node (kubectl windowspool nodes), update the nodes to a newer AMI release. If the memory limit is a few MiB, raise it: Windows does not start with so little. Otherwise, read the event log of Hyper-V-Compute on the node.',
    isPossible: true,
    source: 'https://learn.microsoft.com/virtualization/api/hcs/reference/hcshresult, microsoft/Windows-Containers#482',
  },
  {
    name: 'RegistryCredentials',
    writtenBy: 'containerd when it pulls',
    pattern:
      /no basic auth credentials|authorization failed|pull access denied|unauthorized|403 Forbidden|401 Unauthorized/i,
    cause: 'The registry did not accept the credentials, or the repository does not exist.',
    remedy:
      'Check the name of the repository and the imagePullSecrets of the pod; for ECR, the permissions of the node role and the policy of the repository.',
    source: 'https://kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry/',
  },
  {
    name: 'RegistryRateLimit',
    writtenBy: 'containerd when it pulls',
    pattern: /toomanyrequests|429 Too Many Requests/i,
    cause: 'The registry limits the rate of pulls.',
    remedy: 'Pull with credentials, or through a cache such as an ECR pull-through cache.',
    source: 'https://docs.docker.com/docker-hub/usage/pulls/',
  },
  {
    name: 'RegistryUnreachable',
    writtenBy: 'containerd when it pulls',
    pattern: /no such host|connectex:|i\/o timeout|connection refused|TLS handshake timeout|x509:/i,
    cause: 'The node cannot reach the registry.',
    remedy: 'Check its name, and the routes, DNS, proxy and certificates of the node.',
    source: 'https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html',
  },
  {
    name: 'ImageNotFound',
    writtenBy: 'containerd when it pulls, kubelet',
    pattern:
      /manifest unknown|name unknown|repository does not exist|failed to resolve reference.{0,512}: not found|InvalidImageName/i,
    cause: 'The registry does not have the image.',
    remedy: 'Check the name of the image and its tag.',
    source: 'https://kubernetes.io/docs/concepts/containers/images/',
  },
  {
    name: 'ImagePullFailed',
    writtenBy: 'kubelet',
    pattern: /ErrImagePull|ImagePullBackOff|Back-off pulling image/,
    cause: 'The image cannot be pulled.',
    remedy: 'Check its name, its registry and the imagePullSecrets of the pod.',
    isGeneric: true,
    source: 'https://kubernetes.io/docs/concepts/containers/images/',
  },
];

/** What an exit code of Windows means. Programs have their own codes below 256. */
export interface KnownExitCode {
  /** The NTSTATUS, as in the documentation: an exit code can also be shown as a negative number. */
  readonly code: number;
  readonly name: string;
  /** What the process did: the rest of a sentence. */
  readonly cause: string;
  readonly remedy: string;
}

/** https://learn.microsoft.com/openspecs/windows_protocols/ms-erref/596a1078-e883-4972-9bbc-49e60bebca55 */
export const KNOWN_EXIT_CODES: readonly KnownExitCode[] = [
  {
    code: 0xc0000005,
    name: 'STATUS_ACCESS_VIOLATION',
    cause: 'crashed with an access violation',
    remedy: 'This is an error of the program, or of a library that does not fit the image.',
  },
  {
    code: 0xc0000135,
    name: 'STATUS_DLL_NOT_FOUND',
    cause: 'did not find a DLL',
    remedy:
      'Install what the program needs in the image, such as the Visual C++ runtime. nanoserver lacks many DLLs that servercore has.',
  },
  {
    code: 0xc0000139,
    name: 'STATUS_ENTRYPOINT_NOT_FOUND',
    cause: 'found a DLL of another version than it needs',
    remedy: 'Use a base image with the version that the program was built for.',
  },
  {
    code: 0xc000007b,
    name: 'STATUS_INVALID_IMAGE_FORMAT',
    cause: 'is not a program for this system, or one of its DLLs is not',
    remedy: 'Compare the architecture of the program and its DLLs. nanoserver runs no 32-bit programs.',
  },
  {
    code: 0xc0000142,
    name: 'STATUS_DLL_INIT_FAILED',
    cause: 'ended while a DLL was initialized',
    remedy: 'If many processes run on the node, its desktop heap can be full: run fewer pods on each node.',
  },
  {
    code: 0xc0000017,
    name: 'STATUS_NO_MEMORY',
    cause: 'got no memory',
    remedy: 'Raise the memory limit of the container.',
  },
  {
    code: 0xc000012d,
    name: 'STATUS_COMMITMENT_LIMIT',
    cause: 'got no memory, because the commit limit was reached',
    remedy: 'Raise the memory limit of the container, or use larger instance types.',
  },
  {
    code: 0xc00000fd,
    name: 'STATUS_STACK_OVERFLOW',
    cause: 'crashed with a stack overflow',
    remedy: 'This is an error of the program, such as a recursion without an end.',
  },
  {
    code: 0xc0000409,
    name: 'STATUS_STACK_BUFFER_OVERRUN',
    cause: 'ended itself after an internal error (fail fast)',
    remedy: 'This is an error of the program: read its log.',
  },
  {
    code: 0xc0000022,
    name: 'STATUS_ACCESS_DENIED',
    cause: 'was denied access to a file or an object',
    remedy: 'Check the permissions of ContainerUser, or of the user in runAsUserName, in the image and in volumes.',
  },
  {
    code: 0xc000013a,
    name: 'STATUS_CONTROL_C_EXIT',
    cause: 'was stopped with Ctrl-C',
    remedy:
      'This is how containers are stopped. Look at why the pod was deleted or restarted, such as a liveness probe.',
  },
  {
    code: 0x40010004,
    name: 'DBG_TERMINATE_PROCESS',
    cause: 'was terminated by the system',
    remedy: 'This is how a container is stopped when the node shuts down, or after its grace period.',
  },
  {
    code: 0xe0434352,
    name: '.NET exception',
    cause: 'ended with an unhandled .NET exception',
    remedy: 'Read the log of the container, which has the exception.',
  },
];
