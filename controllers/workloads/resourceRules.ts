/** Rules about volumes, memory and DNS. */
import { inContainers, inVolumes, type Rule } from './rule.ts';

const POD_FIELDS = 'https://kubernetes.io/docs/concepts/windows/intro/#compatibility-v1-pod';
const CONTAINER_FIELDS = 'https://kubernetes.io/docs/concepts/windows/intro/#compatibility-v1-pod-spec-containers';
const STORAGE = 'https://kubernetes.io/docs/concepts/storage/windows-storage/';

/** The API server sets this mode by default: 0644. */
const DEFAULT_MODE = 420;
const MODES = ['secret', 'configMap', 'downwardAPI', 'projected'].map(
  (kind) => `v.?${kind}.?defaultMode.orValue(${DEFAULT_MODE}) != ${DEFAULT_MODE}`,
);

/** Quantities of less than 20 MiB, as users write them. */
const UNDER_20_MIB = '^([0-9]|1[0-9])([.][0-9]+)?Mi?$|^[0-9]{1,5}([.][0-9]+)?(Ki|k)$|^[0-9]{1,7}$';

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
    name: 'MountPropagation',
    grade: 'advice',
    for: 'windows',
    ...inContainers("c.?volumeMounts.orValue([]).exists(m, m.?mountPropagation.orValue('None') != 'None')"),
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
