/** `kubectl windowspool diagnose`: why a pod does not run on Windows. */
import type { EventsV1Event, V1Pod } from '@kubernetes/client-node';
import { ignoreNotFound } from '../../controllers/kubernetes/errors.ts';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { apiPath } from '../../controllers/kubernetes/paths.ts';
import { POOL_KEY } from '../../controllers/windowspool/api/labels.ts';
import {
  causeOf,
  type Explained,
  explain,
  knownExitCode,
  withCause,
} from '../../controllers/windowspool/knownErrors/explain.ts';
import { POD_ADDRESSES, parseKernelVersion, releaseOf } from '../../controllers/windowspool/nodes/windowsVersions.ts';
import { compact, joined, sentence } from '../../controllers/windowspool/util/words.ts';
import { buildOfImage, imageFor } from '../../controllers/workloads/images.ts';
import { findingsOf, operatingSystemOf } from '../../controllers/workloads/lint.ts';
import type { Cluster } from './cluster.ts';
import type { PluginCommand } from './command.ts';
import { type Cause, type Diagnosis, type Evidence, statusesOf } from './diagnosis.ts';
import { EXIT, Failure, suggestion, unlessForbidden } from './failure.ts';
import { outputOption } from './flags.ts';
import { type OutputFormat, printResult, printSkipped } from './output.ts';
import { PLACEMENT_REASONS, placementCauses } from './placement.ts';
import { runtimeClassesOf } from './runtimeClasses.ts';
import type { Terminal } from './terminal.ts';
import { labelled, type Paint } from './text.ts';

export interface DiagnoseFlags {
  readonly namespace?: string;
  readonly output?: OutputFormat;
}

const MOST_EVENTS = 500;

/** Prints the diagnosis of a pod. Fails if the pod does not run. */
async function diagnose(
  cluster: Cluster,
  terminal: Terminal,
  name: string,
  { namespace = cluster.client.namespace ?? 'default', output }: DiagnoseFlags,
): Promise<void> {
  const pod = await ignoreNotFound(cluster.get<V1Pod>(apiPath('v1', 'pods', { namespace, name })));
  if (!pod) throw await notFound(cluster, namespace, name);
  const skipped: string[] = [];
  const [runtimeClasses, nodes, warnings] = await Promise.all([
    unlessForbidden(runtimeClassesOf(cluster), [], 'The RuntimeClasses are unknown', skipped),
    unlessForbidden(cluster.nodes(), undefined, 'The nodes are unknown', skipped),
    unlessForbidden(
      warningsOf(cluster, namespace, pod.metadata?.uid ?? ''),
      [],
      'The events of the pod are unknown',
      skipped,
    ),
  ]);
  printSkipped(terminal, skipped.sort());
  const diagnosis = diagnosisOf({ pod, runtimeClasses, nodes, warnings });
  printResult(terminal, output, diagnosis, (columns) => diagnosisLines(diagnosis, columns, terminal.paint));
  // The lines say why.
  if (!isRunning(pod)) throw new Failure('', EXIT.failed);
}

/** The error about a pod that does not exist. Suggests a similar name, or a pod of the controller with that name. */
async function notFound(cluster: Cluster, namespace: string, name: string): Promise<Failure> {
  await cluster.checkNamespace(namespace);
  const names = await cluster.namesOf(apiPath('v1', 'pods', { namespace }));
  const controller = name.replace(/^.*\//, '');
  const [ofController] = names.filter((each) => each.startsWith(`${controller}-`));
  const hint = ofController === undefined ? suggestion(name, names) : ` Did you mean "${ofController}"?`;
  return new Failure(
    `Pod "${name}" not found in namespace ${namespace}.${hint || ' Choose another namespace with --namespace.'}`,
  );
}

/** The messages of the warnings, the latest first. That a pod makes the cluster-autoscaler add no node is no warning, but says why. */
async function warningsOf(cluster: Cluster, namespace: string, uid: string): Promise<readonly string[]> {
  const path = apiPath('events.k8s.io/v1', 'events', { namespace });
  const query = { fieldSelector: `regarding.uid=${uid}`, limit: String(MOST_EVENTS) };
  const { items = [] } = await cluster.get<{ items?: EventsV1Event[] }>(path, query);
  return items
    .filter(({ type, reason = '' }) => type === 'Warning' || PLACEMENT_REASONS.has(reason))
    .toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))
    .map(({ reason = '', note = '' }) => `${reason}: ${note}`);
}

function timeOf({ series, eventTime, metadata, deprecatedLastTimestamp }: Wire<EventsV1Event>): string {
  const time = series?.lastObservedTime ?? eventTime ?? deprecatedLastTimestamp ?? metadata?.creationTimestamp ?? '';
  return String(time);
}

/** The lines of a diagnosis. */
export function diagnosisLines({ pod, phase, node, causes }: Diagnosis, columns: number, paint: Paint): string[] {
  const where = node === undefined ? '' : ` on node ${node}`;
  const lines = causes.flatMap(({ what, remedy, command }, index) => {
    const indent = ' '.repeat(`${index + 1}. `.length);
    const text = [what, remedy].filter(Boolean).join(' ');
    return [
      '',
      ...labelled(`${index + 1}. `, indent.length, text, columns),
      ...(command ? [`${indent}$ ${command}`] : []),
    ];
  });
  const title = `Pod ${pod} is ${phase}${phase.includes(',') && where ? ',' : ''}${where}`;
  const isGood = phase === 'Running' || phase === 'Succeeded';
  const [namespace = '', name = ''] = pod.split('/');
  const unknown = ['', 'No cause found.', `  $ kubectl describe pod --namespace ${namespace} ${name}`];
  return [paint(isGood ? 'good' : 'bad', title), ...(lines.length > 0 || isGood ? lines : unknown)];
}

/** Whether nothing of the pod runs any more. */
function hasEnded({ status }: Wire<V1Pod>): boolean {
  return status?.phase === 'Failed' || status?.phase === 'Succeeded';
}

function isRunning({ metadata, status }: Wire<V1Pod>): boolean {
  if (metadata?.deletionTimestamp !== undefined) return false;
  return readinessOf(status)?.status === 'True' || status?.phase === 'Succeeded';
}

function readinessOf(status: Wire<V1Pod>['status']) {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

/** The diagnosis of a pod. Pure. */
export function diagnosisOf({ warnings, ...given }: Evidence): Diagnosis {
  const { pod, runtimeClasses } = given;
  const evidence = { ...given, warnings: currentWarnings(pod, warnings) };
  const { name = '', namespace = '' } = pod.metadata ?? {};
  const node = pod.spec?.nodeName;
  const manifest = { ...pod, kind: 'Pod' };
  const isWindows = operatingSystemOf(manifest, runtimeClasses) === 'windows';
  const causes = isRunning(pod)
    ? []
    : [
        ...(isWindows ? [] : [linuxCause(evidence)]),
        ...nodeCauses(evidence, isWindows),
        ...errorCauses(evidence, isWindows),
        ...finalizerCauses(pod),
        ...findingsOf(manifest, runtimeClasses)
          .filter(({ grade }) => grade === 'fails')
          .map(({ message }) => ({ what: message })),
        ...(isWindows && node === undefined && !hasEnded(pod) ? placementCauses(evidence) : []),
        ...(isWindows && node !== undefined && !hasEnded(pod) ? addressCauses(evidence) : []),
      ];
  return {
    pod: `${namespace}/${name}`,
    phase: phaseOf(pod),
    ...(node !== undefined && { node }),
    causes: causes.length === 0 && !isRunning(pod) ? unexplained(evidence) : causes,
  };
}

/** The latest event, or else what the kubelet says of containers that run and are not ready. */
function unexplained({ pod: { status }, warnings: [latest] }: Evidence): Cause[] {
  if (latest !== undefined) return [{ what: sentence(latest) }];
  const { reason, message } = readinessOf(status) ?? {};
  return reason === 'ContainersNotReady' && message && status?.phase === 'Running'
    ? [{ what: `The kubelet says: ${sentence(message)}`, remedy: 'Look at their readiness probes and at their logs.' }]
    : [];
}

/** The phase, or why a container waits. */
function phaseOf({ metadata, status }: Wire<V1Pod>): string {
  if (metadata?.deletionTimestamp) return 'Terminating';
  const waiting = statusesOf(status).find(({ state }) => state?.waiting?.reason)?.state?.waiting?.reason;
  if (waiting !== undefined || status?.phase !== 'Running') return waiting ?? status?.phase ?? 'Unknown';
  return readinessOf(status)?.status === 'True' ? 'Running' : 'Running, but not Ready';
}

/** The reasons of events before the network of the pod was set up, and before its containers started. */
const BEFORE_NETWORK = new Set([
  'FailedAttachVolume',
  'FailedMount',
  'FailedMapVolume',
  'FailedCreatePodSandBox',
  'ResourceAllocationFailed',
  'NetworkNotReady',
]);
const BEFORE_START = new Set(['Failed', 'ErrImageNeverPull', 'InspectFailed', 'FailedToRetrieveImagePullSecret']);

/** Events stay for an hour. Those of what the pod has passed since are no cause. */
function currentWarnings({ metadata, spec, status }: Wire<V1Pod>, warnings: readonly string[]): readonly string[] {
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

/** What is wrong with the node of the pod: then, what the status of the pod says is old. */
function nodeCauses({ pod, nodes }: Evidence, isWindows: boolean): Cause[] {
  const { nodeName } = pod.spec ?? {};
  const node = nodes?.find(({ name }) => name === nodeName);
  if (node && node.ready !== 'True') {
    const pool = node.labels[POOL_KEY];
    const command = pool === undefined ? `kubectl describe node ${node.name}` : `kubectl windowspool status ${pool}`;
    const why = node.readyMessage === '' ? node.ready : withCause(node.readyMessage);
    return [{ what: `Its node is not Ready: ${sentence(why)}`, command }];
  }
  if (node || !isWindows || nodes === undefined || nodeName === undefined || hasEnded(pod)) return [];
  return [
    {
      what: `Its node ${nodeName} is not one of the Windows nodes: it was deleted, or it is a Linux node.`,
      command: `kubectl get node ${nodeName}`,
    },
  ];
}

/** What keeps a pod whose containers have ended from being deleted. */
function finalizerCauses({ metadata, status }: Wire<V1Pod>): Cause[] {
  const { finalizers = [], deletionTimestamp } = metadata ?? {};
  const runs = statusesOf(status).some(({ state }) => state?.running);
  if (deletionTimestamp === undefined || finalizers.length === 0 || runs) return [];
  return [
    {
      what: `The pod is kept by its finalizers: ${joined(finalizers)}. The controllers that set them remove them.`,
      remedy: 'Look at those controllers. Without them, what the finalizers protect can be left behind.',
    },
  ];
}

function linuxCause({ pod, nodes }: Evidence): Cause {
  return nodes?.some(({ name }) => name === pod.spec?.nodeName)
    ? {
        what: 'The pod does not select Windows, and it was scheduled to a Windows node.',
        remedy:
          'If its image is for Linux, set nodeSelector kubernetes.io/os: linux. If it is for Windows, set runtimeClassName to the RuntimeClass of a pool.',
      }
    : {
        what: 'The pod is a Linux pod: neither its RuntimeClass nor its nodeSelector selects Windows.',
        remedy: 'If it is for Windows, set runtimeClassName to the RuntimeClass of a pool.',
      };
}

/**
 * What the status of the pod and its events say. A message whose error is not known is shown as it is: it is closer to the cause than a guess. The reasons that only
 * repeat that something failed say nothing.
 */
function errorCauses(evidence: Evidence, isWindows: boolean): Cause[] {
  const { pod, nodes, warnings } = evidence;
  const said = messagesOf(pod);
  // What the messages mean on Linux nodes is another question.
  const isKnown = isWindows || nodes?.some(({ name }) => name === pod.spec?.nodeName) === true;
  const events = warnings.filter((text) => !PLACEMENT_REASONS.has(text.slice(0, text.indexOf(':'))));
  const known = isKnown ? explain([...said, ...events]) : [];
  const exits = exitCauses(pod);
  if (known.length > 0) return [...known.map((found) => causeOfError(found, evidence)), ...exits];
  const [message] = said.filter((text) => !/^(?:CrashLoopBackOff|ContainersNotReady)\b/.test(text));
  return [...(message === undefined ? [] : [{ what: `The kubelet says: ${sentence(message)}` }]), ...exits];
}

/** The messages in the status of a pod: those that are closest to the cause first. */
function messagesOf({ status }: Wire<V1Pod>): string[] {
  const states = statusesOf(status).flatMap(({ state, lastState }) => [
    state?.waiting,
    state?.terminated,
    lastState?.terminated,
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

function causeOfError({ error, message }: Explained, { pod, nodes }: Evidence): Cause {
  const details = error.name === 'ImageBuildMismatch' ? buildsOf(pod, nodes) : '';
  return {
    what: `${causeOf(error)}${details} ${error.remedy}`,
    remedy: `The message: ${sentence(message)}`,
  };
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
    if (!ended || NOT_STARTED.has(ended.reason ?? '')) return [];
    const code = ended.exitCode;
    const known = knownExitCode(code);
    const previous = state?.terminated ? '' : ' --previous';
    const command = `kubectl logs --namespace ${metadata?.namespace} ${metadata?.name} --container ${name}${previous}`;
    if (known) {
      const shown = `0x${known.code.toString(16).padStart(8, '0')}`;
      const what = `Container ${name} ${known.cause} (exit code ${code}, ${known.name}, ${shown}).`;
      return [{ what, remedy: known.remedy, command }];
    }
    const reason = ended.reason && !['Error', 'Completed'].includes(ended.reason) ? ` (${ended.reason})` : '';
    if (code !== 0)
      return [{ what: `Container ${name} ended with exit code ${code}${reason}. Read its log.`, command }];
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

/** Reasons of a termination whose exit code is not that of the program. */
const NOT_STARTED = new Set(['StartError', 'ContainerCannotRun', 'ContainerStatusUnknown']);

/** The VPC webhook adds the limit when the pod is created; without it, the pod gets no address. */
function addressCauses({ pod, nodes }: Evidence): Cause[] {
  const node = nodes?.find(({ name }) => name === pod.spec?.nodeName);
  if (!node) return [];
  const isOnEks = node.allocatable[POD_ADDRESSES] !== undefined;
  const hasLimit = pod.spec?.containers?.some(({ resources }) => resources?.limits?.[POD_ADDRESSES] !== undefined);
  const isHost = pod.spec?.hostNetwork === true;
  const hasAddress = Boolean(pod.status?.podIP);
  return compact<Cause>([
    isOnEks &&
      !hasLimit &&
      !isHost &&
      !hasAddress && {
        what: `No container has the limit ${POD_ADDRESSES}, so the pod gets no IP address: the webhook of EKS adds it to pods with nodeSelector kubernetes.io/os: windows.`,
        remedy: 'Recreate the pod. If that does not help, check the webhook.',
        command: 'kubectl windowspool doctor',
      },
    node.verified?.status === 'False' &&
      node.ready === 'True' && {
        what: `Its node is not verified: ${sentence(node.verified.message)}`,
        command: `kubectl windowspool nodes ${node.labels[POOL_KEY] ?? ''}`.trim(),
      },
    !parseKernelVersion(node.kernelVersion) && { what: `Its node reports the kernel ${node.kernelVersion}.` },
  ]);
}

/** `kubectl windowspool diagnose`. */
export const diagnoseCommand: PluginCommand<DiagnoseFlags> = {
  usage: 'diagnose <pod>',
  group: 'Troubleshooting Commands',
  summary: 'Show why a pod does not run on Windows.',
  examples: [
    ['Show why a pod does not run', 'kubectl windowspool diagnose cart-0 --namespace=shop'],
    ['As JSON, for scripts', 'kubectl windowspool diagnose cart-0 -n shop -o json'],
  ],
  options: [outputOption()],
  run: async ({ connect, terminal }, [pod = ''], flags) => diagnose(await connect(), terminal, pod, flags),
};
