/** The messages between the processes that run suites and their parent. */

import type { EventLoopDelay } from '../../test/fakes/testenv/operatorProcess.ts';

/** The last line of a worker's output for a file. */
export const END = '\u0004';

/** The next file; without one the worker exits. */
export interface Task {
  readonly file?: string;
}

/** The result of a file. */
export interface Report {
  readonly file: string;
  /** Each failed test or hook: its title and its error. */
  readonly failures: readonly string[];
  readonly tests: readonly { readonly title: string; readonly ms: number }[];
  /** Of each operator that the file stopped. */
  readonly eventLoopDelays: readonly EventLoopDelay[];
}
