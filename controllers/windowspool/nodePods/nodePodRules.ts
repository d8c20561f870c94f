/** The rules for the pods that the operator runs on nodes. */
import type { ObservedState } from '../model/observedState.ts';
import type { Step } from '../model/steps.ts';
import { turnOf } from '../nodes/nodeRules.ts';
import type { NodePod } from '../ports/nodePods.ts';
import { startErrorIn } from './imagePull.ts';

/** Ensures that each new node has the pod that it needs next, and that pods without a purpose are deleted. */
export function runNodePods(s: ObservedState): Step[] {
  const { nodePods, poolNodes } = s;
  if (nodePods.kind === 'unknown') return [];
  const needed = new Set(poolNodes.podNeeds.flatMap(({ keep }) => [...keep]));
  const due = poolNodes.podNeeds.flatMap(({ node, next }) => (next ? [{ node, pod: next }] : []));
  const unneeded = nodePods.pods.filter((pod) => isLeft(pod) && !needed.has(pod.name));
  return [
    ...turnOf(s, unneeded).map(deletionOf),
    ...turnOf(s, due).map(({ node, pod }): Step => ({ kind: 'createNodePod', node, pod })),
  ];
}

/** Ensures that a deleted pool leaves no pods behind. They have a deadline, so the pool does not wait if their deletion is refused. */
export function deleteNodePods({ nodePods }: ObservedState): Step[] {
  const pods = nodePods.kind === 'seen' ? nodePods.pods : [];
  return pods.filter(isLeft).map((pod) => ({ kind: 'deleteNodePod', pod, retain: true }));
}

function isLeft({ deleting }: NodePod): boolean {
  return !deleting;
}

function deletionOf(pod: NodePod): Step {
  const startError = pod.purpose === 'image-pull' ? startErrorIn(pod) : undefined;
  return { kind: 'deleteNodePod', pod, ...(startError !== undefined && { startError }) };
}
