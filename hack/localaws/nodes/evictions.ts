/** As EKS' node manager: a node takes no more pods, and those that it has are asked to go by the eviction API. */
import { setTimeout as pause } from 'node:timers/promises';
import type { InstanceRecord } from '../state.ts';
import type { KubeAnswer, KubeRequest } from './kubeClient.ts';
import { expectOk } from './nodeStepError.ts';

type Send = (request: KubeRequest) => Promise<KubeAnswer>;

interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly deletionTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly kind: string }[];
  };
  readonly status?: { readonly phase?: string };
}

const agent = 'eks-node-manager';
const excludeLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';
const firstPauseMs = 50;
const longestPauseMs = 400;

/** Makes a node unschedulable and takes it out of load balancers, or takes both back. */
export async function cordonNode({ nodeName }: InstanceRecord, on: boolean, send: Send): Promise<void> {
  const body = {
    metadata: { labels: { [excludeLabel]: on ? 'true' : null } },
    spec: { unschedulable: on ? true : null },
  };
  const path = `/api/v1/nodes/${nodeName}`;
  expectOk(`cordon ${nodeName}`, await send({ method: 'PATCH', path, agent, patch: 'merge-patch', body }));
}

/**
 * Evicts the pods of a node until there are none, as often as disruption budgets refuse. Pods of DaemonSets, static and
 * finished pods don't count. Returns whether it came to that before the signal.
 */
export async function evictPods({ nodeName }: InstanceRecord, send: Send, signal: AbortSignal): Promise<boolean> {
  for (let wait = firstPauseMs; !signal.aborted; wait = Math.min(wait * 2, longestPauseMs)) {
    const path = `/api/v1/pods?fieldSelector=${encodeURIComponent(`spec.nodeName=${nodeName}`)}`;
    const answer = await send({ method: 'GET', path, agent });
    expectOk(`list the pods of ${nodeName}`, answer);
    const pods = (answer.body as { readonly items: readonly Pod[] }).items.filter(mustGo);
    if (pods.length === 0) return true;
    for (const pod of pods) if (pod.metadata.deletionTimestamp === undefined) await evict(pod, send);
    await pause(wait, undefined, { signal }).catch(() => {});
  }
  return false;
}

async function evict({ metadata: { name, namespace } }: Pod, send: Send): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  const answer = await send({ method: 'POST', path, agent, body });
  // 404: it has gone by itself. 429: a disruption budget says not now.
  if (answer.status !== 404 && answer.status !== 429) expectOk(`evict ${namespace}/${name}`, answer);
}

const mustGo = ({ metadata: { annotations, ownerReferences }, status }: Pod): boolean =>
  annotations?.['kubernetes.io/config.mirror'] === undefined &&
  ownerReferences?.some(({ kind }) => kind === 'DaemonSet') !== true &&
  status?.phase !== 'Succeeded' &&
  status?.phase !== 'Failed';
