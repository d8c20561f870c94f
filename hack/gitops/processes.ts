/** Starts and stops the processes of Argo CD and Flux. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../controlplane/command.ts';
import { Keeper } from '../controlplane/keeper.ts';
import { logTail } from '../controlplane/logTail.ts';
import { Starter } from '../controlplane/starter.ts';
import type { Log } from '../gobuild/find.ts';
import type { GoModule } from '../gobuild/program.ts';

const HEALTH_TIMEOUT_MS = 5_000;
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;

/** Starts processes in a temporary folder, which is removed when they have exited. They exit with this process at the latest. */
export class Processes {
  readonly #keeper: Keeper;
  readonly folder: string;
  readonly starter: Starter;

  /**
   * Returns what `start` returns; if it fails, all processes are stopped, and the folder is removed. `name` is part of the name of the folder;
   * `environment` gets its path. `log` gets a line when a process exits unexpectedly.
   */
  static async create<T>(
    name: string,
    environment: (folder: string) => Promise<Readonly<Record<string, string>>>,
    start: (processes: Processes) => Promise<T>,
    log: Log,
    signal?: AbortSignal,
  ): Promise<T> {
    const folder = await mkdtemp(join(tmpdir(), `windowspool-${name}-`));
    let processes: Processes | undefined;
    try {
      processes = new Processes(folder, await environment(folder), log, signal);
      return await start(processes);
    } catch (error) {
      await (processes?.end() ?? rm(folder, { recursive: true })).catch((cause: unknown) => log(String(cause)));
      throw error;
    }
  }

  private constructor(folder: string, environment: Readonly<Record<string, string>>, log: Log, signal?: AbortSignal) {
    this.folder = folder;
    this.#keeper = new Keeper({
      log: join(folder, 'supervisor.log'),
      remove: folder,
      onEnd: (end) => {
        this.starter.noteEnd(end);
        if (!end.asked) log(`${end.name} ended ${end.how}. The end of its log:\n${logTail(this.logOf(end.name))}`);
      },
    });
    this.starter = new Starter(this.#keeper, folder, environment, signal);
  }

  /** The path of the log of a process. */
  logOf(name: string): string {
    return this.starter.logPath(name);
  }

  /** Stops all processes. */
  end(): Promise<void> {
    return this.#keeper.end();
  }
}

/** Whether a URL responds with 200, for a starter. */
export async function isHealthy(url: string): Promise<true | undefined> {
  const response = await fetch(url, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) }).catch(() => undefined);
  await response?.body?.cancel();
  return response?.ok ? true : undefined;
}

/** The folder with the sources of a module, which Go downloads if needed. Without `sum`, its digest is in the go.sum of `from`. */
export async function moduleFolder(
  from: GoModule,
  module: string,
  { sum, signal }: { readonly sum?: string; readonly signal?: AbortSignal | undefined } = {},
): Promise<string> {
  const { stdout, stderr, code } = await runCommand('go', ['mod', 'download', '-json', module], {
    cwd: from.dir,
    env: { ...process.env, GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local', GOWORK: 'off' },
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
    signal,
  });
  if (code !== 0) throw new Error(`go mod download ${module} exited with status ${code}: ${stderr}${stdout}`);
  const { Dir, Sum } = JSON.parse(stdout);
  if (sum !== undefined && Sum !== sum) throw new Error(`${module} has the digest ${Sum}, expected ${sum}.`);
  return Dir;
}
