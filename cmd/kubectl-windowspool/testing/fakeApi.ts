/** An API server in memory, with two pools, their nodes and what runs on them, for tests of commands that read and change several kinds. */
import type { ServerResponse } from 'node:http';
import { json, type Loopback, loopback } from '../../../controllers/kubernetes/testing/loopbackServer.ts';
import type { WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import type { NodeRecord } from '../../../controllers/windowspool/ports/nodes.ts';
import { Cluster } from '../cluster.ts';

/** An object as a test writes it. */
export interface FakeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly object[];
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  /** An object, or the lines of a log. */
  readonly body: object | string;
}

/** The requests that an API server in memory received, in short: `evict shop/cart-0`. */
export class FakeApi {
  /** By the last part of the path: `pods`, `deployments`. */
  readonly objects = new Map<string, FakeObject[]>();
  readonly writes: string[] = [];
  pools: WindowsPool[] = [];
  nodes: NodeRecord[] = [];
  /** Resources that the user may not list, and permissions such as `patch nodes` that a review denies. */
  readonly denied = new Set<string>();
  /** Answers a request before anything else does; undefined: it does not. */
  intercept: (method: string, path: string, query: Readonly<Record<string, string>>) => Answer | undefined = () =>
    undefined;
  /** Called when a pod was evicted and is gone. */
  onEvicted: (pod: FakeObject) => void = () => undefined;

  add(resource: string, ...objects: readonly FakeObject[]): void {
    this.objects.set(resource, [...(this.objects.get(resource) ?? []), ...objects]);
  }

  /** Serves the objects to a cluster until both are disposed. */
  async serve(signal: AbortSignal = new AbortController().signal): Promise<{ cluster: Cluster } & AsyncDisposable> {
    const server: Loopback = await loopback(({ method, path, query, headers, body }, response) => {
      const { status, body: answer } =
        this.intercept(method, path, query) ?? this.#answer(method, path, query, String(headers.accept), body);
      if (typeof answer === 'string') response.end(answer);
      else json(response as ServerResponse, status, answer);
    });
    return {
      cluster: new Cluster(server.client, { requestTimeout: 5_000 }, signal),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  }

  #answer(
    method: string,
    path: string,
    query: Readonly<Record<string, string>>,
    accept: string,
    body: unknown,
  ): Answer {
    const [, namespace, resource = '', name] =
      /^\/apis?\/(?:[^/]+\/)?v[^/]+(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?/.exec(path) ?? [];
    if (resource === 'selfsubjectaccessreviews')
      return { status: 201, body: { status: { allowed: this.#allows(body) } } };
    if (path.endsWith('/eviction')) return this.#evict(`${namespace}/${name}`);
    if (method === 'PATCH') return this.#patch(resource, name ?? '', body, query.dryRun === 'All');
    if (name !== undefined) return this.#get(resource, namespace ?? '', name);
    if (this.denied.has(resource))
      return failure(403, 'Forbidden', `${resource} is forbidden: User "reader" cannot list resource "${resource}"`);
    if (resource === 'nodes')
      return accept.includes('protobuf') ? failure(406, 'NotAcceptable', 'no protobuf') : list(this.#nodes(query));
    return list(resource === 'windowspools' ? this.pools : this.#listed(resource, query));
  }

  #listed(resource: string, { fieldSelector = '' }: Readonly<Record<string, string>>): readonly object[] {
    const node = /spec\.nodeName=([^,]+)/.exec(fieldSelector)?.[1];
    const objects = this.objects.get(resource) ?? [];
    return node === undefined ? objects : objects.filter(({ spec }) => spec?.nodeName === node);
  }

  #get(resource: string, namespace: string, name: string): Answer {
    const found = this.objects
      .get(resource)
      ?.find(({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === namespace);
    return found ? { status: 200, body: found } : failure(404, 'NotFound', `${resource} "${name}" not found`);
  }

  #nodes({ labelSelector = '' }: Readonly<Record<string, string>>): readonly object[] {
    const terms = labelSelector.split(',').map((term) => term.split('='));
    const isSelected = (node: NodeRecord) => terms.every(([key = '', value]) => node.labels[key] === value);
    return this.nodes.filter(isSelected).map(nodeJson);
  }

  #allows(review: unknown): boolean {
    const { verb, resource, subresource } = (review as { spec: { resourceAttributes: Record<string, string> } }).spec
      .resourceAttributes;
    return !this.denied.has(`${verb} ${resource}${subresource ? `/${subresource}` : ''}`);
  }

  #patch(resource: string, name: string, body: unknown, isTrial: boolean): Answer {
    const { metadata, spec } = body as { metadata: { uid: string }; spec: { unschedulable: boolean } };
    const node = this.nodes.find((each) => each.name === name && each.uid === metadata.uid);
    if (resource !== 'nodes' || !node) return failure(404, 'NotFound', `${resource} "${name}" not found`);
    this.writes.push(`${isTrial ? 'check ' : ''}cordon ${name}`);
    if (!isTrial) this.nodes = this.nodes.map((each) => (each === node ? { ...node, ...spec } : each));
    return { status: 200, body: nodeJson(node) };
  }

  #evict(name: string): Answer {
    const nameOf = ({ metadata }: FakeObject) => `${metadata.namespace}/${metadata.name}`;
    const pods = this.objects.get('pods') ?? [];
    const pod = pods.find((each) => nameOf(each) === name);
    if (!pod) return failure(404, 'NotFound', `pods "${name}" not found`);
    this.writes.push(`evict ${name}`);
    this.objects.set(
      'pods',
      pods.filter((each) => each !== pod),
    );
    this.onEvicted(pod);
    return { status: 201, body: {} };
  }
}

/** An error of the API server. */
export function failure(code: number, reason: string, message: string, causes: readonly object[] = []): Answer {
  return { status: code, body: { kind: 'Status', status: 'Failure', code, reason, message, details: { causes } } };
}

/** The response of the eviction API when a PodDisruptionBudget blocks it. */
export function blockedBy(budget: string): Answer {
  const causes = [{ reason: 'DisruptionBudget', message: `The disruption budget ${budget} needs 1 healthy pods` }];
  return failure(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", causes);
}

function list(items: readonly object[]): Answer {
  return { status: 200, body: { kind: 'List', metadata: { resourceVersion: '1' }, items } };
}

function nodeJson(node: NodeRecord): object {
  const { name, uid, labels, annotations, unschedulable, taints, providerID, kernelVersion, capacity, allocatable } =
    node;
  const { ready, verified } = node;
  return {
    kind: 'Node',
    metadata: {
      name,
      uid,
      resourceVersion: '1',
      creationTimestamp: new Date(node.createdAt).toISOString(),
      labels,
      annotations,
    },
    spec: { providerID, taints, ...(unschedulable && { unschedulable }) },
    status: {
      capacity,
      allocatable,
      conditions: [
        { type: 'Ready', status: ready, reason: node.readyReason },
        ...(verified ? [{ type: 'winpool.dev/Verified', ...verified }] : []),
      ],
      nodeInfo: { kernelVersion, operatingSystem: 'windows' },
    },
  };
}
