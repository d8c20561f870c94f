/** Pods on single nodes, as far as they block a drain. Pods are never cached. */
import type { CallResult } from './callResult.ts';

/** A pod that eviction does not remove from its node. */
export interface StuckPod {
  readonly namespace: string;
  readonly name: string;
  /**
   * The PodDisruptionBudgets that block it: one that allows no disruption, or several, with which the eviction API never evicts a pod. Empty: the pod
   * tolerates every taint, and its controller recreates it on the cordoned node.
   */
  readonly budgets: readonly string[];
}

/** Finds pods that block a rolling update. */
export interface Evictions {
  /** The stuck pods on these nodes, sorted by namespace and name, from the API server. */
  stuckOn(nodes: readonly string[], signal: AbortSignal): Promise<CallResult<readonly StuckPod[]>>;
}

/** Whether all containers of a pod have ended for good: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase */
export function hasEnded({ phase }: { readonly phase?: string }): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** A pod on a node that is drained. */
export interface DrainPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** When its grace period ends or ended, in epoch milliseconds; undefined when it is not terminating. */
  readonly deletingAt: number | undefined;
  /** Its own terminationGracePeriodSeconds. */
  readonly gracePeriodSeconds: number;
  /** The kind of the controller that recreates it; undefined: a bare pod. */
  readonly controller: string | undefined;
  /** Whether it is a mirror pod of a static pod. */
  readonly mirror: boolean;
  readonly phase: string;
  /** Whether it has an emptyDir volume. */
  readonly emptyDir: boolean;
  /** Whether it tolerates the taint of a cordoned node. */
  readonly toleratesCordon: boolean;
}

/**
 * The result of an eviction.
 * - `accepted`: the pod is terminating.
 * - `gone`: the pod no longer exists, or another pod has its name.
 * - `blocked`: a PodDisruptionBudget blocks it; `message` is the API server's, and changes with the counts in it. Without `budget`: several
 *   budgets match the pod, and then it is never evicted.
 * - `denied`: an admission webhook or policy rejects the eviction; `by` names it: `admission webhook guard.example.com`.
 */
export type Eviction =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'blocked'; readonly budget: string | undefined; readonly message: string }
  | { readonly kind: 'denied'; readonly by: string };

/** Drains nodes. */
export interface Drains {
  /** All pods on a node, from the API server. */
  podsOn(node: string, signal: AbortSignal): Promise<CallResult<readonly DrainPod[]>>;
  /** Requests the eviction of exactly this pod (its UID is a precondition) with this grace period. */
  evict(pod: DrainPod, gracePeriodSeconds: number, signal: AbortSignal): Promise<CallResult<Eviction>>;
}
