/** Descriptions of changes, for status.pendingSteps, events and conditions. */

import type { ConfigChange, VersionChange } from '../../../ports/eks.ts';
import { describeTaints, setAndRemove } from '../../../steps/describeTaints.ts';

/** A description in a fixed order: `labels set team; scaling maxSize 5`. */
export function describeChange({ labels, taints, scaling, update, warmPool }: ConfigChange): string {
  const settings = (values: object) =>
    Object.entries(values)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ');
  return [
    labels && `labels ${setAndRemove(Object.keys(labels.set), labels.remove)}`,
    taints && `taints ${describeTaints(taints)}`,
    scaling && `scaling ${settings(scaling)}`,
    update && `update ${settings(update)}`,
    warmPool && (warmPool === 'Removed' ? 'warm pool removed' : `warm pool ${settings(warmPool)}`),
  ]
    .filter((part) => part !== undefined)
    .join('; ');
}

/**
 * `newest release for Kubernetes 1.36`, `release 1.36-2026.03.17 with version 3 of launch template windows, forced`, and for a group with a custom AMI
 * `version 3 of launch template windows`.
 */
export function describeVersionChange({
  kubernetesVersion,
  releaseVersion,
  launchTemplate,
  force,
}: VersionChange): string {
  const release = releaseVersion ? `release ${releaseVersion}` : `newest release for Kubernetes ${kubernetesVersion}`;
  const { id, name, version } = launchTemplate ?? {};
  const template = version === undefined ? [] : [`version ${version} of launch template ${name ?? id}`];
  const what = [...(kubernetesVersion === undefined ? [] : [release]), ...template].join(' with ');
  return `${what}${force ? ', forced' : ''}`;
}
