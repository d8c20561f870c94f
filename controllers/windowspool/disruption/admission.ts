/** Which nodes are requested, which of them may start now, and what the others wait for. Pure. */
import type { LeavingNode, WindowsPool } from '../api/api.gen.ts';
import { REPLACE_ANNOTATION } from '../api/labels.ts';
import type { Capacity, ServingCapacity } from '../model/capacity.ts';
import { type Admission, type Candidate, NODE_REPLACEMENT, type Operation, type Refusal } from '../model/disruption.ts';
import type { ObservedState } from '../model/observedState.ts';
import { instanceIdOf } from '../nodes/unwatchedNodes.ts';
import { nodeSourceOf, scalingIn } from '../rules/nodeSource.ts';
import { count } from '../util/words.ts';
import { OUTDATED, operationFor, UNHEALTHY } from './nodeAnnotations.ts';
import { absencesIn } from './nodeBudget.ts';
import { isRetired, replacesUnhealthy, shortCircuit, unhealthyInstances, unhealthyNodes } from './remediation.ts';
import { describeOthers, isDisrupted, terminatingNodes } from './reservation.ts';
import { terminationRefusal, terminationRetriedBefore } from './terminateInstance.ts';
import { isNodeless } from './terminatingNode.ts';

/**
 * Which of the requested nodes may start now: at most disruption.maxUnavailable nodes of the pool are unavailable at a time. Uses the uncached count
 * of nodes if there is one; no node starts if the count failed.
 */
export function admit(s: ObservedState, capacity: Capacity): Admission {
  const { pool, counted } = s;
  const terminating = terminatingNodes(pool);
  const halted = (replacesUnhealthy(pool) ? capacity.halted : undefined) ?? shortCircuit(s, capacity);
  // How many may fail is not known without a size.
  const mayRemediate = replacesUnhealthy(pool) && halted === undefined && capacity.size !== undefined;
  // A node whose drain has ended without a termination is asked for again by its kubelet: others go first.
  const since = ({ uid }: Candidate) => s.drained?.get(uid) ?? 0;
  const requested = candidatesOf(s, capacity, mayRemediate)
    .filter(({ name }) => !terminating.some((entry) => entry.name === name))
    .sort((a, b) => since(a) - since(b));
  const serving = hasTurn(s) ? capacity.serving : undefined;
  const mayBegin = serving !== undefined && counted?.ok !== false;
  const { unavailable, missing, limit } = absencesIn(s, serving);
  const max = mayBegin ? limit : 0;
  const out = new Set([...unavailable, ...terminating.map(({ name }) => name)]);
  let size = sizeAfter(terminating, serving);
  const refused: Refusal[] = [];
  const waiting: string[] = [];
  const begin: Candidate[] = [];
  for (const { isHeld, ...candidate } of requested) {
    const { name, operation } = candidate;
    const why = operation === 'Remove' ? whyNotRemoved(pool, serving, size) : undefined;
    // A node that is unavailable anyway does not change the count.
    const fits =
      out.has(name) || isNodeless(candidate) ? terminating.length + begin.length < max : out.size + missing < max;
    const rejected =
      capacity.refusal ?? (why && { reason: 'RemovalRejected', why, remedy: insteadOfRemoval(name, serving) });
    if (rejected) refused.push({ node: name, operation, ...rejected });
    else if (!fits || isHeld) waiting.push(name);
    else {
      begin.push(candidate);
      out.add(name);
      if (operation === 'Remove') size -= 1;
    }
  }
  const waitsFor = mayBegin
    ? `at most ${count(limit, 'node')} may be unavailable at a time`
    : whyNoneMayStart(s, capacity);
  const waitsOn = !hasTurn(s) ? 'pools' : mayBegin ? 'watch' : 'read';
  return { begin, waiting, waitsFor, waitsOn, refused, ...(halted && { halted }) };
}

/** Why no node may start, however few are unavailable. */
function whyNoneMayStart(s: ObservedState, { serving, whyNone }: Capacity): string {
  if (!hasTurn(s)) return isDisrupted(s.pool) ? 'the rolling update of the pool is in progress' : describeOthers(s);
  if (!serving) return whyNone;
  const why = s.counted?.ok === false ? `: ${s.counted.error.message}` : '';
  return `the nodes of the pool cannot be read${why}`;
}

/** All requested nodes: annotated ones, outdated ones and, unless remediation is off or short-circuited, failing nodes and instances that never joined. */
function candidatesOf(
  s: ObservedState,
  capacity: Capacity,
  mayRemediate: boolean,
): (Candidate & { readonly isHeld?: true })[] {
  const { retiring, idleGroups } = capacity;
  const { ends } = nodeSourceOf(s.pool);
  // A node without the ownership record of its pool gets that first: nothing else proves its membership.
  const annotated = s.poolNodes.requested.filter(
    (node) => s.poolNodes.isMarked(node.name) && !isRetired(s, retiring, node),
  );
  const requested = [...annotated, ...(mayRemediate ? unhealthyNodes(s, capacity) : [])].map(
    (node) => [node, wanted(operationFor(node))] as const,
  );
  const retired = (retiring?.leaving ?? []).map((node) => [node, wanted('DrainNodeGroup')] as const);
  // One that is not removed now is at least renewed.
  const known = new Set(requested.flatMap(([{ uid }, { operation }]) => (operation === 'Remove' ? [] : [uid])));
  const outdated = (capacity.outdated ?? [])
    .filter(({ uid }) => !known.has(uid))
    .map((node) => [node, { operation: 'Replace', reason: OUTDATED }] as const);
  const nodes = [...requested, ...retired, ...outdated].map(([node, what]) => ({
    name: node.name,
    uid: node.uid,
    instanceID: ends === 'instance' ? instanceIdOf(node) : '',
    ...what,
    ...(idleGroups && !idleGroups.includes(s.poolNodes.groupOf(node) ?? '') && { isHeld: true as const }),
  }));
  const late = (mayRemediate ? unhealthyInstances(s, capacity) : []).filter(
    ({ id }) => !terminationRefusal(id, terminationRetriedBefore(s), s),
  );
  const instances = late.map(({ id, privateDnsName }) => ({
    name: privateDnsName || id,
    uid: id,
    instanceID: id,
    ...wanted(undefined),
  }));
  // Status records them by name, and a name may have passed to another instance.
  const named = new Set(nodes.map(({ name }) => name));
  return [...nodes, ...instances.filter(({ name }) => !named.has(name))];
}

/** The requested operation; without one, the node is replaced because it is unhealthy. */
function wanted(operation: Operation | undefined): Pick<Candidate, 'operation' | 'reason'> {
  return operation ? { operation } : { operation: 'Replace', reason: UNHEALTHY };
}

/** Whether the pool has a share of the budget for this, or may get one. */
function hasTurn({ pool, otherPools, settings }: ObservedState): boolean {
  if (isDisrupted(pool)) return pool.status?.disruption?.reason === NODE_REPLACEMENT;
  return otherPools.disrupted.length < settings.maxPoolsUpdating;
}

/** The desired size of the group once pending removals are done. */
function sizeAfter(terminating: readonly LeavingNode[], serving: ServingCapacity | undefined): number {
  const removed = terminating.filter(
    ({ operation, terminationAcceptedTime }) => operation === 'Remove' && terminationAcceptedTime === undefined,
  );
  return (serving?.desired ?? 0) - removed.length;
}

function whyNotRemoved(pool: WindowsPool, serving: ServingCapacity | undefined, size: number): string | undefined {
  const { minSize, whyNotRemoved } = serving ?? {};
  return whyNotRemoved ?? (minSize === undefined ? undefined : removalRefusal(pool, minSize, size));
}

/** Why a pool of this size must not lose a node for good; undefined: it may. The rest of a sentence, without its full stop. */
export function removalRefusal({ spec }: Pick<WindowsPool, 'spec'>, minSize: number, size: number): string | undefined {
  const { desiredSize: desired } = scalingIn(spec);
  if (desired !== undefined) return `nodeGroup.scaling.desiredSize is ${desired}, so the pool would add a node again`;
  if (size <= minSize) return `the pool would have fewer nodes than nodeGroup.scaling.minSize (${minSize})`;
  return undefined;
}

function insteadOfRemoval(node: string, serving: ServingCapacity | undefined): string {
  const replace = `kubectl annotate node ${node} ${REPLACE_ANNOTATION}=true`;
  return serving?.whyNotRemoved === undefined
    ? `Lower it, or replace the node: ${replace}`
    : `To replace the node: ${replace}`;
}
