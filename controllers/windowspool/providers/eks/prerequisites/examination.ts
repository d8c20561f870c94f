/** The results of a pool's prerequisites, and which facts must be read for them. Pure. */

import type { PrerequisitesRecord, WindowsPool } from '../../../api.gen.ts';
import { terminatingNodes } from '../../../disruption/reservation.ts';
import type { ObservedState } from '../../../model/observedState.ts';
import type { CheckInput, Examination, IpamOffer, MachineTemplateView } from '../../../model/prerequisites.ts';
import { nodeGroupIn } from '../../../nodeSource.ts';
import { isClusterMismatch, isDeleting, isLasting, isPaused, lacksNodes } from '../../../queries.ts';
import { isIpamStep } from '../../../steps/isIpamStep.ts';
import { canarySpecIn } from '../canary/canary.ts';
import { canaryMachine } from '../canary/canaryTemplate.ts';
import { canaryDue } from '../canary/due.ts';
import { desiredMachine, userDataProblem } from '../machine/desiredMachine.ts';
import { hasMachine } from '../machine/machine.ts';
import {
  isOwnTemplate,
  isTemplateDeleted,
  machineTemplateNameOf,
  ownerTags,
  unlikeWritten,
  versionWith,
} from '../machine/machineTemplate.ts';
import { isOwnedBy, nodeGroupNameOf, otherNameOf } from '../nodeGroup.ts';
import { replacementDue, sizeToReplace } from '../replacement/replacement.ts';
import { examine } from './checks.ts';
import { ignoredPrerequisites } from './ignored.ts';

/** The input of the checks; undefined for a pool that is being deleted, or whose cluster or group is unknown or not its own. */
export function checkInputOf(s: ObservedState): CheckInput | undefined {
  const { pool, cluster, group, settings, prerequisites: facts } = s;
  if (!facts || cluster.kind !== 'seen' || isDeleting(pool) || isClusterMismatch(s)) return undefined;
  if (group.kind === 'seen' && !isOwnedBy(pool, group.group)) return undefined;
  const size = isToBeMade(s) ? sizeToReplace(s) : undefined;
  const canaryNodes = canaryDue(s) && canarySpecIn(pool.spec)?.nodes;
  const problem = userDataProblem(s) ?? (canaryNodes === undefined ? undefined : userDataProblem(s, otherNameOf(pool)));
  return {
    spec: pool.spec,
    cluster: cluster.cluster,
    region: settings.region,
    facts,
    creating: isToBeMade(s) || canaryNodes !== undefined,
    groupStatus: group.kind === 'seen' ? group.group.status : undefined,
    groupSubnets: group.kind === 'seen' && !isToBeMade(s) ? group.group.subnets : undefined,
    machineTemplate: templateViewOf(s),
    ...(problem !== undefined && { userDataProblem: problem }),
    managesAccessEntry: nodeGroupIn(pool.spec).accessEntryManagement === 'Operator',
    ...(settings.enableWindowsIpam && !isPaused(pool) && { windowsIpam: ipamOfferOf(s) }),
    instances: instancesOf(s),
    warmInstances: warmInstancesOf(s),
    ...(size !== undefined && { sizeToReplace: size }),
    ...(canaryNodes !== undefined && { canaryNodes }),
    ignored: ignoredPrerequisites(pool),
  };
}

/** The launch template of a pool that sets its machine, and how EC2 returns it. */
function templateViewOf(s: ObservedState): MachineTemplateView | undefined {
  const { pool, settings, machineTemplate } = s;
  if (!machineTemplate || !hasMachine(pool.spec)) return undefined;
  const found = machineTemplate.kind === 'seen' ? machineTemplate.template : undefined;
  const group = s.group.kind === 'seen' ? s.group.group : undefined;
  // While a deleted template is why another group is to be created, all facts stay needed: they are read before the template is.
  const isReplaced = group !== undefined && replacementDue(s).length > 0 && isTemplateDeleted(s, group);
  const ofGroup = isToBeMade(s) && !isReplaced ? undefined : group?.launchTemplate;
  const machines = [desiredMachine(s), canaryDue(s) && canaryMachine(s)].flatMap((machine) => machine ?? []);
  const missing = found && machines.find((machine) => !versionWith(found, machine, undefined));
  return {
    name: machineTemplateNameOf(pool, settings.clusterName),
    ownerTags: ownerTags(pool, settings.clusterName),
    found,
    isOwn: found !== undefined && isOwnTemplate(pool, settings.clusterName, found),
    ofGroup,
    unlike: missing && unlikeWritten(found, missing),
  };
}

/** The instances that have the addresses of the group already. Those of a group that is being replaced keep theirs. */
function instancesOf(s: ObservedState): number {
  if (replacementDue(s).length > 0) return 0;
  if (s.former) return s.poolNodes.inGroup(nodeGroupNameOf(s.pool)).total;
  return Math.max(s.poolNodes.total + s.poolNodes.unlabelledNodes.length, s.instances?.length ?? 0);
}

/** The same for the instances of its warm pool. */
function warmInstancesOf(s: ObservedState): number {
  if (replacementDue(s).length > 0) return 0;
  return s.autoscaler?.warmInstances ?? s.pool.status?.nodeGroup?.warmPool?.instances ?? 0;
}

/** The input for enabling Windows IPAM for a pool that needs it. */
export function ipamOfferOf({ now, settings, ipamAttempts: attempts = {}, errors }: ObservedState): IpamOffer {
  const { pollMs, resyncMs, createRetryMs } = settings;
  const error = errors.find(({ step, error: { kind } }) => isIpamStep({ kind: step }) && kind !== 'denied')?.error;
  return {
    now,
    attempts,
    error: error && isLasting(error) ? error : undefined,
    pollMs,
    resyncMs,
    createRetryMs,
  };
}

/** The results of all checks; undefined when none can be run. */
export function examinationOf(s: ObservedState): Examination | undefined {
  const input = checkInputOf(s);
  return input && examine(input);
}

/** The failed prerequisites that block the creation of the node group or of a canary; empty when none is to be created. */
export function blockers(s: ObservedState): Examination['failed'] {
  return isToBeMade(s) || canaryDue(s) ? (examinationOf(s)?.failed ?? []) : [];
}

/** Whether a group must be created: there is none, it failed to create, or another one must replace it. */
export function isToBeMade(s: ObservedState): boolean {
  const { group } = s;
  const isMissing = group.kind === 'absent' || (group.kind === 'seen' && group.group.status === 'CREATE_FAILED');
  return isMissing || replacementDue(s).length > 0;
}

/**
 * How many facts are read.
 * - `nothing`: the pool is being deleted, or its cluster or group is unknown or not its own.
 * - `standing`: what others can change while the group looks healthy. Cheap, and cached for long.
 * - `complete`: everything, because a group must be created or something fails.
 */
export type Scope = 'nothing' | 'standing' | 'complete';

/** The statuses of a failed group. */
const BROKEN = ['CREATE_FAILED', 'DEGRADED'];
/** Checks that nodes fail when a prerequisite is not met. */
const SYMPTOMS = ['NoPodAddresses', 'NotReady'];

/** The scope that the state of the pool requires. */
export function scopeOf(s: ObservedState): Scope {
  const { pool, cluster, group } = s;
  if (isDeleting(pool) || cluster.kind !== 'seen' || isClusterMismatch(s)) return 'nothing';
  if (group.kind === 'unreachable' || group.kind === 'none') return 'nothing';
  if (group.kind === 'absent') return 'complete';
  if (!isOwnedBy(pool, group.group) || group.group.status === 'DELETING') return 'nothing';
  if (replacementDue(s).length > 0 || canaryDue(s)) return 'complete';
  return hadFindings(s) || BROKEN.includes(group.group.status) || hasSymptoms(s) ? 'complete' : 'standing';
}

/** What status records of PrerequisitesMet. */
export function prerequisitesRecordOf({ status }: WindowsPool): PrerequisitesRecord {
  return status?.bookkeeping?.prerequisites ?? {};
}

/**
 * Whether the last report was not that all prerequisites are met: only a complete read can show that they are. A prerequisite that is not met,
 * a warning and an ignored one are all still true, or a failed call hid them. Earlier operators recorded only the list.
 */
function hadFindings({ pool }: ObservedState): boolean {
  return prerequisitesRecordOf(pool).result !== undefined || (pool.status?.prerequisites ?? []).length > 0;
}

/** Whether a prerequisite was reported as not met or not checked: then all are checked until they are met. */
export function wasUnmet({ pool }: ObservedState): boolean {
  return hadResult(pool, 'NotMet', 'ReadDenied');
}

/** Whether a failed call hid the former results. */
export function wasHidden({ pool }: ObservedState): boolean {
  return hadResult(pool, 'ReadDenied', 'Denied', 'Unavailable');
}

/** Whether PrerequisitesMet is a result of the checks that can be repeated while they cannot run. */
export function wasOfChecks({ pool }: ObservedState): boolean {
  return hadResult(pool, 'NotMet', 'Remarked');
}

function hadResult(pool: WindowsPool, ...results: readonly PrerequisitesRecord['result'][]): boolean {
  return results.includes(prerequisitesRecordOf(pool).result);
}

/**
 * Whether nodes are missing for too long, or fail a check that an unmet prerequisite makes them fail. A node that the operator terminates is expected to be
 * NotReady.
 */
function hasSymptoms(s: ObservedState): boolean {
  const terminating = new Set(terminatingNodes(s.pool).map(({ uid }) => uid));
  return (
    lacksNodes(s) ||
    s.poolNodes.failing.some(
      ({ node, failures }) => !terminating.has(node.uid) && failures.some(({ reason }) => SYMPTOMS.includes(reason)),
    )
  );
}

/** Whether more facts must be read than were. */
export function needsExamination(s: ObservedState): boolean {
  // Evaluated at each event of a node, so the cheaper condition comes first.
  return !s.prerequisites?.complete && scopeOf(s) === 'complete';
}
