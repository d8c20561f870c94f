/** Manifests and the rules that they violate, each next to a manifest that does not. */
import { RULES } from '../../controllers/workloads/rules.ts';
import {
  affinity,
  container,
  hostProcess,
  type Kind,
  type Manifest,
  SELECTOR,
  SELECTOR_2022,
  TOLERATIONS,
  windowsContainer,
  windowsSpec,
  windowsVolume,
  workload,
} from './build.ts';

/** A manifest and the names of the rules that it violates, in alphabetical order. */
export interface Case {
  readonly what: string;
  readonly manifest: Manifest;
  readonly rules: readonly string[];
}

const pod = (what: string, spec: Readonly<Record<string, unknown>>, ...rules: readonly string[]): Case => ({
  what: `a pod with ${what}`,
  manifest: workload('Pod', spec),
  rules,
});
const inPod = (securityContext: object) => windowsSpec({ securityContext });
const inContainer = (securityContext: object) => windowsContainer({ securityContext });
const image = (tag: string, nodeSelector: object = SELECTOR_2022) =>
  windowsSpec({ nodeSelector, containers: [container({ image: `registry.example.com/${tag}` })] });
const on = (build: string) => ({ ...SELECTOR, 'node.kubernetes.io/windows-build': build });
const linux = (fields: object) => ({
  containers: [{ name: 'agent', image: 'registry.example.com/agent:1' }],
  ...fields,
});
const everything = [{ operator: 'Exists' }];
const SECRET = { secretKeyRef: { name: 'aws', key: 'uri' } };
const DIGEST = `sha256:${'0'.repeat(64)}`;

const namespaces: readonly Case[] = [
  pod('a nodeSelector', windowsSpec()),
  pod('hostNetwork', windowsSpec({ hostNetwork: true }), 'HostNetwork'),
  pod('hostNetwork, as HostProcess', hostProcess()),
  pod('hostNetwork false', windowsSpec({ hostNetwork: false })),
  pod('hostPID', windowsSpec({ hostPID: true }), 'HostPID'),
  ...['hostPID', 'hostIPC', 'shareProcessNamespace'].map((field) =>
    pod(`${field}, as HostProcess`, hostProcess({ [field]: true })),
  ),
  pod('hostIPC', windowsSpec({ hostIPC: true }), 'HostIPC'),
  pod('shareProcessNamespace', windowsSpec({ shareProcessNamespace: true }), 'ShareProcessNamespace'),
  pod('hostUsers false', windowsSpec({ hostUsers: false }), 'HostUsers'),
  pod('hostUsers true', windowsSpec({ hostUsers: true })),
];

const asAdministrator = { windowsOptions: { runAsUserName: 'ContainerAdministrator' } };
const security: readonly Case[] = [
  pod(
    'runAsNonRoot as ContainerAdministrator',
    inPod({ ...asAdministrator, runAsNonRoot: true }),
    'RunAsNonRootAdministrator',
  ),
  pod(
    'runAsNonRoot, and a container as ContainerAdministrator',
    windowsSpec({
      securityContext: { runAsNonRoot: true },
      containers: [container({ securityContext: asAdministrator })],
    }),
    'RunAsNonRootAdministrator',
  ),
  pod('ContainerAdministrator', inPod(asAdministrator)),
  pod(
    'a gMSA and no selector',
    { containers: [container()], securityContext: { windowsOptions: { gmsaCredentialSpecName: 'web' } } },
    'NoNodeSelector',
  ),
  pod('runAsUserName', inPod({ windowsOptions: { runAsUserName: 'ContainerUser' }, runAsNonRoot: true })),
  pod('a container that is privileged', inContainer({ privileged: true }), 'Privileged'),
  pod('a container that is not privileged', inContainer({ privileged: false })),
  pod('appArmorProfile', inPod({ appArmorProfile: { type: 'RuntimeDefault' } }), 'AppArmorProfile'),
  pod(
    'appArmorProfile of a container',
    inContainer({ appArmorProfile: { type: 'RuntimeDefault' } }),
    'AppArmorProfile',
  ),
  pod('appArmorProfile Unconfined', inPod({ appArmorProfile: { type: 'Unconfined' } })),
  pod('seLinuxOptions', inPod({ seLinuxOptions: { level: 's0:c1,c2' } }), 'SELinuxOptions'),
  pod('seLinuxOptions of a container', inContainer({ seLinuxOptions: { level: 's0:c1,c2' } }), 'SELinuxOptions'),
  pod('seLinuxChangePolicy', inPod({ seLinuxChangePolicy: 'Recursive' }), 'SELinuxChangePolicy'),
  pod('seccompProfile', inPod({ seccompProfile: { type: 'RuntimeDefault' } }), 'SeccompProfile'),
  pod('seccompProfile of a container', inContainer({ seccompProfile: { type: 'RuntimeDefault' } }), 'SeccompProfile'),
  pod('runAsUser', inPod({ runAsUser: 1000 }), 'RunAsUser'),
  pod('runAsUser 0 of a container', inContainer({ runAsUser: 0 }), 'RunAsUser'),
  pod('runAsGroup', inPod({ runAsGroup: 1000 }), 'RunAsGroup'),
  pod('runAsGroup of a container', inContainer({ runAsGroup: 1000 }), 'RunAsGroup'),
  pod('fsGroup', inPod({ fsGroup: 1000 }), 'FSGroup'),
  pod('fsGroupChangePolicy', inPod({ fsGroupChangePolicy: 'OnRootMismatch' }), 'FSGroupChangePolicy'),
  pod('supplementalGroups', inPod({ supplementalGroups: [1000] }), 'SupplementalGroups'),
  pod('supplementalGroupsPolicy', inPod({ supplementalGroupsPolicy: 'Strict' }), 'SupplementalGroupsPolicy'),
  pod('sysctls', inPod({ sysctls: [{ name: 'net.ipv4.ip_local_port_range', value: '1024 65000' }] }), 'Sysctls'),
  pod('capabilities', inContainer({ capabilities: { drop: ['ALL'] } }), 'Capabilities'),
  pod('readOnlyRootFilesystem', inContainer({ readOnlyRootFilesystem: true }), 'ReadOnlyRootFilesystem'),
  pod('readOnlyRootFilesystem false', inContainer({ readOnlyRootFilesystem: false })),
  pod('allowPrivilegeEscalation', inContainer({ allowPrivilegeEscalation: true }), 'AllowPrivilegeEscalation'),
  pod('allowPrivilegeEscalation false', inContainer({ allowPrivilegeEscalation: false })),
  pod('procMount Default', inContainer({ procMount: 'Default' })),
  pod(
    'procMount Unmasked',
    windowsSpec({ hostUsers: false, containers: [container({ securityContext: { procMount: 'Unmasked' } })] }),
    'HostUsers',
    'ProcMount',
  ),
  pod(
    'a violation in an init container',
    windowsSpec({ initContainers: [container({ name: 'init', securityContext: { runAsUser: 1 } })] }),
    'RunAsUser',
  ),
];

const POD_IDENTITY = { name: 'AWS_CONTAINER_CREDENTIALS_FULL_URI', value: 'http://169.254.170.23/v1/credentials' };
const pipe = (name: string) => ({ hostPath: { path: `\\\\.\\pipe\\${name}` } });
const host: readonly Case[] = [
  pod(
    'a named pipe, as HostProcess',
    hostProcess({ volumes: [{ name: 'pipe', ...pipe('csi-proxy-disk-v1') }] }),
    'HostProcessPipe',
  ),
  pod('a named pipe', windowsVolume(pipe('rancher_wins'))),
  pod('the pipe of Docker', windowsVolume(pipe('docker_engine')), 'DockerSocket'),
  pod('the socket of Docker', windowsVolume({ hostPath: { path: '/var/run/docker.sock' } }), 'DockerSocket'),
  pod('credentials of EKS Pod Identity', windowsContainer({ env: [POD_IDENTITY] }), 'PodIdentity'),
  pod('credentials of another provider', windowsContainer({ env: [{ ...POD_IDENTITY, value: 'http://localhost/' }] })),
  pod('credentials from a Secret', windowsContainer({ env: [{ name: POD_IDENTITY.name, valueFrom: SECRET }] })),
];

const HOST_IP = { name: 'HOST_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } };
const mounted = (mount: object, volume: object = { emptyDir: {} }) => ({
  ...windowsVolume(volume as Readonly<Record<string, unknown>>),
  containers: [container({ volumeMounts: [{ name: 'data', mountPath: 'C:\\data', ...mount }] })],
});
const containers: readonly Case[] = [
  pod('subPath', mounted({ subPath: 'app.config' }), 'SubPath'),
  pod('subPathExpr', mounted({ subPathExpr: 'logs' }), 'SubPath'),
  pod('subPath, as HostProcess', hostProcess(mounted({ subPath: 'config.yml' }))),
  ...['C:', 'c:\\', '/'].map((mountPath) => pod(`a volume at ${mountPath}`, mounted({ mountPath }), 'MountPathIsRoot')),
  ...['D:', 'C:\\data', '/data'].map((mountPath) => pod(`a volume at ${mountPath}`, mounted({ mountPath }))),
  pod(
    'recursiveReadOnly',
    mounted({ mountPath: 'C:\\data', readOnly: true, recursiveReadOnly: 'Enabled' }),
    'RecursiveReadOnly',
  ),
  pod('recursiveReadOnly IfPossible', mounted({ readOnly: true, recursiveReadOnly: 'IfPossible' })),
  pod(
    'an iSCSI volume',
    windowsVolume({ iscsi: { targetPortal: '10.0.0.1', iqn: 'iqn.2001-04.com.example:a', lun: 0 } }),
    'SANVolume',
  ),
  pod('a Fibre Channel volume', windowsVolume({ fc: { targetWWNs: ['500a0982991b8dc5'], lun: 0 } }), 'SANVolume'),
  pod('resources of the pod', windowsSpec({ resources: { limits: { memory: '2Gi' } } }), 'PodResources'),
  pod('empty resources of the pod', windowsSpec({ resources: {} })),
  ...['C:\\scripts\\start.ps1', '/start.sh'].map((word) =>
    pod(`the command ${word}`, windowsContainer({ command: [word] }), 'ScriptAsCommand'),
  ),
  ...(
    [
      ['args', ['--listen=%HOST_IP%:80']],
      ['args', ['--listen=$env:HOST_IP']],
      ['command', ['app.exe', '%HOST_IP%']],
    ] as const
  ).map(([field, words]) =>
    pod(`${field} ${words.join(' ')}`, windowsContainer({ env: [HOST_IP], [field]: words }), 'UnexpandedVariable'),
  ),
  ...([['--listen=$(HOST_IP):80'], ['--config=%CONTAINER_SANDBOX_MOUNT_POINT%/config.yml']] as const).map((args) =>
    pod(`args ${args.join(' ')}`, windowsContainer({ env: [HOST_IP], args })),
  ),
  pod('a variable for cmd', windowsContainer({ env: [HOST_IP], command: ['cmd', '/c', 'echo %HOST_IP%'] })),
  pod('a script as an argument', windowsContainer({ command: ['powershell', '-File', 'C:\\start.ps1'] })),
  ...['/bin/sh', 'bash', '/usr/bin/env'].map((word) =>
    pod(`the command ${word}`, windowsContainer({ command: [word, '-c', 'sleep 1'] }), 'UnixCommand'),
  ),
  pod(
    'a probe with sh',
    windowsContainer({ livenessProbe: { exec: { command: ['sh', '-c', 'true'] } } }),
    'UnixCommand',
  ),
  ...['/bin/driver', 'C:\\bin\\sh.exe', 'bash.exe'].map((word) =>
    pod(`the command ${word}`, windowsContainer({ command: [word] })),
  ),
  pod('a hook with cmd', windowsContainer({ lifecycle: { preStop: { exec: { command: ['cmd', '/c', 'rem'] } } } })),
  pod('an SCTP port', windowsContainer({ ports: [{ containerPort: 80, protocol: 'SCTP' }] }), 'SCTP'),
  pod('a UDP port', windowsContainer({ ports: [{ containerPort: 80, protocol: 'UDP' }, { containerPort: 80 }] })),
  pod('a GPU', windowsContainer({ resources: { limits: { memory: '1Gi', 'nvidia.com/gpu': '1' } } }), 'NvidiaGPU'),
];

const claim = { persistentVolumeClaim: { claimName: 'data' } };
const resources: readonly Case[] = [
  ...['6Mi', '19.5M', '9000Ki', '15000000', 1_000_000].map((memory) =>
    pod(`a memory limit of ${memory}`, windowsContainer({ resources: { limits: { memory } } }), 'MemoryLimitTooLow'),
  ),
  ...['20Mi', '0.5Gi', '200M', '65536Ki', 536_870_912].map((memory) =>
    pod(`a memory limit of ${memory}`, windowsContainer({ resources: { limits: { memory } } })),
  ),
  pod(
    'volumeDevices',
    {
      ...windowsContainer({ volumeDevices: [{ name: 'data', devicePath: '/dev/x' }] }),
      volumes: [{ name: 'data', ...claim }],
    },
    'VolumeDevices',
  ),
  pod('a claim', windowsVolume(claim)),
  pod('an NFS volume', windowsVolume({ nfs: { server: '10.0.0.1', path: '/' } }), 'NFSVolume'),
  pod(
    'huge pages',
    windowsContainer({ resources: { limits: { memory: '1Gi', 'hugepages-2Mi': '4Mi' }, requests: { cpu: '1' } } }),
    'HugePages',
  ),
  pod('emptyDir in memory', windowsVolume({ emptyDir: { medium: 'Memory' } }), 'MemoryMedium'),
  pod('emptyDir', windowsVolume({ emptyDir: {} })),
  pod(
    'mountPropagation',
    {
      ...windowsVolume({ hostPath: { path: 'C:\\logs' } }),
      containers: [
        container({ volumeMounts: [{ name: 'data', mountPath: 'C:\\data', mountPropagation: 'HostToContainer' }] }),
      ],
    },
    'MountPropagation',
  ),
  pod('mountPropagation None', {
    ...windowsVolume({ hostPath: { path: 'C:\\logs' } }),
    containers: [container({ volumeMounts: [{ name: 'data', mountPath: 'C:\\data', mountPropagation: 'None' }] })],
  }),
  pod('defaultMode of a Secret', windowsVolume({ secret: { secretName: 's', defaultMode: 256 } }), 'DefaultMode'),
  pod('defaultMode of a ConfigMap', windowsVolume({ configMap: { name: 'c', defaultMode: 256 } }), 'DefaultMode'),
  pod(
    'a projected volume with defaultMode',
    windowsVolume({ projected: { sources: [], defaultMode: 256 } }),
    'DefaultMode',
  ),
  pod('the default mode', windowsVolume({ secret: { secretName: 's', defaultMode: 420 } })),
  pod('a Secret', windowsVolume({ secret: { secretName: 's' } })),
  pod('terminationMessagePath', windowsContainer({ terminationMessagePath: 'C:\\end.log' }), 'TerminationMessagePath'),
  pod('the default terminationMessagePath', windowsContainer({ terminationMessagePath: '/dev/termination-log' })),
  ...['C:\\var\\lib\\kubelet', 'c:/var/lib/kubelet/pods', '/var/lib/kubelet/'].map((path) =>
    pod(`the folder of the kubelet as ${path}`, windowsVolume({ hostPath: { path } }), 'KubeletHostPath'),
  ),
  pod('another hostPath', windowsVolume({ hostPath: { path: 'C:\\var\\lib\\kubelets' } })),
  pod('the folder of the kubelet, as HostProcess', {
    ...windowsVolume({ hostPath: { path: 'C:\\var\\lib\\kubelet' } }),
    ...{
      hostNetwork: true,
      securityContext: { windowsOptions: { hostProcess: true, runAsUserName: 'NT AUTHORITY\\SYSTEM' } },
    },
  }),
  pod('no memory limit', windowsContainer({ resources: { limits: { cpu: '1' } } }), 'NoMemoryLimit'),
  pod('no resources', windowsContainer({ resources: {} }), 'NoMemoryLimit'),
  pod('ClusterFirstWithHostNet', windowsSpec({ dnsPolicy: 'ClusterFirstWithHostNet' }), 'DNSPolicy'),
  pod('dnsPolicy ClusterFirst', windowsSpec({ dnsPolicy: 'ClusterFirst' })),
];

const toWindows = affinity({ 'kubernetes.io/os': ['windows'] });
const bare = { containers: [container()], os: { name: 'windows' } };
const placement: readonly Case[] = [
  pod('os.name only', bare, 'NoNodeSelector'),
  pod('os.name and a nodeSelector', { ...bare, nodeSelector: SELECTOR }),
  pod('os.name and a RuntimeClass', { ...bare, runtimeClassName: 'windows-2022' }),
  pod('os.name linux', linux({ os: { name: 'linux' } })),
  pod('os.name and nodeName', { ...bare, nodeName: 'win-1' }, 'PlacedByNodeName'),
  pod('affinity to Windows', { containers: [container()], affinity: toWindows }, 'PlacedByAffinity'),
  pod('affinity to Windows and a nodeSelector', windowsSpec({ affinity: toWindows })),
  pod('affinity to Linux or Windows', linux({ affinity: affinity({ 'kubernetes.io/os': ['linux', 'windows'] }) })),
  pod(
    'affinity to a build',
    { containers: [container()], affinity: affinity({ 'node.kubernetes.io/windows-build': ['10.0.20348'] }) },
    'PlacedByAffinity',
  ),
  pod(
    'a nodeSelector of the build only',
    { containers: [container()], nodeSelector: { 'node.kubernetes.io/windows-build': '10.0.20348' } },
    'NoNodeSelector',
  ),
  pod('the deprecated label of the operating system', {
    containers: [container()],
    nodeSelector: { 'beta.kubernetes.io/os': 'windows' },
  }),
  pod(
    'affinity to no Linux',
    {
      containers: [container()],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'kubernetes.io/os', operator: 'NotIn', values: ['linux'] }] },
            ],
          },
        },
      },
    },
    'PlacedByAffinity',
  ),
  ...['Windows', 'linux'].map((os) =>
    pod(
      `os.name windows and a nodeSelector of ${os}`,
      { ...bare, nodeSelector: { 'kubernetes.io/os': os } },
      'OtherOperatingSystem',
    ),
  ),
  pod('windowsOptions and a nodeSelector of linux', {
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    containers: [container({ image: 'nginx', securityContext: { windowsOptions: { runAsUserName: 'x' } } })],
  }),
  pod(
    'a nodeSelector of WINDOWS',
    { containers: [container()], nodeSelector: { 'kubernetes.io/os': 'WINDOWS' } },
    'OtherOperatingSystem',
  ),
  ...['auto', 'fargate'].map((type) =>
    pod(
      `compute type ${type}`,
      windowsSpec({ nodeSelector: { ...SELECTOR, 'eks.amazonaws.com/compute-type': type } }),
      'ComputeType',
    ),
  ),
  pod('compute type ec2', windowsSpec({ nodeSelector: { ...SELECTOR, 'eks.amazonaws.com/compute-type': 'ec2' } })),
  pod('affinity to Windows, as HostProcess', { ...hostProcess(), nodeSelector: undefined, affinity: toWindows }),
];

const images: readonly Case[] = [
  ...(
    [
      ['servercore:ltsc2022', on('10.0.20348')],
      ['app:4.8-windowsservercore-ltsc2019', on('10.0.17763')],
      ['nanoserver:1809', on('10.0.17763')],
      ['nanoserver:20H2', on('10.0.19042')],
      ['app:8.0-nanoserver-ltsc2025', on('10.0.26100')],
      ['app:1.1809.2', SELECTOR_2022],
      ['build-1809/app:1809', SELECTOR_2022],
      ['my-ltsc2019-images/app:ltsc2022', SELECTOR_2022],
      ['app:latest', SELECTOR_2022],
      ['app', SELECTOR_2022],
      ['servercore:ltsc2019', SELECTOR],
      ['servercore:10.0.20348.2762', SELECTOR_2022],
      ['app:10.0.177630', SELECTOR_2022],
      [`servercore:ltsc2019@${DIGEST}`, SELECTOR_2022],
    ] as const
  ).map(([tag, selector]) => pod(`the image ${tag} on ${JSON.stringify(selector)}`, image(tag, selector))),
  ...[
    'servercore:ltsc2019',
    'nanoserver:1809',
    'app:8.0-nanoserver-1809-amd64',
    'servercore:20H2',
    'servercore:ltsc2016',
    'app:1-ltsc2025',
    'servercore:10.0.17763.4131',
    'windows:10.0.14393.693',
  ].map((tag) => pod(`the image ${tag} on 2022`, image(tag), 'ImageForOtherBuild')),
  pod('a 2022 image on 2019', image('servercore:ltsc2022', on('10.0.17763')), 'ImageForOtherBuild'),
  pod('a 2019 image on 2025', image('servercore:ltsc2019', on('10.0.26100')), 'ImageForOtherBuild'),
  pod('a 2022 image on 2025', image('servercore:ltsc2022', on('10.0.26100')), 'ImageForOlderBuild'),
  pod('a 2019 image on 2022, as HostProcess', {
    ...hostProcess(),
    nodeSelector: SELECTOR_2022,
    containers: [container({ image: 'servercore:ltsc2019' })],
  }),
  pod(
    '100 containers, within the cost limit of the API server',
    windowsSpec({
      nodeSelector: SELECTOR_2022,
      containers: Array.from({ length: 100 }, (_, index) =>
        container({ name: `app-${index}`, image: 'servercore:ltsc2019' }),
      ),
    }),
    'ImageForOtherBuild',
  ),
  pod('a 2019 image and Hyper-V isolation', {
    runtimeClassName: 'hyper-v',
    containers: [container({ image: 'servercore:ltsc2019' })],
  }),
  pod(
    'a 2019 image and the RuntimeClass of 2022',
    { runtimeClassName: 'windows-2022', containers: [container({ image: 'servercore:ltsc2019' })] },
    'ImageForOtherBuild',
  ),
];

const linuxImages: readonly Case[] = [
  ...[
    'alpine',
    'docker.io/library/ubuntu:24.04',
    'nginx:1.27-alpine3.20',
    'mcr.microsoft.com/dotnet/aspnet:8.0-jammy',
  ].map((name) => pod(`the image ${name} on Windows`, windowsContainer({ image: name }), 'LinuxImage')),
  pod(
    'a Linux init container with a shell',
    windowsSpec({ initContainers: [container({ name: 'certs', image: 'alpine:3', command: ['/bin/sh'] })] }),
    'LinuxImage',
  ),
  ...[
    'registry.example.com/alpine:ltsc2022',
    'e2eteam/nginx:1.14-alpine',
    'registry.example.com/app:8.0-jammy',
    'registry.example.com/alpine-tools:1',
    'app:noblesse',
  ].map((name) => pod(`the image ${name} on Windows`, windowsContainer({ image: name }))),
];

const onLinux: readonly Case[] = [
  pod(
    'a Windows image that only tolerates the taint',
    { tolerations: TOLERATIONS, containers: [container()] },
    'WindowsImageUnselected',
  ),
  pod('a Windows image', { containers: [container()] }, 'WindowsImageUnselected'),
  pod('a toleration of everything', linux({ tolerations: everything }), 'LinuxOnWindows'),
  pod('a toleration of the taint', linux({ tolerations: TOLERATIONS }), 'LinuxOnWindows'),
  pod('a toleration of the key os', linux({ tolerations: [{ key: 'os', operator: 'Exists' }] }), 'LinuxOnWindows'),
  pod('a toleration of NoExecute', linux({ tolerations: [{ operator: 'Exists', effect: 'NoExecute' }] })),
  pod('another toleration', linux({ tolerations: [{ key: 'dedicated', operator: 'Exists' }] })),
  pod(
    'a toleration of everything on Linux',
    linux({ tolerations: everything, nodeSelector: { 'kubernetes.io/os': 'linux' } }),
  ),
  pod(
    'a toleration of everything and affinity to Linux',
    linux({ tolerations: everything, affinity: affinity({ 'kubernetes.io/os': ['linux'] }) }),
  ),
  pod(
    'a toleration of everything and another affinity',
    linux({ tolerations: everything, affinity: affinity({ 'eks.amazonaws.com/compute-type': ['ec2'] }) }),
    'LinuxOnWindows',
  ),
  pod('a toleration of everything and nodeName', linux({ tolerations: everything, nodeName: 'linux-1' })),
  pod('fields that work on Linux', linux({ hostNetwork: true, securityContext: { runAsUser: 1, fsGroup: 1 } })),
];

const template = (kind: Kind, what: string, spec: object, ...rules: readonly string[]): Case => ({
  what: `a ${kind} with ${what}`,
  manifest: workload(kind, spec as Readonly<Record<string, unknown>>),
  rules,
});
const KINDS: readonly Kind[] = [
  'Deployment',
  'ReplicaSet',
  'StatefulSet',
  'DaemonSet',
  'Job',
  'CronJob',
  'ReplicationController',
];
const byClass = (fields: object) => ({ runtimeClassName: 'windows-2022', containers: [container()], ...fields });
const old = [container({ image: 'servercore:ltsc2019' })];
const templates: readonly Case[] = [
  ...KINDS.flatMap((kind) => [
    template(kind, 'a nodeSelector and hostPID', windowsSpec({ hostPID: true }), 'HostPID'),
    template(kind, 'a RuntimeClass', byClass({})),
    template(kind, 'a RuntimeClass and hostPID', byClass({ hostPID: true }), 'HostPID'),
  ]),
  template(
    'Deployment',
    'a RuntimeClass and an image of another build',
    byClass({ containers: old }),
    'ImageForOtherBuild',
  ),
  template(
    'Deployment',
    'Hyper-V isolation and a 2019 image',
    byClass({ runtimeClassName: 'hyper-v', containers: old }),
  ),
  template(
    'Deployment',
    'Hyper-V isolation, a nodeSelector of the build and a 2019 image',
    byClass({ runtimeClassName: 'hyper-v', containers: old, nodeSelector: SELECTOR_2022 }),
  ),
  template(
    'Deployment',
    'a RuntimeClass, a nodeSelector of the build and a 2019 image',
    byClass({ containers: old, nodeSelector: SELECTOR_2022 }),
    'ImageForOtherBuild',
  ),
  template(
    'Deployment',
    'a RuntimeClass, os.name and two violations',
    byClass({ os: { name: 'windows' }, containers: old, dnsPolicy: 'ClusterFirstWithHostNet' }),
    'DNSPolicy',
    'ImageForOtherBuild',
  ),
  template(
    'Deployment',
    'the RuntimeClass of 2025 and a 2022 image',
    byClass({ runtimeClassName: 'windows-2025' }),
    'ImageForOlderBuild',
  ),
  template(
    'Deployment',
    'a RuntimeClass and a nodeSelector of another build',
    byClass({ nodeSelector: on('10.0.17763') }),
    'ImageForOtherBuild',
    'RuntimeClassConflict',
  ),
  template(
    'Deployment',
    'a RuntimeClass and a nodeSelector of Linux',
    byClass({ nodeSelector: { 'kubernetes.io/os': 'linux' } }),
    'OtherOperatingSystem',
  ),
  template(
    'Deployment',
    'a RuntimeClass and a nodeSelector of another architecture',
    byClass({ nodeSelector: { 'kubernetes.io/arch': 'arm64', pool: 'web' } }),
    'RuntimeClassConflict',
  ),
  template('DaemonSet', 'os.name only', bare, 'NoNodeSelector'),
  template('DaemonSet', 'a toleration of everything', linux({ tolerations: everything }), 'LinuxOnWindows'),
  template('Deployment', 'a RuntimeClass that no cluster has', byClass({ runtimeClassName: 'gvisor', hostPID: true })),
];

/** All cases. */
export const CASES: readonly Case[] = [
  ...namespaces,
  ...security,
  ...host,
  ...containers,
  ...resources,
  ...placement,
  ...images,
  ...linuxImages,
  ...onLinux,
  ...templates,
];

/** The rules that no case violates. */
export const RULES_WITHOUT_CASE: readonly string[] = RULES.map(({ name }) => name).filter(
  (name) => !CASES.some(({ rules }) => rules.includes(name)),
);
