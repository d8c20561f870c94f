/**
 * The replacement of nodes whose Machines are made from an earlier template. With the strategy OnDelete, the controller of the Machines leaves it to others, so
 * that maintenance windows, the budget and the verification of new nodes hold. Pure.
 */
import { REPLACE_ANNOTATION } from '../../api/labels.ts';
import { describeOpening, isInWindow, nextOpening, windowFault } from '../../disruption/maintenance.ts';
import { mayBeReplaced } from '../../disruption/nodeAnnotations.ts';
import type { RuleResult } from '../../model/decisions.ts';
import type { Machine } from '../../ports/machines.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { machinesIn } from '../../rules/nodeSource.ts';
import { leave, waitFor } from '../../rules/ruleChains.ts';
import { count, duration, joined, sentence } from '../../util/words.ts';
import {
  isOf,
  isUsable,
  liveMachines,
  type MachinesDerived,
  type MachinesState,
  notUsable,
  type Rollout,
  setOf,
} from './machinesState.ts';

const FIELD = 'spec.machines.update.maintenanceWindows';

/** What is due; undefined if all Machines are made from the current template, or nothing may be done with them now. */
export function rolloutOf(s: MachinesState): Rollout | undefined {
  const set = setOf(s);
  if (!set || set.deleting || set.pausedBy !== '' || set.isRollingOut) return undefined;
  const machines = liveMachines(s).filter(({ isOutdated }) => isOutdated);
  const outdated = Math.max(set.outdated, machines.length);
  if (outdated === 0) return undefined;
  const nodes = nodesOf(machines, s);
  const known = { outdated, leftOut: nodes.filter((node) => !mayBeReplaced(node)) };
  if (!isAutomatic(s) || machines.length === 0) return { ...known, waitsFor: 'user' };
  if (!isUsable(s)) return { ...known, waitsFor: 'permission' };
  const why = failureOf(s);
  if (why !== undefined) return { ...known, waitsFor: 'failure', why };
  const awaited = current(s).find((machine) => !isVerified(machine, s));
  if (awaited) return { ...known, waitsFor: 'verification', machine: awaited };
  const windows = machinesIn(s.pool.spec).update?.maintenanceWindows;
  if (!isInWindow(windows, s.now)) {
    const [opening, fault] = [nextOpening(windows, s.now), windowFault(windows, FIELD)];
    return { ...known, waitsFor: 'window', ...(opening && { opening }), ...(fault && { fault }) };
  }
  return { ...known, waitsFor: 'nothing', nodes: nodes.filter(mayBeReplaced) };
}

/** Whether a node whose replacement has begun is still to be replaced, as far as that is known. The end of a window does not stop it. */
export function isStillOutdated(node: NodeRecord, s: MachinesState): boolean {
  if (s.machines.kind !== 'seen') return true;
  if (!isAutomatic(s) || failureOf(s) !== undefined) return false;
  return liveMachines(s).some((machine) => machine.isOutdated && isOf(machine, node));
}

function isAutomatic({ pool }: MachinesState): boolean {
  return machinesIn(pool.spec).update?.policy === 'Automatic';
}

function current(s: MachinesState): readonly Machine[] {
  return liveMachines(s).filter(({ isOutdated }) => !isOutdated);
}

function isVerified({ node: name }: Machine, { poolNodes }: MachinesState): boolean {
  return poolNodes.has(name) && !poolNodes.joining.some(({ node }) => node.name === name);
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
  for (const machine of current(s)) {
    const { name, node, createdAt, hasFailed, problem } = machine;
    const what = `Machine ${name}, which is made from the current template,`;
    if (hasFailed) return sentence(`${what} failed${problem === '' ? '' : `: ${problem}`}`);
    if (node === '' && s.now - createdAt >= joinGraceMs)
      return `${what} has had no node for ${duration(joinGraceMs)} or longer.`;
    const failing = s.poolNodes.failing.find((result) => isOf(machine, result.node));
    if (failing) return sentence(`${what} has node ${node}, which ${failing.failures[0]?.message}`);
  }
  return undefined;
}

/** Says what the replacement of outdated nodes waits for. The nodes are admitted like all others that leave. */
export function awaitRollout(s: MachinesDerived): RuleResult | undefined {
  const { rollout } = s.due;
  if (!rollout) return undefined;
  const { outdated, leftOut } = rollout;
  const what = `${count(outdated, 'Machine')} ${outdated === 1 ? 'is' : 'are'} made from an earlier template`;
  const theirs = outdated === 1 ? 'Its node is' : 'Their nodes are';
  const without = describeLeftOut(leftOut);
  switch (rollout.waitsFor) {
    case 'user': {
      const remedy = `set machines.update.policy: Automatic, or replace ${outdated === 1 ? 'its node' : 'their nodes'}: kubectl annotate node NODE ${REPLACE_ANNOTATION}=true`;
      return leave('UpdateAvailable', `${what}: ${remedy}`);
    }
    case 'permission': {
      const { reason, why, remedy } = notUsable(s);
      return waitFor(reason, 'watch', { message: `${what}, and ${why}. ${remedy}` });
    }
    case 'failure': {
      const message = `${what}. ${theirs} not replaced: ${rollout.why} Correct the template, or fix the cause.`;
      return waitFor('RolloutHalted', 'watch', { message });
    }
    case 'verification': {
      const message = `${what}. ${theirs} replaced once the node of Machine ${rollout.machine.name} is verified.${without}`;
      return waitFor('UpdatePending', 'watch', { message, progress: true });
    }
    case 'window': {
      const { opening, fault } = rollout;
      const when = opening
        ? ` from ${describeOpening(opening)} on, in a maintenance window`
        : ' in a maintenance window';
      const message = `${fault ? `${fault} ` : ''}${what}. ${theirs} replaced${when}. To replace a node now: kubectl annotate node NODE ${REPLACE_ANNOTATION}=true`;
      const reason = fault ? 'InvalidMaintenanceWindow' : 'WaitingForWindow';
      return waitFor(reason, opening ? 'time' : 'watch', { message, ...(opening && { until: opening.at }) });
    }
    case 'nothing': {
      const message = `${what}. ${theirs} replaced within disruption.maxUnavailable.${without}`;
      return waitFor('UpdatePending', 'watch', { message, progress: true });
    }
  }
}

/** Nodes that could not be drained, or that a user left out. */
function describeLeftOut(nodes: readonly NodeRecord[]): string {
  const [first] = nodes;
  if (!first) return '';
  const names = joined(
    nodes.map(({ name }) => name),
    3,
  );
  const value = first.annotations[REPLACE_ANNOTATION];
  return ` Except ${names}, which ${nodes.length === 1 ? 'has' : 'have'} the annotation ${REPLACE_ANNOTATION}=${value}. To replace it: kubectl annotate node ${first.name} ${REPLACE_ANNOTATION}-`;
}
