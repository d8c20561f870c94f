/** Observed states of the EKS cluster and of the node group. */
import type { WindowsPool } from '../api/api.gen.ts';
import type { Contradiction } from '../model/certainty.ts';
import type { CallErrorKind } from '../ports/callResult.ts';
import type { NodeGroup } from '../ports/eks.ts';
import type {
  EksState,
  ObservedCluster,
  ObservedNodeGroup,
  UnconfirmedGroup,
} from '../providers/nodeGroup/model/groupState.ts';
import { MINUTE, NOW, sampleCluster, sampleError, sampleGroup, samplePool } from './fixtures.ts';

/** The group of the pool, with a change. */
export function seen(change: Partial<NodeGroup> = {}, of: WindowsPool = samplePool()): EksState['group'] {
  return { kind: 'seen', group: sampleGroup(of, change) };
}

/** A cluster with the expected name and another certificate authority, so not the operator's. */
export const otherAuthority: ObservedCluster = {
  kind: 'seen',
  cluster: sampleCluster({ isOurs: false }),
};

/** A cluster that cannot be read; for a group, see `unseen`. */
export function unreachable(
  kind: CallErrorKind = 'unavailable',
  since = NOW,
): Extract<ObservedCluster, { kind: 'unreachable' }> {
  return { kind: 'unreachable', error: sampleError(kind), since };
}

/** A group of which EKS has just said for the first time, contrary to what was known, that it is absent or unowned; and its last state. */
export function unconfirmed(contradiction: Contradiction = 'absent', last?: NodeGroup, since = NOW): UnconfirmedGroup {
  return { kind: 'unconfirmed', certainty: { kind: 'seenOnce', contradiction, since }, last };
}

/** A group of which EKS has said so often enough that it does not exist. */
export function gone(since = NOW - MINUTE): Extract<ObservedNodeGroup, { kind: 'absent' }> {
  return { kind: 'absent', certainty: { kind: 'confirmed', contradiction: 'absent', since } };
}

/** A group that cannot be read since now, and its last state. */
export function unseen(kind: CallErrorKind = 'unavailable', last?: NodeGroup, since = NOW) {
  return { ...unreachable(kind, since), last };
}

/** A group of which EKS has said, now for the first time or a minute ago, that its cluster does not exist. */
export function withoutCluster(kind: 'seenOnce' | 'confirmed'): EksState['group'] {
  const since = kind === 'seenOnce' ? NOW : NOW - MINUTE;
  return { ...unseen('gone', sampleGroup()), certainty: { kind, contradiction: 'clusterAbsent', since } };
}
