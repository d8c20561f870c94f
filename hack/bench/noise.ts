import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../controlplane/wait.ts';
import { operatorBundle } from '../operatorBundle.ts';
import { BenchOperator } from './benchOperator.ts';
import { sendHeartbeats } from './heartbeats.ts';
import type { Metrics } from './metricsText.ts';
import { preparePools } from './pools.ts';
import type { Bench, Result, Section } from './section.ts';
import { round } from './statistics.ts';

const NODES = 10_000;
const GROUPS = 10;
const RATE = 300;
const SECONDS = 30;
const WARM_UP_SECONDS = 10;
const GOAL_MICROSECONDS = 50;

/** The cost of heartbeats. */
export const noise: Section = {
  name: 'noise',
  what: `the bundled operator under ${RATE} heartbeats a second of ${NODES} nodes: events, reconciles, writes, CPU`,
  run: async (bench): Promise<Result> => {
    const cluster = await bench.cluster(NODES, GROUPS);
    const bundle = await operatorBundle();
    await preparePools(cluster, bundle);
    const operator = await BenchOperator.start(cluster, bundle, { flags: ['--leader-elect=false'] });
    try {
      await settle(operator);
      await sendHeartbeats(cluster, { rate: RATE, seconds: WARM_UP_SECONDS }, bench.signal);
      await settle(operator);
      const idle = [await idleCpuSeconds(operator, bench, SECONDS / 2)];
      const before = await operator.metrics();
      const start = operator.cpuSeconds;
      const sent = await sendHeartbeats(cluster, { rate: RATE, seconds: SECONDS }, bench.signal);
      const after = await received(operator, before, sent.count);
      const cpu = operator.cpuSeconds - start;
      idle.push(await idleCpuSeconds(operator, bench, SECONDS / 2));
      const idleCpu = idle[0] === undefined ? 0 : idle.reduce((sum, seconds) => sum + seconds, 0);
      const perUpdate = round(((cpu - idleCpu) * 1e6) / sent.count, 1);
      const events = grown(before, after, eventsOf);
      const reconciles = grown(before, after, reconcilesOf);
      const writes = grown(before, after, writesOf);
      const row = { sent: sent.count, perSecond: Math.round(sent.count / sent.seconds), events, reconciles, writes };
      return {
        how: `${NODES} nodes in ${GROUPS} pools; ${SECONDS} s after ${WARM_UP_SECONDS} s of warm-up; processor time less that of the same time at rest`,
        rows: [{ ...row, cpuSeconds: round(cpu), idleCpuSeconds: round(idleCpu), microsecondsPerUpdate: perUpdate }],
        marks: [
          { name: 'processor time of an update in microseconds', value: perUpdate, limit: GOAL_MICROSECONDS },
          { name: 'reconciles', value: reconciles, limit: 0 },
          { name: 'writes to the API server', value: writes, limit: 0 },
          { name: 'events missing or too many', value: Math.abs(events - sent.count), limit: 0 },
        ],
      };
    } finally {
      await operator.stop();
    }
  },
};

const eventsOf = (metrics: Metrics) => metrics.sum('reflector_events_total', { name: /^nodes$/ });
const reconcilesOf = (metrics: Metrics) => metrics.sum('controller_runtime_reconcile_total');
const writesOf = (metrics: Metrics) =>
  metrics.sum('rest_client_requests_total', { method: /^(POST|PUT|PATCH|DELETE)$/ });

function grown(before: Metrics, after: Metrics, figure: (metrics: Metrics) => number): number {
  return figure(after) - figure(before);
}

/** Waits until no reconcile has run for three seconds. */
export async function settle(operator: BenchOperator): Promise<void> {
  let last = -1;
  const probe = async () => {
    const now = reconcilesOf(await operator.metrics());
    const same = now === last;
    last = now;
    return same && now > 0;
  };
  await waitFor(probe, { what: 'the operator to be idle', timeoutMs: 60_000, intervalMs: 3_000 });
}

/** The CPU time of an idle operator, in seconds. */
async function idleCpuSeconds(operator: BenchOperator, { signal }: Bench, seconds: number): Promise<number> {
  const start = operator.cpuSeconds;
  await sleep(seconds * 1_000, undefined, { signal });
  return operator.cpuSeconds - start;
}

/** The metrics after this number of events, or after five seconds. */
async function received(operator: BenchOperator, before: Metrics, count: number): Promise<Metrics> {
  const deadline = performance.now() + 5_000;
  for (;;) {
    const now = await operator.metrics();
    if (grown(before, now, eventsOf) >= count || performance.now() > deadline) return now;
    await sleep(200);
  }
}
