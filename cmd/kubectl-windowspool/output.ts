/** The flag --output. */
import { stringify } from 'yaml';
import type { Terminal } from './terminal.ts';
import { labelled } from './text.ts';

export const OUTPUT_FORMATS = ['json', 'yaml', 'wide'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** The value as JSON or YAML, for scripts. */
export function serialized(value: unknown, format: 'json' | 'yaml'): string {
  return format === 'json' ? JSON.stringify(value, undefined, 2) : stringify(value, { lineWidth: 0 }).trimEnd();
}

/** Prints a value as the format says: for scripts, or as the lines of that many columns. With `wide`, no line is wrapped. */
export function printResult(
  terminal: Terminal,
  format: OutputFormat | undefined,
  value: unknown,
  lines: (columns: number) => readonly string[],
): void {
  const text =
    format === 'json' || format === 'yaml'
      ? serialized(value, format)
      : lines(format === 'wide' ? Number.POSITIVE_INFINITY : terminal.columns).join('\n');
  terminal.print(text);
}

const SKIP = 'SKIP  ';

/** Prints what the command could not take into account. */
export function printSkipped(terminal: Terminal, skipped: readonly string[]): void {
  for (const reason of skipped) terminal.printError(labelled(SKIP, SKIP.length, reason, terminal.columns).join('\n'));
}
