/** Tables and paragraphs for a terminal. Pure. */
import { stripVTControlCharacters, styleText } from 'node:util';
import { cut } from '../../controllers/windowspool/util/words.ts';

/** The width of output that does not go to a terminal. */
export const DEFAULT_COLUMNS = 80;

/** Colors a word by its meaning. */
export type Paint = (meaning: 'good' | 'warning' | 'bad' | 'title' | 'minor', text: string) => string;

const STYLES = { good: 'green', warning: 'yellow', bad: 'red', title: 'bold', minor: 'dim' } as const;

/** Does not color: output that is not a terminal's, or NO_COLOR is set (https://no-color.org). */
export const plain: Paint = (_, text) => text;

export const colored: Paint = (meaning, text) => styleText(STYLES[meaning], text, { validateStream: false });

/** The escape sequences of `colored`. */
const COLORS = new RegExp(`(${'\x1b'}\\[(?:[12]|22|3[1-39])m)`);

/**
 * The text without control characters but line breaks, tabs and the colors of the plugin: pods and nodes choose texts that are shown, and could
 * otherwise hide or change what a terminal shows. Nor with those that change the direction of a text.
 */
export function printable(text: string, paint: Paint): string {
  const harmless = (part: string) => part.replace(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '');
  if (paint === plain) return harmless(text);
  // Every second part is a color.
  const parts = text.split(COLORS);
  return parts.map((part, index) => (index % 2 === 0 ? harmless(part) : part)).join('');
}

/** A column of a table. */
export interface Column<Row> {
  readonly header: string;
  readonly value: (row: Row) => string;
  /** Whether the column is shown only with `--output=wide`. */
  readonly wide?: true;
  /** Whether its values may be cut, so that the table fits. */
  readonly cut?: true;
}

const GAP = 2;
const LEAST_CUT_WIDTH = 8;

/**
 * The lines of a table, as kubectl prints it. Values have one line.
 * @param width of the terminal; infinite: all columns are shown, and nothing is cut
 */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string[] {
  const shown = columns.filter(({ wide }) => !wide || width === Number.POSITIVE_INFINITY);
  const cells = [
    shown.map(({ header }) => header),
    ...rows.map((row) => shown.map(({ value }) => oneLine(value(row)))),
  ];
  const widths = shown.map((_, at) => Math.max(...cells.map((line) => widthOf(line[at] ?? ''))));
  shrink(widths, shown, width);
  return cells.map((line) =>
    line
      .map((cell, at) => {
        const room = widths[at] ?? 0;
        const fitting = widthOf(cell) > room ? cut(cell, room) : cell;
        return fitting + ' '.repeat(room - widthOf(fitting));
      })
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

/** Narrows the columns that may be cut, the widest first, until the table fits. */
function shrink(widths: number[], columns: readonly Pick<Column<never>, 'cut'>[], width: number): void {
  const total = () => widths.reduce((sum, each) => sum + each, 0) + GAP * (widths.length - 1);
  const flexible = columns.flatMap(({ cut: may }, at) => (may ? [at] : []));
  while (total() > width) {
    const widest = flexible.reduce(
      (best, at) => ((widths[at] ?? 0) > (widths[best] ?? 0) ? at : best),
      flexible[0] ?? -1,
    );
    const now = widths[widest] ?? 0;
    if (now <= LEAST_CUT_WIDTH) return;
    widths[widest] = now - 1;
  }
}

function widthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ');
}

/** The words of the text in lines of at most `columns` characters, indented. A longer word, such as a URL, has a line of its own. */
export function wrap(text: string, columns: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    if (line !== '' && widthOf(indent) + widthOf(line) + 1 + widthOf(word) > columns) {
      lines.push(indent + line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, indent + line];
}

/** The text after a label, such as `PASS  `, with its further lines below the text. `width` is that of the label without colors. */
export function labelled(label: string, width: number, text: string, columns: number): string[] {
  const [first = '', ...more] = wrap(text, columns, ' '.repeat(width));
  return [`${label}${first.slice(width)}`, ...more];
}

/** What to do next, and its command, below a title. */
export function nextStepLines(
  { nextStep, nextCommand }: { readonly nextStep: string; readonly nextCommand?: string },
  columns: number,
  paint: Paint,
): string[] {
  const command = nextCommand ? [`  $ ${nextCommand}`] : [];
  return ['', paint('title', 'Next step'), ...wrap(nextStep, columns, '  '), ...command];
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;

/** The time since an epoch in milliseconds, such as `3d`, `5h`, `12m` or `40s`: in the largest unit of which it has at least two. */
export function age(since: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - since) / 1_000));
  const [unit, size] = UNITS.find(([, each]) => seconds >= 2 * each) ?? ['s', 1];
  return `${Math.floor(seconds / size)}${unit}`;
}
