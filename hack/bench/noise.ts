import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../controlplane/wait.ts';
import { prepareBaseline } from './baseline.ts';
import type { BenchCluster } from './benchCluster.ts';
import { BenchOperator } from './benchOperator.ts';
import { figureOf, noneOf, rounded } from './figures.ts';
import { FollowingBaseline } from './followingBaseline.ts';
import { type Load, sendHeartbeats } from './heartbeats.ts';
import type { Metrics } from './metricsText.ts';
import { threadNanosecondsOf } from './processFigures.ts';
import type { Bench, Result, Section } from './section.ts';
import { median } from './statistics.ts';

interface Settings {
  readonly nodes: number;
  readonly groups: number;
  readonly rate: number;
  readonly windows: number;
  readonly windowSeconds: number;
  readonly warmUpSeconds: number;
  readonly restSeconds: number;
}

const FULL: Settings = {
  ...{ nodes: 10_000, groups: 10, rate: 300 },
  ...{ windows: 7, windowSeconds: 6, warmUpSeconds: 10, restSeconds: 8 },
};
const SMALL: Settings = {
  // Times have seconds: two heartbeats of a node in the same second are one.
  ...{ nodes: 20, groups: 2, rate: 10 },
  ...{ windows: 2, windowSeconds: 1.5, warmUpSeconds: 1, restSeconds: 1 },
};
/** Of the CPU time for an update, relative to client-go's. */
const GOAL = 0.6;
const ARRIVAL_MS = 15_000;

/** The cost of heartbeats. */
export const noise: Section = {
  name: 'noise',
  what: `the bundled operator and client-go's informer under ${FULL.rate} heartbeats a second of ${FULL.nodes} nodes: events, reconciles, writes, CPU`,
  prepare: prepareBaseline,
  run: async (bench): Promise<Result> => {
    const settings = bench.pick(FULL, SMALL);
    const cluster = await bench.poolsOf(settings.nodes, settings.groups);
    await using operator = await BenchOperator.start(cluster, { flags: ['--leader-elect=false'] });
    await using baseline = await FollowingBaseline.start(cluster, bench);
    return await measure(bench, settings, { cluster, operator, baseline });
  },
};

interface Followers {
  readonly cluster: BenchCluster;
  readonly operator: BenchOperator;
  readonly baseline: FollowingBaseline;
}

async function measure(bench: Bench, settings: Settings, followers: Followers): Promise<Result> {
  const { cluster, operator } = followers;
  const { rate, windows, windowSeconds, warmUpSeconds, restSeconds } = settings;
  await settle(operator, bench);
  await sendHeartbeats(cluster, { rate, seconds: warmUpSeconds }, bench);
  await settle(operator, bench);
  const rest = [await cpuAtRest(followers, bench, restSeconds)];
  const before = await operator.metrics();
  const measured: Window[] = [];
  for (let window = 0; window < windows; window++)
    measured.push(await measureWindow(bench, followers, { rate, seconds: windowSeconds }));
  const after = await operator.metrics();
  rest.push(await cpuAtRest(followers, bench, restSeconds));
  const idle = { ours: mean(rest.map(({ ours }) => ours)), theirs: mean(rest.map(({ theirs }) => theirs)) };
  const perUpdate = (side: 'ours' | 'theirs') =>
    measured.map(({ cpu, seconds, sent }) => (cpu[side] - idle[side] * seconds) / sent / 1_000);
  const [ours, theirs] = [perUpdate('ours'), perUpdate('theirs')];
  const sent = measured.reduce((sum, window) => sum + window.sent, 0);
  const grown = (figure: (metrics: Metrics) => number) => figure(after) - figure(before);
  const [events, reconciles, writes] = [grown(eventsOf), grown(reconcilesOf), grown(writesOf)];
  const row = { sent, events, reconciles, writes, ours: rounded(median(ours)), theirs: rounded(median(theirs)) };
  const load = `${rate} heartbeats per second of ${settings.nodes.toLocaleString('en')} nodes`;
  return {
    how: `${settings.nodes} nodes in ${settings.groups} pools; ${windows} times ${windowSeconds} s after ${warmUpSeconds} s of warm-up, both processes at the same time; processor time in microseconds for an update, less that of the same time at rest`,
    rows: [row],
    figures: [
      figureOf(
        { name: `${load}: CPU time of an update, relative to a client-go informer`, unit: '', goal: GOAL },
        ours.map((one, index) => one / (theirs[index] ?? Number.NaN)),
      ),
      figureOf({ name: `${load}: CPU time of an update`, unit: 'us' }, ours),
      {
        name: `${load}: heartbeats per second that the API server accepted`,
        unit: '',
        value: Math.round(median(measured.map(({ accepted }) => accepted))),
      },
      noneOf(`${load}: reconciles`, reconciles),
      noneOf(`${load}: writes to the API server`, writes),
      noneOf(`${load}: events that are missing or too many`, Math.abs(events - sent)),
    ],
  };
}

/** Nanoseconds. */
interface Cpu {
  readonly ours: number;
  readonly theirs: number;
}

interface Window {
  readonly sent: number;
  /** Heartbeats per second that the API server accepted. */
  readonly accepted: number;
  readonly seconds: number;
  readonly cpu: Cpu;
}

/** Sends heartbeats, and waits until both sides have received them. */
async function measureWindow(bench: Bench, { cluster, operator, baseline }: Followers, load: Load): Promise<Window> {
  const [events, received] = [eventsOf(await operator.metrics()), await baseline.received()];
  const started = performance.now();
  const before = cpuOf(operator, baseline);
  const { count, seconds } = await sendHeartbeats(cluster, load, bench);
  const haveArrived = async () =>
    eventsOf(await operator.metrics()) - events >= count && (await baseline.received()) - received >= count;
  await waitFor(haveArrived, {
    what: `${count} heartbeats to arrive`,
    timeoutMs: ARRIVAL_MS,
    intervalMs: 200,
    signal: bench.signal,
  });
  return {
    sent: count,
    accepted: count / seconds,
    seconds: (performance.now() - started) / 1_000,
    cpu: differenceOf(before, cpuOf(operator, baseline)),
  };
}

/** Nanoseconds for each second. */
async function cpuAtRest({ operator, baseline }: Followers, { signal }: Bench, seconds: number): Promise<Cpu> {
  const before = cpuOf(operator, baseline);
  await sleep(seconds * 1_000, undefined, { signal });
  const { ours, theirs } = differenceOf(before, cpuOf(operator, baseline));
  return { ours: ours / seconds, theirs: theirs / seconds };
}

function cpuOf(operator: BenchOperator, baseline: FollowingBaseline): Cpu {
  return { ours: threadNanosecondsOf(operator.pid), theirs: threadNanosecondsOf(baseline.pid) };
}

function differenceOf(before: Cpu, after: Cpu): Cpu {
  return { ours: after.ours - before.ours, theirs: after.theirs - before.theirs };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

const eventsOf = (metrics: Metrics) => metrics.sum('reflector_events_total', { name: /^nodes$/ });
const reconcilesOf = (metrics: Metrics) => metrics.sum('controller_runtime_reconcile_total');
const writesOf = (metrics: Metrics) =>
  metrics.sum('rest_client_requests_total', { method: /^(POST|PUT|PATCH|DELETE)$/ });

/** Waits until no reconcile has run for a while. */
export async function settle(operator: BenchOperator, bench: Bench): Promise<void> {
  let last = -1;
  const probe = async () => {
    const now = reconcilesOf(await operator.metrics());
    const same = now === last;
    last = now;
    return same && now > 0;
  };
  const intervalMs = bench.pick(3_000, 700);
  await waitFor(probe, { what: 'the operator to be idle', timeoutMs: 60_000, intervalMs, signal: bench.signal });
}
