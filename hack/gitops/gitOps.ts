/** Argo CD, a Git repository, and clusters with operators, set up as docs/how-to/argocd.md describes. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { blocksOf } from '../../test/docs/markdown.ts';
import { startTestEnv, type TestEnv } from '../../test/fakes/testenv/testEnv.ts';
import { waitFor } from '../controlplane/wait.ts';
import type { Log } from '../gobuild/find.ts';
import { type Application, type ArgoCd, startArgoCd } from './argoCd.ts';
import { GitRepository } from './gitRepository.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The pool that config/samples contains. */
export const POOL = 'web';
const POOL_FILE = 'config/samples/windowspool.yaml';
const CLUSTER_FOLDER = 'config/argocd/cluster';
const TIMEOUT_MS = 90_000;
const POLL_MS = 50;

/** Starts a cluster without the operator's manifests, which Argo CD installs. */
export function startCluster(clusterName: string, log: Log, signal?: AbortSignal): Promise<TestEnv> {
  return startTestEnv({ clusterName, bare: true, speed: 4, log, ...(signal && { signal }) });
}

/** Argo CD in the first cluster. */
export class GitOps implements AsyncDisposable {
  readonly world: TestEnv;
  readonly argo: ArgoCd;
  readonly repository: GitRepository;

  private constructor(world: TestEnv, argo: ArgoCd, repository: GitRepository) {
    this.world = world;
    this.argo = argo;
    this.repository = repository;
  }

  static async start(world: TestEnv, log: Log, signal?: AbortSignal): Promise<GitOps> {
    const repository = await GitRepository.create();
    try {
      const { GIT_CONFIG_GLOBAL: gitConfig } = await repository.asPublished(`v${manifest.version}`);
      const options = { log, ...(gitConfig && { gitConfig }), ...(signal && { signal }) };
      return new GitOps(world, await startArgoCd(world.controlPlane, options), repository);
    } catch (error) {
      await repository.remove();
      throw error;
    }
  }

  /** Runs the command of docs/how-to/argocd.md that adds the settings for pools to Argo CD. */
  async applySettings(): Promise<void> {
    const page = await readFile(`${ROOT}docs/how-to/argocd.md`, 'utf8');
    const [block] = blocksOf(page).filter(({ text }) => text.includes('argocd-cm'));
    const [command = '', ...args] = (block?.text ?? '').trim().split(/\s+/);
    if (command !== 'kubectl') throw new Error(`docs/how-to/argocd.md has another command: ${block?.text}`);
    await this.world.kubectl(...args.map((arg) => (arg.startsWith('config/') ? `${ROOT}${arg}` : arg)));
  }

  /** Registers a cluster for config/argocd/applicationset.yaml. */
  async register(name: string, { controlPlane }: TestEnv): Promise<void> {
    const labels = { windows: 'true' };
    await this.argo.addCluster(name, controlPlane, { labels, annotations: { region: 'eu-west-1' } });
  }

  /** Applies config/argocd/applicationset.yaml with the URL of the repository. */
  async applyApplicationSet(): Promise<void> {
    const set = parse(await readFile(`${ROOT}config/argocd/applicationset.yaml`, 'utf8'));
    set.spec.template.spec.source.repoURL = this.repository.url;
    await this.world.apply(set);
  }

  /** Adds the workload of config/samples as the third wave. */
  async addWorkload(): Promise<void> {
    const [deployment, ...others] = (await this.repository.read('config/samples/deployment.yaml'))
      .split(/^---\n/m)
      .map((text) => parse(text));
    for (const object of [deployment, ...others]) object.metadata.annotations = { 'argocd.argoproj.io/sync-wave': '2' };
    const text = [deployment, ...others].map((object) => stringify(object)).join('---\n');
    await this.repository.write(`${CLUSTER_FOLDER}/workload.yaml`, text);
    await this.repository.edit(`${CLUSTER_FOLDER}/kustomization.yaml`, (text) =>
      text.replace('  - ../../samples\n', '  - ../../samples\n  - workload.yaml\n'),
    );
    await this.repository.commit('Add the workload');
  }

  /** Changes the spec of the pool in Git, and returns the hash of the commit. */
  async commitPool(subject: string, change: (spec: PoolSpec) => void): Promise<string> {
    await this.repository.edit(POOL_FILE, (text) => {
      const pool = parse(text);
      change(pool.spec);
      return stringify(pool);
    });
    return this.repository.commit(subject);
  }

  /** Waits until a predicate is true for an Application. */
  waitForApplication(
    name: string,
    what: string,
    predicate: (application: Application) => boolean | Promise<boolean>,
    timeoutMs = TIMEOUT_MS,
  ): Promise<Application> {
    let last: Application | undefined;
    return waitFor(
      async () => {
        last = await this.argo.application(name);
        return last && (await predicate(last)) && last;
      },
      {
        what: `Application ${name} ${what}`,
        timeoutMs,
        intervalMs: 200,
        explain: () =>
          [JSON.stringify(last?.status, null, 1), ...this.world.operators.map((operator) => operator.tail())].join(
            '\n',
          ),
      },
    );
  }

  /** Waits until an Application is Synced and Healthy. */
  synced(name: string, what = 'to be Synced and Healthy'): Promise<Application> {
    return this.waitForApplication(name, what, isSynced);
  }

  /** The health of the pool as Argo CD shows it, such as `Progressing: EKS is creating node group web.` */
  async poolHealth(application: string, pool = POOL): Promise<string> {
    const nodes = await this.argo.tree(application);
    const { health } = nodes.find(({ kind, name }) => kind === 'WindowsPool' && name === pool) ?? {};
    return health ? [health.status, ...(health.message ? [health.message] : [])].join(': ') : 'none';
  }

  /** Waits until Argo CD shows this health of the pool. */
  async waitForPoolHealth(application: string, expected: RegExp): Promise<string> {
    let last = '';
    return waitFor(
      async () => {
        last = await this.poolHealth(application);
        return expected.test(last) && last;
      },
      { what: `Argo CD to show ${expected}`, timeoutMs: TIMEOUT_MS, intervalMs: 200, explain: () => last },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.argo.stop();
    } finally {
      await this.repository.remove();
    }
  }
}

/** Whether an Application is Synced and Healthy. */
export function isSynced({ status }: Application): boolean {
  return status?.sync?.status === 'Synced' && status.health?.status === 'Healthy';
}

/** The fields of a pool that the tests change in Git. */
export interface PoolSpec {
  nodeGroup: { subnets: readonly object[]; scaling: { minSize?: number; maxSize?: number; desiredSize?: number } };
  labels?: Record<string, string>;
  paused?: boolean;
  deletionPolicy?: string;
}

/** Starts an operator as soon as Argo CD has installed its ServiceAccount and its permissions. */
export async function startInstalledOperator(world: TestEnv): Promise<void> {
  const found = (...args: readonly string[]) =>
    world.kubectl('get', ...args, '--ignore-not-found', '-o', 'name').catch(() => '');
  await waitFor(
    async () =>
      (await found('serviceaccount', 'windowspool-operator', '-n', 'winpool-system')) !== '' &&
      (await found('clusterrolebinding', 'windowspool-operator')) !== '' &&
      (await found('crd', 'windowspools.winpool.dev')) !== '',
    { what: 'Argo CD to install the operator', timeoutMs: TIMEOUT_MS, intervalMs: 200 },
  );
  await world.login();
  await world.operator(['--poll-interval=300ms', '--retry-base=50ms', '--retry-max=1s', '--leader-elect=true']).ready();
}

/** Records the distinct values of a function, one after another, until it is disposed. */
export class Recording implements AsyncDisposable {
  readonly #read: () => Promise<string>;
  readonly #ending = new AbortController();
  readonly #seen: string[] = [];
  readonly #done: Promise<void>;

  constructor(read: () => Promise<string>) {
    this.#read = read;
    this.#done = this.#poll();
  }

  /** Stops, and returns the values up to now. */
  async values(): Promise<readonly string[]> {
    await this[Symbol.asyncDispose]();
    await this.#once();
    return this.#seen;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#done;
  }

  async #poll(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      await this.#once();
      await sleep(POLL_MS, undefined, { signal: this.#ending.signal }).catch(() => undefined);
    }
  }

  async #once(): Promise<void> {
    // The API server of Argo CD does not know the Application at first.
    const value = await this.#read().catch(() => undefined);
    if (value !== undefined && value !== this.#seen.at(-1)) this.#seen.push(value);
  }
}
