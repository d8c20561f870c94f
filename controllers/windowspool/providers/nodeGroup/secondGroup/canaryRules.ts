/** Rules for the canary of a node group. */
import type { CanaryNodeGroup } from '../../../api/api.gen.ts';
import { CANARY_TAG } from '../../../api/labels.ts';
import type { RuleResult } from '../../../model/decisions.ts';
import type { Step } from '../../../model/steps.ts';
import type { NewNodeGroup, NodeGroup, TemplateVersion, VersionChange } from '../../../ports/eks.ts';
import { waitFor, waitMeanwhile } from '../../../rules/ruleChains.ts';
import { timeOf } from '../../../util/durations.ts';
import { count } from '../../../util/words.ts';
import { desiredNodeGroup, nodeGroupNameOf, otherNameOf } from '../desired/desiredNodeGroup.ts';
import { accessEntryFirst, tokenFor, waitForPrerequisites } from '../groupRules.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { ownedGroup } from '../observation/knownGroups.ts';
import { memoryFor } from '../reporting/writeAheadStatus.ts';
import { canarySpecIn, canaryTargetOf, describeTried, hasPassed, isCanary, isOpen, triedBy } from './canary.ts';
import { failureOfCanary, whyCanaryEnds } from './canaryEnd.ts';
import { describeCanary } from './canaryStatus.ts';
import { canaryTemplate } from './canaryTemplate.ts';
import { canaryIn, isDraining, nodesOfOther, otherGroup, otherGroupIn } from './replacement.ts';

/** Ensures that a canary whose record was lost is known again as one, by its tag: the main group has the other name, whichever that is. */
export function recallCanary(s: EksState): Step[] | undefined {
  const { pool } = s;
  if (otherGroupIn(pool)) return undefined;
  const other = otherGroup(s);
  if (other && s.former?.kind === 'seen' && isCanary(other)) {
    const memory = memoryFor(s, { canary: recordFor(other, s.now) });
    return memory && [{ kind: 'beginCanary', memory, text: `continue with canary ${other.name}` }];
  }
  const main = ownedGroup(pool, s.group);
  if (!main || !isCanary(main)) return undefined;
  const name = otherNameOf(pool);
  const memory = memoryFor(s, { nodeGroupName: name, switched: { canary: recordFor(main, s.now) } });
  return memory && [{ kind: 'switchNodeGroup', memory, text: `use node group ${name}, whose canary is ${main.name}` }];
}

/** Ensures that the main group is untouched until its canary has passed, and that a canary begins only when no prerequisite of it is missing. */
export function tryOnCanary(s: EksDerived): RuleResult | undefined {
  const { version, prerequisites } = s.due;
  const record = canaryIn(s.pool);
  if (!version || (!record && !canarySpecIn(s.pool.spec))) return undefined;
  if (hasPassed(s)) return undefined;
  if (record) {
    const message = isDraining(s) ? `The update waits until canary ${record.name} is deleted.` : describeCanary(s);
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
  const name = otherNameOf(s.pool);
  const tried = triedBy(s, change);
  const { kubernetesVersion, releaseVersion, launchTemplate } = tried;
  const canary: CanaryNodeGroup = {
    name,
    since: timeOf(s.now),
    target: canaryTargetOf(s.pool, change),
    ...(kubernetesVersion && { kubernetesVersion }),
    ...(releaseVersion && { releaseVersion }),
    ...(launchTemplate && { templateVersion: launchTemplate.version }),
  };
  const { nodes = 1, soakDuration = '' } = canarySpecIn(s.pool.spec) ?? {};
  const text = `try ${describeTried(tried)} on canary ${name} (${count(nodes, 'node')}) for ${soakDuration} before node group ${nodeGroupNameOf(s.pool)} is updated`;
  const memory = memoryFor(s, { canary });
  return memory ? [{ kind: 'beginCanary', memory, text }] : [];
}

/** Ensures that a canary ends when it failed, when the main group has its version, and when that is not desired any more. */
export function endCanary(s: EksDerived): Step[] | undefined {
  const record = canaryIn(s.pool);
  const why = record && whyCanaryEnds(s);
  if (!why) return undefined;
  const failed = failureOfCanary(s);
  const canary = { ...record, drainingSince: timeOf(s.now) };
  const memory = memoryFor(s, { canary, ...(failed && { failed }) });
  const text = `drain the ${count(nodesOfOther(s).length, 'node')} of canary ${record.name}, then delete it: ${why}`;
  return memory && [{ kind: 'endCanary', memory, text }];
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
  const token = tokenFor(s.pool, 'canary', desired, canaryIn(s.pool)?.since);
  return [{ kind: 'createCanary', desired, token }];
}

/** Ensures that an open canary is not changed, and waited for until it can be created. */
export function keepOpenCanary({ pool }: EksState): RuleResult | undefined {
  return canaryIn(pool) && !isDraining({ pool }) ? waitFor('CanaryRunning', 'read', { progress: true }) : undefined;
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
  const { kubernetesVersion, releaseVersion } = change;
  const { nodes = 1 } = canarySpecIn(pool.spec) ?? {};
  return {
    name: otherNameOf(pool),
    amiType: main.amiType,
    capacityType: main.capacityType,
    instanceTypes: main.instanceTypes,
    subnets: [...main.subnets].sort(),
    nodeRoleArn: main.nodeRoleArn,
    ...(launchTemplate ? { launchTemplate } : main.diskSizeGiB !== undefined && { diskSizeGiB: main.diskSizeGiB }),
    scaling: { minSize: nodes, maxSize: nodes, desiredSize: nodes },
    labels,
    taints,
    tags: { ...tags, [CANARY_TAG]: canaryTargetOf(pool, change) },
    ...(kubernetesVersion && { kubernetesVersion }),
    ...(releaseVersion && { releaseVersion }),
  };
}

/** What the tags of a canary say of it. Its version is what it has. */
function recordFor({ name, arn, status, tags, kubernetesVersion, releaseVersion }: NodeGroup, now: number) {
  return {
    name,
    arn,
    status,
    since: timeOf(now),
    target: tags[CANARY_TAG] ?? '',
    ...(kubernetesVersion && { kubernetesVersion }),
    ...(releaseVersion && { releaseVersion }),
  };
}
