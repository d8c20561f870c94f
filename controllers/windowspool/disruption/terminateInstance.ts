/**
 * The end of a node's instance. Whatever the plan looked at, everything is asked for once more right before: past every cache, by the names
 * that AWS and the API server gave, and of nothing that a kubelet can write.
 */

import type { ObservedState } from '../model/observedState.ts';
import type { StepError } from '../model/stepError.ts';
import type { Step } from '../model/steps.ts';
import { instanceIdOf } from '../nodes/lostNodes.ts';
import type { CallError, CallResult } from '../ports/callResult.ts';
import type { Instances, KnownInstance, ScalingGroups } from '../ports/ec2.ts';
import type { NodeRecord, Nodes } from '../ports/nodes.ts';
import { isLasting } from '../queries.ts';
import { isPrepared } from './nodeAnnotations.ts';
import { isStillRequested } from './remediation.ts';

interface Hands {
  readonly nodes: Pick<Nodes, 'read'>;
  readonly instances: Pick<Instances, 'find'>;
  readonly scalingGroups: Pick<ScalingGroups, 'lifecycleOf' | 'terminateInstance'>;
}

/** Which instance is to end. */
export interface Termination {
  /** Of its node, or which it would have. */
  readonly name: string;
  /** As it was when the share of the budget was taken: a kubelet that has another name for itself since is not trusted. */
  readonly instance: string;
  /** Those of the pool's node group, as EKS tells them. */
  readonly scalingGroups: readonly string[];
  /** Whether the group gets smaller by it. */
  readonly shrink: boolean;
  /** What is against it on a node that has the name now: another node, or one that is not to go any more. */
  readonly doubt: (now: NodeRecord) => string | undefined;
}

/** The ending of an instance whose node is to go, from what was just seen of both. */
export function terminationOf(
  { node, entry, scalingGroups }: Extract<Step, { kind: 'terminateInstance' }>,
  s: ObservedState,
): Termination {
  const { instance, operation, ended } = entry;
  // An instance whose end was asked for has nothing to be withdrawn.
  const isWanted = (now: NodeRecord) => ended !== undefined || (isStillRequested(entry, now, s) && isPrepared(now));
  const doubt = (now: NodeRecord) =>
    otherNode(now, node, instance) ?? (isWanted(now) ? undefined : `${node.name} is not to go any more`);
  return { name: node.name, instance, scalingGroups, shrink: operation === 'Remove', doubt };
}

/** The ending of an instance that never became a node. */
export function unregisteredTerminationOf({
  entry,
  scalingGroups,
}: Extract<Step, { kind: 'terminateUnregistered' }>): Termination {
  const { name, instance } = entry;
  const doubt = (now: NodeRecord) => (instanceIdOf(now) === instance ? `${name} has joined` : undefined);
  return { name, instance, scalingGroups, shrink: false, doubt };
}

/**
 * Ends the instance, unless it has ended or ends already: a call that is repeated after a crash ends nothing twice. The trouble `conflict`
 * when the node is another one or is not to go any more; `refused` with the code `NotAMember` when the instance is not the pool's.
 */
export async function terminateInstance(
  ending: Termination,
  writers: Hands,
  signal: AbortSignal,
): Promise<CallResult<void>> {
  const { name, instance, shrink } = ending;
  const read = await writers.nodes.read(name, signal);
  if (!read.ok) return read;
  // A node that is gone leaves its instance: that one is still to end.
  const message = read.value && ending.doubt(read.value);
  if (message) return { ok: false, error: { kind: 'conflict', operation: 'get nodes', code: 'Changed', message } };
  const found = await writers.instances.find(instance, signal);
  if (!found.ok) return found;
  if (found.value === undefined || isOver(found.value)) return DONE;
  const { scalingGroup = '' } = found.value;
  const why = membershipMismatch(ending, found.value);
  if (why) return { ok: false, error: stranger(why) };
  const lifecycle = await writers.scalingGroups.lifecycleOf(scalingGroup, instance, signal);
  if (!lifecycle.ok) return lifecycle;
  // EKS' lifecycle hook lets an instance run on for a while: EC2 alone does not tell that it ends.
  // One that went back to a warm pool is no node any more, and is started again before it becomes one.
  if (lifecycle.value === undefined || /^(?:Terminat|Warmed:)/.test(lifecycle.value)) return DONE;
  return writers.scalingGroups.terminateInstance(instance, shrink, signal);
}

const DONE: CallResult<void> = { ok: true, value: undefined };
const OVER: readonly string[] = ['shutting-down', 'terminated'];

/** Whether an instance has ended or ends, or was forgotten by EC2 since. */
export function isOver(instance: KnownInstance | undefined): boolean {
  return instance === undefined || OVER.includes(instance.state);
}

/** What is against the end of a node on which the node itself was seen: its name has another one now, or says that it is another instance. */
export function otherNode(now: NodeRecord, seen: NodeRecord, instance: string): string | undefined {
  const isSame = now.uid === seen.uid && instanceIdOf(now) === instance;
  return isSame ? undefined : `${seen.name} is another node now`;
}

/**
 * Why an instance must not end for a node: it is not of the pool's scaling group, or it is another node. A kubelet writes its own providerID,
 * so two nodes can say that they are the same instance; the name of a node is EC2's.
 */
export function membershipMismatch(
  { name, instance, scalingGroups }: Pick<Termination, 'name' | 'instance' | 'scalingGroups'>,
  { scalingGroup, privateDnsName }: Pick<KnownInstance, 'scalingGroup' | 'privateDnsName'>,
): string | undefined {
  const whose = scalingGroup === undefined ? 'no scaling group' : `scaling group ${scalingGroup}`;
  if (scalingGroup === undefined || !scalingGroups.includes(scalingGroup))
    return `instance ${instance} of node ${name} belongs to ${whose}, so it is not the pool's`;
  const isOther = privateDnsName !== '' && privateDnsName !== name && name !== instance;
  return isOther ? `node ${name} says that it is instance ${instance}, which is node ${privateDnsName}` : undefined;
}

function stranger(message: string): CallError {
  return { kind: 'refused', operation: 'DescribeInstances', code: 'NotAMember', message };
}

const ENDS: readonly string[] = ['terminateInstance', 'terminateUnregistered'] satisfies Step['kind'][];

/**
 * Why AWS has not ended an instance since a time (epoch milliseconds), where that lasts; `refused` also where it was found not to be the
 * pool's.
 */
export function refusalOfEnd(
  uid: string,
  since: number,
  { errors }: Pick<ObservedState, 'errors'>,
): CallError | undefined {
  const isOfIt = ({ step, target, at }: StepError) => ENDS.includes(step) && target === uid && at >= since;
  return errors.find((entry) => isOfIt(entry) && isLasting(entry.error))?.error;
}

/** What AWS refused before this time (epoch milliseconds) to end of instances that never became nodes is tried again. */
export function endsAgainBefore({ now, settings }: Pick<ObservedState, 'now' | 'settings'>): number {
  return now - settings.resyncMs;
}

/** Whether it is such a refusal: it is told of until the end was tried again, and holds nothing up. */
export function isDueAgain({ step, at }: StepError, s: Pick<ObservedState, 'now' | 'settings'>): boolean {
  return step === 'terminateUnregistered' && at < endsAgainBefore(s);
}
