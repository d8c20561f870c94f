/** The condition NodesFound of pools of existing nodes. */

import { falseCondition, trueCondition, unknownCondition } from '../../conditions/condition.ts';
import { contended } from '../../membership/contended.ts';
import { releasing } from '../../membership/releasing.ts';
import type { ConditionState } from '../../model/conditions.ts';
import type { ObservedState } from '../../model/observedState.ts';
import { isDeleting } from '../../rules/poolQueries.ts';
import { count, describeFailure, joined } from '../../util/words.ts';

/** How many nodes a message names. */
const NODES_IN_MESSAGE = 3;

/** Whether the pool has the nodes that its spec selects. */
export function nodesFound(s: ObservedState): ConditionState {
  if (isDeleting(s.pool)) return releasing(s);
  const taken = contended(s, 'spec.existingNodes', 'Narrow spec.existingNodes, or delete one of the pools.');
  if (taken) return taken;
  const faulty = listFault(s);
  if (faulty) return faulty;
  const { total } = s.poolNodes;
  if (total === 0) return noneFound(s);
  const ignored = s.membership?.listed?.hasUsernames
    ? ` The usernames in ${listName(s)} are ignored: the operator does not log in to nodes.`
    : '';
  return trueCondition('NodesFound', `${count(total, 'node')} found.${ignored}${doubles(s)}`);
}

/** Entries that name the same host. */
function doubles(s: ObservedState): string {
  const [first, ...more] = s.membership?.listed?.doubles ?? [];
  if (!first) return '';
  const others = more.length > 0 ? ` So do ${count(more.length, 'other pair')} of entries.` : '';
  return ` ${joined(first)} in ${listName(s)} name the same host.${others}`;
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
  const { list, unknown, malformed, lookups, unanswered } = listed;
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
  const [name] = unanswered;
  if (name !== undefined) {
    const what = lookups.get(name) ?? 'has not been looked up yet';
    return unknownCondition(
      'InstancesUnknown',
      `${name} in ${listName(s)} ${what}. The pool keeps its nodes until then.`,
    );
  }
  if (unknown.length === 0) return undefined;
  const many = unknown.length > 1;
  const shown = unknown.map((entry) => (lookups.has(entry) ? `${entry} (which ${lookups.get(entry)})` : entry));
  const addresses = `${many ? 'addresses' : 'address'} ${joined(shown, NODES_IN_MESSAGE)}`;
  const message = `No Windows node has the ${addresses} in ${listName(s)}. Wait for the ${many ? 'nodes' : 'node'} to join, or correct the ${many ? 'addresses' : 'address'}.`;
  return falseCondition('UnknownAddresses', message);
}

function listName({ pool }: ObservedState): string {
  const { namespace, name } = pool.spec.existingNodes?.instancesConfigMap ?? {};
  return `ConfigMap ${namespace}/${name}`;
}
