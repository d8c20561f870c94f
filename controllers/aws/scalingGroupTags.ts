/** Sets and removes tags of Auto Scaling groups, those of several groups with one call. */
import type { Tag } from '@aws-sdk/client-auto-scaling';
import type { CallErrorKind, CallResult } from '../windowspool/ports/callResult.ts';
import type { ScalingGroups } from '../windowspool/ports/ec2.ts';
import type { AutoScalingCall } from './calls.ts';
import { done } from './results.ts';

/**
 * "The maximum number of tags that you can add or remove using a single call is 25":
 * https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-tagging.html. They can be of several groups, as in cloud-custodian#127.
 */
const MOST_TAGS = 25;

const ResourceType = 'auto-scaling-group';

/** Errors that do not depend on the groups of a call. */
const OF_ANY_CALL: ReadonlySet<CallErrorKind> = new Set(['throttled', 'unavailable']);

interface Waiting {
  readonly tag: Tag;
  readonly signal: AbortSignal;
  readonly outcome: PromiseWithResolvers<CallResult<void>>;
}

/**
 * Tags that are to be set while a call is under way share the next one. If that fails, each of its groups gets its own: one that was deleted, or whose
 * tags a policy protects, must not affect the others.
 */
export function createScalingGroupTags(autoScaling: AutoScalingCall): Pick<ScalingGroups, 'setTags' | 'removeTags'> {
  let waiting: Waiting[] = [];
  let isSending = false;

  async function send(batch: readonly Waiting[]): Promise<void> {
    const signal = AbortSignal.any(batch.map((each) => each.signal));
    try {
      const result = done(await autoScaling('CreateOrUpdateTags', { Tags: batch.map(({ tag }) => tag) }, signal));
      const groups = Object.values(Object.groupBy(batch, ({ tag }) => tag.ResourceId ?? ''));
      if (result.ok || groups.length === 1 || OF_ANY_CALL.has(result.error.kind))
        for (const { outcome } of batch) outcome.resolve(result);
      else for (const ofGroup of groups) await send(ofGroup ?? []);
    } catch (error) {
      // One caller's abort is not the end for the others.
      const others = signal.aborted ? batch.filter((each) => !each.signal.aborted) : [];
      waiting = [...others, ...waiting];
      for (const each of batch) if (!others.includes(each)) each.outcome.reject(error);
    }
  }

  async function sendAll(): Promise<void> {
    if (isSending) return;
    isSending = true;
    for (let batch = waiting.splice(0, MOST_TAGS); batch.length > 0; batch = waiting.splice(0, MOST_TAGS))
      await send(batch);
    isSending = false;
  }

  function setTag(tag: Tag, signal: AbortSignal): Promise<CallResult<void>> {
    const outcome = Promise.withResolvers<CallResult<void>>();
    waiting.push({ tag, signal, outcome });
    return outcome.promise;
  }

  return {
    setTags: async (group, tags, signal) => {
      const results = Object.entries(tags).map(([Key, Value]) =>
        setTag({ ResourceId: group, ResourceType, Key, Value, PropagateAtLaunch: false }, signal),
      );
      void sendAll();
      return firstFailure(await Promise.all(results));
    },
    removeTags: async (group, keys, signal) => {
      const results: CallResult<void>[] = [];
      for (let from = 0; from < keys.length; from += MOST_TAGS) {
        const Tags = keys.slice(from, from + MOST_TAGS).map((Key) => ({ ResourceId: group, ResourceType, Key }));
        results.push(done(await autoScaling('DeleteTags', { Tags }, signal)));
      }
      return firstFailure(results);
    },
  };
}

function firstFailure(results: readonly CallResult<void>[]): CallResult<void> {
  return results.find(({ ok }) => !ok) ?? { ok: true, value: undefined };
}
