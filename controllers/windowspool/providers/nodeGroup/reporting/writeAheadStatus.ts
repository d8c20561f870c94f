/** What status records before AWS is called, because it cannot be observed anywhere else. Pure. */

import type { NodeGroupState, Tracking, WindowsPoolStatus } from '../../../api/api.gen.ts';
import type { DisruptionReservation } from '../../../model/disruption.ts';
import { hashOf } from '../../../util/hash.ts';
import { UNSURE } from '../changes/appliedFields.ts';
import { splitEntry } from '../changes/appliedRecord.ts';
import { MOST_FAILED_CHANGES } from '../changes/describeFailedChanges.ts';
import { nodeGroupNameOf } from '../desired/desiredNodeGroup.ts';
import type { FailedTarget } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import type { SecondRecord } from '../secondGroup/secondGroup.ts';

/** What status records because it cannot be observed anywhere else. */
export interface WriteAheadRecord {
  readonly cluster: { readonly name: string; readonly arn: string };
  readonly nodeGroupName: string;
  /** For a group that becomes the main one: what was applied to it, and the desired size that counts as sent. */
  readonly initial?: { readonly applied: readonly string[]; readonly desired: number | undefined };
  /** The fields that the update to be sent changes. */
  readonly sending?: readonly string[];
  /** The record of the second group, with a change. */
  readonly second?: SecondRecord;
  /** Another group becomes the main one: nothing that status has of the present one is kept. */
  readonly isSwitched?: true;
  /** The failure of the version that the canary tried. */
  readonly failed?: FailedTarget;
  /** The share of the disruption budget that is about to be used. */
  readonly reservation?: DisruptionReservation;
  /** The name of the launch template that is about to be created: it is deleted with the pool. */
  readonly ownTemplate?: string;
  /** The short keys of all operator tags that a scaling group will have. */
  readonly scalingTags?: readonly string[];
}

/** What status must record of the pool, with `what`; undefined while the cluster is not known. */
export function writeAheadRecordFor(
  { pool, cluster }: EksState,
  what: Omit<WriteAheadRecord, 'cluster' | 'nodeGroupName'> & Partial<Pick<WriteAheadRecord, 'nodeGroupName'>>,
): WriteAheadRecord | undefined {
  if (cluster.kind !== 'seen') return undefined;
  const { name, arn } = cluster.cluster;
  return { cluster: { name, arn }, nodeGroupName: nodeGroupNameOf(pool), ...what };
}

/** The record that must be written before AWS is called; empty when status has it. */
export function writeAhead(s: EksState, what: Omit<WriteAheadRecord, 'cluster' | 'nodeGroupName'>) {
  const ahead = writeAheadRecordFor(s, what);
  if (!ahead) return [];
  const { status } = s.pool;
  return hashOf(statusWith(status, ahead)) === hashOf(status ?? {}) ? [] : [{ kind: 'writeAhead', ahead } as const];
}

/** The status with the record in it. */
export function statusWith(status: WindowsPoolStatus | undefined, ahead: WriteAheadRecord): WindowsPoolStatus {
  const { cluster, nodeGroupName, initial, sending = [], reservation, ownTemplate, second, isSwitched } = ahead;
  const { lastAppliedDesiredSize: lastSize, ...noted } = status?.tracking ?? {};
  const before = isSwitched ? exchanged(noted, second?.replacement !== undefined) : noted;
  const known = initial?.applied ?? before.applied;
  const kept = (known ?? []).filter((entry) => !sending.includes(splitEntry(entry)[0]));
  // A lost record stays lost until the group is read: an empty one would say that nothing was ever sent.
  const applied = (known || sending.length > 0) && {
    applied: [...kept, ...sending.map((field) => `${field}=${UNSURE}`)].sort(),
  };
  const size = initial ? initial.desired : lastSize;
  const tracking = {
    ...before,
    ...(size !== undefined && { lastAppliedDesiredSize: size }),
    ...(ownTemplate !== undefined && { ownTemplate }),
    ...(ahead.scalingTags?.length && { scalingTags: [...ahead.scalingTags] }),
    ...applied,
  };
  const nodeGroup = {
    ...(isSwitched ? {} : status?.nodeGroup),
    name: nodeGroupName,
    ...second,
    ...failuresWith(status, ahead),
  };
  return { ...status, cluster, nodeGroup, tracking, ...(reservation && { disruption: reservation }) };
}

/** The failures in status with that of the canary first. After a switch only those of automatic updates are kept, which may be due again for either group. */
function failuresWith(
  status: WindowsPoolStatus | undefined,
  { failed, isSwitched }: WriteAheadRecord,
): Partial<NodeGroupState> {
  const known = status?.nodeGroup?.failedChanges ?? [];
  const kept = isSwitched
    ? known.flatMap(({ target: _target, ...each }) => (each.content === undefined ? [] : each))
    : known.filter(({ target }) => failed === undefined || target !== failed.target);
  const failedChanges = [...(failed ? [failed] : []), ...kept].slice(0, MOST_FAILED_CHANGES);
  return failedChanges.length > 0 ? { failedChanges } : {};
}

/** The records of the two groups, when they change roles. */
function exchanged({ applied, secondApplied: _before, ...rest }: Tracking, isReplacement: boolean): Tracking {
  return { ...rest, ...(isReplacement && applied && { secondApplied: applied }) };
}
