/** `kubectl windowspool retry`, `pause` and `resume`: shows what would happen, asks, and annotates the pool. */
import { poolPath } from '../../controllers/kubernetes/pools.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { PAUSED_ANNOTATION, RETRY_ANNOTATION } from '../../controllers/windowspool/api/labels.ts';
import { isPaused } from '../../controllers/windowspool/rules/poolQueries.ts';
import { compact, sentence } from '../../controllers/windowspool/util/words.ts';
import type { Cluster } from './cluster.ts';
import type { PluginCommand } from './command.ts';
import { type ChangeFlags, makeChange } from './confirm.ts';
import { dryRunOption, yesOption } from './flags.ts';
import { changeNoteLines, pendingChanges } from './plan.ts';
import type { Terminal } from './terminal.ts';

/** An operation on a pool. */
export type PoolOperation = 'retry' | 'pause' | 'resume';

/** What the operation changes, and what follows. */
export interface PoolChange {
  /** A merge patch; undefined: nothing has to change. */
  readonly patch?: object;
  /** Sentences. */
  readonly notes: readonly string[];
}

/** Shows what the operation does, asks, and changes the pool. */
async function operatePool(
  cluster: Cluster,
  terminal: Terminal,
  operation: PoolOperation,
  name: string,
  flags: ChangeFlags,
): Promise<void> {
  const pool = await cluster.pool(name);
  const { patch, notes } = changeOf(operation, pool, cluster.client.now());
  const lines = notes.flatMap((note) => changeNoteLines(note, terminal.columns));
  if (!patch) return terminal.print(lines.join('\n'));
  const question = `${operation[0]?.toUpperCase()}${operation.slice(1)} pool ${name}?`;
  if (!(await makeChange(cluster, terminal, { path: poolPath(name), patch, lines, question }, flags))) return;
  terminal.print(`Done. Follow it: kubectl windowspool status ${name} --watch`);
}

/** What the operation changes on this pool. `now`: epoch milliseconds. */
export function changeOf(operation: PoolOperation, pool: WindowsPool, now: number): PoolChange {
  return { retry, pause, resume }[operation](pool, now);
}

const annotate = (key: string, value: string | null) => ({ metadata: { annotations: { [key]: value } } });

function retry({ metadata: { name }, status }: WindowsPool, now: number): PoolChange {
  const { failedChanges = [], update } = status?.nodeGroup ?? {};
  const failed = failedChanges.flatMap(({ target, reason, message, remedy, time }) =>
    target === undefined
      ? []
      : compact([`At ${time}, ${reason}: ${sentence(message)}`, remedy && sentence(remedy)]).join(' '),
  );
  const errors = update?.status === 'Failed' ? (update.errors ?? []) : [];
  return {
    patch: annotate(RETRY_ANNOTATION, String(Math.floor(now / 1_000))),
    notes:
      failed.length > 0
        ? [
            `The operator tries again what failed in pool ${name}.`,
            ...failed,
            ...errors,
            'An update that changes the version or release replaces nodes, within disruption.maxUnavailable.',
          ]
        : [
            `Nothing in pool ${name} waits for a retry: the operator already tries again what fails. A retry is harmless.`,
          ],
  };
}

function pause(pool: WindowsPool): PoolChange {
  const { name } = pool.metadata;
  if (isPaused(pool))
    return { notes: [`Pool ${name} is already paused. Resume it: kubectl windowspool resume ${name}`] };
  const { disruption, nodeGroup } = pool.status ?? {};
  const draining = (disruption?.nodes ?? []).map((node) => node.name);
  return {
    patch: annotate(PAUSED_ANNOTATION, 'true'),
    notes: compact([
      `The operator stops changing AWS, nodes and the RuntimeClass for pool ${name}, and keeps reporting its status.`,
      nodeGroup?.update?.status === 'InProgress' && 'An update is in progress: EKS cannot stop it, and completes it.',
      draining.length > 0 && `The drain of ${draining.join(', ')} stops, and continues when the pool is resumed.`,
    ]),
  };
}

function resume(pool: WindowsPool): PoolChange {
  const { name } = pool.metadata;
  if (!isPaused(pool)) return { notes: [`Pool ${name} is not paused.`] };
  const isInSpec = pool.spec.paused;
  return {
    patch: { ...annotate(PAUSED_ANNOTATION, null), ...(isInSpec && { spec: { paused: false } }) },
    notes: compact([
      ...pendingChanges(pool),
      isInSpec && 'This sets spec.paused to false. If a GitOps tool manages the pool, change it there, too.',
    ]),
  };
}

/** What each operation is for, in the help. */
const HELP: Readonly<Record<PoolOperation, readonly [summary: string, details: string]>> = {
  retry: [
    'Retry what failed in a pool.',
    'The operator does not repeat an update that EKS rejected or that failed, until you retry it or change the spec.',
  ],
  pause: [
    'Stop all changes to a pool.',
    'The operator keeps reporting the status of a paused pool. An update that EKS has started continues.',
  ],
  resume: ['Resume a paused pool.', 'Shows the changes that are due first.'],
};

/** `kubectl windowspool retry`, `pause` and `resume`. */
export const poolCommands: readonly PluginCommand<ChangeFlags>[] = (['retry', 'pause', 'resume'] as const).map(
  (operation) => ({
    usage: `${operation} <pool>`,
    group: 'Pool and Node Commands',
    summary: HELP[operation][0],
    details: `${HELP[operation][1]} Asks for confirmation.`,
    examples: [
      [`${operation[0]?.toUpperCase()}${operation.slice(1)} a pool`, `kubectl windowspool ${operation} web`],
      ['Only show what follows', `kubectl windowspool ${operation} web --dry-run=client`],
    ],
    options: [yesOption(), dryRunOption()],
    run: async ({ connect, terminal }, [pool = ''], flags) =>
      operatePool(await connect(), terminal, operation, pool, flags),
  }),
);
