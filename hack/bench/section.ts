/** What a section of `make bench` is, and what it is given. */
import { BenchCluster } from './benchCluster.ts';

/** A line of a section's table. */
export type Row = Readonly<Record<string, string | number | boolean>>;

/** A figure that has a limit. */
export interface Mark {
  readonly name: string;
  readonly value: number;
  /** The most that is wanted. */
  readonly limit: number;
}

export interface Result {
  /** How it was measured, in a line; what one must know to read the table. */
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

/** What the sections share. */
export class Bench {
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  /** Whether sizes that take minutes are measured as well. */
  readonly large: boolean;
  #cluster: BenchCluster | undefined;

  constructor(say: (line: string) => void, signal: AbortSignal, large: boolean) {
    this.say = say;
    this.signal = signal;
    this.large = large;
  }

  /** A cluster with exactly so many nodes, evenly in so many groups: the present one when it can become that, else a new one. */
  async cluster(nodes: number, groups: number): Promise<BenchCluster> {
    if (this.#cluster && (this.#cluster.groups !== groups || this.#cluster.nodes > nodes)) await this.stop();
    this.#cluster ??= await BenchCluster.start(groups, this.say, this.signal);
    await this.#cluster.grow(nodes, this.say);
    return this.#cluster;
  }

  async stop(): Promise<void> {
    const cluster = this.#cluster;
    this.#cluster = undefined;
    await cluster?.stop();
  }
}
