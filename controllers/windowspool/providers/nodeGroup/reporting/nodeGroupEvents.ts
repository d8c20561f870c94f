/** Events that only pools with a node group have. Publishing never fails. */

import { POOL_KEY } from '../../../api/labels.ts';
import type { Outcome } from '../../../model/outcome.ts';
import type { EventSinks, Events } from '../../../ports/pools.ts';
import { joined, sentence } from '../../../util/words.ts';
import { countByPart, type DriftPart, describeDifference } from '../changes/describeDifferences.ts';
import { nodeGroupNameOf } from '../desired/desiredNodeGroup.ts';
import type { EksState } from '../model/groupState.ts';
import { describeReleaseFailure } from '../versions/releaseFailures.ts';

/** Publishes corrected drift, a group that is left behind, and the rollout of a release that fails elsewhere. */
export function publishOfNodeGroup(outcome: Outcome<EksState>, sinks: EventSinks): void {
  publishCorrections(outcome, sinks);
  publishUntaggedGroup(outcome, sinks.events);
  publishUnverifiedReleases(outcome, sinks.events);
}

/** Differences that were corrected although the spec did not change: another user edited the group, or it was adopted that way. */
function publishCorrections({ done, after: { pool } }: Outcome<EksState>, { events, metrics }: EventSinks): void {
  for (const step of done) {
    const drift = 'drift' in step ? step.drift : undefined;
    if (!drift) continue;
    const found = joined(drift.map(describeDifference), 10);
    const message = `Node group ${nodeGroupNameOf(pool)} drifted from the spec: ${sentence(found)} The operator corrects it.`;
    events.publish(pool, { type: 'Warning', reason: 'Drifted', action: step.kind, message });
    const samples = (Object.entries(countByPart(drift)) as [DriftPart, number][]).map(
      ([part, value]) => ({ metric: 'windowspool_drift_corrected_total', labels: { part }, value }) as const,
    );
    metrics.add(pool.metadata.name, samples);
  }
}

/** Rollouts of a release that fails verification in another pool, which the spec asked for. */
function publishUnverifiedReleases({ done, after: { pool } }: Outcome<EksState>, events: Events): void {
  for (const step of done) {
    if (step.kind !== 'updateNodeGroupVersion' || !step.failedElsewhere) continue;
    const message = `The update starts because the spec requests it. ${describeReleaseFailure(step.failedElsewhere)}`;
    events.publish(pool, { type: 'Warning', reason: 'ReleaseNotVerified', action: step.kind, message });
  }
}

/** A group that lost the pool's tag is not deleted with the pool. It costs money, and nothing else reports it. */
function publishUntaggedGroup(
  { after: { pool, group: view, settings }, released }: Outcome<EksState>,
  events: Events,
): void {
  if (!released || view.kind !== 'seen' || pool.spec.deletionPolicy !== 'Delete') return;
  const { name, arn, tags, status } = view.group;
  if (tags[POOL_KEY] !== undefined || arn !== pool.status?.nodeGroup?.arn || status === 'DELETING') return;
  const message = `Node group ${name} is not deleted, because it lost the tag ${POOL_KEY}=${pool.metadata.name}. To delete it: aws eks delete-nodegroup --cluster-name ${settings.clusterName} --nodegroup-name ${name}`;
  events.publish(pool, { type: 'Warning', reason: 'NotOwned', action: 'removeFinalizer', message });
}
