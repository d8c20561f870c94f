/** What the prerequisites come to for a pool. Pure. */
import { isClusterMismatch, isDeleting } from '../facts.ts';
import { isOwnedBy } from '../nodeGroup.ts';
import type { Situation } from '../situation.ts';
import { type Examination, examine } from './checks.ts';
import type { CheckInput } from './facts.ts';

/** What the checks look at; undefined for a pool that goes, or whose cluster or group is not its own or not known. */
function checkInputOf(s: Situation): CheckInput | undefined {
  const { pool, cluster, group, settings, prerequisites: facts } = s;
  if (!facts || cluster.kind !== 'seen' || isDeleting(pool) || isClusterMismatch(s)) return undefined;
  if (group.kind === 'seen' && !isOwnedBy(pool, group.group)) return undefined;
  return {
    spec: pool.spec,
    cluster: cluster.cluster,
    region: settings.region,
    facts,
    creating: isToBeMade(s),
    managesAccessEntry: false,
    nodes: s.roster.total,
  };
}

/** The result of every check that can be made; undefined where none is made. */
export function examinationOf(s: Situation): Examination | undefined {
  const input = checkInputOf(s);
  return input && examine(input);
}

/** What keeps the node group from being created: every prerequisite that failed, while there is no group. */
export function blockers(s: Situation): Examination['failed'] {
  return isToBeMade(s) ? (examinationOf(s)?.failed ?? []) : [];
}

/** Whether the group is still to be made: there is none, or only what is left of a failed creation. */
function isToBeMade({ group }: Situation): boolean {
  return group.kind === 'absent' || (group.kind === 'seen' && group.group.status === 'CREATE_FAILED');
}
