import type { WindowsPool, WindowsPoolStatus } from '../../api/api.gen.ts';
import { LIST_LENGTH } from '../../api/statusLimits.ts';
import type { ObservedState } from '../../model/observedState.ts';
import { marksIn, marksOf } from '../../nodes/ownershipRecord.ts';
import { isDeleting } from '../../rules/poolQueries.ts';

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

/** The entries of the list of hosts that match no node or are malformed. */
export function existingNodesState({ membership }: ObservedState): Pick<WindowsPoolStatus, 'existingNodes'> {
  const { unknown = [], malformed = [] } = membership?.listed ?? {};
  const unknownAddresses = unknown.slice(0, LIST_LENGTH);
  const malformedEntries = malformed.slice(0, LIST_LENGTH).map(({ entry, message }) => ({ entry, message }));
  if (unknownAddresses.length + malformedEntries.length === 0) return {};
  return {
    existingNodes: {
      ...(unknownAddresses.length > 0 && { unknownAddresses }),
      ...(malformedEntries.length > 0 && { malformedEntries }),
    },
  };
}
