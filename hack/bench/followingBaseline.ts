/** client-go's informer as a process that follows the nodes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { NODE_SELECTOR } from '../../controllers/kubernetes/nodes.ts';
import { withDeadline } from '../controlplane/wait.ts';
import { baselinePrograms } from './baseline.ts';
import type { BenchCluster } from './benchCluster.ts';
import type { Bench } from './section.ts';

const SYNC_MS = 60_000;
const ANSWER_MS = 10_000;

export class FollowingBaseline {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>) {
    this.pid = child.pid ?? 0;
    this.#child = child;
    this.#lines = lines;
  }

  /** Starts it and waits until it has synced. */
  static async start({ world }: BenchCluster, { say, signal }: Bench): Promise<FollowingBaseline> {
    const args = [`--kubeconfig=${world.operatorKubeconfig}`, `--selector=${NODE_SELECTOR}`, '--follow'];
    const child = spawn((await baselinePrograms(say, signal)).baseline, args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      signal,
    });
    // Also if it cannot be started: the next line never comes.
    child.on('error', () => undefined);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const baseline = new FollowingBaseline(child, lines);
    try {
      await baseline.#line('its sync', SYNC_MS);
      return baseline;
    } catch (error) {
      await baseline[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The number of objects that it has received so far. */
  async received(): Promise<number> {
    this.#child.stdin?.write('\n');
    return Number(await this.#line('a number', ANSWER_MS));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await withDeadline(exited, 'client-go’s informer to exit', ANSWER_MS);
  }

  async #line(what: string, timeoutMs: number): Promise<string> {
    const { value, done } = await withDeadline(this.#lines.next(), `${what} of client-go’s informer`, timeoutMs);
    if (done) throw new Error(`client-go’s informer ended with status ${this.#child.exitCode}.`);
    return value;
  }
}
