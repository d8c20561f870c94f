import { setTimeout as pause } from 'node:timers/promises';
import { KubeClient } from './kubeClient.ts';
import { NodeStepError, nodeStep } from './nodeSteps.ts';
import type { CloudState, NodeEvent } from './state.ts';

/** The nodes of all groups, as far as a Kubernetes cluster sees them. */
export interface Kubelets {
  /** What went wrong and was given up; empty in good times. */
  problems(): readonly string[];
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
    // By name, not by instance: an address, and with it the name, can come back with another instance.
    const name = event.instance.nodeName;
    const queue = queues.get(name) ?? { tail: Promise.resolve(), current: new AbortController() };
    queues.set(name, queue);
    if (event.kind === 'leave') {
      // What still waits to be written about this node matters no more.
      queue.current.abort();
      queue.current = new AbortController();
    }
    const signal = AbortSignal.any([queue.current.signal, stopping.signal]);
    const tail = queue.tail
      .then(() => untilDone(cloud, kube, event, signal))
      .catch((error: unknown) => {
        if (!signal.aborted) problems.push(String(error instanceof Error ? error.message : error));
      });
    queue.tail = tail;
    void tail.then(() => {
      if (queue.tail === tail) queues.delete(name);
    });
  });

  return {
    problems: () => [...problems],
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
      // A kubelet does not care that its Node was deleted, until it starts again.
      if (error instanceof NodeStepError && error.gone) return;
      if (error instanceof NodeStepError && !error.again) throw error;
    }
    await pause(wait, undefined, { signal }).catch(() => {});
  }
}
