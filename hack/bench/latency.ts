/** Latencies beside the floor, without and with heartbeats, in rounds. */
import type { BenchCluster } from './benchCluster.ts';
import { type Figure, figureOf } from './figures.ts';
import { underHeartbeats } from './heartbeats.ts';
import type { Bench, Row } from './section.ts';
import { partsOf, percentile, round } from './statistics.ts';

export interface LatencySettings {
  /** Heartbeats per second, and the greatest p99 beyond the floor in milliseconds. */
  readonly loads: readonly { readonly rate: number; readonly goal?: number }[];
  /** Of each of the rounds. */
  readonly samples: number;
  readonly rounds: number;
  readonly warmUpSamples: number;
}

export interface Sample {
  readonly ms: number;
  /** A small write and its event, in turns with it. */
  readonly floorMs: number;
}

interface Latency<S extends Sample> {
  /** What takes so long, in the names of the figures. */
  readonly name: string;
  /** The greatest p99 in milliseconds, with any load. */
  readonly goal?: number;
  /** Takes a sample. The first ones, which are not counted, have negative numbers. */
  take(index: number): Promise<S>;
  /** More columns. */
  more?(samples: readonly S[]): Row;
}

/** The load lasts until all samples are taken; the limit of a section comes first. */
const LOAD_SECONDS = 1_200;

/** Takes all samples with each load, and returns a row and the figures of each. A figure is the median of the rounds. */
export async function measureLatency<S extends Sample>(
  cluster: BenchCluster,
  settings: LatencySettings,
  { name, goal, take, more }: Latency<S>,
  bench: Bench,
): Promise<{ readonly rows: Row[]; readonly figures: Figure[] }> {
  const takeAll = async () => {
    const samples: S[] = [];
    for (let index = -settings.warmUpSamples; index < settings.samples * settings.rounds; index++) {
      const one = await take(index);
      if (index >= 0) samples.push(one);
    }
    return samples;
  };
  const rows: Row[] = [];
  const figures: Figure[] = [];
  for (const { rate, goal: beyond } of settings.loads) {
    const { result: samples, sent } = await underHeartbeats(cluster, { rate, seconds: LOAD_SECONDS }, bench, takeAll);
    rows.push({ heartbeats: sent, ...summaryOf(samples), ...more?.(samples) });
    const load = rate === 0 ? 'idle' : `with ${rate} heartbeats per second`;
    const p99 = `${name}, ${load}: p99`;
    const summaries = partsOf(samples, settings.samples).map(summaryOf);
    figures.push(
      figureOf(
        { name: p99, unit: 'ms', ...(goal !== undefined && { goal }) },
        summaries.map(({ p99Ms }) => p99Ms),
      ),
      figureOf(
        {
          name: `${p99} beyond that of a watch event alone`,
          unit: 'ms',
          ...(beyond !== undefined && { goal: beyond }),
        },
        summaries.map(({ p99Ms, floorP99Ms }) => Math.max(0, p99Ms - floorP99Ms)),
      ),
    );
    if (rate > 0)
      figures.push({
        name: `${name}, ${load}: heartbeats per second that the API server accepted`,
        unit: '',
        value: sent,
      });
  }
  return { rows, figures };
}

function summaryOf(samples: readonly Sample[]) {
  const ms = samples.map((sample) => sample.ms);
  const floorMs = samples.map((sample) => sample.floorMs);
  const at = (values: readonly number[], share: number) => round(percentile(values, share), 1);
  return {
    samples: samples.length,
    p50Ms: at(ms, 0.5),
    p90Ms: at(ms, 0.9),
    p99Ms: at(ms, 0.99),
    worstMs: at(ms, 1),
    floorP50Ms: at(floorMs, 0.5),
    floorP99Ms: at(floorMs, 0.99),
  };
}
