/** The steps of a run with E2E_MACHINE=1: a pool that sets the kubelet, user data and the gate, and one change of its launch template. */
import type { WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import { conditionOf } from '../../../test/fakes/testenv/testEnv.ts';
import { replyOf } from '../aws.ts';
import { groupOf, nodesOf } from '../facts.ts';
import {
  answerCustomNodeGroup,
  answerGateTaint,
  answerGrowth,
  answerLateSettings,
  answerReadinessTaint,
  answerScript,
  MACHINE_CHANGE,
  MAX_PODS,
  machineSpec,
  READER,
  READINESS_TAINT_KEY,
  rolloutIn,
  type Sizes,
  scriptOf,
} from '../machine.ts';
import { isVerified, type Node, type Registration } from '../nodeWatch.ts';
import { patchPool, poolOf, readPool, settled, stallOf } from '../pool.ts';
import { type Run, type Step, timeoutOf } from '../run.ts';
import { createPool, REMOVE_POOL_MS } from './life.ts';
import { REMOVE_POD_MS, runPod } from './pods.ts';
import { NAMESPACE } from './preflight.ts';

const MINUTE = 60_000;
const REMOVE_MS = 5 * MINUTE;

export const createMachine: Step = {
  name: 'Create a pool of one node with kubelet settings, user data and the gate, until it is Ready',
  timeoutMs: 40 * MINUTE,
  cleanupMs: REMOVE_POOL_MS + 2 * REMOVE_MS,
  run: async (run, signal) => {
    const { kubectl, cleanup, pool } = run;
    const remove = ['delete', 'configmap', pool, `--namespace=${NAMESPACE}`, '--ignore-not-found'];
    cleanup.note({
      what: `ConfigMap ${NAMESPACE}/${pool}`,
      timeoutMs: timeoutOf(run, REMOVE_MS),
      commands: [kubectl.commandLine(remove)],
      remove: async (bound) => {
        await kubectl.run(remove, { signal: bound, timeoutMs: REMOVE_MS });
      },
    });
    cleanup.note({
      what: `launch template ${templateOf(run)}`,
      timeoutMs: timeoutOf(run, REMOVE_MS),
      commands: [
        `aws ec2 delete-launch-template --launch-template-name ${templateOf(run)} --region ${run.settings.region}`,
      ],
      remove: (bound) => removeTemplate(run, bound),
    });
    await kubectl.apply(scriptOf(run, NAMESPACE), signal);
    await createPool(run, poolOf(run, undefined, machineSpec(run)), signal);
    const group = await existingGroup(run, signal);
    answerGateTaint(run.answers, group);
    answerCustomNodeGroup(run.answers, group);
  },
};

/** The launch template of the operator: docs/how-to/launch-templates.md. */
const templateOf = ({ settings, pool }: Run): string => `winpool/${settings.clusterName}/${pool}`;

/** Deletes the launch template if the operator has not: its name has the ID of the run. */
async function removeTemplate(run: Run, signal: AbortSignal): Promise<void> {
  const reply = await replyOf(
    run.aws.ec2.deleteLaunchTemplate({ LaunchTemplateName: templateOf(run) }, { abortSignal: signal }),
  );
  if ('refusal' in reply && reply.refusal.kind !== 'gone')
    throw new Error(`${reply.refusal.name}: ${reply.refusal.message}`);
}

async function existingGroup(run: Run, signal: AbortSignal) {
  const group = await groupOf(run, run.pool, signal);
  if (group === undefined) throw new Error(`Node group ${run.pool} does not exist.`);
  return group;
}

export const readScript: Step = {
  name: 'Read the result of the user data with a HostProcess pod',
  timeoutMs: 15 * MINUTE,
  cleanupMs: REMOVE_POD_MS,
  run: async (run, signal) => {
    const pod = await runPod(run, READER, signal, ({ status }) =>
      ['Failed', 'Succeeded'].includes(status?.phase ?? ''),
    );
    answerScript(run.answers, pod.status?.containerStatuses?.[0]?.state?.terminated?.message ?? '');
  },
};

export const changeMachine: Step = {
  name: 'Change the launch template and the taint of the pool, until every node is replaced',
  timeoutMs: 90 * MINUTE,
  run: async (run, signal) => {
    const { answers, pool } = run;
    const existing = await nodesOf(run, pool, signal);
    const before = registrationsOf(run, existing);
    const podsBefore = podsOf(existing);
    const seen = [await sizesOf(run, signal)];
    let rollout: string | undefined;
    const poll = async (current: WindowsPool) => {
      rollout = rolloutIn(current) ?? rollout;
      seen.push(await sizesOf(run, signal));
      await openGate(run, signal);
    };
    const isReplaced = ({ status }: WindowsPool) => status?.nodeGroup?.launchTemplate?.version !== '1';
    await patchPool(run, MACHINE_CHANGE, signal);
    const rejection = await settled(run, signal, isReplaced, poll).then(
      () => undefined,
      (error: Error) => taintRejection(run, error),
    );
    if (rejection !== undefined) {
      answerReadinessTaint(answers, await existingGroup(run, signal), rejection);
      await patchPool(run, { verification: { readinessTaint: null } }, signal);
      await settled(run, signal, isReplaced, poll);
    }
    const group = await existingGroup(run, signal);
    if (rejection === undefined) answerReadinessTaint(answers, group, undefined);
    answerGrowth(answers, seen);
    await answerUpdate(run, rollout, signal);
    const nodes = await nodesOf(run, pool, signal);
    answerLateSettings(answers, before, registrationsOf(run, nodes));
    answers.answer('kubeletArguments', {
      maxPods: MAX_PODS,
      capacity: [podsBefore, podsOf(nodes)],
    });
  },
};

const podsOf = (nodes: readonly Node[]): string => nodes[0]?.status?.capacity?.pods ?? 'absent';

const registrationsOf = ({ watch }: Run, nodes: readonly Node[]): readonly Registration[] =>
  nodes.flatMap(({ metadata }) => watch.registrations.of(metadata.name) ?? []);

/** The message of the pool if EKS rejected the taint of the change. Throws the error otherwise. */
async function taintRejection(run: Run, error: Error): Promise<string> {
  const pool = await readPool(run, AbortSignal.timeout(30_000)).catch(() => undefined);
  const message = stallOf(pool);
  if (conditionOf(pool, 'Stalled').startsWith('True') && message.includes(READINESS_TAINT_KEY)) return message;
  throw error;
}

/** The desired sizes of the node group, and of its scaling group. */
async function sizesOf(run: Run, signal: AbortSignal): Promise<Sizes> {
  const { scalingConfig, resources } = await existingGroup(run, signal);
  const names = (resources?.autoScalingGroups ?? []).flatMap(({ name }) => name ?? []);
  const { AutoScalingGroups = [] } = await run.aws.autoScaling.describeAutoScalingGroups(
    { AutoScalingGroupNames: names },
    { abortSignal: signal },
  );
  return { nodeGroup: scalingConfig?.desiredSize ?? 0, scalingGroup: AutoScalingGroups[0]?.DesiredCapacity ?? 0 };
}

/** Removes the readiness taint from verified nodes, as a NodeReadinessRule does (docs/how-to/node-readiness.md). The cluster may have none. */
async function openGate(run: Run, signal: AbortSignal): Promise<void> {
  const gated = async () =>
    (await nodesOf(run, run.pool, signal)).filter(
      (node) => isVerified(node) && node.spec.taints?.some(({ key }) => key === READINESS_TAINT_KEY),
    );
  for (const { metadata } of await gated())
    try {
      await run.kubectl.run(['taint', 'node', metadata.name, `${READINESS_TAINT_KEY}-`], { signal });
    } catch (error) {
      // The node was deleted in between.
      if ((await gated()).some((node) => node.metadata.name === metadata.name)) throw error;
    }
}

async function answerUpdate(run: Run, rollout: string | undefined, signal: AbortSignal): Promise<void> {
  const { answers, aws, settings, pool } = run;
  if (rollout === undefined) {
    answers.unknown('templateUpdate', 'The pool never showed the update.');
    return;
  }
  const reply = await replyOf(
    aws.eks.describeUpdate(
      { name: settings.clusterName, nodegroupName: pool, updateId: rollout },
      { abortSignal: signal },
    ),
  );
  if ('refusal' in reply) {
    answers.unknown('templateUpdate', `DescribeUpdate: ${reply.refusal.name}: ${reply.refusal.message}`);
    return;
  }
  const { type, status, params = [] } = reply.output.update ?? {};
  answers.answer('templateUpdate', {
    type,
    status,
    parameters: Object.fromEntries(params.map(({ type: name, value }) => [name, value])),
  });
}
