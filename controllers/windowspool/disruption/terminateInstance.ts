/**
 * Terminates the instance of a node. Everything is read again right before the call: uncached, by the names that AWS and the API server report, and
 * using nothing that a kubelet can write.
 */

import type { LeavingNode } from '../api/api.gen.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { StepError } from '../model/stepError.ts';
import type { Step } from '../model/steps.ts';
import { instanceIdOf } from '../nodes/unwatchedNodes.ts';
import type { CallError, CallResult } from '../ports/callResult.ts';
import type { Instances, KnownInstance, ScalingGroups } from '../ports/ec2.ts';
import type { NodeRecord, Nodes } from '../ports/nodes.ts';
import { isLasting } from '../rules/poolQueries.ts';
import { isCordonedByOperator, shrinksGroup } from './nodeAnnotations.ts';
import { isStillRequested } from './remediation.ts';

interface Ports {
  readonly nodes: Pick<Nodes, 'read'>;
  readonly instances: Pick<Instances, 'find'>;
  readonly scalingGroups: Pick<ScalingGroups, 'lifecycleOf' | 'terminateInstance'>;
}

/** The instance to terminate. */
export interface Termination {
  /** The name of its node, or the name that its node would have. */
  readonly name: string;
  /** The ID when the reservation was made: a kubelet that has since changed its providerID is not trusted. */
  readonly instanceID: string;
  /** The scaling groups of the pool's node group, from EKS. */
  readonly scalingGroups: readonly string[];
  /** Whether the group shrinks by one. */
  readonly shrink: boolean;
  /** Why the node that has the name now prevents the termination: it is another node, or its operation is no longer requested. */
  readonly whyNot: (now: NodeRecord) => string | undefined;
  /** Whether it must have no node: neither one that was seen, nor one with the name that EC2 gives the instance. */
  readonly mustBeNodeless?: { readonly hasNode: boolean };
}

/** The termination of a node's instance, from what was just read of both. */
export function terminationOf(
  { node, entry, scalingGroups, retiring }: Extract<Step, { kind: 'terminateInstance' }>,
  s: ObservedState,
): Termination {
  const { instanceID } = entry;
  const isRequested = (now: NodeRecord) => isStillRequested(entry, now, s, retiring) && isCordonedByOperator(now);
  const whyNot = (now: NodeRecord) =>
    otherNode(now, node, instanceID) ??
    (isRequested(now) ? undefined : `the operation on node ${node.name} is no longer requested`);
  return {
    name: node.name,
    instanceID,
    scalingGroups,
    shrink: shrinksGroup(entry),
    whyNot,
  };
}

/** The termination of an instance that did not join. */
export function unregisteredTerminationOf(
  { entry, scalingGroups }: Extract<Step, { kind: 'terminateUnregistered' }>,
  { poolNodes }: Pick<ObservedState, 'poolNodes'>,
): Termination {
  const { name, instanceID } = entry;
  const whyNot = (now: NodeRecord) => (instanceIdOf(now) === instanceID ? joinedAs(instanceID, name) : undefined);
  const mustBeNodeless = { hasNode: poolNodes.hasInstance(instanceID) };
  return { name, instanceID, scalingGroups, shrink: false, whyNot, mustBeNodeless };
}

const joinedAs = (instanceID: string, name: string) => `instance ${instanceID} has joined as node ${name}`;

/**
 * Terminates the instance unless it is already terminating or gone: idempotent after a crash. Error `conflict` if the node is another one or its
 * operation is no longer requested; `refused` with code `NotAMember` if the instance does not belong to the pool.
 */
export async function terminateInstance(
  termination: Termination,
  writers: Ports,
  signal: AbortSignal,
): Promise<CallResult<void>> {
  const { name, instanceID, shrink } = termination;
  const read = await writers.nodes.read(name, signal);
  if (!read.ok) return read;
  // The instance of a deleted node must still be terminated.
  const message = read.value && termination.whyNot(read.value);
  if (message) return changed(message);
  const found = await writers.instances.find(instanceID, signal);
  if (!found.ok) return found;
  if (found.value === undefined || isOver(found.value)) return DONE;
  const { scalingGroup = '' } = found.value;
  const why = membershipMismatch(termination, found.value);
  if (why) return { ok: false, error: notAMember(why) };
  const nodeless = termination.mustBeNodeless && (await provedNodeless(termination, found.value, writers, signal));
  if (nodeless && !nodeless.ok) return nodeless;
  const lifecycle = await writers.scalingGroups.lifecycleOf(scalingGroup, instanceID, signal);
  if (!lifecycle.ok) return lifecycle;
  // The lifecycle hook of EKS keeps a terminating instance running for a time, so the EC2 state alone is not enough. An instance that went back to a
  // warm pool is no longer a node, and is restarted before it becomes one.
  if (lifecycle.value === undefined || /^(?:Terminat|Warmed:)/.test(lifecycle.value)) return DONE;
  return writers.scalingGroups.terminateInstance(instanceID, shrink, signal);
}

const DONE: CallResult<void> = { ok: true, value: undefined };

function changed(message: string): CallResult<void> {
  return { ok: false, error: { kind: 'conflict', operation: 'get nodes', code: 'Changed', message } };
}

/** Error `refused` if the instance has a node: a record in status alone must not terminate a node that has not been drained. */
async function provedNodeless(
  { instanceID, name, mustBeNodeless }: Termination,
  { privateDnsName }: KnownInstance,
  { nodes }: Ports,
  signal: AbortSignal,
): Promise<CallResult<void>> {
  if (mustBeNodeless?.hasNode) return hasNode(joinedAs(instanceID, privateDnsName || name));
  if (privateDnsName === '' || privateDnsName === name) return DONE;
  const read = await nodes.read(privateDnsName, signal);
  if (!read.ok) return read;
  return read.value ? hasNode(joinedAs(instanceID, privateDnsName)) : DONE;
}

function hasNode(message: string): CallResult<void> {
  return { ok: false, error: { kind: 'refused', operation: 'get nodes', code: 'HasNode', message } };
}
const TERMINATED_STATES: readonly string[] = ['shutting-down', 'terminated'];

/** Whether an instance is terminating, terminated, or no longer known to EC2. */
export function isOver(instance: KnownInstance | undefined): boolean {
  return instance === undefined || TERMINATED_STATES.includes(instance.state);
}

/** Why a node must not be terminated: its name belongs to another node now, or it reports another instance. */
export function otherNode(now: NodeRecord, seen: NodeRecord, instanceID: string): string | undefined {
  const isSame = now.uid === seen.uid && instanceIdOf(now) === instanceID;
  return isSame ? undefined : `node ${seen.name} was recreated`;
}

/**
 * Why an instance must not be terminated for a node: it is not in the pool's scaling group, or it is another node's. A kubelet writes its own
 * providerID, so two nodes can claim the same instance; the name of a node is the one in EC2.
 */
export function membershipMismatch(
  { name, instanceID, scalingGroups }: Pick<Termination, 'name' | 'instanceID' | 'scalingGroups'>,
  { scalingGroup, privateDnsName }: Pick<KnownInstance, 'scalingGroup' | 'privateDnsName'>,
): string | undefined {
  if (scalingGroup === undefined) return `instance ${instanceID} of node ${name} is in no Auto Scaling group`;
  if (!scalingGroups.includes(scalingGroup))
    return `instance ${instanceID} of node ${name} is in Auto Scaling group ${scalingGroup}, which is not the pool's`;
  const isOther = privateDnsName !== '' && privateDnsName !== name && name !== instanceID;
  return isOther ? `node ${name} reports instance ${instanceID}, which belongs to node ${privateDnsName}` : undefined;
}

/** Error `refused` if the node's instance is not the pool's, from what EC2 says now. */
export async function instanceMismatch(
  termination: Pick<Termination, 'name' | 'instanceID' | 'scalingGroups'>,
  instances: Pick<Instances, 'find'>,
  signal: AbortSignal,
): Promise<CallResult<void>> {
  const { name, instanceID } = termination;
  if (instanceID === '') return { ok: false, error: notAMember(`node ${name} reports no EC2 instance ID`) };
  const found = await instances.find(instanceID, signal);
  if (!found.ok) return found;
  const why = found.value
    ? membershipMismatch(termination, found.value)
    : `node ${name} reports instance ${instanceID}, which does not exist`;
  return why ? { ok: false, error: notAMember(why) } : DONE;
}

function notAMember(message: string): CallError {
  return { kind: 'refused', operation: 'DescribeInstances', code: 'NotAMember', message };
}

/** The record of the node or instance that a step terminates; undefined for a step that terminates none. */
export function terminatedBy(step: Step): LeavingNode | undefined {
  return step.kind === 'terminateInstance' || step.kind === 'terminateUnregistered' ? step.entry : undefined;
}

/** Whether it is a step that terminates an instance. */
export function isTermination(step: StepError['step']): boolean {
  return step === 'terminateInstance' || step === 'terminateUnregistered';
}

/**
 * Why AWS refused to terminate an instance since a time (epoch milliseconds), if the error is lasting; also `refused` if the instance does not belong
 * to the pool.
 */
export function terminationRefusal(
  uid: string,
  since: number,
  { errors }: Pick<ObservedState, 'errors'>,
): CallError | undefined {
  const isRefusal = ({ step, target, at }: StepError) => isTermination(step) && target === uid && at >= since;
  return errors.find((entry) => isRefusal(entry) && isLasting(entry.error))?.error;
}

/** The time (epoch milliseconds) before which refused terminations of instances that did not join are retried. */
export function terminationRetriedBefore({ now, settings }: Pick<ObservedState, 'now' | 'settings'>): number {
  return now - settings.resyncMs;
}

/** Whether the error is such a refusal: it is reported until the retry, and blocks nothing. */
export function isDueAgain({ step, at }: StepError, s: Pick<ObservedState, 'now' | 'settings'>): boolean {
  return step === 'terminateUnregistered' && at < terminationRetriedBefore(s);
}
