import {
  ApiException,
  CoreV1Api,
  createConfiguration,
  KubeConfig,
  PatchStrategy,
  ServerConfiguration,
} from '@kubernetes/client-node';
import { Agent } from 'undici';

const timeoutMs = 10_000;

/** The API server of a kubeconfig, over one pool of connections: client-node's own KubeConfig opens a connection for each request. */
export class ApiServer {
  readonly #server: ServerConfiguration<Record<string, string>>;
  readonly #token: string;
  readonly #connections: Agent;

  /** Reads the current context of a kubeconfig file; it needs a token. */
  constructor(kubeconfig: string) {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    const cluster = config.getCurrentCluster();
    const token = config.getCurrentUser()?.token;
    if (cluster === null || token === undefined)
      throw new Error(`${kubeconfig} names no current cluster, or no user with a token`);
    this.#server = new ServerConfiguration(cluster.server.replace(/\/$/, ''), {});
    this.#token = token;
    const ca = cluster.caData === undefined ? undefined : Buffer.from(cluster.caData, 'base64').toString();
    this.#connections = new Agent({
      connections: 16,
      allowH2: false,
      ...(ca === undefined ? {} : { connect: { ca } }),
    });
  }

  /**
   * The core API for a component, which managedFields names by `agent`; with `node` under the identity of that node's kubelet. Requests end after
   * 10 s. A status is patched by strategic merge, everything else by merge.
   */
  as(agent: string, signal: AbortSignal, node?: string): CoreV1Api {
    const authentication = {
      getName: () => agent,
      applySecurityAuthentication: (request: Parameters<KubeConfig['applySecurityAuthentication']>[0]) => {
        const isStatus = request.getUrl().endsWith('/status');
        // The API server adds system:authenticated.
        const identity = node && { 'Impersonate-User': `system:node:${node}`, 'Impersonate-Group': 'system:nodes' };
        const patch = isStatus ? PatchStrategy.StrategicMergePatch : PatchStrategy.MergePatch;
        const headers = {
          Authorization: `Bearer ${this.#token}`,
          'User-Agent': agent,
          ...identity,
          ...(request.getHttpMethod() === 'PATCH' && { 'Content-Type': patch }),
        };
        for (const [name, value] of Object.entries(headers)) request.setHeaderParam(name, value);
        request.setSignal(AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
        request.setDispatcher(this.#connections);
      },
    };
    return new CoreV1Api(createConfiguration({ baseServer: this.#server, authMethods: { default: authentication } }));
  }

  /** Closes all connections. */
  close(): Promise<void> {
    return this.#connections.destroy();
  }
}

/** For `catch`: undefined if the API server responded with one of these statuses. */
export const unlessRefused =
  (...codes: readonly number[]) =>
  (error: unknown): undefined => {
    if (!(error instanceof ApiException && codes.includes(error.code))) throw error;
  };
