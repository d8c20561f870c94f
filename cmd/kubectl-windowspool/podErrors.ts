/** What the status of a pod and its events say. Pure. */
import type { V1Pod } from '@kubernetes/client-node';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { type Explained, explain, knownExitCode } from '../../controllers/windowspool/knownErrors/explain.ts';
import { parseKernelVersion, releaseOf } from '../../controllers/windowspool/nodes/windowsVersions.ts';
import { cut, sentence } from '../../controllers/windowspool/util/words.ts';
import { buildOfImage, imageFor } from '../../controllers/workloads/images.ts';
import { type Cause, causeOfError, type Evidence, statusesOf, warningsOfNode } from './diagnosis.ts';
import { PLACEMENT_REASONS } from './podPlacement.ts';

/** The reasons of events before the network of the pod was set up, and before its containers started. */
const BEFORE_NETWORK = new Set([
  'FailedAttachVolume',
  'FailedMount',
  'FailedMapVolume',
  'FailedCreatePodSandBox',
  'ResourceAllocationFailed',
  'NetworkNotReady',
]);
/** The reason of the normal event while the kubelet pulls an image. */
export const PULLING = 'Pulling';
const BEFORE_START = new Set([
  PULLING,
  'Failed',
  'ErrImageNeverPull',
  'InspectFailed',
  'FailedToRetrieveImagePullSecret',
]);

/** Events stay for an hour. Those of what the pod has passed since are no cause. */
export function currentWarnings(
  { metadata, spec, status }: Wire<V1Pod>,
  warnings: readonly string[],
): readonly string[] {
  const states = statusesOf(status);
  const hasStarted = states.length > 0 && states.every(({ state }) => !state?.waiting);
  const hasNetwork =
    hasStarted ||
    metadata?.deletionTimestamp !== undefined ||
    status?.conditions?.some((each) => each.type === 'PodReadyToStartContainers' && each.status === 'True') === true;
  return warnings.filter((text) => {
    const reason = text.slice(0, text.indexOf(':'));
    if (spec?.nodeName !== undefined && PLACEMENT_REASONS.has(reason)) return false;
    if (hasNetwork && BEFORE_NETWORK.has(reason)) return false;
    return !(hasStarted && BEFORE_START.has(reason));
  });
}

/**
 * What the status of the pod and its events say. A message whose error is not known is shown as it is: it is closer to the cause than a guess. The reasons that only
 * repeat that something failed say nothing.
 */
export function errorCauses(evidence: Evidence, isWindows: boolean): Cause[] {
  const { pod, nodes, warnings } = evidence;
  const said = messagesOf(pod);
  // What the messages mean on Linux nodes is another question.
  const isKnown = isWindows || nodes?.some(({ name }) => name === pod.spec?.nodeName) === true;
  const events = warnings.filter((text) => !PLACEMENT_REASONS.has(text.slice(0, text.indexOf(':'))));
  const [message] = said.filter((text) => !/^(?:CrashLoopBackOff|ContainersNotReady)\b/.test(text));
  const own = isKnown ? explain([...said, ...events]) : [];
  // Its events say why a node has no addresses for pods. They are no cause of what the pod itself says.
  const isUnexplained = isKnown && message === undefined && own.every(({ error }) => error.isGeneric);
  const isWaiting = !statusesOf(pod.status).some(({ state }) => state?.running ?? state?.terminated);
  const known =
    isUnexplained && isWaiting ? explain([...said, ...events, ...warningsOfNode(evidence, pod.spec?.nodeName)]) : own;
  // The message of the pod has who ended it, and why.
  const exits = pod.status?.message ? [] : exitCauses(pod);
  if (known.length > 0) return [...known.map((found) => causeOfError(found, detailsOf(found, evidence))), ...exits];
  return [...(message === undefined ? [] : [{ what: `The kubelet says: ${sentence(message)}` }]), ...exits];
}

/** The messages of the kubelet in the status of a pod: those that are closest to the cause first. A program that has started writes its own message when it ends. */
function messagesOf({ status }: Wire<V1Pod>): string[] {
  const states = statusesOf(status).flatMap(({ state, lastState }) => [
    state?.waiting,
    ...[state?.terminated, lastState?.terminated].filter(isOfRuntime),
  ]);
  const ofContainers = states.flatMap((state) => (state?.message ? [`${state.reason ?? ''}: ${state.message}`] : []));
  const unfinished = states.flatMap((state) =>
    state?.reason === 'ImagePullBackOff' && !state.message ? [state.reason] : [],
  );
  const own = status?.message ? [[status.reason, status.message].filter(Boolean).join(': ')] : [];
  const gates = (status?.conditions ?? []).flatMap(({ reason, message }) =>
    reason === 'ReadinessGatesNotReady' && message ? [`${reason}: ${message}`] : [],
  );
  return [...own, ...ofContainers, ...unfinished, ...gates];
}

function detailsOf({ error }: Explained, { pod, nodes }: Evidence): string {
  return error.name === 'ImageBuildMismatch' ? buildsOf(pod, nodes) : '';
}

/** Which build each image is for, by its tag, which one the node runs, and which tag would fit. */
function buildsOf({ spec }: Wire<V1Pod>, nodes: Evidence['nodes']): string {
  const node = nodes?.find(({ name }) => name === spec?.nodeName);
  const kernel = node && parseKernelVersion(node.kernelVersion);
  const [year] = /\d{4}$/.exec((kernel && releaseOf(kernel.build)) ?? '') ?? [];
  const images = (spec?.containers ?? []).flatMap(({ image = '' }) => {
    const build = buildOfImage(image);
    if (build === undefined || build === kernel?.build) return [];
    const fitting = year === undefined ? undefined : imageFor(image, `ltsc${year}`);
    return [` The tag of ${image} says ${build}${fitting ? `; ${fitting} would be of the build of the node` : ''}.`];
  });
  return `${images.join('')}${kernel ? ` Node ${node.name} runs ${kernel.build}.` : ''}`;
}

/** How containers have ended. Their logs say more than any code; those that did not start have a message instead. */
function exitCauses({ metadata, status }: Wire<V1Pod>): Cause[] {
  return statusesOf(status).flatMap(({ name, state, lastState }) => {
    const ended = state?.terminated ?? lastState?.terminated;
    if (!ended || isOfRuntime(ended)) return [];
    const code = ended.exitCode;
    if (ended.reason === UNKNOWN_EXIT)
      return [
        {
          what: `containerd does not know how container ${name} ended (exit code ${code}, Unknown), such as after a restart of the node.`,
        },
      ];
    const known = knownExitCode(code);
    const previous = state?.terminated ? '' : ' --previous';
    const said = ended.message ? ` It says: ${sentence(lastLineOf(ended.message))}` : '';
    const command = `kubectl logs --namespace ${metadata?.namespace} ${metadata?.name} --container ${name}${previous}`;
    if (known) {
      const shown = `0x${known.code.toString(16).padStart(8, '0')}`;
      const what = `Container ${name} ${known.cause} (exit code ${code}, ${known.name}, ${shown}).${said}`;
      return [{ what, remedy: known.remedy, command }];
    }
    const reason = ended.reason && !['Error', 'Completed'].includes(ended.reason) ? ` (${ended.reason})` : '';
    if (code !== 0)
      return [{ what: `Container ${name} ended with exit code ${code}${reason}.${said} Read its log.`, command }];
    if (!state?.waiting) return [];
    return [
      {
        what: `Container ${name} ended without an error (exit code 0), and is restarted.`,
        remedy:
          'A container of a Deployment must run a program that does not end. cmd and powershell without a command end at once. For a task that ends, use a Job.',
        command,
      },
    ];
  });
}

/** Of a message of a program, which can be the end of its log (terminationMessagePolicy). */
function lastLineOf(message: string): string {
  return cut(message.trim().split('\n').at(-1) ?? '', 300);
}

/** Whether the exit code and the message of a termination are those of the container runtime, and not of the program. */
function isOfRuntime(ended: { readonly reason?: string; readonly message?: string } | undefined): boolean {
  return (
    NOT_STARTED.has(ended?.reason ?? '') || /\bhcs(?:shim)?::|\b(?:containerd|shim) task\b/.test(ended?.message ?? '')
  );
}

/** https://github.com/containerd/containerd/blob/main/internal/cri/server/helpers.go */
const UNKNOWN_EXIT = 'Unknown';
const NOT_STARTED = new Set(['StartError', 'ContainerCannotRun', 'ContainerStatusUnknown']);
