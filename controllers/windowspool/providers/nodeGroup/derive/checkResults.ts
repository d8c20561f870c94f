/** Which facts are read, and the results of the checks. Pure. */
import { ignoredChecks } from '../../../checks/ignoredChecks.ts';
import { runChecks } from '../../../checks/runChecks.ts';
import { terminatingNodes } from '../../../disruption/reservation.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { isDeleting, isPaused } from '../../../rules/poolQueries.ts';
import { checks } from '../checks/checks.ts';
import { prerequisitesRecordOf } from '../checks/prerequisitesRecord.ts';
import { isOwnedBy, nodeGroupNameOf, secondNameOf } from '../desired/desiredNodeGroup.ts';
import { desiredLaunchSettings, userDataProblem } from '../launchTemplate/desiredLaunchSettings.ts';
import { hasLaunchSettings } from '../launchTemplate/launchSettings.ts';
import {
  isOwnTemplate,
  isTemplateDeleted,
  ownerTags,
  ownTemplateNameOf,
  unlikeWritten,
  versionWith,
} from '../launchTemplate/ownTemplate.ts';
import type { CheckInput, OwnTemplateView, Scope } from '../model/checkFacts.ts';
import type { DueChecks } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { isClusterMismatch, isUnknown, lacksNodes } from '../observation/knownGroups.ts';
import { canaryLaunchSettings, canarySpecIn } from '../secondGroup/canary.ts';
import { sizeToReplace } from '../secondGroup/secondGroup.ts';
import { ipamOfferOf } from '../windowsIpam/nextIpamMove.ts';

/** Which groups are to be created. */
export interface ToBeMade {
  /** The differences for which another group has to replace the main one. */
  readonly replacement: readonly string[];
  /** Whether a main group is to be created, also one that replaces another. */
  readonly isToBeMade: boolean;
  readonly isCanaryDue: boolean;
}

/** Whether a group must be created: there is none, it failed to create, or another one must replace it. */
export function isToBeMade({ group }: EksState, replacement: readonly string[]): boolean {
  const isMissing = group.kind === 'absent' || (group.kind === 'seen' && group.group.status === 'CREATE_FAILED');
  return isMissing || replacement.length > 0;
}

/** The checks, as far as their facts were read. */
export function prerequisitesOf(s: EksState, made: ToBeMade): DueChecks {
  const input = checkInputOf(s, made);
  const results = input && runChecks(checks, input, ignoredChecks(s.pool));
  const blocking = made.isToBeMade || made.isCanaryDue ? (results?.failed ?? []) : [];
  return { scope: scopeOf(s, made), input, results, blocking };
}

/** The input of the checks; undefined for a pool that is being deleted, or whose cluster or group is unknown or not its own. */
function checkInputOf(s: EksState, made: ToBeMade): CheckInput | undefined {
  const { pool, cluster, group, settings, prerequisites: facts } = s;
  if (!facts || cluster.kind !== 'seen' || isDeleting(pool) || isClusterMismatch(s)) return undefined;
  if (group.kind === 'seen' && !isOwnedBy(pool, group.group)) return undefined;
  const size = made.isToBeMade ? sizeToReplace(s, made.replacement) : undefined;
  const canaryNodes = made.isCanaryDue ? canarySpecIn(pool.spec)?.nodes : undefined;
  const problem =
    userDataProblem(s) ?? (canaryNodes === undefined ? undefined : userDataProblem(s, secondNameOf(pool)));
  return {
    spec: pool.spec,
    cluster: cluster.cluster,
    region: settings.region,
    facts,
    creating: made.isToBeMade || canaryNodes !== undefined,
    groupStatus: group.kind === 'seen' ? group.group.status : undefined,
    groupSubnets: group.kind === 'seen' && !made.isToBeMade ? group.group.subnets : undefined,
    ownTemplate: templateViewOf(s, made),
    ...(problem !== undefined && { userDataProblem: problem }),
    managesAccessEntry: nodeGroupIn(pool.spec).accessEntryManagement === 'Operator',
    ...(settings.enableWindowsIpam && !isPaused(pool) && { windowsIpam: ipamOfferOf(s) }),
    instances: instancesOf(s, made),
    warmInstances: warmInstancesOf(s, made),
    ...(size !== undefined && { sizeToReplace: size }),
    ...(canaryNodes !== undefined && { canaryNodes }),
  };
}

/** The launch template of a pool that sets launch settings, and how EC2 returns it. */
function templateViewOf(s: EksState, made: ToBeMade): OwnTemplateView | undefined {
  const { pool, settings, ownTemplate } = s;
  if (!ownTemplate || !hasLaunchSettings(pool.spec)) return undefined;
  const found = ownTemplate.kind === 'seen' ? ownTemplate.template : undefined;
  const group = s.group.kind === 'seen' ? s.group.group : undefined;
  // While a deleted template is why another group is to be created, all facts stay needed: they are read before the template is.
  const isReplaced = group !== undefined && made.replacement.length > 0 && isTemplateDeleted(s, group);
  const ofGroup = made.isToBeMade && !isReplaced ? undefined : group?.launchTemplate;
  const wanted = [desiredLaunchSettings(s), made.isCanaryDue && canaryLaunchSettings(s)].flatMap(
    (launchSettings) => launchSettings || [],
  );
  const missing = found && wanted.find((launchSettings) => !versionWith(found, launchSettings, undefined));
  return {
    name: ownTemplateNameOf(pool, settings.clusterName),
    ownerTags: ownerTags(pool, settings.clusterName),
    found,
    isOwn: found !== undefined && isOwnTemplate(pool, settings.clusterName, found),
    ofGroup,
    unlike: missing && unlikeWritten(found, missing),
  };
}

/** The instances that have the addresses of the group already. Those of a group that is being replaced keep theirs. */
function instancesOf(s: EksState, { replacement }: ToBeMade): number {
  if (replacement.length > 0) return 0;
  if (s.second) return s.poolNodes.inGroup(nodeGroupNameOf(s.pool)).total;
  return Math.max(s.poolNodes.total + s.poolNodes.unlabelledNodes.length, s.instances?.length ?? 0);
}

/** The same for the instances of its warm pool. */
function warmInstancesOf(s: EksState, { replacement }: ToBeMade): number {
  if (replacement.length > 0) return 0;
  return s.autoscaler?.warmInstances ?? s.pool.status?.nodeGroup?.warmPool?.instances ?? 0;
}

/** The statuses of a failed group. */
const BROKEN = ['CREATE_FAILED', 'DEGRADED'];
/** Checks that nodes fail when a prerequisite is not met. */
const SYMPTOMS = ['NoPodAddresses', 'NotReady'];

/** The scope that the state of the pool requires. */
export function scopeOf(s: EksState, { replacement, isCanaryDue }: ToBeMade): Scope {
  const { pool, cluster, group } = s;
  if (isDeleting(pool) || cluster.kind !== 'seen' || isClusterMismatch(s)) return 'nothing';
  if (isUnknown(group)) return 'nothing';
  if (group.kind === 'absent') return 'complete';
  if (!isOwnedBy(pool, group.group) || group.group.status === 'DELETING') return 'nothing';
  if (replacement.length > 0 || isCanaryDue) return 'complete';
  return hadFindings(s) || BROKEN.includes(group.group.status) || hasSymptoms(s) ? 'complete' : 'standing';
}

/**
 * Whether the last report was not that all prerequisites are met: only a complete read can show that they are. A prerequisite that is not met,
 * a warning and an ignored one are all still true, or a failed call hid them. Earlier operators recorded only the list.
 */
function hadFindings({ pool }: EksState): boolean {
  const { checks: listed = [] } = pool.status ?? {};
  return prerequisitesRecordOf(pool).result !== undefined || listed.some(({ severity }) => severity !== 'Advice');
}

/**
 * Whether nodes are missing for too long, or fail a check that an unmet prerequisite makes them fail. A node that the operator terminates is expected to be
 * NotReady.
 */
function hasSymptoms(s: EksState): boolean {
  const terminating = new Set(terminatingNodes(s.pool).map(({ uid }) => uid));
  return (
    lacksNodes(s) ||
    s.poolNodes.failing.some(
      ({ node, failures }) => !terminating.has(node.uid) && failures.some(({ reason }) => SYMPTOMS.includes(reason)),
    )
  );
}
