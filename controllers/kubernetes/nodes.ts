import type { Identity, ListWatch, StoreView } from '../runtime/ports.ts';
import { NODE_GROUP_LABEL } from '../windowspool/labels.ts';
import type { NodeRecord, Nodes, Taint } from '../windowspool/ports.ts';
import { type KubernetesClient, PATCH } from './client.ts';
import { jsonDecoder } from './decoder.ts';
import { answer } from './errors.ts';
import { createListWatch } from './listWatch.ts';
import { epochOf, type KubernetesObject } from './objects.ts';

const PATH = '/api/v1/nodes';

export type NodeIndex = 'nodeGroup';

export const nodeIdentity: Identity<NodeRecord> = {
  key: (node) => node.name,
  uid: (node) => node.uid,
  resourceVersion: (node) => node.resourceVersion,
};

/** The indexes that a store of nodes must have. */
export const nodeIndexes: Readonly<Record<NodeIndex, (node: NodeRecord) => readonly string[]>> = {
  nodeGroup: ({ labels }) => {
    const group = labels[NODE_GROUP_LABEL];
    return group === undefined ? [] : [group];
  },
};

/** The fields of a Node's JSON that are kept. */
interface NodeJson extends KubernetesObject {
  readonly spec?: { readonly providerID?: string; readonly taints?: readonly Taint[] };
  readonly status?: {
    readonly capacity?: Readonly<Record<string, string>>;
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
    readonly nodeInfo?: Readonly<Record<string, string | undefined>>;
  };
}

const NO_MAP: Readonly<Record<string, string>> = Object.freeze({});
const NO_TAINTS: readonly Taint[] = Object.freeze([]);

/** A Node's JSON without images, managed fields, annotations and the rest: a record is a twentieth of it. */
export function nodeRecordOf({ metadata = {}, spec = {}, status = {} }: NodeJson): NodeRecord {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  const info = status.nodeInfo ?? {};
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    createdAt: epochOf(metadata.creationTimestamp),
    deleting: metadata.deletionTimestamp !== undefined,
    labels: metadata.labels ?? NO_MAP,
    providerID: spec.providerID ?? '',
    taints: spec.taints?.map(taintOf) ?? NO_TAINTS,
    ready: ready?.status === 'True' || ready?.status === 'False' ? ready.status : 'Unknown',
    readyReason: ready?.reason ?? '',
    kernelVersion: info.kernelVersion ?? '',
    containerRuntimeVersion: info.containerRuntimeVersion ?? '',
    kubeletVersion: info.kubeletVersion ?? '',
    operatingSystem: info.operatingSystem ?? '',
    architecture: info.architecture ?? '',
    capacity: status.capacity ?? NO_MAP,
    allocatable: status.allocatable ?? NO_MAP,
  };
}

/** Without timeAdded, which nobody here looks at. */
function taintOf({ key, value, effect }: Taint): Taint {
  return value === undefined ? { key, effect } : { key, value, effect };
}

/** The cluster's nodes, as records. */
export function nodeListWatch(client: KubernetesClient, labelSelector?: string): ListWatch<NodeRecord> {
  const options = { client, path: PATH, decoder: jsonDecoder(nodeRecordOf) };
  return createListWatch(labelSelector === undefined ? options : { ...options, labelSelector });
}

/** The domain's nodes: read from the store, written through the client. */
export function createNodes(client: KubernetesClient, store: StoreView<NodeRecord, NodeIndex>): Nodes {
  return {
    setLabel: (node, key, value, signal) =>
      answer('patch nodes', signal, async () => {
        // The uid in a merge patch is a precondition: another node of this name, joined since, is left alone.
        const body = { metadata: { uid: node.uid, labels: { [key]: value } } };
        const options = { body, contentType: PATCH.merge, signal };
        const written = await client.request<NodeJson>('PATCH', `${PATH}/${encodeURIComponent(node.name)}`, options);
        store.observeWrite(nodeRecordOf(written));
      }),
  };
}
