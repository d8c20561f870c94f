/** What the group should be made from: the desired version of its launch template, and the input of its creation. Pure. */

import type { NodeGroup, TemplateVersion } from '../../../ports/eks.ts';
import { creationOf, desiredNodeGroup } from '../desired/desiredNodeGroup.ts';
import { desiredOwnVersion } from '../launchTemplate/desiredLaunchSettings.ts';
import { isJoinUndecided } from '../launchTemplate/securityRules.ts';
import type { Creation } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { pinnedTemplateVersion, templateFaults, templateIn, templateVersion } from '../versions/userLaunchTemplate.ts';

/**
 * The desired version of the group's launch template: of the user's, or of the one that the operator created. Undefined when there is none, it is
 * unknown, or EKS would refuse it. `group`: that of the pool, if it exists.
 */
export function desiredTemplate(s: EksState, group?: NodeGroup): TemplateVersion | undefined {
  const wanted = templateIn(s.pool.spec);
  if (!wanted) return desiredOwnVersion(s, group);
  const version = desiredUserVersion(s);
  return version === undefined ? undefined : templateVersion(wanted, version);
}

/** What the spec would create the group from; see `creationOf`. */
export function desiredCreation(s: EksState): Creation {
  return creationOf(desiredNodeGroup(s.pool, desiredTemplate(s)).tags);
}

/**
 * The desired version number of a user's template that EKS accepts. While it cannot be read, the last known one is used, so that a failed update
 * does not look like a new target. Undefined when it is unknown, or EKS would refuse it.
 */
function desiredUserVersion(s: EksState): string | undefined {
  const { pool, prerequisites, cluster } = s;
  const seenCluster = cluster.kind === 'seen' ? cluster.cluster : undefined;
  const wanted = templateIn(pool.spec);
  if (!wanted) return undefined;
  const fact = prerequisites?.launchTemplate;
  if (fact?.ok) {
    const template = fact.value;
    if (template && isJoinUndecided(template, seenCluster, prerequisites))
      return pool.status?.nodeGroup?.launchTemplate?.desiredVersion;
    return template && templateFaults(pool.spec, template, seenCluster, prerequisites).length === 0
      ? template.version
      : undefined;
  }
  return pinnedTemplateVersion(pool.spec) ?? pool.status?.nodeGroup?.launchTemplate?.desiredVersion;
}
