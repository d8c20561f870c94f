import { durations } from '../durations.ts';
import type { InstanceRecord } from '../records.ts';
import { type LocalAwsState, takePlan } from '../state.ts';

/** Cordons or uncordons a node. */
export function cordon(cloud: LocalAwsState, instance: InstanceRecord, on: boolean): void {
  if (instance.joined) cloud.emit({ kind: 'cordon', instance, on });
}

/**
 * Starts to evict the pods of a node; `instance.drained` becomes true when they are gone. Without Kubernetes this takes `durations.memoryDrain`.
 * A fault can prevent it.
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

/** Stops a drain. */
export function stopDrain(instance: InstanceRecord): void {
  instance.drain?.abort();
  delete instance.drain;
}
