/** The world of a soak test: the cluster with its pools, the replicas of the operator, and the probe. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { OPERATOR_USER, WRITES } from '../../../test/fakes/testenv/audit.ts';
import { BenchCluster } from '../benchCluster.ts';
import { bundleProgram } from '../bundle.ts';
import { type AwsWrite, isAwsWrite } from './doubleWrites.ts';
import { FaultyProxy } from './faultyProxy.ts';
import { existingNodesPool, groupPool, groupPoolName } from './poolSpecs.ts';
import { ProbeProcess } from './probeProcess.ts';
import { proxiedKubeconfig, Replicas } from './replicas.ts';
import { nodeGroupPools, type SoakSettings } from './settings.ts';

/** So slow that a pause often begins while EKS works. */
const AWS_SPEED = 2;
/** The local AWS keeps its list of calls until it is reset. */
const KEPT_CALLS = 10_000;

/** The writes of the operator, and the holder of the lease. */
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [
    {
      level: 'Request',
      users: [OPERATOR_USER],
      verbs: ['create', 'update'],
      resources: [{ group: 'coordination.k8s.io', resources: ['leases'] }],
    },
    { level: 'Metadata', users: [OPERATOR_USER], verbs: WRITES },
    { level: 'None' },
  ],
};

export interface SoakWorld extends AsyncDisposable {
  readonly cluster: BenchCluster;
  readonly replicas: Replicas;
  readonly probe: ProbeProcess;
  readonly probeProxy: FaultyProxy;
  /** The names of the pools with a node group. */
  readonly groupPools: readonly string[];
  /** The calls that may change something in AWS so far, in the order of arrival. */
  readonly awsWrites: readonly AwsWrite[];
}

/** Starts it: the nodes and pools exist, and the replicas have begun to reconcile them. */
export async function startSoakWorld(
  settings: SoakSettings,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<SoakWorld> {
  await using started = new AsyncDisposableStack();
  const scaled = nodeGroupPools(settings);
  const groups = settings.pools - scaled;
  const options = { groups, instancesJoin: true, auditPolicy: AUDIT_POLICY, speed: AWS_SPEED };
  const cluster = await BenchCluster.start(options, say, signal);
  started.defer(() => cluster.stop());
  const awsWrites = recordWrites(cluster);
  await cluster.grow(settings.nodes, say);
  const groupPools = Array.from({ length: scaled }, (_, index) => groupPoolName(index));
  const items = [
    ...Array.from({ length: groups }, (_, index) => existingNodesPool(index, groups)),
    ...groupPools.map((name) => groupPool(name)),
  ];
  await cluster.world.apply({ apiVersion: 'v1', kind: 'List', items });
  const probeProxy = await FaultyProxy.start(Number(new URL(cluster.world.controlPlane.url).port));
  started.defer(() => probeProxy.stop());
  mkdirSync('build', { recursive: true });
  const log = openSync('build/soak-probe.log', 'w');
  started.defer(() => closeSync(log));
  const kubeconfig = await proxiedKubeconfig(cluster.world, 'probe', probeProxy);
  const probe = new ProbeProcess(await bundleProgram('soak/probe.ts'), kubeconfig, log);
  started.defer(async () => void (await probe.stop()));
  const replicas = await Replicas.start(cluster.world, say);
  started.defer(() => replicas.stop());
  const running = started.move();
  const dispose = () => running.disposeAsync();
  return { cluster, replicas, probe, probeProxy, groupPools, awsWrites, [Symbol.asyncDispose]: dispose };
}

function recordWrites({ world: { cloud } }: BenchCluster): readonly AwsWrite[] {
  const writes: AwsWrite[] = [];
  let calls = 0;
  cloud.setGate((entry, phase) => {
    if (phase === 'after') return;
    calls++;
    if (isAwsWrite(entry)) writes.push(entry);
    if (calls % KEPT_CALLS === 0) cloud.resetCalls();
  });
  return writes;
}
