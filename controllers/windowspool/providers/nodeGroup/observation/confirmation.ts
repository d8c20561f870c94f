/** What was known of a node group, which an answer of AWS may contradict. Pure. */
import type { WindowsPool } from '../../../api/api.gen.ts';
import { POOL_KEY } from '../../../api/labels.ts';
import { type Certainty, type Finding, nextCertainty } from '../../../model/certainty.ts';
import type { RuleResult } from '../../../model/decisions.ts';
import type { Settings } from '../../../model/observedState.ts';
import type { CallError, CallResult } from '../../../ports/callResult.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { isDeleting, isLasting } from '../../../rules/poolQueries.ts';
import { waitFor } from '../../../rules/ruleChains.ts';
import type { ObserveContext } from '../../provider.ts';
import { isOwnedBy, nodeGroupNameOf, secondNameOf } from '../desired/desiredNodeGroup.ts';
import type { EksState, ObservedCluster, ObservedNodeGroup, UnconfirmedGroup } from '../model/groupState.ts';
import { isStatusLost, secondIn } from '../secondGroup/secondGroup.ts';
import { groupOf } from './knownGroups.ts';

/** A kubelet can label its node as one of the group, and must not keep the pool indefinitely. */
export const READY_NODES_PATIENCE_MS = 600_000;

/** How long after an answer that contradicts what was known another request must get the same, in milliseconds. */
export function confirmAfterMs({ pollMs }: Pick<Settings, 'pollMs'>): number {
  return Math.min(pollMs, 10_000);
}

/** What status knows of a node group: whether it must exist, whether it is the pool's if it does, and its state. */
interface KnownGroup {
  readonly exists: boolean;
  readonly isOwned: boolean;
  /** Whether status would have a record of it. */
  readonly isUnrecorded?: boolean;
  readonly status?: string | undefined;
}

/** What is known of the main group. Once its absence is confirmed, status has no state of it. */
export function knownMain(pool: WindowsPool): KnownGroup {
  if (isStatusLost(pool)) return LOST;
  // Once the finalizer is removed, nothing remembers the group: also an absence that is expected must be confirmed.
  if (isDeleting(pool)) return { exists: isTied(pool), isOwned: isTied(pool) };
  const { status } = pool.status?.nodeGroup ?? {};
  return { exists: status !== undefined && status !== 'DELETING', isOwned: status !== undefined, status };
}

/** What is known of the second group. Once its absence is confirmed, status has the time. */
export function knownSecond(pool: WindowsPool): KnownGroup {
  if (isStatusLost(pool)) return LOST;
  const record = secondIn(pool);
  const { arn, absenceStartTime, status } = record ?? {};
  const isUnrecorded = record === undefined && pool.status?.nodeGroup !== undefined;
  return {
    exists: arn !== undefined && absenceStartTime === undefined,
    isOwned: arn !== undefined,
    isUnrecorded,
    status,
  };
}

/** Of a pool that lost its status: it may have a group of each name. */
const LOST: KnownGroup = { exists: true, isOwned: true };

/** Whether the pool may have a group: it was tied to a cluster before its first creation. */
function isTied({ status }: WindowsPool): boolean {
  return status?.cluster !== undefined || status?.nodeGroup?.arn !== undefined;
}

/** What a request for a group has shown, with how sure that is. */
export function observedGroup(
  pool: WindowsPool,
  known: KnownGroup,
  answer: CallResult<NodeGroup | undefined>,
  before: ObservedNodeGroup | undefined,
  { settings, now, isPreview }: Pick<ObserveContext, 'settings' | 'now' | 'isPreview'>,
): ObservedNodeGroup {
  const finding = findingOf(pool, known, answer);
  const sight = nextCertainty(before && certaintyOf(before), finding, now, confirmAfterMs(settings));
  const certainty = isPreview && sight.kind === 'seenOnce' ? { ...sight, kind: 'confirmed' as const } : sight;
  const contradicted = 'since' in certainty && { certainty };
  const last = before && groupOf({ group: before });
  if (!answer.ok) {
    const since = unreadSince(before, answer.error, now);
    return { kind: 'unreachable', error: answer.error, since, last, ...contradicted };
  }
  if (certainty.kind === 'seenOnce') return { kind: 'unconfirmed', certainty, last };
  const confirmed = certainty.kind === 'confirmed' && { certainty };
  return answer.value ? { kind: 'seen', group: answer.value, ...confirmed } : { kind: 'absent', ...confirmed };
}

/** Since when a group or the cluster cannot be read; with an error that lasts, since the first of these. An outage mixes both, and proves no missing permission. */
export function unreadSince(
  before: ObservedNodeGroup | ObservedCluster | undefined,
  error: CallError,
  now: number,
): number {
  if (before?.kind !== 'unreachable') return now;
  return isLasting(error) && !isLasting(before.error) ? now : before.since;
}

function findingOf(pool: WindowsPool, known: KnownGroup, answer: CallResult<NodeGroup | undefined>): Finding {
  // Without its cluster, a group is gone: only a pool that is being deleted acts on that.
  if (!answer.ok) return answer.error.kind === 'gone' && known.exists && isDeleting(pool) ? 'clusterAbsent' : 'failed';
  if (!answer.value) return known.exists ? 'absent' : 'fits';
  if (!isOwnedBy(pool, answer.value)) return known.isOwned ? 'unowned' : 'fits';
  if (known.isUnrecorded) return 'unrecorded';
  // Such a group is deleted and recreated, with its nodes. While the pool is deleted, the group is deleted in any state.
  const { status } = answer.value;
  return status.endsWith('_FAILED') && status !== known.status && !isDeleting(pool) ? 'groupFailed' : 'fits';
}

/** How sure the observation of the group is. */
export function certaintyOf(view: ObservedNodeGroup): Certainty {
  if ('certainty' in view && view.certainty) return view.certainty;
  return { kind: view.kind === 'unreachable' ? 'unknown' : 'seen' };
}

/** When the next request can confirm what was seen once, in epoch milliseconds; undefined if that was nothing. */
export function confirmableAt(view: ObservedNodeGroup, settings: Settings): number | undefined {
  const certainty = certaintyOf(view);
  return certainty.kind === 'seenOnce' ? certainty.since + confirmAfterMs(settings) : undefined;
}

/** Waits for a second look at a group that is suddenly absent, or not the pool's. */
export function waitForSecondLook(s: EksState, view: UnconfirmedGroup): RuleResult {
  const until = confirmableAt(view, s.settings);
  const message = describeUnconfirmed(s, view);
  return waitFor('Unconfirmed', 'read', { message, ...(until !== undefined && { until }), progress: true });
}

const READ_AGAIN = 'The operator reads it again before it changes anything.';

/** What was seen once of a group of the pool, and what follows, in two sentences. */
export function describeUnconfirmed({ pool, group }: EksState, view: UnconfirmedGroup): string {
  const name = view === group ? nodeGroupNameOf(pool) : secondNameOf(pool);
  const { contradiction } = view.certainty;
  const [finds, has] = isStatusLost(pool) ? ['does not find', 'does not have'] : ['no longer finds', 'no longer has'];
  if (contradiction === 'groupFailed')
    return `EKS reports that node group ${name} could not be created or deleted. ${READ_AGAIN}`;
  if (contradiction === 'unrecorded')
    return `EKS has node group ${name} of this pool, which status does not record. ${READ_AGAIN}`;
  const what =
    contradiction === 'absent'
      ? `EKS ${finds} node group ${name}.`
      : `Node group ${name} ${has} the tag ${POOL_KEY}=${pool.metadata.name}.`;
  return `${what} ${READ_AGAIN}`;
}
