/** The condition NodesLeaving: nodes that are replaced or removed on request, or because they fail. Present only while there are any. */
import type { LeavingNode } from '../api.gen.ts';
import { type Admission, admit } from '../disruption/admission.ts';
import { type Drain, drainOf, nameOf, podsThatEnd } from '../disruption/drain.ts';
import { drainOptionsOf } from '../disruption/drainAction.ts';
import { describeDrained, describeDue } from '../disruption/drainedNodes.ts';
import { annotationOf, isExcludedFromDrain, isPrepared } from '../disruption/nodeAnnotations.ts';
import { terminatingNodes } from '../disruption/reservation.ts';
import { isNodeless } from '../disruption/terminatingNode.ts';
import type { ConditionState } from '../model/conditions.ts';
import type { BlockedPod, TerminatingNodeView, TerminatingStage } from '../model/disruption.ts';
import type { ObservedState } from '../model/observedState.ts';
import { nodeSourceOf } from '../nodeSource.ts';
import { isDeleting, isPaused } from '../queries.ts';
import { timeOf } from '../util/durations.ts';
import { count, duration, joined, sentence } from '../util/words.ts';

/** How many nodes a message spells out. */
const NODES_IN_MESSAGE = 3;

/** The state of the nodes that are being removed; undefined when there are none. */
export function nodesLeaving(s: ObservedState): ConditionState | undefined {
  if (isDeleting(s.pool)) return undefined;
  const { refused, halted, ...rest } = admit(s);
  const terminating = terminatingNodes(s.pool).map((entry) => describe(entry, s));
  const waits = describeWaiting(rest, s);
  const refusals = refused.map(({ node, why }) => `${node} is not removed: ${why}`);
  const due = nodeSourceOf(s.pool).terminatesInstances || halted ? [] : describeDue(s);
  const lines = [...terminating.map(({ text }) => text), ...refusals, ...(halted ? [halted] : []), ...due];
  if (lines.length + waits.length === 0) return undefined;
  const more = lines.length > NODES_IN_MESSAGE ? [`${lines.length - NODES_IN_MESSAGE} more nodes`] : [];
  const message = [...lines.slice(0, NODES_IN_MESSAGE), ...more, ...waits].map(sentence).join(' ');
  const isHeld = terminating.some(({ held }) => held);
  if (isHeld) return { status: 'True', reason: 'DrainBlocked', message, working: true };
  if (halted) return { status: 'True', reason: 'TooManyUnhealthy', message };
  if (terminating.some(({ done }) => !done)) return { status: 'True', reason: 'Draining', message, working: true };
  if (due.length > 0) return { status: 'True', reason: 'ReplacementDue', message };
  if (terminating.length > 0) return { status: 'True', reason: 'Drained', message };
  return { status: 'True', reason: refusals.length > 0 ? 'RemovalRefused' : 'WaitingForTurn', message };
}

/** The nodes that are not admitted yet: a requested node is always mentioned, even between two turns. */
function describeWaiting(
  { begin, waiting, waitsFor }: Omit<Admission, 'refused' | 'halted'>,
  { pool }: ObservedState,
): string[] {
  const [next, later] = [begin.map(({ name }) => name), waiting];
  if (isPaused(pool)) {
    const all = [...next, ...later];
    return all.length > 0 ? [`${joined(all)} ${verbFor(all)} until the pool is resumed`] : [];
  }
  return [
    ...(next.length > 0 ? [`${joined(next)} ${next.length === 1 ? 'is' : 'are'} next`] : []),
    ...(later.length > 0 ? [`${joined(later)} ${verbFor(later)} for a turn: ${waitsFor}`] : []),
  ];
}

function verbFor(names: readonly string[]): string {
  return names.length === 1 ? 'waits' : 'wait';
}

const VERBS: Readonly<Record<string, string>> = { Remove: 'removed', Remediate: 'replaced because it fails' };

interface Line {
  readonly text: string;
  /** Whether the drain is blocked until a user acts. */
  readonly held: boolean;
  /** Whether the operator has drained the node, and another system is to terminate it. */
  readonly done?: true;
}

/** The stage of the removal of a node. */
export function stageOf(entry: LeavingNode, s: ObservedState): TerminatingStage {
  if (entry.drained !== undefined) return 'drained';
  if (entry.ended !== undefined) return 'ending';
  return describe(entry, s).held ? 'blocked' : 'draining';
}

/** The state of the removal of a node, in words. */
function describe(entry: LeavingNode, s: ObservedState): Line {
  const { name, instance, operation, ended } = entry;
  const view = s.operations?.nodes.find((each) => each.entry.uid === entry.uid);
  const now = view?.node.ok ? view.node.value : undefined;
  if (entry.drained !== undefined) return { text: describeDrained(entry, now), held: false, done: true };
  const whose = isNodeless(entry) ? '' : ` of node ${name}${now && isExcludedFromDrain(now) ? ' with its pods' : ''}`;
  if (ended !== undefined) return { text: `instance ${instance}${whose} ends`, held: false };
  if (isNodeless(entry))
    return { text: `instance ${instance} never became a node, and is about to be replaced`, held: false };
  const drain = view && drainIn(view, s);
  const verb = VERBS[operation] ?? 'replaced';
  if (!drain) return { text: `node ${name} is about to be ${verb}`, held: false };
  if (now && isExcludedFromDrain(now)) {
    const pods = view?.pods?.ok ? podsThatEnd(view.pods.value, entry, now, s.now) : 0;
    return {
      text: `node ${name} is excluded from drain, is to be ${verb}, and ends with its ${count(pods, 'pod')}`,
      held: false,
    };
  }
  const obstacles = obstaclesIn(drain, name, s);
  const pods = podsIn(drain);
  const rest = pods > 0 ? `${count(pods, 'pod')} must leave it first` : 'no pod has to leave it any more';
  const text = `node ${name} is to be ${verb}, and ${rest}${stuckIn(drain, s.now)}`;
  if (obstacles.length === 0) return { text, held: false };
  const by = timeOf(Date.parse(entry.since) + drainOptionsOf(s.pool).timeoutMs);
  const annotation = annotationOf(operation);
  const stop = operation === 'Remediate' ? `set ${annotation}=off on the node` : `take ${annotation} from the node`;
  const remedy = `Let them go, or ${stop}; at ${by} it is given up`;
  return { text: `${text}: ${sentence(joined(obstacles))} ${remedy}`, held: true };
}

/** The pods that did not leave a node in time, and what blocks them; undefined when it waits for something else. */
export function describeRest(view: TerminatingNodeView, s: ObservedState): string | undefined {
  const drain = drainIn(view, s);
  if (!drain || podsIn(drain) === 0) return undefined;
  return joined(obstaclesIn(drain, view.entry.name, s)) || `${count(podsIn(drain), 'pod')} had not left it`;
}

function podsIn({ evict, terminating, obstructions }: Drain): number {
  return evict.length + terminating.length + obstructions.length;
}

function obstaclesIn(drain: Drain, node: string, { operations }: ObservedState): string[] {
  return [...obstructionsIn(drain), ...blocksIn(operations?.blocked ?? [], node, drain)];
}

/** The nodes whose drain is blocked, with the cause. */
export function blockedDrains(
  s: ObservedState,
): { readonly node: { name: string; uid: string }; readonly text: string }[] {
  return terminatingNodes(s.pool).flatMap((entry) => {
    const { text, held } = describe(entry, s);
    return held ? [{ node: { name: entry.name, uid: entry.uid }, text: sentence(text) }] : [];
  });
}

function drainIn({ entry, node, pods }: TerminatingNodeView, s: ObservedState): Drain | undefined {
  const now = node.ok ? node.value : undefined;
  if (!now || !isPrepared(now) || !pods?.ok) return undefined;
  const since = Date.parse(entry.since);
  return drainOf(pods.value, { ready: now.ready, since }, drainOptionsOf(s.pool), s.now);
}

function obstructionsIn({ obstructions }: Drain): string[] {
  return obstructions.map(({ pod, why }) => `pod ${nameOf(pod)} ${why}`);
}

/** The pods that budgets blocked at the last pass and that are still to be evicted: others have been deleted since. */
function blocksIn(blocked: readonly BlockedPod[], node: string, { evict }: Drain): string[] {
  const staying = new Set(evict.map(nameOf));
  return blocked
    .filter((pod) => pod.node === node && staying.has(nameOf(pod)))
    .map(({ budget, admission, ...pod }) => {
      const what =
        admission ?? (budget === undefined ? 'several PodDisruptionBudgets' : `PodDisruptionBudget ${budget}`);
      return `pod ${nameOf(pod)} is kept by ${what}`;
    });
}

/**
 * Reports pods on a dead node, whose termination no kubelet confirms. The age is that of the oldest, in steps of 5 minutes, so that the
 * message seldom changes.
 */
function stuckIn({ stuck }: Drain, now: number): string {
  const [first] = [...stuck].sort((a, b) => (a.deletingAt ?? 0) - (b.deletingAt ?? 0));
  if (!first) return '';
  const minutes = Math.floor((now - (first.deletingAt ?? now)) / 300_000) * 5;
  const age = duration(minutes * 60_000);
  return ` (${count(stuck.length, 'pod')} of the node, which is not Ready, ${stuck.length === 1 ? 'was' : 'were'} to end, such as ${nameOf(first)} more than ${age} ago)`;
}
