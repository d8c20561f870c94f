/** Manifests for the tables of this folder, from the parts in which they differ. */

type Fields = Readonly<Record<string, unknown>>;

/** A Kubernetes object. */
export interface Manifest extends Fields {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
}

/** A container without violations, with the given fields. */
export function container(fields: Fields = {}): Fields {
  const image = 'mcr.microsoft.com/windows/servercore:ltsc2022';
  return { name: 'app', image, resources: { limits: { memory: '1Gi' } }, ...fields };
}

export const SELECTOR = { 'kubernetes.io/os': 'windows' };
export const SELECTOR_2022 = { ...SELECTOR, 'node.kubernetes.io/windows-build': '10.0.20348' };
export const TOLERATIONS = [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }];

/** A pod spec on Windows without violations, with the given fields. */
export function windowsSpec(fields: Fields = {}): Fields {
  return { nodeSelector: SELECTOR, tolerations: TOLERATIONS, containers: [container()], ...fields };
}

/** A pod spec on Windows whose only container has the given fields. */
export function windowsContainer(fields: Fields): Fields {
  return windowsSpec({ containers: [container(fields)] });
}

/** A pod spec on Windows with a volume that the container mounts. */
export function windowsVolume(volume: Fields): Fields {
  const volumeMounts = [{ name: 'data', mountPath: 'C:\\data' }];
  return windowsSpec({ containers: [container({ volumeMounts })], volumes: [{ name: 'data', ...volume }] });
}

/** A HostProcess pod spec without violations, with the given fields. */
export function hostProcess(fields: Fields = {}): Fields {
  const windowsOptions = { hostProcess: true, runAsUserName: 'NT AUTHORITY\\SYSTEM' };
  return windowsSpec({ hostNetwork: true, securityContext: { windowsOptions }, ...fields });
}

/** Required node affinity to the given labels. */
export function affinity(labels: Readonly<Record<string, readonly string[]>>): Fields {
  const matchExpressions = Object.entries(labels).map(([key, values]) => ({ key, operator: 'In', values }));
  const required = { nodeSelectorTerms: [{ matchExpressions }] };
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
}

export type Kind =
  | 'Pod'
  | 'Deployment'
  | 'ReplicaSet'
  | 'StatefulSet'
  | 'DaemonSet'
  | 'Job'
  | 'CronJob'
  | 'ReplicationController';

const VERSIONS: Readonly<Record<Kind, string>> = {
  Pod: 'v1',
  ReplicationController: 'v1',
  Deployment: 'apps/v1',
  ReplicaSet: 'apps/v1',
  StatefulSet: 'apps/v1',
  DaemonSet: 'apps/v1',
  Job: 'batch/v1',
  CronJob: 'batch/v1',
};

/** An object of the kind with the pod spec. */
export function workload(kind: Kind, spec: Fields, name = 'app'): Manifest {
  const labels = { app: name };
  const template = { metadata: { labels }, spec };
  const job = { template: { ...template, spec: { restartPolicy: 'Never', ...spec } } };
  const matchLabels = { selector: { matchLabels: labels }, template };
  const specs: Readonly<Record<Kind, Fields>> = {
    Pod: spec,
    ReplicationController: { selector: labels, template },
    Deployment: matchLabels,
    ReplicaSet: matchLabels,
    StatefulSet: { ...matchLabels, serviceName: name },
    DaemonSet: matchLabels,
    Job: job,
    CronJob: { schedule: '0 3 * * *', jobTemplate: { spec: job } },
  };
  return { apiVersion: VERSIONS[kind], kind, metadata: { name, namespace: 'default' }, spec: specs[kind] };
}

const WINDOWS_POOLS = [
  ['windows-2019', '10.0.17763'],
  ['windows-2022', '10.0.20348'],
  ['windows-2025', '10.0.26100'],
  ['hyper-v', '10.0.20348', 'runhcs-wcow-hypervisor'],
] as const;

/** RuntimeClasses as the operator creates them. */
export const RUNTIME_CLASSES = WINDOWS_POOLS.map(([name, build, handler = 'runhcs-wcow-process']) => ({
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name, labels: { 'app.kubernetes.io/managed-by': 'windowspool-operator' } },
  handler,
  scheduling: {
    nodeSelector: { ...SELECTOR, 'kubernetes.io/arch': 'amd64', 'node.kubernetes.io/windows-build': build },
    tolerations: TOLERATIONS,
  },
}));
