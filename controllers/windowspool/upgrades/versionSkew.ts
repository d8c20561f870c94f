/** What EKS refuses only because the cluster is being upgraded. */
import type { Outcome } from '../act.ts';
import { lookAtCluster, type Sights, type Sources } from '../observe.ts';
import type { ClusterSight, Situation, StepTrouble } from '../situation.ts';

/**
 * An InvalidParameterException is the spec's fault, except in the middle of an upgrade, when versions that go together a minute later do
 * not yet: https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html. The cluster is asked, once and only then, and the refusal
 * becomes one that passes.
 */
export async function excuseSkew(
  outcome: Outcome,
  sights: Sights,
  sources: Sources,
  signal: AbortSignal,
): Promise<Outcome> {
  const { after } = outcome;
  if (!after.troubles.some((entry) => isRefusal(entry, after))) return outcome;
  const cluster = await lookAtCluster(sights, 0, sources, after.now, signal);
  if (!isUpgrading(cluster, after)) return outcome;
  const troubles = after.troubles.map((entry) =>
    isRefusal(entry, after) ? { ...entry, trouble: { ...entry.trouble, kind: 'busy' as const } } : entry,
  );
  return { ...outcome, after: { ...after, cluster, troubles } };
}

/** A refusal of this run: one from memory was judged when it came. */
function isRefusal({ at, step, trouble }: StepTrouble, { now }: Situation): boolean {
  const isAsked = step === 'createNodeGroup' || step.startsWith('update');
  return at === now && isAsked && trouble.kind === 'refused' && trouble.code === 'InvalidParameterException';
}

/**
 * EKS works on the cluster, or has brought it to another version than the plan was made for. So it may be where the cluster can't be asked:
 * a refusal is remembered until the spec changes, and the next try tells.
 */
function isUpgrading(sight: ClusterSight, { cluster: before }: Situation): boolean {
  if (sight.kind !== 'seen') return sight.kind === 'unreachable';
  const { status, kubernetesVersion } = sight.cluster;
  return status === 'UPDATING' || (before.kind === 'seen' && before.cluster.kubernetesVersion !== kubernetesVersion);
}
