/** A run of prose in a file: one Markdown document, with the place of each of its lines in the file. */
export type Block = readonly ProseLine[];

export interface ProseLine {
  readonly text: string;
  /** Line and column in the file where `text` starts, both from 1. */
  readonly line: number;
  readonly column: number;
}

/** The lines of a text that starts at that line and column of its file, each without what `prefix` matches at its start. */
export function linesOf(text: string, line: number, column: number, prefix: RegExp): ProseLine[] {
  return text.split('\n').map((whole, index) => {
    const skipped = prefix.exec(whole)?.[0].length ?? 0;
    return { text: whole.slice(skipped).trimEnd(), line: line + index, column: (index === 0 ? column : 1) + skipped };
  });
}
