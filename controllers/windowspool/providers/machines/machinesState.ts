/** What a pool of machines adds to the observed state, and questions about it. Pure. */

import type { WindowsPool } from '../../api/api.gen.ts';
import { USABLE_BY_ANNOTATION } from '../../api/labels.ts';
import type { Capacity } from '../../model/capacity.ts';
import type { Opening, ReleaseFailure } from '../../model/disruption.ts';
import type { Derived, Due } from '../../model/due.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Machine, MachineSet, MachinesView } from '../../ports/machines.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { machinesIn } from '../../rules/nodeSource.ts';
import { apiGroupOf } from '../../util/apiGroup.ts';

/** What is due for Machines of an earlier template, and what it waits for. */
export type Rollout = {
  readonly outdated: number;
  readonly leftOut: readonly NodeRecord[];
} /** `unknown`: the controller does not report which Machines they are. */ & (
  | { readonly waitsFor: 'user' | 'unknown' | 'permission' }
  /** `fault`: why a window never opens, in sentences. */
  | { readonly waitsFor: 'window'; readonly opening?: Opening; readonly fault?: string }
  /** A Machine of the current template whose node is not verified yet; absent: it does not exist yet. */
  | { readonly waitsFor: 'verification'; readonly machine?: Machine }
  /** A node of this template fails in another pool. */
  | { readonly waitsFor: 'otherPool'; readonly failure: ReleaseFailure }
  /** `why`: which Machine of the current template fails, in a sentence. */
  | { readonly waitsFor: 'failure'; readonly why: string }
  /** The nodes may be replaced, as far as the budget allows. */
  | { readonly waitsFor: 'nothing'; readonly nodes: readonly NodeRecord[] }
);

/** What is due for a pool of machines. */
export interface DueMachines extends Due {
  /** Absent: all Machines are made from the current template. */
  readonly rollout?: Rollout;
}

/** In status.tracking.usedMachineTemplate once neither the object of a deleted pool nor an infrastructure template is left. */
export const DELETED = 'Deleted';

/** The observed state of a pool of machines. */
export interface MachinesState extends ObservedState {
  readonly machines: MachinesView;
  /** As status.tracking.usedMachineTemplate. */
  readonly usedTemplate?: string | undefined;
}

/** The same with what is due. */
export interface MachinesDerived extends Derived {
  readonly machines: MachinesView;
  readonly usedTemplate?: string | undefined;
  readonly due: DueMachines;
}

/** Whether the Machine has this node: their provider IDs are equal, and a node cannot change its own. */
export function isOf(machine: Machine, { name, providerID }: Pick<NodeRecord, 'name' | 'providerID'>): boolean {
  return machine.node === name && providerID !== '' && machine.providerID === providerID;
}

/** The object of the pool; undefined if it is not known or does not exist. */
export function setOf({ machines }: Pick<MachinesState, 'machines'>): MachineSet | undefined {
  return machines.kind === 'seen' ? machines.set : undefined;
}

/** The Machines that are not being deleted. */
export function liveMachines({ machines }: Pick<MachinesState, 'machines'>): readonly Machine[] {
  return machines.kind === 'seen' ? machines.machines.filter(({ deleting }) => !deleting) : [];
}

/** The Machines that are made from the current template. */
export function currentMachines(s: Pick<MachinesState, 'machines'>): readonly Machine[] {
  return liveMachines(s).filter(({ isOutdated }) => !isOutdated);
}

/** Whether a Machine has had no node for longer than a node takes to join. */
export function isLate(
  { node, createdAt }: Machine,
  { now, settings }: Pick<ObservedState, 'now' | 'settings'>,
): boolean {
  return node === '' && now - createdAt >= settings.joinGraceMs;
}

/** Whether the pool may change the size of the object and delete its Machines: those who can only edit pools must not be able to shrink any object. */
export function isUsable(s: MachinesState): boolean {
  const { pool, machines } = s;
  if (machinesIn(pool.spec).template) return isOwned(s);
  return machines.kind === 'seen' && machines.set.usableBy === pool.metadata.name;
}

/** Whether the operator created the object for the pool. */
export function isOwned({ pool, machines }: Pick<MachinesState, 'pool' | 'machines'>): boolean {
  return machines.kind === 'seen' && isCreatedFor(pool, machines.set);
}

/** Whether the operator created this object for the pool. The operator of another Cluster can have a pool of the same name, and objects in the same namespace. */
export function isCreatedFor({ metadata, spec }: WindowsPool, { createdFor, clusterName }: MachineSet): boolean {
  const { clusterName: wanted } = machinesIn(spec).template?.spec ?? {};
  return createdFor === metadata.name && (typeof wanted !== 'string' || wanted === clusterName);
}

/** That another tool or pool has an object of this name, and what to do. */
export function notOwned(s: MachinesState): NonNullable<Capacity['refusal']> {
  const set = setOf(s);
  const isOfCluster = set?.createdFor === s.pool.metadata.name;
  const why = isOfCluster
    ? `${objectName(s)} belongs to Cluster ${set.clusterName}, and machines.template.spec.clusterName has another one`
    : `${objectName(s)} exists, but WindowsPool ${s.pool.metadata.name} did not create it`;
  const remedy =
    'To use it, create another pool with machines.ref. Otherwise, delete it, or create another pool for another name';
  return { reason: 'MachineSetNotOwned', why, remedy };
}

/** That the pool may not, and the command that allows it. */
export function notUsable(s: MachinesState): NonNullable<Capacity['refusal']> {
  if (machinesIn(s.pool.spec).template) return notOwned(s);
  const { name } = s.pool.metadata;
  const { kind, apiVersion, name: object } = machinesIn(s.pool.spec).ref;
  const resource = `${kind.toLowerCase()}.${apiGroupOf(apiVersion)}`;
  const why = `${objectName(s)} does not allow WindowsPool ${name} to change its size or delete its Machines`;
  const remedy = `Allow it: ${kubectlFor(s)} annotate ${resource} ${object} ${USABLE_BY_ANNOTATION}=${name} --overwrite`;
  return { reason: 'MachineSetNotUsable', why, remedy };
}

/** `MachineDeployment clusters/windows`, and where it is unless it is in the cluster of the pool. */
export function objectName({ pool, settings }: Pick<ObservedState, 'pool' | 'settings'>): string {
  const { kind, namespace, name } = machinesIn(pool.spec).ref;
  return `${kind} ${namespace}/${name}${settings.managesElsewhere ? ' in the management cluster' : ''}`;
}

/** The beginning of a command for it: `kubectl -n clusters`. */
export function kubectlFor({ pool, settings }: Pick<ObservedState, 'pool' | 'settings'>): string {
  return `kubectl ${settings.managesElsewhere ? '--context MANAGEMENT ' : ''}-n ${machinesIn(pool.spec).ref.namespace}`;
}
