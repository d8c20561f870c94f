/** The only module that imports client-node at run time. Load it lazily: its runtime takes 33 MB of memory. */

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Agent as HttpsAgent } from 'node:https';
import { delimiter } from 'node:path';
import { type Cluster, type DispatcherOptions, HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node';
import type { Authentication, Credentials, TlsOptions } from './authentication.ts';
import { ExpiringCache } from './expiringCache.ts';
import { impersonationHeaders, type KubeconfigOverrides, withOverrides } from './kubeconfigOverrides.ts';
import { fileProblem } from './kubernetesError.ts';

/** Time-out of an exec plugin such as `aws eks get-token`. client-node has none. */
const EXEC_TIMEOUT_MS = 30_000;
/** Of the output of a plugin. A token has a few kilobytes. */
const MOST_OUTPUT_BYTES = 1024 * 1024;

/**
 * client-node 2.0.1 creates an agent, and with it a connection, for each request, and rejects plain HTTP. Only its credentials (tokens, exec
 * plugins, certificates) are used: this captures the TLS options from which it would create the agent.
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

/** The credentials of a kubeconfig: tokens, certificates, exec plugins. Reads its files for each request, so that rotation is picked up. */
export class KubeconfigCredentials implements Credentials {
  readonly server: string;
  readonly proxyUrl: string | undefined;
  readonly namespace: string | undefined;
  readonly #config: SharedPoolConfig;
  readonly #cache = new ExpiringCache<Authentication>(1, () => 0);
  readonly #execTimeoutMs: number;
  readonly #impersonation: Authentication['headers'];

  /**
   * `source`: the path of a kubeconfig, or several as in KUBECONFIG. Throws an error that says what to do if it has no usable cluster.
   */
  constructor(
    source: string,
    {
      execTimeoutMs = EXEC_TIMEOUT_MS,
      overrides = {},
    }: { execTimeoutMs?: number; overrides?: KubeconfigOverrides | undefined } = {},
  ) {
    this.#execTimeoutMs = execTimeoutMs;
    this.#config = load(source, overrides);
    this.#impersonation = impersonationHeaders(overrides);
    boundPlugins(this.#config, execTimeoutMs);
    const cluster = this.#config.getCurrentCluster();
    if (!cluster)
      throw new Error(
        `${source}: the current context has no cluster. Set current-context to a context with a cluster.`,
      );
    if (!URL.canParse(cluster.server))
      throw new Error(
        `${source}: server ${cluster.server} of cluster ${cluster.name} is not a URL such as https://HOST:PORT. Correct it.`,
      );
    if (cluster.proxyUrl?.startsWith('socks')) {
      throw new Error(
        `${source}: proxy-url ${cluster.proxyUrl} is a SOCKS proxy, which is not supported. Use an HTTP proxy.`,
      );
    }
    this.server = cluster.server;
    this.proxyUrl = cluster.proxyUrl;
    this.namespace = this.#config.getContextObject(this.#config.getCurrentContext())?.namespace;
  }

  /** Concurrent requests share one run of an exec plugin. */
  authenticate(): Promise<Authentication> {
    return this.#cache.get('', () => this.#authenticate());
  }

  async #authenticate(): Promise<Authentication> {
    const context = new RequestContext(this.server, HttpMethod.GET);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new Error(`the exec credential plugin did not respond within ${this.#execTimeoutMs / 1_000} s`)),
      this.#execTimeoutMs,
    );
    try {
      await Promise.race([this.#config.applySecurityAuthentication(context), late]);
    } finally {
      clearTimeout(timer);
    }
    return { headers: { ...context.getHeaders(), ...this.#impersonation }, tls: this.#config.tls };
  }
}

/** The names that a kubeconfig, or several as in KUBECONFIG, has. Throws if it cannot be read. */
export function kubeconfigNames(source: string): Readonly<Record<'context' | 'cluster' | 'user', readonly string[]>> {
  const { contexts, clusters, users } = load(source, {});
  const namesOf = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name);
  return { context: namesOf(contexts), cluster: namesOf(clusters), user: namesOf(users) };
}

/** The authenticator of client-node that runs plugins. It is not exported, and has no time-out and no limit. */
interface ExecAuthenticator {
  execFn: typeof spawn;
}

/** Kills a plugin that hangs or that writes too much: nothing else would ever end it. */
function boundPlugins(config: KubeConfig, timeout: number): void {
  const { authenticators } = config as unknown as { readonly authenticators: readonly Partial<ExecAuthenticator>[] };
  const plugins = authenticators.find((one): one is ExecAuthenticator => one.execFn !== undefined);
  if (!plugins) throw new Error('client-node has no authenticator for exec plugins');
  const bounded = (command: string, args: readonly string[], options: SpawnOptions): ChildProcess => {
    const child = spawn(command, args, { ...options, timeout, killSignal: 'SIGKILL' });
    for (const stream of [child.stdout, child.stderr]) {
      let bytes = 0;
      stream?.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MOST_OUTPUT_BYTES) child.kill('SIGKILL');
      });
    }
    return child;
  };
  plugins.execFn = bounded as typeof spawn;
}

/** As kubectl reads KUBECONFIG: of several files, the first that has a name counts, and missing files are skipped. */
function load(source: string, overrides: KubeconfigOverrides): SharedPoolConfig {
  const paths = source.split(delimiter).filter((path) => path !== '');
  const existing = paths.filter((path) => existsSync(path));
  // With --server, kubectl needs no kubeconfig.
  const needed = overrides.server === undefined ? paths.slice(0, 1) : [];
  const files = (existing.length > 0 ? existing : needed).map((path) => loadFile(path));
  const config = new SharedPoolConfig();
  const parts = {
    clusters: firstOfName(files.flatMap(({ clusters }) => clusters)),
    users: firstOfName(files.flatMap(({ users }) => users)),
    contexts: firstOfName(files.flatMap(({ contexts }) => contexts)),
    currentContext: files.find(({ currentContext }) => currentContext)?.currentContext ?? '',
  };
  config.loadFromOptions(withOverrides(parts, overrides, source));
  return config;
}

function loadFile(path: string): KubeConfig {
  const config = new KubeConfig();
  try {
    config.loadFromFile(path);
  } catch (error) {
    throw new Error(`Cannot read kubeconfig ${path}: ${fileProblem(error)}. Correct the file, or choose another one.`, {
      cause: error,
    });
  }
  return config;
}

function firstOfName<T extends { readonly name: string }>(all: readonly T[]): T[] {
  return all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index);
}
