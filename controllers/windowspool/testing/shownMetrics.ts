/** The metrics of a pool as text for tests. */
import type { CounterSample, GaugeSample } from '../api/metricCatalogue.ts';

/** A sample in the format of Prometheus, without the pool. */
export function seriesOf({ metric, labels, value }: GaugeSample | CounterSample): [series: string, value: number] {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
  return [pairs.length === 0 ? metric : `${metric}{${pairs.join(',')}}`, value];
}

/** The gauges of one metric, by their labels. */
export function gaugesOf(
  gauges: Readonly<Record<string, number>> | undefined,
  metric: GaugeSample['metric'],
): Record<string, number> {
  const entries = Object.entries(gauges ?? {}).filter(
    ([series]) => series === metric || series.startsWith(`${metric}{`),
  );
  return Object.fromEntries(entries.map(([series, value]) => [series.slice(metric.length + 1, -1), value]));
}
