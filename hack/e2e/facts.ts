/** Reads the cluster and AWS for the questions. Nothing here changes anything. */
import type { AutoScalingGroup } from '@aws-sdk/client-auto-scaling';
import type { Image } from '@aws-sdk/client-ec2';
import type { Cluster, Nodegroup } from '@aws-sdk/client-eks';
import type { GetParameterResult } from '@aws-sdk/client-ssm';
import { parseRoleMappings } from '../../controllers/kubernetes/roleMappings.ts';
import { sameRole } from '../../controllers/windowspool/providers/nodeGroups.ts';
import { parseQuantity } from '../../controllers/windowspool/util/quantity.ts';
import { type Access, answerDenial } from './answers.ts';
import { found, type Reply, replyOf } from './aws.ts';
import type { RoleUse } from './checks.ts';
import type { Node } from './nodeWatch.ts';
import type { Answers } from './questions.ts';
import type { Run } from './run.ts';

/** The current access of a role. */
export async function accessOf({ aws, kubectl, settings }: Run, roleArn: string, signal: AbortSignal): Promise<Access> {
  const input = { clusterName: settings.clusterName, principalArn: roleArn };
  const reply = await replyOf(aws.eks.describeAccessEntry(input, { abortSignal: signal }));
  const entry = 'output' in reply ? reply.output.accessEntry : undefined;
  const map = await kubectl.get<{ data?: { mapRoles?: string } }>(
    'configmap',
    'aws-auth',
    ['--namespace=kube-system'],
    signal,
  );
  const mappings = parseRoleMappings(map?.data?.mapRoles ?? '');
  return {
    entryType: entry?.type,
    ...('refusal' in reply && reply.refusal.kind !== 'gone' && { entryRefusal: reply.refusal.name }),
    entryGroups: entry?.kubernetesGroups ?? [],
    awsAuthGroups: mappings.ok
      ? mappings.value.find((mapping) => sameRole(mapping.roleArn, roleArn))?.groups
      : `malformed: ${mappings.error.message}`,
  };
}

/** Who uses a node role: what its access depends on, the managed node groups with it, and the nodes whose roles are not known. */
export async function roleUseOf(run: Run, roleArn: string, signal: AbortSignal): Promise<RoleUse> {
  const { aws, kubectl, settings } = run;
  const { clusterName } = settings;
  const access = await accessOf(run, roleArn, signal);
  const { nodegroups = [] } = await aws.eks.listNodegroups({ clusterName }, { abortSignal: signal });
  const usedBy: string[] = [];
  for (const name of nodegroups) {
    const group = await groupOf(run, name, signal);
    if (group?.nodeRole !== undefined && sameRole(group.nodeRole, roleArn)) usedBy.push(name);
  }
  const selector = '--selector=!eks.amazonaws.com/nodegroup,!eks.amazonaws.com/compute-type';
  const nodes = await kubectl.list<Node>('nodes', [selector], signal);
  return { access, usedBy, others: nodes.map(({ metadata }) => metadata.name) };
}

/** The cluster; throws if it does not exist. */
export async function clusterOf({ aws, settings }: Run, signal: AbortSignal): Promise<Cluster> {
  const { clusterName, region } = settings;
  const answer = await found(aws.eks.describeCluster({ name: clusterName }, { abortSignal: signal }));
  if (answer?.cluster === undefined)
    throw new Error(`Cluster ${clusterName} does not exist in ${region}. Check CLUSTER_NAME and AWS_REGION.`);
  return answer.cluster;
}

/** A node group; undefined if it does not exist. */
export async function groupOf(
  { aws, settings }: Run,
  name: string,
  signal: AbortSignal,
): Promise<Nodegroup | undefined> {
  const input = { clusterName: settings.clusterName, nodegroupName: name };
  return (await found(aws.eks.describeNodegroup(input, { abortSignal: signal })))?.nodegroup;
}

/** The nodes of a node group. */
export const nodesOf = ({ kubectl }: Run, group: string, signal: AbortSignal): Promise<readonly Node[]> =>
  kubectl.list<Node>('nodes', [`--selector=eks.amazonaws.com/nodegroup=${group}`], signal);

/** The questions about nodes: reserved memory, and runtime handlers. */
export function answerNodes({ answers }: Run, nodes: readonly Node[]): void {
  const [node] = nodes;
  if (node === undefined) return;
  const memory = (of: Readonly<Record<string, string>> | undefined) => parseQuantity(of?.memory) ?? 0;
  answers.answer('reservedMemory', {
    mebibytes: nodes.map(({ status }) =>
      Math.round((memory(status?.capacity) - memory(status?.allocatable)) / 2 ** 20),
    ),
    capacity: node.status?.capacity?.memory,
    allocatable: node.status?.allocatable?.memory,
  });
  const handlers = node.status?.runtimeHandlers;
  answers.answer('runtimeHandlers', {
    handlers: handlers?.map(({ name }) => (name === '' || name === undefined ? '(default)' : name)) ?? 'absent',
    containerRuntime: node.status?.nodeInfo?.containerRuntimeVersion,
    kernel: node.status?.nodeInfo?.kernelVersion,
  });
}

/** Tags whose keys are AWS', Kubernetes' or the operator's; the user's own are only counted. */
const KNOWN_TAG = /^(eks:|aws:|k8s\.io\/|kubernetes\.io\/|winpool\.dev\/)/;
const tagKeys = (tags: readonly { Key?: string | undefined }[] = []) => ({
  keys: tags
    .map(({ Key = '' }) => Key)
    .filter((key) => KNOWN_TAG.test(key))
    .sort(),
  others: tags.filter(({ Key = '' }) => !KNOWN_TAG.test(Key)).length,
});

/** The questions about the scaling group of a node group: its tags, its warm pool, and the tags of its instances. */
export async function answerScalingGroup(run: Run, group: Nodegroup, signal: AbortSignal): Promise<void> {
  const names = (group.resources?.autoScalingGroups ?? []).flatMap(({ name }) => name ?? []);
  if (names.length === 0) return run.answers.unknown('scalingGroupTags', 'EKS names no Auto Scaling group.');
  const options = { abortSignal: signal };
  const { AutoScalingGroups = [] } = await run.aws.autoScaling.describeAutoScalingGroups(
    { AutoScalingGroupNames: names },
    options,
  );
  const [scaling] = AutoScalingGroups;
  run.answers.answer('scalingGroupTags', {
    scalingGroup: tagKeys(scaling?.Tags),
    propagated: (scaling?.Tags ?? []).flatMap(({ Key = '', PropagateAtLaunch }) =>
      PropagateAtLaunch && KNOWN_TAG.test(Key) ? Key : [],
    ),
    instance: await tagsOfFirst(run, scaling?.Instances ?? [], signal),
  });
  if (scaling?.WarmPoolConfiguration !== undefined) await answerWarmPool(run, scaling, signal);
}

/** DescribeAutoScalingGroups only has the size of a warm pool; its instances are in DescribeWarmPool. */
async function answerWarmPool(run: Run, scaling: AutoScalingGroup, signal: AbortSignal): Promise<void> {
  const { AutoScalingGroupName, WarmPoolConfiguration, WarmPoolSize, Instances: members = [] } = scaling;
  const reply = await replyOf(run.aws.autoScaling.describeWarmPool({ AutoScalingGroupName }, { abortSignal: signal }));
  if ('refusal' in reply) {
    run.answers.unknown('warmPool', `DescribeWarmPool: ${reply.refusal.name}: ${reply.refusal.message}`);
    return;
  }
  const { Instances: warm = [] } = reply.output;
  const warmIds = warm.map(({ InstanceId }) => InstanceId);
  run.answers.answer('warmPool', {
    state: WarmPoolConfiguration?.PoolState,
    size: WarmPoolSize,
    lifecycleStates: warm.map(({ LifecycleState }) => LifecycleState),
    listedAmongMembers: members.some(({ InstanceId }) => warmIds.includes(InstanceId)),
    instance: await tagsOfFirst(run, warm, signal),
  });
}

/** The tags of the first of these instances; undefined if there is none. */
async function tagsOfFirst(
  { aws }: Run,
  instances: readonly { readonly InstanceId?: string | undefined }[],
  signal: AbortSignal,
): Promise<ReturnType<typeof tagKeys> | undefined> {
  const [id] = instances.flatMap(({ InstanceId }) => InstanceId ?? []);
  if (id === undefined) return undefined;
  const { Reservations = [] } = await aws.ec2.describeInstances({ InstanceIds: [id] }, { abortSignal: signal });
  return tagKeys(Reservations.flatMap(({ Instances = [] }) => Instances)[0]?.Tags);
}

/** The events on nodes: their sources and reasons. */
export async function answerEvents(
  { kubectl, answers }: Run,
  nodes: readonly Node[],
  signal: AbortSignal,
): Promise<void> {
  interface Event {
    readonly involvedObject: { readonly name?: string };
    readonly reason?: string;
    readonly source?: { readonly component?: string };
    readonly reportingComponent?: string;
  }
  const names = nodes.map(({ metadata }) => metadata.name);
  const flags = ['--all-namespaces', '--field-selector=involvedObject.kind=Node'];
  const events = (await kubectl.list<Event>('events', flags, signal)).filter(({ involvedObject: { name = '' } }) =>
    names.includes(name),
  );
  const lines = events.map(
    ({ source, reportingComponent, reason }) => `${source?.component ?? reportingComponent}: ${reason}`,
  );
  answers.answer('nodeEvents', [...new Set(lines)].sort());
}

/**
 * The questions about resources that do not exist. Only a denial names the ARN, and an administrator is never denied; the policy of the operator denies
 * other add-ons than vpc-cni, and allows node groups under both ARNs.
 */
export async function answerMissing({ operatorAws: aws, answers, settings }: Run, signal: AbortSignal): Promise<void> {
  const options = { abortSignal: signal };
  const { clusterName, operatorProfile } = settings;
  const addOn = await replyOf(aws.eks.describeAddon({ clusterName, addonName: 'aws-efs-csi-driver-e2e' }, options));
  const profile = 'Set E2E_OPERATOR_PROFILE to ask with the policy of the operator.';
  answerDenial(answers, 'missingAddOnArn', addOn, operatorProfile === undefined ? profile : 'The profile allows it.');
  const group = await replyOf(
    aws.eks.describeNodegroup({ clusterName, nodegroupName: 'winpool-e2e-missing' }, options),
  );
  const policy =
    'The policy of the operator allows both ARNs. It would take a policy that allows node group ARNs only.';
  answerDenial(answers, 'missingGroupArn', group, policy);
}

/** `Windows_Server-2022-English-Core-EKS_Optimized-1.36`: names of the AMIs and of their parameters, from the EKS user guide. */
const imageFamily = (windowsVersion: string, kubernetesVersion: string): string =>
  `Windows_Server-${windowsVersion.slice('Windows'.length)}-English-Core-EKS_Optimized-${kubernetesVersion}`;

const PARAMETERS = '/aws/service/ami-windows-latest/';

/** The releases that can be launched, oldest first, and the one that SSM names as the newest. Answers the questions about their images and parameters. */
export async function releasesOf(
  { aws, settings, answers }: Pick<Run, 'aws' | 'settings' | 'answers'>,
  kubernetesVersion: string,
  signal: AbortSignal,
): Promise<{ readonly releases: readonly string[]; readonly newest: string | undefined }> {
  const family = imageFamily(settings.windowsVersion, kubernetesVersion);
  const options = { abortSignal: signal };
  const filters = [{ Name: 'name', Values: [`${family}-*`] }];
  const { Images = [] } = await aws.ec2.describeImages({ Owners: ['amazon'], Filters: filters }, options);
  answerImages(answers, Images);
  answerReleaseParameter(answers, await replyOf(aws.ssm.getParameter({ Name: `${PARAMETERS}${family}` }, options)));
  const known = Images.map(({ ImageId, Name = '' }) => ({
    id: ImageId,
    release: `${kubernetesVersion}-${Name.slice(family.length + 1)}`,
  }));
  const parameter = await replyOf(aws.ssm.getParameter({ Name: `${PARAMETERS}${family}/image_id` }, options));
  const newest =
    'output' in parameter ? known.find(({ id }) => id === parameter.output.Parameter?.Value)?.release : undefined;
  return { releases: known.map(({ release }) => release).sort(), newest };
}

const DAY_MS = 86_400_000;
const timeOf = (date = ''): number => Date.parse(date);

/** The images that EC2 still returns. Their ages show when the older ones became private. */
function answerImages(answers: Answers, images: readonly Image[]): void {
  const [oldest] = images.toSorted((a, b) => timeOf(a.CreationDate) - timeOf(b.CreationDate));
  if (oldest === undefined) {
    answers.unknown('images', 'EC2 returns no image of Amazon for this Windows version.');
    return;
  }
  const { ImageOwnerAlias: owner = 'absent', CreationDate, DeprecationTime } = oldest;
  answers.answer('images', {
    owner,
    number: images.length,
    oldestCreatedAt: CreationDate,
    ...(DeprecationTime !== undefined && {
      deprecatedAfterDays: Math.round((timeOf(DeprecationTime) - timeOf(CreationDate)) / DAY_MS),
    }),
  });
}

function answerReleaseParameter(answers: Answers, reply: Reply<GetParameterResult>): void {
  if ('refusal' in reply) {
    const { kind, name, message } = reply.refusal;
    if (kind === 'gone') answers.answer('releaseParameter', 'missing');
    else answers.unknown('releaseParameter', `${name}: ${message}`);
    return;
  }
  const { Value: value = '' } = reply.output.Parameter ?? {};
  try {
    const { release_version } = JSON.parse(value);
    answers.answer('releaseParameter', { release_version: release_version ?? 'absent' });
  } catch {
    answers.answer('releaseParameter', 'not JSON');
  }
}
