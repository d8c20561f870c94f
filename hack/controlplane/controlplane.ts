/**
 * A real Kubernetes for development and tests: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and kwok instead of kubelets,
 * on free loopback ports, with its own folder. Several can run side by side.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
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
  layers,
  schedulerArgs,
} from './components.ts';
import { kubeconfig, writeSecretFile } from './kubeconfig.ts';
import { type Layout, makeLayout, type User } from './layout.ts';
import { Processes } from './processes.ts';
import { waitFor, withDeadline } from './wait.ts';

export type { Outcome } from './command.ts';

export interface ControlPlaneOptions {
  /** Gets a line when a binary is built and when a component ends unexpectedly. */
  readonly log?: Log;
  /** Divides the time between two node heartbeats, 5 to 5.5 minutes. Default: 1. */
  readonly kwokSpeed?: number;
  /** An audit.k8s.io/v1 Policy. Default: every request at level Metadata, evictions at level Request. */
  readonly auditPolicy?: object;
  /**
   * Paths of CRDs that are created before the controllers start: the garbage collector discovers new kinds only every 30 s, and until
   * then deletes nothing that a custom resource owns.
   */
  readonly crds?: readonly string[];
  /** The address of the API server, which pods call on real nodes (hack/realnode). Default: 127.0.0.1. */
  readonly address?: string;
  /** Aborts the start, and stops everything that already runs. */
  readonly signal?: AbortSignal;
}

export interface KubectlOptions {
  readonly stdin?: string;
  /** Path. Default: the admin's. */
  readonly kubeconfig?: string;
  /** More environment variables. */
  readonly env?: NodeJS.ProcessEnv;
  /** Default: 60 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface PodCredentials {
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
}

const RBAC_FILE = fileURLToPath(new URL('rbac.yaml', import.meta.url));
const TOKEN_SECONDS = 24 * 3600;
const START_TIMEOUT_MS = 60_000;
const CRDS_TIMEOUT_MS = 60_000;

/**
 * Starts a control plane and resolves when it works: API server ready, controller manager, scheduler and kwok healthy, the default
 * ServiceAccount exists. Rejects with the end of the log of the failed component, after stopping everything.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const log = options.log ?? (() => undefined);
  const binaries = await ensureBinaries(log, options.signal);
  const plane = new ControlPlane(binaries, await makeLayout(options), log, options.signal);
  try {
    await plane.start(options.crds ?? []);
    return plane;
  } catch (error) {
    // The caller must get the first error.
    await plane.stop().catch((stopError: unknown) => log(String(stopError)));
    throw error;
  }
}

/** A running control plane: see {@link startControlPlane}. */
export class ControlPlane {
  readonly #binaries: Binaries;
  readonly #layout: Layout;
  readonly #processes: Processes;
  /** Aborted at the stop, so that nothing waits for a stopped component. */
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;
  #etcdUrl = '';
  #port: number | undefined;
  #ca = '';

  constructor(binaries: Binaries, layout: Layout, log: Log, signal: AbortSignal | undefined) {
    this.#binaries = binaries;
    this.#layout = layout;
    this.#signal = AbortSignal.any([this.#ending.signal, ...(signal ? [signal] : [])]);
    this.#processes = new Processes({
      logDir: layout.logs,
      remove: layout.dir,
      env: { PATH: process.env.PATH ?? '', HOME: layout.dir, TMPDIR: layout.dir },
      log,
      signal: this.#signal,
    });
  }

  /** Of the API server: `https://ADDRESS:PORT`. */
  get url(): string {
    return `https://${this.#layout.address}:${this.#port ?? 0}`;
  }
  /** The API server's certificate authority, PEM in base64, as in a kubeconfig. It outlives restarts of the API server. */
  get caData(): string {
    return Buffer.from(this.#ca).toString('base64');
  }
  /** Path of the kubeconfig of `admin`, a member of system:masters. */
  get adminKubeconfig(): string {
    return this.#layout.kubeconfig('admin');
  }
  /** The temporary folder with all its files. */
  get dir(): string {
    return this.#layout.dir;
  }
  /** Path of the API server's audit log, one JSON event a line. A request has its line before it has its answer. */
  get auditLog(): string {
    return this.#layout.auditLog;
  }
  /** Process IDs by name: the components that run, and `guard`. */
  get pids(): Readonly<Record<string, number>> {
    return this.#processes.pids;
  }

  /** Starts the components, and creates CRDs before the controllers start. */
  async start(crds: readonly string[]): Promise<void> {
    await this.#startEtcd();
    await this.startApiServer();
    for (const user of Object.keys(this.#layout.tokens) as User[]) await this.kubeconfigForUser(user);
    await this.#applyRbac();
    await this.#applyCrds(crds);
    await Promise.all([this.#startControllers(), this.#waitForDefaultServiceAccount()]);
  }

  /**
   * Stops all components, runs `change` with the folder in which etcd stores everything, and starts them again: how a backup of etcd is taken, and
   * restored. Ports and tokens stay the same.
   */
  async withoutEtcd(change: (dataDir: string) => Promise<void>): Promise<void> {
    const byLayer = (Object.keys(layers) as Component[]).sort((a, b) => layers[b] - layers[a]);
    for (const name of byLayer) await this.#processes.stop(name);
    await change(join(this.#layout.dir, 'etcd'));
    await this.#startEtcd();
    await this.startApiServer();
    await this.#startControllers();
  }

  /** Starts the API server again, on the same port and with the same data. Resolves when it is ready. */
  async startApiServer(): Promise<void> {
    const layout = this.#layout;
    const { port } = await this.#processes.start({
      ...this.#component('kube-apiserver'),
      args: (port) => apiServerArgs(layout, port, this.#etcdUrl),
      healthy: async (port) => {
        // The last certificate in its file is the authority that signed the first. Not written yet, or only half of it: not ready.
        const certificates = await readFile(layout.serverCert, 'utf8').catch(() => '');
        this.#ca = certificates.slice(certificates.lastIndexOf('-----BEGIN CERTIFICATE-----'));
        return this.#isReady(port);
      },
      ...(this.#port === undefined ? {} : { port: this.#port }),
    });
    this.#port = port;
    await writeFile(layout.ca, this.#ca);
  }

  /** Stops only the API server. Resolves when it has exited. */
  async stopApiServer(): Promise<void> {
    await this.#processes.stop('kube-apiserver');
  }

  /** Writes a kubeconfig for a bearer token and returns its path. */
  async kubeconfigForToken(name: string, token: string): Promise<string> {
    const path = this.#layout.kubeconfig(name);
    await writeSecretFile(path, kubeconfig(this.url, this.caData, { name, token }));
    return path;
  }

  /** The path of a kubeconfig of a user. */
  kubeconfigForUser(name: User): Promise<string> {
    return this.kubeconfigForToken(name, this.#layout.tokens[name]);
  }

  /** The path of a kubeconfig with a token of the ServiceAccount from the TokenRequest API, good for a day. */
  async serviceAccountKubeconfig(namespace: string, name: string): Promise<string> {
    const token = await this.#token(namespace, name);
    return this.kubeconfigForToken(`${namespace}/${name}`, token);
  }

  /** The credentials of a pod with the ServiceAccount: a folder with token, ca.crt and namespace, and the environment variables with the address of the server. */
  async podCredentials(namespace: string, name: string): Promise<PodCredentials> {
    const dir = this.#layout.podCredentials(`${namespace}/${name}`);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const token = await this.#token(namespace, name);
    const files = { token, 'ca.crt': this.#ca, namespace };
    for (const [file, content] of Object.entries(files)) await writeSecretFile(join(dir, file), content);
    const { hostname, port } = new URL(this.url);
    return { dir, env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port } };
  }

  /** Runs kubectl to its end. A status other than 0 is an outcome, not an error. */
  kubectl(args: readonly string[], options: KubectlOptions = {}): Promise<Outcome> {
    const { stdin, kubeconfig: config = this.adminKubeconfig, env = {}, timeoutMs = 60_000, signal } = options;
    return runCommand(this.#binaries.kubectl, args, {
      env: {
        PATH: process.env.PATH,
        HOME: this.dir,
        KUBECONFIG: config,
        KUBECACHEDIR: join(this.dir, 'kubectl-cache'),
        ...env,
      },
      timeoutMs,
      signal,
      ...(stdin === undefined ? {} : { stdin }),
    });
  }

  /** Runs kubectl to its end, and returns its output. Throws what it prints to stderr if its status is not 0. */
  async kubectlOutput(args: readonly string[], options: KubectlOptions = {}): Promise<string> {
    const { stdout, stderr, code } = await this.kubectl(args, options);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
    return stdout;
  }

  /** Waits until CRDs that were applied are Established. `selection`: arguments of kubectl that select them, such as `-f FILE`. */
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

  /** Stops everything and deletes the folder. Can be called again. */
  stop(): Promise<void> {
    this.#ending.abort(new Error('The control plane was stopped.'));
    return this.#processes.end();
  }

  async #applyRbac(): Promise<void> {
    const api = KubernetesObjectApi.makeApiClient(this.#config());
    for (const object of loadAllYaml(await readFile(RBAC_FILE, 'utf8')))
      await api.patch(object, undefined, undefined, 'controlplane', true, PatchStrategy.ServerSideApply);
  }

  /** From the TokenRequest API. */
  async #token(namespace: string, name: string): Promise<string> {
    const body = { spec: { audiences: [], expirationSeconds: TOKEN_SECONDS } };
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

  async #startControllers(): Promise<void> {
    await Promise.all([
      this.#startClient('kube-controller-manager', controllerManagerArgs),
      this.#startClient('kube-scheduler', schedulerArgs),
      this.#startClient('kwok', kwokArgs),
    ]);
  }

  async #startEtcd(): Promise<void> {
    const log = this.#processes.logPath('etcd');
    const logged = (await readFile(log, 'utf8').catch(() => '')).length;
    const { result } = await this.#processes.start({
      ...this.#component('etcd'),
      args: () => etcdArgs(this.#layout),
      healthy: async () => etcdClientUrl((await readFile(log, 'utf8')).slice(logged)),
    });
    this.#etcdUrl = result;
  }

  async #startClient(name: Component, args: (layout: Layout, port: number) => string[]): Promise<void> {
    await this.#processes.start({
      ...this.#component(name),
      args: (port) => args(this.#layout, port),
      healthy: (port) => this.#isReady(port),
    });
  }

  #component(name: Component) {
    return { name, layer: layers[name], file: this.#binaries[name], timeoutMs: START_TIMEOUT_MS };
  }

  async #waitForDefaultServiceAccount(): Promise<void> {
    const api = this.#config().makeApiClient(CoreV1Api);
    const account = { name: 'default', namespace: 'default' };
    await waitFor(() => api.readNamespacedServiceAccount(account).catch(() => undefined), {
      what: 'the controller manager to create the ServiceAccount default/default',
      timeoutMs: START_TIMEOUT_MS,
      signal: this.#signal,
      explain: () => this.#processes.logTail('kube-controller-manager'),
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
      { name: 'local', server: `https://${this.#layout.address}:${port}`, caData: this.caData, skipTLSVerify: false },
      { name: 'admin', token: this.#layout.tokens.admin },
    );
    return config;
  }
}
