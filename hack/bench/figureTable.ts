/** The table of docs/reference/performance.md. Pure. */
import { type Figure, goalResult, textOf } from './figures.ts';
import type { MeasuredSections } from './report.ts';

const BEGIN = '<!-- Written by hack/bench/page.ts. -->';
const END = '<!-- End of the table. -->';

/** The machine, and how busy it was. */
export function conditionsOf(sections: MeasuredSections): string {
  const all = Object.values(sections);
  const machines = new Set(all.map(({ node, processors }) => `Node.js ${node} on ${processors} processors`));
  const loads = all.map(({ loadBefore }) => loadBefore);
  const references = all.flatMap(({ referenceMs = [] }) => referenceMs);
  const speed =
    references.length === 0
      ? ''
      : ` The loop that shows the speed of the machine took ${Math.min(...references)} to ${Math.max(...references)} ms: virtual machines of one kind can be twice or half as fast.`;
  return `Measured with ${[...machines].join(', and ')}.${speed} The load average before each section was ${Math.min(...loads)} to ${Math.max(...loads)}. If it is higher than the number of processors, times are too long, and ratios vary more.`;
}

/** A row for each figure, in the order of the sections. */
export function tableOf(sections: MeasuredSections): string {
  const rows = Object.values(sections).flatMap(({ at, figures }) =>
    figures.map((figure) => [figure.name, textOf(figure), goalOf(figure), at.slice(0, 10)]),
  );
  const head = [
    ['measurement', 'median (range)', 'goal', 'measured'],
    ['---', '---', '---', '---'],
  ];
  return [...head, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function goalOf(figure: Figure): string {
  const { goal, unit } = figure;
  if (goal === undefined) return '';
  const result = goalResult(figure);
  return `${goal}${unit && ` ${unit}`}${result === 'met' ? '' : `, **${result}**`}`;
}

/** The page with this text in place of the present one. */
export function withTable(page: string, text: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`The page has no place for the table: ${BEGIN} and ${END}.`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${text}\n\n${page.slice(end)}`;
}
