/** How long AWS must say that a group is gone before the operator believes it. */
import type { Settings } from '../../model/observedState.ts';

/** A kubelet can label its node as one of the group, and must not keep the pool indefinitely. */
export const READY_NODES_PATIENCE_MS = 600_000;

/** How long AWS must give the same answer before the operator believes that a group is gone, in milliseconds. */
export function confirmationMs({ pollMs }: Settings): number {
  return Math.min(pollMs, 10_000);
}
