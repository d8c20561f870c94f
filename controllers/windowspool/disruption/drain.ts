/**
 * Which pods must leave a node before it ends, as kubectl drain decides it
 * (https://kubernetes.io/docs/reference/kubectl/generated/kubectl_drain/). Pure. Nothing is remembered between two passes: each one looks at
 * the pods that are there, evicts what it may and comes back.
 *
 *   pods on the node --drainOf--> to evict, leaving already, in the way  --isEmpty--> the node may end
 */
import type { LeavingNode } from '../api.gen.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { DrainPod } from '../ports/pods.ts';

/** How a node is drained. Times in milliseconds, but for the grace period, which is in seconds as in Kubernetes. */
export interface DrainOptions {
  /** From the claim on; then the drain is given up. */
  readonly timeoutMs: number;
  /** In place of each pod's own, where it is given. */
  readonly gracePeriodSeconds?: number;
  /** Whether pods with emptyDir volumes are evicted, whose data goes with them. */
  readonly deleteEmptyDirData: boolean;
  /** Whether pods without a controller are evicted: nobody makes them anew. */
  readonly evictBarePods: boolean;
}

/** Why a pod keeps the drain from its beginning. The words are shown to users. */
type Obstacle = 'has an emptyDir volume' | 'has no controller that makes it anew';

interface Obstruction {
  readonly pod: DrainPod;
  readonly why: Obstacle;
}

/** What is to be done about the pods of a node. Each list is sorted by namespace and name. */
export interface Drain {
  /** None while there are obstructions: a drain that cannot end must not begin. */
  readonly evict: readonly DrainPod[];
  /** Evicted or deleted before, and still there. */
  readonly terminating: readonly DrainPod[];
  /** Deleted, and never confirmed by the kubelet of a node that is not Ready: nobody waits for them. */
  readonly stuck: readonly DrainPod[];
  readonly obstructions: readonly Obstruction[];
}

/** The node as far as a drain looks at it. */
interface DrainedNode {
  readonly ready: 'True' | 'False' | 'Unknown';
  /** Epoch milliseconds of the beginning of the drain. */
  readonly since: number;
}

/**
 * How long after the end of its grace a deleted pod is waited for on a node that is not Ready: its kubelet may come back. As Cluster API
 * does with nodes that are unreachable: https://cluster-api.sigs.k8s.io/tasks/automated-machine-management/machine_deletions
 */
const DEAD_NODE_WAIT_MS = 300_000;

/** What is to be done now. */
export function drainOf(
  pods: readonly DrainPod[],
  { ready, since }: DrainedNode,
  options: DrainOptions,
  now: number,
): Drain {
  const there = pods.filter((pod) => mustGo(pod, since)).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const going = there.filter(({ deletingAt }) => deletingAt !== undefined);
  const isStuck = ({ deletingAt = now }: DrainPod) => ready !== 'True' && now - deletingAt >= DEAD_NODE_WAIT_MS;
  const staying = there.filter(({ deletingAt }) => deletingAt === undefined);
  const obstructions = staying.flatMap((pod) => obstructionOf(pod, options));
  return {
    evict: obstructions.length > 0 ? [] : staying,
    terminating: going.filter((pod) => !isStuck(pod)),
    stuck: going.filter(isStuck),
    obstructions,
  };
}

/** How many pods end with a node that is not drained: those that would have had to leave it. */
export function podsThatEnd(
  pods: readonly DrainPod[],
  entry: Pick<LeavingNode, 'since'>,
  node: Pick<NodeRecord, 'ready'>,
  now: number,
): number {
  const everything: DrainOptions = { timeoutMs: 0, deleteEmptyDirData: true, evictBarePods: true };
  const { evict, terminating } = drainOf(pods, { ready: node.ready, since: Date.parse(entry.since) }, everything, now);
  return evict.length + terminating.length;
}

/** Whether the node may end. */
export function isEmpty({ evict, terminating, obstructions }: Drain): boolean {
  return evict.length + terminating.length + obstructions.length === 0;
}

/**
 * The grace that a pod is given, said in every eviction. Never 0: that would take the pod from the API server while it runs, and its
 * controller would make another one beside it.
 */
export function graceFor(pod: DrainPod, { gracePeriodSeconds }: DrainOptions): number {
  return Math.max(1, gracePeriodSeconds ?? pod.gracePeriodSeconds);
}

/** `namespace/name`, as kubectl says it. */
export function nameOf({ namespace, name }: Pick<DrainPod, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

/**
 * Whether the node is empty only without the pod. Those of DaemonSets and those that the kubelet makes itself would come back, and finished
 * ones lose nothing. A pod that was made since the drain began and landed on the cordoned node tolerates that: it would come back for ever,
 * and kubectl drain, which looks at the pods once, does not see it either. Times are in whole seconds: in doubt it was there before.
 */
function mustGo(pod: DrainPod, since: number): boolean {
  const isFinished = pod.phase === 'Succeeded' || pod.phase === 'Failed';
  const comesBack = pod.toleratesCordon && pod.createdAt > since;
  return !pod.mirror && !isFinished && pod.controller !== 'DaemonSet' && !comesBack;
}

function obstructionOf(pod: DrainPod, { deleteEmptyDirData, evictBarePods }: DrainOptions): Obstruction[] {
  if (pod.controller === undefined && !evictBarePods) return [{ pod, why: 'has no controller that makes it anew' }];
  if (pod.emptyDir && !deleteEmptyDirData) return [{ pod, why: 'has an emptyDir volume' }];
  return [];
}
