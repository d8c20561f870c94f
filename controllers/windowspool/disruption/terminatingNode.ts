/** What was seen of nodes that go. Pure. */
import type { LeavingNode } from '../api.gen.ts';
import type { TerminatingNodeView } from '../model/disruption.ts';
import { instanceIdOf } from '../nodes/lostNodes.ts';
import { isOver } from './terminateInstance.ts';

/** Whether it is an instance that never became a node: it is remembered by its own id in place of a UID. */
export function isNodeless({ uid, instance }: Pick<LeavingNode, 'uid' | 'instance'>): boolean {
  return uid === instance;
}

/**
 * Whether nothing is left to do: the node is gone, or the instance that was none has ended, or has become one. A node whose instance ends and
 * that is deleted is gone, too: a finalizer of somebody else may hold it for ever, and other pools would wait for their share of the budget.
 */
export function isGone({ entry, node, instance }: TerminatingNodeView): boolean {
  const now = node.ok ? node.value : undefined;
  if (!isNodeless(entry)) return node.ok && (now?.uid !== entry.uid || (now.deleting && entry.ended !== undefined));
  const hasJoined = now !== undefined && instanceIdOf(now) === entry.instance;
  return hasJoined || (instance?.ok === true && isOver(instance.value));
}
