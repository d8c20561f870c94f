/** The pool of a run: its manifest, and waiting for it. */
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import { conditionLines, conditionOf, messageOf } from '../world/world.ts';
import { found } from './aws.ts';
import { factsOf, type Run, until } from './run.ts';

/** The tag on all that a run makes in AWS, with the id of the run. */
export const RUN_TAG = 'winpool.dev-e2e';
/** The label on all that a run makes in Kubernetes. */
export const PART_OF_RUN = { 'app.kubernetes.io/part-of': 'winpool-e2e' };
/** The label that a run changes. */
export const LABEL = 'e2e.example.com/step';

/** The pool: one node, with a RuntimeClass of its own, so that nothing that is there already is touched. */
export function poolOf(run: Run, releaseVersion: string | undefined): object {
  const { settings, pool, id } = run;
  const spec = {
    windowsVersion: settings.windowsVersion,
    nodeGroup: {
      nodeRoleArn: factsOf(run).roleArn,
      subnets: settings.subnets.map((subnet) => ({ id: subnet })),
      instanceTypes: [settings.instanceType],
      tags: { [RUN_TAG]: id },
      ...(releaseVersion !== undefined && { releaseVersion }),
    },
    scaling: { min: 1, max: 2 },
    labels: { [LABEL]: 'created' },
    runtimeClass: { scope: 'Pool' },
  };
  return {
    apiVersion: 'winpool.dev/v1alpha1',
    kind: 'WindowsPool',
    metadata: { name: pool, labels: PART_OF_RUN },
    spec,
  };
}

/** The pool now; undefined when there is none. */
export const readPool = ({ kubectl, pool }: Run, signal: AbortSignal): Promise<WindowsPool | undefined> =>
  kubectl.get<WindowsPool>('windowspools.winpool.dev', pool, [], signal);

/** Changes the spec; what is not named stays. */
export async function patchPool({ kubectl, pool }: Run, spec: object, signal: AbortSignal): Promise<void> {
  await kubectl.run(
    ['patch', 'windowspools.winpool.dev', pool, '--type=merge', `--patch=${JSON.stringify({ spec })}`],
    { signal },
  );
}

/** Waits until the operator has done all that the spec asks for, and `also`. Throws when the operator says that it is stuck. */
export async function settled(
  run: Run,
  signal: AbortSignal,
  also: (pool: WindowsPool) => boolean = () => true,
): Promise<WindowsPool> {
  let last: WindowsPool | undefined;
  return until(
    run,
    signal,
    async () => {
      last = await readPool(run, signal);
      checkOperator(run);
      if (last === undefined) throw new Error(`WindowsPool ${run.pool} was deleted by another user.`);
      const current = last.status?.observedGeneration === last.metadata.generation;
      if (current && conditionOf(last, 'Stalled').startsWith('True'))
        throw new Error(`WindowsPool ${run.pool} is stalled: ${messageOf(last, 'Stalled')}`);
      return current && isReady(last) && also(last) ? last : undefined;
    },
    () => `WindowsPool ${run.pool}:\n${conditionLines(last)}`,
  );
}

function isReady(pool: WindowsPool): boolean {
  return (
    conditionOf(pool, 'Ready').startsWith('True') &&
    conditionOf(pool, 'NodesVerified').startsWith('True') &&
    // A pool on the previous release is as its spec says.
    /^True|^False\/UpdateAvailable$/.test(conditionOf(pool, 'UpToDate')) &&
    conditionOf(pool, 'Reconciling') === 'absent'
  );
}

function checkOperator({ operator }: Run): void {
  if (operator && !operator.running) throw new Error(`The operator ended.\n${operator.tail()}`);
}

/** Deletes the pool and waits until it is gone; without an operator that can do it, deletes its node group and takes the finalizer off. */
export async function removePool(run: Run, signal: AbortSignal): Promise<void> {
  const { kubectl, pool, operator } = run;
  await kubectl.run(['delete', 'windowspools.winpool.dev', pool, '--ignore-not-found', '--wait=false'], { signal });
  const gone = async () => (await readPool(run, signal)) === undefined || operator?.running !== true;
  await until(run, signal, gone, () => `WindowsPool ${pool} is being deleted`);
  if (await readPool(run, signal))
    await kubectl.run(
      ['patch', 'windowspools.winpool.dev', pool, '--type=merge', '--patch={"metadata":{"finalizers":null}}'],
      { signal },
    );
  await removeGroup(run, pool, signal);
}

/** Deletes a node group with the tag of this run and waits until it is gone. */
export async function removeGroup(run: Run, name: string, signal: AbortSignal): Promise<void> {
  const { aws, settings, id } = run;
  const input = { clusterName: settings.clusterName, nodegroupName: name };
  const options = { abortSignal: signal };
  let asked = false;
  await until(
    run,
    signal,
    async () => {
      const group = (await found(aws.eks.describeNodegroup(input, options)))?.nodegroup;
      if (group === undefined) return true;
      if (group.tags?.[RUN_TAG] !== id) throw new Error(`Node group ${name} does not have the tag ${RUN_TAG}=${id}.`);
      // EKS refuses while it works on the group.
      if (!asked && group.status !== 'DELETING')
        asked = await found(aws.eks.deleteNodegroup(input, options)).then(
          () => true,
          () => false,
        );
      return undefined;
    },
    () => `EKS is deleting node group ${name}`,
  );
}
