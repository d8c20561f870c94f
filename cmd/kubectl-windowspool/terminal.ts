/** Where the plugin reads and writes. */
import { createInterface } from 'node:readline/promises';
import { colored, DEFAULT_COLUMNS, type Paint, plain, printable } from './text.ts';

/** The terminal of the user, or what stands in for it in a script. */
export interface Terminal {
  /** Whether a question can be asked. */
  readonly isInteractive: boolean;
  /** Whether the output can be overwritten. */
  readonly isScreen: boolean;
  readonly columns: number;
  readonly paint: Paint;
  print(text: string): void;
  printError(text: string): void;
  /** Replaces what the terminal shows. */
  redraw(text: string): void;
  /** Returns the answer; empty at the end of the input. */
  ask(question: string, signal: AbortSignal): Promise<string>;
}

/** Clears the screen. What the terminal has shown before stays in its history. */
const CLEAR = '\x1b[H\x1b[2J';

/** The standard streams of the process. */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const paint = stdout.isTTY && !env.NO_COLOR && env.TERM !== 'dumb' ? colored : plain;
  return {
    isInteractive: stdin.isTTY === true && stdout.isTTY === true,
    isScreen: stdout.isTTY === true,
    columns: (stdout.isTTY && stdout.columns) || DEFAULT_COLUMNS,
    paint,
    print: (text) => void stdout.write(`${printable(text, paint)}\n`),
    printError: (text) => void stderr.write(`${printable(text, plain)}\n`),
    redraw: (text) => void stdout.write(`${CLEAR}${printable(text, paint)}\n`),
    ask: async (question, signal) => {
      const lines = createInterface({ input: stdin, output: stdout });
      const { promise, resolve } = Promise.withResolvers<string>();
      lines.once('close', () => resolve(''));
      // readline catches Ctrl-C on a terminal.
      lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      try {
        return await Promise.race([lines.question(question, { signal }), promise]);
      } finally {
        lines.close();
      }
    },
  };
}
