/** Which pods a node needs, which one comes next, and which stay. Pure. One pod runs on a node at a time: each takes one of its few addresses. */
import type { ImagePrePullSpec, SmokeTestSpec, WindowsPoolSpec } from '../api/api.gen.ts';
import { GATE_TAINT_KEY, PLAIN_GATE_TAINT_KEY, QUARANTINE_TAINT_KEY } from '../api/labels.ts';
import type { NodeCheck } from '../api/reasons.ts';
import type { ImageState, NodePodNeed, Preparation, RequiredImage, SmokeTestState } from '../model/nodePodNeeds.ts';
import type { Expectation, VerificationResult } from '../model/poolNodesView.ts';
import { isReadinessTaint } from '../nodes/nodeTaints.ts';
import { foreignText } from '../ports/foreignText.ts';
import {
  type DesiredNodePod,
  FIRST_DELAY_MS,
  type NodePod,
  type NodePodContainer,
  type NodePodPurpose,
} from '../ports/nodePods.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { hasEnded } from '../ports/pods.ts';
import type { Toleration } from '../ports/runtimeClasses.ts';
import { OS_TOLERATIONS, tolerationOf } from '../runtimeClass/runtimeClass.ts';
import { type Attempt, attemptsIn, MOST_ATTEMPTS, podName, startDeadline } from './attempts.ts';
import { hasPulled, PULL_COMMAND, pullErrorIn } from './imagePull.ts';
import { isOnNode, isPrepared, isUnread, pullKey, testKey, timeoutMs } from './preparation.ts';
import { testContainer } from './smokeTest.ts';

/** Checks that a node may fail while pods run on it. They take time, or the operator corrects what they found. */
const NO_OBSTACLE: readonly NodeCheck[] = [
  'ImagesMissing',
  'ImagePullFailed',
  'SmokeTestFailed',
  'SmokeTestPending',
  'RequiredConditionMissing',
  'RegistrationTaintMissing',
  'BuildLabelMismatch',
];

/** What a pod does on a node, with its attempts. */
interface Task {
  readonly purpose: NodePodPurpose;
  readonly key: string;
  readonly containers: readonly NodePodContainer[];
  readonly spec: ImagePrePullSpec | SmokeTestSpec;
  readonly state: ImageState | SmokeTestState;
  readonly attempts: readonly Attempt[];
}

/** The pods that the node needs; undefined if it needs none: its pods are then deleted. `pods`: those on it, of this pool, which `preparation` reflects. */
export function needOf(
  { node, failures, preparation }: Pick<VerificationResult, 'node' | 'failures'> & Pick<NodePodNeed, 'preparation'>,
  { spec, reportedBy, retry: requested = '' }: Expectation,
  pods: readonly NodePod[],
  now: number,
): NodePodNeed | undefined {
  const { verification } = spec;
  if (reportedBy === undefined || node.unschedulable || isPrepared(node, verification)) return undefined;
  // As it is read from a pod.
  const retry = foreignText(requested);
  const tasks = tasksOn(node, verification, preparation, pods);
  const stuck = new Map(pods.map((pod) => [pod, stuckAt(pod, node, spec)]));
  const stays = (pod: NodePod) => now < (stuck.get(pod) ?? Number.POSITIVE_INFINITY) && !isRetried(pod, retry);
  const kept = tasks.flatMap(keptBy).filter(stays);
  const isBlocked = failures.some(({ reason }) => !NO_OBSTACLE.includes(reason));
  const waits = isBlocked || isUnread(preparation) || pods.some(isWorking);
  const due = waits ? undefined : tasks.find((task) => isDue(task, retry, now));
  return {
    node,
    preparation,
    keep: new Set(kept.map(({ name }) => name)),
    next:
      due &&
      podFor(due, {
        pool: reportedBy,
        node: { name: node.name, uid: node.uid },
        retry,
        tolerations: tolerationsOn(node, spec),
      }),
    nextAt: nextAt(tasks, [...stuck.values()], now),
  };
}

/** The images in their order, and the test when the node has them. */
function tasksOn(
  node: NodeRecord,
  { imagePrePull, smokeTest }: WindowsPoolSpec['verification'],
  { images, test }: Preparation,
  pods: readonly NodePod[],
): Task[] {
  const task = (rest: Omit<Task, 'attempts'>): Task => ({
    ...rest,
    attempts: attemptsIn(pods, rest.purpose, rest.key),
  });
  const pullOf = ({ image, state }: RequiredImage, spec: ImagePrePullSpec): Task => {
    const containers = [{ name: 'pull' as const, image, command: PULL_COMMAND }];
    return task({ purpose: 'image-pull', key: pullKey(node, image, spec), containers, spec, state });
  };
  const missing = images.filter(({ state }) => state.kind !== 'present');
  const pulls = imagePrePull ? missing.map((required) => pullOf(required, imagePrePull)) : [];
  const mayHaveAll = images.every((image) => isOnNode(image) || image.state.kind === 'unknown');
  if (!smokeTest || !test || !mayHaveAll) return pulls;
  const [key, containers] = [testKey(node, smokeTest), [testContainer(smokeTest)]];
  return [...pulls, task({ purpose: 'smoke-test', key, containers, spec: smokeTest, state: test })];
}

function podFor(
  { purpose, key, containers, spec, attempts: [latest] }: Task,
  common: Pick<DesiredNodePod, 'pool' | 'node' | 'retry' | 'tolerations'>,
): DesiredNodePod {
  return {
    name: podName(purpose, key, (latest?.number ?? 0) + 1),
    purpose,
    containers,
    imagePullSecrets: (spec.imagePullSecrets ?? []).map(({ name }) => name),
    deadlineSeconds: Math.round(timeoutMs(spec) / 1_000),
    ...common,
  };
}

/** Whether the pod still works, or is not gone yet. One that has pulled its image only has to exit. */
function isWorking(pod: NodePod): boolean {
  return !hasEnded(pod) && !(pod.purpose === 'image-pull' && hasPulled(pod));
}

/** Whether the pod shows a result, so that earlier attempts are no longer needed. */
function hasResult(pod: NodePod): boolean {
  return !isWorking(pod) || pullErrorIn(pod) !== undefined;
}

/** The latest attempt, and while it shows nothing the one before, which failed. */
function keptBy({ attempts }: Task): NodePod[] {
  const [latest, before] = attempts;
  if (!latest) return [];
  return before && !hasResult(latest.pod) ? [latest.pod, before.pod] : [latest.pod];
}

function isDue({ attempts: [latest], state }: Task, retry: string, now: number): boolean {
  if (latest && latest.number >= MOST_ATTEMPTS) return false;
  if (state.kind === 'waiting') return true;
  if (state.kind !== 'failed' || state.retryAt === undefined) return false;
  return now >= state.retryAt || latest?.pod.retry !== retry;
}

/** A pod that fails and has not ended is deleted when the user requests a retry. */
function isRetried(pod: NodePod, retry: string): boolean {
  return !hasEnded(pod) && pod.retry !== retry && pullErrorIn(pod) !== undefined;
}

/**
 * When the pod counts as never scheduled, because a taint that it should tolerate came after it; Infinity if it tolerates all. Not at once: an
 * admission webhook may remove the toleration from each pod.
 */
function stuckAt(pod: NodePod, node: NodeRecord, spec: WindowsPoolSpec): number {
  const isStuck = !pod.isScheduled && tolerationsOn(node, spec).some(({ key = '' }) => !pod.tolerates.includes(key));
  return isStuck ? pod.createdAt + FIRST_DELAY_MS : Number.POSITIVE_INFINITY;
}

/** When an attempt may be repeated, or counts as failed or stuck, without any event. */
function nextAt(tasks: readonly Task[], stuck: readonly number[], now: number): number {
  const times = tasks.flatMap(({ attempts: [latest], state, spec }) => {
    if (state.kind === 'failed' && state.retryAt !== undefined) return state.retryAt;
    const isOpen = state.kind === 'pulling' || state.kind === 'running' || state.kind === 'failed';
    return isOpen && latest ? startDeadline(latest.pod, timeoutMs(spec)) : [];
  });
  return Math.min(...[...times, ...stuck].filter((time) => time > now), Number.POSITIVE_INFINITY);
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
