/** Reads what a run finds in the cluster and in AWS, for the questions. Nothing here changes anything. */
import type { Cluster, Nodegroup } from '@aws-sdk/client-eks';
import { parse } from 'yaml';
import { parseQuantity } from '../../controllers/windowspool/quantity.ts';
import { found, replyOf } from './aws.ts';
import type { Node } from './nodeWatch.ts';
import type { Run } from './run.ts';

/** What the node role may do in the cluster. */
export interface Access {
  /** The type of its access entry, or the name of AWS' refusal; undefined: it has none. */
  readonly entryType: string | undefined;
  readonly entryGroups: readonly string[];
  /** Its groups in ConfigMap aws-auth; undefined: it is not there. */
  readonly awsAuthGroups: readonly string[] | undefined;
}

/** The access of a role now. */
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
  const roles: unknown = parse(map?.data?.mapRoles ?? '[]');
  const mapped = (Array.isArray(roles) ? roles : []).find(({ rolearn }) => rolearn === roleArn);
  // Where the cluster has only aws-auth, EKS refuses with InvalidRequestException.
  const refusal =
    'refusal' in reply && reply.refusal.name !== 'ResourceNotFoundException' ? reply.refusal.name : undefined;
  return {
    entryType: entry?.type ?? refusal,
    entryGroups: entry?.kubernetesGroups ?? [],
    awsAuthGroups: mapped?.groups,
  };
}

/** The cluster; throws where it does not exist. */
export async function clusterOf({ aws, settings }: Run, signal: AbortSignal): Promise<Cluster> {
  const { clusterName, region } = settings;
  const answer = await found(aws.eks.describeCluster({ name: clusterName }, { abortSignal: signal }));
  if (answer?.cluster === undefined)
    throw new Error(`Cluster ${clusterName} does not exist in ${region}. Check CLUSTER_NAME and AWS_REGION.`);
  return answer.cluster;
}

/** A node group; undefined where it does not exist. */
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

/** The questions about nodes: memory that is reserved, and runtime handlers. */
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
  if (names.length === 0) return run.answers.unknown('scalingGroupTags', 'EKS names no scaling group.');
  const options = { abortSignal: signal };
  const { AutoScalingGroups = [] } = await run.aws.autoScaling.describeAutoScalingGroups(
    { AutoScalingGroupNames: names },
    options,
  );
  const [scaling] = AutoScalingGroups;
  const ids = (scaling?.Instances ?? []).flatMap(({ InstanceId }) => InstanceId ?? []);
  const { Reservations = [] } =
    ids.length === 0 ? {} : await run.aws.ec2.describeInstances({ InstanceIds: ids }, options);
  const [instance] = Reservations.flatMap(({ Instances = [] }) => Instances);
  run.answers.answer('scalingGroupTags', {
    scalingGroup: tagKeys(scaling?.Tags),
    propagated: (scaling?.Tags ?? []).flatMap(({ Key = '', PropagateAtLaunch }) =>
      PropagateAtLaunch && KNOWN_TAG.test(Key) ? Key : [],
    ),
    instance: tagKeys(instance?.Tags),
  });
  const warm = scaling?.WarmPoolConfiguration;
  if (warm === undefined) return;
  run.answers.answer('warmPool', {
    state: warm.PoolState,
    size: scaling?.WarmPoolSize,
    lifecycleStates: scaling?.Instances?.map(({ LifecycleState }) => LifecycleState),
  });
}

/** The events on nodes: who wrote them, and their reasons. */
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

/** The questions that are about what does not exist. Asked with the operator's credentials, because an administrator is never refused. */
export async function answerMissing({ operatorAws: aws, answers, settings }: Run, signal: AbortSignal): Promise<void> {
  const options = { abortSignal: signal };
  const { clusterName } = settings;
  const addOn = await replyOf(aws.eks.describeAddon({ clusterName, addonName: 'aws-efs-csi-driver-e2e' }, options));
  if ('refusal' in addOn) answers.answer('missingAddOnArn', addOn.refusal, asWhom(settings.operatorProfile));
  else answers.unknown('missingAddOnArn', 'The add-on exists.');
  const group = await replyOf(
    aws.eks.describeNodegroup({ clusterName, nodegroupName: 'winpool-e2e-missing' }, options),
  );
  if ('refusal' in group) answers.answer('missingGroupArn', group.refusal, asWhom(settings.operatorProfile));
  else answers.unknown('missingGroupArn', 'The node group exists.');
}

const asWhom = (profile: string | undefined): string =>
  profile === undefined
    ? 'Asked with the credentials of the caller. Set E2E_OPERATOR_PROFILE to ask with the policy of the operator.'
    : 'Asked with the credentials of the operator.';

/** `Windows_Server-2022-English-Core-EKS_Optimized-1.36`: names of the AMIs and of their parameters, from the EKS user guide. */
const imageFamily = (windowsVersion: string, kubernetesVersion: string): string =>
  `Windows_Server-${windowsVersion.slice('Windows'.length)}-English-Core-EKS_Optimized-${kubernetesVersion}`;

/** The releases that can be launched, oldest first, and the one that SSM names as the newest. */
export async function releasesOf(
  { aws, settings }: Run,
  kubernetesVersion: string,
  signal: AbortSignal,
): Promise<{ readonly releases: readonly string[]; readonly newest: string | undefined }> {
  const family = imageFamily(settings.windowsVersion, kubernetesVersion);
  const options = { abortSignal: signal };
  const filters = [{ Name: 'name', Values: [`${family}-*`] }];
  const { Images = [] } = await aws.ec2.describeImages({ Owners: ['amazon'], Filters: filters }, options);
  const known = Images.map(({ ImageId, Name = '' }) => ({
    id: ImageId,
    release: `${kubernetesVersion}-${Name.slice(family.length + 1)}`,
  }));
  const parameter = await replyOf(
    aws.ssm.getParameter({ Name: `/aws/service/ami-windows-latest/${family}/image_id` }, options),
  );
  const newest =
    'output' in parameter ? known.find(({ id }) => id === parameter.output.Parameter?.Value)?.release : undefined;
  return { releases: known.map(({ release }) => release).sort(), newest };
}
