/** The pods that the operator runs on nodes, in a namespace of their own. No other pods are cached. */
import type { CallError, CallResult } from './callResult.ts';
import { foreignMessage } from './foreignText.ts';
import type { Toleration } from './runtimeClasses.ts';

/** What such a pod is for: the value of its label app.kubernetes.io/component. */
export const NODE_POD_PURPOSES = ['image-pull', 'smoke-test'] as const;
/** One of {@link NODE_POD_PURPOSES}. */
export type NodePodPurpose = (typeof NODE_POD_PURPOSES)[number];

/** The names of the containers of such pods: `pull`, and that of a test. */
export const NODE_POD_CONTAINERS = ['pull', 'service'] as const;

/** The delay before the second attempt, in milliseconds. It doubles with each attempt. */
export const FIRST_DELAY_MS = 10_000;
/** The longest delay, in milliseconds. */
const LAST_DELAY_MS = 600_000;

/** The delay after so many attempts, at least one, in milliseconds. */
export function delayAfter(attempts: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** Math.min(attempts - 1, 20), LAST_DELAY_MS);
}

/** A pod that should run on a node, once. */
export interface DesiredNodePod {
  /** Unique in the cluster, and the same for the same purpose: a second creation fails. */
  readonly name: string;
  readonly purpose: NodePodPurpose;
  /** The name of the WindowsPool. */
  readonly pool: string;
  /** The node, which owns the pod: Kubernetes deletes the pod with it. */
  readonly node: { readonly name: string; readonly uid: string };
  readonly containers: readonly NodePodContainer[];
  /** Names of Secrets in the namespace of these pods. */
  readonly imagePullSecrets: readonly string[];
  readonly tolerations: readonly Toleration[];
  /** How long it may run, from the time at which the kubelet accepts it. */
  readonly deadlineSeconds: number;
  /** The annotation winpool.dev/retry of the pool; empty if there is none. */
  readonly retry: string;
}

/** A container of such a pod, which runs one command. */
export interface NodePodContainer {
  readonly name: (typeof NODE_POD_CONTAINERS)[number];
  readonly image: string;
  readonly command: readonly string[];
}

/**
 * The state of a container, as its kubelet reports it.
 * - `waiting`: it was not started.
 * - `ended`: it exited, or could not be started, with a reason such as `StartError`.
 */
export type ContainerState =
  | { readonly kind: 'waiting'; readonly reason: string; readonly message: string }
  | { readonly kind: 'running' }
  | { readonly kind: 'ended'; readonly exitCode: number; readonly reason: string; readonly message: string };

/** A container, and whether its image is on the node. */
export interface SeenContainer {
  readonly name: string;
  readonly hasImage: boolean;
  readonly state: ContainerState;
}

/** The fields of such a pod that the operator caches. Texts of the kubelet are cut and cleaned. */
export interface NodePod {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** One of NODE_POD_PURPOSES, or a value of another user. */
  readonly purpose: string;
  readonly pool: string;
  /** The node that owns it; empty if another user removed the owner. */
  readonly node: string;
  readonly nodeUid: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly deleting: boolean;
  readonly retry: string;
  /** Of the operator's first container. */
  readonly image: string;
  /** Keys of its tolerations. */
  readonly tolerates: readonly string[];
  /** As if it had only the containers of the operator. */
  readonly phase: string;
  /** Why the pod as a whole failed, such as `DeadlineExceeded` or `Evicted`; otherwise empty. */
  readonly reason: string;
  readonly message: string;
  /** Whether the scheduler bound it to its node, and otherwise why not, as far as it says. */
  readonly isScheduled: boolean;
  readonly unscheduled: string;
  readonly hasAddress: boolean;
  readonly containers: readonly SeenContainer[];
  /** When its status last changed, in epoch milliseconds: for a finished pod, about when it ended. */
  readonly changedAt: number;
}

/**
 * The pods of one pool.
 * - `unknown`: they were not listed yet, or listing them failed with `error`.
 */
export type NodePodsView =
  | { readonly kind: 'unknown'; readonly error?: CallError }
  | { readonly kind: 'seen'; readonly pods: readonly NodePod[] };

/** The operator's own pods on nodes. */
export interface NodePods {
  /** From the cache. */
  of(pool: string): NodePodsView;
  /** Error `conflict` if a pod with this name exists, and `refused` if an admission plugin, a quota or a policy rejects it. */
  create(desired: DesiredNodePod, signal: AbortSignal): Promise<CallResult<void>>;
  /** Deletes exactly the observed pod. */
  delete(pod: NodePod, signal: AbortSignal): Promise<CallResult<void>>;
}

/** More than any message of a kubelet. */
const READ_LENGTH = 8_192;

/**
 * A message of a kubelet without what says nothing or changes at every attempt: prefixes, milliseconds, local ports, and the queries of URLs, which can
 * have signatures. Empty if it only says that the kubelet waits before it pulls an image again; kubelets since 1.32 add the cause:
 * https://github.com/kubernetes/kubernetes/pull/127918
 */
export function kubeletMessage(text: string): string {
  // Cut first: the expressions take linear time.
  const cleaned = text
    .slice(0, READ_LENGTH)
    .replace(/^Back-off pulling image "[^"]*"(: )?/, '')
    .replace(/^ErrImagePull: /, '')
    .replace(/^(rpc error: code = \w+ desc = )+/, '')
    .replace(/\?[^\s"']+/g, '')
    .replace(/ after \d+ (ms|milliseconds)\b/g, '')
    .replace(/\b(dial|read|write) (tcp|udp) [^\s>]+->/g, '$1 $2 ');
  return foreignMessage(cleaned.trim());
}
