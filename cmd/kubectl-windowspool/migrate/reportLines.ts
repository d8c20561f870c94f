/** The lines of a migration report. Pure. */
import { count } from '../../../controllers/windowspool/util/words.ts';
import { type Column, labelled, nextStepLines, type Paint, table, wrap } from '../text.ts';
import { type MigrationReport, type WorkloadReport, workloadName } from './report.ts';

const STATES = { Change: 'bad', Blocked: 'warning', Ready: 'good' } as const;
const LABELS = { CHANGE: 'bad', BLOCKS: 'warning', ADVICE: 'minor', FAILS: 'bad' } as const;
const LABEL_WIDTH = 6;
const INDENT = 2;

/** The table of all workloads, what each must change, the state of the pools, and the next step. */
export function reportLines(report: MigrationReport, columns: number, paint: Paint): string[] {
  return [...findingLines(report, columns, paint), ...nextStepLines(report, columns, paint)];
}

/** These lines without the next step. */
export function findingLines(report: MigrationReport, columns: number, paint: Paint): string[] {
  const { from, to, workloads, problems, advice } = report;
  const ofPool = ({ pool, windowsVersion, nodes }: MigrationReport['from']) =>
    `pool ${pool} (${windowsVersion}, ${count(nodes, 'node')})`;
  const item = (label: keyof typeof LABELS, text: string) =>
    labelled(
      `${' '.repeat(INDENT)}${paint(LABELS[label], label.padEnd(LABEL_WIDTH))}  `,
      INDENT + LABEL_WIDTH + 2,
      text,
      columns,
    );
  const pools = [
    ...problems.flatMap(({ message }) => item('FAILS', message)),
    ...advice.flatMap((text) => item('ADVICE', text)),
  ];
  return [
    ...wrap(`From ${ofPool(from)} to ${ofPool(to)}`, columns),
    '',
    ...(workloads.length === 0 ? [`No workload uses pool ${from.pool}.`] : workloadTable(workloads, columns, paint)),
    ...workloads
      .filter(hasDetails)
      .flatMap((workload) => [
        '',
        workloadName(workload),
        ...workload.changes.flatMap(({ text }) => item('CHANGE', text)),
        ...workload.blocks.flatMap((text) => item('BLOCKS', text)),
        ...workload.advice.flatMap((text) => item('ADVICE', text)),
      ]),
    ...(pools.length > 0 ? ['', 'Pools', ...pools] : []),
  ];
}

function hasDetails({ changes, blocks, advice }: WorkloadReport): boolean {
  return changes.length + blocks.length + advice.length > 0;
}

function workloadTable(workloads: readonly WorkloadReport[], columns: number, paint: Paint): string[] {
  const workloadColumns: readonly Column<WorkloadReport>[] = [
    { header: 'WORKLOAD', cut: true, value: workloadName },
    { header: 'PODS', value: ({ pods }) => String(pods) },
    { header: 'STATE', value: ({ state }) => paint(STATES[state], state) },
    {
      header: 'CHANGES',
      cut: true,
      value: ({ changes }) => [...new Set(changes.map(({ field }) => field))].join(', '),
    },
  ];
  return table(workloadColumns, workloads, columns);
}
