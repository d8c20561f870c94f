/** The first step: whose account and which cluster this is, and what is there already. Changes nothing. */
import { X509Certificate } from 'node:crypto';
import {
  accessOf,
  answerMissing,
  answerNodes,
  answerScalingGroup,
  clusterOf,
  groupOf,
  nodesOf,
  releasesOf,
} from '../facts.ts';
import { factsOf, type Run, type Step } from '../run.ts';

/** Where the operator is installed by config/default. */
export const NAMESPACE = 'winpool-system';
export const OPERATOR = 'windowspool-operator';

export const preflight: Step = {
  name: 'Check the account, the cluster, and that no operator runs in it',
  timeoutMs: 3 * 60_000,
  readOnly: true,
  run: async (run, signal) => {
    const partition = await checkAccount(run, signal);
    const cluster = await clusterOf(run, signal);
    if (cluster.status !== 'ACTIVE')
      throw new Error(
        `Cluster ${cluster.name} is ${cluster.status}, must be ACTIVE. Wait until EKS has finished, and run this again.`,
      );
    await checkKubeconfig(run, cluster.certificateAuthority?.data ?? '', signal);
    const { nodeRole, account } = run.settings;
    const kubernetesVersion = cluster.version ?? '';
    run.facts = {
      cluster,
      kubernetesVersion,
      roleArn:
        nodeRole === '' || nodeRole.startsWith('arn:') ? nodeRole : `arn:${partition}:iam::${account}:role/${nodeRole}`,
      ...(await releasesOf(run, kubernetesVersion, signal)),
    };
    run.say(
      `Cluster ${cluster.name}: Kubernetes ${kubernetesVersion}, ${cluster.platformVersion ?? 'unknown platform'}, releases ${run.facts.releases.join(', ')}`,
    );
    if (!run.settings.readOnly) await checkNobodyWorks(run, signal);
    await answerAboutCluster(run, partition, signal);
  },
};

/** Answers what can be read of Windows node groups that exist already. */
export const readGroups: Step = {
  name: 'Read the Windows node groups that exist',
  timeoutMs: 5 * 60_000,
  readOnly: true,
  run: async (run, signal) => {
    const { aws, settings, answers } = run;
    const { nodegroups = [] } = await aws.eks.listNodegroups(
      { clusterName: settings.clusterName },
      { abortSignal: signal },
    );
    const groups = [];
    for (const name of nodegroups) {
      const group = await groupOf(run, name, signal);
      if (group?.amiType?.startsWith('WINDOWS_')) groups.push(group);
    }
    const [group] = groups;
    if (group === undefined) return 'the cluster has no managed Windows node group';
    await answerScalingGroup(run, group, signal);
    answerNodes(run, await nodesOf(run, group.nodegroupName ?? '', signal));
    const access = await accessOf(run, group.nodeRole ?? '', signal);
    answers.answer('accessWrittenByEks', { now: access }, 'Of a group that existed; who wrote it is not known.');
    return undefined;
  },
};

async function checkAccount({ aws, settings }: Run, signal: AbortSignal): Promise<string> {
  const { Account: account, Arn: arn = '' } = await aws.sts.getCallerIdentity({}, { abortSignal: signal });
  if (account !== settings.account)
    throw new Error(
      `E2E_ACCOUNT is ${settings.account}, and your credentials belong to account ${account}. Switch credentials (AWS_PROFILE), or correct E2E_ACCOUNT.`,
    );
  return arn.split(':')[1] ?? 'aws';
}

/** Whether the kubeconfig points to the cluster that EKS describes: by the certificate authority, as the operator does. */
async function checkKubeconfig({ kubectl, settings }: Run, caData: string, signal: AbortSignal): Promise<void> {
  const text = await kubectl.run(['config', 'view', '--minify', '--raw', '--flatten', '--output=json'], { signal });
  const config: { clusters?: { cluster?: { 'certificate-authority-data'?: string } }[] } = JSON.parse(text);
  const own = config.clusters?.[0]?.cluster?.['certificate-authority-data'] ?? '';
  if (fingerprint(own) !== fingerprint(caData) || own === '')
    throw new Error(
      `The current context of your kubeconfig is not cluster ${settings.clusterName}: its certificate authority is another one. ` +
        `Switch to it: aws eks update-kubeconfig --name ${settings.clusterName} --region ${settings.region}`,
    );
}

function fingerprint(caData: string): string {
  try {
    return new X509Certificate(Buffer.from(caData, 'base64')).fingerprint256;
  } catch {
    return `not a certificate: ${caData}`;
  }
}

/** Two operators in one cluster take turns, and only one would be tested. */
async function checkNobodyWorks({ kubectl }: Run, signal: AbortSignal): Promise<void> {
  const deployment = await kubectl.get<{ spec?: { replicas?: number } }>(
    'deployment.apps',
    OPERATOR,
    [`--namespace=${NAMESPACE}`],
    signal,
  );
  if (deployment && deployment.spec?.replicas !== 0)
    throw new Error(
      `An operator runs in this cluster: Deployment ${NAMESPACE}/${OPERATOR}. Use another cluster, or stop it for the run: ` +
        `kubectl --namespace ${NAMESPACE} scale deployment ${OPERATOR} --replicas=0`,
    );
}

async function answerAboutCluster(run: Run, partition: string, signal: AbortSignal): Promise<void> {
  const { answers, kubectl } = run;
  const { cluster } = factsOf(run);
  const autoMode = cluster.computeConfig?.enabled === true;
  if (autoMode) answers.unknown('autoMode', 'Auto Mode is on; no managed Windows node group was tried.');
  if (partition !== 'aws')
    answers.unknown('partition', `The partition is ${partition}; no Windows node group was tried.`);
  const webhook = await kubectl.get('mutatingwebhookconfigurations', 'vpc-resource-mutating-webhook', [], signal);
  answers.answer('podWebhook', webhook === undefined ? 'missing' : 'exists');
  await answerMissing(run, signal);
}
