/** The arguments of the kubelet in the user data of a CUSTOM group. Pure. */
import type { WindowsPoolSpec } from '../../../api/api.gen.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';

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
    ...extraArgs,
    ...(systemReserved && { 'system-reserved': listed(systemReserved, '=') }),
    ...(kubeReserved && { 'kube-reserved': listed(kubeReserved, '=') }),
    ...(evictionHard && { 'eviction-hard': listed(evictionHard, '<') }),
    ...(maxPods !== undefined && { 'max-pods': String(maxPods) }),
  };
}

/**
 * The defaults of a kubelet on Windows: https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/eviction/defaults_windows.go. If one threshold is
 * set, the kubelet sets those that are left out to zero, and such a node would fill its disk:
 * https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/#hard-eviction-thresholds
 */
const DEFAULT_EVICTION_HARD = { 'memory.available': '500Mi', 'nodefs.available': '10%' } as const;

/** `cpu=500m,memory=2Gi` */
function listed(values: Readonly<Record<string, string>>, separator: string): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}${separator}${value}`)
    .sort()
    .join(',');
}
