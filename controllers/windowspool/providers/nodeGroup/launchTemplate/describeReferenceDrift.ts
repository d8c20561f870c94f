/**
 * The part of UpToDate about reference drift: the spec names an SSM parameter, tags of security groups or a ConfigMap, and what these contain has changed,
 * although the spec did not. Karpenter calls the same for AMIs drift.
 */

import type { NodeGroup } from '../../../ports/eks.ts';
import { joined } from '../../../util/words.ts';
import { launchSettingOf } from '../changes/appliedFields.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { describeReleaseFailure, failureOfRelease } from '../versions/releaseFailures.ts';
import { hasOnlyReferenceDrift } from '../versions/versionChanges.ts';
import { desiredLaunchSettings, suitableImage } from './desiredLaunchSettings.ts';
import { userDataIn } from './groupScript.ts';
import { endOfImage, imageParameterIn, isImageGone, selectedImage } from './image.ts';
import { AMI, isCustom, SECURITY_GROUPS, USER_DATA } from './launchSettings.ts';

/** Reports the launch settings that drifted in this way, with what to do; empty when there are none. */
export function describeReferenceDrift(s: EksDerived, group: NodeGroup): string {
  const { all } = s.due.differences;
  if (!hasOnlyReferenceDrift(s, all)) return '';
  const found = new Map(all.map((each) => [launchSettingOf(each.field), each.found]));
  return [
    found.has(AMI) && otherImage(s, group, found.get(AMI)),
    found.has(SECURITY_GROUPS) && otherSecurityGroups(s, group, found.get(SECURITY_GROUPS)),
    found.has(USER_DATA) && otherUserData(s, group),
  ]
    .filter((text) => typeof text === 'string')
    .join(' ');
}

/** The script or the bootstrap has changed. What they contain is not shown. */
function otherUserData({ pool: { spec } }: EksState, { name }: NodeGroup): string {
  const userData = userDataIn(spec);
  const what = `Node group ${name} has other user data than the operator writes now`;
  if (!userData) return `${what}. Set nodeGroup.update.policy: Automatic.`;
  const bootstrap = isCustom(spec) ? ', or the bootstrap,' : '';
  return `${what}: key ${userData.key} of ConfigMap ${userData.configMap} in the namespace of the operator${bootstrap} has changed. Set nodeGroup.update.policy: Automatic, or write the script to another key and set nodeGroup.userData.key.`;
}

/** The parameter has another AMI than the group. */
function otherImage(s: EksState, { name }: NodeGroup, found = ''): string {
  const { spec } = s.pool;
  const id = selectedImage(spec, s.prerequisites) ?? '';
  const gone = isImageGone(s.prerequisites) ? ', which is private or deregistered, so new nodes cannot start' : '';
  const failure = failureOfRelease(s, id);
  const warning = failure ? ` ${describeReleaseFailure(failure)}` : '';
  if (suitableImage(s) === undefined)
    return `Node group ${name} has AMI ${found}; SSM parameter ${imageParameterIn(spec, s.cluster)} now has ${id}, from which no node can start. See PrerequisitesMet.`;
  return `Node group ${name} has AMI ${found}${gone}; SSM parameter ${imageParameterIn(spec, s.cluster)} now has ${id}.${endOfImage(s)}${warning} Set nodeGroup.update.policy: Automatic, or nodeGroup.ami.id: ${id}.`;
}

/** Other security groups have the tags in the spec than the group has. */
function otherSecurityGroups(s: EksState, { name }: NodeGroup, found: string | undefined): string {
  const wanted = desiredLaunchSettings(s)?.securityGroups ?? [];
  return `Node group ${name} has security groups ${found || 'of the cluster only'}; nodeGroup.securityGroups now selects others (with that of the cluster: ${joined(wanted, wanted.length)}). Set nodeGroup.update.policy: Automatic, or select them by ID.`;
}
