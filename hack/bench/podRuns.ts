/** The program of the section `pod`: in namespaces of its own, it starts the pods of both images on a real node, measures them, and sends the runs to its parent. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Deployment, V1Lease } from '@kubernetes/client-node';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { messageOf } from '../../controllers/runtime/failure.ts';
import { NAMESPACE, OperatorPods } from '../../test/fakes/testenv/operatorPods.ts';
import { CLUSTER_NAME, startTestEnv, type TestEnv } from '../../test/fakes/testenv/testEnv.ts';
import { watchEvents } from '../../test/fakes/testenv/watchEvents.ts';
import { waitFor } from '../controlplane/wait.ts';
import { megabytes, memoryOf, processesWith } from './processFigures.ts';

const LEADER_MS = 90_000;
/** Longer than the grace period, and shorter than kubectl may run. */
const DELETE_SECONDS = 50;
const LABEL = 'app.kubernetes.io/name';
const KARPENTER = 'karpenter';

export interface PodTask {
  /** The archive of its image. */
  readonly operator: string;
  readonly karpenter: {
    readonly archive: string;
    /** Its name. */
    readonly image: string;
    /** Folders. */
    readonly crds: readonly string[];
  };
  /** Of each. */
  readonly runs: number;
  readonly restSeconds: number;
}

export interface PodRun {
  readonly leaderMs: number;
  readonly rssMB: number;
}

export type PodAnswer =
  | { readonly operator: readonly PodRun[]; readonly karpenter: readonly PodRun[] }
  | { readonly error: string };

interface Contender {
  /** Of its Deployment, and the label of its pod. */
  readonly name: string;
  readonly deployment: Wire<V1Deployment>;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Whether this is the command line of its process. */
  readonly isCommand: (command: string) => boolean;
}

async function measure(task: PodTask): Promise<PodAnswer> {
  const world = await startTestEnv({ log: console.log, realNodes: 1 });
  try {
    const operator = await prepareOperator(world, task);
    const karpenter = await prepareKarpenter(world, task, operator.deployment);
    const runs = { operator: [] as PodRun[], karpenter: [] as PodRun[] };
    const next = async (contender: Contender) => {
      await reset(world, [operator, karpenter]);
      return once(world, contender, task.restSeconds);
    };
    for (let run = 0; run < task.runs; run++) {
      runs.operator.push(await next(operator));
      runs.karpenter.push(await next(karpenter));
    }
    return runs;
  } finally {
    await world.stop();
  }
}

/** Installs the operator as its users do, and returns its Deployment as the API server has it. */
async function prepareOperator(world: TestEnv, { operator: archive }: PodTask): Promise<Contender> {
  const pods = new OperatorPods();
  await pods.start(world, archive);
  await pods.deploy();
  const name = 'windowspool-operator';
  const { apiVersion, kind, spec } = JSON.parse(await pods.kubectl('get', 'deployment', name, '-o', 'json'));
  return {
    name,
    deployment: { apiVersion, kind, metadata: { name, namespace: NAMESPACE }, spec },
    lease: { namespace: 'kube-system', name },
    isCommand: (command) => command.startsWith('node\0') && command.includes('/app/operator.mjs'),
  };
}

/** Imports the image of Karpenter, installs its CRDs and permissions, and returns the Deployment of the operator with the program of Karpenter. */
async function prepareKarpenter(
  world: TestEnv,
  { karpenter }: PodTask,
  operator: Wire<V1Deployment>,
): Promise<Contender> {
  await world.nodes?.importImage(karpenter.archive);
  for (const folder of karpenter.crds) await world.kubectl('apply', '--server-side', '-f', folder);
  const account = `${NAMESPACE}:${KARPENTER}`;
  await world.kubectl('create', 'serviceaccount', KARPENTER, '--namespace', NAMESPACE);
  await world.kubectl(
    'create',
    'clusterrolebinding',
    KARPENTER,
    '--clusterrole=cluster-admin',
    `--serviceaccount=${account}`,
  );
  return {
    name: KARPENTER,
    deployment: asKarpenter(operator, karpenter.image),
    lease: { namespace: NAMESPACE, name: 'karpenter-leader-election' },
    isCommand: (command) => command === `/${KARPENTER}\0`,
  };
}

/** The same pod: only the program and what it is told differ. The ports and the paths of the probes are the same. */
function asKarpenter({ spec, ...operator }: Wire<V1Deployment>, image: string): Wire<V1Deployment> {
  const labels = { [LABEL]: KARPENTER };
  const [container] = spec?.template.spec?.containers ?? [];
  if (!spec || !container) throw new Error('The Deployment of the operator has no container.');
  const portOf = (name: string) => String(container.ports?.find((port) => port.name === name)?.containerPort);
  const variables = {
    CLUSTER_NAME,
    SYSTEM_NAMESPACE: NAMESPACE,
    LEADER_ELECTION_NAMESPACE: NAMESPACE,
    METRICS_PORT: portOf('metrics'),
    HEALTH_PROBE_PORT: portOf('health'),
  };
  const env = [
    ...Object.entries(variables).map(([name, value]) => ({ name, value })),
    // As in its chart.
    { name: 'MEMORY_LIMIT', valueFrom: { resourceFieldRef: { resource: 'limits.memory' } } },
  ];
  const { serviceAccount: _, ...podSpec } = spec.template.spec ?? {};
  const containers = [{ ...container, image, args: [], env }];
  return {
    ...operator,
    metadata: { name: KARPENTER, namespace: NAMESPACE },
    spec: {
      ...spec,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { ...podSpec, serviceAccountName: KARPENTER, containers } },
    },
  };
}

/** Deletes the Deployments and Leases of earlier runs, and waits until no pod is left. */
async function reset(world: TestEnv, contenders: readonly Contender[]): Promise<void> {
  for (const { name, lease } of contenders) {
    const deployment = ['deployment', name, `--namespace=${NAMESPACE}`, '--cascade=foreground'];
    await world.kubectl('delete', ...deployment, '--ignore-not-found', `--timeout=${DELETE_SECONDS}s`);
    await world.kubectl('delete', 'lease', lease.name, `--namespace=${lease.namespace}`, '--ignore-not-found');
  }
}

/** Applies the Deployment, and waits until its pod leads and has been at rest. */
async function once(
  world: TestEnv,
  { name, deployment, lease, isCommand }: Contender,
  restSeconds: number,
): Promise<PodRun> {
  let held: { readonly at: number; readonly by: string } | undefined;
  const path = `/apis/coordination.k8s.io/v1/namespaces/${lease.namespace}/leases?fieldSelector=metadata.name%3D${lease.name}`;
  const watch = await watchEvents<Wire<V1Lease>>(world.controlPlane.adminKubeconfig, path, ({ object }) => {
    const by = object.spec?.holderIdentity;
    if (by) held ??= { at: performance.now(), by };
  });
  const started = performance.now();
  await world.apply(deployment);
  const leader = await waitFor(
    () => {
      watch.check();
      return held;
    },
    {
      what: `the pod of ${name} to hold the lease ${lease.name}`,
      timeoutMs: LEADER_MS,
      explain: async () => `${await ofPods(world, name, 'describe', 'pods')}\n${await logOf(world, name)}`,
    },
  );
  await watch.stop();
  const pods = await ofPods(world, name, 'get', 'pods', '-o', 'name');
  // NAME_RANDOM
  if (pods.trim() !== `pod/${leader.by.slice(0, leader.by.lastIndexOf('_'))}`)
    throw new Error(`${leader.by} holds the lease ${lease.name}, and the pods of ${name} are: ${pods}`);
  await sleep(restSeconds * 1_000);
  const [pid, ...others] = processesWith(isCommand);
  if (pid === undefined || others.length > 0)
    throw new Error(
      `${others.length + (pid ? 1 : 0)} processes of ${name} run, expected one.\n${await logOf(world, name)}`,
    );
  return { leaderMs: leader.at - started, rssMB: megabytes(memoryOf(pid).rssKiB) };
}

/** The last lines of its log. The container may not have started. */
function logOf(world: TestEnv, name: string): Promise<string> {
  return ofPods(world, name, 'logs', '--tail=30').catch(messageOf);
}

function ofPods(world: TestEnv, name: string, ...args: readonly string[]): Promise<string> {
  return world.kubectl(...args, `--namespace=${NAMESPACE}`, `--selector=${LABEL}=${name}`);
}

/** Without its parent, its runs reach nobody. */
const onOrphaned = () => process.exit(1);
process.once('disconnect', onOrphaned);
const answer = await measure(JSON.parse(process.argv[2] ?? '')).catch((error: unknown) => ({
  error: messageOf(error),
}));
process.send?.(answer satisfies PodAnswer);
process.off('disconnect', onOrphaned);
process.disconnect?.();
