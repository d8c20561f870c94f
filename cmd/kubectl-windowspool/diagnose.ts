/** `kubectl windowspool diagnose`: why a pod does not run on Windows. */
import type { EventsV1Event, V1Pod } from '@kubernetes/client-node';
import { ignoreNotFound } from '../../controllers/kubernetes/errors.ts';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { apiPath } from '../../controllers/kubernetes/paths.ts';
import { POOL_KEY } from '../../controllers/windowspool/api/labels.ts';
import { withCause } from '../../controllers/windowspool/knownErrors/explain.ts';
import { POD_ADDRESSES, parseKernelVersion } from '../../controllers/windowspool/nodes/windowsVersions.ts';
import { compact, joined, sentence } from '../../controllers/windowspool/util/words.ts';
import { findingsOf, operatingSystemOf } from '../../controllers/workloads/lint.ts';
import type { Cluster } from './cluster.ts';
import type { PluginCommand } from './command.ts';
import { type Cause, type Diagnosis, type Evidence, type NodeWarning, statusesOf } from './diagnosis.ts';
import { EXIT, Failure, suggestion, unlessForbidden } from './failure.ts';
import { outputOption } from './flags.ts';
import { type OutputFormat, printResult, printSkipped } from './output.ts';
import { currentWarnings, errorCauses, PULLING } from './podErrors.ts';
import { PLACEMENT_REASONS, placementCauses } from './podPlacement.ts';
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
  const [runtimeClasses, nodes, warnings, nodeWarnings] = await Promise.all([
    unlessForbidden(runtimeClassesOf(cluster), [], 'The RuntimeClasses are unknown', skipped),
    unlessForbidden(cluster.nodes(), undefined, 'The nodes are unknown', skipped),
    unlessForbidden(
      warningsOf(cluster, namespace, pod.metadata?.uid ?? ''),
      [],
      'The events of the pod are unknown',
      skipped,
    ),
    unlessForbidden(nodeWarningsOf(cluster), [], 'The events of the nodes are unknown', skipped),
  ]);
  printSkipped(terminal, skipped.sort());
  const diagnosis = diagnosisOf({ pod, runtimeClasses, nodes, warnings, nodeWarnings });
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

/** The problems in the events of a pod. */
async function warningsOf(cluster: Cluster, namespace: string, uid: string): Promise<readonly string[]> {
  const path = apiPath('events.k8s.io/v1', 'events', { namespace });
  const query = { fieldSelector: `regarding.uid=${uid}`, limit: String(MOST_EVENTS) };
  return problemsIn((await cluster.get<{ items?: EventsV1Event[] }>(path, query)).items ?? []);
}

/**
 * The messages of the warnings, the latest first. Two normal events count as well: that the cluster-autoscaler adds no node for the pod, and that the node is pulling
 * an image, which is over as soon as a later event exists.
 */
export function problemsIn(events: readonly Wire<EventsV1Event>[]): readonly string[] {
  return events
    .toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))
    .filter(
      ({ type, reason = '' }, index) =>
        type === 'Warning' || PLACEMENT_REASONS.has(reason) || (index === 0 && reason === PULLING),
    )
    .map(({ reason = '', note = '' }) => `${reason}: ${note}`);
}

/** The warnings of nodes, whose events are in the namespace default. */
async function nodeWarningsOf(cluster: Cluster): Promise<readonly NodeWarning[]> {
  const path = apiPath('events.k8s.io/v1', 'events', { namespace: 'default' });
  const query = { fieldSelector: 'regarding.kind=Node,type=Warning', limit: String(MOST_EVENTS) };
  const { items = [] } = await cluster.get<{ items?: EventsV1Event[] }>(path, query);
  return items
    .toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))
    .map(({ regarding, reason = '', note = '' }) => ({ node: regarding?.name ?? '', text: `${reason}: ${note}` }));
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

/** What is wrong with the node of the pod: then, what the status of the pod says is old. */
function nodeCauses({ pod, nodes }: Evidence, isWindows: boolean): Cause[] {
  const { nodeName } = pod.spec ?? {};
  const node = nodes?.find(({ name }) => name === nodeName);
  if (hasEnded(pod)) return [];
  if (node && node.ready !== 'True') {
    const pool = node.labels[POOL_KEY];
    const command = pool === undefined ? `kubectl describe node ${node.name}` : `kubectl windowspool status ${pool}`;
    const why = node.readyMessage === '' ? node.ready : withCause(node.readyMessage);
    return [{ what: `Its node is not Ready: ${sentence(why)}`, command }];
  }
  if (node || !isWindows || nodes === undefined || nodeName === undefined) return [];
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
      what: `Finalizers keep the pod: ${joined(finalizers)}. The controllers that set them must remove them.`,
      remedy: 'Look at those controllers. Removing a finalizer by hand can leave behind what it protects.',
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
