/** The messages between the processes that run suites and their parent. */

/** The line after which a worker has printed all about a file. */
export const END = '\u0004';

/** The next file; without one the worker ends. */
export interface Task {
  readonly file?: string;
}

/** How a file went. */
export interface Report {
  readonly file: string;
  /** How many of its tests and hooks failed. */
  readonly failed: number;
  readonly tests: readonly { readonly title: string; readonly ms: number }[];
}
