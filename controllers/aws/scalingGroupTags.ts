/** Sets tags of Auto Scaling groups, those of several groups with one call, and removes them. */
import type { Tag } from '@aws-sdk/client-auto-scaling';
import type { CallErrorKind, CallResult } from '../windowspool/ports/callResult.ts';
import type { ScalingGroups } from '../windowspool/ports/ec2.ts';
import { createBatches } from '../windowspool/util/batches.ts';
import type { AutoScalingCall } from './calls.ts';
import { done } from './results.ts';

/**
 * "The maximum number of tags that you can add or remove using a single call is 25":
 * https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-tagging.html. They can be of several groups, as in cloud-custodian#127.
 */
const MOST_TAGS = 25;

const OF_ANY_CALL: ReadonlySet<CallErrorKind> = new Set(['throttled', 'unavailable']);

/**
 * Tags that are to be set while a call is under way share the next one. If that fails, each group gets its own: one that was deleted, or whose tags a
 * policy protects, must not affect the others.
 */
export function createScalingGroupTags(autoScaling: AutoScalingCall): Pick<ScalingGroups, 'setTags' | 'removeTags'> {
  /** Sets at most {@link MOST_TAGS} tags of one group. */
  const setPart = createBatches<readonly Tag[], CallResult<void>>({
    send: async (parts, signal) => done(await autoScaling('CreateOrUpdateTags', { Tags: parts.flat() }, signal)),
    take: (parts) => {
      let size = 0;
      const end = parts.findIndex((part) => {
        size += part.length;
        return size > MOST_TAGS;
      });
      return end < 0 ? parts.length : end;
    },
    isOfSome: (result) => !result.ok && !isOfAnyCall(result),
    isForAll: isOfAnyCall,
  });

  return {
    setTags: async (group, tags, signal) => {
      const all = Object.entries(tags).map(([Key, Value]) => ({
        ...tagOf(group, Key),
        Value,
        PropagateAtLaunch: false,
      }));
      return inOrder(all, (part) => setPart(part, signal));
    },
    removeTags: async (group, keys, signal) => {
      const all = keys.map((Key) => tagOf(group, Key));
      return inOrder(all, async (Tags) => done(await autoScaling('DeleteTags', { Tags }, signal)));
    },
  };
}

const tagOf = (group: string, Key: string) => ({ ResourceId: group, ResourceType: 'auto-scaling-group', Key });

/** Whether the call failed for a reason that does not depend on its groups. */
function isOfAnyCall(result: CallResult<void>): boolean {
  return !result.ok && OF_ANY_CALL.has(result.error.kind);
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
