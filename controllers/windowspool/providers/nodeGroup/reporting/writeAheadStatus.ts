/** What status records before AWS is called, because it cannot be observed anywhere else. Pure. */

import type {
  Bookkeeping,
  CanaryNodeGroup,
  FormerNodeGroup,
  NodeGroupState,
  WindowsPoolStatus,
} from '../../../api/api.gen.ts';
import type { DisruptionReservation } from '../../../model/disruption.ts';
import { hashOf } from '../../../util/hash.ts';
import { UNSURE } from '../changes/appliedFields.ts';
import { splitEntry } from '../changes/appliedRecord.ts';
import { MOST_FAILED_CHANGES } from '../changes/failedChanges.ts';
import { nodeGroupNameOf } from '../desired/desiredNodeGroup.ts';
import type { FailedTarget } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';

/** What status records because it cannot be observed anywhere else. */
export interface Memory {
  readonly cluster: { readonly name: string; readonly arn: string };
  readonly nodeGroupName: string;
  /** For a group that the pool does not have yet: everything that it has or will have. */
  readonly initial?: { readonly applied: readonly string[]; readonly desired: number | undefined };
  /** The fields that the update to be sent changes. */
  readonly sending?: readonly string[];
  /** The former group, with a change. */
  readonly former?: FormerNodeGroup;
  /** Another group becomes the one that the spec describes: nothing that status has of the present one is kept, except this. */
  readonly switched?: { readonly former?: FormerNodeGroup | undefined; readonly canary?: CanaryNodeGroup };
  /** The canary, with a change. */
  readonly canary?: CanaryNodeGroup;
  /** The failure of the version that the canary tried. */
  readonly failed?: FailedTarget;
  /** The share of the disruption budget that is about to be used. */
  readonly reservation?: DisruptionReservation;
  /** The name of the launch template that is about to be created: it is deleted with the pool. */
  readonly machineTemplate?: string;
  /** The short keys of all operator tags that a scaling group will have. */
  readonly scalingTags?: readonly string[];
}

/** What status must record of the pool, with `what`; undefined while the cluster is not known. */
export function memoryFor(
  { pool, cluster }: EksState,
  what: Omit<Memory, 'cluster' | 'nodeGroupName'> & Partial<Pick<Memory, 'nodeGroupName'>>,
): Memory | undefined {
  if (cluster.kind !== 'seen') return undefined;
  const { name, arn } = cluster.cluster;
  return { cluster: { name, arn }, nodeGroupName: nodeGroupNameOf(pool), ...what };
}

/** The record that must be written before AWS is called; empty when status has it. */
export function remember(s: EksState, what: Omit<Memory, 'cluster' | 'nodeGroupName'>) {
  const memory = memoryFor(s, what);
  if (!memory) return [];
  const { status } = s.pool;
  return hashOf(remembering(status, memory)) === hashOf(status ?? {}) ? [] : [{ kind: 'remember', memory } as const];
}

/** The status with the record in it. */
export function remembering(status: WindowsPoolStatus | undefined, memory: Memory): WindowsPoolStatus {
  const { cluster, nodeGroupName, initial, sending = [], reservation, machineTemplate, former, switched } = memory;
  const canary = memory.canary ?? switched?.canary;
  const { lastAppliedDesiredSize: lastSize, ...noted } = status?.bookkeeping ?? {};
  const before = switched ? exchanged(noted, switched.former !== undefined) : noted;
  const known = initial?.applied ?? before.applied;
  const kept = (known ?? []).filter((entry) => !sending.includes(splitEntry(entry)[0]));
  // A lost record stays lost until the group is read: an empty one would say that nothing was ever sent.
  const applied = (known || sending.length > 0) && {
    applied: [...kept, ...sending.map((field) => `${field}=${UNSURE}`)].sort(),
  };
  const size = initial ? initial.desired : lastSize;
  const bookkeeping = {
    ...before,
    ...(size !== undefined && { lastAppliedDesiredSize: size }),
    ...(machineTemplate !== undefined && { machineTemplate }),
    ...(memory.scalingTags?.length && { scalingTags: [...memory.scalingTags] }),
    ...applied,
  };
  const nodeGroup = {
    ...(switched ? {} : status?.nodeGroup),
    name: nodeGroupName,
    ...(former && { former }),
    ...(switched?.former && { former: switched.former }),
    ...(canary && { canary }),
    ...failuresWith(status, memory),
  };
  return { ...status, cluster, nodeGroup, bookkeeping, ...(reservation && { disruption: reservation }) };
}

/** The failures in status with that of the canary first. */
function failuresWith(status: WindowsPoolStatus | undefined, { failed }: Memory): Partial<NodeGroupState> {
  if (!failed) return {};
  const before = (status?.nodeGroup?.failedChanges ?? []).filter(({ target }) => target !== failed.target);
  return { failedChanges: [failed, ...before].slice(0, MOST_FAILED_CHANGES) };
}

/** The records of the two groups, when the former one changes. */
function exchanged({ applied, formerApplied: _other, ...rest }: Bookkeeping, hasFormer: boolean): Bookkeeping {
  return { ...rest, ...(hasFormer && applied && { formerApplied: applied }) };
}
