/** Sets tags of Auto Scaling groups, those of several groups with one call, and removes them. */
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

/** Errors that do not depend on the groups of a call. */
const OF_ANY_CALL: ReadonlySet<CallErrorKind> = new Set(['throttled', 'unavailable']);

/** Tags of one group, at most {@link MOST_TAGS}. */
interface Waiting {
  readonly tags: readonly Tag[];
  readonly signal: AbortSignal;
  readonly outcome: PromiseWithResolvers<CallResult<void>>;
}

/**
 * Tags that are to be set while a call is under way share the next one. If that fails, each group gets its own: one that was deleted, or whose tags a
 * policy protects, must not affect the others.
 */
export function createScalingGroupTags(autoScaling: AutoScalingCall): Pick<ScalingGroups, 'setTags' | 'removeTags'> {
  let waiting: Waiting[] = [];
  let isSending = false;

  async function send(batch: readonly Waiting[]): Promise<void> {
    const signal = AbortSignal.any(batch.map((each) => each.signal));
    try {
      const Tags = batch.flatMap(({ tags }) => tags);
      const result = done(await autoScaling('CreateOrUpdateTags', { Tags }, signal));
      if (!result.ok && OF_ANY_CALL.has(result.error.kind)) settle([...batch, ...waiting.splice(0)], result);
      else if (result.ok || batch.length === 1) settle(batch, result);
      else await Promise.all(batch.map((each) => send([each])));
    } catch (error) {
      // One caller's abort is not the end for the others.
      const others = signal.aborted ? batch.filter((each) => !each.signal.aborted) : [];
      waiting.unshift(...others);
      for (const each of batch) if (!others.includes(each)) each.outcome.reject(error);
    }
  }

  function nextBatch(): Waiting[] {
    waiting = waiting.filter(({ signal }) => !signal.aborted);
    let size = 0;
    const end = waiting.findIndex(({ tags }) => {
      size += tags.length;
      return size > MOST_TAGS;
    });
    return waiting.splice(0, end < 0 ? waiting.length : end);
  }

  async function sendAll(): Promise<void> {
    if (isSending) return;
    isSending = true;
    for (let batch = nextBatch(); batch.length > 0; batch = nextBatch()) await send(batch);
    isSending = false;
  }

  async function set(tags: readonly Tag[], signal: AbortSignal): Promise<CallResult<void>> {
    signal.throwIfAborted();
    const outcome = Promise.withResolvers<CallResult<void>>();
    const onAbort = () => outcome.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    waiting.push({ tags, signal, outcome });
    void sendAll();
    try {
      return await outcome.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    setTags: async (group, tags, signal) => {
      const all = Object.entries(tags).map(([Key, Value]) => ({
        ...tagOf(group, Key),
        Value,
        PropagateAtLaunch: false,
      }));
      return inOrder(all, (part) => set(part, signal));
    },
    removeTags: async (group, keys, signal) => {
      const all = keys.map((Key) => tagOf(group, Key));
      return inOrder(all, async (Tags) => done(await autoScaling('DeleteTags', { Tags }, signal)));
    },
  };
}

const tagOf = (group: string, Key: string) => ({ ResourceId: group, ResourceType: 'auto-scaling-group', Key });

function settle(all: readonly Waiting[], result: CallResult<void>): void {
  for (const { outcome } of all) outcome.resolve(result);
}

/** Calls with at most {@link MOST_TAGS} of the tags at a time, until one fails. */
async function inOrder(
  tags: readonly Tag[],
  call: (part: Tag[]) => Promise<CallResult<void>>,
): Promise<CallResult<void>> {
  for (let from = 0; from < tags.length; from += MOST_TAGS) {
    const result = await call(tags.slice(from, from + MOST_TAGS));
    if (!result.ok) return result;
  }
  return { ok: true, value: undefined };
}
