/** A program of baseline/ that runs beside a benchmark. It exchanges lines with it, and exits when its standard input ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { withDeadline } from '../controlplane/wait.ts';

const EXIT_MS = 10_000;

interface LineProgramOptions {
  /** What it is, for errors. */
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  /** Its first line of input. */
  readonly input?: string;
}

export class LineProgram implements AsyncDisposable {
  readonly pid: number;
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(name: string, file: string, args: readonly string[], signal: AbortSignal) {
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'], signal });
    // Also if it cannot be started, or has ended: the next line never comes.
    for (const emitter of [child, child.stdin]) emitter.on('error', () => undefined);
    this.pid = child.pid ?? 0;
    this.#name = name;
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** Starts it, writes a line if there is one, and waits for its first line, which says that it is ready. Ends it if that fails. */
  static async start(
    { name, file, args, input }: LineProgramOptions,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<LineProgram> {
    await using starting = new AsyncDisposableStack();
    const program = starting.use(new LineProgram(name, file, args, signal));
    if (input !== undefined) program.write(input);
    await program.line('the start', timeoutMs);
    starting.move();
    return program;
  }

  write(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Ends its standard input. */
  end(): void {
    this.#child.stdin?.end();
  }

  /** The next line of its output. Rejects if it exits before, or if it takes longer. */
  async line(what: string, timeoutMs: number): Promise<string> {
    const { value, done } = await withDeadline(this.#lines.next(), `${what} of ${this.#name}`, timeoutMs);
    if (!done) return value;
    await this.#exited();
    const { exitCode, signalCode } = this.#child;
    throw new Error(`${this.#name} ended with status ${exitCode ?? signalCode}.`);
  }

  /** Ends it, and waits until it has exited. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
    await this.#exited().catch((error: unknown) => {
      this.#child.kill('SIGKILL');
      throw error;
    });
  }

  async #exited(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    await withDeadline(once(this.#child, 'exit'), `${this.#name} to exit`, EXIT_MS);
  }
}
