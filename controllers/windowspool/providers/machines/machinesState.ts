/** What a pool of machines adds to the observed state, and questions about it. Pure. */
import { USABLE_BY_ANNOTATION } from '../../api/labels.ts';
import type { Capacity } from '../../model/capacity.ts';
import type { Derived } from '../../model/due.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Machine, MachineSet, MachinesView } from '../../ports/machines.ts';
import { machinesIn } from '../../rules/nodeSource.ts';

/** The observed state of a pool of machines. */
export interface MachinesState extends ObservedState {
  readonly machines: MachinesView;
}

/** The same with what is due. */
export interface MachinesDerived extends Derived {
  readonly machines: MachinesView;
}

/** The object of the pool; undefined if it is not known or does not exist. */
export function setOf({ machines }: Pick<MachinesState, 'machines'>): MachineSet | undefined {
  return machines.kind === 'seen' ? machines.set : undefined;
}

/** The Machines that are not being deleted. */
export function liveMachines({ machines }: Pick<MachinesState, 'machines'>): readonly Machine[] {
  return machines.kind === 'seen' ? machines.machines.filter(({ deleting }) => !deleting) : [];
}

/** Whether the pool may change the size of the object and delete its Machines: those who can only edit pools must not be able to shrink any object. */
export function isUsable({ pool, machines }: MachinesState): boolean {
  return machines.kind === 'seen' && machines.set.usableBy === pool.metadata.name;
}

/** That the pool may not, and the command that allows it. */
export function notUsable({ pool }: MachinesState): NonNullable<Capacity['refusal']> {
  const { name } = pool.metadata;
  const { kind, apiVersion, namespace, name: object } = machinesIn(pool.spec).ref;
  const resource = `${kind.toLowerCase()}.${apiVersion.split('/')[0]}`;
  const why = `${objectName({ pool })} does not allow WindowsPool ${name} to change its size or delete its Machines`;
  const remedy = `Allow it: kubectl -n ${namespace} annotate ${resource} ${object} ${USABLE_BY_ANNOTATION}=${name} --overwrite`;
  return { reason: 'MachineSetNotUsable', why, remedy };
}

/** `MachineDeployment clusters/windows`. */
export function objectName({ pool }: Pick<ObservedState, 'pool'>): string {
  const { kind, namespace, name } = machinesIn(pool.spec).ref;
  return `${kind} ${namespace}/${name}`;
}
