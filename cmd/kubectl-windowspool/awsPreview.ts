/** What the operator would do for pools that are not applied yet, with the credentials of the user for AWS and the management cluster. Writes nothing. */
import type { CredentialSource } from '../../controllers/kubernetes/credentials.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import type { Cluster as EksCluster } from '../../controllers/windowspool/ports/eks.ts';
import { type Preview, previewText } from '../../controllers/windowspool/preview.ts';
import { describeFailure, sentence } from '../../controllers/windowspool/util/words.ts';
import { connect, portsOf } from '../operator/connections.ts';
import { type Options, readCommand } from '../operator/options.ts';
import { type Cluster, kubeconfigOf, overridesOf, silentLog } from './cluster.ts';
import { explain } from './failure.ts';
import { findOperator, settingOf } from './operator.ts';
import { previews } from './previews.ts';

/** Limits a call to AWS with its retries. */
const AWS_TIMEOUT_MS = 30_000;

/** Of the EKS cluster. Default: that in the status of a pool, or that of the operator. */
export interface AwsFlags {
  readonly clusterName?: string;
  readonly region?: string;
}

/** Where the operator finds what pools come from. */
export interface PreviewFlags extends AwsFlags {
  readonly machinesKubeconfig?: string;
}

/** The steps of a pool, or why they are unknown. */
export type AwsPreview = { readonly text: string } | { readonly skipped: string };

/** The previews of these pools, in their order. Never rejects because of AWS. */
export async function awsPreviews(
  cluster: Cluster,
  pools: readonly WindowsPool[],
  flags: PreviewFlags,
  version: string,
): Promise<readonly AwsPreview[]> {
  const options = await operatorOptions(cluster, flags, version);
  if ('skipped' in options) return pools.map(() => options);
  const { signal } = cluster;
  const unknown = new Map<WindowsPool, string>();
  for (const pool of pools) {
    const why = await whyUnknown(cluster, pool, options);
    if (why !== undefined) unknown.set(pool, why);
  }
  const known = previews(
    options,
    version,
    pools.filter((pool) => !unknown.has(pool)),
    signal,
  );
  const found: AwsPreview[] = [];
  try {
    for (const pool of pools) {
      const skipped = unknown.get(pool);
      found.push(skipped === undefined ? shownPreview((await known.next()).value) : { skipped });
    }
    return found;
  } catch (error) {
    signal.throwIfAborted();
    const skipped = explain(error);
    return pools.map((pool) => ({ skipped: unknown.get(pool) ?? skipped }));
  } finally {
    await known.return(undefined);
  }
}

/** Why nothing is known of what the pool comes from; undefined if that can be read. */
async function whyUnknown(
  cluster: Cluster,
  { spec }: WindowsPool,
  { clusterName, machinesKubeconfig }: Options,
): Promise<string | undefined> {
  if (spec.nodeGroup && !clusterName) return NO_CLUSTER;
  if (!spec.machines || machinesKubeconfig !== undefined) return undefined;
  const operator = await findOperator(cluster, {}).catch(() => undefined);
  const path = operator && (await settingOf(cluster, operator, '--machines-kubeconfig', 'WINPOOL_MACHINES_KUBECONFIG'));
  return path && 'the operator reads Machines from a management cluster. Set --machines-kubeconfig.';
}

const NO_CLUSTER = 'the EKS cluster is unknown. Set --cluster-name and --region.';

/** The text of a preview, if everything could be read. */
function shownPreview(preview: Preview): AwsPreview {
  if (preview.isComplete) return { text: previewText(preview) };
  // Later remarks are about the permissions of the operator.
  return { skipped: withRemedy(preview.remarks[0] ?? 'AWS could not be read completely') };
}

/** The EKS cluster, as the credentials of the user show it. Never rejects because of AWS. */
export async function eksStatus(
  cluster: Cluster,
  flags: AwsFlags,
  version: string,
): Promise<EksCluster | { readonly skipped: string }> {
  const options = await operatorOptions(cluster, flags, version);
  if ('skipped' in options) return options;
  if (!options.clusterName) return { skipped: NO_CLUSTER };
  const connections = await connect(options, version, silentLog, { check: () => undefined });
  try {
    const inTime = AbortSignal.any([cluster.signal, AbortSignal.timeout(AWS_TIMEOUT_MS)]);
    const result = await portsOf(options, connections).clusters.describe(inTime);
    if (!result.ok) return { skipped: withRemedy(describeFailure(result.error)) };
    return result.value ?? { skipped: `EKS cluster ${options.clusterName} does not exist in ${options.region}.` };
  } catch (error) {
    cluster.signal.throwIfAborted();
    return { skipped: explain(error) };
  } finally {
    connections.close();
  }
}

/** The error of AWS, with what to do about it. The text is that of the SDK: https://github.com/smithy-lang/smithy-typescript */
function withRemedy(error: string): string {
  const remedy = / load credentials /.test(error) ? ' Log in to AWS, or set AWS_PROFILE.' : '';
  return `${sentence(error)}${remedy}`;
}

/** The options of an operator for the EKS cluster, if that is known, or what is wrong with the flags. */
async function operatorOptions(
  cluster: Cluster,
  flags: PreviewFlags,
  version: string,
): Promise<(Options & Pick<CredentialSource, 'overrides'>) | { readonly skipped: string }> {
  const { clusterName, region } = await eksClusterOf(cluster, flags, process.env);
  const { machinesKubeconfig } = flags;
  const args = [
    ...(clusterName && region ? [`--cluster-name=${clusterName}`, `--region=${region}`] : []),
    `--kubeconfig=${kubeconfigOf(cluster.flags)}`,
    ...(machinesKubeconfig === undefined ? [] : [`--machines-kubeconfig=${machinesKubeconfig}`]),
    ...(await defaultTagsOf(cluster)),
  ];
  const command = readCommand(args, version);
  if (command.kind === 'run') return { ...command.options, overrides: overridesOf(cluster.flags) };
  return { skipped: command.kind === 'refuse' ? command.errors.join(' ') : command.text };
}

/** The flag of the operator in the cluster with its tags, without which the preview would remove them. */
async function defaultTagsOf(cluster: Cluster): Promise<readonly string[]> {
  const found = await findOperator(cluster, {}).catch(() => undefined);
  const args = (found?.spec?.template.spec?.containers ?? []).flatMap((container) => container.args ?? []);
  return args.filter((arg) => arg.startsWith('--default-tags='));
}

/** The cluster of the flags, or else of a pool that already has a node group, or else of the operator. */
export async function eksClusterOf(
  cluster: Cluster,
  { clusterName, region }: AwsFlags,
  { AWS_REGION }: NodeJS.ProcessEnv,
): Promise<AwsFlags> {
  const isComplete = clusterName && region;
  const pools = isComplete ? [] : await cluster.pools().catch(() => []);
  // arn:aws:eks:REGION:ACCOUNT:cluster/NAME
  const [, , , regionOfPool, , path] = (pools.flatMap(({ status }) => status?.cluster?.arn ?? [])[0] ?? '').split(':');
  const ofOperator = isComplete || path ? {} : await clusterOfOperator(cluster);
  const name = clusterName ?? path?.replace(/^cluster\//, '') ?? ofOperator.clusterName;
  const where = region ?? AWS_REGION ?? regionOfPool ?? ofOperator.region;
  return { ...(name && { clusterName: name }), ...(where && { region: where }) };
}

/** The settings of the operator, from its flags, its environment variables and the ConfigMap to which they refer. */
async function clusterOfOperator(cluster: Cluster): Promise<AwsFlags> {
  const operator = await findOperator(cluster, {}).catch(() => undefined);
  if (!operator) return {};
  const [clusterName, region] = await Promise.all([
    settingOf(cluster, operator, '--cluster-name', 'WINPOOL_CLUSTER_NAME'),
    settingOf(cluster, operator, '--region', 'AWS_REGION'),
  ]);
  return { ...(clusterName && { clusterName }), ...(region && { region }) };
}
