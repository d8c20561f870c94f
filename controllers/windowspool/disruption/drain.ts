/**
 * Which pods must leave a node before it is terminated, as in kubectl drain (https://kubernetes.io/docs/reference/kubectl/generated/kubectl_drain/).
 * Pure. No state is kept between two passes: each pass reads the pods, evicts those that it may evict, and comes back.
 *
 *   pods on the node --drainOf--> to evict, terminating, obstructing  --isEmpty--> the node may be terminated
 */
import type { LeavingNode } from '../api/api.gen.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { type DrainPod, hasEnded } from '../ports/pods.ts';

/** How a node is drained. Times are in milliseconds, except for the grace period, which is in seconds as in Kubernetes. */
export interface DrainOptions {
  /** From the reservation on; then the drain is given up. */
  readonly timeoutMs: number;
  /** Overrides the grace period of each pod. */
  readonly gracePeriodSeconds?: number;
  /** Whether to evict pods with emptyDir volumes, which lose that data. */
  readonly evictsEmptyDir: boolean;
  /** Whether to evict pods without a controller, which nothing recreates. */
  readonly evictsBare: boolean;
}

/** A pod that prevents a drain from starting: why, for messages, and the field of disruption.drain that allows its eviction. */
interface Obstruction {
  readonly pod: DrainPod;
  readonly why: 'has an emptyDir volume' | 'has no controller that recreates it';
  readonly field: 'podsWithEmptyDir' | 'podsWithoutController';
}

/** What to do about the pods of a node. Each list is sorted by namespace and name. */
export interface Drain {
  /** Empty while there are obstructions: a drain that cannot complete must not start. */
  readonly evict: readonly DrainPod[];
  /** Evicted or deleted before, and still terminating. */
  readonly terminating: readonly DrainPod[];
  /** Deleted, but not confirmed by the kubelet of a node that is not Ready: the drain does not wait for them. */
  readonly stuck: readonly DrainPod[];
  readonly obstructions: readonly Obstruction[];
}

/** The part of a node that a drain depends on. */
interface DrainedNode {
  readonly ready: 'True' | 'False' | 'Unknown';
  /** When the drain started, in epoch milliseconds. */
  readonly since: number;
}

/**
 * How long the drain waits for a deleted pod after its grace period on a node that is not Ready, whose kubelet may come back. Cluster API does the
 * same for unreachable nodes: https://cluster-api.sigs.k8s.io/tasks/automated-machine-management/machine_deletions
 */
const DEAD_NODE_WAIT_MS = 300_000;

/** What to do about the pods now. */
export function drainOf(
  pods: readonly DrainPod[],
  { ready, since }: DrainedNode,
  options: DrainOptions,
  now: number,
): Drain {
  const relevant = pods.filter((pod) => mustLeave(pod, since)).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const deleted = relevant.filter(({ deletingAt }) => deletingAt !== undefined);
  const isStuck = ({ deletingAt = now }: DrainPod) => ready !== 'True' && now - deletingAt >= DEAD_NODE_WAIT_MS;
  const running = relevant.filter(({ deletingAt }) => deletingAt === undefined);
  const obstructions = running.flatMap((pod) => obstructionOf(pod, options));
  return {
    evict: obstructions.length > 0 ? [] : running,
    terminating: deleted.filter((pod) => !isStuck(pod)),
    stuck: deleted.filter(isStuck),
    obstructions,
  };
}

/** How many pods terminate with a node that is not drained: those that a drain would have evicted. */
export function podsThatEnd(
  pods: readonly DrainPod[],
  entry: Pick<LeavingNode, 'startTime'>,
  node: Pick<NodeRecord, 'ready'>,
  now: number,
): number {
  const everything: DrainOptions = { timeoutMs: 0, evictsEmptyDir: true, evictsBare: true };
  const { evict, terminating } = drainOf(
    pods,
    { ready: node.ready, since: Date.parse(entry.startTime) },
    everything,
    now,
  );
  return evict.length + terminating.length;
}

/** Whether the node may be terminated. */
export function isEmpty({ evict, terminating, obstructions }: Drain): boolean {
  return evict.length + terminating.length + obstructions.length === 0;
}

/** The admission policy of the operator accepts no longer one: seven days. */
const LONGEST_GRACE_SECONDS = 604_800;

/**
 * The grace period of an eviction, in seconds. Never 0: that would delete the pod from the API server while it still runs, and its controller would
 * create a replacement beside it.
 */
export function graceFor(pod: DrainPod, { gracePeriodSeconds }: DrainOptions): number {
  return Math.min(Math.max(1, gracePeriodSeconds ?? pod.gracePeriodSeconds), LONGEST_GRACE_SECONDS);
}

/** `namespace/name`, as kubectl prints it. */
export function nameOf({ namespace, name }: Pick<DrainPod, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

/**
 * Whether the pod must leave the node. Pods of DaemonSets and mirror pods would come back, and finished pods lose nothing. A pod created after the
 * drain started that landed on the cordoned node tolerates the cordon: it would come back forever, and kubectl drain, which lists the pods once, does
 * not see it either. Timestamps are in whole seconds: in doubt the pod was there before.
 */
function mustLeave(pod: DrainPod, since: number): boolean {
  const comesBack = pod.toleratesCordon && pod.createdAt > since;
  return !pod.mirror && !hasEnded(pod) && pod.controller !== 'DaemonSet' && !comesBack;
}

function obstructionOf(pod: DrainPod, { evictsEmptyDir, evictsBare }: DrainOptions): Obstruction[] {
  if (pod.controller === undefined && !evictsBare)
    return [{ pod, why: 'has no controller that recreates it', field: 'podsWithoutController' }];
  if (pod.emptyDir && !evictsEmptyDir) return [{ pod, why: 'has an emptyDir volume', field: 'podsWithEmptyDir' }];
  return [];
}
