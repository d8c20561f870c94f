/** What status records of a canary, and how conditions describe it. Pure. */
import type { CanaryNodeGroup } from '../../../api/api.gen.ts';
import type { CanaryStage } from '../../../model/disruption.ts';
import type { Outcome } from '../../../model/outcome.ts';
import { isDeleting, isPaused } from '../../../rules/poolQueries.ts';
import { timeOf } from '../../../util/durations.ts';
import { clockTime } from '../../../util/words.ts';
import { nodeGroupNameOf } from '../desired/desiredNodeGroup.ts';
import { isTemplateKnown } from '../launchTemplate/desiredMachine.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf } from '../observation/knownGroups.ts';
import { canarySpecIn, describeTried, hasPassed, isWhole, passesAt } from './canary.ts';
import { canaryIn, isDraining, nodesOfOther, otherGroup } from './replacement.ts';
import {
  describeBlocked,
  describeDeletion,
  describeDrain,
  describeTrouble,
  drainFailure,
  isBlocked,
  isForgotten,
  isOtherUnknown,
} from './replacementStatus.ts';

/** status.nodeGroup.canary after a run; undefined when there is none any more. */
export function canaryState(outcome: Outcome<EksState>): CanaryNodeGroup | undefined {
  const { after: s } = outcome;
  const record = canaryIn(s.pool);
  if (!record || isForgotten(s)) return undefined;
  const {
    nodes: _nodes,
    verified: _verified,
    absentSince,
    verifiedSince,
    unverifiedSince,
    blocked: _b,
    ...kept
  } = record;
  const blocked = drainFailure(outcome);
  const rest = { ...kept, ...(blocked && { blocked }) };
  if (s.former?.kind === 'absent') return { ...rest, absentSince: absentSince ?? timeOf(s.now) };
  if (s.former?.kind !== 'seen') return { ...record, ...rest };
  const canary = otherGroup(s);
  if (!canary) return rest;
  const { arn, status, name } = canary;
  const { total: nodes, verified } = s.poolNodes.inGroup(name);
  const known = { ...rest, arn, status, nodes, verified };
  if (isDraining(s) || status === 'CREATING' || status === 'CREATE_FAILED') return known;
  return isWhole(s)
    ? { ...known, verifiedSince: verifiedSince ?? timeOf(s.now) }
    : { ...known, unverifiedSince: unverifiedSince ?? timeOf(s.now) };
}

/** The stage; undefined when there is no canary, and while it is not known. */
export function canaryStage(s: EksDerived): CanaryStage | undefined {
  if (!canaryIn(s.pool) || isDeleting(s.pool)) return undefined;
  const canary = otherGroup(s);
  if (!canary && isOtherUnknown(s)) return undefined;
  if (isDraining(s)) {
    if (!canary || canary.status.startsWith('DELET') || nodesOfOther(s).length === 0) return 'deleting';
    return isBlocked(s) ? 'blocked' : 'draining';
  }
  if (!canary || canary.status === 'CREATING') return 'creating';
  if (!isWhole(s)) return 'verifying';
  return hasPassed(s) ? 'passed' : 'waiting';
}

/** How the canary goes on, in sentences. It has no number that changes often. */
export function describeCanary(s: EksDerived): string {
  const { name = '', kubernetesVersion, releaseVersion, templateVersion: version } = canaryIn(s.pool) ?? {};
  const launchTemplate = version === undefined ? {} : { launchTemplate: { version } };
  const tried = describeTried({
    ...(kubernetesVersion && { kubernetesVersion }),
    ...(releaseVersion && { releaseVersion }),
    ...launchTemplate,
  });
  const text = isDraining(s) ? `Canary ${name} has ended.` : `Canary ${name} tries ${tried}.`;
  const more = describeStage(s, name);
  return isPaused(s.pool) ? `${text} ${more} It continues when the pool is resumed.` : `${text} ${more}`;
}

function describeStage(s: EksDerived, name: string): string {
  const main = nodeGroupNameOf(s.pool);
  const trouble = describeTrouble(s, name);
  if (trouble !== undefined) return trouble;
  const { nodes = 0, soakDuration = '' } = canarySpecIn(s.pool.spec) ?? {};
  const all = `${groupOf({ group: s.former ?? { kind: 'absent' } })?.scaling.desiredSize ?? nodes}`;
  switch (canaryStage(s)) {
    case 'creating':
      if (s.former?.kind === 'absent' && canaryIn(s.pool)?.arn)
        return `EKS does not have node group ${name} any more. The canary ends if that lasts.`;
      if (s.due.prerequisites.blocking.length > 0)
        return 'It is created when the prerequisites are met. See PrerequisitesMet.';
      if (!isTemplateKnown(s) && !otherGroup(s)) return 'It is created when the launch template of the pool is read.';
      return `Node group ${main} is not updated until the nodes of the canary have been verified for ${soakDuration}.`;
    case 'verifying':
      return `${s.poolNodes.inGroup(name).verified} of ${all} nodes verified; node group ${main} is not updated until they have been verified for ${soakDuration}.`;
    case 'waiting':
      return `Node group ${main} is updated after ${whenPassed(s)}, if all nodes of the canary stay verified until then.`;
    case 'passed':
      return `Its nodes have been verified for ${soakDuration}. Node group ${main} is updated next.`;
    case 'blocked':
      return describeBlocked(s);
    case 'draining':
      return describeDrain(s);
    default:
      return describeDeletion(s, name);
  }
}

/** When the canary passes: a time of day if that is unambiguous. */
function whenPassed(s: EksState): string {
  const at = passesAt(s) ?? s.now;
  return at - s.now < DAY_MS ? clockTime(at) : timeOf(at);
}

const DAY_MS = 86_400_000;
