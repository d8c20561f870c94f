import type { Keeper, ProcessEnd } from './keeper.ts';
import { logTail } from './logTail.ts';
import { freePort, portTaken } from './ports.ts';
import { waitFor } from './wait.ts';

/** How a component is started, and its health check. */
export interface Start<T> {
  readonly name: string;
  readonly layer: number;
  readonly file: string;
  readonly args: (port: number) => string[];
  /** Its port, or another sign of its health; undefined while it is not healthy. */
  readonly healthy: (port: number) => Promise<T | undefined>;
  readonly timeoutMs: number;
  /** Only this port, for a restart. Default: any free port. */
  readonly port?: number;
  /** Variables in addition to those of the starter. */
  readonly env?: Readonly<Record<string, string>>;
}

const portTries = 5;

/**
 * Starts components under a keeper and waits for their health. If another process took the port in the meantime, it retries with another
 * port. If a component exits or stays unhealthy, the error quotes its log.
 */
export class Starter {
  readonly #keeper: Keeper;
  readonly #logDir: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #signal: AbortSignal | undefined;
  readonly #ends = new Map<number, ProcessEnd>();

  constructor(keeper: Keeper, logDir: string, env: Readonly<Record<string, string>>, signal?: AbortSignal) {
    this.#keeper = keeper;
    this.#logDir = logDir;
    this.#env = env;
    this.#signal = signal;
  }

  /** Must be called at every exit of a process. */
  noteEnd(end: ProcessEnd): void {
    this.#ends.set(end.pid, end);
  }

  logPath(name: string): string {
    return `${this.#logDir}/${name}.log`;
  }

  async start<T>(start: Start<T>): Promise<{ port: number; result: T }> {
    for (let attempt = 1; ; attempt++) {
      const port = start.port ?? (await freePort());
      const outcome = await this.#attempt(start, port);
      if (outcome !== 'port taken') return { port, result: outcome.result };
      if (attempt === portTries) {
        throw new Error(
          `${start.name} found its port taken ${portTries} times, at last ${port}. Free it, or start again.`,
        );
      }
    }
  }

  async #attempt<T>(start: Start<T>, port: number): Promise<{ result: T } | 'port taken'> {
    const { name, layer, file } = start;
    const log = this.logPath(name);
    const pid = await this.#keeper.start({
      name,
      file,
      args: start.args(port),
      env: { ...this.#env, ...start.env },
      log,
      layer,
    });
    const probe = async () => {
      const result = await start.healthy(port);
      const end = this.#ends.get(pid);
      if (end) return { end };
      return result === undefined ? undefined : { result };
    };
    const seen = await waitFor(probe, {
      what: `${name} to be healthy`,
      timeoutMs: start.timeoutMs,
      intervalMs: 30,
      signal: this.#signal,
      explain: () => `The end of ${log}:\n${logTail(log)}`,
    });
    if (!('end' in seen)) return seen;
    const tail = logTail(log);
    if (portTaken(tail)) return 'port taken';
    throw new Error(`${name} ended ${seen.end.how} before it was healthy. The end of ${log}:\n${tail}`);
  }
}
