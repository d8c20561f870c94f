/** The sections of `make bench` and their input. */
import { BenchCluster } from './benchCluster.ts';

/** A line of a section's table. */
export type Row = Readonly<Record<string, string | number | boolean>>;

/** A figure that has a limit. */
export interface Mark {
  readonly name: string;
  readonly value: number;
  /** The limit. */
  readonly limit: number;
}

export interface Result {
  /** How it was measured, in one line, with what is needed to read the table. */
  readonly how: string;
  readonly rows: readonly Row[];
  readonly marks?: readonly Mark[];
}

export interface Section {
  readonly name: string;
  /** What it measures, for --help. */
  readonly what: string;
  run(bench: Bench): Promise<Result>;
}

/** Shared by the sections. */
export class Bench {
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  /** Whether sizes that take minutes are also measured. */
  readonly large: boolean;
  #cluster: BenchCluster | undefined;

  constructor(say: (line: string) => void, signal: AbortSignal, large: boolean) {
    this.say = say;
    this.signal = signal;
    this.large = large;
  }

  /** A cluster with exactly this number of nodes, spread evenly over the groups: the current one if it can be extended, otherwise a new one. */
  async cluster(nodes: number, groups: number): Promise<BenchCluster> {
    if (this.#cluster && (this.#cluster.groups !== groups || this.#cluster.nodes > nodes)) await this.stop();
    this.#cluster ??= await BenchCluster.start({ groups }, this.say, this.signal);
    await this.#cluster.grow(nodes, this.say);
    return this.#cluster;
  }

  async stop(): Promise<void> {
    const cluster = this.#cluster;
    this.#cluster = undefined;
    await cluster?.stop();
  }
}
