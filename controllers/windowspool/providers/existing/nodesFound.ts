/** The condition NodesFound of pools of existing nodes. */

import { falseCondition, trueCondition, unknownCondition } from '../../conditions/condition.ts';
import type { ConditionState } from '../../model/conditions.ts';
import type { ObservedState } from '../../model/observedState.ts';
import { isDeleting, isPaused } from '../../rules/poolQueries.ts';
import { clockTime, count, describeFailure, joined } from '../../util/words.ts';

/** How many nodes a message names. */
const NODES_IN_MESSAGE = 3;

/** Whether the pool has the nodes that its spec selects. */
export function nodesFound(s: ObservedState): ConditionState {
  if (isDeleting(s.pool)) return releasing(s);
  const { contested } = s.membership ?? {};
  if (contested) {
    const { node, holder, more } = contested;
    const others = more > 0 ? ` ${count(more, 'more node')} ${more === 1 ? 'belongs' : 'belong'} to other pools.` : '';
    const message = `Node ${node} matches spec.existingNodes, but belongs to WindowsPool ${holder}.${others} Narrow spec.existingNodes of one of the pools.`;
    return falseCondition('OwnedByOtherPool', message);
  }
  const { nodes: contended = [], until = 0 } = s.membership?.contention ?? {};
  if (contended.length > 0) {
    const message = `Another controller keeps reverting labels or taints that the pool sets on ${joined(contended, NODES_IN_MESSAGE)}. The operator sets them again at ${clockTime(until)}. Remove these keys from the pool, or from the other controller.`;
    return falseCondition('NodeChangesReverted', message);
  }
  const faulty = listFault(s);
  if (faulty) return faulty;
  const { total } = s.poolNodes;
  if (total === 0) return noneFound(s);
  const ignored = s.membership?.listed?.hasUsernames
    ? ` The usernames in ${listName(s)} are ignored: the operator does not log in to nodes.`
    : '';
  return trueCondition('NodesFound', `${count(total, 'node')} found.${ignored}`);
}

/** The state of a pool of existing nodes that has none. */
export function noneFound({ pool }: ObservedState): ConditionState {
  const message = `No Windows node matches spec.existingNodes of pool ${pool.metadata.name}. Compare it with the nodes: kubectl get nodes -l kubernetes.io/os=windows --show-labels`;
  return falseCondition('NoNodesFound', message);
}

/** The error in the list of hosts. */
function listFault(s: ObservedState): ConditionState | undefined {
  const { listed } = s.membership ?? {};
  if (!listed) return undefined;
  const { list, unknown, malformed } = listed;
  if (list.kind === 'unknown') {
    const { error } = list;
    const why = error ? `cannot be read: ${describeFailure(error)}` : 'has not been read yet.';
    const message = `${listName(s)} ${why} The pool keeps its nodes until then.`;
    return unknownCondition(error?.kind === 'denied' ? 'AccessDenied' : 'InstancesUnknown', message);
  }
  if (list.kind === 'absent') {
    const message = `${listName(s)} does not exist. Create it, or correct existingNodes.instancesConfigMap.`;
    return falseCondition('InstancesMissing', message);
  }
  const [first] = malformed;
  if (first) {
    const what = malformed.length === 1 ? '1 invalid entry is' : `${malformed.length} invalid entries are`;
    const message = `${what} ignored in ${listName(s)}: ${first.entry} ${first.message}.${malformed.length > 1 ? ' See status.existingNodes.malformedEntries.' : ''}`;
    return falseCondition('MalformedInstances', message);
  }
  if (unknown.length === 0) return undefined;
  const many = unknown.length > 1;
  const addresses = `${many ? 'addresses' : 'address'} ${joined(unknown, NODES_IN_MESSAGE)}`;
  const message = `No Windows node has the ${addresses} in ${listName(s)}. Wait for the ${many ? 'nodes' : 'node'} to join, or correct the ${many ? 'addresses' : 'address'}.`;
  return falseCondition('UnknownAddresses', message);
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
    s.pool.spec.deletionPolicy === 'Retain'
      ? "The operator's own taints, conditions and annotations are removed from the nodes."
      : 'The labels and taints of the nodes are restored.';
  const wait = isPaused(s.pool) ? ' This waits until the pool is resumed.' : '';
  const message = `${what}${toRelease.length > 0 ? ` Remaining: ${names}.` : ''}${wait}`;
  return falseCondition('Releasing', message, 'working');
}
