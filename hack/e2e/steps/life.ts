/** The life of one pool: created on the previous release, used, changed, updated, a node replaced, deleted. */
import { conditionOf, messageOf } from '../../../test/fakes/testenv/testEnv.ts';
import { type Access, answerAccess, answerFailedUpdate } from '../answers.ts';
import { accessOf, answerEvents, answerNodes, answerScalingGroup, groupOf, nodesOf } from '../facts.ts';
import { isVerified, type Node } from '../nodeWatch.ts';
import { commandsToRemovePool, LABEL, POOLS, patchPool, poolOf, readPool, removePool, settled } from '../pool.ts';
import { factsOf, type Run, type Step, timeoutOf, until } from '../run.ts';
import { REMOVE_POD_MS, runPod } from './pods.ts';

const MINUTE = 60_000;
/** Images of Windows: docs/how-to/move-workloads.md#images. */
const IMAGES = { Windows2019: 'ltsc2019', Windows2022: 'ltsc2022', Windows2025: 'ltsc2025' } as const;

/** The time-out of the pool's removal; the operator may use half of it. */
export const REMOVE_POOL_MS = 40 * MINUTE;

/** The access of the node role before the first node group, for the step that compares it afterwards. */
const accessBefore = new WeakMap<Run, Access>();

export const create: Step = {
  name: 'Create a pool of one node on the previous release, until it is Ready',
  timeoutMs: 40 * MINUTE,
  cleanupMs: REMOVE_POOL_MS,
  run: (run, signal) => createPool(run, poolOf(run, previousOf(factsOf(run).releases)), signal),
};

/** Creates the pool, and waits until it is Ready. It is removed at the end. */
export async function createPool(run: Run, manifest: object, signal: AbortSignal): Promise<void> {
  const { kubectl, cleanup, watch, pool } = run;
  accessBefore.set(run, await accessOf(run, factsOf(run).roleArn, signal));
  await watch.start(signal);
  const timeoutMs = timeoutOf(run, REMOVE_POOL_MS);
  cleanup.note({
    what: `WindowsPool ${pool} and its node group`,
    timeoutMs,
    remove: (bound) => removePool(run, bound, timeoutMs / 2),
    commands: commandsToRemovePool(run),
  });
  await kubectl.apply(manifest, signal);
  const ready = await settled(run, signal);
  run.say(`${messageOf(ready, 'Ready')} Release ${ready.status?.nodeGroup?.releaseVersion}.`);
}

/** The release before the newest; the newest if it is the only one. */
const previousOf = (releases: readonly string[]): string | undefined => releases.at(-2) ?? releases.at(-1);

export const observe: Step = {
  name: 'Read what EKS and the kubelet made of it',
  timeoutMs: 3 * MINUTE,
  run: async (run, signal) => {
    const { answers, watch, pool } = run;
    const { roleArn, cluster } = factsOf(run);
    const group = await groupOf(run, pool, signal);
    if (group === undefined) throw new Error(`Node group ${pool} does not exist.`);
    answerAccess(run, accessBefore.get(run), await accessOf(run, roleArn, signal));
    await answerScalingGroup(run, group, signal);
    const nodes = await nodesOf(run, pool, signal);
    answerNodes(run, nodes);
    await answerEvents(run, nodes, signal);
    const registered = nodes.flatMap(({ metadata }) => watch.registrations.of(metadata.name) ?? []);
    if (registered.length === 0) answers.unknown('registration', 'The first watch event of the nodes was missed.');
    else
      answers.answer(
        'registration',
        registered.map(({ at: _, ...rest }) => rest),
        watch.interruptions > 0 ? `The watch was interrupted ${watch.interruptions} times.` : undefined,
      );
    if (cluster.computeConfig?.enabled === true)
      answers.answer('autoMode', 'Auto Mode is on, and the managed Windows node group became Ready.');
    if (!roleArn.startsWith('arn:aws:')) answers.answer('partition', `accepted in ${roleArn.split(':')[1]}`);
  },
};

export const pod: Step = {
  name: 'Run a pod with the RuntimeClass of the pool',
  timeoutMs: 30 * MINUTE,
  cleanupMs: REMOVE_POD_MS,
  run: (run, signal) =>
    runPod(run, specOf(run), signal, ({ status }) => {
      if (status?.phase === 'Failed') throw new Error(`Pod default/${run.pool} failed: ${JSON.stringify(status)}`);
      return status?.phase === 'Running' && (status.containerStatuses?.every(({ ready }) => ready) ?? false);
    }),
};

const specOf = ({ settings }: Run): object => ({
  terminationGracePeriodSeconds: 5,
  containers: [
    {
      name: 'servercore',
      image: `mcr.microsoft.com/windows/servercore:${IMAGES[settings.windowsVersion]}`,
      command: ['cmd', '/c', 'ping -t localhost > nul'],
      resources: { requests: { cpu: '250m', memory: '512Mi' }, limits: { memory: '1Gi' } },
    },
  ],
});

export const changeLabel: Step = {
  name: 'Change a label of the nodes',
  timeoutMs: 20 * MINUTE,
  run: async (run, signal) => {
    await patchPool(run, { labels: { [LABEL]: 'changed' } }, signal);
    await settled(run, signal);
    await nodesWithLabel(run, signal, 'changed');
  },
};

async function nodesWithLabel(run: Run, signal: AbortSignal, value: string): Promise<void> {
  let last: readonly Node[] = [];
  const labelled = async () => {
    last = await nodesOf(run, run.pool, signal);
    return last.length > 0 && last.every(({ metadata }) => metadata.labels?.[LABEL] === value);
  };
  await until(
    run,
    signal,
    labelled,
    () =>
      `Nodes with label ${LABEL}: ${JSON.stringify(last.map(({ metadata }) => metadata.labels?.[LABEL]))}, expected ${value}`,
  );
}

export const drift: Step = {
  name: 'Change the node group behind the back of the operator, until it is corrected',
  timeoutMs: 30 * MINUTE,
  run: async (run, signal) => {
    const { aws, settings, pool } = run;
    const input = { clusterName: settings.clusterName, nodegroupName: pool, labels: { removeLabels: [LABEL] } };
    await aws.eks.updateNodegroupConfig(input, { abortSignal: signal });
    const corrected = async () => (await groupOf(run, pool, signal))?.labels?.[LABEL] === 'changed';
    let removed = false;
    await until(
      run,
      signal,
      async () => {
        // EKS reverts the change only some time later.
        removed ||= !(await corrected());
        return removed || undefined;
      },
      () => `EKS removes label ${LABEL} from node group ${pool}`,
    );
    await until(run, signal, corrected, () => `Node group ${pool} has lost label ${LABEL}`);
    await settled(run, signal);
  },
};

export const update: Step = {
  name: 'Update the pool to the newest release',
  timeoutMs: 90 * MINUTE,
  run: async (run, signal) => {
    const { answers } = run;
    const { releases, newest } = factsOf(run);
    if (newest === undefined) answers.unknown('newestRelease', 'The newest AMI in SSM is none of the releases in EC2.');
    const target = newest ?? releases.at(-1);
    if (target === undefined || target === previousOf(releases)) return 'there is only one release';
    await patchPool(run, { nodeGroup: { releaseVersion: target } }, signal);
    try {
      await settled(run, signal, (pool) => pool.status?.nodeGroup?.releaseVersion === target);
    } catch (error) {
      const pool = await readPool(run, AbortSignal.timeout(30_000)).catch(() => undefined);
      if (newest !== undefined) answerFailedUpdate(answers, newest, pool);
      throw error;
    }
    if (newest !== undefined) answers.answer('newestRelease', { release: newest, accepted: true });
    return undefined;
  },
};

export const replace: Step = {
  name: 'Replace one node',
  timeoutMs: 45 * MINUTE,
  run: async (run, signal) => {
    const [node] = await nodesOf(run, run.pool, signal);
    if (node === undefined) throw new Error(`Pool ${run.pool} has no node.`);
    const { name, uid } = node.metadata;
    await run.kubectl.run(['annotate', 'node', name, 'winpool.dev/replace=true', '--overwrite'], { signal });
    let last: readonly Node[] = [];
    const isReplaced = async () => {
      last = await nodesOf(run, run.pool, signal);
      return last.length > 0 && last.every((found) => found.metadata.uid !== uid && isVerified(found));
    };
    const explain = () =>
      `Node ${name} is being replaced. Nodes: ${last.map((found) => `${found.metadata.name}, ${isVerified(found) ? '' : 'not '}verified`).join('; ') || 'none'}`;
    await until(run, signal, isReplaced, explain);
    // Ready is still True from before the replacement.
    await settled(run, signal, (pool) => conditionOf(pool, 'Disrupting') === 'absent');
  },
};

export const remove: Step = {
  name: 'Delete the pool, until node group and RuntimeClass are gone',
  timeoutMs: 40 * MINUTE,
  run: async (run, signal) => {
    const { kubectl, pool } = run;
    await kubectl.run(['delete', POOLS, pool, '--wait=false'], { signal });
    await until(
      run,
      signal,
      async () => (await readPool(run, signal)) === undefined,
      () => `WindowsPool ${pool} is being deleted`,
    );
    if (await groupOf(run, pool, signal))
      throw new Error(`Node group ${pool} still exists after its pool was deleted.`);
    const gone = async () => (await kubectl.get('runtimeclass', pool, [], signal)) === undefined;
    await until(run, signal, gone, () => `RuntimeClass ${pool} still exists`);
  },
};
