/** The observed state of terminating nodes. Pure. */
import type { LeavingNode } from '../api/api.gen.ts';
import type { TerminatingNodeView } from '../model/disruption.ts';
import { instanceIdOf } from '../nodes/unwatchedNodes.ts';
import { isOver } from './terminateInstance.ts';

/** Whether it is an instance that did not join: status records its instance ID as its UID. */
export function isNodeless({ uid, instanceID }: Pick<LeavingNode, 'uid' | 'instanceID'>): boolean {
  return uid === instanceID;
}

/**
 * Whether nothing is left to do: the node is gone, or the instance without a node is terminated or has become a node. A deleted node whose instance
 * is terminating counts as gone too: the finalizer of another controller may keep it forever, and other pools would wait for their share of the
 * budget.
 */
export function isTerminated({ entry, node, instance }: TerminatingNodeView): boolean {
  const now = node.ok ? node.value : undefined;
  if (!isNodeless(entry))
    return node.ok && (now?.uid !== entry.uid || (now.deleting && entry.terminationAcceptedTime !== undefined));
  const hasJoined = now !== undefined && instanceIdOf(now) === entry.instanceID;
  return hasJoined || (instance?.ok === true && isOver(instance.value));
}
