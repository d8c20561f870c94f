/** Simulates EKS' node manager before it replaces a node: it cordons the node and evicts its pods. */
import { setTimeout as pause } from 'node:timers/promises';
import type { CoreV1Api, V1Pod } from '@kubernetes/client-node';
import { unlessRefused } from './apiServer.ts';

const excludeLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';
const firstPauseMs = 50;
const longestPauseMs = 400;

/** Makes a node unschedulable and excludes it from load balancers, or reverts both. */
export async function cordonNode(api: CoreV1Api, name: string, on: boolean): Promise<void> {
  const body = {
    metadata: { labels: { [excludeLabel]: on ? 'true' : null } },
    spec: { unschedulable: on ? true : null },
  };
  await api.patchNode({ name, body });
}

/**
 * Evicts the pods of a node until there are none, and retries when disruption budgets reject it. Pods of DaemonSets, static and finished
 * pods are ignored. Returns whether the node was empty before the signal.
 */
export async function evictPods(api: CoreV1Api, node: string, signal: AbortSignal): Promise<boolean> {
  for (let wait = firstPauseMs; !signal.aborted; wait = Math.min(wait * 2, longestPauseMs)) {
    const { items } = await api.listPodForAllNamespaces({ fieldSelector: `spec.nodeName=${node}` });
    const pods = items.filter(isEvicted);
    if (pods.length === 0) return true;
    for (const pod of pods) if (pod.metadata?.deletionTimestamp === undefined) await evict(api, pod);
    await pause(wait, undefined, { signal }).catch(() => {});
  }
  return false;
}

async function evict(api: CoreV1Api, { metadata: { name = '', namespace = '' } = {} }: V1Pod): Promise<void> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  // 404: it is already gone. 429: a disruption budget does not allow it yet.
  await api.createNamespacedPodEviction({ name, namespace, body }).catch(unlessRefused(404, 429));
}

const isEvicted = ({ metadata: { annotations, ownerReferences } = {}, status }: V1Pod): boolean =>
  annotations?.['kubernetes.io/config.mirror'] === undefined &&
  ownerReferences?.some(({ kind }) => kind === 'DaemonSet') !== true &&
  status?.phase !== 'Succeeded' &&
  status?.phase !== 'Failed';
