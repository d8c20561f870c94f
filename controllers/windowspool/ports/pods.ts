/** Pods on single nodes, as far as they are in the way of their end: nothing is kept of pods. */
import type { CallResult } from './callResult.ts';

/** A pod that eviction does not move from its node. */
export interface StuckPod {
  readonly namespace: string;
  readonly name: string;
  /**
   * The PodDisruptionBudgets in its way: one that allows no disruption, or several, with which the eviction API never evicts a pod. None: the
   * pod tolerates every taint, and its controller puts it back on the cordoned node.
   */
  readonly budgets: readonly string[];
}

export interface Evictions {
  /** The stuck pods on these nodes by namespace and name, from the API server: nothing is kept of pods. */
  stuckOn(nodes: readonly string[], signal: AbortSignal): Promise<CallResult<readonly StuckPod[]>>;
}

/** A pod on a node that is drained. */
export interface DrainPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds at which its grace ends or ended; undefined when it is not being deleted. */
  readonly deletingAt: number | undefined;
  /** Its own terminationGracePeriodSeconds. */
  readonly gracePeriodSeconds: number;
  /** The kind of the object that makes it anew; undefined: a bare pod. */
  readonly controller: string | undefined;
  /** Whether the kubelet made it itself, from a file of its own. */
  readonly mirror: boolean;
  readonly phase: string;
  /** Whether it has an emptyDir volume. */
  readonly emptyDir: boolean;
  /** Whether a cordoned node is no obstacle to it. */
  readonly toleratesCordon: boolean;
}

/**
 * What became of an eviction.
 * - `accepted`: the pod is being deleted.
 * - `gone`: it, or the pod that had its name, is there no more.
 * - `blocked`: a PodDisruptionBudget keeps it; `message` is the API server's, and changes with the counts in it. No name: several budgets
 *   match the pod, and then it is never evicted.
 * - `denied`: an admission webhook or policy does not let it go, `by` which: `admission webhook guard.example.com`.
 */
export type Eviction =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'blocked'; readonly budget: string | undefined; readonly message: string }
  | { readonly kind: 'denied'; readonly by: string };

export interface Drains {
  /** All pods on a node, from the API server. */
  podsOn(node: string, signal: AbortSignal): Promise<CallResult<readonly DrainPod[]>>;
  /** Asks for the eviction of this very pod (its uid is a precondition), with this grace. */
  evict(pod: DrainPod, gracePeriodSeconds: number, signal: AbortSignal): Promise<CallResult<Eviction>>;
}
