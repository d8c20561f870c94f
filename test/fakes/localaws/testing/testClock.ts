import { MemoryCloud } from '../memory.ts';
import type { StateOptions } from '../state.ts';
import { sampleCluster } from './fixtures.ts';

/** A clock for tests that moves only when it is advanced. */
export class TestClock {
  #now = Date.UTC(2026, 3, 20);

  now(): number {
    return this.#now;
  }

  /** Lets so many seconds pass. */
  advance(seconds: number): void {
    this.#now += seconds * 1000;
  }
}

/** A local AWS in memory with its clock. For tests. */
export function memoryCloud(options: Partial<StateOptions> & { readonly policy?: string } = {}): {
  cloud: MemoryCloud;
  clock: TestClock;
} {
  const clock = new TestClock();
  return { cloud: new MemoryCloud({ cluster: sampleCluster, clock, ...options }), clock };
}
