/** A real Argo CD on this machine: its components run as processes, with the ServiceAccounts and the settings of its own manifests. */
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { runCommand } from '../controlplane/command.ts';
import type { ControlPlane } from '../controlplane/controlplane.ts';
import { freePort } from '../controlplane/ports.ts';
import type { Processes } from '../controlplane/processes.ts';
import type { Log } from '../gobuild/find.ts';
import { moduleFolder } from '../gobuild/moduleFolder.ts';
import { isHealthy, startProcesses } from './processes.ts';
import { ARGO_CD, argoCdModule, argoCdPrograms } from './programs.ts';

/** Argo CD's own namespace. */
export const ARGOCD_NAMESPACE = 'argocd';

const START_TIMEOUT_MS = 60_000;
const REQUEST_TIMEOUT_MS = 20_000;
/** kwok runs no containers, so these are not installed. */
const WORKLOADS = ['Deployment', 'StatefulSet'];

/** The health of a resource or of an Application, such as `Progressing`. */
export interface Health {
  readonly status: string;
  readonly message?: string;
}

/** The fields of an Application that callers read. */
export interface Application {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly status?: {
    readonly health?: Health;
    readonly sync?: { readonly status: string; readonly revision?: string };
    readonly operationState?: {
      readonly phase: string;
      readonly message?: string;
      readonly retryCount?: number;
      readonly operation: { readonly sync?: { readonly revision?: string } };
    };
    readonly conditions?: readonly { readonly type: string; readonly message: string }[];
    /** Those that Git contains, or that are to be pruned. */
    readonly resources?: readonly { readonly kind: string; readonly name: string }[];
  };
}

/** A node of the tree of resources: also those that a controller created for a resource of Git. */
export interface TreeNode {
  readonly kind: string;
  readonly name: string;
  readonly health?: Health;
  readonly parentRefs?: readonly { readonly kind: string; readonly name: string }[];
}

export interface ArgoCdOptions {
  /** The configuration with which git reads repositories. Default: none. */
  readonly gitConfig?: string;
  readonly log?: Log;
  readonly signal?: AbortSignal;
}

interface Component {
  readonly name: string;
  /** The ServiceAccount whose permissions it has; undefined: it does not use the API server. */
  readonly account?: string;
  readonly layer: number;
  readonly args: (port: number, other: number) => readonly string[];
  /** The path of its health check on `port`, which responds with 200. */
  readonly health: string;
}

/**
 * Installs Argo CD's manifests in the cluster and starts its components: the application controller, the repo server, the ApplicationSet
 * controller, the API server without authentication, and a Redis in memory. They stop with this process at the latest.
 */
export async function startArgoCd(plane: ControlPlane, options: ArgoCdOptions = {}): Promise<ArgoCd> {
  const { gitConfig, log = () => undefined, signal } = options;
  const programs = await argoCdPrograms(log, signal);
  await install(plane);
  const start = async (processes: Processes, folder: string) =>
    new ArgoCd(plane, processes, folder, programs.argocd, await startComponents(programs, plane, processes));
  return startProcesses('argocd', (folder) => environment(folder, programs.kustomize, gitConfig), start, log, signal);
}

/** Starts Redis and the components, and returns the port of the API. */
async function startComponents(
  programs: Awaited<ReturnType<typeof argoCdPrograms>>,
  plane: ControlPlane,
  processes: Processes,
): Promise<number> {
  const ports = new Map([['redis', await startRedis(processes, programs.redis)]]);
  for (const { name, account, layer, args, health } of components(ports)) {
    const kubeconfig = account && (await plane.serviceAccountKubeconfig(ARGOCD_NAMESPACE, account));
    const other = await freePort();
    const { port } = await processes.start({
      name,
      layer,
      file: programs.argocd,
      args: (port) => [...args(port, other)],
      env: { ARGOCD_BINARY_NAME: name, ...(kubeconfig && { KUBECONFIG: kubeconfig }) },
      healthy: (port) => isHealthy(`http://127.0.0.1:${port}${health}`),
      timeoutMs: START_TIMEOUT_MS,
    });
    ports.set(name, name === 'argocd-repo-server' ? other : port);
  }
  return ports.get('argocd-server') ?? 0;
}

/** A running Argo CD. */
export class ArgoCd {
  readonly #plane: ControlPlane;
  readonly #processes: Processes;
  readonly #folder: string;
  readonly #program: string;
  /** The address of its API, which needs no login. */
  readonly #address: string;

  constructor(plane: ControlPlane, processes: Processes, folder: string, program: string, port: number) {
    this.#plane = plane;
    this.#processes = processes;
    this.#folder = folder;
    this.#program = program;
    this.#address = `127.0.0.1:${port}`;
  }

  /** Runs a command of the CLI, such as `argocd app terminate-op NAME`, and returns its output. Throws its errors. */
  async cli(command: string): Promise<string> {
    const [, ...args] = command.split(' ');
    const { stdout, stderr, code } = await runCommand(
      this.#program,
      [...args, '--server', this.#address, '--plaintext'],
      {
        env: { PATH: process.env.PATH, HOME: this.#folder, ARGOCD_BINARY_NAME: 'argocd' },
        timeoutMs: REQUEST_TIMEOUT_MS,
      },
    );
    if (code !== 0) throw new Error(`${command}: ${stderr.trim()}`);
    return stdout;
  }

  /** The log of the application controller, which contains what an Application does not show. */
  controllerLog(): Promise<string> {
    return readFile(this.#processes.logPath('argocd-application-controller'), 'utf8');
  }

  /** Registers a cluster, as `argocd cluster add` does: a Secret with its address and a token, and the labels and annotations that generators read. */
  async addCluster(
    name: string,
    cluster: ControlPlane,
    { labels = {}, annotations = {} }: { labels?: Record<string, string>; annotations?: Record<string, string> } = {},
  ): Promise<void> {
    const { users } = parse(await readFile(cluster.adminKubeconfig, 'utf8'));
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: `cluster-${name}`,
        namespace: ARGOCD_NAMESPACE,
        labels: { 'argocd.argoproj.io/secret-type': 'cluster', ...labels },
        annotations,
      },
      stringData: {
        name,
        server: cluster.url,
        config: JSON.stringify({
          bearerToken: users[0].user.token,
          tlsClientConfig: { caData: cluster.caData },
        }),
      },
    };
    await applyTo(this.#plane, stringify(secret));
  }

  /** An Application, or undefined if it does not exist. */
  async application(name: string): Promise<Application | undefined> {
    const args = ['-n', ARGOCD_NAMESPACE, 'get', 'applications.argoproj.io', name, '-o', 'json', '--ignore-not-found'];
    const text = await this.#plane.kubectlOutput(args);
    return text === '' ? undefined : JSON.parse(text);
  }

  /**
   * Compares an Application with Git now, as a webhook does; `hard` also ignores the cache of manifests. Returns the Application after the
   * comparison.
   */
  refresh(name: string, kind: 'normal' | 'hard' = 'normal'): Promise<Application> {
    return this.#ask(`applications/${name}?appNamespace=${ARGOCD_NAMESPACE}&refresh=${kind}`);
  }

  /** All resources of an Application with their health, also those that Git does not contain. */
  async tree(name: string): Promise<readonly TreeNode[]> {
    const { nodes = [] } = await this.#ask<{ nodes?: readonly TreeNode[] }>(`applications/${name}/resource-tree`);
    return nodes;
  }

  /** Stops all components. */
  stop(): Promise<void> {
    return this.#processes.end();
  }

  async #ask<T>(path: string): Promise<T> {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const response = await fetch(`http://${this.#address}/api/v1/${path}`, { signal });
    const text = await response.text();
    if (!response.ok) throw new Error(`Argo CD responded to ${path} with ${response.status}: ${text}`);
    return JSON.parse(text);
  }
}

async function applyTo(plane: ControlPlane, stdin: string): Promise<void> {
  await plane.kubectlOutput(['apply', '--server-side', '--namespace', ARGOCD_NAMESPACE, '-f', '-'], { stdin });
}

/** Applies install.yaml of Argo CD's release without the workloads, and the AppProject that its API server would create. */
async function install(plane: ControlPlane): Promise<void> {
  const manifests = parseAllDocuments(
    await readFile(join(await moduleFolder(argoCdModule, ARGO_CD), 'manifests/install.yaml'), 'utf8'),
  )
    .map((document) => document.toJS())
    .filter(({ kind }) => !WORKLOADS.includes(kind));
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ARGOCD_NAMESPACE } };
  await applyTo(plane, [namespace, ...manifests].map((object) => stringify(object)).join('---\n'));
  await plane.waitForCrds(['crds', '-l', 'app.kubernetes.io/part-of=argocd']);
}

/** HOME, and a PATH with the kustomize that the repo server runs. */
async function environment(folder: string, kustomize: string, gitConfig?: string): Promise<Record<string, string>> {
  const bin = join(folder, 'bin');
  await mkdir(bin);
  await symlink(kustomize, join(bin, 'kustomize'));
  const gitconfig = join(folder, '.gitconfig');
  await writeFile(gitconfig, `[safe]\n\tdirectory = *\n${gitConfig ? `[include]\n\tpath = ${gitConfig}\n` : ''}`);
  return {
    PATH: [bin, dirname(process.execPath), process.env.PATH ?? ''].join(delimiter),
    HOME: folder,
    TMPDIR: folder,
    // The repo server verifies signatures only if a project requires them, and would need gpg.
    ARGOCD_GPG_ENABLED: 'false',
  };
}

async function startRedis(processes: Processes, file: string): Promise<number> {
  const { port } = await processes.start({
    name: 'redis',
    layer: 0,
    file,
    args: (port) => [`127.0.0.1:${port}`],
    healthy: answers,
    timeoutMs: START_TIMEOUT_MS,
  });
  return port;
}

/** In the order of their start. `ports` gets the port of each for its clients. */
function* components(ports: ReadonlyMap<string, number>): Generator<Component> {
  const redis = () => ['--redis', `127.0.0.1:${ports.get('redis')}`];
  const repoServer = () => [
    ...['--repo-server', `127.0.0.1:${ports.get('argocd-repo-server')}`],
    '--repo-server-plaintext',
  ];
  yield {
    name: 'argocd-repo-server',
    layer: 1,
    args: (port, other) => [
      ...redis(),
      '--disable-tls',
      ...['--address', '127.0.0.1', '--port', `${other}`],
      ...['--metrics-address', '127.0.0.1', '--metrics-port', `${port}`],
    ],
    health: '/healthz',
  };
  yield {
    name: 'argocd-server',
    account: 'argocd-server',
    layer: 2,
    args: (port, other) => [
      ...[...redis(), ...repoServer()],
      ...['--insecure', '--disable-auth', '--namespace', ARGOCD_NAMESPACE],
      ...['--address', '127.0.0.1', '--port', `${port}`],
      ...['--metrics-address', '127.0.0.1', '--metrics-port', `${other}`],
    ],
    health: '/healthz',
  };
  yield {
    name: 'argocd-application-controller',
    account: 'argocd-application-controller',
    layer: 2,
    args: (port) => [
      ...[...redis(), ...repoServer()],
      ...['--namespace', ARGOCD_NAMESPACE, '--metrics-port', `${port}`],
    ],
    health: '/healthz',
  };
  yield {
    name: 'argocd-applicationset-controller',
    account: 'argocd-applicationset-controller',
    layer: 2,
    args: (port, other) => [
      ...['--argocd-repo-server', `127.0.0.1:${ports.get('argocd-repo-server')}`, '--repo-server-plaintext'],
      ...['--namespace', ARGOCD_NAMESPACE],
      ...['--probe-addr', `127.0.0.1:${other}`, '--metrics-addr', `127.0.0.1:${port}`, '--webhook-addr', '127.0.0.1:0'],
    ],
    // It has no health check.
    health: '/metrics',
  };
}

/** Whether a server accepts connections on a loopback port. */
function answers(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (open: true | undefined) => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => end(true)).once('error', () => end(undefined));
  });
}
