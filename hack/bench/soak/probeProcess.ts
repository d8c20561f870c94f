/** Starts the probe and sends its commands. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Memory } from '../processFigures.ts';

const ANSWER_MS = 30_000;

/** What the probe reports. */
export interface ProbeFigures extends Memory {
  readonly lists: number;
  readonly watches: number;
  readonly failures: number;
  readonly events: number;
  /** In use after a garbage collection. */
  readonly heapKiB: number;
  readonly externalKiB: number;
}

export class ProbeProcess {
  readonly #child: ChildProcess;
  readonly #answers: Interface;
  /** Settles when all commands so far have responses: these have no IDs, so only one command is pending. */
  #last: Promise<unknown> = Promise.resolve();

  /** `bundle` is the path of the bundled probe. It inherits our standard error. */
  constructor(bundle: string, kubeconfig: string, log: number) {
    const child: ChildProcess = spawn(process.execPath, ['--expose-gc', bundle, kubeconfig], {
      stdio: ['pipe', 'pipe', log],
    });
    this.#child = child;
    if (!child.stdout) throw new Error('The probe has no standard output.');
    this.#answers = createInterface({ input: child.stdout });
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Its figures, after it has optionally written the content of its store to a file. */
  ask(command: 'memory' | `dump ${string}`): Promise<ProbeFigures> {
    const answer = this.#last.then(() => this.#ask(command));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  /** Its exit code: 0 after a clean exit. */
  async stop(): Promise<number | null> {
    if (!this.running) return this.#child.exitCode;
    const exited = once(this.#child, 'exit', { signal: AbortSignal.timeout(ANSWER_MS) });
    this.#child.stdin?.end();
    await exited;
    return this.#child.exitCode;
  }

  async #ask(command: string): Promise<ProbeFigures> {
    const answer = once(this.#answers, 'line', { signal: AbortSignal.timeout(ANSWER_MS) });
    this.#child.stdin?.write(`${command}\n`);
    const [line] = await answer;
    return JSON.parse(line);
  }
}
