/** Starts the processes of Argo CD and Flux. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Processes } from '../controlplane/processes.ts';
import type { Log } from '../gobuild/find.ts';

const HEALTH_TIMEOUT_MS = 5_000;

/**
 * Starts processes in a temporary folder and returns what `start` returns; if it fails, all processes are stopped. The folder is removed
 * when they have exited. `name` is part of its name, and it has the logs; `environment` gets its path.
 */
export async function startProcesses<T>(
  name: string,
  environment: (folder: string) => Promise<Readonly<Record<string, string>>>,
  start: (processes: Processes, folder: string) => Promise<T>,
  log: Log,
  signal?: AbortSignal,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), `windowspool-${name}-`));
  let processes: Processes | undefined;
  try {
    processes = new Processes({ logDir: folder, remove: folder, env: await environment(folder), log, signal });
    return await start(processes, folder);
  } catch (error) {
    await (processes?.end() ?? rm(folder, { recursive: true })).catch((cause: unknown) => log(String(cause)));
    throw error;
  }
}

/** Whether a URL responds with 200, as a check of the health of a process. */
export async function isHealthy(url: string): Promise<true | undefined> {
  const response = await fetch(url, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) }).catch(() => undefined);
  await response?.body?.cancel();
  return response?.ok ? true : undefined;
}
