import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, portTaken } from './ports.ts';
import { waitFor, withDeadline } from './wait.ts';

/** A process, and its health check. */
export interface ProcessSpec<T> {
  readonly name: string;
  readonly file: string;
  readonly args: (port: number) => readonly string[];
  /** Variables in addition to those of all processes. */
  readonly env?: Readonly<Record<string, string>>;
  /** Processes of a higher layer are stopped before those of a lower one, those of one layer at the same time. */
  readonly layer: number;
  /** Its port, or another sign of its health; undefined while it is not healthy. */
  readonly healthy: (port: number) => Promise<T | undefined>;
  readonly timeoutMs: number;
  /** Only this port, for a restart. Default: any free port. */
  readonly port?: number;
}

/** The settings of all processes of a {@link Processes}. */
export interface ProcessesOptions {
  /** Folder for their logs. */
  readonly logDir: string;
  /** Temporary folder, which is deleted when all have exited. */
  readonly remove: string;
  /** Their environment variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Gets a line when a process exits that was not stopped. */
  readonly log: (line: string) => void;
  /** Aborts starts. */
  readonly signal?: AbortSignal | undefined;
}

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly layer: number;
  readonly exited: Promise<void>;
  isStopping: boolean;
  /** How it exited, such as `with status 1`. */
  exit?: string;
}

const GUARD = fileURLToPath(new URL('guard.sh', import.meta.url));
const PORT_TRIES = 5;
/** Between SIGTERM and SIGKILL. */
const GRACE_MS = 5_000;
const GUARD_TIMEOUT_MS = 30_000;

/**
 * Processes that exit with this one in any case.
 *
 *     this process ──▶ etcd, kube-apiserver, ...
 *          └──pipe──▶ guard.sh
 *
 * When this process exits in any way, its end of the pipe closes, and the guard kills the others. Ctrl-C in a terminal reaches only this
 * process, because each of the others leads its own session. They do not keep the event loop alive, so a program that forgets to call
 * `end` still exits.
 */
export class Processes {
  readonly #options: ProcessesOptions;
  readonly #guard: ChildProcess & { readonly stdin: Socket };
  readonly #running = new Map<string, Running>();
  #ending: Promise<void> | undefined;

  constructor(options: ProcessesOptions) {
    this.#options = options;
    const guard = spawn('/bin/sh', [GUARD, options.remove], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    // On POSIX, Node's pipes are sockets.
    this.#guard = guard as typeof guard & { stdin: Socket };
    this.#guard.stdin.on('error', () => undefined).unref();
    guard.unref();
  }

  /** Process IDs by name, with that of the guard. */
  get pids(): Readonly<Record<string, number>> {
    const running = [...this.#running].map(([name, { pid }]) => [name, pid] as const);
    return Object.fromEntries([...running, ['guard', this.#guard.pid ?? 0]]);
  }

  logPath(name: string): string {
    return join(this.#options.logDir, `${name}.log`);
  }

  /** The last lines of the log of a process. */
  logTail(name: string, lines = 15): string {
    return readFileSync(this.logPath(name), 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  }

  /**
   * Starts a process and waits for its health. If another process took the port in the meantime, it retries with another port. If the
   * process exits or stays unhealthy, the error quotes its log.
   */
  async start<T>(spec: ProcessSpec<T>): Promise<{ port: number; result: T }> {
    for (let attempt = 1; ; attempt++) {
      const port = spec.port ?? (await freePort());
      const outcome = await this.#attempt(spec, port);
      if (outcome !== 'port taken') return { port, ...outcome };
      if (attempt === PORT_TRIES)
        throw new Error(`${spec.name} found its port taken ${PORT_TRIES} times, at last ${port}. Start again.`);
    }
  }

  async #attempt<T>(spec: ProcessSpec<T>, port: number): Promise<{ result: T } | 'port taken'> {
    const { name, healthy, timeoutMs } = spec;
    const running = this.#spawn(spec, port);
    const probe = async () => {
      const result = await healthy(port);
      if (running.exit) return 'exited';
      return result === undefined ? undefined : { result };
    };
    const logEnd = () => `The end of ${this.logPath(name)}:\n${this.logTail(name)}`;
    const seen = await waitFor(probe, {
      what: `${name} to be healthy`,
      timeoutMs,
      intervalMs: 30,
      signal: this.#options.signal,
      explain: logEnd,
    });
    if (seen !== 'exited') return seen;
    if (portTaken(this.logTail(name))) return 'port taken';
    throw new Error(`${name} exited ${running.exit} before it was healthy. ${logEnd()}`);
  }

  #spawn({ name, file, args, env, layer }: ProcessSpec<unknown>, port: number): Running {
    if (this.#ending !== undefined) throw new Error(`${name} cannot start: the processes are being stopped.`);
    if (this.#running.has(name)) throw new Error(`${name} already runs.`);
    const log = openSync(this.logPath(name), 'a');
    // The shell sends its process ID to the guard and then becomes the process, without the pipe.
    const child = spawn('/bin/sh', ['-c', 'echo "+ $$" >&3 && exec "$@" 3>&-', name, file, ...args(port)], {
      detached: true,
      env: { ...this.#options.env, ...env },
      stdio: ['ignore', log, log, this.#guard.stdin],
    });
    closeSync(log);
    child.unref();
    const { pid } = child;
    if (pid === undefined) throw new Error(`${name} cannot start: no process could be created.`);
    const exited = new Promise<void>((resolve) => {
      child.once('exit', (code, signal) => {
        running.exit = signal ? `by ${signal}` : `with status ${code}`;
        this.#running.delete(name);
        this.#guard.stdin.write(`- ${pid}\n`);
        if (!running.isStopping)
          this.#options.log(`${name} exited ${running.exit}. The end of its log:\n${this.logTail(name)}`);
        resolve();
      });
    });
    const running: Running = { child, pid, layer, exited, isStopping: false };
    this.#running.set(name, running);
    return running;
  }

  /** Stops a process, first with SIGTERM. Resolves when it has exited, or if it does not run. */
  async stop(name: string): Promise<void> {
    const running = this.#running.get(name);
    if (!running) return;
    running.isStopping = true;
    running.child.kill('SIGTERM');
    const kill = setTimeout(() => running.child.kill('SIGKILL'), GRACE_MS);
    await running.exited;
    clearTimeout(kill);
  }

  /** Stops all processes, upper layers first, and deletes the temporary folder. Can be called again. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const layers = [...new Set([...this.#running.values()].map(({ layer }) => layer))].sort((a, b) => b - a);
    for (const layer of layers) {
      const names = [...this.#running].filter(([, running]) => running.layer === layer).map(([name]) => name);
      await Promise.all(names.map((name) => this.stop(name)));
    }
    if (this.#guard.exitCode !== null || this.#guard.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => this.#guard.once('exit', () => resolve()));
    this.#guard.stdin.end();
    await withDeadline(gone, 'the guard of the processes to exit', GUARD_TIMEOUT_MS);
  }
}
