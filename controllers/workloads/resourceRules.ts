/** Rules about volumes, memory and DNS. */
import { IS_LINUX_IMAGE } from './placementRules.ts';
import { inContainers, inVolumes, type Rule } from './rule.ts';

const POD_FIELDS = 'https://kubernetes.io/docs/concepts/windows/intro/#compatibility-v1-pod';
const CONTAINER_FIELDS = 'https://kubernetes.io/docs/concepts/windows/intro/#compatibility-v1-pod-spec-containers';
const STORAGE = 'https://kubernetes.io/docs/concepts/storage/windows-storage/';

/** The API server sets this mode by default: 0644. */
const DEFAULT_MODE = 420;
const MODES = ['secret', 'configMap', 'downwardAPI', 'projected'].map(
  (kind) => `v.?${kind}.?defaultMode.orValue(${DEFAULT_MODE}) != ${DEFAULT_MODE}`,
);

const MOUNTS = 'c.?volumeMounts.orValue([])';

/** The command of a container, and those of its probes and hooks. */
const COMMANDS = [
  '',
  '.?livenessProbe.?exec',
  '.?readinessProbe.?exec',
  '.?startupProbe.?exec',
  '.?lifecycle.?postStart.?exec',
  '.?lifecycle.?preStop.?exec',
].map((path) => `c${path}.?command.orValue([])`);
/** The program that a container starts, if it does not start that of its image. */
const PROGRAM = "c.?command[?0].orValue('').lowerAscii()";
const SHELLS = '(cmd|powershell|pwsh)([.]exe)?$';
/** Other programs in /bin can be those of the image: Windows resolves the path on the drive C. */
const UNIX = '^((/usr(/local)?)?/bin/)?(ba|a|da|z)?sh$|^/usr/bin/env$';

/** Quantities of less than some 20 MiB, as users write them. */
const UNDER_20_MIB = '^([0-9]|1[0-9])([.][0-9]+)?Mi?$|^1?[0-9]{1,4}([.][0-9]+)?(Ki|k)$|^1?[0-9]{1,7}$';

/** Rules about volumes, memory and DNS. */
export const RESOURCE_RULES: readonly Rule[] = [
  {
    name: 'VolumeDevices',
    grade: 'fails',
    for: 'windows',
    ...inContainers('c.?volumeDevices.orValue([]).size() > 0'),
    message: 'Windows cannot attach raw block devices, so the pod does not start. Use volumeMounts',
    source: POD_FIELDS,
  },
  {
    name: 'NFSVolume',
    grade: 'fails',
    for: 'windows',
    ...inVolumes('has(v.nfs)'),
    message:
      'The kubelet cannot mount NFS on Windows, so the pod does not start. Use SMB or an Amazon EBS or FSx volume',
    source: STORAGE,
  },
  {
    name: 'SANVolume',
    grade: 'fails',
    for: 'windows',
    ...inVolumes('has(v.iscsi) || has(v.fc)'),
    message:
      'The kubelet cannot mount iSCSI and Fibre Channel volumes on Windows, so the pod does not start. Use a volume with a CSI driver for Windows',
    source: STORAGE,
  },
  {
    name: 'MountPathIsRoot',
    grade: 'fails',
    for: 'windows',
    ...inContainers(
      `!variables.isHostProcess && ${MOUNTS}.exists(m, m.?mountPath.orValue('-').matches('^([cC]:)?[/\\\\\\\\]*$'))`,
    ),
    message: 'A volume cannot be mounted as the drive C:, so the container does not start. Mount it in a folder',
    source: 'https://github.com/containerd/containerd/blob/main/internal/cri/opts/spec_windows_opts.go',
  },
  {
    name: 'RecursiveReadOnly',
    grade: 'fails',
    for: 'windows',
    ...inContainers(`${MOUNTS}.exists(m, m.?recursiveReadOnly.orValue('') == 'Enabled')`),
    message:
      'Container runtimes have no recursive read-only mounts on Windows, so the container does not start. Remove recursiveReadOnly, and keep readOnly',
    source: 'https://kubernetes.io/docs/concepts/storage/volumes/#recursive-read-only-mounts',
  },
  {
    name: 'PodResources',
    grade: 'fails',
    for: 'windows',
    expression:
      'variables.podSpec.?resources.?limits.orValue({}).size() + variables.podSpec.?resources.?requests.orValue({}).size() > 0',
    message:
      'The kubelet rejects pods with resources of the pod on Windows. Set the resources of each container instead',
    source: 'https://kubernetes.io/docs/tasks/configure-pod-container/assign-pod-level-resources/#limitations',
  },
  {
    name: 'ScriptAsCommand',
    grade: 'fails',
    for: 'windows',
    ...inContainers(`${PROGRAM}.matches('[.](ps1|sh)$')`),
    message:
      "Windows cannot execute a script, so the container does not start. Start the program that runs it, as in command: ['powershell', '-File', ...]",
    source: 'https://github.com/kubernetes/kubernetes/issues/90802',
  },
  {
    name: 'SCTP',
    grade: 'fails',
    for: 'windows',
    ...inContainers("c.?ports.orValue([]).exists(port, port.?protocol.orValue('TCP') == 'SCTP')"),
    message: 'Windows has no SCTP, so nothing can connect to the port. Use TCP or UDP',
    source: 'https://kubernetes.io/docs/reference/networking/service-protocols/#caveat-sctp-windows-os',
  },
  {
    name: 'HugePages',
    grade: 'fails',
    for: 'windows',
    ...inContainers("c.?resources.?limits.orValue({}).exists(key, key.startsWith('hugepages-'))"),
    message: 'Windows nodes have no huge pages, so the pod stays Pending. Remove the hugepages- limits',
    source: CONTAINER_FIELDS,
  },
  {
    name: 'MemoryLimitTooLow',
    grade: 'fails',
    for: 'windows',
    ...inContainers(`c.?resources.?limits[?'memory'].orValue('').matches('${UNDER_20_MIB}')`),
    message:
      'Windows does not start in a container with a memory limit of a few MiB: it hangs, and can take the container runtime of the node with it. Set a limit of at least 100Mi',
    source: 'https://github.com/microsoft/Windows-Containers/issues/482',
  },
  {
    name: 'MemoryMedium',
    grade: 'advice',
    for: 'windows',
    ...inVolumes("v.?emptyDir.?medium.orValue('') == 'Memory'"),
    message:
      'Windows keeps emptyDir volumes with medium Memory on disk. Do not use them for secrets, and remove the medium',
    source: STORAGE,
  },
  {
    name: 'SubPath',
    grade: 'advice',
    for: 'windows',
    ...inContainers(
      `!variables.isHostProcess && ${MOUNTS}.exists(m, m.?subPath.orValue('') != '' || m.?subPathExpr.orValue('') != '')`,
    ),
    message:
      'Kubernetes does not support subPath on Windows, where a mount of a single file can fail. Mount the whole volume in a folder of its own',
    source: STORAGE,
  },
  {
    name: 'DockerSocket',
    grade: 'advice',
    for: 'windows',
    ...inVolumes("v.?hostPath.?path.orValue('').matches('docker_engine|docker[.]sock')"),
    message:
      'Nodes of EKS have containerd: the pipe and the socket of Docker do not exist, so the pod does not start. Remove the volume',
    source: 'https://docs.aws.amazon.com/eks/latest/userguide/dockershim-deprecation.html',
  },
  {
    name: 'NvidiaGPU',
    grade: 'advice',
    for: 'windows',
    ...inContainers("c.?resources.?limits.orValue({}).exists(key, key.startsWith('nvidia.com/'))"),
    message:
      'The device plugin of NVIDIA does not support Windows, so without another plugin the pod stays Pending. Use the device plugin for DirectX',
    source: 'https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-windows-optimized-ami.html',
  },
  {
    name: 'UnexpandedVariable',
    grade: 'advice',
    for: 'windows',
    ...inContainers(
      `!${PROGRAM}.matches('${SHELLS}') && c.?env.orValue([]).exists(e, ` +
        "(c.?command.orValue([]) + c.?args.orValue([])).exists(word, word.contains('%' + e.name + '%') || word.contains('$env:' + e.name)))",
    ),
    message:
      'The command or its arguments name a variable as cmd or PowerShell do, but no shell replaces it. Write $(NAME), which Kubernetes replaces',
    source: 'https://github.com/prometheus-community/windows_exporter/issues/1182',
  },
  {
    name: 'UnixCommand',
    grade: 'advice',
    for: 'windows',
    ...inContainers(
      `!(${IS_LINUX_IMAGE}) && [${COMMANDS.join(', ')}].exists(words, words.size() > 0 && words[0].matches('${UNIX}'))`,
    ),
    message:
      'The images of Windows have no Unix shell, so the command fails unless you added one to the image. Use cmd or PowerShell',
    source: 'https://kubernetes.io/docs/concepts/windows/intro/#api',
  },
  {
    name: 'MountPropagation',
    grade: 'advice',
    for: 'windows',
    ...inContainers(`${MOUNTS}.exists(m, m.?mountPropagation.orValue('None') != 'None')`),
    message: 'mountPropagation has no effect on Windows: mounts are private. Remove it',
    source: POD_FIELDS,
  },
  {
    name: 'DefaultMode',
    grade: 'advice',
    for: 'windows',
    ...inVolumes(`(${MODES.join(' || ')})`),
    message: 'defaultMode has no effect on Windows: files get the permissions of the container. Remove it',
    source: STORAGE,
  },
  {
    name: 'TerminationMessagePath',
    grade: 'advice',
    for: 'windows',
    ...inContainers("c.?terminationMessagePath.orValue('/dev/termination-log') != '/dev/termination-log'"),
    message:
      'Windows does not support all paths for terminationMessagePath. Keep the default, /dev/termination-log, which works',
    source: CONTAINER_FIELDS,
  },
  {
    name: 'KubeletHostPath',
    grade: 'advice',
    for: 'windows',
    ...inVolumes(
      `!variables.isHostProcess && v.?hostPath.?path.orValue('').lowerAscii().matches('^([a-z]:)?[/\\\\\\\\]+var[/\\\\\\\\]+lib[/\\\\\\\\]+kubelet([/\\\\\\\\]|$)')`,
    ),
    message:
      'The hostPath is in the folder of the kubelet, which has the Secrets and volumes of other pods. Only storage drivers need it',
    source: 'https://kubernetes.io/docs/concepts/storage/volumes/#hostpath',
  },
  {
    name: 'NoMemoryLimit',
    grade: 'advice',
    for: 'windows',
    expression:
      "!variables.isEphemeral && variables.podSpec.containers.exists(c, !c.?resources.?limits[?'memory'].hasValue())",
    names: "variables.podSpec.containers.filter(c, !c.?resources.?limits[?'memory'].hasValue()).map(c, c.name)",
    message:
      'Windows has no out-of-memory killer: without limits.memory, one container can fill the page file and stop the node. Set it',
    source: 'https://docs.aws.amazon.com/eks/latest/best-practices/windows-oom.html',
  },
  {
    name: 'DNSPolicy',
    grade: 'advice',
    for: 'windows',
    expression: "variables.podSpec.?dnsPolicy.orValue('') == 'ClusterFirstWithHostNet'",
    message:
      'Windows does not support dnsPolicy ClusterFirstWithHostNet. Use ClusterFirst, or Default for a HostProcess pod',
    source: POD_FIELDS,
  },
];
