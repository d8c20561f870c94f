/** Asks EKS for what it should refuse, to learn its words. What it accepts after all is deleted. */
import { replyOf } from '../aws.ts';
import { RUN_TAG, removeGroup } from '../pool.ts';
import { factsOf, type Step, timeoutOf } from '../run.ts';

const MINUTE = 60_000;

export const refusals: Step = {
  name: 'Ask EKS for an unknown release and for an older Kubernetes version',
  timeoutMs: 20 * MINUTE,
  run: async (run, signal) => {
    const { aws, answers, cleanup, settings, pool, id } = run;
    const { kubernetesVersion, roleArn } = factsOf(run);
    const { clusterName, region } = settings;
    const options = { abortSignal: signal };
    const unknown = `${kubernetesVersion}-2000.01.01`;
    const update = { clusterName, nodegroupName: pool, releaseVersion: unknown };
    const release = await replyOf(aws.eks.updateNodegroupVersion(update, options));
    answers.answer('unknownRelease', 'refusal' in release ? release.refusal : 'accepted');
    if ('output' in release) throw new Error(`EKS accepted release ${unknown}, which does not exist.`);
    const [major, minor] = kubernetesVersion.split('.');
    const older = `${major}.${Number(minor) - 1}`;
    const name = `${pool}-older`;
    cleanup.note({
      what: `node group ${name}`,
      timeoutMs: timeoutOf(run, 20 * MINUTE),
      commands: [`aws eks delete-nodegroup --cluster-name ${clusterName} --nodegroup-name ${name} --region ${region}`],
      remove: (bound) => removeGroup(run, name, bound),
    });
    const group = await replyOf(
      aws.eks.createNodegroup(
        {
          clusterName,
          nodegroupName: name,
          version: older,
          nodeRole: roleArn,
          subnets: [...settings.subnets],
          instanceTypes: [settings.instanceType],
          amiType: `WINDOWS_CORE_${settings.windowsVersion.slice('Windows'.length) as '2019' | '2022' | '2025'}_x86_64`,
          // No instance is started.
          scalingConfig: { minSize: 0, maxSize: 1, desiredSize: 0 },
          tags: { [RUN_TAG]: id },
        },
        options,
      ),
    );
    answers.answer('olderKubernetesVersion', {
      cluster: kubernetesVersion,
      asked: older,
      ...('refusal' in group ? group.refusal : { accepted: true }),
    });
    if ('output' in group) await removeGroup(run, name, signal);
  },
};
