/** The faults of the network and the API server in a soak test, one after the other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../controlplane/wait.ts';
import type { BenchCluster } from '../benchCluster.ts';
import { round } from '../statistics.ts';
import { compact } from './etcd.ts';
import type { FaultyProxy } from './faultyProxy.ts';
import type { ProbeProcess } from './probeProcess.ts';
import { failingWrites, tooManyRequests } from './refusals.ts';

/** The reflector's limit for detecting a half-open connection on which it misses an event. */
const NOTICE_SECONDS = 60;
const NOTICE_LIMIT_MS = 120_000;
const DOWN_MS = 2_000;
/** Of a fault that lasts. Shorter than the 10 s after which a leader gives up the lease, and while it is spared, also together with a pause. */
const LASTS_MS = { always: 6_000, spared: 4_000 } as const;

export interface SoakFixture {
  readonly cluster: BenchCluster;
  /** Those of the probe and of some replicas, at random; for a `long` fault, a leader whose connections break gives up the lease. */
  readonly someProxies: (fault: 'short' | 'long') => readonly FaultyProxy[];
  readonly probe: ProbeProcess;
  /** Whether the leader has no faults now that could make it exit. */
  readonly isSpared: () => boolean;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The number of each fault, and unexpected errors. */
export interface FaultCounts {
  cuts: number;
  halfOpen: number;
  slowAnswers: number;
  /** Times in which requests of the operator were answered with 429. */
  throttled: number;
  /** Times in which writes of the operator were answered with 500. */
  failed: number;
  restarts: number;
  compactions: number;
  /** The longest time until a half-open connection was detected. */
  slowestNoticeSeconds: number;
  readonly complaints: string[];
}

type Fault = (fixture: SoakFixture, counts: FaultCounts) => Promise<void>;

const faults: readonly Fault[] = [cut, throttle, freeze, fail, restart, stall, compactAndRestart, cut, compactAlone];
/** Faults that a busy machine makes longer than the 10 s after which a leader gives up the lease. */
const RESTARTS: readonly Fault[] = [restart, compactAndRestart];

/** Injects a fault every `pauseMs` until the signal aborts. */
export async function injectFaults(fixture: SoakFixture, pauseMs: number): Promise<FaultCounts> {
  const counts: FaultCounts = {
    ...{ cuts: 0, halfOpen: 0, slowAnswers: 0, throttled: 0, failed: 0 },
    ...{ restarts: 0, compactions: 0, slowestNoticeSeconds: 0 },
    complaints: [],
  };
  for (let turn = 0; !fixture.signal.aborted; turn++) {
    await sleep(pauseMs, undefined, { signal: fixture.signal }).catch(() => undefined);
    if (fixture.signal.aborted) break;
    const fault = faults[turn % faults.length] ?? cut;
    if (fixture.isSpared() && RESTARTS.includes(fault)) continue;
    await fault(fixture, counts).catch((error: unknown) => {
      // The soak test may end during a fault, which is not a failure.
      if (!fixture.signal.aborted) throw error;
    });
  }
  return counts;
}

async function cut({ someProxies, say }: SoakFixture, counts: FaultCounts): Promise<void> {
  const connections = someProxies('short')
    .map((proxy) => proxy.cut())
    .reduce((sum, count) => sum + count, 0);
  say(`Cut ${connections} connections to the API server.`);
  counts.cuts++;
}

async function stall(fixture: SoakFixture, counts: FaultCounts): Promise<void> {
  const stalled = fixture.someProxies('short').map((proxy) => proxy.stall());
  const seconds = await last(fixture);
  for (const each of stalled) each[Symbol.dispose]();
  counts.slowAnswers++;
  fixture.say(`The API server's answers took ${seconds} s.`);
}

async function throttle(fixture: SoakFixture, counts: FaultCounts): Promise<void> {
  await using _throttled = await tooManyRequests(fixture.cluster.admin);
  const seconds = await last(fixture);
  counts.throttled++;
  fixture.say(`The API server throttled the operator for ${seconds} s.`);
}

async function fail(fixture: SoakFixture, counts: FaultCounts): Promise<void> {
  await using _failing = await failingWrites(fixture.cluster.admin);
  const seconds = await last(fixture);
  counts.failed++;
  fixture.say(`Writes of the operator failed for ${seconds} s.`);
}

/** Waits for as long as a fault lasts, and returns the seconds. */
async function last({ isSpared, signal }: SoakFixture): Promise<number> {
  const ms = LASTS_MS[isSpared() ? 'spared' : 'always'];
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  return ms / 1_000;
}

/** Measures how long the cache takes to detect a half-open connection. */
async function freeze({ someProxies, probe, say, signal }: SoakFixture, counts: FaultCounts): Promise<void> {
  using frozen = new DisposableStack();
  for (const proxy of someProxies('long')) frozen.use(proxy.freeze());
  const started = performance.now();
  const { events } = await probe.ask('memory');
  const heard = async () => (await probe.ask('memory')).events > events;
  const what = 'the cache to notice that its connection is half-open';
  await waitFor(heard, { what, timeoutMs: NOTICE_LIMIT_MS, intervalMs: 500, signal });
  const seconds = round((performance.now() - started) / 1_000, 1);
  counts.halfOpen++;
  counts.slowestNoticeSeconds = Math.max(counts.slowestNoticeSeconds, seconds);
  say(`Half-open connections: the cache heard nothing for ${seconds} s.`);
  if (seconds > NOTICE_SECONDS) counts.complaints.push(`a half-open connection went unnoticed for ${seconds} s`);
}

async function restart({ cluster, say }: SoakFixture, counts: FaultCounts): Promise<void> {
  const { controlPlane } = cluster.world;
  await controlPlane.stopApiServer();
  await sleep(DOWN_MS);
  await controlPlane.startApiServer();
  counts.restarts++;
  say('Restarted the API server.');
}

/** A restarted API server has no watch cache, and etcd has compacted the version at which watches would resume: they must relist. */
async function compactAndRestart(fixture: SoakFixture, counts: FaultCounts): Promise<void> {
  const { controlPlane } = fixture.cluster.world;
  const revision = await fixture.cluster.version();
  await controlPlane.stopApiServer();
  await compact(controlPlane, revision);
  await controlPlane.startApiServer();
  counts.restarts++;
  counts.compactions++;
  fixture.say(`Compacted etcd at revision ${revision} while the API server was away.`);
}

async function compactAlone({ cluster, say }: SoakFixture, counts: FaultCounts): Promise<void> {
  const revision = await cluster.version();
  await compact(cluster.world.controlPlane, revision);
  counts.compactions++;
  say(`Compacted etcd at revision ${revision}.`);
}
