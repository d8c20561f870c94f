/** The port Drains: the pods of one node, read when it is drained, and the eviction API. */
import type { V1Eviction, V1Pod, V1PodList, V1Toleration } from '@kubernetes/client-node';
import type { DrainPod, Drains, Eviction } from '../windowspool/ports/pods.ts';
import type { KubernetesClient } from './client.ts';
import { isNotFound, toCallResult } from './errors.ts';
import { KubernetesError } from './kubernetesError.ts';
import { epochOf, type Wire } from './objects.ts';

const LIST_TIMEOUT_MS = 10_000;
/** Admission webhooks look at evictions, too: longer than any of them may take (30 s), so that the API server's answer names the one that hangs. */
const EVICTION_TIMEOUT_MS = 35_000;

/** What a cordoned node has: https://kubernetes.io/docs/reference/labels-annotations-taints/#node-kubernetes-io-unschedulable */
const CORDON_KEY = 'node.kubernetes.io/unschedulable';

/** The default of the API server: k8s.io/kubernetes/pkg/apis/core/v1/defaults.go. */
const DEFAULT_GRACE_SECONDS = 30;

export function createDrains(client: KubernetesClient): Drains {
  return {
    podsOn: (node, signal) =>
      toCallResult('list pods', signal, async () => {
        const options = { query: { fieldSelector: `spec.nodeName=${node}` }, signal, timeoutMs: LIST_TIMEOUT_MS };
        const { items = [] } = await client.request<V1PodList>('GET', '/api/v1/pods', options);
        return items.map(drainPodOf);
      }),
    evict: ({ namespace, name, uid }, gracePeriodSeconds, signal) =>
      toCallResult('create pods/eviction', signal, async () => {
        const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/eviction`;
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

function drainPodOf({ metadata = {}, spec, status }: Wire<V1Pod>): DrainPod {
  const { namespace = '', name = '', uid = '', creationTimestamp, deletionTimestamp } = metadata;
  return {
    namespace,
    name,
    uid,
    createdAt: epochOf(creationTimestamp),
    deletingAt: deletionTimestamp === undefined ? undefined : epochOf(deletionTimestamp),
    gracePeriodSeconds: spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
    controller: metadata.ownerReferences?.find(({ controller }) => controller)?.kind,
    mirror: metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined,
    phase: status?.phase ?? '',
    emptyDir: spec?.volumes?.some(({ emptyDir }) => emptyDir !== undefined) ?? false,
    toleratesCordon: spec?.tolerations?.some(toleratesCordon) ?? false,
  };
}

/** The cordon's taint has no value, so Equal without one tolerates it as Exists does; without a key Exists is for every taint. */
function toleratesCordon({ key, operator, effect }: Wire<V1Toleration>): boolean {
  const isMeant = key ? key === CORDON_KEY : operator === 'Exists';
  return isMeant && (!effect || effect === 'NoSchedule');
}

/**
 * What an error of the eviction API says of the pod; undefined where it is trouble of another kind, such as a 429 of an API server that is
 * overloaded. As in k8s.io/kubernetes/pkg/registry/core/pod/storage/eviction.go.
 */
function evictionOf(error: KubernetesError): Eviction | undefined {
  const { status, causes, details, message } = error;
  // A failed precondition: another pod has the name.
  if (isNotFound(error) || status === 409) return { kind: 'gone' };
  const isBudget = status === 429 && causes.includes('DisruptionBudget');
  if (isBudget) return { kind: 'blocked', budget: budgetIn(details), message: [message, ...details].join(' ') };
  if (status === 500 && message.includes('more than one PodDisruptionBudget'))
    return { kind: 'blocked', budget: undefined, message };
  const by = admissionIn(message);
  if (by !== undefined) return { kind: 'denied', by };
  // Its namespace goes, and the pod with it.
  return status === 403 && causes.includes('NamespaceTerminating') ? { kind: 'accepted' } : undefined;
}

/**
 * What of admission refused, whatever status it chose, or could not be asked. The rest of the message may differ at every try. As in
 * k8s.io/apiserver/pkg/admission/plugin: webhook/errors/statuserror.go, webhook/validating/dispatcher.go and policy/validating/dispatcher.go.
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
