/**
 * The port MachineSets: MachineDeployments, MachineSets, MachinePools and Machines of Cluster API (v1beta1 and v1beta2) and of OpenShift (machine.openshift.io). Their fields:
 * https://github.com/kubernetes-sigs/cluster-api/tree/main/api/core and https://github.com/openshift/api/tree/master/machine/v1beta1
 */

import type { V1LabelSelector, V1ObjectMeta } from '@kubernetes/client-node';
import type { ListWatch } from '../runtime/ports.ts';
import type { MachineSetReference, NodeSelector } from '../windowspool/api/api.gen.ts';
import {
  MANAGED_BY,
  MANAGED_BY_LABEL,
  POOL_KEY,
  TEMPLATE_HASH_ANNOTATION,
  USABLE_BY_ANNOTATION,
  VERIFIED_CONDITION,
} from '../windowspool/api/labels.ts';
import type { CallError } from '../windowspool/ports/callResult.ts';
import { foreignMessage, foreignText } from '../windowspool/ports/foreignText.ts';
import type { HealthCheck, Instances, Machine, MachineSet, MachineSets } from '../windowspool/ports/machines.ts';
import { type KubernetesClient, PATCH } from './client.ts';
import { jsonDecoder } from './decoder.ts';
import { deleteObject } from './deletion.ts';
import { ignoreNotFound, toCallResult } from './errors.ts';
import { createListWatch, reportingListWatch } from './listWatch.ts';
import { type Condition, commonOf, controllerOf, epochOf, type Wire } from './objects.ts';
import { readPages } from './pages.ts';
import { apiPath } from './paths.ts';

/** The resources of the kinds, in the paths of their API groups. */
export const MACHINE_RESOURCES = {
  MachineDeployment: 'machinedeployments',
  MachineSet: 'machinesets',
  MachinePool: 'machinepools',
  Machine: 'machines',
  MachineHealthCheck: 'machinehealthchecks',
} as const;

/** A kind of these objects. */
export type MachineKind = keyof typeof MACHINE_RESOURCES;

/** A collection of them: one kind in one namespace. */
export interface MachineCollection {
  readonly apiVersion: MachineSetReference['apiVersion'];
  readonly kind: MachineKind;
  readonly namespace: string;
}

const OPENSHIFT = 'machine.openshift.io/v1beta1';
/** Objects in one namespace. No cluster has more nodes. */
const MOST = 20_000;
const PAGE_SIZE = 250;

/** What is read of all of these kinds and versions. A field that a version does not have is absent. */
interface MachineObject {
  readonly metadata?: V1ObjectMeta;
  readonly spec?: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly clusterName?: string;
    readonly providerID?: string;
    readonly providerIDList?: readonly string[] | null;
    readonly template?: {
      readonly spec?: { readonly infrastructureRef?: { readonly kind?: string; readonly name?: string } };
    };
    readonly readinessGates?: readonly { readonly conditionType?: string }[] | null;
    readonly rollout?: { readonly strategy?: { readonly type?: string } };
    readonly strategy?: { readonly type?: string };
  };
  readonly status?: {
    readonly phase?: string;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly upToDateReplicas?: number;
    readonly observedGeneration?: number;
    readonly nodeRef?: { readonly name?: string };
    readonly nodeRefs?: readonly { readonly name?: string }[] | null;
    readonly conditions?: readonly Condition[] | null;
    readonly v1beta2?: { readonly conditions?: readonly Condition[] | null };
    readonly deprecated?: { readonly v1beta1?: Failure & { readonly conditions?: readonly Condition[] | null } };
    readonly authoritativeAPI?: string;
  } & Failure &
    OpenShiftError;
}

interface Failure {
  readonly failureReason?: string;
  readonly failureMessage?: string;
}

interface OpenShiftError {
  readonly errorReason?: string;
  readonly errorMessage?: string;
}

/** A MachineDeployment, MachineSet or MachinePool, from any of the versions. */
export function machineSetOf(
  kind: MachineKind,
  { metadata = {}, spec = {}, status = {} }: Wire<MachineObject>,
): MachineSet {
  const { annotations = {}, labels = {}, generation = 0 } = metadata;
  const { replicas = 1 } = spec;
  const isSeen = (status.observedGeneration ?? 0) >= generation;
  const upToDate = status.upToDateReplicas ?? status.updatedReplicas;
  const isRolledByUser = (spec.rollout?.strategy ?? spec.strategy)?.type === 'OnDelete';
  // A MachineSet of its own never replaces Machines.
  const outdated =
    kind === 'MachineDeployment' && isSeen && upToDate !== undefined
      ? Math.max(0, (status.replicas ?? 0) - upToDate)
      : 0;
  return {
    ...controlledOf(metadata),
    replicas,
    outdated,
    isRollingOut: outdated > 0 && !isRolledByUser,
    isOnDelete: isRolledByUser,
    isObserved: isSeen,
    pausedBy: pausedBy(annotations, spec.paused === true, status),
    sizedBy: sizedBy(metadata),
    usableBy: foreignText(annotations[USABLE_BY_ANNOTATION] ?? ''),
    createdFor: labels[MANAGED_BY_LABEL] === MANAGED_BY ? foreignText(labels[POOL_KEY] ?? '') : '',
    templateHash: foreignText(annotations[TEMPLATE_HASH_ANNOTATION] ?? ''),
    clusterName: foreignText(spec.clusterName ?? ''),
    infrastructureTemplate: infrastructureTemplateOf(spec),
    problem: problemOf(
      kind === 'MachinePool' ? { ...status, conditions: v1beta1ConditionsOf(status) } : status,
      SET_CONDITIONS,
    ),
    ...(kind === 'MachinePool' && { instances: instancesOf(spec, status) }),
  };
}

function infrastructureTemplateOf({ template }: NonNullable<Wire<MachineObject>['spec']>): string {
  const { kind, name } = template?.spec?.infrastructureRef ?? {};
  return kind && name ? foreignText(`${kind}/${name}`) : '';
}

/** https://github.com/kubernetes-sigs/cluster-api/blob/main/core/reconcilers/machinepool/machinepool_controller_noderef.go */
function instancesOf(
  { providerIDList }: NonNullable<Wire<MachineObject>['spec']>,
  status: NonNullable<Wire<MachineObject>['status']>,
): Instances {
  const ready = v1beta1ConditionsOf(status).find(({ type }) => type === 'ReplicasReady');
  return {
    providerIDs: (providerIDList ?? []).map((id) => foreignText(id)),
    nodes: (status.nodeRefs ?? []).map(({ name = '' }) => foreignText(name)).filter((name) => name !== ''),
    incompleteSince: ready?.status === 'False' ? epochOf(ready.lastTransitionTime) : undefined,
  };
}

/** What sets the size of a MachinePool on the side of the infrastructure; the value `false` is none: https://cluster-api.sigs.k8s.io/reference/api/labels-and-annotations */
const REPLICAS_MANAGED_BY = 'cluster.x-k8s.io/replicas-managed-by';

/** The topology of a Cluster restores the number that it has: https://cluster-api.sigs.k8s.io/tasks/experimental-features/cluster-class/ */
function sizedBy({ annotations = {}, labels = {} }: Wire<V1ObjectMeta>): string {
  const { [REPLICAS_MANAGED_BY]: manager = 'false' } = annotations;
  const isScaled = Object.keys(annotations).some((key) => key.endsWith('/cluster-api-autoscaler-node-group-min-size'));
  if (isScaled || manager !== 'false') return 'an autoscaler';
  return 'topology.cluster.x-k8s.io/owned' in labels ? 'the topology of its Cluster' : '';
}

/** A Machine from any of the versions. */
export function machineOf({ metadata = {}, spec = {}, status = {} }: Wire<MachineObject>): Machine {
  return {
    ...controlledOf(metadata),
    createdAt: epochOf(metadata.creationTimestamp),
    node: foreignText(status.nodeRef?.name ?? ''),
    providerID: foreignText(spec.providerID ?? ''),
    labels: metadata.labels ?? {},
    hasReadinessGate: (spec.readinessGates ?? []).some(({ conditionType }) => conditionType === VERIFIED_CONDITION),
    verified: foreignText(conditionsOf(status).find(({ type }) => type === VERIFIED_CONDITION)?.status ?? ''),
    isOutdated: conditionsOf(status).some(isNotUpToDate),
    hasFailed: status.phase === 'Failed' || failureOf(status) !== undefined,
    problem: problemOf(status, MACHINE_CONDITIONS),
    goesAtSize: markedSize(metadata.annotations),
    drainExcludedBy: drainExcludedBy(metadata.annotations),
  };
}

/** Its other reason is Updating: the Machine is changed in place. https://github.com/kubernetes-sigs/cluster-api/blob/main/api/core/v1beta2/machine_types.go */
function isNotUpToDate({ type, status, reason }: Condition): boolean {
  return type === 'UpToDate' && status === 'False' && reason === 'NotUpToDate';
}

/** The values of the marks, which users set to other values: their marks are theirs. Controllers ignore the value. */
const DRAINED_MARK = 'winpool.dev';
const markFor = (size: number) => `winpool.dev-${size}`;

function markedSize(annotations: Readonly<Record<string, string>> = {}): number | undefined {
  const values = [CLUSTER_API_MARKS, OPENSHIFT_MARKS].map(({ goesFirst }) => annotations[goesFirst] ?? '');
  const [, size] = /^winpool\.dev-(\d{1,5})$/.exec(values.join('')) ?? [];
  return size === undefined ? undefined : Number(size);
}

function drainExcludedBy(annotations: Readonly<Record<string, string>> = {}): Machine['drainExcludedBy'] {
  const [value] = [CLUSTER_API_MARKS, OPENSHIFT_MARKS].flatMap(({ isDrained }) => annotations[isDrained] ?? []);
  if (value === undefined) return 'nobody';
  return value === DRAINED_MARK ? 'operator' : 'user';
}

/** A MachineHealthCheck from any of the versions. */
export function healthCheckOf({ metadata = {}, spec = {} }: Wire<HealthCheckObject>): HealthCheck {
  const { name, uid, resourceVersion } = commonOf(metadata);
  const { selector = {}, nodeStartupTimeout, checks } = spec;
  const seconds = checks?.nodeStartupTimeoutSeconds ?? secondsOf(nodeStartupTimeout) ?? DEFAULT_STARTUP_SECONDS;
  return {
    name,
    uid,
    resourceVersion,
    selector: selector as NodeSelector,
    startupTimeoutMs: seconds > 0 ? seconds * 1_000 : undefined,
  };
}

/** Of Cluster API and OpenShift. */
const DEFAULT_STARTUP_SECONDS = 600;

/** The seconds in a duration of Go, such as `10m0s`; undefined if there is none. */
function secondsOf(text: string | undefined): number | undefined {
  const parts = [...(text ?? '').matchAll(/(\d+)(h|m|s)/g)];
  const unit = { h: 3_600, m: 60, s: 1 } as const;
  if (text === undefined) return undefined;
  return parts.reduce((sum, [, amount, of]) => sum + Number(amount) * unit[of as keyof typeof unit], 0);
}

interface HealthCheckObject {
  readonly metadata?: V1ObjectMeta;
  readonly spec?: {
    readonly selector?: V1LabelSelector;
    readonly nodeStartupTimeout?: string;
    readonly checks?: { readonly nodeStartupTimeoutSeconds?: number };
  };
}

function controlledOf(metadata: Wire<V1ObjectMeta>) {
  return { ...commonOf(metadata), controllerUid: controllerOf(metadata)?.uid ?? '' };
}

/** https://cluster-api.sigs.k8s.io/reference/labels_and_annotations, and for OpenShift: MachineAuthority in its API. */
function pausedBy(
  annotations: Readonly<Record<string, string>>,
  isPaused: boolean,
  status: NonNullable<Wire<MachineObject>['status']>,
): string {
  if (isPaused) return 'spec.paused is true';
  if ('cluster.x-k8s.io/paused' in annotations) return 'it has the annotation cluster.x-k8s.io/paused';
  const { authoritativeAPI } = status;
  if (authoritativeAPI === 'ClusterAPI' || authoritativeAPI === 'Migrating')
    return `status.authoritativeAPI is ${authoritativeAPI}, so the MachineSet of cluster.x-k8s.io with its name has its Machines`;
  const paused = conditionsOf(status).find(({ type, status: is }) => type === 'Paused' && is === 'True');
  return paused ? foreignMessage(paused.message || 'its condition Paused is True') : '';
}

/** Conditions that say what is wrong, the first ones first. Other conditions repeat them, or are no problem while they are False. */
const SET_CONDITIONS = ['MachinesCreated', 'MachinesReady', 'Available', 'Ready'];
const MACHINE_CONDITIONS = [
  'InfrastructureReady',
  'BootstrapConfigReady',
  'BootstrapReady',
  'MachineCreated',
  'InstanceExists',
  'NodeHealthy',
  'Ready',
];

function problemOf(status: NonNullable<Wire<MachineObject>['status']>, types: readonly string[]): string {
  const failure = failureOf(status);
  if (failure) return foreignMessage(failure);
  const wrong = conditionsOf(status).filter(({ status: is, message }) => is === 'False' && message);
  const found = types.flatMap((type) => wrong.find((condition) => condition.type === type) ?? []);
  return foreignMessage(found[0]?.message ?? '');
}

function failureOf(status: NonNullable<Wire<MachineObject>['status']>): string | undefined {
  const { failureReason, failureMessage } = { ...status.deprecated?.v1beta1, ...status };
  return failureMessage ?? status.errorMessage ?? failureReason ?? status.errorReason;
}

/** Those of v1beta2, also where v1beta1 shows them. */
function conditionsOf(status: NonNullable<Wire<MachineObject>['status']>): readonly Condition[] {
  return status.v1beta2?.conditions ?? status.conditions ?? [];
}

/** Those of v1beta1, also where v1beta2 shows them: a MachinePool has no others yet. */
function v1beta1ConditionsOf(status: NonNullable<Wire<MachineObject>['status']>): readonly Condition[] {
  return status.deprecated?.v1beta1?.conditions ?? status.conditions ?? [];
}

/** Indexes of a store of Machines or MachineSets. */
export const machineIndexes = {
  controller: ({ controllerUid }: { readonly controllerUid: string }) => [controllerUid],
};

/** Lists and watches a collection. @param onResult receives the error of a list or watch that failed, and undefined after a success */
export function machineListWatch<T>(
  client: KubernetesClient,
  { apiVersion, kind, namespace }: MachineCollection,
  recordOf: (object: never) => T,
  onResult: (error?: CallError) => void,
): ListWatch<T> {
  const path = apiPath(apiVersion, MACHINE_RESOURCES[kind], { namespace });
  const source = createListWatch({ client, path, decoder: jsonDecoder(recordOf) });
  return reportingListWatch(source, `watch ${nameOf({ apiVersion, kind, namespace })}`, onResult);
}

const nameOf = ({ apiVersion, kind, namespace }: MachineCollection) =>
  `${MACHINE_RESOURCES[kind]}.${apiVersion.split('/')[0]} in ${namespace}`;

/** The port, except for what is cached. */
export function createMachineSets(client: KubernetesClient): Omit<MachineSets, 'of'> {
  const pathOf = ({ apiVersion, namespace }: MachineSetReference, kind: MachineKind, name?: string) =>
    apiPath(apiVersion, MACHINE_RESOURCES[kind], { namespace, name });
  const list = <T>(
    ref: MachineSetReference,
    kind: MachineKind,
    keep: (object: Wire<MachineObject>) => T | undefined,
    signal: AbortSignal,
  ) => readPages<MachineObject, T>(client, pathOf(ref, kind), { limit: PAGE_SIZE, most: MOST, signal }, keep);
  const patchMachine = async (
    ref: MachineSetReference,
    { name, uid }: Machine,
    annotations: Readonly<Record<string, string | null>>,
    signal: AbortSignal,
  ) => {
    // The uid is a precondition.
    const body = { metadata: { uid, annotations } };
    const options = { body, contentType: PATCH.merge, signal };
    await client.request('PATCH', pathOf(ref, 'Machine', name), options);
  };
  return {
    read: (ref, signal) =>
      toCallResult(`get ${nameOf(ref)}`, signal, async () => {
        const found = await ignoreNotFound(
          client.request<MachineObject>('GET', pathOf(ref, ref.kind, ref.name), { signal }),
        );
        if (!found) return undefined;
        const set = machineSetOf(ref.kind, found);
        const sets =
          ref.kind === 'MachineDeployment'
            ? await list(ref, 'MachineSet', (object) => controlled(machineSetOf('MachineSet', object), [set]), signal)
            : [set];
        const machines = await list(ref, 'Machine', (object) => controlled(machineOf(object), sets), signal);
        return { set, machines, sets: sets.length };
      }),
    scale: (ref, { name, resourceVersion }, replicas, signal) =>
      toCallResult(`patch ${MACHINE_RESOURCES[ref.kind]}/scale`, signal, async () => {
        const body = { metadata: { resourceVersion }, spec: { replicas } };
        await client.request('PATCH', `${pathOf(ref, ref.kind, name)}/scale`, {
          body,
          contentType: PATCH.merge,
          signal,
        });
      }),
    markForDeletion: (ref, machine, size, signal) =>
      toCallResult('patch machines', signal, () => {
        const { goesFirst, isDrained } = annotationsOf(ref);
        const drained = machine.drainExcludedBy === 'nobody' && { [isDrained]: DRAINED_MARK };
        return patchMachine(ref, machine, { [goesFirst]: markFor(size), ...drained }, signal);
      }),
    unmark: (ref, machine, signal) =>
      toCallResult('patch machines', signal, async () => {
        const { goesFirst, isDrained } = annotationsOf(ref);
        const first = machine.goesAtSize !== undefined && { [goesFirst]: null };
        const drained = machine.drainExcludedBy === 'operator' && { [isDrained]: null };
        await ignoreNotFound(patchMachine(ref, machine, { ...first, ...drained }, signal));
      }),
    report: (ref, { name, uid }, condition, signal) =>
      toCallResult('patch machines/status', signal, async () => {
        const conditions = [
          { type: VERIFIED_CONDITION, ...condition, lastTransitionTime: new Date(client.now()).toISOString() },
        ];
        // In v1beta1, the conditions of v1beta2 have a field of their own.
        const status = ref.apiVersion.endsWith('/v1beta1') ? { v1beta2: { conditions } } : { conditions };
        const body = {
          apiVersion: ref.apiVersion,
          kind: 'Machine',
          metadata: { name, namespace: ref.namespace, uid },
          status,
        };
        const query = { fieldManager: MANAGED_BY, force: true };
        await client.request('PATCH', `${pathOf(ref, 'Machine', name)}/status`, {
          query,
          body,
          contentType: PATCH.apply,
          signal,
        });
      }),
    delete: (ref, machine, signal) =>
      toCallResult('delete machines', signal, async () => {
        // First, because its controller can start to drain it at once.
        if (machine.drainExcludedBy === 'nobody')
          await ignoreNotFound(patchMachine(ref, machine, { [annotationsOf(ref).isDrained]: DRAINED_MARK }, signal));
        await deleteObject(client, pathOf(ref, 'Machine', machine.name), machine.uid, signal);
      }),
  };
}

/** The object if one of the others controls it. */
function controlled<T extends Machine | MachineSet>(object: T, by: readonly MachineSet[]): T | undefined {
  return by.some(({ uid }) => uid === object.controllerUid) ? object : undefined;
}

const CLUSTER_API_MARKS = {
  goesFirst: 'cluster.x-k8s.io/delete-machine',
  isDrained: 'machine.cluster.x-k8s.io/exclude-node-draining',
};

const OPENSHIFT_MARKS = {
  goesFirst: 'machine.openshift.io/delete-machine',
  isDrained: 'machine.openshift.io/exclude-node-draining',
};

/** An empty value is ignored by OpenShift: https://github.com/openshift/machine-api-operator/blob/main/pkg/controller/machineset/delete_policy.go */
function annotationsOf({ apiVersion }: MachineSetReference) {
  return apiVersion === OPENSHIFT ? OPENSHIFT_MARKS : CLUSTER_API_MARKS;
}
