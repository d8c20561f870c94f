/** The flag --output. */
import { stringify } from 'yaml';
import type { Terminal } from './terminal.ts';
import { labelled } from './text.ts';

export const OUTPUT_FORMATS = ['json', 'yaml', 'wide'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

type Formatted = [format: OutputFormat | undefined, value: unknown, lines: (columns: number) => readonly string[]];

/** A value as the format says: for scripts, or as the lines of that many columns. With `wide`, no line is wrapped. */
export function formatted(columns: number, ...[format, value, lines]: Formatted): string {
  if (format === 'json') return JSON.stringify(value, undefined, 2);
  if (format === 'yaml') return stringify(value, { lineWidth: 0 }).trimEnd();
  return lines(format === 'wide' ? Number.POSITIVE_INFINITY : columns).join('\n');
}

/** Prints it. */
export function printResult(terminal: Terminal, ...how: Formatted): void {
  terminal.print(formatted(terminal.columns, ...how));
}

const SKIP = 'SKIP  ';

/** Prints what the command could not take into account. */
export function printSkipped(terminal: Terminal, skipped: readonly string[]): void {
  for (const reason of skipped) terminal.printError(labelled(SKIP, SKIP.length, reason, terminal.columns).join('\n'));
}
