import { setTimeout as pause } from 'node:timers/promises';
import { NodeStepError } from './nodeStepError.ts';

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** Repeats a step until it succeeds, is refused for good, or is no longer wanted (then it just returns). */
export async function untilDone(step: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (let wait = firstPauseMs; !signal.aborted; wait = Math.min(wait * 2, longestPauseMs)) {
    try {
      await step();
      return;
    } catch (error) {
      if (signal.aborted) return;
      // A kubelet does not care that its Node was deleted, until it starts again.
      if (error instanceof NodeStepError && error.gone) return;
      if (error instanceof NodeStepError && !error.again) throw error;
    }
    await pause(wait, undefined, { signal }).catch(() => {});
  }
}
