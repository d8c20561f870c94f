/** Reads the facts that the checks need, in parallel. Answers that pools have in common are shared. */

import { yearOf } from '../../../nodes/windows.ts';
import type { ReadCache } from '../../../observation/readCache.ts';
import type { CallResult } from '../../../ports/callResult.ts';
import type { NodeGroups, Releases } from '../../../ports/eks.ts';
import type { PrerequisiteSources } from '../../../ports/prerequisites.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { canonical } from '../../../util/hash.ts';
import { gatherAdvice } from '../advice/gatherAdvice.ts';
import { isToBeReplaced, scopeToRead } from '../derive/deriveGroup.ts';
import { roleArnOf } from '../desired/nodeRole.ts';
import { selectsByTags } from '../desired/subnets.ts';
import { imageIdOf, imageParameterIn, selectedImage } from '../launchTemplate/image.ts';
import { followsSecurityGroups, isCustom, securityGroupTerms } from '../launchTemplate/machine.ts';
import { userDataIn } from '../launchTemplate/userScript.ts';
import type { EksState } from '../model/groupState.ts';
import type { PrerequisiteFacts } from '../model/prerequisiteFacts.ts';
import { ownedGroup } from '../observation/knownGroups.ts';
import { completeAge, isNewlyCreated } from '../observation/nodeGroupSnapshot.ts';
import { instanceTypesOf, templateIn, templateVersion } from '../versions/launchTemplate.ts';
import { IPAM_KEY, isIpamOn } from './addressMode.ts';
import { unlistedMinor } from './clusterChecks.ts';
import { roleName } from './networkChecks.ts';
import { type Ask, instanceTypesFor, subnetsOf } from './questions.ts';
import { wasUnmet } from './record.ts';

/** How long rarely changing answers are cached: instance types, their offerings and the roles of groups. In milliseconds. */
export const LONG_MS = 3_600_000;

/** The number of nodes without addresses whose events are read at each run. */
const NODES_ASKED = 3;

/** The shared question about a role's access entry; changes of the entry invalidate its answer. */
export function accessEntryQuestion(role: string): string {
  return `access entry ${role}`;
}

const CNI_CONFIG_QUESTION = 'ConfigMap amazon-vpc-cni';
const CNI_ADDON_QUESTION = 'add-on vpc-cni';
const CNI_OWNER_QUESTION = 'owner of ConfigMap amazon-vpc-cni';

/** The shared questions about Windows IPAM; changes of the setting invalidate their answers. */
export const IPAM_QUESTIONS = [CNI_CONFIG_QUESTION, CNI_ADDON_QUESTION, CNI_OWNER_QUESTION] as const;

type Sources = PrerequisiteSources & {
  readonly nodeGroups: Pick<NodeGroups, 'describe' | 'names'>;
  readonly releases: Pick<Releases, 'exists'>;
};

/** Reads the facts that the state of the pool requires; undefined when it requires none. */
export async function gatherFacts(
  s: EksState,
  sources: Sources,
  readCache: ReadCache,
  signal: AbortSignal,
): Promise<PrerequisiteFacts | undefined> {
  const scope = scopeToRead(s);
  if (scope === 'nothing') return undefined;
  const complete = scope === 'complete';
  const { shared } = readCache;
  const age = complete ? completeAge(readCache, s) : s.settings.resyncMs / 2;
  const ask: Ask = (question, call) => shared.get(question, age, s.now, call, signal);
  // An unmet prerequisite may have changed.
  const longAge = wasUnmet(s) ? age : LONG_MS;
  const askRarely: Ask = (question, call) => shared.get(question, longAge, s.now, call, signal);
  // EKS gives the role its access while it creates the group, so earlier answers are outdated.
  const accessAge = isNewlyCreated(readCache, s) ? completeAge(readCache, s) : age;
  const askAccess: Ask = (question, call) => shared.get(question, accessAge, s.now, call, signal);
  // First, because the launch template may set the instance type.
  const launchTemplate = await launchTemplateOf(s, sources, ask);
  const template = launchTemplate?.ok ? launchTemplate.value : undefined;
  const types = instanceTypesOf(s.pool.spec, template);
  const [standing, ami, images, subnets, securityGroups, userData, rest, controllerWarnings, advice] =
    await Promise.all([
      standingFacts(s, sources, ask, askAccess),
      amiOf(s, sources, askRarely),
      // Another client may deregister it at any time.
      imagesOf(s, sources.images, ask),
      // Another subnet may get the tags at any time.
      !complete && selectsByTags(s.pool.spec) && subnetsOf(s, sources.capacity, ask),
      // So may another security group.
      (complete || followsSecurityGroups(s.pool.spec)) && securityGroupsOf(s, sources.securityGroups, ask),
      // And the ConfigMap another script.
      userDataOf(s, sources.userScripts, ask),
      complete && otherFacts(s, types, sources, ask, askRarely),
      warningsOf(s, sources, signal),
      gatherAdvice({ s, sources, ask: askRarely, template }, complete),
    ]);
  return {
    complete,
    ...standing,
    ...(launchTemplate && { launchTemplate }),
    ...(ami && { ami }),
    ...images,
    ...(subnets && { subnets }),
    ...(securityGroups && { securityGroups }),
    ...(userData && { userData }),
    ...rest,
    ...(controllerWarnings.length > 0 && { controllerWarnings }),
    ...(advice && { advice }),
  };
}

/** The launch template, when the pool names one. `$Latest` and `$Default` can resolve to another version at any time. */
async function launchTemplateOf(
  { pool }: EksState,
  { launchTemplates }: Sources,
  ask: Ask,
): Promise<PrerequisiteFacts['launchTemplate']> {
  const template = templateIn(pool.spec);
  if (!template) return undefined;
  const wanted = templateVersion(template, String(template.version));
  const question = `version ${wanted.version} of launch template ${wanted.id ?? wanted.name}`;
  return ask(question, (signal) => launchTemplates.find(wanted, signal));
}

/** Whether EKS publishes an AMI for a Kubernetes version that is newer than the operator's table. */
async function amiOf(
  { pool: { spec }, cluster }: EksState,
  { releases }: Sources,
  ask: Ask,
): Promise<PrerequisiteFacts['ami']> {
  const minor = cluster.kind === 'seen' ? unlistedMinor(spec, cluster.cluster) : undefined;
  if (minor === undefined || isCustom(spec)) return undefined;
  const { edition } = nodeGroupIn(spec);
  const year = yearOf(spec.windowsVersion);
  return ask(`AMI of ${year} ${edition} ${minor}`, (signal) => releases.exists({ year, edition }, minor, signal));
}

/** The custom AMI of the spec, and that of the node group, which EKS reports as its release. */
async function imagesOf(s: EksState, images: Sources['images'], ask: Ask) {
  const parameter = imageParameterIn(s.pool.spec, s.cluster);
  const imageParameter =
    parameter !== undefined && (await ask(`SSM parameter ${parameter}`, (signal) => images.idIn(parameter, signal)));
  const known = imageParameter ? { imageParameter } : {};
  const id = selectedImage(s.pool.spec, known);
  const image = id === undefined ? undefined : await imageOf(s, id, images, ask);
  return { ...known, ...(image && { image }) };
}

async function imageOf(
  s: EksState,
  id: string,
  images: Sources['images'],
  ask: Ask,
): Promise<NonNullable<PrerequisiteFacts['image']>> {
  const find = (id: string) => ask(`AMI ${id}`, (signal) => images.find(id, signal));
  const present = imageIdOf(ownedGroup(s.pool, s.group));
  const [found, ofGroup] = await Promise.all([
    find(id),
    present === undefined || present === id ? undefined : find(present),
  ]);
  if (!found.ok) return found;
  if (ofGroup && !ofGroup.ok) return ofGroup;
  const other = present === id ? found : ofGroup;
  const group = present !== undefined && other && { ofGroup: { id: present, found: other.value } };
  return { ok: true, value: { id, found: found.value, ...group } };
}

/** Facts that others can change while the group looks healthy. */
async function standingFacts(s: EksState, { addons, accessEntries, system }: Sources, ask: Ask, askAccess: Ask) {
  const cluster = s.cluster.kind === 'seen' ? s.cluster.cluster : undefined;
  const role = cluster ? roleArnOf(nodeGroupIn(s.pool.spec).nodeRole, cluster) : '';
  const mode = cluster?.authenticationMode;
  const [cniConfig, cniAddon, legacyController, linuxNode, accessEntry, roleMappings] = await Promise.all([
    ask(CNI_CONFIG_QUESTION, (signal) => system.cniConfig(signal)),
    ask(CNI_ADDON_QUESTION, (signal) => addons.find('vpc-cni', signal)),
    ask('Deployment vpc-resource-controller', (signal) => system.legacyController(signal)),
    ask('Linux node', (signal) => system.linuxNode(signal)),
    mode !== 'CONFIG_MAP' && accessEntryOf(role, accessEntries, ask, askAccess),
    mode !== 'API' && askAccess('ConfigMap aws-auth', (signal) => system.roleMappings(signal)),
  ]);
  const enables = s.settings.enableWindowsIpam && cniConfig.ok && !isIpamOn(cniConfig.value);
  const cniConfigOwner =
    enables && (await ask(CNI_OWNER_QUESTION, (signal) => system.cniConfigOwner(IPAM_KEY, signal)));
  return {
    cniConfig,
    cniAddon,
    ...(cniConfigOwner && { cniConfigOwner }),
    legacyController,
    linuxNode,
    ...(accessEntry && { accessEntry }),
    ...(roleMappings && { roleMappings }),
  };
}

/** An existing access entry does not change with the group: only a missing one is read again. */
async function accessEntryOf(role: string, accessEntries: Sources['accessEntries'], ask: Ask, askAccess: Ask) {
  const question = accessEntryQuestion(role);
  const call = (signal: AbortSignal) => accessEntries.find(role, signal);
  const known = await ask(question, call);
  return known.ok && known.value ? known : askAccess(question, call);
}

/** Facts that matter only before a group is created, or when something fails. */
async function otherFacts(
  s: EksState,
  names: readonly string[],
  { capacity, system, nodeGroups, rolePolicies }: Sources,
  ask: Ask,
  askRarely: Ask,
) {
  const types = [...names].sort();
  const clusterRole = s.cluster.kind === 'seen' ? roleName(s.cluster.cluster.roleArn) : '';
  const [clusterRolePolicies, podWebhook, instanceTypes, offerings, found, linuxRoles, groups] = await Promise.all([
    clusterRole !== '' && ask(`policies of ${clusterRole}`, (signal) => rolePolicies.attachedTo(clusterRole, signal)),
    ask('webhook of pods', (signal) => system.podWebhook(signal)),
    instanceTypesFor(names, capacity, askRarely),
    types.length > 0 && askRarely(`offerings of ${types}`, (signal) => capacity.offerings(types, signal)),
    subnetsOf(s, capacity, ask),
    ask('Linux groups', (signal) => system.linuxGroups(signal)).then((groups) =>
      rolesOf(groups, nodeGroups, askRarely),
    ),
    isToBeReplaced(s) && ask('node groups', (signal) => nodeGroups.names(signal)),
  ]);
  return {
    ...(clusterRolePolicies && { clusterRolePolicies }),
    podWebhook,
    ...(instanceTypes && { instanceTypes }),
    ...(offerings && { offerings }),
    subnets: found,
    linuxRoles,
    ...(groups && { nodeGroups: groups }),
  };
}

/** The security groups that the spec selects, if it selects any. */
async function securityGroupsOf({ pool, cluster }: EksState, groups: Sources['securityGroups'], ask: Ask) {
  const terms = securityGroupTerms(pool.spec);
  if (terms.length === 0) return undefined;
  const vpcId = cluster.kind === 'seen' ? cluster.cluster.vpcId : '';
  const question = `security groups ${canonical(terms)}`;
  return ask(question, (signal) => groups.selectedBy(terms, vpcId, signal));
}

/** The script that the spec names, if it names one. */
async function userDataOf({ pool }: EksState, scripts: Sources['userScripts'], ask: Ask) {
  const userData = userDataIn(pool.spec);
  if (!userData) return undefined;
  const { configMap, key } = userData;
  return ask(`script ${configMap}/${key}`, (signal) => scripts.read(userData, signal));
}

/**
 * The warnings of the VPC resource controller about nodes without addresses: those of the first few, because the cause is usually the same
 * for all.
 */
async function warningsOf(
  { poolNodes }: EksState,
  { system }: Sources,
  signal: AbortSignal,
): Promise<NonNullable<PrerequisiteFacts['controllerWarnings']>> {
  const nodes = poolNodes.failing
    .filter(({ failures }) => failures.some(({ reason }) => reason === 'NoPodAddresses'))
    .slice(0, NODES_ASKED);
  return Promise.all(
    nodes.map(async ({ node }) => ({ node: node.name, answer: await system.controllerWarnings(node, signal) })),
  );
}

/** The node roles of the groups with Linux nodes. A role cannot change, so it is cached for long. */
async function rolesOf(
  groups: CallResult<readonly string[]>,
  nodeGroups: Sources['nodeGroups'],
  askRarely: Ask,
): Promise<NonNullable<PrerequisiteFacts['linuxRoles']>> {
  if (!groups.ok) return groups;
  const roles: { group: string; nodeRoleArn: string }[] = [];
  for (const group of groups.value) {
    const answer = await askRarely(`role of ${group}`, (signal) => nodeGroups.describe(group, signal));
    if (!answer.ok) return answer;
    // The nodes of a deleted group exist for some minutes longer.
    if (answer.value) roles.push({ group, nodeRoleArn: answer.value.nodeRoleArn });
  }
  return { ok: true, value: roles };
}
