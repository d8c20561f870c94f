/** The pods that kept an update from emptying its nodes. EKS names the nodes, and seldom the pods. */

import type { ObservedState } from '../../../model/observedState.ts';
import type { NodeGroupUpdate } from '../../../ports/eks.ts';
import type { Evictions, StuckPod } from '../../../ports/pods.ts';
import { joined, sentence } from '../../../util/words.ts';

/** Each node is a call, and the pods of the first ones show the cause. */
const NODES_ASKED = 10;

/** With the pods that an update failed on, asked once: when its end becomes known. */
export async function withStuckPods(
  s: ObservedState,
  { evictions }: { readonly evictions: Evictions },
  signal: AbortSignal,
): Promise<ObservedState> {
  const { update, poolNodes } = s;
  if (!update || !isEvictionFailure(update)) return s;
  const named = new Set(update.errors.flatMap(({ resourceIds }) => resourceIds));
  // Nodes that are older than the update were not replaced.
  const old = poolNodes.nodesBefore(update.createdAt).map(({ name }) => name);
  const nodes = [...old.filter((name) => named.has(name)), ...old.filter((name) => !named.has(name))];
  if (nodes.length === 0) return s;
  return { ...s, stuckPods: await evictions.stuckOn(nodes.slice(0, NODES_ASKED), signal) };
}

/** Whether pods kept the update from its end. */
export function isEvictionFailure({ status, errors }: NodeGroupUpdate): boolean {
  return status === 'Failed' && errors.some(({ code }) => code === 'PodEvictionFailure');
}

/** Which pods stayed and why, and what to do about it, in whole sentences. */
export function describeStuckPods(stuck: ObservedState['stuckPods']): string {
  const move = 'Let the PodDisruptionBudget of the pods give way, or end them, or set nodeGroup.update.force: true.';
  if (stuck && !stuck.ok) {
    const { operation, message } = stuck.error;
    return `Which pods stayed is not known: ${sentence(`${operation} failed: ${message}`)} ${move}`;
  }
  if (!stuck || stuck.value.length === 0) return move;
  const causes = Map.groupBy(stuck.value.slice(0, PODS_NAMED), causeOf);
  const listed = [...causes].map(([cause, pods]) => `${joined(pods.map(nameOf))} (${cause})`);
  const more = stuck.value.length - PODS_NAMED;
  return `${sentence(`Pods that stayed: ${listed.join('; ')}${more > 0 ? `; and ${more} more` : ''}`)} ${move}`;
}

const PODS_NAMED = 5;

function nameOf({ namespace, name }: StuckPod): string {
  return `${namespace}/${name}`;
}

function causeOf({ budgets }: StuckPod): string {
  const [only, ...others] = budgets;
  if (only === undefined) return 'tolerates every taint, so it comes back to a cordoned node';
  if (others.length === 0) return `PodDisruptionBudget ${only} allows no disruption`;
  return `PodDisruptionBudgets ${joined(budgets)} both match it, and such pods are never evicted`;
}
