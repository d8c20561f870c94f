/** When a canary ends, and why. Pure. */

import { AWS_MESSAGE_LENGTH } from '../../../api/statusLimits.ts';
import { cut } from '../../../util/words.ts';
import { failureOf, isPassing } from '../changes/failedChanges.ts';
import { nodeGroupNameOf } from '../desired/desiredNodeGroup.ts';
import { isTemplateKnown } from '../launchTemplate/desiredMachine.ts';
import { isTemplateDeleted } from '../launchTemplate/machineTemplate.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf } from '../observation/knownGroups.ts';
import { templateIn } from '../versions/launchTemplate.ts';
import { canarySpecIn, describeTried, isMainSettled, isOpen, isOtherCanary, triedBy } from './canary.ts';
import { canaryIn, canBeReplaced } from './replacement.ts';

/** Why the open canary ends, in words; undefined while it goes on. */
export function whyCanaryEnds(s: EksDerived): string | undefined {
  const { pool } = s;
  const { version } = s.due;
  if (!isOpen(s) || !isMainSettled(s)) return undefined;
  const tried = version?.isTried ? version : undefined;
  const failed = tried?.hasFailed ? failureOfCanary(s) : undefined;
  if (tried && failed && !isPassing(failed)) return `${describeTried(triedBy(s, tried.change))} failed`;
  const main = groupOf(s);
  const isReplaced = main && canBeReplaced(pool) && s.due.differences.unchangeable.length > 0;
  if (isReplaced) return `another node group is to replace ${main.name}`;
  if (isOtherCanary(s)) return 'it was created for another version';
  if (tried) return undefined;
  if (canarySpecIn(pool.spec) && version) return 'another version is due';
  const name = nodeGroupNameOf(pool);
  if (hasVersionOfCanary(s)) return `node group ${name} has this version`;
  return isTemplateKnown(s) && !isTriedTemplateLost(s)
    ? 'the spec no longer asks for it'
    : `the launch template of ${name} cannot be changed`;
}

/** Whether the canary tried another version of a launch template that was deleted, or that EKS does not accept any more. */
function isTriedTemplateLost(s: EksDerived): boolean {
  const main = groupOf(s);
  if (!main || canaryIn(s.pool)?.templateVersion === undefined) return false;
  return templateIn(s.pool.spec) ? s.due.template === undefined : isTemplateDeleted(s, main) === true;
}

/** Whether the main group has what the canary tried. */
function hasVersionOfCanary(s: EksState): boolean {
  const { releaseVersion, templateVersion } = canaryIn(s.pool) ?? {};
  const main = groupOf(s);
  const hasTemplate = templateVersion === undefined || main?.launchTemplate?.version === templateVersion;
  return hasTemplate && main?.releaseVersion !== undefined && main.releaseVersion === releaseVersion;
}

/** The failure that ends the canary, which status must keep. */
export function failureOfCanary({ due: { version, failures } }: EksDerived) {
  if (!version?.isTried) return undefined;
  const failure = failureOf(failures, version.target);
  return failure && { ...failure, message: cut(failure.message, AWS_MESSAGE_LENGTH) };
}
