import type { BlockedPod } from '../model/disruption.ts';
import type { EvictionPass } from '../model/outcome.ts';
import type { EvictPods } from '../model/steps.ts';
import type { CallResult } from '../ports/callResult.ts';
import type { DrainPod, Drains, Eviction } from '../ports/pods.ts';
import { inParallel } from '../util/inParallel.ts';

/** How many evictions of a node are in flight at a time: each may pass admission webhooks. */
const AT_ONCE = 4;

/** When a pass starts no more evictions: if a webhook hangs, the remaining pods wait for the next pass and do not block a worker. */
const PASS_MS = 5_000;

/**
 * Requests the eviction of every pod, even if others fail, and returns the first error at the end. Each pass requests at least as many evictions as
 * may be in flight at a time.
 */
export async function evictPods(
  step: EvictPods,
  { evict }: Pick<Drains, 'evict'>,
  signal: AbortSignal,
  passMs = PASS_MS,
): Promise<CallResult<EvictionPass>> {
  const end = performance.now() + passMs;
  const requested: EvictPods['evictions'][number][] = [];
  const answers = await inParallel(step.evictions, AT_ONCE, async (eviction) => {
    signal.throwIfAborted();
    if (requested.length >= AT_ONCE && performance.now() >= end) return undefined;
    requested.push(eviction);
    const { pod, gracePeriodSeconds } = eviction;
    return { pod, answer: await evict(pod, gracePeriodSeconds, signal) };
  });
  const answered = answers.filter((each) => each !== undefined);
  const [error] = answered.flatMap(({ answer }) => (answer.ok ? [] : [answer.error]));
  if (error) return { ok: false, error };
  const blocked = answered.flatMap(({ pod, answer }) =>
    answer.ok ? blockedBy(answer.value, step.node.name, pod) : [],
  );
  return { ok: true, value: { took: { ...step, evictions: requested }, blocked } };
}

function blockedBy(eviction: Eviction, node: string, { namespace, name }: DrainPod): BlockedPod[] {
  if (eviction.kind === 'blocked') return [{ node, namespace, name, budget: eviction.budget }];
  return eviction.kind === 'denied' ? [{ node, namespace, name, budget: undefined, admission: eviction.by }] : [];
}
