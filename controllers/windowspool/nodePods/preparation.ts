/** What a new node still needs, from what it reports and what the operator's pods on it have shown. Pure. */
import type { SmokeTestSpec, WindowsPoolSpec } from '../api/api.gen.ts';
import { IMAGES_PENDING_CONDITION, SMOKE_TEST_PENDING_CONDITION } from '../api/labels.ts';
import type { Preparation, RequiredImage } from '../model/nodePodNeeds.ts';
import { normalizedImage } from '../nodes/imageNames.ts';
import { hasGateTaintOf } from '../nodes/nodeTaints.ts';
import type { NodePod, NodePodsView } from '../ports/nodePods.ts';
import { type NodeRecord, type OwnCondition, ownStatus } from '../ports/nodes.ts';
import { durationOf } from '../util/durations.ts';
import { hashOf } from '../util/hash.ts';
import { attemptsIn } from './attempts.ts';
import { pullStateOf } from './imagePull.ts';
import { testStateOf } from './smokeTest.ts';

type Verification = WindowsPoolSpec['verification'];

/** The longest deadline of a pod, in milliseconds. The schema accepts a day. */
const LONGEST_MS = 86_400_000;

/** A timeout of the spec in milliseconds: one that the schema accepts. */
export function timeoutMs({ timeout }: { readonly timeout: string }): number {
  return Math.min(Math.max(durationOf(timeout), 60_000), LONGEST_MS);
}

/** What the node still needs. `pods`: the operator's pods on it. */
export function preparationOf(
  node: NodeRecord,
  verification: Verification,
  pods: readonly NodePod[],
  now: number,
): Preparation {
  const { requiredImages = [], smokeTest } = verification;
  const isTested = !smokeTest || hasShown(node, verification, SMOKE_TEST_PENDING_CONDITION);
  return {
    images: hasShown(node, verification, IMAGES_PENDING_CONDITION)
      ? []
      : requiredImages.map((image) => imageOn(node, image, verification, pods, now)),
    test: isTested
      ? undefined
      : testStateOf(attemptsIn(pods, 'smoke-test', testKey(node, smokeTest)), timeoutMs(smokeTest), now),
  };
}

/**
 * Whether the node has had all images once, or has passed the test: later, the kubelet removes unused images when the disk is full. A node without
 * the condition was in service before the pool required them, unless it is joining or behind the gate.
 */
function hasShown(node: NodeRecord, verification: Verification, pending: OwnCondition): boolean {
  const status = ownStatus(node, pending);
  if (status !== undefined) return status === 'False';
  if (node.verified?.status === 'False') return !hasGateTaintOf({ verification }, node);
  return node.verified?.status === 'True';
}

/** Whether the operator has nothing to do on the node. */
export function isPrepared(node: NodeRecord, verification: Verification): boolean {
  const { requiredImages = [], imagePrePull, smokeTest } = verification;
  const needsImages =
    imagePrePull !== undefined && requiredImages.length > 0 && !hasShown(node, verification, IMAGES_PENDING_CONDITION);
  return !needsImages && (!smokeTest || hasShown(node, verification, SMOKE_TEST_PENDING_CONDITION));
}

function imageOn(
  node: NodeRecord,
  image: string,
  { imagePrePull }: Verification,
  pods: readonly NodePod[],
  now: number,
): RequiredImage {
  if (node.images?.includes(normalizedImage(image))) return { image, state: { kind: 'present' } };
  const attempts = imagePrePull ? attemptsIn(pods, 'image-pull', pullKey(node, image, imagePrePull)) : [];
  if (node.images === undefined && attempts.length === 0) return { image, state: { kind: 'unknown' } };
  const state = imagePrePull ? pullStateOf(attempts, timeoutMs(imagePrePull), now) : { kind: 'absent' as const };
  return { image, state };
}

/** Whether the node has the image, or had it a moment ago. */
export function isOnNode({ state }: RequiredImage): boolean {
  return state.kind === 'present' || state.kind === 'pulled';
}

/** Whether the images of the node were not read yet. */
export function isUnread({ images }: Preparation): boolean {
  return images.some(({ state }) => state.kind === 'unknown');
}

/** Whether pools with this verification need the images that nodes report. */
export function needsImages({ requiredImages = [] }: Verification): boolean {
  return requiredImages.length > 0;
}

/** The part of a pod's name that stands for what it does: another image or other Secrets are another pod. */
export function pullKey(
  node: Pick<NodeRecord, 'uid'>,
  image: string,
  { imagePullSecrets = [] }: NonNullable<Verification['imagePrePull']>,
): string {
  return keyOf(node, [normalizedImage(image), imagePullSecrets.map(({ name }) => name)]);
}

/** The same for a test: another image or URL, or other Secrets, are another test. */
export function testKey(
  node: Pick<NodeRecord, 'uid'>,
  { image, serviceURL, imagePullSecrets = [] }: SmokeTestSpec,
): string {
  return keyOf(node, [normalizedImage(image), serviceURL, imagePullSecrets.map(({ name }) => name)]);
}

/** The keys of each node: a reconciliation compares the pods of a node with all its images several times, and a hash is slow. */
const keys = new WeakMap<object, Map<string, string>>();

function keyOf(node: Pick<NodeRecord, 'uid'>, what: readonly unknown[]): string {
  const known = keys.get(node) ?? new Map<string, string>();
  keys.set(node, known);
  const text = JSON.stringify(what);
  const key = known.get(text) ?? hashOf([node.uid, ...what]);
  known.set(text, key);
  return key;
}

/** The pods of a pool on one node. */
export function podsOn(view: NodePodsView, { uid }: NodeRecord): readonly NodePod[] {
  return view.kind === 'seen' ? view.pods.filter(({ nodeUid }) => nodeUid === uid) : [];
}

/** How much longer than others a new node may take because of the operator's pods, in milliseconds. */
export function preparationMs({ requiredImages = [], imagePrePull, smokeTest }: Verification): number {
  const pulls = imagePrePull ? requiredImages.length * timeoutMs(imagePrePull) : 0;
  return pulls + (smokeTest ? timeoutMs(smokeTest) : 0);
}

/** Whether the operator runs pods on the new nodes of a pool. */
export function runsNodePods({ imagePrePull, smokeTest }: Verification): boolean {
  return imagePrePull !== undefined || smokeTest !== undefined;
}
