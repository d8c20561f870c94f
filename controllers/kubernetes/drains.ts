/** The port Drains: lists the pods of one node from the API server, and evicts pods. */
import type { V1Eviction, V1Pod, V1Toleration } from '@kubernetes/client-node';
import type { DrainPod, Drains, Eviction } from '../windowspool/ports/pods.ts';
import type { KubernetesClient } from './client.ts';
import { isNotFound, toCallResult } from './errors.ts';
import { KubernetesError } from './kubernetesError.ts';
import { controllerOf, epochOf, type Wire } from './objects.ts';
import { readPages } from './pages.ts';
import { apiPath } from './paths.ts';

const LIST_TIMEOUT_MS = 10_000;
/** A node has at most a few hundred pods, and finished ones until they are collected. */
export const PODS_OF_NODE = { limit: 100, most: 5_000 };
/** Longer than the longest time-out of an admission webhook (30 s): the API server's error then names the webhook that hangs. */
const EVICTION_TIMEOUT_MS = 35_000;

/** The taint of a cordoned node: https://kubernetes.io/docs/reference/labels-annotations-taints/#node-kubernetes-io-unschedulable */
const CORDON_KEY = 'node.kubernetes.io/unschedulable';

/** The default of the API server: k8s.io/kubernetes/pkg/apis/core/v1/defaults.go. */
const DEFAULT_GRACE_SECONDS = 30;

export function createDrains(client: KubernetesClient): Drains {
  return {
    podsOn: (node, signal) =>
      toCallResult('list pods', signal, async () => {
        const options = { query: { fieldSelector: `spec.nodeName=${node}` }, signal, timeoutMs: LIST_TIMEOUT_MS };
        return readPages<V1Pod, DrainPod>(client, apiPath('v1', 'pods'), { ...options, ...PODS_OF_NODE }, drainPodOf);
      }),
    evict: ({ namespace, name, uid }, gracePeriodSeconds, signal) =>
      toCallResult('create pods/eviction', signal, async () => {
        const path = `${apiPath('v1', 'pods', { namespace, name })}/eviction`;
        const deleteOptions = { gracePeriodSeconds, preconditions: { uid } };
        const metadata = { namespace, name };
        const body: Wire<V1Eviction> = { apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions };
        try {
          await client.request('POST', path, { body, signal, timeoutMs: EVICTION_TIMEOUT_MS });
          return { kind: 'accepted' };
        } catch (error) {
          const refused = error instanceof KubernetesError ? evictionOf(error) : undefined;
          if (refused) return refused;
          throw error;
        }
      }),
  };
}

/** The fields of a pod that a drain depends on. */
export function drainPodOf({ metadata = {}, spec, status }: Wire<V1Pod>): DrainPod {
  const { namespace = '', name = '', uid = '', creationTimestamp, deletionTimestamp } = metadata;
  return {
    namespace,
    name,
    uid,
    createdAt: epochOf(creationTimestamp),
    deletingAt: deletionTimestamp === undefined ? undefined : epochOf(deletionTimestamp),
    gracePeriodSeconds: spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
    controller: controllerOf(metadata)?.kind,
    mirror: metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined,
    phase: status?.phase ?? '',
    emptyDir: spec?.volumes?.some(({ emptyDir }) => emptyDir !== undefined) ?? false,
    toleratesCordon: spec?.tolerations?.some(toleratesCordon) ?? false,
  };
}

/** The cordon taint has no value, so Equal without a value tolerates it as Exists does. Exists without a key tolerates every taint. */
function toleratesCordon({ key, operator, effect }: Wire<V1Toleration>): boolean {
  const isMeant = key ? key === CORDON_KEY : operator === 'Exists';
  return isMeant && (!effect || effect === 'NoSchedule');
}

/**
 * Classifies an error of the eviction API; undefined for errors that are not about the pod, such as the 429 of an overloaded API server.
 * Follows k8s.io/kubernetes/pkg/registry/core/pod/storage/eviction.go.
 */
function evictionOf(error: KubernetesError): Eviction | undefined {
  const { status, causes, details, message } = error;
  // 409 is a failed precondition: another pod has this name now.
  if (isNotFound(error) || status === 409) return { kind: 'gone' };
  const isBudget = status === 429 && causes.includes('DisruptionBudget');
  if (isBudget) return { kind: 'blocked', budget: budgetIn(details), message: [message, ...details].join(' ') };
  if (status === 500 && message.includes('more than one PodDisruptionBudget'))
    return { kind: 'blocked', budget: undefined, message };
  const by = admissionIn(message);
  if (by !== undefined) return { kind: 'denied', by };
  // The namespace is being deleted, and the pod with it.
  return status === 403 && causes.includes('NamespaceTerminating') ? { kind: 'accepted' } : undefined;
}

/**
 * The webhook or policy that denied the eviction, or the webhook that could not be called. The rest of the message can differ between attempts.
 * Follows k8s.io/apiserver/pkg/admission/plugin: webhook/errors/statuserror.go, webhook/validating/dispatcher.go and policy/validating/dispatcher.go.
 */
function admissionIn(message: string): string | undefined {
  const webhook = /admission webhook "([^"]+)" denied|failed calling webhook "([^"]+)"/.exec(message);
  if (webhook) return `admission webhook ${webhook[1] ?? webhook[2]}`;
  const policy = /ValidatingAdmissionPolicy '([^']+)'/.exec(message)?.[1];
  return policy && `ValidatingAdmissionPolicy ${policy}`;
}

function budgetIn(details: readonly string[]): string | undefined {
  return details.map((text) => /^The disruption budget (\S+) /.exec(text)?.[1]).find((name) => name !== undefined);
}
