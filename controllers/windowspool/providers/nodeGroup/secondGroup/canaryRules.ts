/** Rules for the canary of a node group. */
import type { SecondNodeGroup } from '../../../api/api.gen.ts';
import { CANARY_TAG } from '../../../api/labels.ts';
import { AWS_MESSAGE_LENGTH } from '../../../api/statusLimits.ts';
import type { RuleResult } from '../../../model/decisions.ts';
import type { Step } from '../../../model/steps.ts';
import type { NewNodeGroup, NodeGroup, TemplateVersion, VersionChange } from '../../../ports/eks.ts';
import { waitFor, waitMeanwhile } from '../../../rules/ruleChains.ts';
import { count, cut } from '../../../util/words.ts';
import { failureOf, isRetriable } from '../changes/describeFailedChanges.ts';
import { desiredNodeGroup, nodeGroupNameOf, secondNameOf } from '../desired/desiredNodeGroup.ts';
import { accessEntryFirst, tokenFor, waitForPrerequisites } from '../groupRules.ts';
import { isTemplateKnown } from '../launchTemplate/desiredLaunchSettings.ts';
import { isTemplateDeleted } from '../launchTemplate/ownTemplate.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf, ownedGroup } from '../observation/knownGroups.ts';
import { writeAheadRecordFor } from '../reporting/writeAheadStatus.ts';
import { templateIn } from '../versions/userLaunchTemplate.ts';
import {
  canarySpecIn,
  canaryTargetOf,
  canaryTemplate,
  describeTried,
  hasPassed,
  isAnotherCanary,
  isCanary,
  isMainSettled,
  isOpen,
  triedBy,
} from './canary.ts';
import { describeSecondGroup } from './describeSecondGroup.ts';
import { canaryIn, canBeReplaced, inPhase, isDraining, newRecord, secondIn } from './secondGroup.ts';
import { describeDrainOf } from './secondGroupDrainRules.ts';

/** Ensures that a canary whose record was lost is known again as one, by its tag: the main group has the other of the two names, whichever that is. */
export function recallCanary(s: EksState): Step[] | undefined {
  const { pool } = s;
  const main = ownedGroup(pool, s.group);
  const canary = [ownedGroup(pool, s.second), main].find((group) => group && isCanary(group));
  if (secondIn(pool) || !canary) return undefined;
  const second = { canary: recalled(canary, s.now) };
  if (canary !== main) {
    const ahead = writeAheadRecordFor(s, { second });
    return ahead && [{ kind: 'beginCanary', ahead, text: `continue with canary ${canary.name}` }];
  }
  const name = secondNameOf(pool);
  const ahead = writeAheadRecordFor(s, { nodeGroupName: name, isSwitched: true, second });
  return ahead && [{ kind: 'switchNodeGroup', ahead, text: `use node group ${name}, whose canary is ${main.name}` }];
}

/** Ensures that the main group is untouched until its canary has passed, and that a canary begins only when no prerequisite of it is missing. */
export function tryOnCanary(s: EksDerived): RuleResult | undefined {
  const { version, prerequisites } = s.due;
  const record = canaryIn(s.pool);
  if (!version || (!record && !canarySpecIn(s.pool.spec))) return undefined;
  if (hasPassed(s)) return undefined;
  if (record) {
    const message = isDraining(s) ? `The update waits until canary ${record.name} is deleted.` : describeSecondGroup(s);
    return waitMeanwhile('CanaryRunning', 'read', { message, progress: true });
  }
  const isReady = version.isCanaryDue && s.prerequisites?.complete && prerequisites.blocking.length === 0;
  if (isReady) return { steps: begun(s, version.change), continues: true };
  const blocked = version.isCanaryDue ? waitForPrerequisites(s) : undefined;
  if (blocked) return { ...blocked, continues: true };
  const message = 'Its canary is created when the prerequisites are known.';
  return waitMeanwhile('UpdatePending', 'read', { message, progress: true });
}

function begun(s: EksState, change: VersionChange): Step[] {
  const name = secondNameOf(s.pool);
  const tried = triedBy(s, change);
  const canary: SecondNodeGroup = {
    ...newRecord({ name }, 'Creating', s.now),
    target: canaryTargetOf(s.pool, change),
    ...versionOf(tried),
    ...(tried.launchTemplate && { templateVersion: tried.launchTemplate.version }),
  };
  const { nodes = 1, soakDuration = '' } = canarySpecIn(s.pool.spec) ?? {};
  const text = `try ${describeTried(tried)} on canary ${name} (${count(nodes, 'node')}) for ${soakDuration} before node group ${nodeGroupNameOf(s.pool)} is updated`;
  const ahead = writeAheadRecordFor(s, { second: { canary } });
  return ahead ? [{ kind: 'beginCanary', ahead, text }] : [];
}

/** Ensures that a canary ends when it failed, when the main group has its version, and when that is not desired any more. */
export function endCanary(s: EksDerived): Step[] | undefined {
  const record = canaryIn(s.pool);
  const why = record && whyCanaryEnds(s);
  if (!why) return undefined;
  const failed = failureOfCanary(s);
  const canary = inPhase(record, 'Draining', s.now);
  const ahead = writeAheadRecordFor(s, { second: { canary }, ...(failed && { failed }) });
  const text = `${describeDrainOf(s, `canary ${record.name}`)}: ${why}`;
  return ahead && [{ kind: 'endCanary', ahead, text }];
}

/** Why the open canary ends, in words; undefined while it goes on. */
function whyCanaryEnds(s: EksDerived): string | undefined {
  const { pool } = s;
  const { version } = s.due;
  if (!isOpen(s) || !isMainSettled(s)) return undefined;
  const tried = version?.isTried ? version : undefined;
  const failed = tried?.hasFailed ? failureOfCanary(s) : undefined;
  if (tried && failed && !isRetriable(failed)) return `${describeTried(triedBy(s, tried.change))} failed`;
  const main = groupOf(s);
  const isReplaced = main && canBeReplaced(pool) && s.due.differences.unchangeable.length > 0;
  if (isReplaced) return `another node group is to replace ${main.name}`;
  if (isAnotherCanary(s)) return 'it was created for another version';
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
function failureOfCanary({ due: { version, failures } }: EksDerived) {
  if (!version?.isTried) return undefined;
  const failure = failureOf(failures, version.target);
  return failure && { ...failure, message: cut(failure.message, AWS_MESSAGE_LENGTH) };
}

/** Ensures that a canary that was recorded is created, once no prerequisite of it is missing. */
export function createCanary(s: EksDerived): RuleResult | Step[] | undefined {
  const { version } = s.due;
  const main = ownedGroup(s.pool, s.group);
  if (!isOpen(s) || !version?.isCanaryDue || !main) return undefined;
  const blocked = waitForPrerequisites(s);
  if (blocked) return blocked;
  if (!s.prerequisites?.complete) return undefined;
  // Without an access entry of the role, EKS would create one of type EC2_LINUX: the entry is restored first.
  if (accessEntryFirst(s).length > 0) return undefined;
  const { change } = version;
  const template = canaryTemplate(s, main, change);
  // The rules for the template create it first.
  if (template === 'missing') return undefined;
  const desired = desiredCanary(s, main, change, template);
  const token = tokenFor(s.pool, 'canary', desired, canaryIn(s.pool)?.startTime);
  return [{ kind: 'createCanary', desired, token }];
}

/** Ensures that an open canary is not changed, and waited for until it can be created. */
export function keepOpenCanary(s: EksState): RuleResult | undefined {
  return isOpen(s) ? waitFor('CanaryRunning', 'read', { progress: true }) : undefined;
}

/** The group of the canary: like the main group in everything but the version that is tried, and of a fixed size, which no autoscaler changes. */
function desiredCanary(
  s: EksState,
  main: NodeGroup,
  change: VersionChange,
  launchTemplate: TemplateVersion | undefined,
): NewNodeGroup {
  const { pool } = s;
  const { labels, taints, tags } = desiredNodeGroup(pool);
  const { nodes = 1 } = canarySpecIn(pool.spec) ?? {};
  const { amiType, capacityType, instanceTypes, subnets, nodeRoleArn, diskSizeGiB } = main;
  return {
    name: secondNameOf(pool),
    amiType,
    capacityType,
    instanceTypes,
    subnets: [...subnets].sort(),
    nodeRoleArn,
    ...(launchTemplate ? { launchTemplate } : diskSizeGiB !== undefined && { diskSizeGiB }),
    scaling: { minSize: nodes, maxSize: nodes, desiredSize: nodes },
    labels,
    taints,
    tags: { ...tags, [CANARY_TAG]: canaryTargetOf(pool, change) },
    ...versionOf(change),
  };
}

/** What the tags of a canary say of it. Its version is what it has. */
function recalled(group: NodeGroup, now: number): SecondNodeGroup {
  return { ...newRecord(group, 'Creating', now), target: group.tags[CANARY_TAG] ?? '', ...versionOf(group) };
}

function versionOf({
  kubernetesVersion,
  releaseVersion,
}: Partial<Pick<NodeGroup, 'kubernetesVersion' | 'releaseVersion'>>) {
  return { ...(kubernetesVersion && { kubernetesVersion }), ...(releaseVersion && { releaseVersion }) };
}
