/** Reads and writes objects of any kind in one namespace of a cluster. */
import { createKubernetesClient, type KubernetesClient, PATCH } from '../../../controllers/kubernetes/client.ts';
import { isNotFound } from '../../../controllers/kubernetes/errors.ts';
import { silentLog } from '../../../controllers/runtime/testing/silentLog.ts';
import { INFRASTRUCTURE_GROUP, INFRASTRUCTURE_VERSION } from './crds.ts';
import { CLUSTER_API_GROUP, type ClusterObject, type StoredObject } from './objects.ts';

/** The API versions of the kinds that callers name only by their kind. */
export const CLUSTER_API = `${CLUSTER_API_GROUP}/v1beta2`;
export const INFRASTRUCTURE = `${INFRASTRUCTURE_GROUP}/${INFRASTRUCTURE_VERSION}`;

const CLUSTER_SCOPED = [
  'CustomResourceDefinition',
  'DNS',
  'Infrastructure',
  'MutatingWebhookConfiguration',
  'Namespace',
  'Node',
  'ValidatingWebhookConfiguration',
];

/** The path of a collection, such as `/apis/cluster.x-k8s.io/v1beta2/namespaces/default/machines`. */
export function pathOf(apiVersion: string, kind: string, namespace = 'default'): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const resource = `${kind.toLowerCase()}${kind.endsWith('S') ? 'es' : 's'}`;
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
    await this.#client.request('DELETE', this.#path(apiVersion, kind, name), { signal }).catch(unlessNotFound);
  }

  /** An object, or undefined if it does not exist. */
  async get<T extends StoredObject>(apiVersion: string, kind: string, name: string): Promise<T | undefined> {
    const signal = this.#signal;
    const found = this.#client.request<T>('GET', this.#path(apiVersion, kind, name), { signal });
    return (await found.catch(unlessNotFound)) as T | undefined;
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

  close(): void {
    this.#client.close();
  }

  #path(apiVersion: string, kind: string, name: string, subresource?: string): string {
    return `${pathOf(apiVersion, kind, this.#namespace)}/${name}${subresource ? `/${subresource}` : ''}`;
  }
}

/** For `catch`: undefined if the object does not exist. */
export function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
