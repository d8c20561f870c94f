/** How nodes of Machines are removed one by one: the operator drains them, and deletes their Machines, which are not drained again. */
import type { LeavingNode } from '../../api/api.gen.ts';
import { CORDONED_ANNOTATION } from '../../api/labels.ts';
import { type DrainAction, evictAction, isTimedOut, podsEndingWith, waitAction } from '../../disruption/drainAction.ts';
import { admissionSteps, drainSteps } from '../../disruption/drainRules.ts';
import { isCordonedByOperator, isOutdated } from '../../disruption/nodeAnnotations.ts';
import { isStillInBudget } from '../../disruption/nodeBudget.ts';
import type { ReadTerminatingNode } from '../../disruption/observeLeavingNodes.ts';
import { isStillRequested } from '../../disruption/remediation.ts';
import { terminatingNodes } from '../../disruption/reservation.ts';
import { isTerminated } from '../../disruption/terminatingNode.ts';
import { nodesOfMachines } from '../../membership/machineNodes.ts';
import type { RuleResult } from '../../model/decisions.ts';
import type { Admission, TerminatingNodeView } from '../../model/disruption.ts';
import type { Step } from '../../model/steps.ts';
import type { Sources } from '../../observation/sources.ts';
import type { Machine } from '../../ports/machines.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { machinesIn } from '../../rules/nodeSource.ts';
import { isDeleting } from '../../rules/poolQueries.ts';
import { describeUnread } from '../../util/words.ts';
import { isAboutToGo } from './deleteMachine.ts';
import { isOf, isUsable, liveMachines, type MachinesDerived, type MachinesState, setOf } from './machinesState.ts';
import { isStillOutdated } from './rollout.ts';

/** Ensures that admitted nodes are drained and their Machines deleted, or restored. */
export function drainMachines(s: MachinesDerived): RuleResult {
  const { steps, ...result } = drainSteps(s, nextDrainAction);
  const isKept = (step: Step) => step.kind === 'uncordonNode' && deletingMachineOf(step.node, s) !== undefined;
  return { ...result, steps: steps.filter((step) => !isKept(step)) };
}

/** The nodes whose turn begins, and those that wait, without those whose Machines are being deleted: a finalizer can keep such a Machine forever. */
export function withoutDeleting({ begin, ...rest }: Admission, s: MachinesState): Admission {
  const requested = new Map(s.poolNodes.requested.map((node) => [node.name, node]));
  const stays = (name: string) => deletingMachineOf(requested.get(name), s) === undefined;
  return { ...rest, begin: begin.filter(({ name }) => stays(name)), waiting: rest.waiting.filter(stays) };
}

function deletingMachineOf(node: NodeRecord | undefined, { machines }: MachinesState): Machine | undefined {
  if (!node || machines.kind !== 'seen') return undefined;
  return machines.machines.find((one) => one.deleting && isOf(one, node));
}

/** Ensures that nodes to be removed are admitted when the budget allows it. */
export function admitMachines(s: MachinesDerived): RuleResult {
  return admissionSteps(s);
}

/** Ensures that a Machine whose node stays is neither deleted before others, nor without a drain. The marks of another pool are not touched. */
export function unmarkMachines(s: MachinesDerived): Step[] {
  const { usableBy = '', createdFor = '' } = setOf(s) ?? {};
  if (!isUsable(s) && (usableBy !== '' || createdFor !== '')) return [];
  const leaving = new Map(
    isDeleting(s.pool) ? [] : terminatingNodes(s.pool).map(({ name, operation }) => [name, operation]),
  );
  const marked = liveMachines(s).filter(({ goesAtSize, drainExcludedBy, node }) => {
    const operation = leaving.get(node);
    if (goesAtSize !== undefined && operation !== 'Remove') return true;
    return drainExcludedBy === 'operator' && operation === undefined;
  });
  return marked.map((machine) => ({ kind: 'unmarkMachine', machine }));
}

/** The next action for a node, from its state as just read. */
function nextDrainAction(view: TerminatingNodeView, s: MachinesDerived): DrainAction {
  const { entry, node, member } = view;
  const now = node.ok ? node.value : undefined;
  if (!node.ok) return { kind: 'wait', why: describeUnread('The node', node.error) };
  if (!now || now.deleting || isTerminated(view)) return { kind: 'done' };
  const machine = s.machines.kind === 'seen' ? s.machines.machines.find((one) => isOf(one, now)) : undefined;
  if (machine?.deleting) return { kind: 'wait', why: 'Its Machine is being deleted.' };
  // It is too late to keep the node.
  if (machine && s.machines.kind === 'seen' && isAboutToGo(machine, s.machines))
    return { kind: 'wait', why: 'The controller of the Machines is about to delete its Machine.' };
  if (!isRequested(entry, now, s)) return { kind: 'restore' };
  if (!member?.ok)
    return unanswered(entry, waitAction(entry, s, 'It is not known whether a Machine of the pool has it.'));
  if (!member.value) {
    const why = `no Machine of the pool has node ${entry.name}`;
    return unanswered(entry, { kind: 'restore', answer: 'refused', why });
  }
  const { serving, whyNone, refusal } = s.due.capacity;
  if (refusal) return unanswered(entry, { kind: 'restore', answer: 'refused', why: refusal.why });
  if (!serving) return unanswered(entry, waitAction(entry, s, `It waits: ${whyNone}.`));
  if (entry.operation === 'Remove' && serving.whyNotRemoved)
    return { kind: 'restore', answer: 'refused', why: serving.whyNotRemoved };
  if (isCordonedByOperator(now)) {
    const withPods = podsEndingWith(view, now, s.now);
    const step = { kind: 'deleteMachine', node: now, entry, ...(withPods !== undefined && { withPods }) } as const;
    return evictAction(view, now, s, { kind: 'end', step });
  }
  // A kubelet can uncordon its node again and again. A node that was never cordoned did not cause that.
  const isUncordoned = CORDONED_ANNOTATION in now.annotations;
  const timedOut: DrainAction = { kind: 'restore', answer: 'timed-out' };
  if (isTimedOut(entry, s)) return isUncordoned ? timedOut : unanswered(entry, timedOut);
  return isStillInBudget(entry, now, s, serving) ? { kind: 'cordon' } : { kind: 'restore' };
}

/** An outdated node is left out only if its own pods or kubelet prevent its drain: otherwise, its turn comes again. */
function unanswered(entry: LeavingNode, action: DrainAction): DrainAction {
  return isOutdated(entry) && action.kind === 'restore' ? { kind: 'restore' } : action;
}

function isRequested(entry: LeavingNode, now: NodeRecord, s: MachinesState): boolean {
  return isStillRequested(entry, now, s, undefined) && (!isOutdated(entry) || isStillOutdated(now, s));
}

/** Reads a terminating node. The Machines of the pool are read once for all nodes. */
export async function nodeReader(
  s: MachinesState,
  sources: Sources,
  signal: AbortSignal,
): Promise<ReadTerminatingNode> {
  const { ref } = machinesIn(s.pool.spec);
  const machines = await sources.machineSets.read(ref, signal);
  return async (entry: LeavingNode): Promise<TerminatingNodeView> => {
    const node = await sources.nodes.read(entry.name, signal);
    const now = node.ok ? node.value : undefined;
    if (now?.uid !== entry.uid || !isRequested(entry, now, s)) return { entry, node };
    if (!machines.ok) return { entry, node, member: machines };
    const selected = { machines: nodesOfMachines(machines.value) };
    const isMember = sources.nodeMembership.confirms(s.pool, selected, now);
    const view = { entry, node, member: { ok: true, value: isMember } } as const;
    if (!isMember || !isCordonedByOperator(now)) return view;
    return { ...view, pods: await sources.drains.podsOn(entry.name, signal) };
  };
}
