import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Agent as HttpsAgent } from 'node:https';
import { type Cluster, type DispatcherOptions, HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node';

/** Where a pod finds its credentials; client-node reads the same place. */
const SERVICE_ACCOUNT_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';
/** An exec plugin such as `aws eks get-token` has this long. client-node itself waits for ever. */
const EXEC_TIMEOUT_MS = 30_000;

/** What a request needs beside its path. */
export interface Authentication {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsOptions;
}

/** The files are read at each request, so that a rotated CA or client certificate shows. */
export interface TlsOptions {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/**
 * client-node 2.0.1 makes a new agent, and so a new connection, for each request, and refuses plain http. Its credentials (tokens,
 * exec plugins, certificates) are what is wanted: this takes its TLS options where it would make the agent of them.
 */
class SharedPoolConfig extends KubeConfig {
  tls: TlsOptions = {};

  override createDispatcherOptions(
    _cluster: Cluster | null,
    options: ConstructorParameters<typeof HttpsAgent>[0],
  ): DispatcherOptions {
    this.tls = (options ?? {}) as TlsOptions;
    return { type: 'none' };
  }
}

/** The API server's address and the right to use it. */
export class Credentials {
  /** Without a trailing slash. */
  readonly server: string;
  readonly proxyUrl: string | undefined;
  /** The namespace of the context or of the pod; undefined when neither says. */
  readonly namespace: string | undefined;
  readonly #config: SharedPoolConfig;
  #pending: Promise<Authentication> | undefined;

  /** Reads a kubeconfig, or the pod's service account where no path is given. Throws with the next move when there is none. */
  constructor(kubeconfigPath: string | undefined) {
    this.#config = load(kubeconfigPath);
    const cluster = this.#config.getCurrentCluster();
    const source = kubeconfigPath ?? 'the pod';
    if (!cluster)
      throw new Error(`${source}: the current context names no cluster. Set current-context to one that does.`);
    if (cluster.proxyUrl?.startsWith('socks')) {
      throw new Error(
        `${source}: proxy-url ${cluster.proxyUrl} is a SOCKS proxy, which is not supported. Use an HTTP proxy.`,
      );
    }
    this.server = cluster.server;
    this.proxyUrl = cluster.proxyUrl;
    this.namespace = this.#config.getContextObject(this.#config.getCurrentContext())?.namespace;
  }

  /** Requests that begin together share one run of an exec plugin. */
  authenticate(): Promise<Authentication> {
    this.#pending ??= this.#authenticate().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #authenticate(): Promise<Authentication> {
    const context = new RequestContext(this.server, HttpMethod.GET);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error('the credential plugin did not answer in 30 s')), EXEC_TIMEOUT_MS);
    try {
      await Promise.race([this.#config.applySecurityAuthentication(context), late]);
    } finally {
      clearTimeout(timer);
    }
    return { headers: context.getHeaders(), tls: this.#config.tls };
  }
}

function load(kubeconfigPath: string | undefined): SharedPoolConfig {
  const config = new SharedPoolConfig();
  if (kubeconfigPath !== undefined) {
    try {
      config.loadFromFile(kubeconfigPath);
    } catch (error) {
      throw new Error(`kubeconfig ${kubeconfigPath}: ${error instanceof Error ? error.message : error}`);
    }
    return config;
  }
  if (!process.env.KUBERNETES_SERVICE_HOST || !existsSync(SERVICE_ACCOUNT_TOKEN)) {
    throw new Error('This is not a pod with a service account, and no kubeconfig is given. Pass the path of one.');
  }
  config.loadFromCluster();
  return config;
}

/**
 * The certificates of a PEM text, each as OpenSSL writes it and sorted, so that two bundles of the same authorities are the same
 * text. Throws when one cannot be read.
 */
export function normalisePem(pem: string): string {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  return certificates
    .map((certificate) => new X509Certificate(certificate).toString())
    .sort()
    .join('');
}
