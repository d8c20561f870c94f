/**
 * `make soak`: two replicas of the operator for minutes in a hostile world. Pools and nodes change all the time, the network, the API server and AWS
 * fail, and the leader is paused at random times. In the end every pool must be reconciled, the cache must equal the API server's list, memory must be
 * flat, no process may have exited unexpectedly, and no write may have been made twice or by a replica that did not lead.
 */
import { writeFile } from 'node:fs/promises';
import { auditEvents } from '../../test/fakes/testenv/audit.ts';
import { injectAwsFaults } from './soak/awsFaults.ts';
import { churn } from './soak/churn.ts';
import { waitForEqualStores } from './soak/comparison.ts';
import { waitForConvergence } from './soak/convergence.ts';
import {
  doubleCreations,
  doubleTerminations,
  type LeaseReport,
  leaseReport,
  type TimedWrite,
  timedCall,
  timedWrite,
} from './soak/doubleWrites.ts';
import { injectFaults } from './soak/faults.ts';
import { MemoryTrack } from './soak/memoryTrack.ts';
import { pauseLeaders } from './soak/pauses.ts';
import { PoolChurn } from './soak/poolChurn.ts';
import { type SoakSettings, soakSettings } from './soak/settings.ts';
import { type SoakWorld, startSoakWorld } from './soak/world.ts';
import { round } from './statistics.ts';

const FAULT_PAUSE_MS = 10_000;
const SAMPLE_MS = 5_000;
const FILE = 'build/soak.json';
/** Of a list of violations. The file has all. */
const SHOWN = 5;

type Say = (line: string) => void;

async function soak(settings: SoakSettings, say: Say, signal: AbortSignal): Promise<void> {
  await using world = await startSoakWorld(settings, say, signal);
  const { cluster, replicas, probe, groupPools } = world;
  const keeping = new AbortController();
  const failing = new AbortController();
  const kept = replicas.keep(keeping.signal).catch((error: unknown) => failing.abort(error));
  const whole = AbortSignal.any([signal, failing.signal]);
  try {
    await waitForConvergence(cluster, settings.pools, whole);
    say(`All ${settings.pools} pools are Ready. The world turns hostile for ${settings.minutes} minutes.`);
    const memory = new MemoryTrack(probe, cluster.world.controlPlane.dir, () =>
      replicas.all.map(({ process: { pid, running }, leads }) => ({ pid, running, leads })),
    );
    const pools = new PoolChurn(cluster, groupPools, Math.random);
    const { api, pauses, ...counts } = await storm(world, pools, memory, settings, say, whole);
    say('The faults are over. Waiting until every pool is reconciled.');
    const end = await settle(world, pools, settings, whole);
    keeping.abort();
    await kept;
    await replicas.stop();
    const writes = await writesOfReplicas(world);
    const complaints = [
      ...end.complaints,
      ...api.complaints,
      ...pauses.complaints,
      ...replicas.complaints,
      ...memory.complaints(),
      ...complaintsAbout(writes),
    ];
    const report = {
      settings,
      ...counts,
      faults: without(api),
      pauses: { ...without(pauses), lostLeases: replicas.lostLeases },
      end: without(end),
      memory: memory.summary(),
      probe: await probe.ask('memory'),
      writes,
      complaints,
    };
    await writeFile(FILE, `${JSON.stringify(report, undefined, 2)}\n`);
    summarize(report, say);
    if (complaints.length > 0) throw new Error(complaints.join('\n'));
    say(`Passed. ${FILE} has the figures.`);
  } finally {
    keeping.abort();
    await kept;
  }
}

/** Everything that happens at the same time, until the minutes have passed. */
async function storm(
  { cluster, replicas, probe, probeProxy }: SoakWorld,
  pools: PoolChurn,
  memory: MemoryTrack,
  { minutes }: SoakSettings,
  say: Say,
  whole: AbortSignal,
) {
  const ending = new AbortController();
  const signal = AbortSignal.any([whole, ending.signal, AbortSignal.timeout(minutes * 60_000)]);
  // In the second half the leader is spared what makes it exit, so that it lives long enough to measure whether its memory grows.
  const half = performance.now() + minutes * 30_000;
  const isSpared = () => performance.now() >= half;
  const random = Math.random;
  const someProxies = (fault: 'short' | 'long') => {
    const spared = fault === 'long' && isSpared() ? replicas.leader : undefined;
    const some = replicas.all.filter((replica) => replica !== spared && random() < 0.7);
    return [probeProxy, ...some.map(({ proxy }) => proxy)];
  };
  try {
    const [api, aws, pauses, nodes] = await Promise.all([
      injectFaults({ cluster, probe, someProxies, isSpared, say, signal }, FAULT_PAUSE_MS),
      injectAwsFaults(cluster.world.cloud.faults.calls, random, signal),
      pauseLeaders({ replicas, say, random, signal, isSpared }),
      churn(cluster, signal),
      pools.run(signal),
      memory.follow(SAMPLE_MS, signal),
    ]);
    return { api, aws, pauses, nodes, pools: pools.counts };
  } finally {
    ending.abort();
  }
}

/** Waits until the world is in the desired state. What does not get there is a complaint, with the log of the leader. */
async function settle(
  { cluster, replicas, probe, groupPools }: SoakWorld,
  pools: PoolChurn,
  settings: SoakSettings,
  whole: AbortSignal,
) {
  const started = performance.now();
  const complaints: string[] = [];
  const attempt = async (check: () => Promise<unknown>) => {
    await check().catch((error: Error) => {
      complaints.push(`${error.message}\n${replicas.leader?.process.tail() ?? 'No replica leads.'}`);
    });
    whole.throwIfAborted();
  };
  await attempt(async () => {
    await pools.settle(whole);
    await waitForConvergence(cluster, settings.pools, whole);
  });
  const reconciledSeconds = round((performance.now() - started) / 1_000, 1);
  await attempt(() => waitForEqualStores(cluster, probe));
  const left = [...cluster.world.cloud.state.groups.keys()].filter((name) => !groupPools.includes(name));
  if (left.length > 0) complaints.push(`node groups exist that belong to no pool: ${left.join(', ')}`);
  return { complaints, reconciledSeconds };
}

interface Writes extends LeaseReport {
  readonly toApiServer: number;
  readonly toAws: number;
  /** Calls to AWS that took effect, by operation. */
  readonly carriedOut: Readonly<Record<string, number>>;
  readonly doubleTerminations: readonly string[];
  readonly doubleCreations: readonly string[];
}

/** All writes of the replicas, by the audit log and the calls to AWS. One that cannot be attributed counts as of a replica that never leads. */
async function writesOfReplicas({ cluster, replicas, awsWrites }: SoakWorld): Promise<Writes> {
  const writes: TimedWrite[] = [];
  for await (const event of auditEvents(cluster.world.controlPlane.auditLog)) {
    const write = timedWrite(event, (of) => replicas.ofEvent(of) ?? 'unknown');
    if (write) writes.push(write);
  }
  const toApiServer = writes.filter(({ kind }) => kind === 'write').length;
  writes.push(...awsWrites.map((call) => timedCall(call, replicas.ofCall(call) ?? 'unknown')));
  return {
    ...leaseReport(writes, replicas.pauses),
    toApiServer,
    toAws: awsWrites.length,
    carriedOut: countBy(awsWrites.filter(({ isDone }) => isDone).map(({ operation }) => operation)),
    doubleTerminations: doubleTerminations(awsWrites),
    doubleCreations: doubleCreations(awsWrites),
  };
}

function complaintsAbout(writes: Writes): string[] {
  const about = (found: readonly string[], what: string) =>
    found.length === 0 ? [] : [`${found.length} ${what}:\n${found.slice(0, SHOWN).join('\n')}`];
  return [
    ...(writes.toApiServer === 0 || writes.toAws === 0
      ? ['no write was recorded of the API server or of AWS, so nothing was checked']
      : []),
    ...about(
      writes.unexplained,
      'writes were accepted from a replica that did not hold the lease and that was not sending them when it was paused',
    ),
    ...about(writes.doubleTerminations, 'instances were terminated more than once'),
    ...about(writes.doubleCreations, 'node groups were created twice'),
  ];
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function without<T extends { readonly complaints: unknown }>({ complaints: _, ...rest }: T): Omit<T, 'complaints'> {
  return rest;
}

/** One line for each part of the report. Of a list, its length. */
function summarize(report: object, say: Say): void {
  for (const [part, figures] of Object.entries(report)) {
    if (Array.isArray(figures)) continue;
    const texts = Object.entries(figures as object).map(([name, value]) => `${name} ${textOf(value)}`);
    say(`${part}: ${texts.join(', ')}`);
  }
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return String(value.length);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const ending = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => ending.abort(new Error(`Stopped by ${name}.`)));
}
const start = performance.now();
const say: Say = (line) =>
  console.log(`${String(Math.round((performance.now() - start) / 1_000)).padStart(5)} s  ${line}`);
try {
  await soak(soakSettings(process.env), say, ending.signal);
} catch (error) {
  const cause = ending.signal.aborted ? ending.signal.reason : error;
  console.error(cause instanceof Error ? cause.message : cause);
  process.exitCode = 1;
}
