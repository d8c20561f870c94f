/** What the plugin reads from and writes to the API server, with the permissions of the user. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { KubernetesObject } from '@kubernetes/client-node';
import { createKubernetesClient, type KubernetesClient, PATCH } from '../../controllers/kubernetes/client.ts';
import { isForbidden, isNotFound } from '../../controllers/kubernetes/errors.ts';
import type { KubeconfigOverrides } from '../../controllers/kubernetes/kubeconfigOverrides.ts';
import { listAll } from '../../controllers/kubernetes/listWatch.ts';
import { NODE_SELECTOR, nodeListWatch } from '../../controllers/kubernetes/nodes.ts';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { apiPath } from '../../controllers/kubernetes/paths.ts';
import { poolListWatch } from '../../controllers/kubernetes/pools.ts';
import type { ListWatch, Logger } from '../../controllers/runtime/ports.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { POOL_KEY } from '../../controllers/windowspool/api/labels.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import { joined } from '../../controllers/windowspool/util/words.ts';
import { Failure, suggestion } from './failure.ts';

/** The flags that select a cluster, as those of kubectl. */
export interface ClusterFlags extends KubeconfigOverrides {
  readonly kubeconfig?: string;
  readonly namespace?: string;
  /** Milliseconds. */
  readonly requestTimeout: number;
  /** Verbosity: from 6 on, requests are printed. */
  readonly v?: number;
}

/** The verbosity at which kubectl prints requests, too: https://kubernetes.io/docs/reference/kubectl/quick-reference/#kubectl-output-verbosity-and-debugging */
const REQUESTS_FROM = 6;
/** Names to choose a suggestion from. */
const MOST_SUGGESTED = 500;
/** Names of pools in a message. */
const MOST_NAMES = 20;

const ignore = (): void => undefined;
export const silentLog: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore, child: () => silentLog };

/** The kubeconfig that kubectl would use: --kubeconfig, KUBECONFIG or ~/.kube/config. */
export function kubeconfigOf({ kubeconfig }: Pick<ClusterFlags, 'kubeconfig'>): string {
  return kubeconfig ?? (process.env.KUBECONFIG || join(homedir(), '.kube', 'config'));
}

/** The flags that replace parts of the kubeconfig. */
export function overridesOf(flags: KubeconfigOverrides): KubeconfigOverrides {
  const { context, cluster, user, server, tlsServerName, insecureSkipTlsVerify, certificateAuthority } = flags;
  const { clientCertificate, clientKey, token, as, asGroup, asUid } = flags;
  return {
    ...{ context, cluster, user, server, tlsServerName, insecureSkipTlsVerify, certificateAuthority },
    ...{ clientCertificate, clientKey, token, as, asGroup, asUid },
  };
}

/** A connection to the cluster of the user. */
export class Cluster {
  readonly client: KubernetesClient;
  readonly flags: ClusterFlags;
  readonly signal: AbortSignal;

  constructor(client: KubernetesClient, flags: ClusterFlags, signal: AbortSignal) {
    this.client = client;
    this.flags = flags;
    this.signal = signal;
  }

  /** All pools, sorted by name. */
  async pools(): Promise<readonly WindowsPool[]> {
    try {
      const pools = await this.#listed(poolListWatch(this.client));
      return pools.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    } catch (error) {
      // The API server responds with 404 to a list only if it does not know the resource.
      if (!isNotFound(error)) throw error;
      throw new Failure(
        `Cluster ${this.client.server} has no WindowsPools: the CRD is not installed. Install the operator, or choose another cluster with --context.`,
      );
    }
  }

  /** One pool. Fails with the most similar name if there is none. */
  async pool(name: string): Promise<WindowsPool> {
    const pools = await this.pools();
    const found = pools.find(({ metadata }) => metadata.name === name);
    if (found) return found;
    const names = pools.map(({ metadata }) => metadata.name);
    const known = names.length === 0 ? ' The cluster has no pools.' : ` The pools are: ${joined(names, MOST_NAMES)}.`;
    throw new Failure(`WindowsPool "${name}" not found.${suggestion(name, names) || known}`);
  }

  /** The Windows nodes, of one pool or all of them, sorted by name. */
  async nodes(pool?: string): Promise<readonly NodeRecord[]> {
    const selector = pool === undefined ? NODE_SELECTOR : `${POOL_KEY}=${pool},${NODE_SELECTOR}`;
    const nodes = await this.#listed(nodeListWatch(this.client, selector));
    return nodes.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** An object, or a list, by its path. */
  get<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<Wire<T>> {
    return this.client.request<T>('GET', path, { query, signal: this.signal });
  }

  /** The names of some hundred objects of a list, to suggest one of them; none if they cannot be listed. */
  async namesOf(path: string): Promise<readonly string[]> {
    const { items = [] } = await this.get<{ items?: KubernetesObject[] }>(path, {
      limit: String(MOST_SUGGESTED),
    }).catch(() => ({ items: [] }));
    return items.flatMap(({ metadata }) => metadata?.name ?? []);
  }

  /** Throws if the namespace does not exist. A user who may not read it goes on. */
  async checkNamespace(name: string): Promise<void> {
    try {
      await this.get(apiPath('v1', 'namespaces', { name }));
    } catch (error) {
      if (isForbidden(error)) return;
      if (!isNotFound(error)) throw error;
      const hint = suggestion(name, await this.namesOf(apiPath('v1', 'namespaces')));
      throw new Failure(`Namespace "${name}" not found.${hint || ' Choose another with --namespace.'}`);
    }
  }

  /** Patches an object; `isTrial`: the API server only checks that it would accept the patch. */
  async patch(path: string, body: object, isTrial: boolean): Promise<void> {
    const query = { fieldManager: 'kubectl-windowspool', ...(isTrial && { dryRun: 'All' }) };
    await this.client.request<KubernetesObject>('PATCH', path, {
      query,
      body,
      contentType: PATCH.merge,
      signal: this.signal,
    });
  }

  close(): void {
    this.client.close();
  }

  /** All pages of a list, each within --request-timeout. */
  #listed<T>(source: ListWatch<T>): Promise<readonly T[]> {
    return listAll(source, () => AbortSignal.any([this.signal, AbortSignal.timeout(this.flags.requestTimeout)]));
  }
}

/** Connects with the kubeconfig of the user. Sends no request. */
export async function connectTo(
  flags: ClusterFlags,
  version: string,
  signal: AbortSignal,
  printError: (text: string) => void = () => undefined,
): Promise<Cluster> {
  const client = await createKubernetesClient({
    kubeconfigPath: kubeconfigOf(flags),
    overrides: overridesOf(flags),
    log: silentLog,
    version,
    program: 'kubectl-windowspool',
    timeoutMs: flags.requestTimeout,
    onWarning: (text) => printError(`Warning: ${text}`),
    ...((flags.v ?? 0) >= REQUESTS_FROM && {
      onRequest: (code: string, method: string, _: string, url: string) => printError(`${method} ${url} ${code}`),
    }),
  });
  return new Cluster(client, flags, signal);
}
