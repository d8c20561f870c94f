import { KubeConfig } from '@kubernetes/client-node';
import { Agent, request } from 'undici';

/** What the API server answered. `body` is the parsed JSON. */
export interface KubeAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** One request. `node`: under the identity of that node's kubelet, otherwise under the kubeconfig's own. */
export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly node?: string;
  /** Who does it, as managedFields shows it. */
  readonly agent: string;
  readonly body?: object;
  /** The kind of patch. */
  readonly patch?: 'strategic-merge-patch' | 'merge-patch';
}

const timeoutMs = 10_000;

/** The few requests to the API server that nodes need, on one pool of connections, with impersonation. */
export class KubeClient {
  readonly #url: string;
  readonly #token: string;
  readonly #agent: Agent;

  /** Reads the current context of a kubeconfig file; it needs a token. */
  constructor(kubeconfig: string) {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    const cluster = config.getCurrentCluster();
    const token = config.getCurrentUser()?.token;
    if (cluster === null || token === undefined)
      throw new Error(`${kubeconfig} names no current cluster, or no user with a token`);
    this.#url = cluster.server.replace(/\/$/, '');
    this.#token = token;
    const ca = cluster.caData === undefined ? undefined : Buffer.from(cluster.caData, 'base64').toString();
    this.#agent = new Agent({ connections: 16, allowH2: false, ...(ca === undefined ? {} : { connect: { ca } }) });
  }

  /** Any HTTP status is an answer; throws when there is none within 10 s, and when the signal says so. */
  async send({ method, path, node, agent, body, patch }: KubeRequest, signal: AbortSignal): Promise<KubeAnswer> {
    const answer = await request(`${this.#url}${path}`, {
      method,
      dispatcher: this.#agent,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      headers: {
        authorization: `Bearer ${this.#token}`,
        accept: 'application/json',
        'user-agent': agent,
        'content-type': patch === undefined ? 'application/json' : `application/${patch}+json`,
        // The API server adds system:authenticated by itself.
        ...(node === undefined
          ? {}
          : { 'impersonate-user': `system:node:${node}`, 'impersonate-group': 'system:nodes' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, body: parsed(text) };
  }

  /** Ends all connections. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
