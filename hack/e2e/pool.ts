/** The pool of a run: its manifest, waits for it, and its removal. */
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { conditionLines, conditionOf, isReconciled, messageOf } from '../../test/fakes/testenv/testEnv.ts';
import { passes, replyOf } from './aws.ts';
import { groupOf } from './facts.ts';
import { factsOf, type Run, stopOperator, until } from './run.ts';
import type { Settings } from './settings.ts';

/** The resource with its API group, because other products also have pools. */
export const POOLS = 'windowspools.winpool.dev';
/** The tag on everything that a run creates in AWS, with the ID of the run. */
export const RUN_TAG = 'winpool.dev-e2e';
/** The label on everything that a run creates in Kubernetes. */
export const PART_OF_RUN = { 'app.kubernetes.io/part-of': 'winpool-e2e' };
/** The label that a run changes. */
export const LABEL = 'e2e.example.com/step';

/**
 * The pool: one node, with its own RuntimeClass, so that no existing object is changed. `more` is merged into its spec, and `nodeGroup` into that of the spec.
 */
export function poolOf(
  run: Run,
  releaseVersion: string | undefined,
  { nodeGroup, ...more }: { readonly nodeGroup?: object; readonly verification?: object } = {},
): object {
  const { settings, pool, id } = run;
  const spec = {
    windowsVersion: settings.windowsVersion,
    nodeGroup: {
      nodeRole: factsOf(run).roleArn,
      subnets: settings.subnets.map((subnet) => ({ id: subnet })),
      instanceTypes: [settings.instanceType],
      tags: { [RUN_TAG]: id },
      ...(releaseVersion !== undefined && { releaseVersion }),
      scaling: { minSize: 1, maxSize: 2 },
      ...nodeGroup,
    },
    labels: { [LABEL]: 'created' },
    runtimeClass: { name: pool },
    ...more,
  };
  return {
    apiVersion: 'winpool.dev/v1alpha1',
    kind: 'WindowsPool',
    metadata: { name: pool, labels: PART_OF_RUN },
    spec,
  };
}

/** The current pool; undefined if it does not exist. */
export const readPool = ({ kubectl, pool }: Run, signal: AbortSignal): Promise<WindowsPool | undefined> =>
  kubectl.get<WindowsPool>(POOLS, pool, [], signal);

/** The names of all pools of the cluster; none if the CRD does not exist. */
export async function poolNames({ kubectl }: Run, signal: AbortSignal): Promise<readonly string[]> {
  const pools = await kubectl.list<WindowsPool>(POOLS, [], signal);
  return pools.map(({ metadata }) => metadata.name);
}

/** Patches the spec. */
export async function patchPool({ kubectl, pool }: Run, spec: object, signal: AbortSignal): Promise<void> {
  await kubectl.run(['patch', POOLS, pool, '--type=merge', `--patch=${JSON.stringify({ spec })}`], { signal });
}

/** Waits until the operator has applied the spec, and `also` is true. Throws if the pool is Stalled. Runs `meanwhile` at each poll. */
export async function settled(
  run: Run,
  signal: AbortSignal,
  also: (pool: WindowsPool) => boolean = () => true,
  meanwhile?: (pool: WindowsPool) => Promise<void>,
): Promise<WindowsPool> {
  let last: WindowsPool | undefined;
  return until(
    run,
    signal,
    async () => {
      last = await readPool(run, signal);
      checkOperator(run);
      if (last === undefined) throw new Error(`WindowsPool ${run.pool} was deleted by another user.`);
      await meanwhile?.(last);
      const current = last.status?.observedGeneration === last.metadata.generation;
      if (current && conditionOf(last, 'Stalled').startsWith('True'))
        throw new Error(`WindowsPool ${run.pool} is stalled: ${stallOf(last)}`);
      return isReconciled(last) && isReady(last) && also(last) ? last : undefined;
    },
    () => `WindowsPool ${run.pool}:\n${conditionLines(last)}`,
  );
}

/** Why the pool is Stalled. If the condition refers to Ready, the message of Ready has the words of EKS and the remedy. */
export function stallOf(pool: WindowsPool | undefined): string {
  const message = messageOf(pool, 'Stalled');
  return message.endsWith(' See Ready.') ? messageOf(pool, 'Ready') : message;
}

function isReady(pool: WindowsPool): boolean {
  return (
    conditionOf(pool, 'Ready').startsWith('True') &&
    conditionOf(pool, 'NodesVerified').startsWith('True') &&
    // A pool on the previous release matches its spec.
    /^True|^False\/UpdateAvailable$/.test(conditionOf(pool, 'UpToDate'))
  );
}

function checkOperator({ operator }: Run): void {
  if (operator && !operator.running) throw new Error(`The operator ended.\n${operator.tail()}`);
}

const deletePool = (pool: string) => ['delete', POOLS, pool, '--ignore-not-found', '--wait=false'];
const releasePool = (pool: string) => [
  'patch',
  POOLS,
  pool,
  '--type=merge',
  '--patch={"metadata":{"finalizers":null}}',
];

/**
 * Deletes the pool and waits until it and its node group are gone. If the operator does not delete it within `patienceMs`, because it has
 * stopped, lacks permissions, or the pool is paused, deletes the node group and then removes the finalizer.
 */
export async function removePool(run: Run, signal: AbortSignal, patienceMs: number): Promise<void> {
  const { kubectl, pool } = run;
  const stuckAt = performance.now() + patienceMs;
  const isLeftToRun = () => run.operator?.running !== true || performance.now() > stuckAt;
  let asked = false;
  let gone = false;
  const tries = new Tries(run, signal, `WindowsPool ${pool} is being deleted`);
  const isGone = async () => {
    if (!asked) await kubectl.run(deletePool(pool), { signal });
    asked = true;
    gone = (await readPool(run, signal)) === undefined;
    return gone;
  };
  await until(
    run,
    signal,
    async () => (await tries.take(isGone)) || isLeftToRun(),
    () => tries.last,
  );
  if (!gone) {
    run.say(`The operator did not delete WindowsPool ${pool}. Deleting its node group without the operator`);
    await stopOperator(run);
  }
  await removeGroup(run, pool, signal);
  const isReleased = async () => {
    if (!(await isGone())) await kubectl.run(releasePool(pool), { signal });
    return true;
  };
  await tries.until(isReleased);
}

/** A permanent error of a removal. */
class CannotRemove extends Error {}

/** Retries a removal: a call that fails once must not leave behind resources that cost money. */
class Tries {
  /** The error of the last attempt. */
  last: string;
  readonly #run: Run;
  readonly #signal: AbortSignal;

  constructor(run: Run, signal: AbortSignal, last: string) {
    this.#run = run;
    this.#signal = signal;
    this.last = last;
  }

  /** The result of the attempt; undefined if it failed. Rejects with a CannotRemove, or when the signal aborts. */
  async take<T>(attempt: () => Promise<T>): Promise<T | undefined> {
    try {
      return await attempt();
    } catch (error) {
      this.#signal.throwIfAborted();
      if (error instanceof CannotRemove || !(error instanceof Error)) throw error;
      this.last = error.message;
      return undefined;
    }
  }

  /** Repeats the attempt until it returns true. */
  async until(attempt: () => Promise<boolean>): Promise<void> {
    await until(
      this.#run,
      this.#signal,
      () => this.take(attempt),
      () => this.last,
    );
  }
}

/** The manual commands instead of `removePool`, in this order: while a pool exists and is not being deleted, the operator would recreate the group. */
export function commandsToRemovePool({ kubectl, settings, pool }: Run): readonly string[] {
  return [kubectl.commandLine(deletePool(pool)), deleteGroup(settings, pool), kubectl.commandLine(releasePool(pool))];
}

/** The command that deletes a node group. */
export const deleteGroup = ({ clusterName, region }: Settings, name: string): string =>
  `aws eks delete-nodegroup --cluster-name ${clusterName} --nodegroup-name ${name} --region ${region}`;

/** Deletes a node group with the tag of this run and waits until it is gone. Throws the error if EKS rejects or fails the deletion. */
export async function removeGroup(run: Run, name: string, signal: AbortSignal): Promise<void> {
  const { aws, settings, id } = run;
  const input = { clusterName: settings.clusterName, nodegroupName: name };
  let asked = false;
  const tries = new Tries(run, signal, '');
  const isGone = async () => {
    const group = await groupOf(run, name, signal);
    if (group === undefined) return true;
    if (group.tags?.[RUN_TAG] !== id)
      throw new CannotRemove(`Node group ${name} does not have the tag ${RUN_TAG}=${id}.`);
    const issues = (group.health?.issues ?? []).map(({ code, message }) => `${code}: ${message}`).join(' ');
    tries.last = `Node group ${name} is ${group.status}. ${issues}`.trim();
    if (asked && group.status === 'DELETE_FAILED')
      throw new CannotRemove(`EKS failed to delete node group ${name}. ${issues}`);
    if (asked || group.status === 'DELETING') return false;
    const reply = await replyOf(aws.eks.deleteNodegroup(input, { abortSignal: signal }));
    asked = 'output' in reply;
    if ('refusal' in reply && reply.refusal.kind !== 'gone' && !passes(reply.refusal))
      throw new CannotRemove(
        `EKS refused to delete node group ${name}: ${reply.refusal.name}: ${reply.refusal.message}`,
      );
    return false;
  };
  await tries.until(isGone);
}
