import type { V1NodeList } from '@kubernetes/client-node';
import type { Identity, ListWatch, StoreView } from '../runtime/ports.ts';
import {
  CORDONED_ANNOTATION,
  CORDONED_BEFORE,
  CORDONED_BY_OPERATOR,
  NODE_GROUP_LABEL,
  OS_LABEL,
  OWN_CONDITIONS,
  OWNERSHIP_ANNOTATION,
  POOL_KEY,
  WINDOWS,
} from '../windowspool/api/labels.ts';
import { type NodeMarks, type NodeRecord, type NodeReport, type Nodes, ownStatus } from '../windowspool/ports/nodes.ts';
import { same } from '../windowspool/util/sameValue.ts';
import { type KubernetesClient, LARGEST_PAGE, PATCH } from './client.ts';
import { type Decoder, jsonDecoder } from './decoder.ts';
import { ignoreNotFound, toCallResult } from './errors.ts';
import { type FieldTable, jsonReader } from './fields.ts';
import { withFallback } from './formatFallback.ts';
import { KubernetesError } from './kubernetesError.ts';
import { createListWatch, listAll } from './listWatch.ts';
import { nodeFields, nodeFieldsWithoutImages } from './nodeFields.ts';
import { recordIdentity } from './objects.ts';
import { apiPath } from './paths.ts';
import { protobufDecoder } from './protobufDecoder.ts';

/** The path of a node, or of all nodes. */
export const nodePath = (name?: string) => apiPath('v1', 'nodes', { name });
/** For one small object: what takes longer is retried. */
const READ_TIMEOUT_MS = 10_000;

export type NodeIndex = 'nodeGroup';

export const nodeIdentity: Identity<NodeRecord> = {
  ...recordIdentity,
  // A heartbeat changes only the resourceVersion of a record.
  absorbUnchanged: (known: Writable<NodeRecord>, newer) => {
    for (const field of comparedFields) if (!same(known[field], newer[field])) return false;
    // Images that are no longer read are dropped: they are not those of the newer version.
    if (newer.images !== undefined && !same(known.images, newer.images)) return false;
    known.images = newer.images;
    known.resourceVersion = newer.resourceVersion;
    return true;
  },
  completes: (known, newer) => known.images === undefined && newer.images !== undefined,
};

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

const comparedFields = (Object.keys(nodeFields) as (keyof NodeRecord)[]).filter(
  (field) => field !== 'resourceVersion' && field !== 'images',
);

/** Indexes of the store of nodes. */
export const nodeIndexes: Readonly<Record<NodeIndex, (node: NodeRecord) => readonly string[]>> = {
  nodeGroup: ({ labels }) => {
    const group = labels[NODE_GROUP_LABEL];
    return group === undefined ? [] : [group];
  },
};

/** Reads a Node's JSON. The record is a twentieth of it: managed fields and most annotations are dropped. */
export const nodeRecordOf: (node: unknown) => NodeRecord = jsonReader(nodeFields);
const withoutImages: (node: unknown) => NodeRecord = jsonReader(nodeFieldsWithoutImages);

/** Whether images are read: asked for each page, watch and written node. */
export type ReadsImages = () => boolean;

/** The operator watches Windows nodes only. */
export const NODE_SELECTOR = `${OS_LABEL}=${WINDOWS}`;

/** Lists and watches nodes in protobuf, which takes less than half of JSON's time, or in JSON if the server lacks protobuf. */
export function nodeListWatch(
  client: KubernetesClient,
  labelSelector?: string,
  readsImages: ReadsImages = () => true,
): ListWatch<NodeRecord> {
  const options = { client, path: nodePath(), ...(labelSelector !== undefined && { labelSelector }) };
  const inProtobuf = (fields: FieldTable<NodeRecord>) => protobufDecoder({ apiVersion: 'v1', kind: 'Node', fields });
  const either = (full: Decoder<NodeRecord>, lean: Decoder<NodeRecord>): Decoder<NodeRecord> => ({
    accept: full.accept,
    page: (body) => (readsImages() ? full : lean).page(body),
    stream: () => (readsImages() ? full : lean).stream(),
  });
  const protobuf = either(inProtobuf(nodeFields), inProtobuf(nodeFieldsWithoutImages));
  const json = either(jsonDecoder(nodeRecordOf), jsonDecoder(withoutImages));
  return withFallback({
    preferred: createListWatch({ ...options, decoder: protobuf }),
    fallback: createListWatch({ ...options, decoder: json }),
    onRefused: (error) =>
      client.log.warn(
        { path: nodePath(), error: error.message },
        'the API server does not support protobuf; reading nodes as JSON',
      ),
  });
}

/** The port Nodes. The results of writes go into the store. Reads have images; `readsImages` is that of the store. */
export function createNodes(
  client: KubernetesClient,
  store: StoreView<NodeRecord>,
  readsImages: ReadsImages = () => true,
): Nodes {
  /** Only Windows nodes are watched: any other would stay in the store forever. */
  const observeWrite = (written: unknown): void => {
    const node = readsImages() ? nodeRecordOf(written) : withoutImages(written);
    if (node.labels[OS_LABEL] === WINDOWS) store.observeWrite(node);
  };
  /** `body` starts with a test of the version, so that only the observed version changes. */
  const patched = (node: NodeRecord, body: readonly object[], signal: AbortSignal) =>
    toCallResult('patch nodes', signal, async () => {
      const options = { body, contentType: PATCH.json, signal };
      observeWrite(await client.request('PATCH', nodePath(node.name), options).catch(rethrowFailedTest));
    });
  const listed = (selector: string, signal: AbortSignal) =>
    toCallResult('list nodes', signal, () => listAll(nodeListWatch(client, selector), () => signal));
  return {
    read: (name, signal) =>
      toCallResult('get nodes', signal, async () => {
        const options = { signal, timeoutMs: READ_TIMEOUT_MS };
        return ignoreNotFound(client.request<object>('GET', nodePath(name), options).then(nodeRecordOf));
      }),
    ofGroup: (group, signal) => listed(`${NODE_GROUP_LABEL}=${group}`, signal),
    ofPool: (pool, signal) => listed(`${POOL_KEY}=${pool},${NODE_SELECTOR}`, signal),
    outside: (pool, signal) =>
      toCallResult('list nodes', signal, async () => {
        const query = { labelSelector: `${POOL_KEY}=${pool},${OS_LABEL}!=${WINDOWS}` };
        const found = await client.request<V1NodeList>('GET', nodePath(), {
          query,
          signal,
          timeoutMs: READ_TIMEOUT_MS,
          maxBytes: LARGEST_PAGE,
        });
        return (found.items ?? []).map(nodeRecordOf);
      }),
    setLabel: (node, key, value, signal) =>
      toCallResult('patch nodes', signal, async () => {
        // The uid in a merge patch is a precondition: a new node with the same name is not changed.
        const body = { metadata: { uid: node.uid, labels: { [key]: value } } };
        const options = { body, contentType: PATCH.merge, signal };
        const written = await client.request('PATCH', nodePath(node.name), options);
        observeWrite(written);
      }),
    setTaints: (node, change, signal) => patched(node, taintPatch(node, change), signal),
    setMarks: (node, marks, signal) => patched(node, marksPatch(node, marks), signal),
    cordon: (node, signal) => patched(node, cordonPatch(node), signal),
    restore: (node, reported, signal) => patched(node, restorePatch(node, reported), signal),
    setConditions: (node, report, now, signal) =>
      toCallResult('patch nodes/status', signal, async () => {
        const body = { metadata: { uid: node.uid }, status: { conditions: conditionsPatch(node, report, now) } };
        const path = `${nodePath(node.name)}/status`;
        const written = await client.request('PATCH', path, { body, contentType: PATCH.strategic, signal });
        observeWrite(written);
      }),
  };
}

/** A strategic merge patch merges conditions by type, so the kubelet's are kept. */
function conditionsPatch(node: NodeRecord, report: NodeReport, now: number): object[] {
  const time = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  return OWN_CONDITIONS.flatMap((type): object[] => {
    const [before, condition] = [ownStatus(node, type), report[type]];
    // Also if this version of the node has none: a leftover would count as shown in the next pool.
    if (!condition) return [{ $patch: 'delete', type }];
    const turned = before !== condition.status && { lastTransitionTime: time };
    return [{ type, ...condition, lastHeartbeatTime: time, ...turned }];
  });
}

type TaintChange = Parameters<Nodes['setTaints']>[1];

function versionTest({ resourceVersion }: NodeRecord): object {
  return { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion };
}

/**
 * A JSON patch (RFC 6902) of the observed version. The list of taints is atomic: a merge patch would have to repeat the other taints, and would
 * lose their timeAdded, which a record does not have.
 */
function taintPatch(node: NodeRecord, { set, remove }: TaintChange): object[] {
  const { taints } = node;
  const changed = [...set, ...remove];
  const indexes = taints.flatMap((taint, index) =>
    changed.some(({ key, effect }) => key === taint.key && effect === taint.effect) ? [index] : [],
  );
  return [
    versionTest(node),
    // From the end, so that the other indexes stay valid.
    ...indexes.reverse().map((index) => ({ op: 'remove', path: `/spec/taints/${index}` })),
    // A node that never had taints has no list.
    ...(taints.length === 0 ? [{ op: 'add', path: '/spec/taints', value: [] }] : []),
    ...set.map((value) => ({ op: 'add', path: '/spec/taints/-', value })),
  ];
}

/** The JSON pointer (RFC 6901) to an entry of a map. */
function pointer(map: string, key: string): string {
  return `/metadata/${map}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Sets an annotation, and creates the map if the node has no annotations. */
function annotationOf(node: NodeRecord, key: string, value: string): object[] {
  return [
    ...(node.ownership === undefined ? [{ op: 'add', path: '/metadata/annotations', value: {} }] : []),
    { op: 'add', path: pointer('annotations', key), value },
  ];
}

/** Sets the cordon and the annotation that records it, in one write. */
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

/** If the test in a JSON patch fails, the API server answers 422 without a field. It is a conflict. */
function rethrowFailedTest(error: unknown): never {
  if (!(error instanceof KubernetesError) || error.status !== 422 || error.fields.length > 0) throw error;
  throw new KubernetesError(error.message, { status: 409, reason: 'Conflict' }, { cause: error });
}
