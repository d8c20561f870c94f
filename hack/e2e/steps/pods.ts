/** A pod of a run on a node of its pool. */
import { nodesOf } from '../facts.ts';
import { PART_OF_RUN } from '../pool.ts';
import { type Run, timeoutOf, until } from '../run.ts';

/** The time-out of the removal of a pod. */
export const REMOVE_POD_MS = 5 * 60_000;

/** The fields of a Pod that a run reads. */
export interface Pod {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly containerStatuses?: readonly {
      readonly ready?: boolean;
      readonly state?: { readonly terminated?: { readonly exitCode?: number; readonly message?: string } };
    }[];
  };
}

/**
 * Creates a pod that uses the RuntimeClass of the pool, with the name of the pool in namespace default, waits until `isDone` on a node of the pool, and removes
 * it. What `isDone` throws fails the step.
 * @param spec the rest of its spec
 */
export async function runPod(run: Run, spec: object, signal: AbortSignal, isDone: (pod: Pod) => boolean): Promise<Pod> {
  const { kubectl, cleanup, pool } = run;
  const remove = ['delete', 'pod', pool, '--namespace=default', '--ignore-not-found'];
  cleanup.note({
    what: `pod default/${pool}`,
    timeoutMs: timeoutOf(run, REMOVE_POD_MS),
    commands: [kubectl.commandLine(remove)],
    remove: async (bound) => {
      await kubectl.run(remove, { signal: bound, timeoutMs: REMOVE_POD_MS });
    },
  });
  const manifest = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: pool, namespace: 'default', labels: PART_OF_RUN },
    spec: { runtimeClassName: pool, restartPolicy: 'Never', ...spec },
  };
  await kubectl.apply(manifest, signal);
  let last: Pod | undefined;
  const found = await until(
    run,
    signal,
    async () => {
      last = await kubectl.get<Pod>('pod', pool, ['--namespace=default'], signal);
      return last !== undefined && isDone(last) ? last : undefined;
    },
    () => `Pod default/${pool}: ${JSON.stringify(last?.status ?? 'missing')}`,
  );
  const nodes = await nodesOf(run, pool, signal);
  if (!nodes.some(({ metadata }) => metadata.name === found.spec?.nodeName))
    throw new Error(`Pod default/${pool} runs on ${found.spec?.nodeName}, which is not a node of the pool.`);
  // It would only slow down the next steps.
  await kubectl.run(remove, { signal, timeoutMs: REMOVE_POD_MS });
  return found;
}
