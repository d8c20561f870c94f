/** What the operator's pods on a new node have shown, and which pod comes next. */
import type { DesiredNodePod } from '../ports/nodePods.ts';
import type { NodeRecord } from '../ports/nodes.ts';

/**
 * An image of verification.requiredImages on a node.
 * - `present`: the node lists it.
 * - `pulled`: a pod has pulled it. The node may list it later, or never, because the kubelet lists only the largest images.
 * - `unknown`: the images of the node were not read yet, and no pod has shown anything.
 * - `absent`: the operator does not pull it.
 * - `waiting`: its turn has not come.
 * - `failed`: it could not be pulled. The operator tries again at `retryAt` (epoch milliseconds); undefined: the kubelet is trying.
 */
export type ImageState =
  | { readonly kind: 'present' | 'pulled' | 'unknown' | 'absent' | 'waiting' | 'pulling' }
  | { readonly kind: 'failed'; readonly message: string; readonly retryAt: number | undefined };

/** The states of an image that the operator pulls. */
export const PULL_STATES = ['waiting', 'pulling', 'failed', 'pulled'] as const;

/** What the smoke test checks, in its order. */
export const SMOKE_CHECKS = ['Start', 'PodIP', 'DNS', 'Service'] as const;
/** One of {@link SMOKE_CHECKS}. */
export type SmokeCheck = (typeof SMOKE_CHECKS)[number];

/**
 * The smoke test of a node.
 * - `failed`: the last attempt that ended has failed, after so many. The next starts at `retryAt` (epoch milliseconds); undefined: it has started.
 */
export type SmokeTestState =
  | { readonly kind: 'waiting' | 'running' | 'passed' }
  | {
      readonly kind: 'failed';
      readonly check: SmokeCheck;
      readonly message: string;
      readonly attempts: number;
      readonly retryAt: number | undefined;
    };

/** The states of a smoke test that the node has not passed. */
export const TEST_STATES = ['waiting', 'running', 'failed'] as const;

/** An image and its state. */
export interface RequiredImage {
  readonly image: string;
  readonly state: ImageState;
}

/** What a node still needs before it is verified. */
export interface Preparation {
  /** All required images; empty once the node has had them. */
  readonly images: readonly RequiredImage[];
  /** Undefined once the node has passed it, or if the pool has none. */
  readonly test: SmokeTestState | undefined;
}

/** A node on which the operator runs pods. */
export interface NodePodNeed {
  readonly node: NodeRecord;
  readonly preparation: Preparation;
  /** The names of the pods that stay: those that run, and those that have shown something. */
  readonly keep: ReadonlySet<string>;
  /** The pod to create now. */
  readonly next: DesiredNodePod | undefined;
  /** When this changes without any event, in epoch milliseconds; Infinity if it does not. */
  readonly nextAt: number;
}
