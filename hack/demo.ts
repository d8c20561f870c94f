/** What the demos share: stages with the time that has passed, and an end with Ctrl+C. */

export interface DemoOutput {
  /** Prints a line. */
  readonly say: (line: string) => void;
  /** Prints the title of a stage, and the seconds since the start. */
  readonly stage: (title: string) => void;
}

/** Runs a demo as a program. The signal aborts at Ctrl+C; an error is printed and ends the program with 1. */
export async function runDemo(demo: (output: DemoOutput, signal: AbortSignal) => Promise<void>): Promise<void> {
  const start = performance.now();
  const say = (line: string) => console.log(line);
  const stage = (title: string) => say(`\n${title} (${((performance.now() - start) / 1_000).toFixed(1)} s)`);
  const ending = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => ending.abort(new Error(`Stopped by ${name}.`)));
  }
  try {
    await demo({ say, stage }, ending.signal);
    stage('Done');
  } catch (error) {
    const cause = ending.signal.aborted ? ending.signal.reason : error;
    console.error(cause instanceof Error ? cause.message : cause);
    process.exitCode = 1;
  }
}
