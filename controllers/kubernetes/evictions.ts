/** The port Evictions: finds the pods that made an update fail, by pods and PodDisruptionBudgets. */
import type { V1LabelSelector, V1Pod, V1PodDisruptionBudget, V1Toleration } from '@kubernetes/client-node';
import type { NodeSelector } from '../windowspool/api/api.gen.ts';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import { type Evictions, hasEnded, type StuckPod } from '../windowspool/ports/pods.ts';
import { selects } from '../windowspool/util/labelSelector.ts';
import type { KubernetesClient } from './client.ts';
import { PODS_OF_NODE } from './drains.ts';
import { toCallResult } from './errors.ts';
import { controllerOf, type Wire } from './objects.ts';
import { readPages } from './pages.ts';
import { apiPath } from './paths.ts';

/** The fields of a pod that matter here: a pod can be as large as 1.5 MiB. */
interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether a controller recreates it on a cordoned node. */
  readonly comesBack: boolean;
}

const BUDGETS = { limit: 500, most: 100_000 };

/** The fields of a PodDisruptionBudget that matter here: a cluster can have tens of thousands of them. */
export interface Budget {
  readonly namespace: string;
  readonly name: string;
  readonly selector: Wire<V1LabelSelector> | undefined;
  readonly allowsDisruption: boolean;
}

export function createEvictions(client: KubernetesClient): Evictions {
  return {
    stuckOn: async (nodes, signal) => {
      const pods = await toCallResult('list pods', signal, async () => {
        const found = await Promise.all(
          nodes.map((node) =>
            readPages<V1Pod, Pod>(
              client,
              apiPath('v1', 'pods'),
              { query: { fieldSelector: `spec.nodeName=${node}` }, signal, ...PODS_OF_NODE },
              (pod) => (mustGo(pod) ? podOf(pod) : undefined),
            ),
          ),
        );
        return found.flat();
      });
      if (!pods.ok || pods.value.length === 0) return pods.ok ? { ok: true, value: [] } : pods;
      const budgets = await readBudgets(client, signal);
      if (!budgets.ok) return budgets;
      const byNamespace = Map.groupBy(budgets.value, ({ namespace }) => namespace);
      const stuck = pods.value.flatMap((pod) => stuckPod(pod, byNamespace.get(pod.namespace) ?? []) ?? []);
      return { ok: true, value: stuck.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) };
    },
  };
}

/** All PodDisruptionBudgets, from the API server. */
export function readBudgets(client: KubernetesClient, signal: AbortSignal): Promise<CallResult<readonly Budget[]>> {
  return toCallResult('list poddisruptionbudgets', signal, () =>
    readPages<V1PodDisruptionBudget, Budget>(
      client,
      apiPath('policy/v1', 'poddisruptionbudgets'),
      { signal, ...BUDGETS },
      budgetOf,
    ),
  );
}

/** Why eviction does not remove the pod from its node; undefined: it does, or a drain does not evict the pod. */
export function stuckPodOf(pod: Wire<V1Pod>, budgets: readonly Budget[]): StuckPod | undefined {
  return mustGo(pod) ? stuckPod(podOf(pod), budgets) : undefined;
}

function budgetOf({ metadata, spec, status }: Wire<V1PodDisruptionBudget>): Budget {
  return {
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
    selector: spec?.selector,
    allowsDisruption: (status?.disruptionsAllowed ?? 0) > 0,
  };
}

function keyOf({ namespace, name }: StuckPod): string {
  return `${namespace}/${name}`;
}

function podOf({ metadata = {}, spec }: Wire<V1Pod>): Pod {
  const { namespace = '', name = '', labels = {} } = metadata;
  const hasController = controllerOf(metadata) !== undefined;
  return { namespace, name, labels, comesBack: hasController && (spec?.tolerations?.some(isForAll) ?? false) };
}

/** Whether a drain evicts the pod: https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/ */
function mustGo({ metadata, status = {} }: Wire<V1Pod>): boolean {
  const isMirror = metadata?.annotations?.['kubernetes.io/config.mirror'] !== undefined;
  return !isMirror && !hasEnded(status) && !metadata?.ownerReferences?.some(({ kind }) => kind === 'DaemonSet');
}

/**
 * Eviction fails, according to EKS (https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html), for pods with an
 * aggressive budget and for pods that tolerate every taint. The eviction API never evicts a pod that several budgets match.
 */
function stuckPod({ namespace, name, labels, comesBack }: Pod, budgets: readonly Budget[]): StuckPod | undefined {
  const matching = budgets.filter((budget) => budget.namespace === namespace && matches(budget.selector, labels));
  const blocking = matching.length > 1 ? matching : matching.filter(({ allowsDisruption }) => !allowsDisruption);
  if (blocking.length > 0) {
    return { namespace, name, budgets: blocking.map((budget) => budget.name).sort() };
  }
  return comesBack ? { namespace, name, budgets: [] } : undefined;
}

/** `Exists` without a key tolerates every taint. The taint of a cordoned node has the effect NoSchedule. */
function isForAll({ key, operator, effect }: Wire<V1Toleration>): boolean {
  return !key && operator === 'Exists' && (!effect || effect === 'NoSchedule');
}

/** As the API server matches budgets: a missing selector matches nothing, an empty one everything. */
function matches(selector: Wire<V1LabelSelector> | undefined, labels: Readonly<Record<string, string>>): boolean {
  return selector !== undefined && selects(selector as NodeSelector, labels);
}
