/** The arguments of the kubelet in the user data of a CUSTOM group. Pure. */
import type { WindowsPoolSpec } from '../../../api/api.gen.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { DEFAULT_EVICTION_HARD } from '../../../sizing/kubeletDefaults.ts';

/**
 * The arguments of the kubelet that `extraArgs` accepts. They only tune it: none names a file, a URL or an address, and none changes who may call the kubelet,
 * or whom it trusts, or how much it asks of the API server. With another one, such as `manifest-url`, users who can edit pools could run programs on nodes as SYSTEM. The schema has the
 * same list. Source: cmd/kubelet/app/options/options.go of Kubernetes 1.36, and https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/
 */
export const TUNING_ARGUMENTS: ReadonlySet<string> = new Set([
  'container-log-max-files',
  'container-log-max-size',
  'cpu-manager-policy',
  'cpu-manager-policy-options',
  'cpu-manager-reconcile-period',
  'event-burst',
  'event-qps',
  'eviction-max-pod-grace-period',
  'eviction-minimum-reclaim',
  'eviction-pressure-transition-period',
  'eviction-soft',
  'eviction-soft-grace-period',
  'experimental-allocatable-ignore-eviction',
  'image-gc-high-threshold',
  'image-gc-low-threshold',
  'kube-api-burst',
  'kube-api-qps',
  'log-flush-frequency',
  'logging-format',
  'maximum-dead-containers',
  'maximum-dead-containers-per-container',
  'memory-manager-policy',
  'minimum-container-ttl-duration',
  'minimum-image-ttl-duration',
  'node-status-max-images',
  'pods-per-core',
  'registry-burst',
  'registry-qps',
  'reserved-cpus',
  'reserved-memory',
  'runtime-request-timeout',
  'serialize-image-pulls',
  'streaming-connection-idle-timeout',
  'sync-frequency',
  'topology-manager-policy',
  'topology-manager-policy-options',
  'topology-manager-scope',
  'v',
  'volume-stats-agg-period',
  'windows-priorityclass',
]);

/** The arguments that nodes get, without leading dashes: those that the spec sets, and the default eviction thresholds. */
export function kubeletArguments(spec: WindowsPoolSpec): Readonly<Record<string, string>> {
  const { evictionHard } = nodeGroupIn(spec).kubelet ?? {};
  return {
    ...specifiedArguments(spec),
    ...(evictionHard && { 'eviction-hard': listed({ ...DEFAULT_EVICTION_HARD, ...evictionHard }, '<') }),
  };
}

/**
 * The arguments that the spec sets. The kubelet still has flags for what its configuration file sets, and flags take precedence:
 * https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/
 */
export function specifiedArguments(spec: WindowsPoolSpec): Readonly<Record<string, string>> {
  const { systemReserved, kubeReserved, evictionHard, maxPods, extraArgs } = nodeGroupIn(spec).kubelet ?? {};
  return {
    ...Object.fromEntries(Object.entries(extraArgs ?? {}).filter(isTuning)),
    ...(systemReserved && { 'system-reserved': listed(systemReserved, '=') }),
    ...(kubeReserved && { 'kube-reserved': listed(kubeReserved, '=') }),
    ...(evictionHard && { 'eviction-hard': listed(evictionHard, '<') }),
    ...(maxPods !== undefined && { 'max-pods': String(maxPods) }),
  };
}

/** With a verbosity of 8, the bodies of requests are in the log: https://kubernetes.io/docs/reference/kubectl/quick-reference/#kubectl-output-verbosity-and-debugging */
function isTuning([name, value]: readonly [string, string]): boolean {
  return TUNING_ARGUMENTS.has(name) && (name !== 'v' || /^[0-6]$/.test(value));
}

/** `cpu=500m,memory=2Gi` */
function listed(values: Readonly<Record<string, string>>, separator: string): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}${separator}${value}`)
    .sort()
    .join(',');
}
