/** Updates of nodes that change only the time of their heartbeats, at a constant rate. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchCluster } from './benchCluster.ts';
import { conditions } from './nodeObject.ts';

const TICK_MS = 10;

export interface Sent {
  /** Updates that the API server has accepted. */
  readonly count: number;
  readonly seconds: number;
}

/** Sends `rate` updates a second, over all nodes in turn, until `seconds` have passed or the signal aborts, and waits for their answers. */
export async function sendHeartbeats(
  cluster: BenchCluster,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
  signal: AbortSignal,
  client = cluster.admin,
): Promise<Sent> {
  const started = performance.now();
  const open = new Set<Promise<void>>();
  const passed = () => Math.min((performance.now() - started) / 1_000, seconds);
  let count = 0;
  let failure: unknown;
  while (!failure && !signal.aborted && (passed() < seconds || count < Math.floor(rate * seconds))) {
    // After a pause of this process, all due updates are sent at once.
    for (const due = Math.floor(passed() * rate); count < due; count++) {
      const update = cluster.patchStatus(count % cluster.nodes, { conditions: conditions(new Date()) }, client);
      const settled = update
        .catch((error: unknown) => {
          failure ??= error;
        })
        .finally(() => open.delete(settled));
      open.add(settled);
    }
    await sleep(TICK_MS);
  }
  await Promise.all(open);
  if (failure) throw failure;
  return { count, seconds: (performance.now() - started) / 1_000 };
}

/** Does something while heartbeats are sent with connections of their own. `sent`: how many per second; none with a rate of 0. */
export async function underHeartbeats<T>(
  cluster: BenchCluster,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly sent: number }> {
  if (rate === 0) return { result: await work(), sent: 0 };
  const kubelets = await cluster.anotherClient();
  const enough = new AbortController();
  const heartbeats = sendHeartbeats(cluster, { rate, seconds }, AbortSignal.any([enough.signal, signal]), kubelets);
  // Reported below.
  heartbeats.catch(() => undefined);
  try {
    const result = await work();
    enough.abort();
    const { count, seconds: lasted } = await heartbeats;
    return { result, sent: Math.round(count / lasted) };
  } finally {
    enough.abort();
    kubelets.close();
  }
}
