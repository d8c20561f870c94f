/** The sections of `make bench` and their input. */
import { BenchCluster } from './benchCluster.ts';
import type { Figure } from './figures.ts';
import { preparePools } from './pools.ts';

/** A line of a section's table. */
export type Row = Readonly<Record<string, string | number | boolean>>;

export interface Result {
  /** How it was measured, in one line, with what is needed to read the table. */
  readonly how: string;
  readonly rows: readonly Row[];
  readonly figures: readonly Figure[];
}

export interface Section {
  readonly name: string;
  /** What it measures, for --help. */
  readonly what: string;
  /** How long it may take at most, in milliseconds. Default: ten minutes. */
  readonly limitMs?: number;
  /** Whether it starts a real node, which not every machine allows: see hack/realnode. */
  readonly needsRealNode?: true;
  /** Builds programs. The time is not part of the section's. */
  prepare?(bench: Bench): Promise<void>;
  run(bench: Bench): Promise<Result>;
}

/**
 * `small`: a few nodes and runs, to see that a section works. `large`: also sizes that take minutes.
 */
export type Size = 'small' | 'full' | 'large';

/** Shared by the sections. */
export class Bench {
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  readonly size: Size;
  #cluster: BenchCluster | undefined;

  constructor(say: (line: string) => void, signal: AbortSignal, size: Size) {
    this.say = say;
    this.signal = signal;
    this.size = size;
  }

  /** The settings of a section for the size. */
  pick<T>(full: T, small: T): T {
    return this.size === 'small' ? small : full;
  }

  /** A cluster with exactly this number of nodes, spread evenly over the groups: the current one if it can be extended, otherwise a new one. */
  async cluster(nodes: number, groups: number): Promise<BenchCluster> {
    if (this.#cluster && (this.#cluster.groups !== groups || this.#cluster.nodes > nodes)) await this.stop();
    this.#cluster ??= await BenchCluster.start({ groups }, this.say, this.signal);
    await this.#cluster.grow(nodes, this.say);
    return this.#cluster;
  }

  /** The same, with a pool for each group that has verified its nodes. No operator runs. */
  async poolsOf(nodes: number, groups: number): Promise<BenchCluster> {
    const cluster = await this.cluster(nodes, groups);
    await preparePools(cluster);
    return cluster;
  }

  async stop(): Promise<void> {
    const cluster = this.#cluster;
    this.#cluster = undefined;
    await cluster?.stop();
  }
}
