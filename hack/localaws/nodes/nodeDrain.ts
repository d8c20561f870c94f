import { durations } from '../durations.ts';
import { type InstanceRecord, type LocalAwsState, takePlan } from '../state.ts';

/** Marks a node as unschedulable, or takes that back. */
export function cordon(cloud: LocalAwsState, instance: InstanceRecord, on: boolean): void {
  if (instance.joined) cloud.emit({ kind: 'cordon', instance, on });
}

/**
 * Begins to move the pods of a node elsewhere; `instance.drained` turns true when they are gone. Where there is no
 * Kubernetes they go by themselves. A fault can keep them.
 */
export function drain(cloud: LocalAwsState, instance: InstanceRecord): void {
  stopDrain(instance);
  instance.drained = !instance.joined;
  if (instance.drained || takePlan(cloud.plans.blockedDrains, instance.group) !== undefined) return;
  const attempt = new AbortController();
  instance.drain = attempt;
  const drained = () => {
    if (!attempt.signal.aborted) instance.drained = true;
  };
  if (cloud.followed) cloud.emit({ kind: 'drain', instance, signal: attempt.signal, drained });
  else cloud.timeline.after(durations.memoryDrain, drained);
}

/** Gives the attempt up. */
export function stopDrain(instance: InstanceRecord): void {
  instance.drain?.abort();
  delete instance.drain;
}
