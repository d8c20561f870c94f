/** Refusals of EKS that are caused by an upgrade of the cluster. */

import type { Outcome } from '../../../model/outcome.ts';
import type { StepError } from '../../../model/stepError.ts';
import { failedKindOf } from '../../../steps/stepKinds.ts';
import type { ObserveContext } from '../../provider.ts';
import type { EksState, ObservedCluster } from '../model/groupState.ts';
import { readCluster } from '../observation/readGroups.ts';

/**
 * An InvalidParameterException is the fault of the spec, except during an upgrade of the cluster, when versions are briefly incompatible:
 * https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html. After such a refusal the cluster is read once; if it is being
 * upgraded, the error becomes transient.
 */
export async function tolerateSkew(outcome: Outcome<EksState>, context: ObserveContext): Promise<Outcome<EksState>> {
  const { after } = outcome;
  if (!after.errors.some((entry) => isRefusal(entry, after))) return outcome;
  const cluster = await readCluster(0, { ...context, now: after.now });
  if (!isUpgrading(cluster, after)) return outcome;
  const errors = after.errors.map((entry) =>
    isRefusal(entry, after) ? { ...entry, error: { ...entry.error, kind: 'busy' as const } } : entry,
  );
  return { ...outcome, after: { ...after, cluster, errors } };
}

/** Whether it is a refusal of this run: earlier ones were evaluated when they occurred. */
function isRefusal(entry: StepError, { now }: EksState): boolean {
  const { at, step, error } = entry;
  const isAsked = step === 'createNodeGroup' || failedKindOf(entry).startsUpdate === true;
  return at === now && isAsked && error.kind === 'refused' && error.code === 'InvalidParameterException';
}

/**
 * Whether EKS is upgrading the cluster, or has upgraded it since the plan was made. It counts as upgrading when it cannot be read: a refusal
 * would be recorded until the spec changes, and a retry shows the cause.
 */
function isUpgrading(view: ObservedCluster, { cluster: before }: EksState): boolean {
  if (view.kind !== 'seen') return view.kind === 'unreachable';
  const { status, kubernetesVersion } = view.cluster;
  return status === 'UPDATING' || (before.kind === 'seen' && before.cluster.kubernetesVersion !== kubernetesVersion);
}
