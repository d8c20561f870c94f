/** The facts that checks need: when each is read, how, and with which permission. Answers that pools have in common are shared. */

import { POOL_KEY } from '../../../api/labels.ts';
import { instanceTypesQuestion } from '../../../checks/instanceTypes.ts';
import { accessEntryQuestion } from '../../../checks/nodeAccess.ts';
import { CNI_CONFIG_QUESTION, IPAM_KEY, isIpamOn } from '../../../checks/windowsIpam.ts';
import { roleArnOf, roleName } from '../../../nodes/nodeRole.ts';
import { yearOf } from '../../../nodes/windowsVersions.ts';
import type { CallResult } from '../../../ports/callResult.ts';
import type { Cluster, NodeGroup, NodeGroups, Releases } from '../../../ports/eks.ts';
import type { Capacity, InstanceType, LaunchTemplate, PrerequisiteSources } from '../../../ports/prerequisites.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { canonical } from '../../../util/hash.ts';
import { selectsByTags, subnetTerms } from '../desired/subnets.ts';
import { userDataIn } from '../launchTemplate/groupScript.ts';
import { imageIdOf, imageParameterIn, selectedImage } from '../launchTemplate/image.ts';
import { followsSecurityGroups, isCustom, securityGroupTerms } from '../launchTemplate/launchSettings.ts';
import { controlPlaneGroups, lacksClusterGroup } from '../launchTemplate/securityRules.ts';
import type { FactName, Facts, FactValue } from '../model/checkFacts.ts';
import type { EksState } from '../model/groupState.ts';
import { ownedGroup } from '../observation/knownGroups.ts';
import { GROUP_NAMES } from '../observation/readGroups.ts';
import { instanceTypesOf, templateIn, templateVersion } from '../versions/userLaunchTemplate.ts';
import { unlistedMinor } from './windowsSupport.ts';

/** What facts are read from. */
export type FactSources = PrerequisiteSources & {
  readonly nodeGroups: Pick<NodeGroups, 'describe' | 'names'>;
  readonly releases: Pick<Releases, 'exists'>;
};

/** Answers a question from what is cached, or with the call. */
export type Ask = <T>(
  question: string,
  call: (signal: AbortSignal) => Promise<CallResult<T>>,
) => Promise<CallResult<T>>;

/** What a fact is read with. */
export interface Reading {
  readonly s: EksState;
  readonly sources: FactSources;
  /** Answers that are younger than the last read while something fails, and at most half a resync interval old otherwise. */
  readonly ask: Ask;
  /** Answers about what rarely changes: they can be an hour old, unless a prerequisite is not met. */
  readonly askRarely: Ask;
  /** As `ask`, but no answers from before EKS finished the group: EKS gives the role its access while it creates the group. */
  readonly askAccess: Ask;
  /** The launch template that the pool names, as far as it is known: it may set the instance type. */
  readonly template: LaunchTemplate | undefined;
  /** Whether another group is to replace that of the pool. */
  readonly isToBeReplaced: boolean;
  /** Another fact, from which this one follows. */
  readonly fact: <N extends FactName>(name: N) => Promise<Facts[N]>;
}

/**
 * When a fact is read.
 * - `always`: others can change it while the node group looks healthy.
 * - `complete`: only with all others, because a group must be created or something fails.
 * - `advice`: with all others, and for advice that the pool has or may get. Only advice may need it.
 */
export type When = 'always' | 'complete' | 'advice';

interface FactEntry<N extends FactName> {
  /** An IAM action, or a verb and an object of Kubernetes. */
  readonly permission: string;
  readonly when: When | ((spec: EksState['pool']['spec']) => When);
  /** Undefined if the pool does not have what the fact is about. */
  readonly read: (reading: Reading) => Promise<CallResult<FactValue<N>> | undefined> | undefined;
}

const CNI_ADDON_QUESTION = 'add-on vpc-cni';
const CNI_OWNER_QUESTION = 'owner of ConfigMap amazon-vpc-cni';

/** The shared questions about Windows IPAM; changes of the setting invalidate their answers. */
export const IPAM_QUESTIONS = [CNI_CONFIG_QUESTION, CNI_ADDON_QUESTION, CNI_OWNER_QUESTION] as const;

const entryFor =
  (when: When) =>
  <N extends FactName>(permission: string, read: FactEntry<N>['read']): FactEntry<N> => ({ permission, when, read });
const always = entryFor('always');
const onlyComplete = entryFor('complete');
const forAdvice = entryFor('advice');

/** Every fact, in the order in which they are read. */
export const factTable: { readonly [N in FactName]: FactEntry<N> } = {
  // `$Latest` and `$Default` can resolve to another version at any time.
  launchTemplate: always('ec2:DescribeLaunchTemplateVersions', ({ s, sources, ask }) => {
    const template = templateIn(s.pool.spec);
    if (!template) return undefined;
    const wanted = templateVersion(template, String(template.version));
    const question = `version ${wanted.version} of launch template ${wanted.id ?? wanted.name}`;
    return ask(question, (signal) => sources.launchTemplates.find(wanted, signal));
  }),
  cniConfig: always('get configmaps kube-system/amazon-vpc-cni', ({ sources, ask }) =>
    ask(CNI_CONFIG_QUESTION, (signal) => sources.system.cniConfig(signal)),
  ),
  cniAddon: always('eks:DescribeAddon', ({ sources, ask }) =>
    ask(CNI_ADDON_QUESTION, (signal) => sources.addons.find('vpc-cni', signal)),
  ),
  legacyController: always('get deployments.apps kube-system/vpc-resource-controller', ({ sources, ask }) =>
    ask('Deployment vpc-resource-controller', (signal) => sources.system.legacyController(signal)),
  ),
  linuxNode: always('list nodes', ({ sources, ask }) =>
    ask('Linux node', (signal) => sources.system.linuxNode(signal)),
  ),
  accessEntry: always('eks:DescribeAccessEntry', async ({ s, sources, ask, askAccess }) => {
    const cluster = clusterOf(s);
    if (cluster?.authenticationMode === 'CONFIG_MAP') return undefined;
    const role = cluster ? roleArnOf(nodeGroupIn(s.pool.spec).nodeRole, cluster) : '';
    const call = (signal: AbortSignal) => sources.accessEntries.find(role, signal);
    // An existing access entry does not change with the group: only a missing one is read again.
    const known = await ask(accessEntryQuestion(role), call);
    return known.ok && known.value ? known : askAccess(accessEntryQuestion(role), call);
  }),
  // Only an entry that is older than its role has another cause than its type.
  roleCreatedAt: onlyComplete('iam:GetRole', async ({ s, sources, ask, fact }) => {
    const [cluster, entry] = [clusterOf(s), await fact('accessEntry')];
    if (!cluster || !entry?.ok || entry.value?.createdAt === undefined) return undefined;
    const role = roleName(roleArnOf(nodeGroupIn(s.pool.spec).nodeRole, cluster));
    return ask(`role ${role}`, (signal) => sources.roles.createdAt(role, signal));
  }),
  roleMappings: always('get configmaps kube-system/aws-auth', ({ s, sources, askAccess }) =>
    clusterOf(s)?.authenticationMode === 'API'
      ? undefined
      : askAccess('ConfigMap aws-auth', (signal) => sources.system.roleMappings(signal)),
  ),
  cniConfigOwner: always('get configmaps kube-system/amazon-vpc-cni', async ({ s, sources, ask, fact }) => {
    const cniConfig = await fact('cniConfig');
    if (!s.settings.enableWindowsIpam || !cniConfig?.ok || isIpamOn(cniConfig.value)) return undefined;
    return ask(CNI_OWNER_QUESTION, (signal) => sources.system.cniConfigOwner(IPAM_KEY, signal));
  }),
  ami: always('ssm:GetParameter', ({ s: { pool, cluster }, sources, askRarely }) => {
    const { spec } = pool;
    const minor = cluster.kind === 'seen' ? unlistedMinor(spec, cluster.cluster) : undefined;
    if (minor === undefined || isCustom(spec)) return undefined;
    const { edition } = nodeGroupIn(spec);
    const year = yearOf(spec.windowsVersion);
    return askRarely(`AMI of ${year} ${edition} ${minor}`, (signal) =>
      sources.releases.exists({ year, edition }, minor, signal),
    );
  }),
  imageParameter: always('ssm:GetParameter', ({ s, sources, ask }) => {
    const parameter = imageParameterIn(s.pool.spec, s.cluster);
    return parameter === undefined
      ? undefined
      : ask(`SSM parameter ${parameter}`, (signal) => sources.images.idIn(parameter, signal));
  }),
  // Another client may deregister it at any time.
  image: always('ec2:DescribeImages', async (reading) => {
    const imageParameter = await reading.fact('imageParameter');
    const id = selectedImage(reading.s.pool.spec, imageParameter ? { imageParameter } : {});
    return id === undefined ? undefined : imageOf(id, reading);
  }),
  securityGroups: {
    permission: 'ec2:DescribeSecurityGroups',
    // Another security group may get the tags at any time.
    when: (spec) => (followsSecurityGroups(spec) ? 'always' : 'complete'),
    read: ({ s, sources, ask }) => {
      const terms = securityGroupTerms(s.pool.spec);
      if (terms.length === 0) return undefined;
      const vpcId = clusterOf(s)?.vpcId ?? '';
      return ask(`security groups ${canonical(terms)}`, (signal) =>
        sources.securityGroups.selectedBy(terms, vpcId, signal),
      );
    },
  },
  // Another version of the template, or another rule, may keep nodes from joining.
  controlPlaneRules: always('ec2:DescribeSecurityGroups', ({ s, sources, ask, template }) => {
    const cluster = clusterOf(s);
    if (!cluster || !lacksClusterGroup(template, cluster)) return undefined;
    const ids = [...controlPlaneGroups(cluster)].sort();
    return ask(`security groups ${ids}`, (signal) => sources.securityGroups.find(ids, signal));
  }),
  // The ConfigMap may get another script at any time.
  userData: always('get configmaps in the namespace of the operator', ({ s, sources, ask }) => {
    const userData = userDataIn(s.pool.spec);
    if (!userData) return undefined;
    const { configMap, key } = userData;
    return ask(`script ${configMap}/${key}`, (signal) => sources.userScripts.read(userData, signal));
  }),
  clusterRolePolicies: onlyComplete('iam:ListAttachedRolePolicies', ({ s, sources, ask }) => {
    const role = roleName(clusterOf(s)?.roleArn ?? '');
    return role === '' ? undefined : ask(`policies of ${role}`, (signal) => sources.roles.policiesOf(role, signal));
  }),
  podWebhook: onlyComplete(
    'get mutatingwebhookconfigurations.admissionregistration.k8s.io vpc-resource-mutating-webhook',
    ({ sources, ask }) => ask('webhook of pods', (signal) => sources.system.podWebhook(signal)),
  ),
  instanceTypes: onlyComplete('ec2:DescribeInstanceTypes', ({ s, sources, askRarely, template }) =>
    instanceTypesFor(instanceTypesOf(s.pool.spec, template), sources.capacity, askRarely),
  ),
  offerings: onlyComplete('ec2:DescribeInstanceTypeOfferings', ({ s, sources, askRarely, template }) => {
    const types = [...instanceTypesOf(s.pool.spec, template)].sort();
    return types.length === 0
      ? undefined
      : askRarely(`offerings of ${types}`, (signal) => sources.capacity.offerings(types, signal));
  }),
  subnets: {
    permission: 'ec2:DescribeSubnets',
    // Another subnet may get the tags at any time.
    when: (spec) => (selectsByTags(spec) ? 'always' : 'complete'),
    read: ({ s, sources, ask }) => subnetsOf(s, sources.capacity, ask),
  },
  linuxRoles: onlyComplete('eks:DescribeNodegroup', linuxRolesOf),
  nodeGroups: onlyComplete('eks:ListNodegroups', ({ sources, ask, isToBeReplaced }) =>
    isToBeReplaced ? ask(GROUP_NAMES, (signal) => sources.nodeGroups.names(signal)) : undefined,
  ),
  securityRules: forAdvice('ec2:DescribeSecurityGroups', ({ s, sources, askRarely, template }) => {
    const cluster = clusterOf(s);
    if (cluster?.securityGroup === undefined) return undefined;
    // Those that the spec selects by tags are among the other facts.
    const named = template?.securityGroups ?? securityGroupTerms(s.pool.spec).flatMap(({ id }) => id ?? []);
    const sorted = [...new Set([...controlPlaneGroups(cluster), ...named])].sort();
    return askRarely(`security groups ${sorted}`, (signal) => sources.securityGroups.find(sorted, signal));
  }),
  instanceFeatures: forAdvice('ec2:DescribeInstanceTypes', ({ s, sources, askRarely, template }) =>
    instanceTypesFor(instanceTypesOf(s.pool.spec, template), sources.capacity, askRarely),
  ),
  encryptsVolumes: forAdvice('ec2:GetEbsEncryptionByDefault', ({ sources, askRarely }) =>
    askRarely('encryption of volumes', (signal) => sources.capacity.encryptsVolumes(signal)),
  ),
  subnetZones: forAdvice('ec2:DescribeSubnets', ({ s, sources, askRarely }) =>
    subnetsOf(s, sources.capacity, askRarely),
  ),
  unmanagedNodes: forAdvice('list nodes', async ({ s, sources, askRarely, fact }) => {
    const entry = await fact('accessEntry');
    if (clusterOf(s)?.authenticationMode === 'API' || (entry?.ok && entry.value)) return undefined;
    return askRarely('unmanaged nodes', (signal) => sources.system.unmanagedNodes(signal));
  }),
  dnsNodes: forAdvice('list pods', ({ sources, askRarely }) =>
    askRarely('CoreDNS pods', (signal) => sources.system.dnsNodes(signal)),
  ),
};

function clusterOf({ cluster }: EksState): Cluster | undefined {
  return cluster.kind === 'seen' ? cluster.cluster : undefined;
}

/** These instance types; undefined if there are none. */
export function instanceTypesFor(
  names: readonly string[],
  capacity: Pick<Capacity, 'instanceTypes'>,
  ask: Ask,
): Promise<CallResult<readonly InstanceType[]>> | undefined {
  if (names.length === 0) return undefined;
  const types = [...names].sort();
  return ask(instanceTypesQuestion(types), (signal) => capacity.instanceTypes(types, signal));
}

function subnetsOf(s: EksState, capacity: Pick<Capacity, 'subnets'>, ask: Ask) {
  const terms = subnetTerms(s.pool.spec);
  const vpcId = clusterOf(s)?.vpcId ?? '';
  return ask(`subnets ${canonical(terms)}`, (signal) => capacity.subnets(terms, vpcId, signal));
}

/** The custom AMI of the spec, and that of the node group, which EKS reports as its release. */
async function imageOf(id: string, { s, sources, ask }: Reading): Promise<NonNullable<Facts['image']>> {
  const find = (id: string) => ask(`AMI ${id}`, (signal) => sources.images.find(id, signal));
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

/**
 * The node roles of the groups with Linux nodes. A role cannot change, so it is cached for long. A kubelet writes its own labels, so groups for Windows and those of
 * pools are not among them: a Linux instance in such a group is a fault of the group.
 */
async function linuxRolesOf({ sources, ask, askRarely }: Reading): Promise<NonNullable<Facts['linuxRoles']>> {
  const groups = await ask('Linux groups', (signal) => sources.system.linuxGroups(signal));
  if (!groups.ok) return groups;
  const roles: { group: string; nodeRoleArn: string }[] = [];
  for (const group of groups.value) {
    const answer = await askRarely(`role of ${group}`, (signal) => sources.nodeGroups.describe(group, signal));
    if (!answer.ok) return answer;
    // The nodes of a deleted group exist for some minutes longer.
    if (answer.value && !isForWindows(answer.value)) roles.push({ group, nodeRoleArn: answer.value.nodeRoleArn });
  }
  return { ok: true, value: roles };
}

function isForWindows({ amiType, tags }: NodeGroup): boolean {
  return amiType.startsWith('WINDOWS_') || POOL_KEY in tags;
}
