/** The attempts of one purpose on one node: a pod for each, with the number of the attempt in its name. Pure. */
import { delayAfter, type NodePod, type NodePodPurpose } from '../ports/nodePods.ts';
import { hasEnded } from '../ports/pods.ts';
import { duration } from '../util/words.ts';

/** More than in 19 years. A kubelet can create mirror pods with any name: after one with this number, no pod is created. */
export const MOST_ATTEMPTS = 999_999;
const NUMBER = /^[1-9]\d{0,5}$/;

/** One attempt. */
export interface Attempt {
  readonly number: number;
  readonly pod: NodePod;
}

/** The name of an attempt's pod. The same input gives the same name, so that nothing runs twice after a crash or at two replicas. */
export function podName(purpose: NodePodPurpose, key: string, attempt: number): string {
  return `${purpose}-${key}-${attempt}`;
}

/** The attempts among the pods of a node, the latest first. Pods that are being deleted show nothing. */
export function attemptsIn(pods: readonly NodePod[], purpose: NodePodPurpose, key: string): Attempt[] {
  const prefix = `${purpose}-${key}-`;
  return pods
    .filter(({ name, deleting }) => !deleting && name.startsWith(prefix) && NUMBER.test(name.slice(prefix.length)))
    .map((pod) => ({ pod, number: Number(pod.name.slice(prefix.length)) }))
    .sort((a, b) => b.number - a.number);
}

/**
 * When the next attempt may start after this one ended, in epoch milliseconds. The end is a time of the node, whose clock may be ahead: it counts at
 * most as the deadline of the pod.
 */
export function retryAt({ number, pod }: Attempt, timeoutMs: number): number {
  const endedAt = Math.min(pod.changedAt, startDeadline(pod, timeoutMs));
  return endedAt + delayAfter(number);
}

/** When a pod whose containers have not started counts as failed, in epoch milliseconds. Its kubelet ends it only after it has accepted it. */
export function startDeadline({ createdAt }: NodePod, timeoutMs: number): number {
  return createdAt + timeoutMs;
}

/** Why a pod failed whose container never started: `pod image-pull-1 was not scheduled within 30 minutes: 0/3 nodes are available.` */
export function whyNotStarted(pod: NodePod, timeoutMs: number, now: number): string | undefined {
  const within = `within ${duration(timeoutMs)}`;
  if (hasEnded(pod)) {
    if (pod.reason === 'DeadlineExceeded') return `pod ${pod.name} did not start ${within}`;
    return `pod ${pod.name} failed: ${[pod.reason, pod.message].filter(Boolean).join(': ') || 'no container started'}`;
  }
  // The kubelet counts from when it accepted the pod.
  const isStarted = pod.containers.some(({ state }) => state.kind !== 'waiting');
  if (isStarted || now < startDeadline(pod, timeoutMs)) return undefined;
  if (pod.isScheduled) return `pod ${pod.name} did not start ${within}`;
  return `pod ${pod.name} was not scheduled ${within}${pod.unscheduled && `: ${pod.unscheduled}`}`;
}
