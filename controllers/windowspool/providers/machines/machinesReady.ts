/** The condition MachinesReady. Pure. */

import type { Reason } from '../../api/reasons.ts';
import { falseCondition, trueCondition, unknownCondition } from '../../conditions/condition.ts';
import { releasing } from '../../membership/releasing.ts';
import type { ConditionState } from '../../model/conditions.ts';
import type { Decision, Wait } from '../../model/decisions.ts';
import type { CallError } from '../../ports/callResult.ts';
import type { Instances, Machine, MachineSet } from '../../ports/machines.ts';
import { machinesIn } from '../../rules/nodeSource.ts';
import { isDeleting } from '../../rules/poolQueries.ts';
import { restOf, waitOf } from '../../rules/ruleChains.ts';
import { apiGroupOf } from '../../util/apiGroup.ts';
import { count, describeFailure, duration, joined, sentence } from '../../util/words.ts';
import { instancesOf, lateAt, withoutNode } from './instances.ts';
import { templateIn } from './machineSetManifest.ts';
import { isLate, kubectlFor, liveMachines, type MachinesState, objectName } from './machinesState.ts';

/** How many Machines a message names. */
const MACHINES_IN_MESSAGE = 3;

/** Whether the object exists, works, and has as many Machines with nodes as it should. */
export function machinesReady(s: MachinesState, decisions: readonly Decision[]): ConditionState {
  const own = waitOf(decisions, 'machineSet');
  if (isDeleting(s.pool)) return notDeleted(s) ?? (own ? deletingObject(own) : releasing(s));
  const { machines } = s;
  const object = objectName(s);
  if (machines.kind === 'unknown') return unknown(s);
  if (own) return falseCondition(own.reason, own.message ?? '', 'stalled');
  const failed = errorOf(s, 'applyMachineSet');
  if (failed) {
    const isLasting = failed.kind === 'refused' || failed.kind === 'gone';
    const remedy = isLasting ? ' Correct machines.template.' : '';
    const message = `machines.template could not be applied to ${object}: ${describeFailure(failed)}${remedy}`;
    return falseCondition('MachineSetRejected', message, isLasting ? 'stalled' : 'working');
  }
  if (machines.kind === 'absent' && templateIn(s.pool))
    return falseCondition('MachinesScaling', `${object} is being created.`, 'working');
  if (machines.kind === 'absent') {
    const message = `${object} does not exist. Create it, or create another pool for another object.`;
    return falseCondition('MachineSetMissing', message, 'stalled');
  }
  const { set } = machines;
  if (set.deleting) {
    const remedy = templateIn(s.pool) ? 'The operator creates it again after that.' : 'Delete the pool, too.';
    return falseCondition('MachineSetDeleting', `${object} is being deleted, and its nodes with it. ${remedy}`);
  }
  if (set.pausedBy !== '') {
    const message = `${object} is paused, so no Machine is created, replaced or deleted: ${set.pausedBy}.`;
    return falseCondition('MachineSetPaused', message, 'stalled');
  }
  const wait = waitOf(decisions, 'machines');
  if (wait) return falseCondition(wait.reason, wait.message ?? '', 'stalled');
  const rollout = waitOf(decisions, 'rollout');
  if (rollout && STALLED.includes(rollout.reason))
    return falseCondition(rollout.reason, rollout.message ?? '', 'stalled');
  const instances = instancesOf(s);
  const notReady = instances ? ofInstances(s, set, instances) : ofMachines(s, set);
  if (notReady) return notReady;
  const message = rollout?.message ?? restOf(decisions, 'rollout')?.message;
  const outdated = message === undefined ? '' : ` ${message}`;
  const what = instances ? 'instance' : 'Machine';
  return trueCondition(
    'MachinesReady',
    `${object} has ${count(set.replicas, what)}.${shortStart(machines)}${outdated}`,
  );
}

/** The error of a step in this run. A conflict is expected: another client wrote first. */
function errorOf({ errors }: MachinesState, of: 'applyMachineSet' | 'deleteMachineSet'): CallError | undefined {
  return errors.find(({ step, error }) => step === of && error.kind !== 'conflict')?.error;
}

/** Why the object of a deleted pool is not deleted. */
function notDeleted(s: MachinesState): ConditionState | undefined {
  const failed = errorOf(s, 'deleteMachineSet');
  if (!failed) return undefined;
  const message = `${objectName(s)} and its templates could not be deleted: ${describeFailure(failed)} To delete the pool without them, set deletionPolicy: Retain.`;
  return falseCondition('MachineSetDeleting', message, failed.kind === 'unavailable' ? 'working' : 'stalled');
}

/** That the object of a deleted pool is being deleted, or why it is not. */
function deletingObject({ reason, message = '', progress }: Wait): ConditionState {
  return falseCondition(reason, message, progress ? 'working' : 'stalled');
}

/** Reasons for which a user must act, so that Machines of an earlier template are replaced. */
const STALLED: readonly Reason[] = ['RolloutHalted', 'InvalidMaintenanceWindow', 'MachineSetNotUsable'];

function unknown(s: MachinesState): ConditionState {
  const { error } = s.machines.kind === 'unknown' ? s.machines : {};
  const { apiVersion } = machinesIn(s.pool.spec).ref;
  const object = objectName(s);
  if (!error)
    return unknownCondition('MachinesUnknown', `${object} has not been read yet. The pool keeps its nodes until then.`);
  if (error.kind === 'gone') {
    const cluster = s.settings.managesElsewhere ? 'management cluster' : 'cluster';
    const message = `The ${cluster} does not serve ${apiVersion}. Install it, or correct apiVersion in machines.${templateIn(s.pool) ? 'template' : 'ref'}. The pool keeps its nodes until then.`;
    return falseCondition('MachineAPIMissing', message, 'stalled');
  }
  const why = `${object} cannot be read: ${describeFailure(error)} The pool keeps its nodes until then.`;
  if (error.kind !== 'denied') return unknownCondition('MachinesUnknown', why);
  const user = s.settings.managesElsewhere ? 'the user in --machines-kubeconfig' : "the operator's ServiceAccount";
  const fix = `Grant ${user} the permissions in config/machines.`;
  return unknownCondition('AccessDenied', `${why} ${fix}`, 'stalled');
}

/** What is wrong with the instances of a MachinePool, or in progress; undefined if all have nodes. */
function ofInstances(s: MachinesState, set: MachineSet, instances: Instances): ConditionState | undefined {
  const { replicas, problem } = set;
  const total = instances.providerIDs.length;
  const without = withoutNode(instances);
  const part = without > 0 ? `, ${without} of them without a node` : '';
  const counts = `${objectName(s)} has ${total} of ${count(replicas, 'instance')}${part}`;
  const late = lateAt(s);
  if (late !== undefined && s.now >= late) {
    const reported = problem === '' ? '' : ` Its controller reports: ${sentence(problem)}`;
    const reason = total < replicas ? 'MachinesMissing' : 'MachinesWithoutNode';
    const message = `${counts}, for ${duration(s.settings.joinGraceMs)} or longer.${reported} See: ${describeCommand(s, 'machinepools', set.name)}`;
    return falseCondition(reason, message);
  }
  if (total === replicas && without === 0) return undefined;
  return falseCondition('MachinesScaling', `${counts}.`, 'working');
}

/** What is wrong with the Machines, or in progress; undefined if all have nodes. */
function ofMachines(s: MachinesState, set: MachineSet): ConditionState | undefined {
  const object = objectName(s);
  const live = liveMachines(s);
  const failed = live.filter(({ hasFailed }) => hasFailed);
  const [first] = failed;
  if (first) {
    const message = `${count(failed.length, 'Machine')} of ${object} failed: ${named(failed)}. ${quoted(first)}Delete ${failed.length === 1 ? 'it' : 'them'} once the cause is fixed: the controller of the Machines creates others.`;
    return falseCondition('MachineFailed', message, 'stalled');
  }
  const late = live.filter((machine) => isLate(machine, s));
  const [oldest] = late;
  if (oldest) {
    const message = `${count(late.length, 'Machine')} of ${object} ${late.length === 1 ? 'has' : 'have'} had no node for ${duration(s.settings.joinGraceMs)} or longer: ${named(late)}. ${quoted(oldest)}See: ${describeCommand(s, 'machines', oldest.name)}`;
    return falseCondition('MachinesWithoutNode', message);
  }
  if (set.isRollingOut) {
    const message = `${object} replaces its Machines, because its template has changed: ${count(set.outdated, 'Machine')} of the earlier one ${set.outdated === 1 ? 'is' : 'are'} left. The spec of the pool does not limit this.`;
    return falseCondition('MachinesRollingOut', message, 'working');
  }
  const isLeaving = s.machines.kind === 'seen' && s.machines.machines.length > live.length;
  // While Machines are deleted, the controller reports them as its problem.
  if (live.length < set.replicas && set.problem !== '' && !isLeaving) {
    const message = `${object} has ${live.length} of ${count(set.replicas, 'Machine')}. Its controller reports: ${sentence(set.problem)}`;
    return falseCondition('MachinesMissing', message);
  }
  const starting = live.filter(({ node }) => node === '');
  if (live.length !== set.replicas || starting.length > 0) {
    const without = starting.length > 0 ? `, ${starting.length} of them without a node yet` : '';
    const message = `${object} has ${live.length} of ${count(set.replicas, 'Machine')}${without}.`;
    return falseCondition('MachinesScaling', message, 'working');
  }
  return undefined;
}

/** A Windows node is started in some ten minutes, and images are pulled before it is Ready. */
const STARTUP_MS = 20 * 60_000;

/** A MachineHealthCheck that replaces Machines before they can become nodes. */
function shortStart({ healthChecks = [] }: Extract<MachinesState['machines'], { kind: 'seen' }>): string {
  const short = healthChecks.find(({ startupTimeoutMs = Number.POSITIVE_INFINITY }) => startupTimeoutMs < STARTUP_MS);
  return short
    ? ` MachineHealthCheck ${short.name} replaces a Machine that has no node after ${duration(short.startupTimeoutMs ?? 0)}: Windows nodes can take longer. Raise its node startup timeout to 20 minutes.`
    : '';
}

const named = (machines: readonly Machine[]) =>
  joined(
    machines.map(({ name }) => name),
    MACHINES_IN_MESSAGE,
  );

function quoted({ problem }: Machine): string {
  return problem === '' ? '' : `Its controller reports: ${sentence(problem)} `;
}

function describeCommand(s: MachinesState, resource: 'machines' | 'machinepools', name: string): string {
  const { apiVersion } = machinesIn(s.pool.spec).ref;
  return `${kubectlFor(s)} describe ${resource}.${apiGroupOf(apiVersion)} ${name}`;
}
