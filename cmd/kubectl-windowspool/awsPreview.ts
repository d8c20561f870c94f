/** What the operator would do for pools that are not applied yet, with the AWS credentials of the user. Writes nothing. */
import type { CredentialSource } from '../../controllers/kubernetes/credentials.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import type { Cluster as EksCluster } from '../../controllers/windowspool/ports/eks.ts';
import { previewText } from '../../controllers/windowspool/preview.ts';
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

/** The steps of a pool, or why they are unknown. */
export type AwsPreview = { readonly text: string } | { readonly skipped: string };

/** The previews of these pools, in their order. Never rejects because of AWS. */
export async function awsPreviews(
  cluster: Cluster,
  pools: readonly WindowsPool[],
  flags: AwsFlags,
  version: string,
): Promise<readonly AwsPreview[]> {
  const skipAll = (skipped: string) => pools.map(() => ({ skipped }));
  const options = await operatorOptions(cluster, flags, version);
  if ('skipped' in options) return skipAll(options.skipped);
  const { signal } = cluster;
  const found: AwsPreview[] = [];
  try {
    for await (const preview of previews(options, version, pools, signal))
      found.push(
        preview.isComplete
          ? { text: previewText(preview) }
          : // Later remarks are about the permissions of the operator.
            { skipped: withRemedy(preview.remarks[0] ?? 'AWS could not be read completely') },
      );
    return found;
  } catch (error) {
    signal.throwIfAborted();
    return skipAll(explain(error));
  }
}

/** The EKS cluster, as the credentials of the user show it. Never rejects because of AWS. */
export async function eksStatus(
  cluster: Cluster,
  flags: AwsFlags,
  version: string,
): Promise<EksCluster | { readonly skipped: string }> {
  const options = await operatorOptions(cluster, flags, version);
  if ('skipped' in options) return options;
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

/** The options of an operator for the EKS cluster, or why they are unknown. */
async function operatorOptions(
  cluster: Cluster,
  flags: AwsFlags,
  version: string,
): Promise<(Options & Pick<CredentialSource, 'overrides'>) | { readonly skipped: string }> {
  const { clusterName, region } = await eksClusterOf(cluster, flags, process.env);
  if (!clusterName || !region) return { skipped: 'the EKS cluster is unknown. Set --cluster-name and --region.' };
  const args = [
    `--cluster-name=${clusterName}`,
    `--region=${region}`,
    `--kubeconfig=${kubeconfigOf(cluster.flags)}`,
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
