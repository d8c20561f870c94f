/** The progress of a drain, as lines. Pure. */
import { count } from '../../../controllers/windowspool/util/words.ts';
import { shortName } from '../nodes.ts';
import { type Column, type Paint, table, wrap } from '../text.ts';

/**
 * Where a node is: cordoned, with its pods still running; draining; settling, which is empty while its workloads do not have as many ready pods as
 * before; drained; or gone, because another controller or user deleted it.
 */
export type Phase = 'cordoned' | 'draining' | 'settling' | 'drained' | 'gone';

/** The state of a node. */
export interface NodeProgress {
  readonly node: string;
  readonly phase: Phase;
  /** Pods that must still leave; undefined: not read yet. */
  readonly pods: number | undefined;
  /** What it waits for; empty: nothing. */
  readonly waitsFor: string;
}

/** The state of a drain. */
export interface Progress {
  readonly from: string;
  readonly to: string;
  readonly nodes: readonly NodeProgress[];
  /** Why no other node is drained now, or why the last requests failed; empty: nothing. */
  readonly trouble: string;
}

const PAINTS = { cordoned: 'minor', draining: 'warning', settling: 'warning', drained: 'good', gone: 'good' } as const;

/** Whether no pod has to leave the node any more. */
export function isDone({ phase }: Pick<NodeProgress, 'phase'>): boolean {
  return phase === 'drained' || phase === 'gone';
}

/** What a terminal shows while pods move. */
export function progressScreen({ from, to, nodes, trouble }: Progress, columns: number, paint: Paint): string[] {
  const names = nodes.map(({ node }) => node);
  const nodeColumns: readonly Column<NodeProgress>[] = [
    { header: 'NODE', cut: true, value: ({ node }) => shortName(node, names) },
    { header: 'STATE', value: ({ phase }) => paint(PAINTS[phase], phase) },
    { header: 'PODS', value: ({ pods = '' }) => String(pods) },
    { header: 'WAITS FOR', cut: true, value: ({ waitsFor }) => waitsFor },
  ];
  const done = nodes.filter(isDone).length;
  return [
    paint('title', `From pool ${from} to pool ${to}: ${done} of ${count(nodes.length, 'node')} drained`),
    '',
    ...table(nodeColumns, nodes, columns),
    ...(trouble ? ['', ...wrap(trouble, columns)] : []),
    '',
    paint('minor', 'Press Ctrl-C to stop. The nodes stay cordoned.'),
  ];
}

/** A line for each node, for output that is not a terminal's. */
export function progressLines({ nodes, trouble }: Progress): string[] {
  const lines = nodes.map(({ node, phase, pods, waitsFor }) => {
    const left = pods !== undefined && pods > 0 ? `, ${count(pods, 'pod')} left` : '';
    return `Node ${node}: ${phase}${left}${waitsFor ? `, waits for ${waitsFor}` : ''}`;
  });
  return [...lines, ...(trouble ? [trouble] : [])];
}
