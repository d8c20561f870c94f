/** Updates of nodes that change only the time of their heartbeats, from a separate process (baseline/kubelets). */
import { baselinePrograms } from './baseline.ts';
import type { BenchCluster } from './benchCluster.ts';
import { LineProgram } from './lineProgram.ts';
import type { Bench } from './section.ts';

const CONNECT_MS = 30_000;
/** How long the last answers may take. */
const ANSWERS_MS = 90_000;

export interface Load {
  /** Updates per second, over all nodes in turn. */
  readonly rate: number;
  readonly seconds: number;
}

/** What `Heartbeats` needs from a benchmark. */
type Host = Pick<Bench, 'say' | 'signal'>;

interface Sent {
  /** Updates that the API server has accepted: fewer than the rate demands if it is too slow. */
  readonly count: number;
  readonly seconds: number;
}

/** A process that sends heartbeats until their seconds have passed, or until `end`. */
class Heartbeats implements AsyncDisposable {
  readonly #program: LineProgram;
  readonly #seconds: number;

  private constructor(program: LineProgram, seconds: number) {
    this.#program = program;
    this.#seconds = seconds;
  }

  static async start(cluster: BenchCluster, { rate, seconds }: Load, { say, signal }: Host): Promise<Heartbeats> {
    const { kubelets } = await baselinePrograms(say, signal);
    const args = [`--kubeconfig=${cluster.world.controlPlane.adminKubeconfig}`];
    const input = JSON.stringify({ nodes: cluster.names(), rate, seconds });
    const program = { name: 'the sender of heartbeats', file: kubelets, args, input };
    return new Heartbeats(await LineProgram.start(program, CONNECT_MS, signal), seconds);
  }

  end(): void {
    this.#program.end();
  }

  async sent(): Promise<Sent> {
    return JSON.parse(await this.#program.line('the result', this.#seconds * 1_000 + ANSWERS_MS));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#program[Symbol.asyncDispose]();
  }
}

/** Sends heartbeats for their seconds. */
export async function sendHeartbeats(cluster: BenchCluster, load: Load, host: Host): Promise<Sent> {
  await using heartbeats = await Heartbeats.start(cluster, load, host);
  return await heartbeats.sent();
}

/** Does something while heartbeats are sent. `sent`: how many per second the API server has accepted; none with a rate of 0. */
export async function underHeartbeats<T>(
  cluster: BenchCluster,
  load: Load,
  host: Host,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly sent: number }> {
  if (load.rate === 0) return { result: await work(), sent: 0 };
  await using heartbeats = await Heartbeats.start(cluster, load, host);
  const result = await work();
  heartbeats.end();
  const { count, seconds } = await heartbeats.sent();
  return { result, sent: Math.round(count / seconds) };
}
