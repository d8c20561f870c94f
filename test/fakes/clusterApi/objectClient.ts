/** Reads and writes objects of any kind in one namespace of a cluster. */
import { createKubernetesClient, type KubernetesClient, PATCH } from '../../../controllers/kubernetes/client.ts';
import { ignoreNotFound } from '../../../controllers/kubernetes/errors.ts';
import { silentLog } from '../../../controllers/runtime/testing/silentLog.ts';
import { waitFor } from '../../../hack/controlplane/wait.ts';
import { INFRASTRUCTURE_GROUP, INFRASTRUCTURE_VERSION } from './crds.ts';
import { CLUSTER_API_GROUP, type ClusterObject, type StoredObject } from './objects.ts';

/** The API versions of the kinds that callers name only by their kind. */
export const CLUSTER_API = `${CLUSTER_API_GROUP}/v1beta2`;
export const INFRASTRUCTURE = `${INFRASTRUCTURE_GROUP}/${INFRASTRUCTURE_VERSION}`;

const CLUSTER_SCOPED = [
  'CustomResourceDefinition',
  'DNS',
  'EC2NodeClass',
  'Infrastructure',
  'KWOKNodeClass',
  'MutatingWebhookConfiguration',
  'Namespace',
  'Node',
  'NodeClaim',
  'NodePool',
  'ValidatingWebhookConfiguration',
];

/** The path of a collection, such as `/apis/cluster.x-k8s.io/v1beta2/namespaces/default/machines`. */
export function pathOf(apiVersion: string, kind: string, namespace = 'default'): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const resource = `${kind.toLowerCase()}${/s$/i.test(kind) ? 'es' : 's'}`;
  return `${root}/${CLUSTER_SCOPED.includes(kind) ? '' : `namespaces/${namespace}/`}${resource}`;
}

/** A client with the name of the program in its user agent, which the audit log and managedFields have. Calls throw KubernetesError. */
export class ObjectClient {
  readonly #client: KubernetesClient;
  readonly #program: string;
  readonly #signal: AbortSignal;
  readonly #namespace: string | undefined;

  constructor(client: KubernetesClient, program: string, signal: AbortSignal, namespace?: string) {
    this.#client = client;
    this.#program = program;
    this.#signal = signal;
    this.#namespace = namespace;
  }

  /** @param namespace default: `default` */
  static async connect(
    kubeconfigPath: string,
    program: string,
    signal: AbortSignal,
    namespace?: string,
  ): Promise<ObjectClient> {
    const client = await createKubernetesClient({ kubeconfigPath, log: silentLog, version: 'test', program });
    return new ObjectClient(client, program, signal, namespace);
  }

  /** Creates an object, or sets the fields that it names. With a subresource, such as `status`, those of the subresource. */
  async apply<T extends ClusterObject>(object: T, subresource?: string): Promise<void> {
    const path = this.#path(object.apiVersion, object.kind, object.metadata.name, subresource);
    const query = { fieldManager: this.#program, force: true };
    await this.#client.request('PATCH', path, { body: object, query, contentType: PATCH.apply, signal: this.#signal });
  }

  /** Merges a patch into an object. */
  async patch(apiVersion: string, kind: string, name: string, body: object, subresource?: string): Promise<void> {
    const path = this.#path(apiVersion, kind, name, subresource);
    await this.#client.request('PATCH', path, { body, contentType: PATCH.merge, signal: this.#signal });
  }

  /** Requests the deletion of an object, which may not exist. */
  async delete(apiVersion: string, kind: string, name: string): Promise<void> {
    const signal = this.#signal;
    await ignoreNotFound(this.#client.request('DELETE', this.#path(apiVersion, kind, name), { signal }));
  }

  /** An object, or undefined if it does not exist. */
  async get<T extends StoredObject>(apiVersion: string, kind: string, name: string): Promise<T | undefined> {
    const signal = this.#signal;
    const found = this.#client.request<T>('GET', this.#path(apiVersion, kind, name), { signal });
    return (await ignoreNotFound(found)) as T | undefined;
  }

  /** The objects of a kind with these labels, by their name. */
  async list<T extends StoredObject>(apiVersion: string, kind: string, labelSelector?: string): Promise<T[]> {
    const options = { query: { labelSelector }, signal: this.#signal };
    const { items } = await this.#client.request<{ items: T[] }>(
      'GET',
      pathOf(apiVersion, kind, this.#namespace),
      options,
    );
    return ([...items] as T[]).sort((a, b) => a.metadata.name.localeCompare(b.metadata.name));
  }

  /** Deletes these objects, the last ones first, and waits until all are gone. */
  async deleteAll(objects: readonly ClusterObject[], what: string, timeoutMs: number): Promise<void> {
    for (const { apiVersion, kind, metadata } of objects.toReversed())
      await this.delete(apiVersion, kind, metadata.name);
    const isGone = async ({ apiVersion, kind, metadata }: ClusterObject) =>
      (await this.get(apiVersion, kind, metadata.name)) === undefined;
    const areGone = async () => (await Promise.all(objects.map(isGone))).every(Boolean);
    await waitFor(areGone, { what: `${what} to be deleted`, timeoutMs });
  }

  close(): void {
    this.#client.close();
  }

  #path(apiVersion: string, kind: string, name: string, subresource?: string): string {
    return `${pathOf(apiVersion, kind, this.#namespace)}/${name}${subresource ? `/${subresource}` : ''}`;
  }
}
