/** The rule for the number of Machines. */
import type { RuleResult } from '../../model/decisions.ts';
import type { Step } from '../../model/steps.ts';
import { machinesIn } from '../../rules/nodeSource.ts';
import { waitFor } from '../../rules/ruleChains.ts';
import { isUsable, type MachinesDerived, type MachinesState, notUsable, setOf } from './machinesState.ts';

/**
 * Ensures that the object gets a new `desiredSize`, once: an autoscaler or another user may change it after that. Not while it is paused: another object may
 * have its Machines, and this one their number.
 */
export function setSize(s: MachinesDerived): RuleResult | Step[] | undefined {
  const set = setOf(s);
  const { desiredSize } = machinesIn(s.pool.spec);
  if (!set || set.deleting || set.pausedBy !== '') return undefined;
  if (desiredSize === undefined || desiredSize === lastSize(s)) return undefined;
  if (set.replicas === desiredSize) return undefined;
  const { reason, why, remedy } = notUsable(s);
  if (!isUsable(s)) return waitFor(reason, 'watch', { message: `${why}. ${remedy}` });
  return [{ kind: 'scaleMachines', set, replicas: desiredSize }];
}

/** The `desiredSize` that the object has got; undefined if the spec has none. */
export function lastSize(s: MachinesState): number | undefined {
  const { desiredSize } = machinesIn(s.pool.spec);
  if (desiredSize === undefined) return undefined;
  return setOf(s)?.replicas === desiredSize ? desiredSize : s.pool.status?.tracking?.lastAppliedDesiredSize;
}
