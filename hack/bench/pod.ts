/** The image of the operator in a pod on a real node, beside Karpenter in the same pod. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildImage } from '../image/buildImage.ts';
import type { Layer } from '../image/oci.ts';
import { readPins } from '../image/pins.ts';
import { ensureKarpenter } from '../karpenter/karpenter.ts';
import { ARCHITECTURE, buildProgramImage } from '../realnode/images.ts';
import { spawnIsolated } from '../realnode/isolation.ts';
import { ensureNodePrograms } from '../realnode/programs.ts';
import { shipped } from '../shipped.ts';
import { type Figure, figureOf, rounded } from './figures.ts';
import type { PodAnswer, PodRun, PodTask } from './podRuns.ts';
import type { Bench, Result, Row, Section } from './section.ts';
import { median } from './statistics.ts';

const FULL = { runs: 7, restSeconds: 10 };
const SMALL = { runs: 1, restSeconds: 1 };
/** Of the operator's memory. */
const GOAL = { rssMB: 70 };
const PROGRAM = fileURLToPath(new URL('podRuns.ts', import.meta.url));
const KARPENTER_IMAGE = 'localhost/karpenter:1';
/** A start of the environment, and ten pods. */
const RUNS_MS = 8 * 60_000;

interface Image {
  readonly archive: string;
  readonly layers: readonly Layer[];
  readonly debianPackages: number;
}

/** The cost of the image and of its pod. */
export const pod: Section = {
  name: 'pod',
  what: "the operator's image, and its pod on a real node from kubectl apply to leader and at rest, beside Karpenter's",
  needsRealNode: true,
  prepare: async ({ say, signal }) => {
    await ensureNodePrograms(say, signal);
    await ensureKarpenter(say, signal);
  },
  run: async (bench): Promise<Result> => {
    const { runs, restSeconds } = bench.pick(FULL, SMALL);
    // Another cluster would disturb.
    await bench.stop();
    const folder = await mkdtemp(join(tmpdir(), 'windowspool-bench-'));
    try {
      const karpenter = await ensureKarpenter(bench.say, bench.signal);
      // The namespaces of the node have no network from which its packages could be downloaded.
      const operatorImage = await buildOperatorImage(join(folder, 'operator'));
      const karpenterImage = await buildKarpenterImage(karpenter.program, join(folder, 'karpenter'));
      const measured = await runPods(bench, {
        operator: operatorImage.archive,
        karpenter: { archive: karpenterImage.archive, image: KARPENTER_IMAGE, crds: karpenter.crds },
        runs,
        restSeconds,
      });
      const name = `Karpenter ${karpenter.version}`;
      return {
        how: `medians of ${runs} interleaved runs of a pod on a real node that has both images, with the same resources, probes and security context, without pools and NodePools; leader: from the start of kubectl apply of the Deployment to the watch event of the held Lease; RSS: VmRSS, ${restSeconds} s later; ${name} is its core with the simulated provider, in an image that has only its program, while its published images also have a base; MB of 1,000,000 bytes`,
        rows: [
          rowOf('the operator', operatorImage, measured.operator),
          rowOf(name, karpenterImage, measured.karpenter),
        ],
        figures: [
          ...figuresOf('the operator', operatorImage, measured.operator, GOAL.rssMB),
          ...figuresOf(name, karpenterImage, measured.karpenter),
        ],
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function buildOperatorImage(folder: string): Promise<Image> {
  const { archive, images } = await buildImage({ folder, architectures: [ARCHITECTURE] });
  const { debian } = await readPins();
  return {
    archive,
    layers: images.flatMap(({ layers }) => layers),
    debianPackages: Object.keys(debian.packages).length,
  };
}

async function buildKarpenterImage(program: string, folder: string): Promise<Image> {
  const { user } = shipped();
  const { archive, layer } = await buildProgramImage({ reference: KARPENTER_IMAGE, program, user, folder });
  return { archive, layers: [layer], debianPackages: 0 };
}

/** Measures in namespaces of their own, which end with this. */
async function runPods({ say, signal }: Bench, task: PodTask): Promise<Extract<PodAnswer, { operator: unknown }>> {
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
  const child = await spawnIsolated([PROGRAM, JSON.stringify(task)], { env: process.env, stdio, log: say });
  const exit = once(child, 'exit');
  try {
    const message = once(child, 'message', { signal: AbortSignal.any([signal, AbortSignal.timeout(RUNS_MS)]) });
    const [answer]: PodAnswer[] = await Promise.race([
      message,
      exit.then(([code, name]) => Promise.reject(new Error(`The program of the pods ended with ${name ?? code}.`))),
    ]);
    if (!answer || 'error' in answer) throw new Error(answer?.error ?? 'The program of the pods sent nothing.');
    return answer;
  } finally {
    child.kill('SIGKILL');
    await exit;
  }
}

function rowOf(name: string, image: Image, runs: readonly PodRun[]): Row {
  return {
    name,
    ...sizesOf(image),
    leaderS: rounded(median(runs.map(({ leaderMs }) => leaderMs)) / 1_000),
    rssMB: rounded(median(runs.map(({ rssMB }) => rssMB))),
  };
}

function figuresOf(name: string, image: Image, runs: readonly PodRun[], goal?: number): Figure[] {
  const { compressedMB, unpackedMB, layers, debianPackages } = sizesOf(image);
  return [
    { name: `image of ${name}: compressed`, unit: 'MB', value: compressedMB },
    { name: `image of ${name}: unpacked`, unit: 'MB', value: unpackedMB },
    { name: `image of ${name}: layers`, unit: '', value: layers },
    { name: `image of ${name}: Debian packages`, unit: '', value: debianPackages },
    figureOf(
      { name: `pod of ${name}: time from kubectl apply until it is the leader`, unit: 's' },
      runs.map(({ leaderMs }) => leaderMs / 1_000),
    ),
    figureOf(
      { name: `pod of ${name}: memory (RSS) at rest`, unit: 'MB', ...(goal && { goal }) },
      runs.map(({ rssMB }) => rssMB),
    ),
  ];
}

function sizesOf({ layers, debianPackages }: Image) {
  const total = (sizeOf: (layer: Layer) => number) =>
    rounded(layers.reduce((sum, layer) => sum + sizeOf(layer), 0) / 1e6);
  return {
    compressedMB: total(({ descriptor }) => descriptor.size),
    unpackedMB: total(({ unpackedBytes }) => unpackedBytes),
    layers: layers.length,
    debianPackages,
  };
}
