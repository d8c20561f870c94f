/** Reads the parts of Prometheus' text format that the operator's /metrics uses. */

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** One scrape. */
export class Metrics {
  readonly #samples: readonly Sample[];

  constructor(text: string) {
    this.#samples = text.split('\n').flatMap(sampleIn);
  }

  /** The sum of all series of this name whose labels match; 0 when there are none. */
  sum(name: string, labels: Readonly<Record<string, RegExp>> = {}): number {
    const required = Object.entries(labels);
    const matching = this.#samples.filter(
      (sample) =>
        sample.name === name && required.every(([label, pattern]) => pattern.test(sample.labels[label] ?? '')),
    );
    return matching.reduce((sum, { value }) => sum + value, 0);
  }
}

function sampleIn(line: string): Sample[] {
  const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
  if (!match) return [];
  const [, name = '', inner = '', value] = match;
  const labels = [...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, text]);
  return [{ name, labels: Object.fromEntries(labels), value: Number(value) }];
}
