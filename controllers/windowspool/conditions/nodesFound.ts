/** The condition NodesFound of pools of existing nodes. */

import type { ConditionState } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import { isDeleting, isPaused } from '../queries.ts';
import { count, joined, sentence } from '../util/words.ts';
import { noneFound } from './nodesVerified.ts';

/** How many nodes a message names. */
const NODES_IN_MESSAGE = 3;

/** Whether the pool holds the nodes that its spec names. */
export function nodesFound(s: ObservedState): ConditionState {
  if (isDeleting(s.pool)) return releasing(s);
  const [first, ...more] = s.membership?.contested ?? [];
  if (first) {
    const others = more.length > 0 ? ` So ${more.length === 1 ? 'is 1 node' : `are ${more.length} nodes`} more.` : '';
    const message = `Node ${first.node} is wanted here and belongs to WindowsPool ${first.holder}, which had it first.${others} Narrow spec.existingNodes of one of the two.`;
    return { status: 'False', reason: 'ClaimedByAnother', message };
  }
  const contended = s.membership?.contention.nodes ?? [];
  if (contended.length > 0) {
    const message = `Something else keeps changing labels or taints that the pool sets on ${joined(contended, NODES_IN_MESSAGE)}. They are set again after a while. Take these keys from the pool, or from what sets them.`;
    return { status: 'False', reason: 'MarksUndone', message };
  }
  const faulty = listFault(s);
  if (faulty) return faulty;
  const { total } = s.poolNodes;
  if (total === 0) return noneFound(s);
  const ignored = s.membership?.listed?.hasUsernames
    ? ` The usernames in ${listName(s)} are not used: the operator logs in nowhere.`
    : '';
  return { status: 'True', reason: 'NodesFound', message: `${count(total, 'node')} found.${ignored}` };
}

/** The error in the list of hosts. */
function listFault(s: ObservedState): ConditionState | undefined {
  const { listed } = s.membership ?? {};
  if (!listed) return undefined;
  const { list, unknown, malformed } = listed;
  if (list.kind === 'unknown') {
    const { error } = list;
    const why = error ? ` ${sentence(`${error.operation} failed: ${error.message}`)}` : ' It was not read yet.';
    const message = `${listName(s)} is not known, so the pool keeps the nodes that it has.${why}`;
    return { status: 'Unknown', reason: error?.kind === 'denied' ? 'AccessDenied' : 'InstancesUnknown', message };
  }
  if (list.kind === 'absent') {
    const message = `There is no ${listName(s)}, so it lists no node. Make it, or put existingNodes.instancesConfigMap right.`;
    return { status: 'False', reason: 'InstancesMissing', message };
  }
  const [first] = malformed;
  if (first) {
    const message = `${count(malformed.length, 'entry').replace(/entrys$/, 'entries')} of ${listName(s)} ${malformed.length === 1 ? 'is' : 'are'} not used, such as ${first.entry}, which ${first.message}. The others are.`;
    return { status: 'False', reason: 'MalformedInstances', message };
  }
  if (unknown.length === 0) return undefined;
  const message = `No Windows node has ${joined(unknown, NODES_IN_MESSAGE)} of ${listName(s)} among its addresses. Wait for the nodes to join, or correct the addresses.`;
  return { status: 'False', reason: 'UnknownAddresses', message };
}

function listName({ pool }: ObservedState): string {
  const { namespace, name } = pool.spec.existingNodes?.instancesConfigMap ?? {};
  return `ConfigMap ${namespace}/${name}`;
}

function releasing(s: ObservedState): ConditionState {
  const toRelease = s.membership?.toRelease ?? [];
  const names = joined(
    toRelease.map(({ name }) => name),
    NODES_IN_MESSAGE,
  );
  const what =
    s.pool.spec.deletionPolicy === 'Retain' ? 'lose only the marks of the operator' : 'get back what they had';
  const wait = isPaused(s.pool) ? ' The pool is paused, so nothing happens.' : '';
  const message =
    toRelease.length > 0
      ? `The nodes of the pool ${what}: ${names} to go.${wait}`
      : `The nodes of the pool ${what}.${wait}`;
  return { status: 'False', reason: 'Releasing', message, working: true };
}
