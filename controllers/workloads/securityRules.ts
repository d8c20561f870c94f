/** Rules about host namespaces and security contexts. Windows has no namespaces, user IDs, capabilities and Linux security modules. */
import { inContainers, inSecurityContexts, inVolumes, type Rule } from './rule.ts';

const POD_FIELDS = 'https://kubernetes.io/docs/concepts/windows/intro/#compatibility-v1-pod';
const CONTAINER_FIELDS = 'https://kubernetes.io/docs/concepts/windows/intro/#compatibility-v1-pod-spec-containers';
const SECURITY_CONTEXT =
  'https://kubernetes.io/docs/concepts/windows/intro/#compatibility-v1-pod-spec-containers-securitycontext';

/** A field of security contexts that the kubelet ignores on Windows, and what to do instead. */
const IGNORED: readonly (readonly [name: string, field: string, remedy: string, violation?: string])[] = [
  ['AppArmorProfile', 'appArmorProfile', 'Remove it', "?type.orValue('Unconfined') != 'Unconfined'"],
  ['SELinuxOptions', 'seLinuxOptions', 'Remove it'],
  ['SELinuxChangePolicy', 'seLinuxChangePolicy', 'Remove it'],
  [
    'SeccompProfile',
    'seccompProfile',
    'Remove it, and set spec.os.name: windows, so that Pod Security does not require it',
  ],
  ['RunAsUser', 'runAsUser', 'Use windowsOptions.runAsUserName'],
  ['RunAsGroup', 'runAsGroup', 'Remove it: Windows has no group IDs'],
  ['FSGroup', 'fsGroup', 'Remove it: Windows does not change the owner of volumes'],
  ['FSGroupChangePolicy', 'fsGroupChangePolicy', 'Remove it'],
  ['SupplementalGroups', 'supplementalGroups', 'Remove it: Windows has no group IDs'],
  ['SupplementalGroupsPolicy', 'supplementalGroupsPolicy', 'Remove it'],
  ['Sysctls', 'sysctls', 'Remove them'],
  [
    'Capabilities',
    'capabilities',
    'Remove them, and set spec.os.name: windows, so that Pod Security does not require them',
  ],
  [
    'ReadOnlyRootFilesystem',
    'readOnlyRootFilesystem',
    'Remove it: Windows writes to the registry in the container',
    'orValue(false)',
  ],
  ['AllowPrivilegeEscalation', 'allowPrivilegeEscalation', 'Remove it', 'orValue(false)'],
  ['ProcMount', 'procMount', 'Remove it: Windows has no /proc', "orValue('Default') != 'Default'"],
];

const HOST_PROCESS = 'https://kubernetes.io/docs/tasks/configure-pod-container/create-hostprocess-pod/';
const IS_PIPE = String.raw`v.?hostPath.?path.orValue('').matches('^[/\\\\]{2}[.][/\\\\]pipe[/\\\\]')`;

/** Where AWS documents that EKS Pod Identity does not support Windows, and what follows. */
export const POD_IDENTITY = 'https://docs.aws.amazon.com/eks/latest/userguide/pod-identities.html';
export const NO_POD_IDENTITY = 'EKS Pod Identity does not support pods on Windows, so the pod gets no credentials';

const POD_CONTEXT = 'variables.podSpec.?securityContext';

/** Rules about host namespaces and security contexts. */
export const SECURITY_RULES: readonly Rule[] = [
  {
    name: 'HostNetwork',
    grade: 'fails',
    for: 'windows',
    expression: 'variables.podSpec.?hostNetwork.orValue(false) && !variables.isHostProcess',
    message:
      'hostNetwork works on Windows only for HostProcess pods, so the pod gets no network. Remove it, or set windowsOptions.hostProcess',
    source: 'https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html',
  },
  {
    name: 'HostProcessNetwork',
    grade: 'fails',
    for: 'windows',
    expression: 'variables.isHostProcess && !variables.podSpec.?hostNetwork.orValue(false)',
    message:
      'HostProcess pods have the network of the node, and the API server rejects them without hostNetwork. Set hostNetwork: true',
    source: HOST_PROCESS,
  },
  {
    name: 'HostProcessMixed',
    grade: 'fails',
    for: 'windows',
    ...inContainers(
      `variables.isHostProcess && !c.?securityContext.?windowsOptions.?hostProcess.orValue(${POD_CONTEXT}.?windowsOptions.?hostProcess.orValue(false))`,
    ),
    message:
      'The API server rejects pods with HostProcess and other containers. Set hostProcess for the pod, or move the other containers to a pod of their own',
    source: HOST_PROCESS,
  },
  {
    name: 'HostProcessPipe',
    grade: 'advice',
    for: 'windows',
    ...inVolumes(`variables.isHostProcess && ${IS_PIPE}`),
    message:
      'HostProcess containers cannot mount named pipes. Remove the volume: they open the pipe of the node by its path',
    source: HOST_PROCESS,
  },
  {
    name: 'PodIdentity',
    grade: 'fails',
    for: 'windows',
    ...inContainers(
      "c.?env.orValue([]).exists(e, e.name == 'AWS_CONTAINER_CREDENTIALS_FULL_URI' && e.?value.orValue('').contains('169.254.170.23'))",
    ),
    message: `${NO_POD_IDENTITY}. Use IAM roles for service accounts`,
    source: POD_IDENTITY,
  },
  {
    name: 'RunAsNonRootAdministrator',
    grade: 'fails',
    for: 'windows',
    ...inContainers(
      `c.?securityContext.?runAsNonRoot.orValue(${POD_CONTEXT}.?runAsNonRoot.orValue(false)) && ` +
        `c.?securityContext.?windowsOptions.?runAsUserName.orValue(${POD_CONTEXT}.?windowsOptions.?runAsUserName.orValue('')).lowerAscii() == 'containeradministrator'`,
    ),
    message:
      'runAsNonRoot does not allow ContainerAdministrator, so the kubelet does not start the container. Set windowsOptions.runAsUserName: ContainerUser, or remove runAsNonRoot',
    source: 'https://kubernetes.io/docs/concepts/windows/intro/#compatibility-v1-pod-spec-containers-securitycontext',
  },
  // The processes of HostProcess pods are those of the node, which these pods see anyway: the chart of windows_exporter sets hostPID.
  ...(['hostPID', 'hostIPC', 'shareProcessNamespace'] as const).map(
    (field): Rule => ({
      name: field[0]?.toUpperCase() + field.slice(1),
      grade: 'fails',
      for: 'windows',
      expression: `variables.podSpec.?${field}.orValue(false) && !variables.isHostProcess`,
      message: `${field} does not work on Windows, which does not share these namespaces. Remove it`,
      source: POD_FIELDS,
    }),
  ),
  {
    name: 'HostUsers',
    grade: 'advice',
    for: 'windows',
    expression: '!variables.podSpec.?hostUsers.orValue(true)',
    message: 'hostUsers: false has no effect on Windows, which has no user namespaces. Remove it',
    source: 'https://kubernetes.io/docs/concepts/workloads/pods/user-namespaces/',
  },
  {
    name: 'Privileged',
    grade: 'fails',
    for: 'windows',
    ...inContainers('!variables.isHostProcess && c.?securityContext.?privileged.orValue(false)'),
    message:
      'Windows has no privileged containers, so the container runs without privileges. Use windowsOptions.hostProcess',
    source: CONTAINER_FIELDS,
  },
  ...IGNORED.map(
    ([name, field, remedy, violation = 'hasValue()']): Rule => ({
      name,
      grade: 'advice',
      for: 'windows',
      ...inSecurityContexts(`c.securityContext.?${field}.${violation}`),
      message: `securityContext.${field} has no effect on Windows. ${remedy}`,
      source: SECURITY_CONTEXT,
    }),
  ),
];
