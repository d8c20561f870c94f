/** Which pods a node needs, which one comes next, and which stay. Pure. One pod runs on a node at a time: each takes one of its few addresses. */
import type { WindowsPoolSpec } from '../api.gen.ts';
import { GATE_TAINT_KEY, PLAIN_GATE_TAINT_KEY, QUARANTINE_TAINT_KEY } from '../labels.ts';
import type { NodePodNeed, Preparation, RequiredImage } from '../model/nodePods.ts';
import type { Expectation, VerificationResult } from '../model/poolNodes.ts';
import { isReadinessTaint } from '../nodes/nodeTaints.ts';
import type { DesiredNodePod, NodePod } from '../ports/nodePods.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { hasEnded } from '../ports/pods.ts';
import type { Toleration } from '../ports/runtimeClasses.ts';
import type { NodeCheck } from '../reasons.ts';
import { OS_TOLERATIONS, tolerationOf } from '../runtimeClass/runtimeClass.ts';
import { type Attempt, attemptsIn, podName, startDeadline } from './attempts.ts';
import { hasPulled, PULL_COMMAND, pullErrorIn } from './imagePull.ts';
import { isOnNode, isPrepared, preparationOf, pullKey, timeoutMs } from './preparation.ts';

/** Checks that a node may fail while pods run on it. They take time, or the operator corrects what they found. */
const NO_OBSTACLE: readonly NodeCheck[] = [
  'ImagesMissing',
  'ImagePullFailed',
  'RequiredConditionMissing',
  'RegistrationTaintMissing',
  'BuildLabelMismatch',
];

/** What a purpose needs on a node: its attempts, and the pod of the next one. */
interface Task {
  readonly attempts: readonly Attempt[];
  /** Whether the latest attempt shows a result, so that earlier ones are no longer needed. */
  readonly hasResult: (pod: NodePod) => boolean;
  /** Whether it is done, or has not failed, or may be tried again at a time. */
  readonly state: RequiredImage['state'];
  readonly timeoutMs: number;
  readonly podOf: (attempt: number) => DesiredNodePod;
}

/** The pods that the node needs; undefined if it needs none: its pods are then deleted. `pods`: those on it, of this pool. */
export function needOf(
  { node, failures }: Pick<VerificationResult, 'node' | 'failures'>,
  { spec, reportedBy, retry = '' }: Expectation,
  pods: readonly NodePod[],
  now: number,
): NodePodNeed | undefined {
  const { verification } = spec;
  const { imagePrePull } = verification;
  if (!imagePrePull || reportedBy === undefined || node.unschedulable || isPrepared(node, verification))
    return undefined;
  const preparation = preparationOf(node, verification, pods, now);
  const tasks = preparation.images
    .filter(({ state }) => state.kind !== 'present')
    .map((required) => pullTask(required, node, spec, reportedBy, retry, pods));
  const stays = (pod: NodePod) => !isStuck(pod, node, spec) && !isRetried(pod, retry);
  const keep = new Set(
    tasks
      .flatMap(keptBy)
      .filter(stays)
      .map(({ name }) => name),
  );
  const obstacle = failures.find(({ reason }) => !NO_OBSTACLE.includes(reason));
  const isBusy = pods.some((pod) => !hasEnded(pod) && !hasPulled(pod));
  const due = tasks.find((task) => isDue(task, retry, now));
  const next = obstacle || isBusy || !due ? undefined : due.podOf((due.attempts[0]?.number ?? 0) + 1);
  return {
    node,
    preparation,
    message: messageOf(preparation, pods, obstacle?.message),
    keep,
    next,
    nextAt: nextAt(tasks, now),
  };
}

function pullTask(
  { image, state }: RequiredImage,
  node: NodeRecord,
  spec: WindowsPoolSpec,
  pool: string,
  retry: string,
  pods: readonly NodePod[],
): Task {
  const { imagePrePull = { timeout: '' } } = spec.verification;
  const key = pullKey(node, image, imagePrePull);
  const limit = timeoutMs(imagePrePull);
  return {
    attempts: attemptsIn(pods, 'image-pull', key),
    hasResult: (pod) => hasEnded(pod) || hasPulled(pod) || pullErrorIn(pod) !== undefined,
    state,
    timeoutMs: limit,
    podOf: (attempt) => ({
      name: podName('image-pull', key, attempt),
      purpose: 'image-pull',
      pool,
      node: { name: node.name, uid: node.uid },
      containers: [{ name: 'pull', image, command: PULL_COMMAND }],
      imagePullSecrets: (imagePrePull.imagePullSecrets ?? []).map(({ name }) => name),
      tolerations: tolerationsOn(node, spec),
      deadlineSeconds: Math.round(limit / 1_000),
      retry,
    }),
  };
}

/** The latest attempt, and while it shows nothing the one before, which failed. */
function keptBy({ attempts, hasResult }: Task): NodePod[] {
  const [latest, before] = attempts;
  if (!latest) return [];
  return before && !hasResult(latest.pod) ? [latest.pod, before.pod] : [latest.pod];
}

function isDue({ attempts: [latest], state }: Task, retry: string, now: number): boolean {
  if (state.kind === 'waiting') return true;
  if (state.kind !== 'failed' || state.retryAt === undefined) return false;
  return now >= state.retryAt || latest?.pod.retry !== retry;
}

/** A pod that fails and has not ended is deleted when the user requests a retry. */
function isRetried(pod: NodePod, retry: string): boolean {
  return !hasEnded(pod) && pod.retry !== retry && pullErrorIn(pod) !== undefined;
}

/** Whether the pod can never be scheduled: a taint that it should tolerate came after it. */
function isStuck(pod: NodePod, node: NodeRecord, spec: WindowsPoolSpec): boolean {
  return !pod.isScheduled && tolerationsOn(node, spec).some(({ key = '' }) => !pod.tolerates.includes(key));
}

/** When an attempt may be repeated, or counts as failed, without any event. */
function nextAt(tasks: readonly Task[], now: number): number {
  const times = tasks.flatMap(({ attempts: [latest], state, timeoutMs: limit }) => {
    if (state.kind === 'failed') return state.retryAt ?? [];
    return state.kind === 'pulling' && latest ? startDeadline(latest.pod, limit) : [];
  });
  return Math.min(...times.filter((time) => time > now), Number.POSITIVE_INFINITY);
}

function messageOf({ images }: Preparation, pods: readonly NodePod[], obstacle: string | undefined): string {
  for (const { image, state } of images) {
    if (state.kind === 'failed') return `cannot pull ${image}: ${state.message}`;
  }
  const pulled = images.find(({ state }) => state.kind === 'pulling');
  const running = pods.find((pod) => !hasEnded(pod) && !hasPulled(pod));
  if (pulled) return `pulls ${pulled.image}${running ? ` (pod ${running.name})` : ''}`;
  if (images.every(isOnNode)) return 'has all images';
  return obstacle === undefined ? 'waits for its next pod' : `waits, because it ${obstacle}`;
}

/** The tolerations of a pod on the node: the operator's taints, those of the pool, and those of NodeReadinessRules. Exported for the tests. */
export function tolerationsOn(
  { taints }: NodeRecord,
  { taints: own = [], verification }: WindowsPoolSpec,
): Toleration[] {
  const keys = [
    GATE_TAINT_KEY,
    PLAIN_GATE_TAINT_KEY,
    QUARANTINE_TAINT_KEY,
    ...(verification.readinessTaint ? [verification.readinessTaint] : []),
    ...taints.filter(isReadinessTaint).map(({ key }) => key),
  ];
  return [
    ...OS_TOLERATIONS,
    ...[...new Set(keys)].map((key) => ({ key, operator: 'Exists' as const })),
    ...own.map(tolerationOf),
  ];
}
