/** When a canary is to be created, and when it ends. Pure. */
import type { ObservedState } from '../../../model/observedState.ts';
import type { VersionChange } from '../../../ports/eks.ts';
import { groupOf } from '../../../queries.ts';
import { AWS_MESSAGE_LENGTH } from '../../../statusLimits.ts';
import { cut } from '../../../util/words.ts';
import { failedTargetsOf, hasFailed, isPassing } from '../failedTarget.ts';
import { isTemplateKnown } from '../machine/desiredMachine.ts';
import { isTemplateDeleted } from '../machine/machineTemplate.ts';
import { nodeGroupNameOf } from '../nodeGroup.ts';
import {
  canaryIn,
  canBeReplaced,
  otherGroupIn,
  replacementDue,
  unchangeableDifferences,
} from '../replacement/replacement.ts';
import { nextVersionChange } from '../upgrades/automaticUpdates.ts';
import { desiredTemplate } from '../upgrades/desiredTemplate.ts';
import { templateIn } from '../upgrades/launchTemplate.ts';
import { versionChangeFor, versionTargetOf } from '../upgrades/versionChanges.ts';
import {
  canarySpecIn,
  describeTried,
  isMainIdle,
  isMainSettled,
  isOpen,
  isOtherCanary,
  triedBy,
  triedChange,
} from './canary.ts';

/** The update for which a canary is to be created now; undefined also when it exists, as far as is known. */
export function canaryDue(s: ObservedState): VersionChange | undefined {
  // The launch template is read last: which facts are read must not depend on it.
  if (!canarySpecIn(s.pool.spec) || !isMainIdle(s)) return undefined;
  if (isOpen(s)) {
    const isMissing = s.former?.kind === 'absent' && canaryIn(s.pool)?.arn === undefined;
    const tried = isMissing ? triedChange(s) : undefined;
    // A release that EKS did not offer is asked for again at the next regular read.
    return tried && !hasFailed(s, versionTargetOf(s.pool, tried)) ? tried : undefined;
  }
  if (s.former || otherGroupIn(s.pool) || replacementDue(s).length > 0) return undefined;
  return nextVersionChange(s);
}

/** Why the open canary ends, in words; undefined while it goes on. */
export function whyCanaryEnds(s: ObservedState): string | undefined {
  const { pool } = s;
  if (!isOpen(s) || !isMainSettled(s)) return undefined;
  const tried = triedChange(s);
  const failed = tried && hasFailed(s, versionTargetOf(pool, tried)) ? failureOfCanary(s) : undefined;
  if (tried && failed && !isPassing(failed)) return `${describeTried(triedBy(s, tried))} failed`;
  const main = groupOf(s);
  const isReplaced = main && canBeReplaced(pool) && unchangeableDifferences(s, main).length > 0;
  if (isReplaced) return `another node group is to replace ${main.name}`;
  if (isOtherCanary(s)) return 'it was created for another version';
  if (tried) return undefined;
  if (canarySpecIn(pool.spec) && versionChangeFor(s)) return 'another version is due';
  const name = nodeGroupNameOf(pool);
  if (hasVersionOfCanary(s)) return `node group ${name} has this version`;
  return isTemplateKnown(s) && !isTriedTemplateLost(s)
    ? 'the spec no longer asks for it'
    : `the launch template of ${name} cannot be changed`;
}

/** Whether the canary tried another version of a launch template that was deleted, or that EKS does not accept any more. */
function isTriedTemplateLost(s: ObservedState): boolean {
  const main = groupOf(s);
  if (!main || canaryIn(s.pool)?.templateVersion === undefined) return false;
  return templateIn(s.pool.spec) ? desiredTemplate(s, main) === undefined : isTemplateDeleted(s, main) === true;
}

/** Whether the main group has what the canary tried. */
function hasVersionOfCanary(s: ObservedState): boolean {
  const { releaseVersion, templateVersion } = canaryIn(s.pool) ?? {};
  const main = groupOf(s);
  const hasTemplate = templateVersion === undefined || main?.launchTemplate?.version === templateVersion;
  return hasTemplate && main?.releaseVersion !== undefined && main.releaseVersion === releaseVersion;
}

/** The failure that ends the canary, which status must keep. */
export function failureOfCanary(s: ObservedState) {
  const tried = triedChange(s);
  const target = tried && versionTargetOf(s.pool, tried);
  const failure = target === undefined ? undefined : failedTargetsOf(s).find((failed) => failed.target === target);
  return failure && { ...failure, message: cut(failure.message, AWS_MESSAGE_LENGTH) };
}
