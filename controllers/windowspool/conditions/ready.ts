/** The condition Ready: the summary of the others, about what pods need. The same for pools of all providers. */

import type { ConditionState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import { isDeleting } from '../queries.ts';
import { count } from '../util/words.ts';

/** What every pool has beside what its provider adds. */
export type Parts = Readonly<Record<'PrerequisitesMet' | 'RuntimeClassReady' | 'NodesVerified', ConditionState>>;

/** What Ready depends on with a provider. */
export interface Readiness<P extends Parts> {
  /** The condition that says where the pool's nodes come from: what a pool that is being deleted waits for. */
  readonly source: keyof P;
  /** The conditions that can stall a pool that is being deleted. */
  readonly stallsDeletion: readonly (keyof P)[];
  /** Why no node can run a pod, before any node is counted. */
  readonly unavailable?: (s: ObservedState, parts: P) => ConditionState | undefined;
  /** Whether the pool is meant to have no nodes. */
  readonly isEmpty?: (s: ObservedState) => boolean;
  /** Why the verified nodes are too few. */
  readonly lacking: (s: ObservedState, parts: P) => ConditionState | undefined;
}

/** Ready is about what pods need: a RuntimeClass and enough verified nodes. What EKS does meanwhile does not turn it. */
export function ready<P extends Parts>(
  s: ObservedState,
  parts: P,
  stalled: ConditionState | undefined,
  { source, unavailable, isEmpty, lacking }: Readiness<P>,
): ConditionState {
  const { verified, total } = s.poolNodes;
  const cause =
    stalled ??
    (isDeleting(s.pool) ? (parts[source] as ConditionState) : unavailable?.(s, parts)) ??
    (parts.RuntimeClassReady.status === 'True' ? undefined : parts.RuntimeClassReady);
  if (cause) return { ...cause, status: 'False' };
  if (isEmpty?.(s)) {
    const left = total > 0 ? ` ${count(total, 'node')} left.` : '';
    return { status: 'True', reason: 'NoNodes', message: `The pool wants no nodes.${left}` };
  }
  const missing = lacking(s, parts);
  if (missing) return { ...missing, status: 'False' };
  return { status: 'True', reason: 'Verified', message: `${verified} of ${count(total, 'node')} verified.` };
}
