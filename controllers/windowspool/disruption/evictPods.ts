import type { BlockedPod } from '../model/disruption.ts';
import type { EvictionPass } from '../model/outcome.ts';
import type { EvictPods } from '../model/steps.ts';
import type { CallResult } from '../ports/callResult.ts';
import type { DrainPod, Drains, Eviction } from '../ports/pods.ts';
import { inParallel } from '../util/inParallel.ts';

/** How many evictions of a node are on their way at a time: webhooks look at each. */
const AT_ONCE = 4;

/** After which no more are begun: where a webhook hangs, the others wait for the next pass, and no worker waits for all of them. */
const PASS_MS = 5_000;

/**
 * Pods are asked whatever became of the others; the first trouble is told at the end, so that one that cannot be asked does not hold the others
 * up. Each pass asks at least as many as go at a time.
 */
export async function evictPods(
  step: EvictPods,
  { evict }: Pick<Drains, 'evict'>,
  signal: AbortSignal,
  passMs = PASS_MS,
): Promise<CallResult<EvictionPass>> {
  const end = performance.now() + passMs;
  const asked: EvictPods['evictions'][number][] = [];
  const answers = await inParallel(step.evictions, AT_ONCE, async (eviction) => {
    signal.throwIfAborted();
    if (asked.length >= AT_ONCE && performance.now() >= end) return undefined;
    asked.push(eviction);
    const { pod, gracePeriodSeconds } = eviction;
    return { pod, answer: await evict(pod, gracePeriodSeconds, signal) };
  });
  const answered = answers.filter((each) => each !== undefined);
  const [error] = answered.flatMap(({ answer }) => (answer.ok ? [] : [answer.error]));
  if (error) return { ok: false, error };
  const blocked = answered.flatMap(({ pod, answer }) => (answer.ok ? keptBy(answer.value, step.node.name, pod) : []));
  return { ok: true, value: { took: { ...step, evictions: asked }, blocked } };
}

function keptBy(eviction: Eviction, node: string, { namespace, name }: DrainPod): BlockedPod[] {
  if (eviction.kind === 'blocked') return [{ node, namespace, name, budget: eviction.budget }];
  return eviction.kind === 'denied' ? [{ node, namespace, name, budget: undefined, admission: eviction.by }] : [];
}
