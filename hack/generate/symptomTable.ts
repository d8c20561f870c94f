/**
 * The symptoms in docs/operate/symptoms.md. A symptom only refers: to example pods, whose diagnosis the page shows, to entries of the catalogue of errors and to reasons,
 * whose first sentence it shows, and to runbooks. To add one, add an entry here. Titles are the anchors of links from elsewhere, so they do not change.
 */
import type { podSituations } from '../../cmd/kubectl-windowspool/testing/podSituations.ts';
import type { Reason } from '../../controllers/windowspool/api/reasons.ts';

/** What a user sees, and what explains it. */
export interface Symptom {
  readonly title: string;
  /** Sentences. */
  readonly seen: string;
  /** The command to run first. */
  readonly command: string;
  /** More commands, or what to do without the plugin: paragraphs of Markdown. */
  readonly more?: readonly string[];
  /** Example pods whose cause is no entry of the catalogue: the page shows what `kubectl windowspool diagnose` says about them. */
  readonly pods?: readonly (keyof typeof podSituations)[];
  /** Entries of the catalogue. */
  readonly errors?: readonly string[];
  /** Names of exit codes. */
  readonly exitCodes?: readonly string[];
  /** Reasons of a pool or of its nodes. */
  readonly reasons?: readonly Reason[];
  /** Names of alerts with a runbook. */
  readonly runbooks?: readonly string[];
  /** Other pages: the text of the link, and the path from docs/. */
  readonly pages?: readonly (readonly [text: string, path: string])[];
}

const OF_POD = 'kubectl windowspool diagnose my-pod --namespace my-namespace';
const OF_NODES = 'kubectl windowspool nodes';
const OF_POOL = 'kubectl windowspool status web';
const COMPARE_PATCH_LEVELS = `\`\`\`sh aws
kubectl get nodes --selector kubernetes.io/os=windows --output custom-columns=NAME:.metadata.name,KERNEL:.status.nodeInfo.kernelVersion
skopeo inspect --config --raw --override-os windows docker://mcr.microsoft.com/windows/nanoserver:ltsc2022
\`\`\``;

/** All symptoms, in the order of the page. */
export const SYMPTOMS: readonly Symptom[] = [
  {
    title: 'Pod Pending',
    seen: 'A pod has the status `Pending` and no node.',
    command: OF_POD,
    pods: [
      'has no Windows node',
      'selects nothing of Windows',
      'selects another build',
      'does not tolerate the taint of Windows nodes',
      'waits for a node that is not verified',
      'waits for a cordoned node, and one that is not Ready',
      'finds all addresses of the nodes taken',
      'finds no address on a node of an instance type that is not supported',
      'has scheduling gates',
    ],
    errors: [
      'InsufficientResources',
      'NodeOutOfPodAddresses',
      'TooManyPods',
      'HostPortTaken',
      'VolumeInOtherZone',
      'VolumeUnbound',
      'NodeGroupAtMaximum',
    ],
    runbooks: ['WindowsPoolNodesUnverified', 'WindowsPoolNodesMissing', 'WindowsPoolNotReady'],
    pages: [
      ['RuntimeClasses and images', 'how-to/move-workloads.md'],
      ['scaling', 'how-to/scale.md'],
      ['the gate', 'concepts/gate.md#the-gate'],
    ],
  },
  {
    title: 'Error 0xc0370106',
    seen: 'A container does not start. The message contains `0xc0370106` or `The virtual machine or container exited unexpectedly`.',
    command: OF_POD,
    more: [
      'To compare the patch levels of the nodes with that of the image, run these commands, of which the second is not tested. If the fourth number of the build is higher in the `os.version` of the image, [update the nodes](../how-to/update-nodes.md).',
      COMPARE_PATCH_LEVELS,
    ],
    errors: ['ContainerEndedAtStart'],
    reasons: ['RevisionTooLow'],
    runbooks: ['WindowsPoolReleaseOld'],
    pages: [['the patch level of nodes', 'concepts/verification.md#patch-levels']],
  },
  {
    title: 'Error 0xc0370101',
    seen: 'A container does not start. The message contains `0xc0370101` or `The container operating system does not match the host operating system`.',
    command: OF_POD,
    pods: ['has an image of another build'],
    errors: ['ImageBuildMismatch'],
    reasons: ['WrongBuild'],
    runbooks: ['WindowsPoolMixedBuilds'],
    pages: [['images', 'how-to/move-workloads.md']],
  },
  {
    title: 'No match for platform',
    seen: 'An image is not pulled: `no match for platform in manifest`.',
    command: OF_POD,
    errors: ['ImageBuildMismatch'],
    pages: [
      ['images', 'how-to/move-workloads.md'],
      ['find such images before they are applied', 'reference/plugin.md#images-by-their-manifest'],
    ],
  },
  {
    title: 'Failed to create pod sandbox',
    seen: 'A pod stays in `ContainerCreating`, with events `FailedCreatePodSandBox`.',
    command: OF_POD,
    errors: [
      'PodWithoutAddress',
      'PauseImageMissing',
      'RuntimeHandlerUnknown',
      'HyperVMissing',
      'CNINotInitialized',
      'CNIUnauthorized',
      'CNIWithoutAPIServer',
      'HNSPortInUse',
      'HNSFailed',
      'NameReserved',
      'ContainerTimeout',
    ],
    reasons: ['RuntimeHandlerMissing', 'SmokeTestFailed'],
    pages: [
      ['no pod addresses', 'operate/symptoms.md#no-pod-addresses'],
      ['networking', 'how-to/networking.md'],
    ],
  },
  {
    title: 'Node NotReady',
    seen: 'A Windows node is `NotReady`, or it has joined and its pool does not count it.',
    command: OF_NODES,
    more: [
      'Without the plugin, run `kubectl describe node NODE`: the message of the condition `Ready` names the error. To replace the node, run `kubectl annotate node NODE winpool.dev/replace=true`. If its pods do not terminate, see [WindowsPoolDrainStuck](runbooks/WindowsPoolDrainStuck.md).',
    ],
    pods: ['is on a node that no longer exists'],
    errors: ['KubeletSilent', 'NodeShutDown', 'RuntimeTooSlow', 'ContainerdStopped', 'CNINotInitialized'],
    reasons: ['NotReady', 'UnhealthyCondition', 'NodePressure', 'NodesMissing'],
    runbooks: ['WindowsPoolNodesUnverified', 'WindowsPoolNodesMissing', 'WindowsPoolRemediationShortCircuited'],
    pages: [['replace a node', 'how-to/replace-nodes.md']],
  },
  {
    title: 'No pod addresses',
    seen: 'A pod gets no IP address, or a node offers no `vpc.amazonaws.com/PrivateIPv4Address`.',
    command: OF_NODES,
    pods: ['has no IP address', 'finds no address on a node of an instance type that is not supported'],
    errors: [
      'SubnetWithoutBlocks',
      'InstanceTypeUnsupported',
      'NodeOutOfPodAddresses',
      'NoWarmAddress',
      'AddressesCoolingDown',
      'PodWithoutAddress',
      'RejectedByResources',
    ],
    reasons: ['NoPodAddresses', 'WindowsIPAMDisabled', 'TooFewAddresses', 'PodWebhookMissing'],
    runbooks: ['WindowsPoolNodesUnverified', 'WindowsPoolPrerequisitesNotMet'],
    pages: [['networking', 'how-to/networking.md']],
  },
  {
    title: 'Node group failed or degraded',
    seen: 'The node group has the status `CREATE_FAILED` or `DEGRADED`.',
    command: OF_POOL,
    reasons: ['CreateFailed', 'CreateRejected', 'Degraded', 'QuotaExceeded', 'AccessDenied'],
    runbooks: ['WindowsPoolNodeGroupCreateFailed', 'WindowsPoolNodeGroupDegraded', 'WindowsPoolNodeGroupHealthIssue'],
    pages: [['prerequisites', 'reference/checks.md']],
  },
  {
    title: 'Update stuck',
    seen: 'An update or a replacement of nodes does not end, or does not start.',
    command: OF_POOL,
    reasons: [
      'Updating',
      'UpdateFailed',
      'DrainBlocked',
      'ReplacementBlocked',
      'CanaryBlocked',
      'WaitingForBudget',
      'WaitingForWindow',
      'ReleaseNotOffered',
    ],
    runbooks: ['WindowsPoolUpdateStuck', 'WindowsPoolReplacementStuck', 'WindowsPoolDrainStuck', 'WindowsPoolStalled'],
    pages: [['update nodes', 'how-to/update-nodes.md']],
  },
  {
    title: 'Image pull takes minutes',
    seen: 'A pod stays in `ContainerCreating` after the event `Pulling`.',
    command: OF_POD,
    errors: ['ImagePulling', 'PullInterrupted', 'PullsLimitedByKubelet'],
    reasons: ['ImagesMissing', 'ImagePullFailed'],
    pages: [['pull images before pods need them', 'how-to/pull-images.md#required-images']],
  },
  {
    title: 'Image pull fails',
    seen: 'A pod has the status `ErrImagePull` or `ImagePullBackOff`.',
    command: OF_POD,
    errors: [
      'ImageNotFound',
      'ImageNameInvalid',
      'ImageBuildMismatch',
      'RegistryCredentials',
      'RegistryCertificate',
      'RegistryUnreachable',
      'RegistryRateLimit',
      'ImageLayersDenied',
      'ImageFormatRemoved',
      'ImagePathTooLong',
      'ImageLayerUnusable',
      'DiskFull',
      'ImagePullFailed',
    ],
    reasons: ['ImagePullFailed'],
    pages: [['registries', 'how-to/registries.md']],
  },
  {
    title: 'Out of memory',
    seen: 'Containers crash, do not start or hang, and no container has the reason `OOMKilled`. Windows has no OOM killer.',
    command: OF_POD,
    pods: ['gets no memory'],
    errors: ['PageFileTooSmall', 'NodeOutOfResources', 'KubeletSilent'],
    exitCodes: ['STATUS_NO_MEMORY', 'STATUS_COMMITMENT_LIMIT', 'STATUS_DLL_INIT_FAILED'],
    reasons: ['ReservedMemoryTooLow', 'KubeletReservationMismatch', 'NodePressure'],
    runbooks: ['WindowsPoolNodeCommitMemoryHigh'],
  },
  {
    title: 'DNS fails',
    seen: 'A program in a container does not find a host: `No such host is known`, `Could not resolve host`.',
    command: OF_POD,
    errors: ['NameNotResolved', 'RegistryUnreachable'],
    reasons: ['NodeAccessInvalid', 'NoLinuxNode'],
    pages: [['networking', 'how-to/networking.md#dns']],
  },
  {
    title: 'gMSA fails',
    seen: 'A pod with a group Managed Service Account does not start, or its authentication fails.',
    command: 'kubectl windowspool doctor',
    errors: ['GMSALogonFailed', 'GMSACredentialsFailed'],
    reasons: ['RequiredConditionMissing'],
    pages: [['gMSA', 'how-to/gmsa.md']],
  },
  {
    title: 'Pods survive a drain',
    seen: 'A node that is drained keeps pods, or a pod stays in `Terminating`.',
    command: OF_POD,
    pods: ['is kept by a finalizer'],
    errors: ['FileInUse', 'ContainerGone', 'HNSFailed', 'KubeletSilent'],
    reasons: ['Draining', 'DrainBlocked', 'RemovalRejected'],
    runbooks: ['WindowsPoolDrainStuck', 'WindowsPoolReplacementStuck'],
    pages: [['how nodes are drained', 'how-to/replace-nodes.md#how-nodes-are-drained']],
  },
  {
    title: 'Container does not start',
    seen: 'A container has the status `CreateContainerError`, `RunContainerError`, `StartError` or `CrashLoopBackOff`.',
    command: OF_POD,
    pods: [
      'crashes with exit codes of Windows',
      'crashes with an exit code of its program',
      'runs a program that ends',
      'does not start for a reason that only the kubelet knows',
    ],
    errors: [
      'CommandNotFound',
      'CommandNotExecutable',
      'WorkingDirectoryInvalid',
      'RunAsNonRootAsAdministrator',
      'HostProcessLogonFailed',
      'MountInvalid',
      'ContainerTimeout',
      'DiskFull',
    ],
    pages: [
      ['exit codes', 'reference/errors.md#exit-codes'],
      ['fields that do not work on Windows', 'how-to/lint-workloads.md#rules'],
    ],
  },
  {
    title: 'Volume is not mounted',
    seen: 'A pod stays in `ContainerCreating`, with events `FailedMount` or `FailedAttachVolume`.',
    command: OF_POD,
    errors: [
      'CSIDriverNotOnNode',
      'CSIProxyUnavailable',
      'CSIDriverNotResponding',
      'SMBServerNotFound',
      'SMBLogonFailed',
      'SMBOtherUser',
      'VolumeAttachedElsewhere',
      'MountInvalid',
    ],
    pages: [['storage', 'how-to/storage.md']],
  },
  {
    title: 'Probe fails',
    seen: 'A container runs and is not ready, or is restarted, with events `Unhealthy`.',
    command: OF_POD,
    pods: ['runs, and is not ready', 'waits for a readiness gate'],
    errors: ['ProbeRefused', 'ProbeTimeout', 'ProbeCommandTooSlow', 'ProbeAnswersWithError', 'NameNotResolved'],
  },
  {
    title: 'Pod evicted or lost',
    seen: 'A pod has the status `Evicted`, `Failed`, `OutOf...`, `NodeAffinity` or `ContainerStatusUnknown`.',
    command: OF_POD,
    pods: ['was lost by containerd'],
    errors: [
      'EphemeralStorageExceeded',
      'NodeUnderPressure',
      'NodeShutDown',
      'ContainerLost',
      'RejectedByAffinity',
      'RejectedByResources',
    ],
    reasons: ['NodePressure'],
    runbooks: ['WindowsPoolNodeDiskSpaceLow'],
  },
];
