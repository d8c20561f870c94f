/** How many nodes the object of a pool should have, and which of them may leave. Pure. */
import type { Capacity, ServingCapacity } from '../../model/capacity.ts';
import type { MachineSet } from '../../ports/machines.ts';
import { machinesIn } from '../../rules/nodeSource.ts';
import { count } from '../../util/words.ts';
import { instancesOf, notRemediable, notReplaceable } from './instances.ts';
import { isUsable, type MachinesState, notUsable, objectName, setOf } from './machinesState.ts';
import { rolloutOf } from './rollout.ts';

/** What the object of the pool has. Machines without a node are remediated by a MachineHealthCheck, and not by the pool. */
export function machinesCapacity(s: MachinesState, rollout = rolloutOf(s)): Capacity {
  const set = setOf(s);
  const whyNone = whyNoneMayLeave(s, set);
  return {
    desired: set?.replicas,
    size: set?.replicas,
    serving: set && whyNone === '' ? serving(s, set) : undefined,
    whyNone,
    ...refusalOf(s, set),
    ...otherRemediation(s),
    ...(rollout?.waitsFor === 'nothing' && { outdated: rollout.nodes }),
    unjoined: [],
  };
}

function refusalOf(s: MachinesState, set: MachineSet | undefined): Pick<Capacity, 'refusal'> {
  if (instancesOf(s)) return { refusal: notReplaceable(s) };
  return set && !isUsable(s) ? { refusal: notUsable(s) } : {};
}

function serving(s: MachinesState, set: MachineSet): ServingCapacity {
  const { total, unavailable } = s.poolNodes;
  const whyNotRemoved = whyNoneIsRemoved(s, set);
  return { total, unavailable, desired: set.replicas, ...(whyNotRemoved && { whyNotRemoved }) };
}

/** Two controllers that replace the same nodes would exceed the limits of both. */
function otherRemediation(s: MachinesState): Pick<Capacity, 'halted'> {
  if (instancesOf(s)) return { halted: notRemediable(s) };
  const { pool, machines } = s;
  const [first] = (machines.kind === 'seen' && machines.healthChecks) || [];
  if (!first) return {};
  const { namespace } = machinesIn(pool.spec).ref;
  const message = `MachineHealthCheck ${namespace}/${first.name} replaces Machines of this pool, so the operator replaces none of the failing nodes. Set remediation.policy: Report, or exclude these Machines from the MachineHealthCheck.`;
  return { halted: { reason: 'RemediatedByHealthCheck', message } };
}

function whyNoneMayLeave(s: MachinesState, set: MachineSet | undefined): string {
  const object = objectName(s);
  if (s.machines.kind === 'unknown') return `${object} cannot be read`;
  if (!set) return `${object} does not exist`;
  if (set.deleting) return `${object} is being deleted`;
  if (set.pausedBy !== '') return `${object} is paused: ${set.pausedBy}`;
  return set.isRollingOut ? `${object} is replacing its Machines, because its template has changed` : '';
}

/** A size that another user or tool declares must not be changed. */
function whyNoneIsRemoved(s: MachinesState, set: MachineSet): string | undefined {
  const { desiredSize } = machinesIn(s.pool.spec);
  if (desiredSize !== undefined) return `machines.desiredSize is ${desiredSize}. Remove that field first`;
  if (set.sizedBy !== '') return `${set.sizedBy} sets the size of ${objectName(s)}`;
  // With the strategy OnDelete, the oldest MachineSet shrinks first: mdutil and rolloutPlanner of Cluster API.
  const object = objectName(s);
  return set.outdated > 0
    ? `its controller would delete another Machine, because ${count(set.outdated, 'Machine')} of ${object} ${set.outdated === 1 ? 'is' : 'are'} made from an earlier template`
    : undefined;
}
