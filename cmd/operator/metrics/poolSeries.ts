/** The series of pools on /metrics. They are deleted with their pool. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { Instruments } from '../../../controllers/runtime/metricDefinition.ts';
import {
  type CounterSample,
  type GaugeSample,
  poolMetrics,
  type TimeSample,
} from '../../../controllers/windowspool/api/metricCatalogue.ts';
import type { Metrics } from '../../../controllers/windowspool/ports/pools.ts';

type AnySample = GaugeSample | CounterSample;
type Labels = Readonly<Record<string, string>>;

/** The series of one pool, by metric and labels, with their last values. */
interface Shown {
  readonly gauges: Map<string, AnySample>;
  readonly lasting: Map<string, AnySample>;
}

/** The port Metrics on prom-client. The cost of an update depends on the series of its pool, not on other pools. */
export class PoolSeries implements Metrics {
  readonly #instruments: ReadonlyMap<string, Gauge<string> | Counter<string>>;
  readonly #pools = new Map<string, Shown>();

  constructor(registry: Registry) {
    const make = new Instruments(registry, poolMetrics);
    const names = Object.keys(poolMetrics) as (keyof typeof poolMetrics)[];
    this.#instruments = new Map(names.map((name) => [name, make.of(name)]));
  }

  show(pool: string, samples: readonly GaugeSample[]): void {
    const { gauges } = this.#shown(pool);
    const now = new Map(samples.map((sample) => [keyOf(sample), sample]));
    for (const [key, sample] of gauges) {
      if (now.has(key)) continue;
      this.#remove(pool, sample);
      gauges.delete(key);
    }
    for (const [key, sample] of now) {
      if (gauges.get(key)?.value !== sample.value) this.#set(pool, sample);
      gauges.set(key, sample);
    }
  }

  stamp(pool: string, sample: TimeSample): void {
    this.#set(pool, sample);
    this.#shown(pool).lasting.set(keyOf(sample), sample);
  }

  stampFirst(pool: string, sample: TimeSample): void {
    if (!this.#shown(pool).lasting.has(keyOf(sample))) this.stamp(pool, sample);
  }

  add(pool: string, samples: readonly CounterSample[]): void {
    for (const sample of samples) {
      if (sample.value <= 0) continue;
      const counter = this.#instruments.get(sample.metric);
      if (counter instanceof Counter) counter.inc(labelsOf(pool, sample), sample.value);
      this.#shown(pool).lasting.set(keyOf(sample), sample);
    }
  }

  drop(pool: string): void {
    const { gauges, lasting } = this.#shown(pool);
    for (const sample of [...gauges.values(), ...lasting.values()]) this.#remove(pool, sample);
    this.#pools.delete(pool);
  }

  #shown(pool: string): Shown {
    const shown = this.#pools.get(pool) ?? { gauges: new Map(), lasting: new Map() };
    this.#pools.set(pool, shown);
    return shown;
  }

  #set(pool: string, sample: AnySample): void {
    const gauge = this.#instruments.get(sample.metric);
    if (gauge instanceof Gauge) gauge.set(labelsOf(pool, sample), sample.value);
  }

  #remove(pool: string, sample: AnySample): void {
    this.#instruments.get(sample.metric)?.remove(labelsOf(pool, sample));
  }
}

function labelsOf(pool: string, { labels }: AnySample): Record<string, string> {
  return { pool, ...(labels as Labels) };
}

function keyOf({ metric, labels }: AnySample): string {
  return JSON.stringify([metric, labels]);
}
