/** What metrics are, and how they are made of their definitions. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** The values that a label may have: these, or any text of which `bounds` says how many there can be. */
export type LabelValues =
  | {
      readonly values: readonly string[];
      /** In the docs in place of a list that is long. */
      readonly see?: string;
    }
  | { readonly bounds: string };

/** A metric, but for its name: Prometheus' type, one sentence of help, its labels, and the upper bounds of a histogram's buckets. */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelValues>>;
  readonly buckets?: readonly number[];
}

/** Metrics by their names. */
export type MetricCatalogue = Readonly<Record<string, MetricDefinition>>;

/** The names of one type. */
export type NamesOf<C extends MetricCatalogue, T extends MetricDefinition['type']> = {
  [N in keyof C]: C[N]['type'] extends T ? N : never;
}[keyof C] &
  string;

type LabelsOf<C extends MetricCatalogue, N extends keyof C> = keyof C[N]['labels'] & string;

/** Makes prom-client's instruments of a catalogue. Each name once: prom-client throws at the second. */
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

  /** A gauge or a counter, whichever the catalogue says. */
  of<N extends NamesOf<C, 'gauge' | 'counter'>>(name: N): Gauge<LabelsOf<C, N>> | Counter<LabelsOf<C, N>> {
    const configuration = this.#configuration(name);
    return this.#catalogue[name]?.type === 'counter' ? new Counter(configuration) : new Gauge(configuration);
  }

  /** A gauge that is set when it is asked for. */
  collected<N extends NamesOf<C, 'gauge'>>(name: N, collect: (gauge: Gauge<LabelsOf<C, N>>) => void): void {
    const gauge: Gauge<LabelsOf<C, N>> = new Gauge({ ...this.#configuration(name), collect: () => collect(gauge) });
  }

  #configuration<N extends keyof C & string>(name: N) {
    const { help = '', labels = {} } = this.#catalogue[name] ?? {};
    return { name, help, labelNames: Object.keys(labels) as LabelsOf<C, N>[], registers: [this.#registry] };
  }
}
