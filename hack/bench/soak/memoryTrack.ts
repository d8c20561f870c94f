/** Samples the memory of the soak's processes and checks whether it grows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { shippedMemory } from '../../shipped.ts';
import { megabytes, memoryOf } from '../processFigures.ts';
import { type Point, round, slope } from '../statistics.ts';
import type { ProbeProcess } from './probeProcess.ts';

/** The memory of compilers and caches at the start is not a leak: only the second half is measured. */
const BEGIN = 1 / 2;
/**
 * And of each process of the operator only what comes after its first minutes as the leader or as a standby, if that is long enough to show a trend: a
 * standby that becomes the leader fills the caches of all pools.
 */
const WARM_UP_MINUTES = 2;
const LEAST_MINUTES = 4;
/** In a test of this length, a process lives long enough to be measured, although leaders that are paused for too long exit. */
const MEASURED_FROM_MINUTES = 30;
/** Heaps are measured after a collection. That of the probe is nearly constant; the operator also remembers what changes with its pools. */
const LIMITS = { probeHeapMB: 3, operatorGrowthMB: 10 };
const { limitMB: CONTAINER_MB } = shippedMemory();

/** A process of the operator. */
interface Sampled {
  readonly pid: number;
  readonly running: boolean;
  /** Whether it is the leader. */
  readonly leads: boolean;
}

export class MemoryTrack {
  readonly #probe: ProbeProcess;
  readonly #operators: () => readonly Sampled[];
  readonly #probeHeap: Point[] = [];
  /** For each process of the operator, as the leader and as a standby. */
  readonly #operatorHeap = new Map<string, Point[]>();
  readonly #reports: string;
  #peakMB = 0;
  #minutes = 0;

  /** `operators` returns the present processes of the operator, which report their heaps to the folder `reports`: see heapReport.ts. */
  constructor(probe: ProbeProcess, reports: string, operators: () => readonly Sampled[]) {
    this.#probe = probe;
    this.#reports = reports;
    this.#operators = operators;
  }

  /** Takes a sample every `everyMs` until the signal aborts. */
  async follow(everyMs: number, signal: AbortSignal): Promise<void> {
    const started = performance.now();
    while (!signal.aborted && this.#probe.running) {
      const { heapKiB, externalKiB } = await this.#probe.ask('memory');
      const x = (performance.now() - started) / 60_000;
      this.#minutes = x;
      this.#probeHeap.push({ x, y: megabytes(heapKiB + externalKiB) });
      for (const operator of this.#operators()) if (operator.running) this.#sample(operator, x);
      await sleep(everyMs, undefined, { signal }).catch(() => undefined);
    }
  }

  #sample({ pid, leads }: Sampled, x: number): void {
    try {
      this.#peakMB = Math.max(this.#peakMB, megabytes(memoryOf(pid).peakKiB));
    } catch {
      // It has just exited.
      return;
    }
    const heap = reportOf(join(this.#reports, `heap-${pid}`));
    if (heap === undefined) return;
    const series = `${pid} ${leads ? 'leader' : 'standby'}`;
    const points = this.#operatorHeap.get(series) ?? [];
    // A report counts several times, until the next one replaces it.
    points.push({ x, y: megabytes(heap) });
    this.#operatorHeap.set(series, points);
  }

  summary() {
    const begin = this.#minutes * BEGIN;
    const probeHeapMBPerMinute = slope(this.#probeHeap.filter(({ x }) => x >= begin));
    const growths = [...this.#operatorHeap].flatMap(([operator, points]) => {
      const growth = growthOf(points, begin);
      return growth ? [{ operator, ...growth }] : [];
    });
    const longest = Math.max(0, ...growths.map(({ minutes }) => minutes));
    const [most] = growths.sort((a, b) => b.growthMB - a.growthMB);
    return {
      probeHeapMB: this.#probeHeap.at(-1)?.y ?? Number.NaN,
      probeHeapMBPerMinute: round(probeHeapMBPerMinute, 3),
      /** In the second half, by its trend. */
      probeGrowthMB: round(probeHeapMBPerMinute * (this.#minutes - begin), 1),
      operatorPeakMB: this.#peakMB,
      /** Of the process that grew most; undefined if none lived long enough. */
      operatorGrowthMB: most && round(most.growthMB, 1),
      /** How it was measured: its role, for how many minutes, and its memory at the start and at the end. */
      ...(most && {
        mostGrowth: `${most.operator}: ${round(most.firstMB, 1)} to ${round(most.lastMB, 1)} MB in ${round(most.minutes, 1)} min`,
      }),
      /** For how long one process was measured, at most. */
      operatorMeasuredMinutes: round(longest, 1),
    };
  }

  complaints(): string[] {
    const { probeGrowthMB, operatorGrowthMB: growth, operatorPeakMB: peak } = this.summary();
    const isMissing = growth === undefined && this.#minutes >= MEASURED_FROM_MINUTES;
    return [
      ...(probeGrowthMB > LIMITS.probeHeapMB
        ? [`the heap of the cache grew by ${probeGrowthMB} MB in the second half, more than ${LIMITS.probeHeapMB}`]
        : []),
      ...(isMissing
        ? ['the growth of the operator is not known: no process lived long enough in the second half']
        : []),
      ...(growth !== undefined && growth > LIMITS.operatorGrowthMB
        ? [`a process of the operator grew by ${growth} MB in the second half, more than ${LIMITS.operatorGrowthMB}`]
        : []),
      ...(peak > CONTAINER_MB
        ? [`the operator used ${peak} MB, more than the ${round(CONTAINER_MB, 0)} MB that its container has`]
        : []),
    ];
  }
}

/** The memory that a process used after its last collection, in KiB; undefined before its first report. */
function reportOf(path: string): number | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).heapKiB;
  } catch {
    return undefined;
  }
}

/** How much a process has grown. */
interface Growth {
  /** By how much its least memory in the second half of the time exceeds that in the first half, doubled: for the whole time. */
  readonly growthMB: number;
  readonly minutes: number;
  readonly firstMB: number;
  readonly lastMB: number;
}

/**
 * How much a process has grown, from `begin` and the end of its first minutes until its last sample. `points` has MB by minutes. Undefined if that time is
 * too short to show a trend.
 */
export function growthOf(points: readonly Point[], begin: number): Growth | undefined {
  const from = Math.max(begin, (points[0]?.x ?? 0) + WARM_UP_MINUTES);
  const minutes = (points.at(-1)?.x ?? 0) - from;
  if (minutes < LEAST_MINUTES) return undefined;
  const measured = points.filter(({ x }) => x >= from);
  // A list of all nodes doubles what is in use for a moment, and a leak raises the least of it.
  const leastIn = (half: readonly Point[]) => Math.min(...half.map(({ y }) => y));
  const isEarly = ({ x }: Point) => x < from + minutes / 2;
  const firstMB = leastIn(measured.filter(isEarly));
  const lastMB = leastIn(measured.filter((point) => !isEarly(point)));
  return { minutes, growthMB: 2 * (lastMB - firstMB), firstMB, lastMB };
}
