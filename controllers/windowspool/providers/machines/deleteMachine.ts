/** Deletes the Machine of a drained node. Everything is read again right before, uncached, and nothing is used that a kubelet can write. */
import type { LeavingNode } from '../../api/api.gen.ts';
import { isCordonedByOperator, isOutdated } from '../../disruption/nodeAnnotations.ts';
import { isStillRequested } from '../../disruption/remediation.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Writers } from '../../model/writers.ts';
import type { CallError, CallResult } from '../../ports/callResult.ts';
import type { Machine, MachineSet, MachinesView } from '../../ports/machines.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { machinesIn } from '../../rules/nodeSource.ts';
import { machinesCapacity } from './machinesCapacity.ts';
import { isOf, isUsable } from './machinesState.ts';
import { isStillOutdated } from './rollout.ts';

/** A node whose Machine is to go. */
export interface MachineDeletion {
  readonly node: NodeRecord;
  readonly entry: LeavingNode;
}

/**
 * Deletes the Machine of the node or, to remove the node for good, lowers the number of Machines by one after marking this one. Can be repeated: the mark has the
 * lower number, so that it is lowered once. Error `conflict` if the node is another one, its operation is no longer requested, or its turn has not come, and
 * `refused` if no Machine of the pool has it.
 */
export async function deleteMachine(
  { node, entry }: MachineDeletion,
  s: ObservedState,
  { nodes, machineSets }: Pick<Writers, 'nodes' | 'machineSets'>,
  signal: AbortSignal,
): Promise<CallResult<void>> {
  const now = await nodes.read(node.name, signal);
  if (!now.ok) return now;
  // The Machine of a deleted node is deleted already, or its controller does that.
  if (!now.value) return DONE;
  const isRequested = isStillRequested(entry, now.value, s, undefined) && isCordonedByOperator(now.value);
  if (now.value.uid !== entry.uid || !isRequested)
    return failed('conflict', 'Changed', `the operation on node ${node.name} is no longer requested`);
  const { ref } = machinesIn(s.pool.spec);
  const seen = await machineSets.read(ref, signal);
  if (!seen.ok) return seen;
  const current = now.value;
  const machine = seen.value?.machines.find((one) => isOf(one, current));
  if (!seen.value || !machine) return failed('refused', 'NotAMember', `no Machine of the pool has node ${node.name}`);
  if (machine.deleting) return DONE;
  const fresh = { ...s, machines: { kind: 'seen', ...seen.value } } as const;
  if (isOutdated(entry) && !isStillOutdated(current, fresh))
    return failed('conflict', 'Changed', `node ${node.name} is no longer outdated`);
  const { serving, whyNone, refusal } = machinesCapacity(fresh);
  const why = refusal ? refusal.why : serving ? entry.operation === 'Remove' && serving.whyNotRemoved : whyNone;
  if (why) return failed('conflict', 'Changed', why);
  if (entry.operation !== 'Remove') return machineSets.delete(ref, machine, signal);
  const { set, machines } = seen.value;
  if (isShrinking({ set, machines }))
    return isAboutToGo(machine, { set, machines })
      ? DONE
      : failed('conflict', 'Changed', `the number of Machines is being lowered to ${set.replicas}`);
  // The number was lowered for this Machine, and its controller has deleted another one: it creates one for this one.
  if (isLowered(machine, set)) return machineSets.delete(ref, machine, signal);
  const size = set.replicas - 1;
  const marked = await machineSets.markForDeletion(ref, machine, size, signal);
  return marked.ok ? machineSets.scale(ref, set, size, signal) : marked;
}

/** Deletes a Machine if it still is outdated and has no node. Error `conflict` otherwise, or if the object no longer allows it. */
export async function deleteWithoutNode(
  { uid, name }: Machine,
  s: ObservedState,
  { machineSets }: Pick<Writers, 'machineSets'>,
  signal: AbortSignal,
): Promise<CallResult<void>> {
  const { ref } = machinesIn(s.pool.spec);
  const seen = await machineSets.read(ref, signal);
  if (!seen.ok) return seen;
  const machine = seen.value?.machines.find((one) => one.uid === uid);
  if (!seen.value || !machine || machine.deleting) return DONE;
  const mayDelete = isUsable({ ...s, machines: { kind: 'seen', ...seen.value } });
  if (!machine.isOutdated || machine.node !== '' || !mayDelete)
    return failed('conflict', 'Changed', `Machine ${name} is not to be deleted any more`);
  return machineSets.delete(ref, machine, signal);
}

type Seen = Pick<Extract<MachinesView, { kind: 'seen' }>, 'set' | 'machines'>;

/** Whether the number of Machines was lowered for this one, and its controller is about to delete it. */
export function isAboutToGo(machine: Machine, seen: Seen): boolean {
  return isLowered(machine, seen.set) && isShrinking(seen);
}

function isLowered({ goesAtSize }: Machine, { replicas }: MachineSet): boolean {
  return goesAtSize !== undefined && replicas <= goesAtSize;
}

function isShrinking({ set, machines }: Seen): boolean {
  return set.replicas < machines.filter(({ deleting }) => !deleting).length;
}

const DONE: CallResult<void> = { ok: true, value: undefined };

function failed(kind: CallError['kind'], code: string, message: string): CallResult<void> {
  return { ok: false, error: { kind, operation: 'delete machines', code, message } };
}
