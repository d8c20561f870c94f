import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { isAlive } from './alive.ts';
import { type Message, type ProcessSpec, type Request, readLines } from './protocol.ts';
import { waitFor, withDeadline } from './wait.ts';

/** The exit of a process. `asked` is false if it was not stopped. */
export interface ProcessEnd {
  readonly name: string;
  readonly pid: number;
  readonly how: string;
  readonly asked: boolean;
}

type Reply = Extract<Message, { kind: 'reply' }>;

export interface KeeperOptions {
  /** File for errors of the supervisor. */
  readonly log: string;
  /** Folder to delete when all processes have exited, or empty. */
  readonly remove: string;
  readonly onEnd: (end: ProcessEnd) => void;
}

const replyTimeoutMs = 15_000;
const endTimeoutMs = 30_000;

/**
 * Runs processes that exit with this one in any case: see supervisor.ts. It does not keep the event loop alive, so a program that forgets
 * to call `end` still exits, and its processes with it.
 */
export class Keeper {
  readonly #supervisor: ChildProcessByStdio<Socket, Socket, null>;
  readonly #gone: Promise<void>;
  readonly #replies = new Map<number, (reply: Reply) => void>();
  readonly #pids = new Map<string, number>();
  #lastId = 0;

  constructor(options: KeeperOptions) {
    const log = openSync(options.log, 'a');
    const supervisor = spawn(
      process.execPath,
      [fileURLToPath(new URL('supervisor.ts', import.meta.url)), JSON.stringify({ remove: options.remove })],
      { detached: true, stdio: ['pipe', 'pipe', log], env: plainEnvironment() },
    ) as ChildProcessByStdio<Socket, Socket, null>; // On POSIX, Node's pipes are sockets.
    closeSync(log);
    this.#supervisor = supervisor;
    this.#gone = new Promise((resolve) => {
      const gone = () => {
        this.#pids.clear();
        resolve();
      };
      supervisor.once('exit', gone).once('error', gone);
    });
    supervisor.stdin.on('error', () => undefined);
    if (supervisor.pid !== undefined) this.#pids.set('supervisor', supervisor.pid);
    readLines(supervisor.stdout, (line) => this.#take(JSON.parse(line) as Message, options.onEnd));
    for (const handle of [supervisor, supervisor.stdin, supervisor.stdout]) handle.unref();
  }

  /** Process ids by name, with those of the supervisor and its guard. */
  get pids(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#pids);
  }

  /** Starts a process and returns its ID. The caller must check its health. */
  async start(process: ProcessSpec): Promise<number> {
    const { pid } = await this.#ask({ id: ++this.#lastId, kind: 'start', process });
    if (pid === undefined) throw new Error(`The supervisor gave no process id for ${process.name}`);
    this.#pids.set(process.name, pid);
    return pid;
  }

  /** Stops a process, first with SIGTERM. Resolves when it has exited, or if it does not run. */
  async stop(name: string): Promise<void> {
    await this.#ask({ id: ++this.#lastId, kind: 'stop', name });
  }

  /** Stops all processes, upper layers first, and the supervisor. Can be called again. */
  async end(): Promise<void> {
    this.#supervisor.stdin.end();
    try {
      await withDeadline(this.#gone, 'the supervisor to end', endTimeoutMs);
    } catch (error) {
      // Its guard kills the remaining processes.
      this.#supervisor.kill('SIGKILL');
      throw error;
    }
    // The guard exits last, after the supervisor's end of their socket is closed.
    const guard = this.#pids.get('guard');
    if (guard === undefined) return;
    await waitFor(() => !isAlive(guard), { what: 'the guard to end', timeoutMs: endTimeoutMs, intervalMs: 10 });
  }

  #take(message: Message, onEnd: (end: ProcessEnd) => void): void {
    switch (message.kind) {
      case 'ready':
        this.#pids.set('guard', message.guard);
        return;
      case 'exit':
        if (this.#pids.get(message.name) === message.pid) this.#pids.delete(message.name);
        onEnd(message);
        return;
      case 'reply':
        this.#replies.get(message.id)?.(message);
        return;
    }
  }

  async #ask(request: Request): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    this.#replies.set(request.id, resolve);
    void this.#gone.then(() => reject(new Error('The supervisor of the control plane is gone. Start a new one.')));
    this.#supervisor.stdin.write(`${JSON.stringify(request)}\n`);
    try {
      const reply = await withDeadline(promise, `the supervisor to ${request.kind} a process`, replyTimeoutMs);
      if (reply.error) throw new Error(reply.error);
      return reply;
    } finally {
      this.#replies.delete(request.id);
    }
  }
}

/** Without variables of a test runner or a debugger, which would also apply to the supervisor. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...rest } = process.env;
  return rest;
}
