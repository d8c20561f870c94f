import type { Identity, ListWatch, StoreView } from '../runtime/ports.ts';
import {
  CLAIM_ANNOTATION,
  NODE_GROUP_LABEL,
  OS_LABEL,
  POOL_KEY,
  VERIFIED_CONDITION,
  WINDOWS,
} from '../windowspool/labels.ts';
import type { NodeCondition, NodeMarks, NodeRecord, Nodes } from '../windowspool/ports.ts';
import { type KubernetesClient, PATCH } from './client.ts';
import { jsonDecoder } from './decoder.ts';
import { answer, isNotFound } from './errors.ts';
import { jsonReader } from './fields.ts';
import { withFallback } from './formatFallback.ts';
import { KubernetesError } from './kubernetesError.ts';
import { createListWatch } from './listWatch.ts';
import { nodeFields } from './nodeFields.ts';
import { protobufDecoder } from './protobufDecoder.ts';

const PATH = '/api/v1/nodes';
/** One small object: what takes longer is trouble, and is asked again. */
const READ_TIMEOUT_MS = 10_000;

export type NodeIndex = 'nodeGroup';

export const nodeIdentity: Identity<NodeRecord> = {
  key: (node) => node.name,
  uid: (node) => node.uid,
  resourceVersion: (node) => node.resourceVersion,
  // A heartbeat changes nothing that a record has.
  refresh: (known: Writable<NodeRecord>, newer) => {
    for (const field of comparedFields) if (!same(known[field], newer[field])) return false;
    known.resourceVersion = newer.resourceVersion;
    return true;
  },
};

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

const comparedFields = (Object.keys(nodeFields) as (keyof NodeRecord)[]).filter((field) => field !== 'resourceVersion');

/** Whether two plain values are equal. Without a text in between: it runs for every field of every heartbeat. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => key in b && same(a[key as never], b[key as never]));
}

/** The indexes that a store of nodes must have. */
export const nodeIndexes: Readonly<Record<NodeIndex, (node: NodeRecord) => readonly string[]>> = {
  nodeGroup: ({ labels }) => {
    const group = labels[NODE_GROUP_LABEL];
    return group === undefined ? [] : [group];
  },
};

/** Of a Node's JSON. A record is a twentieth of it: images, managed fields, annotations and the rest are left behind. */
export const nodeRecordOf: (node: unknown) => NodeRecord = jsonReader(nodeFields);

/** The nodes that the operator asks for. Whatever else a pool says of its nodes, they run Windows. */
export const NODE_SELECTOR = `${OS_LABEL}=${WINDOWS}`;

/** The cluster's nodes, as records: in protobuf, which is less than half of JSON's work, and in JSON where the server has no protobuf. */
export function nodeListWatch(client: KubernetesClient, labelSelector?: string): ListWatch<NodeRecord> {
  const options = { client, path: PATH, ...(labelSelector !== undefined && { labelSelector }) };
  const inProtobuf = protobufDecoder({ apiVersion: 'v1', kind: 'Node', fields: nodeFields });
  return withFallback({
    wanted: createListWatch({ ...options, decoder: inProtobuf }),
    fallback: createListWatch({ ...options, decoder: jsonDecoder(nodeRecordOf) }),
    onRefused: (error) =>
      client.log.warn({ path: PATH, error: error.message }, 'the API server has no protobuf: nodes are read as JSON'),
  });
}

/** The domain's nodes: read from the store, written through the client. */
export function createNodes(client: KubernetesClient, store: StoreView<NodeRecord, NodeIndex>): Nodes {
  /** A node that is not watched would stay in the store for ever. */
  const observeWrite = (written: unknown): void => {
    const node = nodeRecordOf(written);
    if (node.labels[OS_LABEL] === WINDOWS) store.observeWrite(node);
  };
  return {
    read: (name, signal) =>
      answer('get nodes', signal, async () => {
        const options = { signal, timeoutMs: READ_TIMEOUT_MS };
        try {
          return nodeRecordOf(await client.request<unknown>('GET', `${PATH}/${encodeURIComponent(name)}`, options));
        } catch (error) {
          if (isNotFound(error)) return undefined;
          throw error;
        }
      }),
    outside: (pool, signal) =>
      answer('list nodes', signal, async () => {
        const query = { labelSelector: `${POOL_KEY}=${pool},${OS_LABEL}!=${WINDOWS}` };
        const found = await client.request<{ items?: unknown[] }>('GET', PATH, {
          query,
          signal,
          timeoutMs: READ_TIMEOUT_MS,
        });
        return (found.items ?? []).map(nodeRecordOf);
      }),
    setLabel: (node, key, value, signal) =>
      answer('patch nodes', signal, async () => {
        // The uid in a merge patch is a precondition: another node of this name, joined since, is left alone.
        const body = { metadata: { uid: node.uid, labels: { [key]: value } } };
        const options = { body, contentType: PATCH.merge, signal };
        const written = await client.request<unknown>('PATCH', `${PATH}/${encodeURIComponent(node.name)}`, options);
        observeWrite(written);
      }),
    setTaints: (node, change, signal) =>
      answer('patch nodes', signal, async () => {
        const options = { body: taintPatch(node, change), contentType: PATCH.json, signal };
        const path = `${PATH}/${encodeURIComponent(node.name)}`;
        const written = await client.request<unknown>('PATCH', path, options).catch(rethrowFailedTest);
        observeWrite(written);
      }),
    setMarks: (node, marks, signal) =>
      answer('patch nodes', signal, async () => {
        const options = { body: marksPatch(node, marks), contentType: PATCH.json, signal };
        const path = `${PATH}/${encodeURIComponent(node.name)}`;
        observeWrite(await client.request<unknown>('PATCH', path, options).catch(rethrowFailedTest));
      }),
    setVerified: (node, condition, now, signal) =>
      answer('patch nodes/status', signal, async () => {
        const body = { metadata: { uid: node.uid }, status: { conditions: [verifiedPatch(node, condition, now)] } };
        const path = `${PATH}/${encodeURIComponent(node.name)}/status`;
        const written = await client.request<unknown>('PATCH', path, { body, contentType: PATCH.strategic, signal });
        observeWrite(written);
      }),
  };
}

/** The item of the list that a strategic merge patch merges by its type, so that the conditions of the kubelet stay as they are. */
function verifiedPatch({ verified }: NodeRecord, condition: NodeCondition | undefined, now: number): object {
  if (!condition) return { $patch: 'delete', type: VERIFIED_CONDITION };
  const time = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  const turned = verified?.status !== condition.status && { lastTransitionTime: time };
  return { type: VERIFIED_CONDITION, ...condition, lastHeartbeatTime: time, ...turned };
}

type TaintChange = Parameters<Nodes['setTaints']>[1];

function versionTest({ resourceVersion }: NodeRecord): object {
  return { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion };
}

/**
 * The change as a JSON patch (RFC 6902) of the version that was seen. The list is atomic, so a merge patch would have to repeat the other
 * taints, and a record has not all of them: their timeAdded would be lost.
 */
function taintPatch(node: NodeRecord, { set, remove }: TaintChange): object[] {
  const { taints } = node;
  const changed = [...set, ...remove];
  const indexes = taints.flatMap((taint, index) =>
    changed.some(({ key, effect }) => key === taint.key && effect === taint.effect) ? [index] : [],
  );
  return [
    versionTest(node),
    // From the end, so that the places of the others stay.
    ...indexes.reverse().map((index) => ({ op: 'remove', path: `/spec/taints/${index}` })),
    // Without taints there is no list; one that became empty is one still.
    ...(taints.length === 0 ? [{ op: 'add', path: '/spec/taints', value: [] }] : []),
    ...set.map((value) => ({ op: 'add', path: '/spec/taints/-', value })),
  ];
}

/** The change as a JSON patch of the version that was seen, as taintPatch. */
function marksPatch(node: NodeRecord, { labels, taints, claim }: NodeMarks): object[] {
  const pointer = (map: string, key: string) => `/metadata/${map}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const annotation = pointer('annotations', CLAIM_ANNOTATION);
  return [
    ...(taints.set.length + taints.remove.length > 0 ? taintPatch(node, taints) : [versionTest(node)]),
    ...(Object.keys(node.labels).length === 0 ? [{ op: 'add', path: '/metadata/labels', value: {} }] : []),
    ...Object.entries(labels).map(([key, value]) =>
      value === null
        ? { op: 'remove', path: pointer('labels', key) }
        : { op: 'add', path: pointer('labels', key), value },
    ),
    ...(claim !== undefined && node.claim === undefined
      ? [{ op: 'add', path: '/metadata/annotations', value: {} }]
      : []),
    ...(claim !== undefined ? [{ op: 'add', path: annotation, value: claim }] : []),
    ...(claim === undefined && node.claim ? [{ op: 'remove', path: annotation }] : []),
  ];
}

/** The API server answers 422 without naming a field where a test does not hold: what it calls a conflict elsewhere. */
function rethrowFailedTest(error: unknown): never {
  if (!(error instanceof KubernetesError) || error.status !== 422 || error.fields.length > 0) throw error;
  throw new KubernetesError(error.message, { status: 409, reason: 'Conflict' }, { cause: error });
}
