/** The condition PrerequisitesMet: whether the operator has its permissions, and the results of the checks. */

import { USABLE_BY_TAG } from '../../../api/labels.ts';
import { type Reason, reasons } from '../../../api/reasons.ts';
import { describeResult, namesOf, prerequisitesLink, remarkable, remarksOf } from '../../../checks/describeChecks.ts';
import type { CheckResult, CheckResults } from '../../../checks/runChecks.ts';
import { falseCondition, trueCondition, unknownCondition } from '../../../conditions/condition.ts';
import { isOptionalRead, missingPermission, type OutsidePermissions } from '../../../conditions/missingPermission.ts';
import { resolved } from '../../../conditions/references.ts';
import type { ConditionState, PrerequisitesState } from '../../../model/conditions.ts';
import type { CallError, Denial } from '../../../ports/callResult.ts';
import { isDeleting } from '../../../rules/poolQueries.ts';
import { isAwsError } from '../../../steps/stepKinds.ts';
import { count, cut, describeFailure, sentence } from '../../../util/words.ts';
import { wasHidden, wasOfChecks } from '../checks/prerequisitesRecord.ts';
import { nodeGroupNameOf } from '../desired/desiredNodeGroup.ts';
import { selectsByTags } from '../desired/subnets.ts';
import { userDataIn } from '../launchTemplate/groupScript.ts';
import { followsImage } from '../launchTemplate/image.ts';
import { followsSecurityGroups, isCustom } from '../launchTemplate/launchSettings.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { hasCluster, isClusterMismatch, isUnknown, type UnknownGroup } from '../observation/knownGroups.ts';

/** Whether the operator has its permissions and all prerequisites are met. */
export function prerequisitesMet(s: EksDerived): PrerequisitesState {
  const { cluster, settings, pool } = s;
  if (isClusterMismatch(s)) return clusterMismatch(s);
  const checked = s.due.prerequisites.results;
  const denied = missingPermission(s, ofAws);
  const failed = checked && assessFailed(s, checked, denied);
  if (denied) return failed && denied.status === 'False' ? withFailed(denied, failed) : (failed ?? denied);
  if (cluster.kind === 'absent') {
    const gone = pool.status?.cluster ? 'no longer exists' : 'does not exist';
    const message = `EKS cluster ${settings.clusterName} ${gone} in ${settings.region}. Check the operator's flags --cluster-name and --region.`;
    const workaround = isDeleting(pool) ? ' To delete the pool anyway, set deletionPolicy: Retain.' : '';
    return falseCondition('ClusterNotFound', message + workaround, 'stalled');
  }
  if (cluster.kind === 'unreachable') return unavailable(cluster.error);
  const earlier = isUnknown(s.group) && !isDeleting(pool) ? assessHidden(s, s.group) : undefined;
  if (earlier) return earlier;
  return failed ?? (checked && assessUnchecked(s, checked)) ?? assessMet(s, cluster.cluster.name, checked);
}

function unavailable(error: CallError): PrerequisitesState {
  return { ...unknownCondition('AWSUnavailable', describeFailure(error), 'working'), result: 'Unavailable' };
}

/** The condition before a read of the group that failed or is to be confirmed: no check was run, so it has not changed. */
function assessHidden(s: EksState, view: UnknownGroup): PrerequisitesState | undefined {
  if (wasHidden(s) && view.kind === 'unreachable') return unavailable(view.error);
  const { conditions = [] } = s.pool.status ?? {};
  const reported = conditions.find(({ type }) => type === 'PrerequisitesMet');
  if (!reported || !(wasOfChecks(s) || wasHidden(s))) return undefined;
  const reason = reported.reason as Reason;
  const whole = resolved(conditions).find(({ type }) => type === 'PrerequisitesMet');
  const ready = conditions.find(({ type }) => type === 'Ready');
  // Ready has its text, and nothing before it, while it is the reason why the pool is not Ready.
  const isOwn = whole?.message === reported.message || (ready?.status === 'False' && ready.reason === reason);
  const message = isOwn ? (whole?.message ?? '') : (reasons[reason] ?? reported.message);
  return { status: reported.status, reason, message, isEarlier: true };
}

/** All prerequisites are met. Remarks block nothing, so the status is True and the reason indicates them. */
function assessMet(
  { pool, settings }: EksState,
  cluster: string,
  checked: CheckResults | undefined,
): PrerequisitesState {
  const remarks = checked ? remarksOf(pool, checked, settings) : '';
  const reason = checked?.ignored.length ? 'PrerequisitesIgnored' : remarks ? 'MetWithWarnings' : 'Met';
  const notes = (checked?.all ?? [])
    .flatMap(({ status, message }) => (status === 'Met' && message ? [` ${sentence(message)}`] : []))
    .join('');
  const message = `All prerequisites in EKS cluster ${cluster} are met.${notes}${remarks}`;
  const isRemarked = reason !== 'Met' && { result: 'Remarked' as const };
  return { ...trueCondition(reason, message), ...isRemarked, ...(checked && remarkable(pool, checked, settings)) };
}

function assessUnchecked(s: EksDerived, checked: CheckResults): PrerequisitesState | undefined {
  const finding = assessUnknown(s, checked);
  if (!finding) return undefined;
  const message = finding.message + remarksOf(s.pool, checked, s.settings);
  return { ...finding, message, ...remarkable(s.pool, checked, s.settings) };
}

/** Combines a denied write with an unmet prerequisite, which comes last because its command is the end. */
function withFailed(denied: PrerequisitesState, { message, remarks }: PrerequisitesState): PrerequisitesState {
  return { ...denied, message: `${denied.message} ${message}`, ...(remarks !== undefined && { remarks }) };
}

/** The unmet prerequisites. They stall the pool only when they block the creation of its group; an existing group is kept as it is. */
function assessFailed(
  s: EksDerived,
  checked: CheckResults,
  denied: PrerequisitesState | undefined,
): PrerequisitesState | undefined {
  const { failed } = checked;
  const [first] = failed;
  if (!first) return undefined;
  const rest = assessUnknown(s, checked);
  // A transient error is not included: the message would change with each attempt.
  const beside = rest?.reason === 'AccessDenied' ? ` ${rest.message}` : '';
  const read = denied?.status === 'Unknown' ? ` ${denied.message}` : '';
  const remarks = read + beside + remarksOf(s.pool, checked, s.settings);
  const { blocking } = s.due.prerequisites;
  const isTransient = blocking.every((result) => result.isTransient);
  const progress = blocking.length === 0 ? undefined : isTransient ? 'working' : 'stalled';
  const condition = falseCondition(first.check.reason, describeFailed(s, failed, remarks), progress);
  return { ...condition, result: 'NotMet', ...remarkable(s.pool, checked, s.settings) };
}

/** One that is not met, with its remedy; of several, their names, because each has its remedy in status.checks. A command is the end. */
function describeFailed(s: EksDerived, failed: readonly CheckResult[], remarks: string): string {
  const [first, ...more] = failed;
  if (first && more.length === 0) {
    const { fix, ...finding } = first;
    return `${describeResult(finding, s.settings)}${remarks}${fix === undefined ? '' : ` ${fix}`}`;
  }
  const missing = `${failed.length} prerequisites are not met (${namesOf(failed)}). The remedy for each is in status.checks.`;
  const isMissing = s.group.kind === 'absent' && s.due.prerequisites.blocking.length > 0;
  return `${isMissing ? `Node group ${nodeGroupNameOf(s.pool)} is not created: ` : ''}${missing}${remarks}`;
}

/** The prerequisites that could not be checked. They block nothing, except what the launch template needs and what the spec selects by tags. */
function assessUnknown(s: EksDerived, { unknown }: CheckResults): PrerequisitesState | undefined {
  if (unknown.length === 0) return undefined;
  const named = unknown.map(({ check, message }) => `${check.about} (${message})`).join(', ');
  const denied = unknown.some(({ right }) => right);
  const remedy = denied
    ? `Grant the permissions in config/aws/iam-policy.json and config/rbac. See ${prerequisitesLink(s.settings, 'what-could-not-be-checked')}.`
    : 'The operator retries.';
  const message = `${count(unknown.length, 'prerequisite')} could not be checked: ${named}. ${effectOfUnknown(s)} ${remedy}`;
  const result = denied ? 'ReadDenied' : 'NotMet';
  return { ...unknownCondition(denied ? 'AccessDenied' : 'NotChecked', message), result };
}

function effectOfUnknown(s: EksDerived): string {
  const { spec } = s.pool;
  const { subnets, securityGroups, imageParameter, userData } = s.prerequisites ?? {};
  const isUnresolved = spec.nodeGroup !== undefined && followsImage(spec) && !imageParameter?.ok;
  if (isUnresolved && s.due.isToBeMade) return 'The node group is created when SSM returns the ID of its AMI.';
  const isUnread = spec.nodeGroup !== undefined && userDataIn(spec) !== undefined && !userData?.ok;
  if (isUnread && s.due.isToBeMade)
    return 'The node group is created when the script of nodeGroup.userData can be read.';
  const isOpen = (selectsByTags(spec) && !subnets?.ok) || (followsSecurityGroups(spec) && !securityGroups?.ok);
  return isOpen && s.due.isToBeMade
    ? 'The node group is created when EC2 shows what has the tags in the spec.'
    : 'This does not block the pool.';
}

/** The calls of AWS that were denied, and where to grant them. */
const ofAws: OutsidePermissions = {
  denied: ({ errors, group, cluster }: EksState) =>
    [
      ...(group.kind === 'unreachable' ? [group.error] : []),
      ...(cluster.kind === 'unreachable' ? [cluster.error] : []),
      ...errors.filter((entry) => isAwsError(entry) && !isOptionalRead(entry)).map(({ error }) => error),
    ].find(({ kind }) => kind === 'denied'),
  describe: (denied, s: EksState) => {
    const { role } = grantsOf(denied);
    const ofTemplate = role === LAUNCH_POLICY ? ` ${onlyTagged(s)}` : '';
    const beforeCreation = denied === hiddenGroup(s) ? ` ${MISSING_GROUP}` : '';
    const isOfGroup = denied.action === 'iam:PassRole' && denied.operation === 'CreateNodegroup';
    const fix = isOfGroup ? WRONG_ROLE : grantOf(denied, role, ofTemplate, s);
    const what = denied.denial
      ? describeDenial(denied, denied.denial)
      : sentence(`AWS denied ${denied.operation}: ${denied.message}`);
    return `${what} ${fix}${beforeCreation}${ofDefaultTags(denied, s)}`;
  },
  roleFor: (denied) => grantsOf(denied).account,
};

/** `AWS denied eks:CreateNodegroup on arn:...: no policy of IAM role windowspool-operator allows it.` */
function describeDenial({ action }: CallError, { principal, resource, policy, isExplicit }: Denial): string {
  const on = resource === undefined || resource === '*' ? '' : ` on ${cut(resource, RESOURCE_LENGTH)}`;
  const own = policy === undefined || policy === OF_ROLE;
  const why = isExplicit
    ? `${own ? 'a policy' : `a ${policy}`} denies it to IAM ${principal}`
    : own
      ? `no policy of IAM ${principal} allows it`
      : `no ${policy} allows it to IAM ${principal}`;
  return `AWS denied ${action}${on}: ${why}.`;
}

/** The type of the policies that are attached to a role. */
const OF_ROLE = 'identity-based policy';
/** Of an ARN, in characters. */
const RESOURCE_LENGTH = 256;

/** How to permit it. Where another policy denies it, or does not allow it, a grant to the role has no effect. */
function grantOf({ action, denial }: CallError, file: string, also: string, { settings }: EksState): string {
  const { policy = OF_ROLE, isExplicit, principal = 'role' } = denial ?? {};
  if (isExplicit || policy !== OF_ROLE) return 'Change that policy: a grant to the role has no effect.';
  const grant = denial
    ? `Attach ${file} to the ${principal.split(' ')[0]}.`
    : `Grant ${action ?? 'this permission'} to the operator's IAM role. ${file} lists all permissions that it needs.`;
  return `${grant}${also} See ${settings.docsUrl}/concepts/security.md#in-aws.`;
}

/**
 * A policy that names single node groups may deny the first read of each: no public source documents what EKS authorizes for a group that
 * does not exist.
 */
const MISSING_GROUP =
  'EKS may also deny this for a node group that does not exist yet. The statement ReadNodeGroupsAndTheirUpdates covers both.';

/** Why a node group that was never observed could not be described. */
function hiddenGroup({ group, pool }: EksState): CallError | undefined {
  return group.kind === 'unreachable' && pool.status?.nodeGroup?.arn === undefined ? group.error : undefined;
}

/** The policy names the roles that the operator may pass, so a role that is misspelled is denied like one that does not exist. */
const WRONG_ROLE =
  "Check that nodeGroup.nodeRole is the role that you meant. If it is, add it to the statement PassNodeRole in the policy of the operator's IAM role (config/aws/iam-policy.json).";

const LAUNCH_POLICY = 'config/aws/launch-templates.json';
const CUSTOM_POLICY = 'config/aws/custom-amis.json';
const OWN_TEMPLATES_POLICY = 'config/aws/own-launch-templates.json';

/** The calls for which that policy has the permissions. */
const OF_OWN_TEMPLATES: readonly string[] = [
  'DescribeLaunchTemplates',
  'CreateLaunchTemplate',
  'CreateLaunchTemplateVersion',
  'DeleteLaunchTemplateVersions',
  'DeleteLaunchTemplate',
];

/** The calls with tags for which the policies in config/aws grant no permission. */
const TAGGED: readonly string[] = ['CreateLaunchTemplate', 'CreateAccessEntry'];

/** That the tags of the flag need more than the policies in config/aws. */
function ofDefaultTags({ operation }: CallError, { settings: { defaultTags, docsUrl } }: EksState): string {
  const isTagged = TAGGED.includes(operation) && Object.keys(defaultTags).length > 0;
  return isTagged
    ? ` The tags of --default-tags need additional permissions: ${docsUrl}/how-to/launch-templates.md#default-tags.`
    : '';
}

/** What else than the permission may be missing: EKS reports the same for a launch template that the policy excludes. */
function onlyTagged({ pool: { spec }, settings: { clusterName } }: EksState): string {
  const custom = spec.nodeGroup && isCustom(spec) ? ` Custom AMIs also need ${CUSTOM_POLICY}.` : '';
  return `It allows only launch templates with the tag ${USABLE_BY_TAG}=${clusterName}.${custom}`;
}

/** The files with the permissions for a call. Those for launch templates of users, for those of the operator, and to enable Windows IPAM are separate. */
function grantsOf({ operation, action }: CallError): { readonly role: string; readonly account: string } {
  const isOption = operation === 'UpdateAddon' || operation === 'patch configmaps';
  if (isOption) return { role: 'config/aws/windows-ipam.json', account: 'config/windows-ipam' };
  if (OF_OWN_TEMPLATES.includes(operation)) return { role: OWN_TEMPLATES_POLICY, account: 'config/rbac' };
  if (action === 'ec2:RunInstances') return { role: LAUNCH_POLICY, account: 'config/rbac' };
  return { role: 'config/aws/iam-policy.json', account: 'config/rbac' };
}

/** What to configure for a pool with a node group. */
const CONFIGURE_CLUSTER =
  "Set the operator's flags --cluster-name and --region: clusterName and region in the values of the Helm chart, or of the ConfigMap windowspool-operator-cluster in your overlay of config/default.";

function clusterMismatch(s: EksState): ConditionState {
  const { cluster, settings, pool } = s;
  if (!hasCluster(s)) return notConfigured(s);
  const pinned = pool.status?.cluster?.arn;
  const wrongServer = cluster.kind === 'seen' && !cluster.cluster.isOurs;
  const message = wrongServer
    ? `The certificate authority of EKS cluster ${settings.clusterName} in ${settings.region} is not that of the API server that the operator uses.`
    : `The pool's node group was created in ${pinned}, and the operator is configured for ${settings.clusterName} in ${settings.region}.`;
  const fix =
    "Check the operator's flags --cluster-name and --region. Nothing is changed. To delete the pool, set deletionPolicy: Retain.";
  return falseCondition('ClusterMismatch', `${message} ${fix}`, 'stalled');
}

function notConfigured({ pool }: EksState): ConditionState {
  const message = 'The pool has a nodeGroup, and the operator is not configured for an EKS cluster.';
  const workaround =
    isDeleting(pool) && pool.status?.cluster
      ? ' To delete the pool and keep its node group, set deletionPolicy: Retain.'
      : '';
  return falseCondition('ClusterNotConfigured', `${message} ${CONFIGURE_CLUSTER}${workaround}`, 'stalled');
}
