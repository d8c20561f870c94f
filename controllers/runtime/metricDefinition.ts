/** Definitions of metrics, and the instruments made from them. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** The values of a label: a list, or strings whose number is bounded as `bounds` says. */
export type LabelValues =
  | {
      readonly values: readonly string[];
      /** Replaces a long list in the docs. */
      readonly see?: string;
    }
  | { readonly bounds: string };

/** A metric without its name. */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelValues>>;
  readonly buckets?: readonly number[];
}

type Labels = MetricDefinition['labels'];
type None = Readonly<Record<never, never>>;

/** Defines a gauge. */
export function gauge<const L extends Labels = None>(help: string, labels = {} as L) {
  return { type: 'gauge', help, labels } as const;
}

/** Defines a counter. */
export function counter<const L extends Labels = None>(help: string, labels = {} as L) {
  return { type: 'counter', help, labels } as const;
}

/** Defines a histogram. */
export function histogram<const L extends Labels>(help: string, labels: L, buckets: readonly number[]) {
  return { type: 'histogram', help, labels, buckets } as const;
}

/** Metrics by name. */
export type MetricCatalogue = Readonly<Record<string, MetricDefinition>>;

/** The names of the metrics of one type. */
export type NamesOf<C extends MetricCatalogue, T extends MetricDefinition['type']> = {
  [N in keyof C]: C[N]['type'] extends T ? N : never;
}[keyof C] &
  string;

type LabelsOf<C extends MetricCatalogue, N extends keyof C> = keyof C[N]['labels'] & string;

/** Creates the prom-client instruments of a catalogue. prom-client throws if a name is created twice. */
export class Instruments<const C extends MetricCatalogue> {
  readonly #registry: Registry;
  readonly #catalogue: C;

  constructor(registry: Registry, catalogue: C) {
    this.#registry = registry;
    this.#catalogue = catalogue;
  }

  counter<N extends NamesOf<C, 'counter'>>(name: N): Counter<LabelsOf<C, N>> {
    return new Counter(this.#configuration(name));
  }

  gauge<N extends NamesOf<C, 'gauge'>>(name: N): Gauge<LabelsOf<C, N>> {
    return new Gauge(this.#configuration(name));
  }

  histogram<N extends NamesOf<C, 'histogram'>>(name: N): Histogram<LabelsOf<C, N>> {
    const buckets = [...(this.#catalogue[name]?.buckets ?? [])];
    return new Histogram({ ...this.#configuration(name), buckets });
  }

  /** A gauge or a counter, by its type in the catalogue. */
  of<N extends NamesOf<C, 'gauge' | 'counter'>>(name: N): Gauge<LabelsOf<C, N>> | Counter<LabelsOf<C, N>> {
    const configuration = this.#configuration(name);
    return this.#catalogue[name]?.type === 'counter' ? new Counter(configuration) : new Gauge(configuration);
  }

  /** A gauge that is set when metrics are collected. */
  collected<N extends NamesOf<C, 'gauge'>>(name: N, collect: (gauge: Gauge<LabelsOf<C, N>>) => void): void {
    const gauge: Gauge<LabelsOf<C, N>> = new Gauge({ ...this.#configuration(name), collect: () => collect(gauge) });
  }

  #configuration<N extends keyof C & string>(name: N) {
    const { help = '', labels = {} } = this.#catalogue[name] ?? {};
    return { name, help, labelNames: Object.keys(labels) as LabelsOf<C, N>[], registers: [this.#registry] };
  }
}
