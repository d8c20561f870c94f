import { setTimeout as pause } from 'node:timers/promises';
import { KubeClient } from './kubeClient.ts';
import { NodeStepError, nodeStep } from './nodeSteps.ts';
import type { CloudState, NodeEvent } from './state.ts';

/** The nodes of all groups, as far as a Kubernetes cluster sees them. */
export interface Kubelets {
  /** What went wrong and was given up; empty in good times. */
  problems(): readonly string[];
  /** Resolves when everything that happened so far is written, or throws after the time-out. */
  settled(timeoutMs: number): Promise<void>;
  /** Stops writing; Nodes that exist stay. */
  stop(): Promise<void>;
}

interface NodeQueue {
  tail: Promise<void>;
  current: AbortController;
}

/**
 * Follows the instances of the cloud with Nodes in the cluster of the kubeconfig. What happens to one node is written in
 * order and repeated until it succeeds, also over a restart of the API server; nodes don't wait for each other.
 */
export function startKubelets(cloud: CloudState, kubeconfig: string): Kubelets {
  const kube = new KubeClient(kubeconfig);
  const queues = new Map<string, NodeQueue>();
  const problems: string[] = [];
  const stopping = new AbortController();

  cloud.onNodeEvent((event) => {
    if (stopping.signal.aborted) return;
    const { id } = event.instance;
    const queue = queues.get(id) ?? { tail: Promise.resolve(), current: new AbortController() };
    queues.set(id, queue);
    if (event.kind === 'leave') {
      // What still waits to be written about this node matters no more.
      queue.current.abort();
      queue.current = new AbortController();
    }
    const signal = AbortSignal.any([queue.current.signal, stopping.signal]);
    queue.tail = queue.tail
      .then(() => untilDone(cloud, kube, event, signal))
      .catch((error: unknown) => {
        if (!signal.aborted) problems.push(String(error instanceof Error ? error.message : error));
      });
    if (event.kind === 'leave') void queue.tail.then(() => queues.delete(id));
  });

  return {
    problems: () => [...problems],
    settled: async (timeoutMs) => {
      const all = Promise.all([...queues.values()].map(({ tail }) => tail)).then(() => true);
      const limit = AbortSignal.timeout(timeoutMs);
      if (!(await Promise.race([all, pause(timeoutMs, false, { signal: limit }).catch(() => false)]))) {
        throw new Error(`the nodes are not all written after ${timeoutMs} ms`);
      }
    },
    stop: async () => {
      stopping.abort();
      await Promise.allSettled([...queues.values()].map(({ tail }) => tail));
      await kube.close();
    },
  };
}

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** Repeats a step until it succeeds, is refused for good, or is no longer wanted (then it just returns). */
async function untilDone(cloud: CloudState, kube: KubeClient, event: NodeEvent, signal: AbortSignal): Promise<void> {
  for (let wait = firstPauseMs; !signal.aborted; wait = Math.min(wait * 2, longestPauseMs)) {
    try {
      await nodeStep(cloud, kube, event, signal);
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof NodeStepError && !error.again) throw error;
    }
    await pause(wait, undefined, { signal }).catch(() => {});
  }
}
