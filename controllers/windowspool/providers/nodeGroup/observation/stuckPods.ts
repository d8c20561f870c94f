/** The pods that blocked a rolling update. EKS names the nodes, and seldom the pods. */

import type { NodeGroupUpdate } from '../../../ports/eks.ts';
import type { Evictions, StuckPod } from '../../../ports/pods.ts';
import { describeFailure, joined, sentence } from '../../../util/words.ts';
import type { EksState } from '../model/groupState.ts';

/** The number of nodes that are read: each is a call, and the pods of the first ones show the cause. */
const NODES_ASKED = 10;

/** Adds the pods that made an update fail. They are read once, when its result becomes known. */
export async function withStuckPods(
  s: EksState,
  { evictions }: { readonly evictions: Evictions },
  signal: AbortSignal,
): Promise<EksState> {
  const { update, poolNodes } = s;
  if (!update || !isEvictionFailure(update)) return s;
  const named = new Set(update.errors.flatMap(({ resourceIds }) => resourceIds));
  // Nodes older than the update were not replaced.
  const old = poolNodes.nodesBefore(update.createdAt).map(({ name }) => name);
  const nodes = [...old.filter((name) => named.has(name)), ...old.filter((name) => !named.has(name))];
  if (nodes.length === 0) return s;
  return { ...s, stuckPods: await evictions.stuckOn(nodes.slice(0, NODES_ASKED), signal) };
}

/** Whether the update failed because pods could not be evicted. */
export function isEvictionFailure({ status, errors }: NodeGroupUpdate): boolean {
  return status === 'Failed' && errors.some(({ code }) => code === 'PodEvictionFailure');
}

/** Which pods remained, and why, in sentences; and the remedy without a full stop. */
export function describeStuckPods(stuck: EksState['stuckPods']): { readonly pods: string; readonly remedy: string } {
  const relax = 'Relax PodDisruptionBudgets with ALLOWED DISRUPTIONS 0 (kubectl get pdb -A)';
  if (stuck && !stuck.ok)
    return { pods: ` The pods that were not evicted are unknown: ${describeFailure(stuck.error)}`, remedy: relax };
  if (!stuck || stuck.value.length === 0) return { pods: '', remedy: relax };
  const causes = Map.groupBy(stuck.value.slice(0, PODS_NAMED), causeOf);
  const listed = [...causes].map(([cause, pods]) => `${joined(pods.map(nameOf))} (${cause})`);
  const more = stuck.value.length - PODS_NAMED;
  return {
    pods: ` ${sentence(`Pods that were not evicted: ${listed.join('; ')}${more > 0 ? `; and ${more} more` : ''}`)}`,
    remedy: 'Scale the workload up, relax its PodDisruptionBudget, or delete the pods',
  };
}

const PODS_NAMED = 5;

function nameOf({ namespace, name }: StuckPod): string {
  return `${namespace}/${name}`;
}

function causeOf({ budgets }: StuckPod): string {
  const [only, ...others] = budgets;
  if (only === undefined) return 'tolerates every taint, so it is rescheduled to the cordoned node';
  if (others.length === 0) return `PodDisruptionBudget ${only} allows no disruption`;
  return `PodDisruptionBudgets ${joined(budgets)} all match it, and the eviction API never evicts such pods`;
}
