/** What a test sees of the EKS cluster and of the node group. */
import type { WindowsPool } from '../api.gen.ts';
import type { TroubleKind } from '../ports/answer.ts';
import type { NodeGroup } from '../ports/eks.ts';
import type { ClusterSight, Situation } from '../situation.ts';
import { NOW, sampleCluster, sampleGroup, samplePool, sampleTrouble } from './fixtures.ts';

/** The group of the pool, with a difference. */
export function seen(change: Partial<NodeGroup> = {}, of: WindowsPool = samplePool()): Situation['group'] {
  return { kind: 'seen', group: sampleGroup(of, change) };
}

/** A cluster of the right name with another certificate authority, so not the operator's. */
export const otherAuthority: ClusterSight = {
  kind: 'seen',
  cluster: sampleCluster({ isOurs: false }),
};

/** A cluster of which AWS tells nothing; of a group, `unseen` says more. */
export function unreachable(kind: TroubleKind = 'unavailable'): Extract<ClusterSight, { kind: 'unreachable' }> {
  return { kind: 'unreachable', trouble: sampleTrouble(kind) };
}

/** A group of which AWS tells nothing since now, and how it was before. */
export function unseen(kind: TroubleKind = 'unavailable', last?: NodeGroup): Situation['group'] {
  return { ...unreachable(kind), since: NOW, last };
}
