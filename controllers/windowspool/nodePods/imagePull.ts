/** The pull of an image by a pod: what its status shows. Pure. */
import type { ImageState } from '../model/nodePodNeeds.ts';
import type { NodePod, SeenContainer } from '../ports/nodePods.ts';
import { hasEnded } from '../ports/pods.ts';
import { type Attempt, retryAt, whyNotStarted } from './attempts.ts';

/** Exits at once. An image without cmd.exe is pulled, too, and then its container does not start. */
export const PULL_COMMAND: readonly string[] = ['cmd.exe', '/c', 'exit'];

/** Reasons of a container that waits because its image cannot be pulled: k8s.io/kubernetes/pkg/kubelet/images/types.go. */
const PULL_ERRORS: readonly string[] = [
  'ErrImagePull',
  'ErrImageNeverPull',
  'ImageInspectError',
  'InvalidImageName',
  'RegistryUnavailable',
  'SignatureValidationFailed',
];

/** Reasons of a container that waits after its image was pulled: k8s.io/kubernetes/pkg/kubelet/kuberuntime/kuberuntime_container.go. */
const START_ERRORS: readonly string[] = ['CreateContainerError', 'CreateContainerConfigError', 'RunContainerError'];

/** The kubelet ends a container that it cannot find with this reason; the image may be missing. */
const UNKNOWN = 'ContainerStatusUnknown';

/** Why the kubelet cannot pull the image of a container; undefined if it does not say that. */
export function pullErrorIn({ containers }: NodePod): string | undefined {
  const failed = containers.map(({ state }) => state).find((state) => PULL_ERRORS.includes(reasonOf(state)));
  return failed && ('message' in failed ? failed.message || failed.reason : undefined);
}

/** Why the container of a pulled image did not start or failed; undefined if it did not. */
export function startErrorIn({ containers }: NodePod): string | undefined {
  const failed = containers.find(isNotStarted)?.state;
  return failed && ('message' in failed ? failed.message || failed.reason : undefined);
}

function isNotStarted({ state }: SeenContainer): boolean {
  return state.kind === 'ended'
    ? state.exitCode !== 0 && state.reason !== UNKNOWN
    : START_ERRORS.includes(reasonOf(state));
}

/** Whether the image of the pod's container is on the node. */
export function hasPulled({ containers }: NodePod): boolean {
  return containers.some(
    ({ hasImage, state }) =>
      hasImage ||
      state.kind === 'running' ||
      (state.kind === 'ended' && state.reason !== UNKNOWN) ||
      START_ERRORS.includes(reasonOf(state)),
  );
}

function reasonOf(state: SeenContainer['state']): string {
  return state.kind === 'running' ? '' : state.reason;
}

/** The state of an image that the node does not list. A failure is reported until a later attempt has pulled the image. */
export function pullStateOf(attempts: readonly Attempt[], timeoutMs: number, now: number): ImageState {
  const [latest] = attempts;
  if (!latest) return { kind: 'waiting' };
  if (attempts.some(({ pod }) => hasPulled(pod))) return { kind: 'pulled' };
  const [message] = attempts.flatMap(({ pod }) => pullErrorIn(pod) ?? whyNotStarted(pod, timeoutMs, now) ?? []);
  if (message === undefined) return { kind: 'pulling' };
  return { kind: 'failed', message, retryAt: hasEnded(latest.pod) ? retryAt(latest, timeoutMs) : undefined };
}
