/** The labels and taints that a pool puts on its nodes, as its status remembers them. Pure. */
import type { WindowsPool, WindowsPoolStatus } from '../api/api.gen.ts';
import type { ObservedState } from '../model/observedState.ts';
import { marksIn, marksOf } from '../nodes/ownershipRecord.ts';
import { isDeleting } from '../rules/poolQueries.ts';

/** The most marks that the schema accepts. The spec has at most 90. */
const MOST_MARKS = 300;

/** Whether the spec has marks that status does not record yet. */
export function hasNewMarks({ spec, status }: WindowsPool): boolean {
  const recorded = new Set(status?.tracking?.marks);
  return marksIn(spec).some((mark) => !recorded.has(mark));
}

/** The marks that nodes may have. Those of earlier specs are forgotten once every node is up to date and none is to be released. */
export function marksState({ pool, poolNodes, membership }: ObservedState): Pick<WindowsPoolStatus, 'tracking'> {
  const current = marksIn(pool.spec);
  const isSettled =
    !isDeleting(pool) &&
    poolNodes.unmarked.length === 0 &&
    membership?.toRelease.length === 0 &&
    membership.nextReadAt === Number.POSITIVE_INFINITY;
  const earlier = isSettled ? [] : [...marksOf(pool)].filter((mark) => !current.includes(mark));
  const marks = [...current, ...earlier].slice(0, MOST_MARKS).sort();
  return marks.length > 0 ? { tracking: { marks } } : {};
}
