/** `make up` and `make down`: the demo's environment, running until it is stopped. */
import { spawn } from 'node:child_process';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAlive } from '../../../hack/controlplane/alive.ts';
import { ensureBinaries } from '../../../hack/controlplane/binaries.ts';
import { waitFor } from '../../../hack/controlplane/wait.ts';
import { isInside } from '../../../hack/realnode/isolation.ts';
import { serveInside, serveOutside } from './realNodeUp.ts';
import { startTestEnv } from './testEnv.ts';

const FOLDER = fileURLToPath(new URL('../../../build/up/', import.meta.url));
const STATE = join(FOLDER, 'state.json');
const LOG = join(FOLDER, 'log');

/** The state of the running environment for later commands. */
interface State {
  readonly pid: number;
  readonly kubeconfig: string;
  readonly kubectl: string;
  readonly aws: string;
  readonly metrics: string;
  readonly log: string;
}

/** Starts the environment in the background and returns when the operator is ready. */
export async function up(main: string, say: (line: string) => void): Promise<void> {
  const running = await readState();
  if (running) {
    say(`It runs already, as process ${running.pid}.`);
    printUsage(running, say);
    return;
  }
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  const log = await open(LOG, 'w');
  const child = spawn(process.execPath, [main, 'serve'], { detached: true, stdio: ['ignore', log.fd, log.fd] });
  await log.close();
  child.unref();
  say('Starting Kubernetes, a local AWS and the operator.');
  const state = await waitFor(
    async () => {
      if (child.exitCode !== null) throw new Error(`It did not start.\n${await readFile(LOG, 'utf8')}`);
      return readState();
    },
    { what: `the environment to start; see ${LOG}`, timeoutMs: 180_000, intervalMs: 200 },
  );
  printUsage(state, say);
}

/** Stops the environment and waits until it is gone. */
export async function down(say: (line: string) => void): Promise<void> {
  const state = await readState();
  if (!state) {
    say('Nothing runs.');
    return;
  }
  process.kill(state.pid, 'SIGTERM');
  await waitFor(() => !isAlive(state.pid), { what: `process ${state.pid} to exit`, timeoutMs: 60_000 });
  await rm(FOLDER, { recursive: true, force: true });
  say('Stopped.');
}

/** The background process itself: runs until SIGTERM. With NODE=real, a real node runs pods, one of which is the operator. */
export async function serveWorld(main: string, say: (line: string) => void, signal: AbortSignal): Promise<void> {
  if (isInside()) return serveInside(say, signal);
  const common = { pid: process.pid, kubectl: (await ensureBinaries(say, signal)).kubectl };
  const write = (state: State) => writeFile(STATE, JSON.stringify(state));
  if (process.env.NODE === 'real')
    return serveOutside(main, FOLDER, say, signal, (outside) => write({ ...common, ...outside }));
  const world = await startTestEnv({ log: say, signal });
  try {
    const operator = await world.operator([], { log: say }).ready();
    const port = operator.lines.find((line) => line.metricsPort !== undefined)?.metricsPort;
    await write({
      ...common,
      kubeconfig: world.controlPlane.adminKubeconfig,
      aws: world.cloud.url,
      metrics: `http://127.0.0.1:${port}/metrics`,
      log: LOG,
    });
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await operator.stop();
  } finally {
    await world.stop();
  }
}

async function readState(): Promise<State | undefined> {
  const text = await readFile(STATE, 'utf8').catch(() => undefined);
  const state: State | undefined = text && JSON.parse(text);
  return state && isAlive(state.pid) ? state : undefined;
}

function printUsage({ kubeconfig, kubectl, aws, metrics, log }: State, say: (line: string) => void): void {
  say(`
  export KUBECONFIG=${kubeconfig}
  export PATH=${join(kubectl, '..')}:$PATH
  export LOCAL_AWS=${aws}
  kubectl apply -k config/samples
  kubectl get windowspools --watch

The operator's metrics: ${metrics}
Faults of the AWS:      POST $LOCAL_AWS/_admin/NAME, see test/fakes/localaws/README.md
Its log:                ${log}
Stop it with:           make down`);
}
