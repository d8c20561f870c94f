import type { V1NodeList } from '@kubernetes/client-node';
import type { Identity, ListWatch, StoreView } from '../runtime/ports.ts';
import {
  CORDONED_ANNOTATION,
  CORDONED_BEFORE,
  CORDONED_BY_OPERATOR,
  NODE_GROUP_LABEL,
  OS_LABEL,
  OWNERSHIP_ANNOTATION,
  POOL_KEY,
  VERIFIED_CONDITION,
  WINDOWS,
} from '../windowspool/labels.ts';
import type { NodeCondition, NodeMarks, NodeRecord, Nodes } from '../windowspool/ports/nodes.ts';
import { type KubernetesClient, PATCH } from './client.ts';
import { jsonDecoder } from './decoder.ts';
import { isNotFound, toCallResult } from './errors.ts';
import { jsonReader } from './fields.ts';
import { withFallback } from './formatFallback.ts';
import { KubernetesError } from './kubernetesError.ts';
import { createListWatch } from './listWatch.ts';
import { nodeFields } from './nodeFields.ts';
import { protobufDecoder } from './protobufDecoder.ts';

const PATH = '/api/v1/nodes';
/** One small object: what takes longer is trouble, and is asked again. */
const READ_TIMEOUT_MS = 10_000;

/** As client-go pages. */
const PAGE_SIZE = 500;

export type NodeIndex = 'nodeGroup';

export const nodeIdentity: Identity<NodeRecord> = {
  key: (node) => node.name,
  uid: (node) => node.uid,
  resourceVersion: (node) => node.resourceVersion,
  // A heartbeat changes nothing that a record has.
  absorbUnchanged: (known: Writable<NodeRecord>, newer) => {
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
    preferred: createListWatch({ ...options, decoder: inProtobuf }),
    fallback: createListWatch({ ...options, decoder: jsonDecoder(nodeRecordOf) }),
    onRefused: (error) =>
      client.log.warn({ path: PATH, error: error.message }, 'the API server has no protobuf: nodes are read as JSON'),
  });
}

function pathOf(name: string): string {
  return `${PATH}/${encodeURIComponent(name)}`;
}

/** The domain's nodes: read from the store, written through the client. */
export function createNodes(client: KubernetesClient, store: StoreView<NodeRecord, NodeIndex>): Nodes {
  /** A node that is not watched would stay in the store for ever. */
  const observeWrite = (written: unknown): void => {
    const node = nodeRecordOf(written);
    if (node.labels[OS_LABEL] === WINDOWS) store.observeWrite(node);
  };
  /** Changes the very version of a node that was seen; `body` begins with a test of it. */
  const patched = (node: NodeRecord, body: readonly object[], signal: AbortSignal) =>
    toCallResult('patch nodes', signal, async () => {
      const options = { body, contentType: PATCH.json, signal };
      observeWrite(await client.request('PATCH', pathOf(node.name), options).catch(rethrowFailedTest));
    });
  const listed = (selector: string, signal: AbortSignal) =>
    toCallResult('list nodes', signal, async () => {
      const { list } = nodeListWatch(client, selector);
      const nodes: NodeRecord[] = [];
      let continueToken: string | undefined;
      do {
        const page = await list(
          { resourceVersion: '', limit: PAGE_SIZE, ...(continueToken && { continueToken }) },
          signal,
        );
        nodes.push(...page.items);
        continueToken = page.continueToken || undefined;
      } while (continueToken);
      return nodes;
    });
  return {
    read: (name, signal) =>
      toCallResult('get nodes', signal, async () => {
        const options = { signal, timeoutMs: READ_TIMEOUT_MS };
        try {
          return nodeRecordOf(await client.request('GET', pathOf(name), options));
        } catch (error) {
          if (isNotFound(error)) return undefined;
          throw error;
        }
      }),
    ofGroup: (group, signal) => listed(`${NODE_GROUP_LABEL}=${group}`, signal),
    ofPool: (pool, signal) => listed(`${POOL_KEY}=${pool},${NODE_SELECTOR}`, signal),
    outside: (pool, signal) =>
      toCallResult('list nodes', signal, async () => {
        const query = { labelSelector: `${POOL_KEY}=${pool},${OS_LABEL}!=${WINDOWS}` };
        const found = await client.request<V1NodeList>('GET', PATH, {
          query,
          signal,
          timeoutMs: READ_TIMEOUT_MS,
        });
        return (found.items ?? []).map(nodeRecordOf);
      }),
    setLabel: (node, key, value, signal) =>
      toCallResult('patch nodes', signal, async () => {
        // The uid in a merge patch is a precondition: another node of this name, joined since, is left alone.
        const body = { metadata: { uid: node.uid, labels: { [key]: value } } };
        const options = { body, contentType: PATCH.merge, signal };
        const written = await client.request('PATCH', pathOf(node.name), options);
        observeWrite(written);
      }),
    setTaints: (node, change, signal) => patched(node, taintPatch(node, change), signal),
    setMarks: (node, marks, signal) => patched(node, marksPatch(node, marks), signal),
    cordon: (node, signal) => patched(node, cordonPatch(node), signal),
    restore: (node, reported, signal) => patched(node, restorePatch(node, reported), signal),
    setVerified: (node, condition, now, signal) =>
      toCallResult('patch nodes/status', signal, async () => {
        const body = { metadata: { uid: node.uid }, status: { conditions: [verifiedPatch(node, condition, now)] } };
        const path = `${pathOf(node.name)}/status`;
        const written = await client.request('PATCH', path, { body, contentType: PATCH.strategic, signal });
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

/** The place of an entry of a map in a JSON patch (RFC 6901). */
function pointer(map: string, key: string): string {
  return `/metadata/${map}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** An annotation, and before it the map of a node that has none at all. */
function annotationOf(node: NodeRecord, key: string, value: string): object[] {
  return [
    ...(node.ownership === undefined ? [{ op: 'add', path: '/metadata/annotations', value: {} }] : []),
    { op: 'add', path: pointer('annotations', key), value },
  ];
}

/** The cordon with its record, so that neither is ever there alone. */
function cordonPatch(node: NodeRecord): object[] {
  const value = node.unschedulable ? CORDONED_BEFORE : CORDONED_BY_OPERATOR;
  return [
    versionTest(node),
    ...annotationOf(node, CORDONED_ANNOTATION, value),
    { op: 'add', path: '/spec/unschedulable', value: true },
  ];
}

function restorePatch(node: NodeRecord, reported: Parameters<Nodes['restore']>[1]): object[] {
  const record = node.annotations[CORDONED_ANNOTATION];
  const isOurs = record === CORDONED_BY_OPERATOR && node.unschedulable;
  return [
    versionTest(node),
    ...(record !== undefined ? [{ op: 'remove', path: pointer('annotations', CORDONED_ANNOTATION) }] : []),
    ...(isOurs ? [{ op: 'remove', path: '/spec/unschedulable' }] : []),
    ...(reported ? annotationOf(node, reported.key, reported.value) : []),
  ];
}

/** The change as a JSON patch of the version that was seen, as taintPatch. */
function marksPatch(node: NodeRecord, { labels, taints, ownership }: NodeMarks): object[] {
  return [
    ...(taints.set.length + taints.remove.length > 0 ? taintPatch(node, taints) : [versionTest(node)]),
    ...(Object.keys(node.labels).length === 0 ? [{ op: 'add', path: '/metadata/labels', value: {} }] : []),
    ...Object.entries(labels).map(([key, value]) =>
      value === null
        ? { op: 'remove', path: pointer('labels', key) }
        : { op: 'add', path: pointer('labels', key), value },
    ),
    ...(ownership !== undefined ? annotationOf(node, OWNERSHIP_ANNOTATION, ownership) : []),
    ...(ownership === undefined && node.ownership
      ? [{ op: 'remove', path: pointer('annotations', OWNERSHIP_ANNOTATION) }]
      : []),
  ];
}

/** The API server answers 422 without naming a field where a test does not hold: what it calls a conflict elsewhere. */
function rethrowFailedTest(error: unknown): never {
  if (!(error instanceof KubernetesError) || error.status !== 422 || error.fields.length > 0) throw error;
  throw new KubernetesError(error.message, { status: 409, reason: 'Conflict' }, { cause: error });
}
