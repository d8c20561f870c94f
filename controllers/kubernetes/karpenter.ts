/**
 * The port NodePools: NodePools and NodeClaims of Karpenter (karpenter.sh/v1), and EC2NodeClasses of its provider for AWS (karpenter.k8s.aws/v1). Their fields:
 * https://github.com/kubernetes-sigs/karpenter/tree/main/pkg/apis/v1 and https://github.com/aws/karpenter-provider-aws/tree/main/pkg/apis/v1
 */

import type { V1Container, V1DeploymentList, V1ObjectMeta, V1Pod, V1PodList } from '@kubernetes/client-node';
import type { ListWatch } from '../runtime/ports.ts';
import {
  ADOPTABLE_BY,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  POOL_KEY,
  TEMPLATE_HASH_ANNOTATION,
} from '../windowspool/api/labels.ts';
import type { CallError } from '../windowspool/ports/callResult.ts';
import { foreignMessage, foreignText } from '../windowspool/ports/foreignText.ts';
import type {
  KarpenterKind,
  KarpenterObject,
  NodeClaim,
  NodePools,
  OptionalField,
  PendingPod,
} from '../windowspool/ports/karpenter.ts';
import { type KubernetesClient, PATCH } from './client.ts';
import { jsonDecoder } from './decoder.ts';
import { deleteObject } from './deletion.ts';
import { ignoreNotFound, toCallResult } from './errors.ts';
import { KubernetesError } from './kubernetesError.ts';
import { createListWatch, reportingListWatch } from './listWatch.ts';
import { type Condition, commonOf, epochOf, type Wire } from './objects.ts';
import { LARGEST_LIST_PAGE } from './pages.ts';
import { apiPath } from './paths.ts';

const API_VERSION = 'karpenter.sh/v1';
const NODE_CLAIMS = 'nodeclaims';

/** The API and the resource of the objects of pools, and the conditions that say what is wrong with them, the first ones first. */
const KINDS: Readonly<
  Record<
    KarpenterKind,
    { readonly apiVersion: string; readonly resource: string; readonly conditions: readonly string[] }
  >
> = {
  NodePool: {
    apiVersion: API_VERSION,
    resource: 'nodepools',
    conditions: ['ValidationSucceeded', 'NodeClassReady'],
  },
  EC2NodeClass: {
    apiVersion: 'karpenter.k8s.aws/v1',
    resource: 'ec2nodeclasses',
    conditions: ['AMIsReady', 'SubnetsReady', 'SecurityGroupsReady', 'InstanceProfileReady', 'ValidationSucceeded'],
  },
};

interface StatedObject {
  readonly metadata?: V1ObjectMeta;
  readonly spec?: object;
  readonly status?: { readonly conditions?: readonly Condition[] | null };
}

interface NodeClaimObject {
  readonly metadata?: V1ObjectMeta;
  readonly spec?: { readonly startupTaints?: readonly { readonly key?: string }[] | null };
  readonly status?: {
    readonly nodeName?: string;
    readonly providerID?: string;
    readonly conditions?: readonly Condition[] | null;
  };
}

/** A NodePool or an EC2NodeClass as the API server has it. */
export function karpenterObjectOf(
  kind: KarpenterKind,
  { metadata = {}, spec = {}, status = {} }: Wire<StatedObject>,
): KarpenterObject {
  const { labels = {}, annotations = {} } = metadata;
  const conditions = status.conditions ?? [];
  const applied = (metadata.managedFields ?? []).filter(isApplied);
  const failed = (wanted: string) => conditions.find(({ type, status: is }) => type === wanted && is === 'False');
  return {
    ...commonOf(metadata),
    createdFor: labels[MANAGED_BY_LABEL] === MANAGED_BY ? foreignText(labels[POOL_KEY] ?? '') : '',
    adoptableBy: foreignText(annotations[ADOPTABLE_BY] ?? ''),
    manifestHash: foreignText(annotations[TEMPLATE_HASH_ANNOTATION] ?? ''),
    appliedAt: Math.max(0, ...applied.map(({ time }) => epochOf(time))),
    spec,
    ownFields: ownFieldsIn(applied[0]?.fieldsV1),
    ...readinessOf(conditions),
    problem: problemOf(conditions, KINDS[kind].conditions),
    registrationProblem: foreignMessage(failed('NodeRegistrationHealthy')?.message ?? ''),
  };
}

function isApplied({ manager, operation }: { readonly manager?: string; readonly operation?: string }): boolean {
  return manager === MANAGED_BY && operation === 'Apply';
}

/** While a node class is evaluated again, the NodePool is not Ready for a moment: that is not known to be wrong. */
function readinessOf(conditions: readonly Wire<Condition>[]): Pick<KarpenterObject, 'ready' | 'readySince'> {
  const ready = conditions.find(({ type }) => type === 'Ready');
  const isOpen = conditions.some(({ reason }) => reason === 'NodeClassReadinessUnknown');
  return {
    ready: isOpen ? 'Unknown' : foreignText(ready?.status ?? ''),
    readySince: epochOf(ready?.lastTransitionTime),
  };
}

/** Which of the optional fields are in the set: https://kubernetes.io/docs/reference/using-api/server-side-apply/#managing-field-ownership */
function ownFieldsIn(fieldsV1: unknown): OptionalField[] {
  const { 'f:spec': spec = {} } = (fieldsV1 ?? {}) as { 'f:spec'?: OwnedSpec };
  const template = spec['f:template']?.['f:spec'];
  return [
    ...(['weight', 'limits', 'tags', 'kubelet', 'userData'] as const).filter((field) => `f:${field}` in spec),
    ...(template && 'f:terminationGracePeriod' in template ? (['terminationGracePeriod'] as const) : []),
  ];
}

interface OwnedSpec {
  readonly 'f:template'?: { readonly 'f:spec'?: object };
}

/** A NodeClaim as the API server has it. */
export function nodeClaimOf({ metadata = {}, spec = {}, status = {} }: Wire<NodeClaimObject>): NodeClaim {
  const conditions = status.conditions ?? [];
  const drifted = conditions.find(({ type, status: is }) => type === 'Drifted' && is === 'True');
  return {
    ...commonOf(metadata),
    createdAt: epochOf(metadata.creationTimestamp),
    nodePoolUid: metadata.ownerReferences?.find(({ kind }) => kind === 'NodePool')?.uid ?? '',
    node: foreignText(status.nodeName ?? ''),
    providerID: foreignText(status.providerID ?? ''),
    startupTaints: (spec.startupTaints ?? []).map(({ key = '' }) => foreignText(key)),
    isInitialized: conditions.some(({ type, status: is }) => type === 'Initialized' && is === 'True'),
    drift: drifted ? foreignText(drifted.reason || 'Drifted') : '',
    problem: problemOf(conditions, ['Launched', 'Registered', 'Initialized']),
  };
}

/** The message of the first of these conditions that is not True, if it has one. Karpenter shows an error in a condition that is Unknown, too. */
function problemOf(conditions: readonly Wire<Condition>[], types: readonly string[]): string {
  const messages = types.map((wanted) => {
    const { status, message } = conditions.find(({ type }) => type === wanted) ?? {};
    return status === 'True' ? '' : (message ?? '');
  });
  return foreignMessage(messages.find((message) => message !== '') ?? '');
}

/** Of the chart and the manifests of Karpenter. */
const DEPLOYMENT = 'app.kubernetes.io/name=karpenter';
const MOST_DEPLOYMENTS = 10;
/** https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/ */
const UNSCHEDULED = 'spec.nodeName=,status.phase=Pending';
const MOST_PENDING = 500;

/** Whether the container of Karpenter enables the gate, as an argument or, without one, as a variable: https://karpenter.sh/docs/reference/settings/ */
function hasNodeRepair({ env, args, command }: Wire<V1Container>): boolean {
  const line = [...(command ?? []), ...(args ?? [])];
  const flag = line.findLastIndex((part) => /^--?feature-gates(=|$)/.test(part));
  const given = line[flag]?.includes('=') ? line[flag].slice(line[flag].indexOf('=') + 1) : line[flag + 1];
  const gates = flag < 0 ? env?.find(({ name }) => name === 'FEATURE_GATES')?.value : given;
  return (gates ?? '').split(',').some((gate) => /^\s*NodeRepair\s*=\s*(1|t|true)\s*$/i.test(gate));
}

function pendingPodOf({ metadata, spec }: Wire<V1Pod>): PendingPod {
  const tolerations = (spec?.tolerations ?? []).map(({ key, operator, value, effect }) => ({
    ...(key && { key }),
    ...(operator && { operator }),
    ...(value && { value }),
    ...(effect && { effect }),
  }));
  return {
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
    nodeSelector: spec?.nodeSelector ?? {},
    tolerations: tolerations as PendingPod['tolerations'],
  };
}

/** Indexes of a store of NodeClaims. */
export const nodeClaimIndexes = {
  nodePool: ({ nodePoolUid }: NodeClaim) => [nodePoolUid],
};

type OnResult = (error?: CallError) => void;

/** Lists and watches all objects of a kind. @param onResult receives the error of a list or watch that failed, and undefined after a success */
export function karpenterObjectListWatch(
  client: KubernetesClient,
  kind: KarpenterKind,
  onResult: OnResult,
): ListWatch<KarpenterObject> {
  const { apiVersion, resource } = KINDS[kind];
  return listWatch(client, apiVersion, resource, (object) => karpenterObjectOf(kind, object), onResult);
}

/** The same for NodeClaims. */
export function nodeClaimListWatch(client: KubernetesClient, onResult: OnResult): ListWatch<NodeClaim> {
  return listWatch(client, API_VERSION, NODE_CLAIMS, nodeClaimOf as (object: never) => NodeClaim, onResult);
}

function listWatch<T>(
  client: KubernetesClient,
  apiVersion: string,
  resource: string,
  recordOf: (object: never) => T,
  onResult: OnResult,
) {
  const source = createListWatch({ client, path: apiPath(apiVersion, resource), decoder: jsonDecoder(recordOf) });
  return reportingListWatch(source, `watch ${resource}.${apiVersion.split('/')[0]}`, onResult);
}

/** The port, except for what is cached. */
export function createNodePools(client: KubernetesClient): Omit<NodePools, 'of'> {
  const pathOf = (kind: KarpenterKind, name: string) => apiPath(KINDS[kind].apiVersion, KINDS[kind].resource, { name });
  const get = (kind: KarpenterKind, name: string, signal: AbortSignal) =>
    ignoreNotFound(client.request<StatedObject>('GET', pathOf(kind, name), { signal }));
  return {
    readClaim: (name, signal) =>
      toCallResult('get nodeclaims', signal, async () => {
        const path = apiPath(API_VERSION, NODE_CLAIMS, { name });
        const found = await ignoreNotFound(client.request<NodeClaimObject>('GET', path, { signal }));
        return found && nodeClaimOf(found);
      }),
    apply: ({ kind, metadata, spec }, isNew, signal) =>
      toCallResult(`patch ${KINDS[kind].resource}`, signal, async () => {
        const { name } = metadata;
        // To apply a manifest would take over an object that another tool has created meanwhile.
        if (isNew && (await get(kind, name, signal)))
          throw new KubernetesError(`${kind} ${name} exists already`, { status: 409, reason: 'AlreadyExists' });
        const body = { apiVersion: KINDS[kind].apiVersion, kind, metadata, spec };
        // Without force, the fields of one that was created since conflict.
        const query = { fieldManager: MANAGED_BY, force: !isNew };
        await client.request('PATCH', pathOf(kind, name), { query, body, contentType: PATCH.apply, signal });
      }),
    delete: (kind, { name, uid }, signal) =>
      toCallResult(`delete ${KINDS[kind].resource}`, signal, () =>
        deleteObject(client, pathOf(kind, name), uid, signal, { propagationPolicy: 'Foreground' }),
      ),
    repairsNodes: (signal) =>
      toCallResult('list deployments.apps', signal, async () => {
        const query = { labelSelector: DEPLOYMENT, limit: MOST_DEPLOYMENTS };
        const { items } = await client.request<V1DeploymentList>('GET', apiPath('apps/v1', 'deployments'), {
          query,
          signal,
        });
        return (items ?? []).some(({ spec }) => spec?.template?.spec?.containers?.some(hasNodeRepair) === true);
      }),
    pendingPods: (signal) =>
      toCallResult('list pods', signal, async () => {
        const query = { fieldSelector: UNSCHEDULED, limit: MOST_PENDING };
        const { items } = await client.request<V1PodList>('GET', apiPath('v1', 'pods'), {
          query,
          signal,
          maxBytes: LARGEST_LIST_PAGE,
        });
        const keyOf = ({ namespace, name }: PendingPod) => `${namespace}/${name}`;
        return (items ?? []).map(pendingPodOf).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      }),
    deleteClaim: ({ name, uid }, signal) =>
      toCallResult('delete nodeclaims', signal, () =>
        deleteObject(client, apiPath(API_VERSION, NODE_CLAIMS, { name }), uid, signal),
      ),
  };
}
