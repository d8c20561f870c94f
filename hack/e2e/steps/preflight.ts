/** The first step: checks the account, the cluster and existing objects. Changes nothing. */
import { join } from 'node:path';
import type { Aws } from '../aws.ts';
import {
  accountError,
  expiryError,
  expiryWarning,
  kubeconfigError,
  machineAccessError,
  type OperatorDeployment,
  operatorError,
  poolsError,
  roleMappingError,
} from '../checks.ts';
import {
  accessOf,
  answerMissing,
  answerNodes,
  answerScalingGroup,
  clusterOf,
  groupOf,
  nodesOf,
  releasesOf,
  roleUseOf,
} from '../facts.ts';
import { poolNames } from '../pool.ts';
import { factsOf, longestMs, type Run, type Step } from '../run.ts';

/** The namespace of the operator in config/default. */
export const NAMESPACE = 'winpool-system';
export const OPERATOR = 'windowspool-operator';

export const preflight: Step = {
  name: 'Check the account, the cluster, and that it has no other operator and no pools',
  timeoutMs: 3 * 60_000,
  readOnly: true,
  run: async (run, signal) => {
    const { kubectl, settings } = run;
    const partition = await checkCredentials(run, signal);
    const config = await kubectl.pin(join(run.folder, 'kubeconfig'), signal);
    run.names.set(config['current-context'], '<context>');
    const cluster = await clusterOf(run, signal);
    if (cluster.status !== 'ACTIVE')
      throw new Error(
        `Cluster ${cluster.name} is ${cluster.status}, must be ACTIVE. Wait until EKS has finished, and run this again.`,
      );
    refuse(kubeconfigError(config, cluster.certificateAuthority?.data ?? '', settings));
    const { nodeRole, account } = settings;
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
    if (!settings.readOnly) {
      await checkInstallations(run, signal);
      const { roleArn } = factsOf(run);
      const use = await roleUseOf(run, roleArn, signal);
      for (const name of use.usedBy) run.names.set(name, '<node-group>');
      for (const name of use.others) run.names.set(name, '<other-node>');
      refuse(roleMappingError(roleArn, use));
      if (settings.machine) refuse(machineAccessError(roleArn, use.access, cluster.accessConfig?.authenticationMode));
    }
    await answerAboutCluster(run, partition, signal);
  },
};

/** Answers the questions about existing Windows node groups. */
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
      run.names.set(name, '<node-group>');
      const group = await groupOf(run, name, signal);
      if (group?.amiType?.startsWith('WINDOWS_')) groups.push(group);
    }
    const [group] = groups;
    if (group === undefined) return 'the cluster has no managed Windows node group';
    await answerScalingGroup(run, group, signal);
    answerNodes(run, await nodesOf(run, group.nodegroupName ?? '', signal));
    const access = await accessOf(run, group.nodeRole ?? '', signal);
    answers.unknown('accessWrittenByEks', 'The node group existed before; who gave the access is not known.', access);
    return undefined;
  },
};

/** Throws the error of a check. */
function refuse(error: string | undefined): void {
  if (error !== undefined) throw new Error(error);
}

/** Checks both identities and the expiry of their credentials; resolves with the partition, such as `aws`. */
async function checkCredentials(run: Run, signal: AbortSignal): Promise<string> {
  const { aws, operatorAws, settings } = run;
  const { operatorProfile: profile, readOnly } = settings;
  const need = { neededMs: longestMs(run), now: Date.now() };
  const check = async ({ sts }: Aws, whose: string, of?: string): Promise<string> => {
    const { Account: account, Arn: arn = '' } = await sts.getCallerIdentity({}, { abortSignal: signal });
    refuse(accountError(account, settings, of));
    const credentials = await sts.config.credentials();
    if (!readOnly) refuse(expiryError(credentials, { ...need, whose }));
    const warning = readOnly ? undefined : expiryWarning(credentials, { ...need, whose });
    if (warning !== undefined) run.say(warning);
    return arn.split(':')[1] ?? 'aws';
  };
  const partition = await check(aws, 'Your credentials');
  if (profile !== undefined) await check(operatorAws, `The credentials of profile ${profile}`, profile);
  return partition;
}

/** The run's operator must be the only one, and its pool the only pool. */
async function checkInstallations(run: Run, signal: AbortSignal): Promise<void> {
  const { kubectl, names } = run;
  const flags = ['--all-namespaces', `--selector=app.kubernetes.io/name=${OPERATOR}`];
  const deployments = await kubectl.list<OperatorDeployment>('deployments.apps', flags, signal);
  for (const { name, namespace = NAMESPACE } of deployments.map(({ metadata }) => metadata)) {
    if (name !== OPERATOR) names.set(name, '<operator>');
    if (namespace !== NAMESPACE) names.set(namespace, '<namespace>');
  }
  refuse(operatorError(deployments));
  const pools = await poolNames(run, signal);
  for (const name of pools) names.set(name, '<other-pool>');
  refuse(poolsError(pools));
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
