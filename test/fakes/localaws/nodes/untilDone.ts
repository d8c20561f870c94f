import { setTimeout as pause } from 'node:timers/promises';
import { ApiException } from '@kubernetes/client-node';

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** Repeats a step until it succeeds, the API server rejects it permanently, or the signal aborts (then it just returns). */
export async function untilDone(step: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (let wait = firstPauseMs; !signal.aborted; wait = Math.min(wait * 2, longestPauseMs)) {
    try {
      await step();
      return;
    } catch (error) {
      if (signal.aborted) return;
      const code = error instanceof ApiException ? error.code : 503;
      // A kubelet ignores the deletion of its Node until it restarts.
      if (code === 404) return;
      // 403 as well: a new control plane creates its permissions after its first responses.
      if (code < 500 && ![403, 409, 429].includes(code)) throw error;
    }
    await pause(wait, undefined, { signal }).catch(() => {});
  }
}
