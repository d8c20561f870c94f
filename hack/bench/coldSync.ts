import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NODE_SELECTOR } from '../../controllers/kubernetes/nodes.ts';
import type { TestEnv } from '../../test/fakes/testenv/testEnv.ts';
import { runCommand } from '../controlplane/command.ts';
import { shipped } from '../shipped.ts';
import { baselinePrograms, prepareBaseline } from './baseline.ts';
import { bundleProgram } from './bundle.ts';
import type { Synced } from './coldSync/ours.ts';
import { firstDifference, linesIn } from './dump.ts';
import { type Figure, figureOf, rounded } from './figures.ts';
import { megabytes } from './processFigures.ts';
import { profileFlags } from './profiling.ts';
import type { Bench, Result, Row, Section } from './section.ts';
import { median } from './statistics.ts';

interface Settings {
  readonly sizes: readonly number[];
  readonly groups: number;
  readonly runs: number;
}

const FULL: Settings = { sizes: [1_000, 10_000], groups: 10, runs: 7 };
const SMALL: Settings = { sizes: [20], groups: 2, runs: 1 };
const LARGE_SIZE = 50_000;
const SYNC_MS = 300_000;

/** Of the time and of the peak memory, relative to client-go's. */
const GOALS: Readonly<Record<number, { readonly time: number; readonly memory: number }>> = {
  1000: { time: 1.2, memory: 1 },
  10000: { time: 0.7, memory: 0.3 },
  50000: { time: 0.45, memory: 0.2 },
};

interface Program {
  readonly file: string;
  readonly args: readonly string[];
  /** In addition to the environment of the benchmark. */
  readonly env?: Readonly<Record<string, string>>;
}

interface Contender {
  readonly name: string;
  readonly program: Program;
  /** The contender that keeps the same fields, with whose store its own is compared. Absent: it keeps whole objects. */
  readonly peer?: string;
}

const OURS = 'ours';
const OURS_WITH_IMAGES = 'ours, with images';
const BASELINE = 'client-go';
const BASELINE_WITH_IMAGES = 'client-go, with images';
const CLIENT_NODE = 'client-node, whole objects';
const MANAGER = 'controller-runtime, whole objects';
/** What remains of a process of ours that does nothing: the rest is ours to improve. */
const NODE_ALONE = 'Node.js alone';

/** From the start of a process to a store with every node. */
export const coldSync: Section = {
  name: 'coldSync',
  what: "process start to a synced cache of Windows nodes, and its peak memory, against client-go's informer",
  limitMs: 30 * 60_000,
  prepare: prepareBaseline,
  run: async (bench): Promise<Result> => {
    const settings = bench.pick(FULL, SMALL);
    const sizes = [...settings.sizes, ...(bench.size === 'large' ? [LARGE_SIZE] : [])];
    const rows: Row[] = [];
    const figures: Figure[] = [];
    for (const nodes of sizes) {
      const runs = await measure(bench, nodes, settings);
      rows.push(...rowsOf(nodes, runs));
      figures.push(...figuresOf(nodes, runs));
    }
    const how = `process start to synced; medians of ${settings.runs} interleaved runs; ratios are of runs side by side; peak is VmHWM; client-go with its defaults (protobuf, GOGC) keeps the same fields; ours with the image's settings of Node; both stores dumped and equal`;
    return { how, rows, figures };
  },
};

type Runs = ReadonlyMap<string, readonly Synced[]>;

async function measure(bench: Bench, nodes: number, { groups, runs }: Settings): Promise<Runs> {
  const { world } = await bench.cluster(nodes, groups);
  const all = await contendersFor(bench, world);
  // client-node's informer does not sync so many: it has no nodes when its start resolves.
  const contenders = nodes < LARGE_SIZE ? all : all.filter(({ name }) => name !== CLIENT_NODE);
  // Warms up the server's watch cache and the page cache, too.
  await compareStores(contenders, bench.signal);
  const measured = new Map<string, Synced[]>();
  for (let run = 0; run < runs; run++) {
    // Each goes first in turn, because what one leaves behind, such as garbage in the server, slows the next one.
    const turn = run % contenders.length;
    for (const { name, program } of [...contenders.slice(turn), ...contenders.slice(0, turn)]) {
      const synced = await runMeasured(program, bench.signal);
      if (synced.items !== (name === NODE_ALONE ? 0 : nodes))
        throw new Error(`${name} synced ${synced.items} of ${nodes} nodes.`);
      measured.set(name, [...(measured.get(name) ?? []), synced]);
    }
  }
  return measured;
}

async function contendersFor({ say, signal }: Bench, world: TestEnv): Promise<Contender[]> {
  const pod = await world.podCredentials();
  const args = [`--kubeconfig=${world.operatorKubeconfig}`, `--selector=${NODE_SELECTOR}`];
  const { baseline, manager } = await baselinePrograms(say, signal);
  const { env, nodeFlags } = shipped();
  const bundled = [
    ...nodeFlags,
    ...profileFlags(),
    await bundleProgram('coldSync/ours.ts'),
    `--service-account-dir=${pod.dir}`,
  ];
  const ours = (...more: string[]) => ({
    file: process.execPath,
    args: [...bundled, ...more],
    env: { ...env, ...pod.env },
  });
  const clientNode = { file: process.execPath, args: [await bundleProgram('coldSync/clientNode.ts'), ...args] };
  const theirs = (...more: string[]) => ({ file: baseline, args: [...args, ...more] });
  return [
    { name: OURS, program: ours(), peer: BASELINE },
    { name: BASELINE, program: theirs(), peer: OURS },
    { name: OURS_WITH_IMAGES, program: ours('--images'), peer: BASELINE_WITH_IMAGES },
    { name: BASELINE_WITH_IMAGES, program: theirs('--images'), peer: OURS_WITH_IMAGES },
    { name: CLIENT_NODE, program: clientNode },
    { name: MANAGER, program: { file: manager, args } },
    {
      name: NODE_ALONE,
      program: { file: process.execPath, args: [...nodeFlags, await bundleProgram('coldSync/nodeAlone.ts')], env },
    },
  ];
}

/** Starts the program with the time of its start as an argument, and returns its figures when it has ended. Rejects with its output when it failed. */
async function runMeasured({ file, args, env = {} }: Program, signal: AbortSignal): Promise<Synced> {
  const started = performance.timeOrigin + performance.now();
  const options = { env: { ...process.env, ...env }, timeoutMs: SYNC_MS, signal };
  const { code, stdout, stderr } = await runCommand(file, [...args, `--started=${started}`], options);
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with status ${code}:\n${stderr}`);
  return JSON.parse(stdout);
}

/** Fails if the stores of two contenders that keep the same fields differ. */
async function compareStores(contenders: readonly Contender[], signal: AbortSignal): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'windowspool-bench-'));
  try {
    const dumps = new Map<string, string>();
    for (const { name, program, peer } of contenders) {
      if (peer === undefined) continue;
      const file = join(folder, String(dumps.size));
      await runMeasured({ ...program, args: [...program.args, `--dump=${file}`] }, signal);
      const other = dumps.get(peer);
      const difference = other && (await firstDifference(linesIn(other), linesIn(file)));
      if (difference) throw new Error(`The stores of ${peer} and ${name} differ: ${difference}`);
      dumps.set(name, file);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function rowsOf(nodes: number, runs: Runs): Row[] {
  return [...runs].map(([name, all]) => {
    const middle = (pick: (synced: Synced) => number) => median(all.map(pick));
    return {
      nodes,
      name,
      ms: Math.round(middle(({ ms }) => ms)),
      fastest: Math.round(Math.min(...all.map(({ ms }) => ms))),
      cpuMs: Math.round(middle(({ cpuMs }) => cpuMs)),
      peakMB: rounded(megabytes(middle(({ peakKiB }) => peakKiB))),
    };
  });
}

function figuresOf(nodes: number, runs: Runs): Figure[] {
  const ratios = (ours: string, theirs: string, pick: (synced: Synced) => number) => {
    const peers = (runs.get(theirs) ?? []).map(pick);
    return (runs.get(ours) ?? []).map((synced, run) => pick(synced) / (peers[run] ?? Number.NaN));
  };
  const first = `first list of ${nodes.toLocaleString('en')} nodes, relative to a client-go informer with the same fields`;
  const withImages = `${first}, while a pool requires images`;
  const goal = GOALS[nodes];
  const [time, cpu, memory] = [({ ms }: Synced) => ms, ({ cpuMs }: Synced) => cpuMs, ({ peakKiB }: Synced) => peakKiB];
  const pair = [OURS, BASELINE] as const;
  const pairWithImages = [OURS_WITH_IMAGES, BASELINE_WITH_IMAGES] as const;
  const beside = (name: string, what: string) => {
    if (!runs.has(name)) return [];
    const peer = `${what}, relative to the first list of ${nodes.toLocaleString('en')} nodes by a client-go informer`;
    return [
      figureOf({ name: `${peer}: time`, unit: '' }, ratios(name, BASELINE, time)),
      figureOf({ name: `${peer}: peak memory`, unit: '' }, ratios(name, BASELINE, memory)),
    ];
  };
  return [
    figureOf({ name: `${first}: time`, unit: '', ...(goal && { goal: goal.time }) }, ratios(...pair, time)),
    figureOf({ name: `${first}: CPU time`, unit: '' }, ratios(...pair, cpu)),
    figureOf({ name: `${first}: peak memory`, unit: '', ...(goal && { goal: goal.memory }) }, ratios(...pair, memory)),
    figureOf({ name: `${withImages}: time`, unit: '' }, ratios(...pairWithImages, time)),
    figureOf({ name: `${withImages}: peak memory`, unit: '' }, ratios(...pairWithImages, memory)),
    ...beside(CLIENT_NODE, "the same by client-node's informer"),
    ...beside(MANAGER, 'the same by a controller-runtime manager'),
    ...beside(NODE_ALONE, 'start of Node.js, which then does nothing'),
  ];
}
