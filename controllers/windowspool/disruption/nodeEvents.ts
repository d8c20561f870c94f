/**
 * Events about terminating nodes. Events on the pool are few: what starts, what blocks it, what is done, and which nodes replace the old ones. The
 * node has its own events, as with Karpenter and the cluster-autoscaler: `kubectl describe node` shows them without the pool.
 */
import type { WindowsPoolStatus } from '../api/api.gen.ts';
import { blockedDrains } from '../conditions/disrupting.ts';
import type { Derived } from '../model/due.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Events } from '../ports/pools.ts';
import { describeDone, isNodeStep, stepKindOf } from '../steps/stepKinds.ts';
import { joined } from '../util/words.ts';
import { goneNodes } from './reservation.ts';

/** How many nodes an event names. */
const NODES_IN_MESSAGE = 3;

/** Publishes what was done to each node, on the node. */
export function publishOnNodes({ done, after: { pool } }: Outcome, events: Events): void {
  for (const step of done) {
    const reason = stepKindOf(step).nodeReason;
    if (!reason || !isNodeStep(step)) continue;
    const message = `WindowsPool ${pool.metadata.name}: ${describeDone(step)}`;
    const type = stepKindOf(step).isWarning?.(step) ? 'Warning' : 'Normal';
    events.publishOnNode(pool, step.node, { type, reason, action: step.kind, message });
  }
}

/** Publishes what blocks a drain, on each node. */
export function publishBlockedDrains(s: Derived, events: Events): void {
  for (const { node, text } of blockedDrains(s)) {
    const message = `WindowsPool ${s.pool.metadata.name}: ${text}`;
    events.publishOnNode(s.pool, node, { type: 'Warning', reason: 'DrainBlocked', action: 'evictPods', message });
  }
}

/** Publishes which nodes are gone and which replaced them, once the pool has its nodes again. */
export function publishReplaced(s: ObservedState, status: WindowsPoolStatus, events: Events): void {
  const { pool, poolNodes } = s;
  const before = pool.status?.disruption;
  const gone = goneNodes(s);
  if (!before || status.disruption || gone.length === 0) return;
  const since = Date.parse(before.startTime);
  const found = poolNodes.nodesBefore(Number.POSITIVE_INFINITY).filter(({ createdAt }) => createdAt >= since);
  const message = describeReplaced(
    gone,
    found.map(({ name }) => name),
  );
  events.publish(pool, { type: 'Normal', reason: 'NodeDisruptionFinished', action: 'reserveDisruption', message });
}

function describeReplaced(gone: readonly string[], found: readonly string[]): string {
  const names = joined(gone, NODES_IN_MESSAGE);
  const verb = gone.length === 1 ? 'is' : 'are';
  return found.length > 0 ? `${names} ${verb} replaced by ${joined(found, NODES_IN_MESSAGE)}` : `${names} ${verb} gone`;
}
