/** Samples the memory of the soak's processes and checks whether it grows. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOperator } from '../benchOperator.ts';
import { megabytes } from '../processFigures.ts';
import { type Point, round, slope } from '../statistics.ts';
import type { ProbeProcess } from './probeProcess.ts';

/** The memory of compilers and caches at the start is not a leak: the first third is not counted. */
const BEGIN = 1 / 3;
/** A higher rate would reach the memory limit of a pod within days. The heap of the probe is measured after a collection, so it is nearly constant. */
const LIMIT_MB_PER_MINUTE = { probeHeap: 0.1, operatorRss: 2 };

export class MemoryTrack {
  readonly #probe: ProbeProcess;
  readonly #operator: BenchOperator;
  readonly #probeHeap: Point[] = [];
  readonly #operatorRss: Point[] = [];

  constructor(probe: ProbeProcess, operator: BenchOperator) {
    this.#probe = probe;
    this.#operator = operator;
  }

  /** Takes a sample every `everyMs` until the signal aborts. */
  async follow(everyMs: number, signal: AbortSignal): Promise<void> {
    const started = performance.now();
    while (!signal.aborted && this.#probe.running && this.#operator.running) {
      const { heapKiB, externalKiB } = await this.#probe.ask('memory');
      const x = (performance.now() - started) / 60_000;
      this.#probeHeap.push({ x, y: megabytes(heapKiB + externalKiB) });
      this.#operatorRss.push({ x, y: megabytes(this.#operator.memory.rssKiB) });
      await sleep(everyMs, undefined, { signal }).catch(() => undefined);
    }
  }

  summary() {
    return {
      probeHeapMB: this.#probeHeap.at(-1)?.y ?? Number.NaN,
      probeHeapMBPerMinute: round(growth(this.#probeHeap), 3),
      operatorRssMB: this.#operatorRss.at(-1)?.y ?? Number.NaN,
      operatorRssMBPerMinute: round(growth(this.#operatorRss), 3),
    };
  }

  complaints(): string[] {
    const { probeHeapMBPerMinute: heap, operatorRssMBPerMinute: rss } = this.summary();
    return [
      ...(heap > LIMIT_MB_PER_MINUTE.probeHeap ? [`the heap of the cache grows by ${heap} MB a minute`] : []),
      ...(rss > LIMIT_MB_PER_MINUTE.operatorRss ? [`the operator's memory grows by ${rss} MB a minute`] : []),
    ];
  }
}

function growth(points: readonly Point[]): number {
  const end = points.at(-1)?.x ?? 0;
  return slope(points.filter(({ x }) => x >= end * BEGIN));
}
