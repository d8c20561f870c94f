import type { Readable } from 'node:stream';

/** A process to run under the supervisor. */
export interface ProcessSpec {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** File that receives standard output and error, appended. */
  readonly log: string;
  /** Processes of a higher layer are ended before those of a lower one, those of one layer at the same time. */
  readonly layer: number;
}

/** The parent's commands to the supervisor: one JSON object per line on its standard input. */
export type Request =
  | { readonly id: number; readonly kind: 'start'; readonly process: ProcessSpec }
  | { readonly id: number; readonly kind: 'stop'; readonly name: string };

/** The supervisor's messages: one JSON object per line on its standard output. */
export type Message =
  | { readonly kind: 'ready'; readonly guard: number }
  | { readonly kind: 'reply'; readonly id: number; readonly pid?: number; readonly error?: string }
  | {
      readonly kind: 'exit';
      readonly name: string;
      readonly pid: number;
      readonly how: string;
      readonly asked: boolean;
    };

/** Arguments of the supervisor process. */
export interface SupervisorOptions {
  /** Folder to delete at the end, or empty. */
  readonly remove: string;
}

/** Calls `take` with each complete line. The text after the last line break is not a line. */
export function readLines(stream: Readable, take: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(take);
  });
}
