/** The port NodePods: the pods that the operator runs on nodes, in a namespace of their own. */

import type {
  V1Container,
  V1ContainerStatus,
  V1NodeSelectorRequirement,
  V1Pod,
  V1PodSpec,
  V1PodStatus,
} from '@kubernetes/client-node';
import type { Identity, ListWatch, StoreView } from '../runtime/ports.ts';
import {
  MANAGED_BY,
  MANAGED_BY_LABEL,
  OS_LABEL,
  POOL_KEY,
  PURPOSE_LABEL,
  RETRY_ANNOTATION,
  WINDOWS,
} from '../windowspool/api/labels.ts';
import type { CallError } from '../windowspool/ports/callResult.ts';
import { foreignText } from '../windowspool/ports/foreignText.ts';
import {
  type ContainerState,
  type DesiredNodePod,
  delayAfter,
  kubeletMessage,
  NODE_POD_CONTAINERS,
  NODE_POD_PURPOSES,
  type NodePod,
  type NodePodContainer,
  type NodePods,
  type NodePodsView,
  type SeenContainer,
} from '../windowspool/ports/nodePods.ts';
import { same } from '../windowspool/util/sameValue.ts';
import type { KubernetesClient } from './client.ts';
import { jsonDecoder } from './decoder.ts';
import { deleteObject } from './deletion.ts';
import { toCallResult } from './errors.ts';
import { createListWatch, reportingListWatch } from './listWatch.ts';
import { epochOf, recordIdentity, type Wire } from './objects.ts';
import { apiPath } from './paths.ts';

/** Of a pod. The pool's taints and those of the operator and of NodeReadinessRules. */
const MOST_TOLERATIONS = 100;

/** In config/rbac. Its pods preempt no others. */
const PRIORITY_CLASS = 'windowspool-operator-node-pods';

/** What a container that runs one command needs. cmd.exe and curl.exe take some 10 MiB; the rest is for the processes of a Windows container. */
const RESOURCES = { requests: { cpu: '10m', memory: '64Mi' }, limits: { cpu: '500m', memory: '256Mi' } };

/** Indexes of the store of these pods. */
export const nodePodIndexes = {
  pool: ({ pool }: NodePod): readonly string[] => [pool],
  node: ({ nodeUid }: NodePod): readonly string[] => [nodeUid],
} as const;

/** Of these pods. */
export type NodePodIndex = keyof typeof nodePodIndexes;

export const nodePodIdentity: Identity<NodePod> = {
  ...recordIdentity,
  absorbUnchanged: (known: { -readonly [Name in keyof NodePod]: NodePod[Name] }, newer) => {
    const { resourceVersion, changedAt } = known;
    const containers = newer.containers.map((seen, index) => withKnownCause(seen, known.containers[index]));
    if (!same(known, { ...newer, containers, resourceVersion, changedAt })) return false;
    known.resourceVersion = newer.resourceVersion;
    return true;
  },
};

/** A kubelet before 1.32 repeats no cause while it waits before it pulls an image again. The cause that is known remains. */
function withKnownCause(newer: SeenContainer, known: SeenContainer | undefined): SeenContainer {
  const [now, before] = [newer.state, known?.state];
  const isRepeated =
    now.kind === 'waiting' && before?.kind === 'waiting' && now.reason === before.reason && now.message === '';
  return isRepeated ? { ...newer, state: before } : newer;
}

/** Lists and watches these pods. @param onResult receives the error of a list or watch that failed, and undefined after a success */
export function nodePodListWatch(
  client: KubernetesClient,
  namespace: string,
  onResult: (error?: CallError) => void,
): ListWatch<NodePod> {
  const labelSelector = `${MANAGED_BY_LABEL}=${MANAGED_BY},${PURPOSE_LABEL} in (${NODE_POD_PURPOSES.join(',')})`;
  // A kubelet can create mirror pods with any labels, thousands of them. They have no service account (admission plugin NodeRestriction), and all other pods
  // have one (admission plugin ServiceAccount).
  const fieldSelector = 'spec.serviceAccountName!=';
  const path = pathOf(namespace);
  const source = createListWatch({ client, path, decoder: jsonDecoder(nodePodOf), labelSelector, fieldSelector });
  return reportingListWatch(source, `watch pods in ${namespace}`, (error) =>
    onResult(error && withRemedy(error, namespace)),
  );
}

const pathOf = (namespace: string, name?: string) => apiPath('v1', 'pods', { namespace, name });

/**
 * The port. The result of a creation goes into the store. A pod with a Secret that is not among `pullSecrets` is refused: the kubelet would get it, and users
 * who can only edit pools could make it readable on a node.
 */
export function createNodePods(
  client: KubernetesClient,
  { namespace, pullSecrets }: { readonly namespace: string; readonly pullSecrets: readonly string[] },
  store: StoreView<NodePod>,
  of: (pool: string) => NodePodsView,
  now: () => number = () => performance.now(),
): NodePods {
  const create = `create pods in ${namespace}`;
  const recreations = new Recreations();
  return {
    of,
    create: async (desired, signal) => {
      const other = desired.imagePullSecrets.find((name) => !pullSecrets.includes(name));
      if (other !== undefined) return { ok: false, error: secretNotAllowed(create, other) };
      if (recreations.mustWait(desired.name, now())) return { ok: false, error: createdTooOften(create, desired.name) };
      const answer = await toCallResult(create, signal, async () => {
        const body = manifestOf(desired);
        store.observeWrite(nodePodOf(await client.request<V1Pod>('POST', pathOf(namespace), { body, signal })));
      });
      if (answer.ok) recreations.created(desired.name, now());
      return answer.ok ? answer : { ok: false, error: withRemedy(asRejection(answer.error), namespace) };
    },
    delete: async ({ name, uid }, signal) => {
      const answer = await toCallResult(`delete pods in ${namespace}`, signal, () =>
        deleteObject(client, pathOf(namespace, name), uid, signal),
      );
      return answer.ok ? answer : { ok: false, error: withRemedy(answer.error, namespace) };
    },
  };
}

/**
 * A kubelet may delete the pods on its node, and a pod that is gone shows no attempt: one of the same name is created again after the delays of attempts.
 */
class Recreations {
  readonly #known = new Map<string, { readonly at: number; readonly count: number }>();

  mustWait(name: string, now: number): boolean {
    const known = this.#known.get(name);
    return known !== undefined && now - known.at < delayAfter(known.count);
  }

  created(name: string, now: number): void {
    const { count = 0 } = this.#known.get(name) ?? {};
    this.#known.delete(name);
    this.#known.set(name, { at: now, count: count + 1 });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_NAMES && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** Two pods on each of 5,000 nodes. */
const MOST_NAMES = 10_000;

/** A conflict is expected, and retried with backoff. */
function createdTooOften(operation: string, name: string): CallError {
  const message = `pod ${name} was created a short time ago, and another client has deleted it`;
  return { kind: 'conflict', operation, code: 'CreatedTooOften', message };
}

function secretNotAllowed(operation: string, name: string): CallError {
  const message = `imagePullSecrets names Secret ${name}, which --allowed-image-pull-secrets does not list. Add it to that flag of the operator, or remove it from the pool`;
  return { kind: 'refused', operation, code: 'SecretNotAllowed', message };
}

/**
 * RBAC answers with 403 as Pod Security, quotas and other admission plugins do, and a missing namespace with 404: only the first is a missing
 * permission.
 */
function asRejection(error: CallError): CallError {
  const { kind, message } = error;
  const isRejected =
    kind === 'gone' || (kind === 'denied' && message.includes(' is forbidden: ') && !message.includes('cannot create'));
  return isRejected ? { ...error, kind: 'refused' } : error;
}

/** The Role is in the namespace, so without the namespace, RBAC answers with 403. Only a permission for all namespaces reaches the 404. */
function withRemedy(error: CallError, namespace: string): CallError {
  const isMissing = error.code === 'NotFound' || (error.kind === 'denied' && error.code === 'Forbidden');
  if (!isMissing) return error;
  const remedy = `Namespace ${namespace} must exist, with the Role and RoleBinding windowspool-operator-node-pods: install them from config/rbac or with the Helm chart, or correct --node-pod-namespace`;
  return { ...error, message: `${error.message}. ${remedy}` };
}

/**
 * The pod passes the Pod Security Standard restricted, which exempts pods of Windows from what Windows does not have:
 * https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted. A controller owns it, so that kubectl drain and autoscalers evict it.
 */
function manifestOf({ name, purpose, pool, node, retry, ...rest }: DesiredNodePod): Wire<V1Pod> {
  const owner = { apiVersion: 'v1', kind: 'Node', ...node, controller: true, blockOwnerDeletion: false };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { [MANAGED_BY_LABEL]: MANAGED_BY, [PURPOSE_LABEL]: purpose, [POOL_KEY]: pool },
      annotations: {
        'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true',
        ...(retry !== '' && { [RETRY_ANNOTATION]: retry }),
      },
      ownerReferences: [owner],
    },
    spec: specOf({ node, ...rest }),
  };
}

function specOf({
  node,
  containers,
  imagePullSecrets,
  tolerations,
  deadlineSeconds,
}: Pick<
  DesiredNodePod,
  'node' | 'containers' | 'imagePullSecrets' | 'tolerations' | 'deadlineSeconds'
>): Wire<V1PodSpec> {
  const isNode: Wire<V1NodeSelectorRequirement> = { key: 'metadata.name', operator: 'In', values: [node.name] };
  return {
    os: { name: WINDOWS },
    // The VPC webhook requests an IP address only for pods with this selector.
    nodeSelector: { [OS_LABEL]: WINDOWS },
    // Through the scheduler, as the pods of a DaemonSet.
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [isNode] }] },
      },
    },
    tolerations,
    priorityClassName: PRIORITY_CLASS,
    containers: containers.map(containerOf),
    imagePullSecrets: imagePullSecrets.map((secret) => ({ name: secret })),
    securityContext: { runAsNonRoot: true, windowsOptions: { runAsUserName: 'ContainerUser' } },
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 1,
    activeDeadlineSeconds: deadlineSeconds,
  };
}

function containerOf({ name, image, command }: NodePodContainer): Wire<V1Container> {
  return {
    name,
    image,
    command,
    imagePullPolicy: 'IfNotPresent',
    resources: RESOURCES,
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

/** Reads a pod. Exported for the tests. */
export function nodePodOf({ metadata = {}, spec, status = {} }: Wire<V1Pod>): NodePod {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'Node');
  const scheduled = status.conditions?.find(({ type }) => type === 'PodScheduled');
  const isScheduled = Boolean(spec?.nodeName);
  const own = (status.containerStatuses ?? []).filter(isOwn).slice(0, NODE_POD_CONTAINERS.length);
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    purpose: metadata.labels?.[PURPOSE_LABEL] ?? '',
    pool: metadata.labels?.[POOL_KEY] ?? '',
    node: owner?.name ?? '',
    nodeUid: owner?.uid ?? '',
    createdAt: epochOf(metadata.creationTimestamp),
    deleting: metadata.deletionTimestamp !== undefined,
    retry: foreignText(metadata.annotations?.[RETRY_ANNOTATION] ?? ''),
    image: foreignText(spec?.containers?.find(isOwn)?.image ?? ''),
    tolerates: (spec?.tolerations ?? []).slice(0, MOST_TOLERATIONS).map(({ key = '' }) => key),
    phase: phaseOf(spec, status, own),
    reason: foreignText(status.reason ?? ''),
    message: kubeletMessage(status.message ?? ''),
    isScheduled,
    unscheduled: isScheduled ? '' : kubeletMessage(scheduled?.message ?? ''),
    hasAddress: Boolean(status.podIP),
    containers: own.map(containerSeen),
    changedAt: changeOf(status, own, epochOf(metadata.creationTimestamp)),
  };
}

/** Whether the operator put the container into the pod. An admission webhook may add others, such as those of a service mesh. */
function isOwn({ name }: { readonly name: string }): boolean {
  return NODE_POD_CONTAINERS.some((each) => each === name);
}

/** The phase of the pod, as if it had only its own containers: another one may run forever. */
function phaseOf(
  spec: Wire<V1Pod>['spec'],
  { phase = '' }: Wire<V1PodStatus>,
  own: readonly Wire<V1ContainerStatus>[],
) {
  const ends = own.flatMap(({ state }) => state?.terminated ?? []);
  const isDone = ends.length > 0 && ends.length === spec?.containers?.filter(isOwn).length;
  if (phase !== 'Running' || !isDone) return foreignText(phase);
  return ends.every(({ exitCode }) => exitCode === 0) ? 'Succeeded' : 'Failed';
}

function containerSeen({ name, imageID, state }: Wire<V1ContainerStatus>): SeenContainer {
  return { name: foreignText(name), hasImage: Boolean(imageID), state: stateOf(state) };
}

/** ErrImagePull and ImagePullBackOff alternate while the kubelet cannot pull an image. */
function stateOf({ waiting, running, terminated }: NonNullable<Wire<V1ContainerStatus>['state']> = {}): ContainerState {
  if (terminated) {
    const { exitCode, reason = '', message = '' } = terminated;
    return { kind: 'ended', exitCode, reason: foreignText(reason), message: kubeletMessage(message) };
  }
  if (running) return { kind: 'running' };
  const reason = waiting?.reason === 'ImagePullBackOff' ? 'ErrImagePull' : foreignText(waiting?.reason ?? '');
  return { kind: 'waiting', reason, message: kubeletMessage(waiting?.message ?? '') };
}

function changeOf(
  { conditions = [] }: Wire<V1PodStatus>,
  own: readonly Wire<V1ContainerStatus>[],
  createdAt: number,
): number {
  const ends = own.map(({ state }) => epochOf(state?.terminated?.finishedAt));
  const turns = conditions.slice(0, 16).map(({ lastTransitionTime }) => epochOf(lastTransitionTime));
  return Math.max(createdAt, ...ends.filter(Number.isFinite), ...turns.filter(Number.isFinite));
}
