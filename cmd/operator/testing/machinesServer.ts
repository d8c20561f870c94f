/** A server with MachineSets and Machines of Cluster API, or NodePools and NodeClaims of Karpenter, which reports changes to its watches. For tests. */
import type { KubernetesClient } from '../../../controllers/kubernetes/client.ts';

/** An object of the server. `owner`: the UID of the MachineSet or NodePool that controls it. */
interface ServerObject {
  readonly name: string;
  readonly owner?: string;
  readonly ownerKind?: 'MachineSet' | 'NodePool';
  readonly labels?: object;
  readonly spec?: object;
  readonly status?: object;
}

export class MachinesServer {
  readonly #objects: Readonly<Record<string, readonly ServerObject[]>>;
  readonly #watches = new Map<string, Set<(line: string) => void>>();
  #version = 10;

  /** @param objects by their resource, such as `machines`; the same ones in each namespace and version */
  constructor(objects: Readonly<Record<string, readonly ServerObject[]>>) {
    this.#objects = objects;
  }

  /** It only answers lists and watches. */
  get client(): KubernetesClient {
    return this as unknown as KubernetesClient;
  }

  /** The collections that are watched, such as `cluster.x-k8s.io/v1beta2/namespaces/a/machines`. */
  get watched(): readonly string[] {
    return [...this.#watches].flatMap(([path, watches]) => (watches.size > 0 ? [path] : [])).sort();
  }

  async requestBytes(_method: string, path: string): Promise<Buffer> {
    const items = this.#listOf(path).map((object) => this.#wire(object));
    return Buffer.from(JSON.stringify({ metadata: { resourceVersion: '10' }, items }));
  }

  async *stream(path: string, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<Buffer> {
    const lines = this.#listOf(path).map((object) => JSON.stringify({ type: 'ADDED', object: this.#wire(object) }));
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    lines.push(JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '10', annotations } } }));
    let wake = Promise.withResolvers<void>();
    const put = (line: string) => {
      lines.push(line);
      wake.resolve();
    };
    signal.addEventListener('abort', () => wake.resolve(), { once: true });
    const name = collectionOf(path);
    const watches = this.#watches.get(name) ?? new Set();
    this.#watches.set(name, watches.add(put));
    try {
      while (!signal.aborted) {
        const next = lines.splice(0);
        if (next.length > 0) yield Buffer.from(`${next.join('\n')}\n`);
        else await wake.promise;
        wake = lines.length > 0 ? wake : Promise.withResolvers<void>();
      }
    } finally {
      watches.delete(put);
    }
  }

  /** Changes an object of a resource. */
  change(resource: string, object: ServerObject): void {
    this.#version += 1;
    const line = JSON.stringify({ type: 'MODIFIED', object: this.#wire(object) });
    for (const [path, watches] of this.#watches)
      if (path.endsWith(`/${resource}`)) for (const put of watches) put(line);
  }

  #listOf(path: string): readonly ServerObject[] {
    return this.#objects[collectionOf(path).split('/').at(-1) ?? ''] ?? [];
  }

  #wire({ name, owner, ownerKind: kind = 'MachineSet', labels = {}, spec = {}, status = {} }: ServerObject) {
    const ownerReferences = owner === undefined ? [] : [{ uid: owner, controller: true, kind, name: owner }];
    const metadata = { name, uid: name, resourceVersion: `${this.#version}`, labels, ownerReferences };
    return { metadata, spec, status };
  }
}

function collectionOf(path: string): string {
  return path.replace(/^\/apis\//, '').replace(/\?.*$/, '');
}
