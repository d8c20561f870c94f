/** client-go's informer as a process that follows the nodes. */
import { NODE_SELECTOR } from '../../controllers/kubernetes/nodes.ts';
import { baselinePrograms } from './baseline.ts';
import type { BenchCluster } from './benchCluster.ts';
import { LineProgram } from './lineProgram.ts';
import type { Bench } from './section.ts';

const SYNC_MS = 60_000;
const ANSWER_MS = 10_000;

export class FollowingBaseline implements AsyncDisposable {
  readonly #program: LineProgram;

  private constructor(program: LineProgram) {
    this.#program = program;
  }

  /** Starts it and waits until it has synced. */
  static async start({ world }: BenchCluster, { say, signal }: Bench): Promise<FollowingBaseline> {
    const { baseline } = await baselinePrograms(say, signal);
    const args = [`--kubeconfig=${world.operatorKubeconfig}`, `--selector=${NODE_SELECTOR}`, '--follow'];
    return new FollowingBaseline(
      await LineProgram.start({ name: 'client-go’s informer', file: baseline, args }, SYNC_MS, signal),
    );
  }

  get pid(): number {
    return this.#program.pid;
  }

  /** The number of objects that it has received so far. */
  async received(): Promise<number> {
    this.#program.write('');
    return Number(await this.#program.line('a number', ANSWER_MS));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#program[Symbol.asyncDispose]();
  }
}
