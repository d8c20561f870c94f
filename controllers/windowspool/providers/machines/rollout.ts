/**
 * The replacement of nodes whose Machines are made from an earlier template. With the strategy OnDelete, the controller of the Machines leaves it to others, so
 * that maintenance windows, the budget and the verification of new nodes hold. Pure.
 */
import { REPLACE_ANNOTATION } from '../../api/labels.ts';
import { describeOpening, isInWindow, nextOpening, windowFault } from '../../disruption/maintenance.ts';
import { mayBeReplaced } from '../../disruption/nodeAnnotations.ts';
import type { RuleResult } from '../../model/decisions.ts';
import type { Machine, MachineSet } from '../../ports/machines.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { machinesIn } from '../../rules/nodeSource.ts';
import { leave, waitFor } from '../../rules/ruleChains.ts';
import { count, duration, joined, sentence } from '../../util/words.ts';
import {
  currentMachines,
  isLate,
  isOf,
  isUsable,
  liveMachines,
  type MachinesDerived,
  type MachinesState,
  notUsable,
  objectName,
  type Rollout,
  setOf,
} from './machinesState.ts';
import { failureElsewhere } from './templateFailures.ts';

const FIELD = 'spec.machines.update.maintenanceWindows';

/** What is due; undefined if all Machines are made from the current template, or nothing may be done with them now. */
export function rolloutOf(s: MachinesState): Rollout | undefined {
  const set = setOf(s);
  if (!set || set.deleting || set.pausedBy !== '' || !set.isOnDelete || !set.isObserved) return undefined;
  const machines = liveMachines(s).filter(({ isOutdated }) => isOutdated);
  const { replicas } = set;
  const outdated = machines.length > 0 ? machines.length : countedOutdated(s, set);
  if (outdated === 0) return undefined;
  const nodes = nodesOf(machines, s);
  const known = { outdated, leftOut: nodes.filter((node) => !mayBeReplaced(node)) };
  if (!isAutomatic(s)) return { ...known, waitsFor: 'user' };
  if (machines.length === 0) return { ...known, waitsFor: 'unknown' };
  if (!isUsable(s)) return { ...known, waitsFor: 'permission' };
  const why = failureOf(s);
  if (why !== undefined) return { ...known, waitsFor: 'failure', why };
  const failure = failureElsewhere(s);
  if (failure) return { ...known, waitsFor: 'otherPool', failure };
  const awaited = firstUnverified(s);
  if (awaited) return { ...known, waitsFor: 'verification', machine: awaited };
  // Otherwise, the end of a Machine that fails would let another node go.
  if (liveMachines(s).length < replicas) return { ...known, waitsFor: 'verification' };
  const windows = machinesIn(s.pool.spec).update?.maintenanceWindows;
  if (!isInWindow(windows, s.now)) {
    const [opening, fault] = [nextOpening(windows, s.now), windowFault(windows, FIELD)];
    return { ...known, waitsFor: 'window', ...(opening && { opening }), ...(fault && { fault }) };
  }
  return { ...known, waitsFor: 'nothing', nodes: nodes.filter(mayBeReplaced) };
}

/**
 * Whether a node whose replacement has begun is still to be replaced, as far as that is known. Neither the end of a window nor a failing node stops it: that would
 * evict its pods in vain.
 */
export function isStillOutdated(node: NodeRecord, s: MachinesState): boolean {
  const set = setOf(s);
  if (!set?.isObserved) return true;
  if (!isAutomatic(s) || !set.isOnDelete) return false;
  return liveMachines(s).some((machine) => machine.isOutdated && isOf(machine, node));
}

/** Outdated Machines that do not become nodes: nobody else deletes them, and they count as missing. */
function withoutNode(s: MachinesDerived): readonly Machine[] {
  if (!isAutomatic(s) || !isUsable(s)) return [];
  return liveMachines(s).filter((machine) => machine.isOutdated && hasNoNode(machine, s));
}

/** Whether it has failed before it had a node, or is late. */
function hasNoNode(machine: Machine, s: MachinesState): boolean {
  return isLate(machine, s) || (machine.hasFailed && machine.node === '');
}

/** How many its controller counts, which does not say which: it counts those that are being deleted, too. */
function countedOutdated({ machines }: MachinesState, { outdated }: MachineSet): number {
  const leaving = machines.kind === 'seen' ? machines.machines.filter(({ deleting }) => deleting) : [];
  return Math.max(0, outdated - leaving.length);
}

function isAutomatic({ pool }: MachinesState): boolean {
  return machinesIn(pool.spec).update?.policy === 'Automatic';
}

/** The first Machine of the current template without a verified node, if none of them fails. */
function firstUnverified(s: MachinesState): Machine | undefined {
  const joining = new Set(s.poolNodes.joining.map(({ node }) => node.name));
  return currentMachines(s).find(({ node }) => !s.poolNodes.has(node) || joining.has(node));
}

/** Their nodes that the pool has. */
function nodesOf(machines: readonly Machine[], { poolNodes }: MachinesState): readonly NodeRecord[] {
  const byNode = new Map(machines.map((machine) => [machine.node, machine]));
  return poolNodes.nodesBefore(Number.POSITIVE_INFINITY).filter((node) => {
    const machine = byNode.get(node.name);
    return machine !== undefined && isOf(machine, node);
  });
}

/** The first Machine of the current template that fails: more of them would fail, too. */
function failureOf(s: MachinesState): string | undefined {
  const { joinGraceMs } = s.settings;
  const grace = duration(joinGraceMs);
  const failing = new Map(s.poolNodes.failing.map((result) => [result.node.name, result]));
  for (const machine of currentMachines(s)) {
    const { name, node, createdAt, hasFailed, problem } = machine;
    const what = `Machine ${name}, which is made from the current template,`;
    const cause = problem === '' ? '' : ` Its controller reports: ${sentence(problem)}`;
    if (hasFailed) return `${what} failed.${cause}`;
    if (isLate(machine, s)) return `${what} has had no node for ${grace} or longer.${cause}`;
    const [failure] = failing.get(node)?.failures ?? [];
    if (failure) return sentence(`${what} has node ${node}, which ${failure.message}`);
    if (node !== '' && !s.poolNodes.has(node) && s.now - createdAt >= joinGraceMs)
      return `${what} has node ${node}, which does not count after ${grace}: see NodesVerified.`;
  }
  return undefined;
}

/** Ensures that outdated Machines that do not become nodes are deleted, and says what the replacement of outdated nodes waits for: they are admitted like all others. */
export function replaceOutdated(s: MachinesDerived): RuleResult | undefined {
  const { rollout } = s.due;
  if (!rollout) return undefined;
  const steps = withoutNode(s).map((machine) => ({ kind: 'deleteOutdatedMachine', machine }) as const);
  return { ...describe(rollout, s), steps };
}

function describe(rollout: Rollout, s: MachinesDerived): RuleResult {
  const { outdated, leftOut } = rollout;
  const isOne = outdated === 1;
  const what = `${count(outdated, 'Machine')} ${isOne ? 'is' : 'are'} made from an earlier template`;
  const [nodes, theirs] = isOne ? ['its node', 'Its node is'] : ['their nodes', 'Their nodes are'];
  const byHand = `kubectl annotate node NODE ${REPLACE_ANNOTATION}=true`;
  switch (rollout.waitsFor) {
    case 'user':
      return leave('UpdateAvailable', `${what}: set machines.update.policy: Automatic, or replace ${nodes}: ${byHand}`);
    case 'unknown': {
      const message = `${what}, but ${isOne ? 'its' : 'their'} controller does not report which (condition UpToDate of Machines). Replace ${nodes}: ${byHand}`;
      return leave('UpdateAvailable', message);
    }
    case 'permission': {
      const { reason, why, remedy } = notUsable(s);
      return waitFor(reason, 'watch', { message: `${what}, and ${why}. ${remedy}` });
    }
    case 'failure': {
      const message = `${rollout.why} Therefore, ${count(outdated, 'Machine')} of an earlier template ${isOne ? 'is' : 'are'} not replaced. Correct the template, or fix the cause.`;
      return waitFor('RolloutHalted', 'watch', { message });
    }
    case 'otherPool': {
      const { pool, node, finding } = rollout.failure;
      const fails = sentence(
        `Node ${node} of WindowsPool ${pool}, which is made from the same template, fails verification: ${finding}`,
      );
      const message = `${what}. ${fails} ${theirs} replaced once that node is verified or deleted, or with another template. To replace a node now: ${byHand}`;
      return waitFor('ReleaseNotVerified', 'pools', { message });
    }
    case 'verification': {
      const awaited = rollout.machine
        ? `the node of Machine ${rollout.machine.name} is verified`
        : `${objectName(s)} has all its Machines`;
      const message = `${what}. ${theirs} replaced once ${awaited}.${describeLeftOut(leftOut)}`;
      return waitFor('UpdatePending', 'watch', { message, progress: true });
    }
    case 'window': {
      const { opening, fault } = rollout;
      const when = opening
        ? ` from ${describeOpening(opening)} on, in a maintenance window`
        : ' in a maintenance window';
      const message = `${fault ? `${fault} ` : ''}${what}. ${theirs} replaced${when}. To replace a node now: ${byHand}`;
      const reason = fault ? 'InvalidMaintenanceWindow' : 'WaitingForWindow';
      return waitFor(reason, opening ? 'time' : 'watch', { message, ...(opening && { until: opening.at }) });
    }
    default: {
      const how =
        rollout.nodes.length > 0
          ? ` ${theirs} replaced within disruption.maxUnavailable: Disrupting shows which one is next.`
          : '';
      const message = `${what}.${how}${describeLeftOut(leftOut)}`;
      return waitFor('UpdatePending', 'watch', { message, progress: true });
    }
  }
}

/** How many nodes a message names. */
const NODES_IN_MESSAGE = 3;

/** Nodes that could not be drained, or that a user left out. */
function describeLeftOut(nodes: readonly NodeRecord[]): string {
  const [first] = nodes;
  if (!first) return '';
  const names = nodes.map(({ name }) => name);
  const isOne = nodes.length === 1;
  const value = `${REPLACE_ANNOTATION}=${first.annotations[REPLACE_ANNOTATION]}`;
  const which = `${isOne ? 'Node' : 'Nodes'} ${joined(names, NODES_IN_MESSAGE)} ${isOne ? 'is' : 'are'} left out because of an annotation, such as ${value}.`;
  return ` ${which} To replace ${isOne ? 'it' : 'them'}: kubectl annotate node ${names.slice(0, NODES_IN_MESSAGE).join(' ')} ${REPLACE_ANNOTATION}-`;
}
