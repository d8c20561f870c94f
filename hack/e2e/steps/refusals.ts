/** Sends requests that EKS should reject, to learn its error messages. Groups that it accepts are deleted. */
import type { CreateNodegroupRequest } from '@aws-sdk/client-eks';
import { answerRefusal } from '../answers.ts';
import { passes, type Refusal, type Reply, replyOf } from '../aws.ts';
import { groupOf } from '../facts.ts';
import { deleteGroup, RUN_TAG, removeGroup } from '../pool.ts';
import { factsOf, type Run, type Step, timeoutOf, until } from '../run.ts';

const MINUTE = 60_000;
const REMOVE_GROUP_MS = 20 * MINUTE;

export const refusals: Step = {
  name: 'Ask EKS for an unknown release and for an older Kubernetes version',
  timeoutMs: 20 * MINUTE,
  cleanupMs: REMOVE_GROUP_MS,
  run: async (run, signal) => {
    const isActive = async () => (await groupOf(run, run.pool, signal))?.status === 'ACTIVE';
    await until(run, signal, isActive, () => `Node group ${run.pool} is not ACTIVE yet`);
    await askForUnknownRelease(run, signal);
    await askForOlderVersion(run, signal);
  },
};

async function askForUnknownRelease(run: Run, signal: AbortSignal): Promise<void> {
  const { aws, answers, settings, pool } = run;
  const release = `${factsOf(run).kubernetesVersion}-2000.01.01`;
  const update = { clusterName: settings.clusterName, nodegroupName: pool, releaseVersion: release };
  const reply = await finalReply(run, signal, () => aws.eks.updateNodegroupVersion(update, { abortSignal: signal }));
  answerRefusal(answers, 'unknownRelease', reply, {});
  if ('output' in reply) throw new Error(`EKS accepted release ${release}, which does not exist.`);
}

async function askForOlderVersion(run: Run, signal: AbortSignal): Promise<void> {
  const { aws, answers, cleanup, settings, pool, id } = run;
  const { kubernetesVersion, roleArn } = factsOf(run);
  const [major, minor] = kubernetesVersion.split('.');
  const older = `${major}.${Number(minor) - 1}`;
  const name = `${pool}-older`;
  cleanup.note({
    what: `node group ${name}`,
    timeoutMs: timeoutOf(run, REMOVE_GROUP_MS),
    commands: [deleteGroup(settings, name)],
    remove: (bound) => removeGroup(run, name, bound),
  });
  const request = {
    clusterName: settings.clusterName,
    nodegroupName: name,
    // Unique, so that a repeated call is not about an existing group.
    clientRequestToken: name,
    version: older,
    nodeRole: roleArn,
    subnets: [...settings.subnets],
    instanceTypes: [settings.instanceType],
    amiType: `WINDOWS_CORE_${settings.windowsVersion.slice('Windows'.length) as '2019' | '2022' | '2025'}_x86_64`,
    // No instance is started.
    scalingConfig: { minSize: 0, maxSize: 1, desiredSize: 0 },
    tags: { [RUN_TAG]: id },
  } satisfies CreateNodegroupRequest;
  const reply = await finalReply(run, signal, () => aws.eks.createNodegroup(request, { abortSignal: signal }));
  answerRefusal(answers, 'olderKubernetesVersion', reply, { cluster: kubernetesVersion, asked: older });
  if ('output' in reply) await removeGroup(run, name, signal);
}

/** The reply to a call, which is repeated while EKS is busy, throttles, or is unavailable. */
async function finalReply<T>(run: Run, signal: AbortSignal, call: () => Promise<T>): Promise<Reply<T>> {
  let last: Refusal | undefined;
  const ask = async () => {
    const reply = await replyOf(call());
    last = 'refusal' in reply ? reply.refusal : undefined;
    return last !== undefined && passes(last) ? undefined : reply;
  };
  return until(run, signal, ask, () => `${last?.name}: ${last?.message}`);
}
