/**
 * A real Kubernetes for development and tests: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and kwok instead of kubelets,
 * on free loopback ports, with its own folder. Several can run side by side.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  ApiException,
  CoreV1Api,
  Health,
  KubeConfig,
  KubernetesObjectApi,
  loadAllYaml,
  PatchStrategy,
} from '@kubernetes/client-node';
import type { Log } from '../gobuild/find.ts';
import { type Binaries, ensureBinaries } from './binaries.ts';
import { type Outcome, runCommand } from './command.ts';
import {
  apiServerArgs,
  type Component,
  controllerManagerArgs,
  etcdArgs,
  etcdClientUrl,
  kwokArgs,
  type Layout,
  layers,
  schedulerArgs,
} from './components.ts';
import { builtInUsers, type StaticUser, staticTokens } from './identities.ts';
import { Keeper, type ProcessEnd } from './keeper.ts';
import { kubeconfig, writeSecretFile } from './kubeconfig.ts';
import { lastCertificate, makeLayout } from './layout.ts';
import { logTail } from './logTail.ts';
import { Starter } from './starter.ts';
import { waitFor, withDeadline } from './wait.ts';

export type { Outcome } from './command.ts';
export type { StaticUser } from './identities.ts';

export interface ControlPlaneOptions {
  /** Folder for data, keys, logs and kubeconfigs; kept, and reused by a later start. Default: a temporary one that is deleted at the stop. */
  readonly dir?: string;
  /** Gets a line when a binary is built and when a component ends unexpectedly. */
  readonly log?: Log;
  /** More users, with a token each; see `kubeconfigForUser`. */
  readonly users?: readonly StaticUser[];
  /** Divides the time between two node heartbeats, 5 to 5.5 minutes. Default: 1. */
  readonly kwokSpeed?: number;
  /** An audit.k8s.io/v1 Policy. Default: every request at level Metadata, evictions at level Request. */
  readonly auditPolicy?: object;
  /**
   * Paths of CRDs that are created before the controllers start: the garbage collector discovers new kinds only every 30 s, and until
   * then deletes nothing that a custom resource owns.
   */
  readonly crds?: readonly string[];
  /** Aborts the start, and stops everything that already runs. */
  readonly signal?: AbortSignal;
}

export interface KubectlOptions {
  readonly stdin?: string;
  /** Path. Default: the admin's. */
  readonly kubeconfig?: string;
  /** Default: 60 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface PodCredentials {
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ControlPlane {
  /** Of the API server: `https://127.0.0.1:PORT`. */
  readonly url: string;
  /** The API server's certificate authority, PEM in base64, as in a kubeconfig. It outlives restarts of the API server. */
  readonly caData: string;
  /** Path of the kubeconfig of `admin`, a member of system:masters. */
  readonly adminKubeconfig: string;
  readonly dir: string;
  /** Path of the API server's audit log, one JSON event a line. A request has its line before it has its answer. */
  readonly auditLog: string;
  /** Process ids by name: the components that run, `supervisor` and `guard`. */
  readonly pids: Readonly<Record<string, number>>;
  /** Writes a kubeconfig for a bearer token and returns its path. */
  kubeconfigForToken(name: string, token: string): Promise<string>;
  /** The path of a kubeconfig of a built-in user (`admin`, `cloud`, `kwok`) or of one from `users`. */
  kubeconfigForUser(name: string): Promise<string>;
  /** The path of a kubeconfig with a token of the ServiceAccount from the TokenRequest API, good for a day. */
  serviceAccountKubeconfig(namespace: string, name: string): Promise<string>;
  /** The credentials of a pod with the ServiceAccount: a folder with token, ca.crt and namespace, and the environment variables with the address of the server. */
  podCredentials(namespace: string, name: string): Promise<PodCredentials>;
  /** Stops only the API server. Resolves when it has exited. */
  stopApiServer(): Promise<void>;
  /** Starts the API server again, on the same port and with the same data. Resolves when it is ready. */
  startApiServer(): Promise<void>;
  /** Runs kubectl to its end. A status other than 0 is an outcome, not an error. */
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<Outcome>;
  /** Runs kubectl to its end, and returns its output. Throws what it prints to stderr if its status is not 0. */
  kubectlOutput(args: readonly string[], options?: KubectlOptions): Promise<string>;
  /** Waits until CRDs that were applied are Established. `selection`: arguments of kubectl that select them, such as `-f FILE`. */
  waitForCrds(selection: readonly string[], signal?: AbortSignal): Promise<void>;
  /** Stops everything and deletes a temporary folder. Can be called again. */
  stop(): Promise<void>;
}

const rbacFile = fileURLToPath(new URL('rbac.yaml', import.meta.url));
const tokenSeconds = 24 * 3600;
const CRDS_TIMEOUT_MS = 60_000;

/**
 * Starts a control plane and resolves when it works: API server ready, controller manager, scheduler and kwok healthy, the default
 * ServiceAccount exists. Rejects with the end of the log of the failed component, after stopping everything.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const log = options.log ?? (() => undefined);
  const binaries = await ensureBinaries(log, options.signal);
  const { layout, temporary } = await makeLayout(options);
  let running: RunningControlPlane | undefined;
  try {
    const tokens = await staticTokens(layout.tokens, [...builtInUsers, ...(options.users ?? [])]);
    running = new RunningControlPlane(binaries, layout, tokens, { temporary, log, signal: options.signal });
    await running.start(options.crds ?? []);
    return running;
  } catch (error) {
    // The caller must get the first error.
    await running?.stop().catch((stopError: unknown) => log(String(stopError)));
    if (temporary) await rm(layout.dir, { recursive: true, force: true });
    throw error;
  }
}

interface Surroundings {
  readonly temporary: boolean;
  readonly log: Log;
  readonly signal: AbortSignal | undefined;
}

class RunningControlPlane implements ControlPlane {
  readonly #binaries: Binaries;
  readonly #layout: Layout;
  readonly #tokens: ReadonlyMap<string, string>;
  readonly #keeper: Keeper;
  readonly #starter: Starter;
  readonly #log: Log;
  /** Aborted at the stop, so that nothing waits for a stopped component. */
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;
  #etcdUrl = '';
  #port: number | undefined;
  #ca = '';

  constructor(binaries: Binaries, layout: Layout, tokens: ReadonlyMap<string, string>, around: Surroundings) {
    this.#binaries = binaries;
    this.#layout = layout;
    this.#tokens = tokens;
    this.#log = around.log;
    this.#signal = AbortSignal.any([this.#ending.signal, ...(around.signal ? [around.signal] : [])]);
    const logDir = join(layout.dir, 'logs');
    this.#keeper = new Keeper({
      log: join(logDir, 'supervisor.log'),
      remove: around.temporary ? layout.dir : '',
      onEnd: (end) => this.#noteEnd(end),
    });
    const env = { PATH: process.env.PATH ?? '', HOME: layout.dir, TMPDIR: layout.dir };
    this.#starter = new Starter(this.#keeper, logDir, env, this.#signal);
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port ?? 0}`;
  }
  get caData(): string {
    return Buffer.from(this.#ca).toString('base64');
  }
  get adminKubeconfig(): string {
    return this.#layout.kubeconfig('admin');
  }
  get dir(): string {
    return this.#layout.dir;
  }
  get auditLog(): string {
    return this.#layout.auditLog;
  }
  get pids(): Readonly<Record<string, number>> {
    return this.#keeper.pids;
  }

  async start(crds: readonly string[]): Promise<void> {
    await this.#startEtcd();
    await this.startApiServer();
    for (const user of this.#tokens.keys()) await this.kubeconfigForUser(user);
    await this.#applyRbac();
    await this.#applyCrds(crds);
    await Promise.all([
      this.#startClient('kube-controller-manager', controllerManagerArgs),
      this.#startClient('kube-scheduler', schedulerArgs),
      this.#startClient('kwok', kwokArgs),
      this.#waitForDefaultServiceAccount(),
    ]);
  }

  async startApiServer(): Promise<void> {
    const layout = this.#layout;
    const { port } = await this.#starter.start({
      ...this.#component('kube-apiserver'),
      args: (port) => apiServerArgs(layout, port, this.#etcdUrl),
      healthy: async (port) => {
        // Not written yet, or only half of it.
        const ca = await readFile(layout.serverCert, 'utf8')
          .then(lastCertificate)
          .catch(() => undefined);
        if (!ca) return undefined;
        this.#ca = ca;
        return this.#isReady(port);
      },
      ...(this.#port === undefined ? {} : { port: this.#port }),
    });
    this.#port = port;
    await writeFile(layout.ca, this.#ca);
  }

  async stopApiServer(): Promise<void> {
    await this.#keeper.stop('kube-apiserver');
  }

  async kubeconfigForToken(name: string, token: string): Promise<string> {
    const path = this.#layout.kubeconfig(name);
    await writeSecretFile(path, kubeconfig(this.url, this.caData, { name, token }));
    return path;
  }

  kubeconfigForUser(name: string): Promise<string> {
    const token = this.#tokens.get(name);
    if (!token)
      throw new Error(
        `There is no user ${name}. Known are ${[...this.#tokens.keys()].join(', ')}; add others with the option users.`,
      );
    return this.kubeconfigForToken(name, token);
  }

  async serviceAccountKubeconfig(namespace: string, name: string): Promise<string> {
    const token = await this.#token(namespace, name);
    return this.kubeconfigForToken(`${namespace}/${name}`, token);
  }

  async podCredentials(namespace: string, name: string): Promise<PodCredentials> {
    const dir = this.#layout.podCredentials(`${namespace}/${name}`);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const token = await this.#token(namespace, name);
    const files = { token, 'ca.crt': this.#ca, namespace };
    for (const [file, content] of Object.entries(files)) await writeSecretFile(join(dir, file), content);
    const { hostname, port } = new URL(this.url);
    return { dir, env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port } };
  }

  kubectl(args: readonly string[], options: KubectlOptions = {}): Promise<Outcome> {
    const { stdin, kubeconfig: config = this.adminKubeconfig, timeoutMs = 60_000, signal } = options;
    return runCommand(this.#binaries.kubectl, args, {
      env: {
        PATH: process.env.PATH,
        HOME: this.dir,
        KUBECONFIG: config,
        KUBECACHEDIR: join(this.dir, 'kubectl-cache'),
      },
      timeoutMs,
      signal,
      ...(stdin === undefined ? {} : { stdin }),
    });
  }

  async kubectlOutput(args: readonly string[], options: KubectlOptions = {}): Promise<string> {
    const { stdout, stderr, code } = await this.kubectl(args, options);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
    return stdout;
  }

  async waitForCrds(selection: readonly string[], signal: AbortSignal = this.#signal): Promise<void> {
    let lastError = '';
    const established = async () => {
      // kubectl wait gives up at once on a CRD that is so new that its conditions are still null.
      const args = ['wait', '--for=condition=Established', ...selection, '--timeout=5s'];
      const { stderr, code } = await this.kubectl(args, { signal });
      lastError = stderr.trim();
      return code === 0;
    };
    await waitFor(established, {
      what: 'the CRDs to be Established',
      timeoutMs: CRDS_TIMEOUT_MS,
      signal,
      explain: () => lastError,
    });
  }

  stop(): Promise<void> {
    this.#ending.abort(new Error('The control plane was stopped.'));
    return this.#keeper.end();
  }

  async #applyRbac(): Promise<void> {
    const api = KubernetesObjectApi.makeApiClient(this.#config());
    for (const object of loadAllYaml(await readFile(rbacFile, 'utf8')))
      await api.patch(object, undefined, undefined, 'controlplane', true, PatchStrategy.ServerSideApply);
  }

  /** From the TokenRequest API. */
  async #token(namespace: string, name: string): Promise<string> {
    const body = { spec: { audiences: [], expirationSeconds: tokenSeconds } };
    const api = this.#config().makeApiClient(CoreV1Api);
    const what = `a token of ServiceAccount ${namespace}/${name}`;
    const created = api.createNamespacedServiceAccountToken({ namespace, name, body }).catch((error: unknown) => {
      if (error instanceof ApiException && error.code === 404) return undefined;
      throw error;
    });
    const token = (await withDeadline(created, what, 10_000))?.status?.token;
    if (!token) throw new Error(`No token for ServiceAccount ${namespace}/${name}.`);
    return token;
  }

  async #applyCrds(paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const files = paths.flatMap((path) => ['-f', path]);
    await this.kubectlOutput(['apply', ...files], { signal: this.#signal });
    await this.waitForCrds(files);
  }

  async #startEtcd(): Promise<void> {
    const path = this.#starter.logPath('etcd');
    // From an earlier start in this folder, with another port.
    await rm(path, { force: true });
    const { result } = await this.#starter.start({
      ...this.#component('etcd'),
      args: () => etcdArgs(this.#layout),
      healthy: async () => etcdClientUrl(await readFile(path, 'utf8').catch(() => '')),
    });
    this.#etcdUrl = result;
  }

  async #startClient(name: Component, args: (layout: Layout, port: number) => string[]): Promise<void> {
    await this.#starter.start({
      ...this.#component(name),
      args: (port) => args(this.#layout, port),
      healthy: (port) => this.#isReady(port),
    });
  }

  #component(name: Component) {
    return { name, layer: layers[name], file: this.#binaries[name], timeoutMs: 60_000 };
  }

  async #waitForDefaultServiceAccount(): Promise<void> {
    const api = this.#config().makeApiClient(CoreV1Api);
    const account = { name: 'default', namespace: 'default' };
    await waitFor(() => api.readNamespacedServiceAccount(account).catch(() => undefined), {
      what: 'the controller manager to create the ServiceAccount default/default',
      timeoutMs: 60_000,
      signal: this.#signal,
      explain: () => logTail(this.#starter.logPath('kube-controller-manager')),
    });
  }

  /** Whether a component responds with 200 at its readyz, or at its healthz if it has no readyz; undefined while it does not. */
  async #isReady(port: number): Promise<true | undefined> {
    const health = new Health(this.#config(port));
    return (await health.readyz({ signal: AbortSignal.timeout(10_000) }).catch(() => false)) || undefined;
  }

  /** The admin's, for the API server or for another component. */
  #config(port = this.#port ?? 0): KubeConfig {
    const config = new KubeConfig();
    config.loadFromClusterAndUser(
      { name: 'local', server: `https://127.0.0.1:${port}`, caData: this.caData, skipTLSVerify: false },
      { name: 'admin', token: this.#tokens.get('admin') ?? '' },
    );
    return config;
  }

  #noteEnd(end: ProcessEnd): void {
    this.#starter.noteEnd(end);
    if (!end.asked)
      this.#log(`${end.name} ended ${end.how}. The end of its log:\n${logTail(this.#starter.logPath(end.name))}`);
  }
}
