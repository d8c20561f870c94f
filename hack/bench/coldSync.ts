import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NODE_SELECTOR } from '../../controllers/kubernetes/nodes.ts';
import { shipped } from '../shipped.ts';
import type { TestEnv } from '../testenv/testEnv.ts';
import { ensureBaseline } from './baseline.ts';
import { bundleProgram } from './bundle.ts';
import type { Synced } from './coldSync/program.ts';
import { firstDifference } from './dump.ts';
import { type Program, runMeasured } from './measured.ts';
import { megabytes } from './processFigures.ts';
import type { Bench, Mark, Result, Row, Section } from './section.ts';
import { median, round } from './statistics.ts';

const RUNS = 7;
/** The informer of client-node takes several times as long, and is only measured for reference. */
const RUNS_FOR_THE_RECORD = 5;
const BASELINE = 'client-go';
const GROUPS = 10;
/** The size for which the goals are defined. */
const GOAL = { nodes: 10_000, time: 0.75, memory: 1.0 };

interface Contender {
  readonly name: string;
  readonly program: Program;
  readonly runs: number;
}

/** From the start of a process to a store with every node. */
export const coldSync: Section = {
  name: 'coldSync',
  what: "process start to a synced cache of Windows nodes, and its peak memory, against client-go's informer",
  run: async (bench): Promise<Result> => {
    const rows: Row[] = [];
    const marks: Mark[] = [];
    const sizes = [1_000, GOAL.nodes, ...(bench.large ? [50_000] : [])];
    for (const size of sizes) {
      const measured = await measure(bench, size);
      rows.push(...measured.rows);
      if (size === GOAL.nodes) marks.push(...measured.marks);
    }
    const how = `process start to synced; medians of ${RUNS} interleaved runs; peak is VmHWM; client-go 0.36.3 with its defaults (protobuf, GOGC) keeps the same fields; ours with the image's settings of Node; both stores dumped and equal`;
    return { how, rows, marks };
  },
};

async function measure(bench: Bench, nodes: number): Promise<{ rows: Row[]; marks: Mark[] }> {
  const { world } = await bench.cluster(nodes, GROUPS);
  const all = await contendersFor(bench, world);
  // The others need gigabytes for more nodes.
  const contenders = nodes > GOAL.nodes ? all.slice(0, 2) : all;
  await compareStores(contenders, bench.signal);
  const figures = new Map<string, Synced[]>(contenders.map(({ name }) => [name, []]));
  // The comparison has warmed up the server's watch cache and the page cache.
  for (let run = 0; run < RUNS; run++) {
    // Each goes first in turn, because what one leaves behind, such as garbage in the server, slows the next one.
    const turn = run % contenders.length;
    for (const { name, program, runs } of [...contenders.slice(turn), ...contenders.slice(0, turn)]) {
      if (run >= runs) continue;
      const synced = await runMeasured(program, bench.signal);
      if (synced.items !== nodes) throw new Error(`${name} synced ${synced.items} of ${nodes} nodes.`);
      figures.get(name)?.push(synced);
    }
  }
  return summary(nodes, figures);
}

async function contendersFor({ say, signal }: Bench, world: TestEnv): Promise<Contender[]> {
  const pod = await world.podCredentials();
  const args = [`--kubeconfig=${world.operatorKubeconfig}`, `--selector=${NODE_SELECTOR}`];
  const baseline = await ensureBaseline(say, signal);
  const { env, nodeFlags } = shipped();
  const ours = [...nodeFlags, await bundleProgram('coldSync/ours.ts'), `--service-account-dir=${pod.dir}`];
  const clientNode = [await bundleProgram('coldSync/clientNode.ts'), ...args];
  return [
    { name: 'ours', program: { file: process.execPath, args: ours, env: { ...env, ...pod.env } }, runs: RUNS },
    { name: BASELINE, program: { file: baseline, args }, runs: RUNS },
    {
      name: 'client-go, JSON',
      program: { file: baseline, args: [...args, '--json'] },
      runs: RUNS_FOR_THE_RECORD,
    },
    { name: 'client-node', program: { file: process.execPath, args: clientNode }, runs: RUNS_FOR_THE_RECORD },
  ];
}

/** Fails if the store of a contender with the same fields differs from the first one. */
async function compareStores(contenders: readonly Contender[], signal: AbortSignal): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'windowspool-bench-'));
  try {
    const dumps: string[] = [];
    for (const { program } of contenders.slice(0, 2)) {
      const file = join(folder, String(dumps.length));
      await runMeasured({ ...program, args: [...program.args, `--dump=${file}`] }, signal);
      dumps.push(await readFile(file, 'utf8'));
    }
    const [ours = '', theirs = ''] = dumps;
    const difference = firstDifference(ours, theirs);
    if (difference) throw new Error(`The stores of ours and client-go differ: ${difference}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function summary(nodes: number, figures: ReadonlyMap<string, readonly Synced[]>): { rows: Row[]; marks: Mark[] } {
  const middle = (name: string, pick: (synced: Synced) => number) => median((figures.get(name) ?? []).map(pick));
  const ratio = (name: string, pick: (synced: Synced) => number) => round(middle(name, pick) / middle(BASELINE, pick));
  const rows = [...figures].map(([name, runs]) => ({
    nodes,
    name,
    ms: Math.round(middle(name, ({ ms }) => ms)),
    fastest: Math.round(Math.min(...runs.map(({ ms }) => ms))),
    cpuMs: Math.round(middle(name, ({ cpuMs }) => cpuMs)),
    peakMB: megabytes(middle(name, ({ peakKiB }) => peakKiB)),
    timeRatio: ratio(name, ({ ms }) => ms),
    memoryRatio: ratio(name, ({ peakKiB }) => peakKiB),
  }));
  const marks = [
    { name: `time of ours / client-go at ${nodes}`, value: ratio('ours', ({ ms }) => ms), limit: GOAL.time },
    {
      name: `peak memory of ours / client-go at ${nodes}`,
      value: ratio('ours', ({ peakKiB }) => peakKiB),
      limit: GOAL.memory,
    },
  ];
  return { rows, marks };
}
