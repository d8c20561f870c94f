import type { WindowsPoolStatus } from '../../api/api.gen.ts';
import { LIST_LENGTH } from '../../api/statusLimits.ts';
import type { ObservedState } from '../../model/observedState.ts';

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
