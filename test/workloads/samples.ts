/**
 * Workloads that run on clusters with Windows nodes, written from the facts of public samples: placement, host access, volumes and images. No rule of
 * the grade `fails` may find anything in them.
 */
import {
  affinity,
  container,
  type Kind,
  type Manifest,
  SELECTOR,
  SELECTOR_2022,
  TOLERATIONS,
  windowsSpec,
  workload,
} from './build.ts';

/** A sample, and the advice about it in alphabetical order. */
export interface Sample {
  readonly what: string;
  readonly manifest: Manifest;
  readonly advice: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const sample = (what: string, kind: Kind, spec: Fields, ...advice: readonly string[]): Sample => ({
  what,
  manifest: workload(kind, spec),
  advice,
});

const everything = [{ operator: 'Exists' }];
const limits = (memory: string) => ({ limits: { memory }, requests: { cpu: '10m', memory } });
const unlimited = (image: string, fields: Fields = {}) => container({ image, resources: {}, ...fields });
const hostPath = (name: string, path: string) => ({ name, hostPath: { path } });
const SYSTEM = { windowsOptions: { hostProcess: true, runAsUserName: 'NT AUTHORITY\\SYSTEM' } };
const hostProcess = (fields: Fields) => ({
  hostNetwork: true,
  securityContext: SYSTEM,
  nodeSelector: SELECTOR,
  tolerations: everything,
  ...fields,
});

/** A DaemonSet of HostProcess pods, which differ only in their image. */
const agent = (what: string, image: string, memory?: string): Sample =>
  sample(
    what,
    'DaemonSet',
    hostProcess({ containers: [memory ? container({ image, resources: limits(memory) }) : unlimited(image)] }),
    ...(memory ? [] : ['NoMemoryLimit']),
  );

const web: readonly Sample[] = [
  sample(
    'the web server of the Amazon EKS user guide',
    'Deployment',
    {
      nodeSelector: { ...SELECTOR, 'kubernetes.io/arch': 'amd64' },
      containers: [
        unlimited('mcr.microsoft.com/windows/servercore:ltsc2022', {
          ports: [{ name: 'http', containerPort: 80 }],
          imagePullPolicy: 'IfNotPresent',
          command: ['powershell.exe', '-command', 'Add-WindowsFeature Web-Server; while ($true) { Start-Sleep 5 }'],
        }),
      ],
    },
    'NoMemoryLimit',
  ),
  sample(
    'the web server of the Kubernetes documentation',
    'Deployment',
    {
      nodeSelector: SELECTOR,
      containers: [
        unlimited('mcr.microsoft.com/windows/servercore:ltsc2019', {
          command: ['powershell.exe', '-command', 'Start-Sleep 5'],
        }),
      ],
    },
    'NoMemoryLimit',
  ),
  sample('IIS with the RuntimeClass of the Kubernetes documentation', 'Deployment', {
    runtimeClassName: 'windows-2019',
    containers: [
      container({
        image: 'mcr.microsoft.com/windows/servercore/iis:windowsservercore-ltsc2019',
        resources: { limits: { cpu: '1', memory: '800Mi' }, requests: { cpu: '100m', memory: '300Mi' } },
      }),
    ],
  }),
  sample('the ASP.NET sample of the AKS quick start', 'Deployment', {
    nodeSelector: SELECTOR,
    containers: [
      container({
        image: 'mcr.microsoft.com/dotnet/framework/samples:aspnetapp',
        resources: { limits: { cpu: 1, memory: '800M' } },
      }),
    ],
  }),
  sample(
    'an ASP.NET Core application on Nano Server',
    'Deployment',
    windowsSpec({
      nodeSelector: SELECTOR_2022,
      containers: [container({ image: 'mcr.microsoft.com/dotnet/samples:aspnetapp-nanoserver-ltsc2022' })],
    }),
  ),
  sample(
    'the pod with a gMSA of the Kubernetes documentation',
    'Deployment',
    {
      nodeSelector: SELECTOR,
      securityContext: { windowsOptions: { gmsaCredentialSpecName: 'gmsa-webapp1' } },
      containers: [unlimited('mcr.microsoft.com/windows/servercore/iis:windowsservercore-ltsc2019')],
    },
    'NoMemoryLimit',
  ),
  sample(
    'the pod with runAsUserName of the Kubernetes documentation',
    'Pod',
    {
      nodeSelector: SELECTOR,
      securityContext: { windowsOptions: { runAsUserName: 'ContainerUser' } },
      containers: [
        unlimited('mcr.microsoft.com/windows/servercore:ltsc2019', {
          command: ['ping', '-t', 'localhost'],
          securityContext: { windowsOptions: { runAsUserName: 'ContainerAdministrator' } },
        }),
      ],
    },
    'NoMemoryLimit',
  ),
  sample(
    'a database with a volume of Amazon EBS',
    'StatefulSet',
    windowsSpec({
      os: { name: 'windows' },
      containers: [container({ volumeMounts: [{ name: 'data', mountPath: 'C:\\data' }] })],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    }),
  ),
  sample('a batch job with a RuntimeClass', 'Job', {
    runtimeClassName: 'windows-2022',
    containers: [container({ command: ['cmd', '/c', 'ver'] })],
  }),
  sample('a nightly task with os.name', 'CronJob', windowsSpec({ os: { name: 'windows' } })),
  sample(
    'a pod with Secrets, ConfigMaps and the Downward API',
    'Deployment',
    windowsSpec({
      containers: [container({ volumeMounts: [{ name: 'all', mountPath: 'C:\\config', readOnly: true }] })],
      volumes: [{ name: 'all', projected: { sources: [{ secret: { name: 's' } }, { configMap: { name: 'c' } }] } }],
    }),
  ),
];

const exporter = {
  initContainers: [
    unlimited('mcr.microsoft.com/windows/nanoserver:1809', {
      name: 'firewall',
      command: ['powershell', 'New-NetFirewallRule'],
    }),
  ],
  containers: [
    unlimited('ghcr.io/prometheus-community/windows-exporter:latest', {
      name: 'windows-exporter',
      args: ['--config.file=%CONTAINER_SANDBOX_MOUNT_POINT%/config.yml'],
      ports: [{ containerPort: 9182, hostPort: 9182, name: 'http' }],
      volumeMounts: [{ name: 'config', mountPath: '/config.yml', subPath: 'config.yml' }],
    }),
  ],
  volumes: [{ name: 'config', configMap: { name: 'windows-exporter' } }],
};
const KUBELET = 'C:\\var\\lib\\kubelet';
const storageDriver = (...folders: readonly string[]) =>
  windowsSpec({
    tolerations: everything,
    containers: [
      container({
        name: 'driver',
        image: 'registry.example.com/csi-driver:v1',
        resources: limits('256Mi'),
        volumeMounts: [
          { name: 'kubelet', mountPath: KUBELET, mountPropagation: 'None' },
          { name: 'pipe', mountPath: '\\\\.\\pipe\\csi-proxy-volume-v1' },
        ],
      }),
    ],
    volumes: [
      { name: 'kubelet', hostPath: { path: KUBELET, type: 'Directory' } },
      { name: 'pipe', hostPath: { path: '\\\\.\\pipe\\csi-proxy-volume-v1', type: '' } },
      ...folders.map((path, index) => hostPath(`folder-${index}`, path)),
    ],
  });

const system: readonly Sample[] = [
  sample('the HostProcess pod of the Kubernetes documentation', 'Pod', {
    ...hostProcess({ tolerations: [] }),
    containers: [container({ image: 'registry.example.com/image1:latest', command: ['ping', '-t', '127.0.0.1'] })],
  }),
  sample(
    'the Helm chart of windows_exporter',
    'DaemonSet',
    hostProcess({ ...exporter, hostPID: true, tolerations: [{ effect: 'NoSchedule', operator: 'Exists' }] }),
    'NoMemoryLimit',
  ),
  sample(
    'windows_exporter with os.name',
    'DaemonSet',
    hostProcess({ ...exporter, os: { name: 'windows' } }),
    'NoMemoryLimit',
  ),
  sample('windows_exporter, with HostProcess in its containers', 'DaemonSet', {
    ...hostProcess({ securityContext: {} }),
    containers: [container({ image: 'windows-exporter:latest', securityContext: SYSTEM })],
  }),
  sample(
    'Calico for Windows',
    'DaemonSet',
    hostProcess({
      tolerations: [
        { effect: 'NoSchedule', operator: 'Exists' },
        { key: 'CriticalAddonsOnly', operator: 'Exists' },
      ],
      terminationGracePeriodSeconds: 0,
      initContainers: [unlimited('docker.io/calico/cni-windows:v3.29.0', { name: 'install-cni' })],
      containers: ['node', 'felix', 'confd'].map((name) =>
        unlimited('docker.io/calico/node-windows:v3.29.0', { name }),
      ),
      volumes: [{ name: 'config', configMap: { name: 'calico-config-windows' } }],
    }),
    'NoMemoryLimit',
  ),
  sample(
    'Flannel for Windows, placed by affinity',
    'DaemonSet',
    {
      ...hostProcess({ nodeSelector: {} }),
      affinity: affinity({ 'kubernetes.io/os': ['windows'], 'kubernetes.io/arch': ['amd64'] }),
      containers: [unlimited('ghcr.io/flannel/flannel:v0.24.0-hostprocess')],
    },
    'NoMemoryLimit',
  ),
  sample(
    'kube-proxy for Windows',
    'DaemonSet',
    hostProcess({
      containers: [unlimited('registry.example.com/kube-proxy:v1.36.0-hostprocess')],
      volumes: [{ name: 'kube-proxy', configMap: { name: 'kube-proxy' } }],
    }),
    'NoMemoryLimit',
  ),
  agent('CSI proxy as HostProcess', 'ghcr.io/kubernetes-sigs/sig-windows/csi-proxy:v1.1.3'),
  sample(
    'kube-proxy of SIG Windows, placed by affinity',
    'DaemonSet',
    {
      ...hostProcess({ nodeSelector: {} }),
      affinity: affinity({ 'kubernetes.io/os': ['windows'], 'kubernetes.io/arch': ['amd64'] }),
      priorityClassName: 'system-node-critical',
      containers: [unlimited('registry.example.com/kube-proxy:v1.36.0-flannel-hostprocess')],
    },
    'NoMemoryLimit',
  ),
  sample('the Amazon EBS CSI driver with CSI proxy', 'DaemonSet', storageDriver(), 'KubeletHostPath'),
  sample(
    'the SMB CSI driver',
    'DaemonSet',
    storageDriver('C:\\var\\lib\\kubelet\\plugins_registry', 'C:\\var\\lib\\kubelet\\plugins\\smb.csi.k8s.io\\'),
    'KubeletHostPath',
  ),
  sample(
    'the SMB CSI driver as HostProcess',
    'DaemonSet',
    hostProcess({
      securityContext: { ...SYSTEM, seccompProfile: { type: 'RuntimeDefault' } },
      tolerations: [{ key: 'node.kubernetes.io/os', operator: 'Exists', effect: 'NoSchedule' }],
      containers: [container({ image: 'registry.example.com/smbplugin:v1.17.0', resources: limits('200Mi') })],
    }),
    'SeccompProfile',
  ),
  sample(
    'the Secrets Store CSI driver',
    'DaemonSet',
    storageDriver('C:\\k\\secrets-store-csi-providers'),
    'KubeletHostPath',
  ),
  sample(
    'the Azure disk CSI driver as HostProcess',
    'DaemonSet',
    hostProcess({
      containers: [
        container({
          image: 'mcr.microsoft.com/oss/kubernetes-csi/azuredisk-csi:v1.30.0-windows-hp',
          resources: limits('200Mi'),
        }),
      ],
      volumes: [hostPath('kubelet', KUBELET)],
    }),
  ),
  sample(
    'Fluent Bit for Windows of Amazon CloudWatch',
    'DaemonSet',
    windowsSpec({
      containers: [
        container({
          image: 'public.ecr.aws/aws-observability/aws-for-fluent-bit:windowsservercore-stable',
          resources: limits('500Mi'),
          volumeMounts: [{ name: 'logs', mountPath: 'C:\\var\\log', readOnly: true }],
        }),
      ],
      volumes: [hostPath('logs', 'C:\\var\\log'), hostPath('containers', 'C:\\ProgramData\\containerd\\root')],
    }),
  ),
  agent(
    'Fluent Bit for Windows of Amazon CloudWatch, as HostProcess',
    'public.ecr.aws/aws-observability/aws-for-fluent-bit:2.32.2-windowsservercore',
    '500Mi',
  ),
  agent('the Amazon CloudWatch agent for Windows', 'public.ecr.aws/cloudwatch-agent/cloudwatch-agent:1', '400Mi'),
  sample(
    'the Datadog agent for Windows',
    'DaemonSet',
    windowsSpec({
      containers: ['agent', 'trace-agent'].map((name) => unlimited('gcr.io/datadoghq/agent:7', { name })),
      volumes: [hostPath('pipe', '\\\\.\\pipe\\containerd-containerd'), hostPath('data', 'C:/ProgramData')],
    }),
    'NoMemoryLimit',
  ),
  agent('the node problem detector for Windows', 'registry.example.com/npd:windows', '1Gi'),
];

const PIPE = '\\\\.\\pipe\\';
const pulling: readonly Sample[] = [
  sample(
    'the DaemonSet of GKE that pulls images in advance',
    'DaemonSet',
    {
      nodeSelector: { ...SELECTOR, 'cloud.google.com/gke-os-distribution': 'windows_ltsc' },
      tolerations: [{ key: 'node.kubernetes.io/os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }],
      initContainers: [
        unlimited('mcr.microsoft.com/windows/nanoserver:1809', {
          name: 'pull',
          securityContext: { windowsOptions: { runAsUserName: 'ContainerAdministrator' } },
          command: ['cmd', '/c'],
          volumeMounts: [{ name: 'containerd', mountPath: `${PIPE}containerd-containerd` }],
        }),
      ],
      containers: [unlimited('registry.example.com/pause:3.10')],
      volumes: [
        hostPath('containerd', `${PIPE}containerd-containerd`),
        hostPath('programs', 'C:\\Program Files\\containerd'),
      ],
    },
    'NoMemoryLimit',
  ),
  sample(
    'the DaemonSet of the Kubernetes tests that pulls images in advance',
    'DaemonSet',
    {
      nodeSelector: SELECTOR,
      tolerations: TOLERATIONS,
      containers: ['agnhost', 'busybox', 'httpd'].map((name) => unlimited(`registry.example.com/${name}:1`, { name })),
    },
    'NoMemoryLimit',
  ),
  sample(
    'an agent of Rancher with the pipe of wins',
    'DaemonSet',
    {
      nodeSelector: SELECTOR,
      tolerations: everything,
      containers: [
        unlimited('registry.example.com/windows-exporter:1', {
          volumeMounts: [{ name: 'wins', mountPath: `${PIPE}rancher_wins` }],
        }),
      ],
      volumes: [hostPath('wins', `${PIPE}rancher_wins`), hostPath('folder', 'c:/etc/windows-exporter')],
    },
    'NoMemoryLimit',
  ),
];

const linux = (fields: Fields) => ({
  hostNetwork: true,
  tolerations: everything,
  containers: [
    { name: 'agent', image: 'registry.example.com/agent:1', securityContext: { privileged: true, runAsUser: 0 } },
  ],
  ...fields,
});
const OS = { nodeSelector: { 'kubernetes.io/os': 'linux' } };
const TO_LINUX = affinity({ 'kubernetes.io/os': ['linux'], 'kubernetes.io/arch': ['amd64', 'arm64'] });
const kubelet = [hostPath('kubelet', '/var/lib/kubelet')];
const eks: readonly Sample[] = [
  sample('aws-node of Amazon EKS', 'DaemonSet', linux({ affinity: TO_LINUX })),
  sample('kube-proxy of Amazon EKS', 'DaemonSet', linux({ affinity: TO_LINUX })),
  sample('ebs-csi-node of Amazon EKS', 'DaemonSet', linux({ ...OS, hostNetwork: false, volumes: kubelet })),
  sample('efs-csi-node of Amazon EKS', 'DaemonSet', linux({ ...OS, dnsPolicy: 'ClusterFirst', volumes: kubelet })),
  sample('eks-pod-identity-agent of Amazon EKS', 'DaemonSet', linux({ affinity: TO_LINUX })),
  sample('eks-node-monitoring-agent of Amazon EKS', 'DaemonSet', linux({ affinity: TO_LINUX, hostPID: true })),
  sample('CoreDNS of Amazon EKS', 'Deployment', {
    affinity: TO_LINUX,
    tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }],
    dnsPolicy: 'Default',
    containers: [
      { name: 'coredns', image: 'registry.example.com/coredns:1', securityContext: { readOnlyRootFilesystem: true } },
    ],
  }),
  sample('the Amazon CloudWatch agent', 'DaemonSet', linux(OS)),
  sample('Fluent Bit of Amazon CloudWatch', 'DaemonSet', linux({ ...OS, dnsPolicy: 'ClusterFirstWithHostNet' })),
  sample(
    'the Prometheus node exporter',
    'DaemonSet',
    linux({ ...OS, hostPID: true, tolerations: [{ effect: 'NoSchedule', operator: 'Exists' }] }),
  ),
  sample('the metrics server', 'Deployment', { ...OS, containers: [{ name: 'server', image: 'metrics-server:1' }] }),
  sample('a device plugin', 'DaemonSet', linux({ tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }] })),
  sample('a node agent that selects no operating system', 'DaemonSet', linux({}), 'LinuxOnWindows'),
];

/** All samples. */
export const SAMPLES: readonly Sample[] = [...web, ...system, ...pulling, ...eks];
