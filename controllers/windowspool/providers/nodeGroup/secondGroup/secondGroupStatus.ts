/** What status records of the second node group after a run. Pure. */
import type { SecondNodeGroup } from '../../../api/api.gen.ts';
import type { Outcome } from '../../../model/outcome.ts';
import { timeOf } from '../../../util/durations.ts';
import { cut } from '../../../util/words.ts';
import { isOwnedBy, secondNameOf } from '../desired/desiredNodeGroup.ts';
import type { EksState } from '../model/groupState.ts';
import { READY_NODES_PATIENCE_MS } from '../observation/confirmation.ts';
import { isUnknown, ownedGroup } from '../observation/knownGroups.ts';
import { isOpen, isWhole } from './canary.ts';
import type { Phase } from './phases.ts';
import {
  canaryIn,
  inPhase,
  isRecordLost,
  isSecondUnrecorded,
  recordOf,
  type SecondRecord,
  secondGroup,
  secondIn,
} from './secondGroup.ts';

/** The maximum length of the message in the schema. */
const MESSAGE_LENGTH = 1_024;

/** The record of the second group in status.nodeGroup after a run; empty when there is no second group any more. */
export function secondGroupState(outcome: Outcome<EksState>): SecondRecord {
  const { after: s } = outcome;
  const record = secondIn(s.pool);
  return !record || isForgotten(s) ? {} : recordOf(s.pool, observed(record, outcome));
}

function observed(record: SecondNodeGroup, outcome: Outcome<EksState>): SecondNodeGroup {
  const { after: s } = outcome;
  const { pool, second, now } = s;
  const { nodes: _nodes, verified: _verified, absenceStartTime, blocked: _blocked, ...kept } = record;
  const blocked = drainFailure(outcome);
  const rest = { ...inPhase(kept, phaseOf(record, s), now), ...(blocked && { blocked }) };
  if (second?.kind === 'absent')
    return { ...rest, absenceStartTime: absenceStartTime ?? timeOf(second.certainty?.since ?? now) };
  if (second?.kind !== 'seen') return { ...record, ...rest };
  const group = secondGroup(s);
  if (!group) return rest;
  const { arn, status, name } = group;
  const { total: nodes, verified } = s.poolNodes.inGroup(name);
  return { ...rest, arn, status, nodes, ...(canaryIn(pool) && { verified }) };
}

/** The phase as observed. Only a step that records it first begins a drain, or changes the roles of the groups. */
function phaseOf({ phase }: SecondNodeGroup, s: EksState): Phase {
  const isCanary = canaryIn(s.pool) !== undefined;
  const view = isCanary ? s.second : s.group;
  if (!['Creating', 'Verifying', 'Soaking'].includes(phase) || !view || isUnknown(view)) return phase;
  const made = ownedGroup(s.pool, view);
  if (!made || made.status === 'CREATING' || made.status === 'CREATE_FAILED') return 'Creating';
  return isCanary && isWhole(s) ? 'Soaking' : 'Verifying';
}

/** The last node of the second group that could not be drained. */
function drainFailure({ after: { pool, now }, done }: Outcome<EksState>): SecondNodeGroup['blocked'] {
  const givenUp = done.find((step) => step.kind === 'giveUpNode');
  if (!givenUp) return secondIn(pool)?.blocked;
  return { node: givenUp.node.name, message: cut(givenUp.why, MESSAGE_LENGTH), time: timeOf(now) };
}

/**
 * Whether the second group is not the pool's any more: another client removed its tag, or EKS does not have it. If it was not being deleted, or its nodes
 * are Ready, its absence must last: reads can lag behind a creation.
 */
function isForgotten({ pool, second, now, poolNodes }: EksState): boolean {
  const { arn, absenceStartTime, status } = secondIn(pool) ?? {};
  // A group that another client created with the name of a canary is why that canary fails.
  const isNameTaken = arn === undefined && isOpen({ pool });
  if (second?.kind === 'seen') return !isOwnedBy(pool, second.group) && !isNameTaken;
  if (second?.kind !== 'absent') return false;
  if (status === 'DELETING' && poolNodes.inGroup(secondNameOf(pool)).ready === 0) return true;
  return absenceStartTime !== undefined && now - Date.parse(absenceStartTime) >= READY_NODES_PATIENCE_MS;
}

/** Whether a second group exists as far as is known: a pool that is being deleted waits for it. */
export function hasSecond(s: EksState): boolean {
  return (secondIn(s.pool) !== undefined || isSecondUnrecorded(s) || isRecordLost(s)) && !isForgotten(s);
}
