/**
 * `make soak`: the operator and its cache of nodes for minutes (SOAK_MINUTES, default 10) with failures of the network and the API server.
 * At the end the cache must equal the API server's list, memory must be flat, and no process may have exited unexpectedly.
 */
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { operatorBundle } from '../operatorBundle.ts';
import { BenchOperator } from './benchOperator.ts';
import { bundleProgram } from './bundle.ts';
import { preparePools } from './pools.ts';
import { Bench } from './section.ts';
import { churn } from './soak/churn.ts';
import { waitForEqualStores } from './soak/comparison.ts';
import { injectFaults, type SoakFixture } from './soak/faults.ts';
import { FaultyProxy } from './soak/faultyProxy.ts';
import { MemoryTrack } from './soak/memoryTrack.ts';
import { ProbeProcess } from './soak/probeProcess.ts';

const NODES = 2_000;
const GROUPS = 5;
const PAUSE_MS = 15_000;
const SAMPLE_MS = 5_000;
const FILE = 'build/soak.json';

async function soak(bench: Bench, minutes: number): Promise<void> {
  const cluster = await bench.cluster(NODES, GROUPS);
  const bundle = await operatorBundle();
  await preparePools(cluster, bundle);
  const { controlPlane, operatorKubeconfig } = cluster.world;
  const proxy = await FaultyProxy.start(Number(new URL(controlPlane.url).port));
  const kubeconfig = join(controlPlane.dir, 'kubeconfig', 'proxied.yaml');
  const direct = await readFile(operatorKubeconfig, 'utf8');
  await writeFile(kubeconfig, direct.replaceAll(controlPlane.url, `https://127.0.0.1:${proxy.port}`), { mode: 0o600 });
  await mkdir('build', { recursive: true });
  const log = openSync('build/soak-probe.log', 'w');
  const probe = new ProbeProcess(await bundleProgram('soak/probe.ts'), kubeconfig, log);
  // A restart of the API server may take longer than the lease, after which the operator exits as designed.
  const operator = await BenchOperator.start(cluster, bundle, { kubeconfig, flags: ['--leader-elect=false'] });
  try {
    const limit = AbortSignal.any([bench.signal, AbortSignal.timeout(minutes * 60_000)]);
    const fixture: SoakFixture = { cluster, proxy, probe, say: bench.say, signal: limit };
    const track = new MemoryTrack(probe, operator);
    const [faults, changes] = await Promise.all([
      injectFaults(fixture, PAUSE_MS),
      churn(cluster, limit),
      track.follow(SAMPLE_MS, limit),
    ]);
    bench.signal.throwIfAborted();
    bench.say('The storm is over; comparing.');
    const objects = await waitForEqualStores(cluster, probe);
    const figures = await probe.ask('memory');
    const complaints = [...faults.complaints, ...track.complaints(), ...(await endings(probe, operator))];
    const { complaints: _, ...counts } = faults;
    const result = { minutes, nodes: objects, ...changes, ...counts, ...track.summary() };
    console.table([result]);
    console.table([figures]);
    await writeFile(FILE, `${JSON.stringify({ ...result, probe: figures, complaints }, undefined, 2)}\n`);
    if (complaints.length > 0) throw new Error(complaints.join('\n'));
    bench.say(`The store equals the API server's list of ${objects} nodes, object by object; nothing ended by itself.`);
  } finally {
    await Promise.allSettled([probe.stop(), operator.stop()]);
    await proxy.stop();
    closeSync(log);
  }
}

/** Errors in the exit statuses of the processes. After an unhandled rejection the status is not 0. */
async function endings(probe: ProbeProcess, operator: BenchOperator): Promise<string[]> {
  const complaints: string[] = [];
  if (!operator.running) complaints.push(`the operator ended by itself:\n${operator.tail()}`);
  if (!probe.running) complaints.push('the probe ended by itself; see build/soak-probe.log');
  const [operatorCode, probeCode] = await Promise.all([operator.stop(), probe.stop()]);
  if (operatorCode !== 0) complaints.push(`the operator ended with ${operatorCode}:\n${operator.tail()}`);
  if (probeCode !== 0) complaints.push(`the probe ended with ${probeCode}; see build/soak-probe.log`);
  if (operator.lines.join('').includes('unhandled rejection'))
    complaints.push('the operator had an unhandled rejection');
  return complaints;
}

function minutesIn(text: string): number {
  const minutes = Number(text);
  if (!(minutes > 0)) throw new Error(`SOAK_MINUTES is ${JSON.stringify(text)}. Give a number of minutes above 0.`);
  return minutes;
}

const ending = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => ending.abort(new Error(`Stopped by ${name}.`)));
}
const start = performance.now();
const bench = new Bench(
  (line) => console.log(`${String(Math.round((performance.now() - start) / 1_000)).padStart(5)} s  ${line}`),
  ending.signal,
  false,
);
try {
  await soak(bench, minutesIn(process.env.SOAK_MINUTES ?? '10'));
} catch (error) {
  const cause = ending.signal.aborted ? ending.signal.reason : error;
  console.error(cause instanceof Error ? cause.message : cause);
  process.exitCode = 1;
} finally {
  await bench.stop();
}
