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
  knownErrorIn,
  knownExitCode,
} from '../../controllers/windowspool/knownErrors/explain.ts';
import { isOurs } from '../../controllers/windowspool/nodes/nodeTaints.ts';
import {
  POD_ADDRESSES,
  parseKernelVersion,
  releaseOf,
  WINDOWS_BUILD_LABEL,
} from '../../controllers/windowspool/nodes/windowsVersions.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import type { Toleration } from '../../controllers/windowspool/ports/runtimeClasses.ts';
import { describeTaint, untolerated } from '../../controllers/windowspool/runtimeClass/runtimeClass.ts';
import { labelIn } from '../../controllers/windowspool/util/labelSelector.ts';
import { compact, sentence } from '../../controllers/windowspool/util/words.ts';
import { buildOfImage, imageFor } from '../../controllers/workloads/images.ts';
import { findingsOf, type LintedRuntimeClass, operatingSystemOf } from '../../controllers/workloads/lint.ts';
import type { Cluster } from './cluster.ts';
import type { PluginCommand } from './command.ts';
import { EXIT, Failure, suggestion, unlessForbidden } from './failure.ts';
import { outputOption } from './flags.ts';
import { type OutputFormat, printResult, printSkipped } from './output.ts';
import { runtimeClassesOf } from './runtimeClasses.ts';
import type { Terminal } from './terminal.ts';
import { labelled, type Paint } from './text.ts';

export interface DiagnoseFlags {
  readonly namespace?: string;
  readonly output?: OutputFormat;
}

/** Why a pod does not run, and what to do. */
export interface Cause {
  readonly what: string;
  readonly remedy?: string;
  readonly command?: string;
}

export interface Diagnosis {
  readonly pod: string;
  readonly phase: string;
  readonly node?: string;
  /** The most probable first. */
  readonly causes: readonly Cause[];
}

/** What a diagnosis is based on. */
export interface Evidence {
  readonly pod: Wire<V1Pod>;
  readonly runtimeClasses: readonly LintedRuntimeClass[];
  /** All Windows nodes; undefined if they are unknown. */
  readonly nodes: readonly NodeRecord[] | undefined;
  /** The messages of the warning events of the pod, the latest first. */
  readonly warnings: readonly string[];
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

/** The messages of the warnings, the latest first. */
async function warningsOf(cluster: Cluster, namespace: string, uid: string): Promise<readonly string[]> {
  const path = apiPath('events.k8s.io/v1', 'events', { namespace });
  const query = { fieldSelector: `regarding.uid=${uid},type=Warning`, limit: String(MOST_EVENTS) };
  const { items = [] } = await cluster.get<{ items?: EventsV1Event[] }>(path, query);
  return items
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
  const title = `Pod ${pod} is ${phase}${where}`;
  const isGood = phase === 'Running' || phase === 'Succeeded';
  const [namespace = '', name = ''] = pod.split('/');
  const unknown = ['', 'No cause found.', `  $ kubectl describe pod --namespace ${namespace} ${name}`];
  return [paint(isGood ? 'good' : 'bad', title), ...(lines.length > 0 || isGood ? lines : unknown)];
}

/** Whether nothing of the pod runs any more. */
function hasEnded({ status }: Wire<V1Pod>): boolean {
  return status?.phase === 'Failed' || status?.phase === 'Succeeded';
}

function isRunning({ status }: Wire<V1Pod>): boolean {
  const isReady = status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True');
  return isReady === true || status?.phase === 'Succeeded';
}

/** The diagnosis of a pod. Pure. */
export function diagnosisOf(evidence: Evidence): Diagnosis {
  const { pod, runtimeClasses } = evidence;
  const { name = '', namespace = '' } = pod.metadata ?? {};
  const node = pod.spec?.nodeName;
  const manifest = { ...pod, kind: 'Pod' };
  const isWindows = operatingSystemOf(manifest, runtimeClasses) === 'windows';
  const causes = isRunning(pod)
    ? []
    : [
        ...(isWindows ? [] : [linuxCause(evidence)]),
        ...errorCauses(evidence),
        ...findingsOf(manifest, runtimeClasses)
          .filter(({ grade }) => grade === 'fails')
          .map(({ message }) => ({ what: message })),
        ...(isWindows && node === undefined && !hasEnded(pod) ? placementCauses(evidence) : []),
        ...(isWindows && node !== undefined && !hasEnded(pod) ? addressCauses(evidence) : []),
      ];
  const [latest] = evidence.warnings;
  return {
    pod: `${namespace}/${name}`,
    phase: phaseOf(pod),
    ...(node !== undefined && { node }),
    causes: causes.length === 0 && latest !== undefined && !isRunning(pod) ? [{ what: sentence(latest) }] : causes,
  };
}

/** The phase, or why a container waits. */
function phaseOf({ metadata, status }: Wire<V1Pod>): string {
  if (metadata?.deletionTimestamp) return 'Terminating';
  const waiting = statusesOf(status).find(({ state }) => state?.waiting?.reason)?.state?.waiting?.reason;
  return waiting ?? status?.phase ?? 'Unknown';
}

function statusesOf(status: Wire<V1Pod>['status']) {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

function linuxCause({ pod, nodes }: Evidence): Cause {
  return nodes?.some(({ name }) => name === pod.spec?.nodeName)
    ? {
        what: 'The pod is a Linux pod, and it was scheduled to a Windows node.',
        remedy: 'Set nodeSelector kubernetes.io/os: linux.',
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
function errorCauses(evidence: Evidence): Cause[] {
  const { pod, warnings } = evidence;
  const said = messagesOf(pod);
  const known = explain([...said, ...warnings]);
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
  return [...own, ...ofContainers, ...unfinished];
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

/** What the exit codes of containers mean that are those of Windows. */
function exitCauses({ status }: Wire<V1Pod>): Cause[] {
  return statusesOf(status).flatMap(({ name, state, lastState }) => {
    const code = (state?.terminated ?? lastState?.terminated)?.exitCode;
    const known = code === undefined ? undefined : knownExitCode(code);
    if (!known) return [];
    const shown = `0x${known.code.toString(16).padStart(8, '0')}`;
    return [
      { what: `Container ${name} ${known.cause} (exit code ${code}, ${known.name}, ${shown}).`, remedy: known.remedy },
    ];
  });
}

/** Why the pod fits no Windows node. The scheduler's message has the rest, such as resources. */
function placementCauses({ pod, nodes, warnings }: Evidence): Cause[] {
  if (nodes?.length === 0)
    return [{ what: 'The cluster has no Windows nodes.', command: 'kubectl windowspool status' }];
  const groups = new Map<string, { readonly cause: Cause; readonly names: string[] }>();
  for (const node of nodes ?? []) {
    const cause = misfitOf(pod, node);
    if (!cause) continue;
    const group = groups.get(cause.what) ?? { cause, names: [] };
    group.names.push(node.name);
    groups.set(cause.what, group);
  }
  const misfits = [...groups.values()]
    .sort((a, b) => b.names.length - a.names.length)
    .map(({ cause, names }) => ({
      ...cause,
      what: `${names.length} of ${nodes?.length ?? 0} Windows nodes cannot run the pod: ${names[0]} ${cause.what}`,
    }));
  const scheduler = unscheduledIn(pod) ?? warnings.find((text) => text.startsWith(FAILED_SCHEDULING));
  return [
    ...(scheduler?.includes(`Insufficient ${POD_ADDRESSES}`) ? [outOfAddresses(pod, nodes ?? [])] : []),
    ...misfits,
    ...(scheduler ? [{ what: `The scheduler says: ${sentence(scheduler.replace(FAILED_SCHEDULING, ''))}` }] : []),
  ];
}

/** All addresses of the nodes that fit the pod are taken, or they have none. */
function outOfAddresses(pod: Wire<V1Pod>, nodes: readonly NodeRecord[]): Cause {
  const fitting = nodes.filter((node) => misfitOf(pod, node) === undefined);
  const having = fitting.map(({ name, allocatable }) => `${name} has ${allocatable[POD_ADDRESSES] ?? 'none'}`);
  const { cause, remedy } = knownErrorIn(`Insufficient ${POD_ADDRESSES}`) ?? { cause: '', remedy: '' };
  return { what: `${cause}${having.length > 0 ? ` ${having.slice(0, 3).join(', ')}.` : ''}`, remedy };
}

const FAILED_SCHEDULING = 'FailedScheduling: ';

/** Why the pod is not scheduled. A user who may read the pod may not always read its events. */
function unscheduledIn({ status }: Wire<V1Pod>): string | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return scheduled?.status === 'False' ? scheduled.message || undefined : undefined;
}

function misfitOf({ spec }: Wire<V1Pod>, node: NodeRecord): Cause | undefined {
  const pool = node.labels[POOL_KEY];
  const status = pool === undefined ? {} : { command: `kubectl windowspool status ${pool}` };
  for (const [key, value] of Object.entries(spec?.nodeSelector ?? {})) {
    const found = labelIn(node.labels, key);
    if (found === value) continue;
    const remedy =
      key === WINDOWS_BUILD_LABEL
        ? 'Use the RuntimeClass of that pool, or create a pool of the other version.'
        : undefined;
    return {
      what:
        found === undefined
          ? `has no label ${key}=${value}.`
          : `has the label ${key}=${found}, and the pod selects ${value}.`,
      ...(remedy && { remedy }),
    };
  }
  if (node.unschedulable) return { what: 'is cordoned.', ...status };
  if (node.ready !== 'True') return { what: 'is not Ready.', ...status };
  const tolerations = (spec?.tolerations ?? []) as readonly Toleration[];
  const [taint] = untolerated(node.taints, tolerations).filter(({ effect }) => effect !== 'PreferNoSchedule');
  if (!taint) return undefined;
  if (isOurs(taint))
    return {
      what: `is not verified: ${sentence(node.verified?.message ?? 'the operator has not verified it yet')}`,
      ...status,
    };
  return {
    what: `has the taint ${describeTaint(taint)}, which the pod does not tolerate.`,
    remedy: tolerationFor(taint.key),
  };
}

/**
 * Taints that say in which state a node is. A pod that tolerates one starts where it cannot run, or where it is evicted again: of Kubernetes and cloud providers, of
 * NodeReadinessRules, of Karpenter and the cluster-autoscaler, and of CSI drivers and networks that are not ready.
 */
const STATES: readonly (readonly [pattern: RegExp, remedy: string])[] = [
  [
    /^readiness\.k8s\.io\//,
    'A NodeReadinessRule sets it until the node has its conditions. Look at the conditions of the node and at the rule (kubectl get nodereadinessrules).',
  ],
  [
    /^node\.kubernetes\.io\/(?:disk|memory|pid)-pressure$/,
    'The node is low on this resource: remove what uses it, or use larger nodes.',
  ],
  [
    /^karpenter\.sh\/|^(?:ToBeDeletedBy|DeletionCandidateOf)ClusterAutoscaler$/,
    'An autoscaler is removing the node: the pod waits for another one.',
  ],
  [
    /^(?:[^/]+\.)?csi\.[^/]+\/|\/agent-not-ready$/,
    'The CSI driver or the agent on the node is not ready: look at its pods on the node.',
  ],
  [
    /^(?:[^/]+\.)?(?:kubernetes\.io|k8s\.io)\//,
    'It says in which state the node is: look at its conditions (kubectl describe node).',
  ],
];

/** What to do about a taint that the pod does not tolerate. */
function tolerationFor(key: string): string {
  if (key === 'os') return 'Set runtimeClassName: the RuntimeClass of the pool adds the toleration.';
  const state = STATES.find(([pattern]) => pattern.test(key));
  return state ? `Do not tolerate it. ${state[1]}` : 'If the pod may run on such nodes, add a toleration.';
}

/** The VPC webhook adds the limit when the pod is created; without it, the pod gets no address. */
function addressCauses({ pod, nodes }: Evidence): Cause[] {
  const node = nodes?.find(({ name }) => name === pod.spec?.nodeName);
  if (!node) return [];
  const isOnEks = node.allocatable[POD_ADDRESSES] !== undefined;
  const hasLimit = pod.spec?.containers?.some(({ resources }) => resources?.limits?.[POD_ADDRESSES] !== undefined);
  const isHost = pod.spec?.hostNetwork === true;
  return compact<Cause>([
    isOnEks &&
      !hasLimit &&
      !isHost && {
        what: `No container has the limit ${POD_ADDRESSES}, so the pod gets no IP address: the webhook of EKS adds it to pods with nodeSelector kubernetes.io/os: windows.`,
        remedy: 'Recreate the pod. If that does not help, check the webhook.',
        command: 'kubectl windowspool doctor',
      },
    node.verified?.status === 'False' && {
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
