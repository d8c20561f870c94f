/** Errors of hcsshim, containerd and the kubelet when they create, start and stop containers. */
import type { KnownError } from './knownError.ts';

export const CONTAINER_ERRORS: readonly KnownError[] = [
  {
    name: 'HostProcessLogonFailed',
    writtenBy: 'hcsshim when it starts a HostProcess container',
    pattern: /failed to create user process token/i,
    cause: 'The account of the HostProcess container cannot log on to the node.',
    remedy:
      'If runAsUserName is NT AUTHORITY\\SYSTEM, LocalService or NetworkService, containerd must run as LocalSystem on the node. If it is a group, the group must exist on the node.',
    source:
      'kubernetes/website#33838, https://kubernetes.io/docs/tasks/configure-pod-container/create-hostprocess-pod/',
  },
  {
    name: 'ImageBuildMismatch',
    writtenBy:
      'containerd when it pulls (no match for platform in manifest), hcsshim when it starts a container, with and without 0xc0370101, Docker',
    pattern:
      /no match for platform in manifest|no matching manifest for windows|container operating system does not match the host operating system|Windows version [\d.]+-based image is incompatible with|0xc0370101/i,
    cause: 'The image has no variant for the node: it is of another Windows build, or only for Linux.',
    remedy:
      'Use an image of the build of the node, or the RuntimeClass of a pool with the build of the image. Its name, its registry and the imagePullSecrets are not the cause.',
    isLasting: true,
    source:
      'https://learn.microsoft.com/virtualization/windowscontainers/deploy-containers/version-compatibility, containerd/containerd#6989, microsoft/Windows-Containers#223',
  },
  {
    name: 'DiskFull',
    writtenBy: 'hcsshim and containerd when they extract an image or create a container',
    pattern: /not enough space on the disk|\(0x(?:800700)?70\)|no space left on device/i,
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
    writtenBy: 'hcsshim when it starts the process of a container, of a probe or of a hook',
    pattern:
      /CreateProcess.*(?:cannot find the (?:file|path) specified|\(0x[23]\))|starting container process caused.*cannot find the file/i,
    cause:
      'The image does not have the program that is started: of command, of its entry point, of a probe or of a hook.',
    remedy:
      'Correct the command. Each argument is an item of its own, as a quoted command is not split at its spaces. dir and echo are commands of cmd (cmd /c dir), and nanoserver has no PowerShell.',
    isLasting: true,
    source: 'containerd/containerd#6300, Azure/AKS#1836',
  },
  {
    name: 'CommandNotExecutable',
    writtenBy: 'hcsshim when it starts the process of a container, of a probe or of a hook',
    pattern:
      /CreateProcess\b.{0,512}(?:is not a valid Win32 application|\(0xc1\)|not compatible with the version of Windows|\(0xd8\))/i,
    cause: 'The program that is started is not a program for Windows on this CPU architecture.',
    remedy:
      'Start a script with its interpreter (powershell -File, cmd /c), and compare the architecture of the program. nanoserver runs no 32-bit programs.',
    isLasting: true,
    source: 'https://learn.microsoft.com/windows/win32/debug/system-error-codes--0-499-',
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
    name: 'HyperVMissing',
    writtenBy: 'hcsshim (HCS_E_HYPERV_NOT_INSTALLED)',
    pattern: /0xc0370102|no hypervisor is present/i,
    cause: 'The container requests Hyper-V isolation, and the node has no Hyper-V.',
    remedy: 'Use a RuntimeClass with process isolation (handler runhcs-wcow-process), or nodes with Hyper-V.',
    isLasting: true,
    source: 'https://learn.microsoft.com/virtualization/api/hcs/reference/hcshresult',
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
      /user ?name or password is incorrect|\(0x52e\)|no logon servers available|\(0x51f\)|domain (?:either )?does not exist or could not be contacted|\(0x54b\)|winapi error #(?:1311|1326|1355)\b/i,
    cause: 'The account of the container cannot log on to Windows.',
    remedy:
      'With a gMSA: check that the node can reach a domain controller, that it may read the password of the account (Test-ADServiceAccount), and that Sid and Guid in the credential spec are those of the domain. Without one: check that the image has the user in runAsUserName.',
    isPossible: true,
    source: 'https://learn.microsoft.com/virtualization/windowscontainers/manage-containers/gmsa-troubleshooting',
  },
  {
    name: 'GMSACredentialsFailed',
    writtenBy: 'hcsshim when it starts a container with a credential spec',
    pattern: /CreateComputeSystem\b.{0,256}winapi error #\d{3,10}/i,
    cause: 'The credentials of the gMSA cannot be set up on the node.',
    remedy:
      'If the pod has a gmsaCredentialSpecName, read the event logs Microsoft-Windows-Containers-CCG/Admin and Microsoft-Windows-Hyper-V-Compute-Admin of the node. Error 3489792023 (0xC0020017) says that the plug-in of Container Credential Guard does not respond: check that it is installed on the node, and that HostAccountConfig of the credential spec has its GUID. A pod without a gMSA has another cause, which is in the second log.',
    isPossible: true,
    source: 'microsoft/Windows-Containers#221',
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
    name: 'ImagePathTooLong',
    writtenBy: 'hcsshim when it extracts a layer of an image',
    pattern: /hcsshim::\w{0,32}Layer.{0,512}(?:filename or extension is too long|\(0xce\))/i,
    cause: 'A layer of the image has a path that is longer than Windows allows.',
    remedy: 'Shorten the paths in the image, such as those of nested packages, and build it again.',
    isLasting: true,
    source: 'https://learn.microsoft.com/windows/win32/debug/system-error-codes--0-499-, moby/moby#22449',
  },
  {
    name: 'ImageLayerUnusable',
    writtenBy: 'hcsshim when it extracts or mounts a layer of an image',
    pattern: /hcsshim::\w{0,32}Layer/i,
    cause: 'The node cannot extract or mount a layer of the image.',
    remedy:
      'If the message says "access is denied", exclude the folders of containerd from the antivirus program of the node. If only one image fails, on all nodes, build and push it again: a layer is damaged, or is not of Windows. If it occurs when many pods start at once, the kubelet tries again. If only one node fails otherwise, replace it.',
    isPossible: true,
    source: 'microsoft/hcsshim#2226, microsoft/hcsshim#919, microsoft/Windows-Containers#106',
  },
  {
    name: 'ContainerTimeout',
    writtenBy: 'containerd and hcsshim when they create or start a container',
    pattern:
      /(?:containerd task|shim task|hcs\w{0,8}::).{0,512}(?:context deadline exceeded|timeout period expired|\(0x5b4\))/i,
    cause: 'The container was not created or started in time.',
    remedy:
      'If other pods start on the node, its CPU or its disk was busy, and the kubelet tries again. If no new pod starts there, containerd hangs: replace the node. If the memory limit of the pod is a few MiB, raise it.',
    isPossible: true,
    source: 'Azure/AKS#2490, microsoft/hcsshim#801',
  },
  {
    name: 'ContainerGone',
    writtenBy: 'hcsshim (HCS_E_INVALID_STATE, HCS_E_SYSTEM_NOT_FOUND, HCS_E_SYSTEM_ALREADY_STOPPED)',
    pattern:
      /0xc0370105|0xc037010e|0xc0370110|container operation is not valid in the current state|(?:compute system|virtual machine or container) with the specified identifier does not exist/i,
    cause: 'The container has ended or no longer exists, but containerd still uses it.',
    remedy:
      'If the container is restarted, its exit code and its log have the cause. If the pod stays in Terminating or ContainerCreating, replace the node.',
    isGeneric: true,
    source:
      'https://learn.microsoft.com/virtualization/api/hcs/reference/hcshresult, Azure/azure-container-networking#235, Azure/AKS#1188',
  },
  {
    name: 'NameReserved',
    writtenBy: 'containerd (events FailedCreatePodSandBox, Failed)',
    pattern: /failed to reserve (?:sandbox|container) name/i,
    cause: 'An earlier attempt to create the same container has not ended on the node.',
    remedy:
      'The earlier events of the pod have the cause. If it lasts for more than some minutes, containerd on the node is overloaded or hangs: look at the CPU, disk and number of pods of the node, or replace it.',
    isGeneric: true,
    source: 'kubernetes/kubernetes#107561',
  },
  {
    name: 'ContainerLost',
    writtenBy: 'kubelet (reason ContainerStatusUnknown)',
    pattern: /container could not be located when the pod was (?:deleted|terminated)/i,
    cause: 'The kubelet lost the container: the node was restarted, or containerd no longer knows the container.',
    remedy:
      'Look at the events of the node. Exit code 137 is not that of the program: it does not mean that memory was exhausted.',
    source: 'kubernetes/kubernetes pkg/kubelet/kubelet_pods.go',
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
];
