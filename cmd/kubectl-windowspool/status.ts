/** `kubectl windowspool status`: a pool on one screen, or all pools in a table. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Option } from 'commander';
import { count } from '../../controllers/windowspool/util/words.ts';
import type { Cluster } from './cluster.ts';
import type { PluginCommand } from './command.ts';
import { explain, Failure } from './failure.ts';
import { outputOption } from './flags.ts';
import { formatted, type OutputFormat } from './output.ts';
import { type Finding, isOtherRelease, type PoolReport, reportOf, withoutCommand } from './poolReport.ts';
import type { Terminal } from './terminal.ts';
import { type Column, nextStepLines, type Paint, table, wrap } from './text.ts';

const REFRESH_MS = 2_000;
/** What the states mean that a user would have to look up. */
const UNSCHEDULABLE: Readonly<Record<string, string>> = {
  gated: ' (no pods until they are verified)',
  quarantined: ' (no new pods: they failed verification)',
};
/** Lines of a message; `kubectl describe` shows all of it. */
const MESSAGE_LINES = 6;
const LABEL_WIDTH = 14;

export interface StatusFlags {
  readonly output?: OutputFormat;
  readonly watch?: boolean;
}

/** Prints the status of one pool, or of all. With --watch, until the signal aborts. */
async function status(
  cluster: Cluster,
  terminal: Terminal,
  pool: string | undefined,
  { output, watch }: StatusFlags,
): Promise<void> {
  const read = async () => {
    if (pool === undefined) {
      const reports = (await cluster.pools()).map(reportOf);
      return formatted(terminal.columns, output, reports, (columns) => listLines(reports, columns, terminal.paint));
    }
    const report = reportOf(await cluster.pool(pool));
    return formatted(terminal.columns, output, report, (columns) => poolLines(report, columns, terminal.paint));
  };
  if (!watch) return terminal.print(await read());
  let last = '';
  for (;;) {
    const text = await read().catch((error: unknown) => {
      cluster.signal.throwIfAborted();
      if (error instanceof Failure || last === '') throw error;
      return `${last}\n\n${explain(error)} Retrying.`;
    });
    if (terminal.isScreen) terminal.redraw(`${text}\n\n${terminal.paint('minor', 'Press Ctrl-C to stop.')}`);
    else if (text !== last) terminal.print(text);
    last = text;
    await sleep(REFRESH_MS, undefined, { signal: cluster.signal });
  }
}

/** The lines of some pools. */
function listLines(reports: readonly PoolReport[], columns: number, paint: Paint): string[] {
  return reports.length === 0 ? ['No WindowsPools found.'] : poolTable(reports, columns, paint);
}

/** The lines of a table of pools. */
export function poolTable(reports: readonly PoolReport[], columns: number, paint: Paint): string[] {
  const statusOf = (report: PoolReport) => paint(colorOf(report), `${report.verdict}${report.paused ? ',Paused' : ''}`);
  const poolColumns: readonly Column<PoolReport>[] = [
    { header: 'POOL', cut: true, value: ({ pool }) => pool },
    { header: 'STATUS', value: statusOf },
    { header: 'NODES', value: ({ nodes: { total = 0, desired = total } }) => `${total}/${desired}` },
    { header: 'VERIFIED', value: ({ nodes }) => String(nodes.verified ?? 0) },
    { header: 'PROBLEM', value: ({ problems }) => problems[0]?.reason ?? '' },
    { header: 'NOTE', cut: true, value: ({ inProgress, notes }) => (inProgress[0] ?? notes[0])?.reason ?? '' },
    { header: 'WINDOWS', wide: true, value: ({ windowsVersion }) => windowsVersion },
    { header: 'BUILD', wide: true, value: ({ build = '' }) => build },
    { header: 'RELEASE', wide: true, value: ({ release = '' }) => release },
    { header: 'NEXT COMMAND', wide: true, value: ({ nextCommand = '' }) => nextCommand },
  ];
  return table(poolColumns, reports, columns);
}

function colorOf({ verdict, problems, paused }: PoolReport): 'good' | 'warning' | 'bad' {
  if (verdict === 'NotReady') return 'bad';
  return verdict === 'Ready' && problems.length === 0 && !paused ? 'good' : 'warning';
}

const VERDICTS: Readonly<Record<PoolReport['verdict'], string>> = {
  Ready: 'is Ready',
  NotReady: 'is not Ready',
  Unknown: 'has an unknown status',
  Deleting: 'is being deleted',
};

/** The lines of one pool. */
export function poolLines(report: PoolReport, columns: number, paint: Paint): string[] {
  const { pool, verdict, paused, message, problems, inProgress, notes, nextCommand } = report;
  // The next command is that of the first problem.
  const shown = problems.map((problem, index) =>
    index === 0 ? { ...problem, message: withoutCommand(problem.message, nextCommand) } : problem,
  );
  const title = `Pool ${pool} ${VERDICTS[verdict]}${paused ? ' and paused' : ''}`;
  return [
    paint(colorOf(report), title),
    // With findings, the message would repeat the first of them.
    ...(verdict === 'Ready' || problems.length + inProgress.length === 0 ? wrap(message, columns, '  ') : []),
    '',
    ...facts(report).flatMap(([label, value]) => (value === '' ? [] : [`${label.padEnd(LABEL_WIDTH)}${value}`])),
    ...findings('Problems', shown, columns, paint, 'bad'),
    ...findings('In progress', inProgress, columns, paint, 'warning'),
    ...findings('Notes', notes, columns, paint, 'warning'),
    ...nextStepLines(report, columns, paint),
  ];
}

function facts(report: PoolReport): readonly (readonly [label: string, value: string])[] {
  const { nodes, windowsVersion, build, release, newestRelease, kubernetesVersion, nodeGroup, runtimeClass } = report;
  const states = (['ready', 'verified', 'joining', 'failing', 'gated', 'quarantined'] as const).flatMap((state) =>
    nodes[state] || state === 'verified' ? [`${nodes[state] ?? 0} ${state}${UNSCHEDULABLE[state] ?? ''}`] : [],
  );
  const advice = report.checks.filter(({ severity }) => severity === 'Advice');
  const total = nodes.desired === undefined ? `${nodes.total ?? 0}` : `${nodes.total ?? 0} of ${nodes.desired}`;
  const newer = newestRelease && release && isOtherRelease(newestRelease, release) ? `, newest ${newestRelease}` : '';
  return [
    ['Nodes', `${total}: ${states.join(', ')}`],
    ['Windows', [windowsVersion, build].filter(Boolean).join(', ')],
    ['AMI release', release ? `${release}${newer}` : ''],
    ['Kubernetes', kubernetesVersion ?? ''],
    ['Node group', nodeGroup ?? ''],
    ['Replaces', report.replacedNodeGroup ?? ''],
    ['Canary', report.canary ?? ''],
    ['Warm pool', report.warmPool ?? ''],
    ['RuntimeClass', runtimeClass ?? ''],
    ['Pending', describePending(report.pendingSteps)],
    ['Advice', advice.length > 0 ? `${advice.length}. See: kubectl windowspool doctor ${report.pool}` : ''],
  ];
}

/** `2 steps (Paused)`. */
function describePending(steps: PoolReport['pendingSteps']): string {
  const reasons = [...new Set(steps.map(({ reason }) => reason))].filter((reason) => reason !== '').join(', ');
  return steps.length > 0 ? `${count(steps.length, 'step')}${reasons && ` (${reasons})`}` : '';
}

function findings(
  title: string,
  list: readonly Finding[],
  columns: number,
  paint: Paint,
  meaning: 'bad' | 'warning',
): string[] {
  if (list.length === 0) return [];
  const lines = list.flatMap(({ condition, reason, message }) => {
    const text = wrap(message, columns, '    ');
    const fitting = text.length > MESSAGE_LINES ? [...text.slice(0, MESSAGE_LINES), '    …'] : text;
    return [`  ${condition}: ${paint(meaning, reason)}`, ...fitting];
  });
  return ['', paint('title', title), ...lines];
}

/** `kubectl windowspool status`. */
export const statusCommand: PluginCommand<StatusFlags> = {
  usage: 'status [pool]',
  group: 'Pool and Node Commands',
  summary: 'Show a pool on one screen: what is wrong, and what to do. Without a name: all pools.',
  examples: [
    ['Show all pools', 'kubectl windowspool status'],
    ['Show what is wrong with a pool, and the next step', 'kubectl windowspool status web'],
    ['Follow an update', 'kubectl windowspool status web --watch'],
    [
      'List the pools with problems',
      "kubectl windowspool status -o json | jq -r '.[] | select(.problems != []) | .pool'",
    ],
  ],
  options: [outputOption(), new Option('-w, --watch', 'Follow the changes until you press Ctrl-C.')],
  run: async ({ connect, terminal }, [pool], flags) => status(await connect(), terminal, pool, flags),
};
