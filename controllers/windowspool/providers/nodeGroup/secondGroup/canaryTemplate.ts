/**
 * The launch template of a canary. The canary has the version that is tried, except with a custom AMI: there, the user data contains the name of the node
 * group. Such a canary has a version of its own of the same template, which differs in that name only. Pure.
 */

import type { NodeGroup, TemplateVersion, VersionChange } from '../../../ports/eks.ts';
import type { Machine } from '../../../ports/machineTemplates.ts';
import { otherNameOf } from '../desired/desiredNodeGroup.ts';
import { desiredMachine } from '../launchTemplate/desiredMachine.ts';
import { isCustom } from '../launchTemplate/machine.ts';
import { ownTemplateIn, versionWith } from '../launchTemplate/machineTemplate.ts';
import type { EksState } from '../model/groupState.ts';

/** The machine of a canary that needs a version of its own; undefined if it needs none, or its machine is not known. */
export function canaryMachine(s: EksState): Machine | undefined {
  return isCustom(s.pool.spec) ? desiredMachine(s, otherNameOf(s.pool)) : undefined;
}

/** The version for the canary of this update. `missing`: it must be created first. Undefined if the main group has no launch template. */
export function canaryTemplate(
  s: EksState,
  main: NodeGroup,
  change: VersionChange,
): TemplateVersion | 'missing' | undefined {
  if (!isCustom(s.pool.spec)) {
    const { id, version = '' } = main.launchTemplate ?? {};
    return change.launchTemplate ?? (main.launchTemplate && { ...(id !== undefined && { id }), version });
  }
  const template = ownTemplateIn(s);
  const machine = canaryMachine(s);
  const found = template && machine && versionWith(template, machine, undefined);
  return found ? { id: template.id, version: found.version } : 'missing';
}
