/** What a new node still needs, from what it reports and what the operator's pods on it have shown. Pure. */
import type { WindowsPoolSpec } from '../api.gen.ts';
import type { Preparation, RequiredImage } from '../model/nodePods.ts';
import { normalizedImage } from '../nodes/imageNames.ts';
import type { NodePod, NodePodsView } from '../ports/nodePods.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { durationOf } from '../util/durations.ts';
import { hashOf } from '../util/hash.ts';
import { attemptsIn } from './attempts.ts';
import { pullStateOf } from './imagePull.ts';

/** In the message of the node's condition while the node lacks an image. */
export const REQUIRED_IMAGES = 'verification.requiredImages';

type Verification = WindowsPoolSpec['verification'];

/** Of a node that needs nothing. */
const PREPARED: Preparation = { images: [] };

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
  if (isPrepared(node, verification)) return PREPARED;
  const { requiredImages = [] } = verification;
  return { images: requiredImages.map((image) => imageOn(node, image, verification, pods, now)) };
}

/**
 * Whether the node needs nothing, or has had everything once: later, the kubelet removes unused images when the disk is full. The message of the
 * node's condition shows whether it still lacks something.
 */
export function isPrepared({ verified }: NodeRecord, { requiredImages = [] }: Verification): boolean {
  return requiredImages.length === 0 || (verified !== undefined && !verified.message.includes(REQUIRED_IMAGES));
}

function imageOn(
  node: NodeRecord,
  image: string,
  { imagePrePull }: Verification,
  pods: readonly NodePod[],
  now: number,
): RequiredImage {
  if (node.images.includes(normalizedImage(image))) return { image, state: { kind: 'present' } };
  if (!imagePrePull) return { image, state: { kind: 'absent' } };
  const attempts = attemptsIn(pods, 'image-pull', pullKey(node, image, imagePrePull));
  return { image, state: pullStateOf(attempts, timeoutMs(imagePrePull), now) };
}

/** Whether the node has the image, or had it a moment ago. */
export function isOnNode({ state }: RequiredImage): boolean {
  return state.kind === 'present' || state.kind === 'pulled';
}

/** The part of a pod's name that stands for what it does: another image or other Secrets are another pod. */
export function pullKey(
  { uid }: Pick<NodeRecord, 'uid'>,
  image: string,
  { imagePullSecrets = [] }: NonNullable<Verification['imagePrePull']>,
): string {
  return hashOf([uid, normalizedImage(image), imagePullSecrets.map(({ name }) => name)]);
}

/** The pods of a pool on one node. */
export function podsOn(view: NodePodsView, { uid }: NodeRecord): readonly NodePod[] {
  return view.kind === 'seen' ? view.pods.filter(({ nodeUid }) => nodeUid === uid) : [];
}

/** How much longer than others a new node may take because of the operator's pods, in milliseconds. */
export function preparationMs({ requiredImages = [], imagePrePull }: Verification): number {
  return imagePrePull ? requiredImages.length * timeoutMs(imagePrePull) : 0;
}

/** Whether the operator runs pods on the new nodes of a pool. */
export function runsNodePods({ imagePrePull }: Verification): boolean {
  return imagePrePull !== undefined;
}
