/** The environment of `make up NODE=real`: it runs in namespaces of its own, and the machine reaches its API server and its AWS through relays. */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { spawnIsolated } from '../../../hack/realnode/isolation.ts';
import { relayFrom, relayTo } from '../../../hack/realnode/relay.ts';
import { downloadImageFiles, NAMESPACE, OperatorPods } from './operatorPods.ts';
import { startTestEnv } from './testEnv.ts';

/** What the processes in and outside the namespaces share: paths of sockets, and of the kubeconfig. */
interface Inside {
  readonly api: string;
  readonly aws: string;
  readonly kubeconfig: string;
}

/** How the machine reaches the environment. */
export interface Outside {
  readonly kubeconfig: string;
  readonly aws: string;
  /** What shows the metrics and the log of the operator. */
  readonly metrics: string;
  readonly log: string;
}

const POD = `kubectl --namespace ${NAMESPACE}`;
/** A name in the certificate of the API server. */
const SERVER_NAME = 'kubernetes.default.svc';
const START_TIMEOUT_MS = 600_000;

/** In the namespaces: runs the environment, with the operator in a pod, until the signal is raised. */
export async function serveInside(say: (line: string) => void, signal: AbortSignal): Promise<void> {
  const world = await startTestEnv({ log: say, realNodes: 1, signal });
  try {
    const operator = new OperatorPods();
    await operator.start(world);
    const env = [{ name: 'WINPOOL_POLL_INTERVAL', value: '1s' }];
    await operator.deploy({ container: { env } });
    const sockets = { api: join(tmpdir(), 'api'), aws: join(tmpdir(), 'aws') };
    using _api = await relayFrom(sockets.api, world.controlPlane.url);
    using _aws = await relayFrom(sockets.aws, world.cloud.url);
    process.send?.({ ...sockets, kubeconfig: world.controlPlane.adminKubeconfig } satisfies Inside);
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  } finally {
    await world.stop();
  }
}

/** On the machine: starts `main` in the namespaces, reports how to reach it, and ends it when the signal is raised. `folder` gets a kubeconfig. */
export async function serveOutside(
  main: string,
  folder: string,
  say: (line: string) => void,
  signal: AbortSignal,
  report: (outside: Outside) => Promise<void>,
): Promise<void> {
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
  await downloadImageFiles();
  const child = await spawnIsolated([main, 'serve'], { env: process.env, stdio, log: say });
  const exit = once(child, 'exit');
  const [inside]: Inside[] = await Promise.race([
    once(child, 'message', { signal: AbortSignal.any([signal, AbortSignal.timeout(START_TIMEOUT_MS)]) }),
    exit.then(() => Promise.reject(new Error('The environment did not start.'))),
  ]);
  if (!inside) throw new Error('The environment did not report its sockets.');
  using api = await relayTo(inside.api);
  using aws = await relayTo(inside.aws);
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, through(await readFile(inside.kubeconfig, 'utf8'), api.port), { mode: 0o600 });
  await report({
    kubeconfig,
    aws: `http://127.0.0.1:${aws.port}`,
    metrics: `${POD} port-forward deployment/windowspool-operator 8443`,
    log: `${POD} logs deployment/windowspool-operator`,
  });
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  child.disconnect();
  await exit;
}

/** The kubeconfig with another address of the API server, whose certificate does not have it. */
function through(kubeconfig: string, port: number): string {
  const config = parse(kubeconfig);
  for (const { cluster } of config.clusters)
    Object.assign(cluster, { server: `https://127.0.0.1:${port}`, 'tls-server-name': SERVER_NAME });
  return stringify(config);
}
