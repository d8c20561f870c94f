/** What EKS refuses only because the cluster is being upgraded. */

import type { AwsCache } from '../../../awsCache.ts';
import type { ObservedCluster, ObservedState } from '../../../model/observedState.ts';
import type { Outcome } from '../../../model/outcome.ts';
import type { StepError } from '../../../model/stepError.ts';
import type { Sources } from '../../../sources.ts';
import { lookAtCluster } from '../observe.ts';

/**
 * An InvalidParameterException is the spec's fault, except in the middle of an upgrade, when versions that go together a minute later do
 * not yet: https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html. The cluster is asked, once and only then, and the refusal
 * becomes one that passes.
 */
export async function tolerateSkew(
  outcome: Outcome,
  awsCache: AwsCache,
  sources: Sources,
  signal: AbortSignal,
): Promise<Outcome> {
  const { after } = outcome;
  if (!after.errors.some((entry) => isRefusal(entry, after))) return outcome;
  const cluster = await lookAtCluster(awsCache, 0, sources, after.now, signal);
  if (!isUpgrading(cluster, after)) return outcome;
  const errors = after.errors.map((entry) =>
    isRefusal(entry, after) ? { ...entry, error: { ...entry.error, kind: 'busy' as const } } : entry,
  );
  return { ...outcome, after: { ...after, cluster, errors } };
}

/** A refusal of this run: one from memory was judged when it came. */
function isRefusal({ at, step, error }: StepError, { now }: ObservedState): boolean {
  const isAsked = step === 'createNodeGroup' || step.startsWith('update');
  return at === now && isAsked && error.kind === 'refused' && error.code === 'InvalidParameterException';
}

/**
 * EKS works on the cluster, or has brought it to another version than the plan was made for. So it may be where the cluster can't be asked:
 * a refusal is remembered until the spec changes, and the next try tells.
 */
function isUpgrading(view: ObservedCluster, { cluster: before }: ObservedState): boolean {
  if (view.kind !== 'seen') return view.kind === 'unreachable';
  const { status, kubernetesVersion } = view.cluster;
  return status === 'UPDATING' || (before.kind === 'seen' && before.cluster.kubernetesVersion !== kubernetesVersion);
}
