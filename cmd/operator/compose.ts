/** Puts the operator together: every piece is made here and nowhere else. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger as Pino } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { Lane } from '../../controllers/aws/calls.ts';
import { type AwsClients, createAwsClients } from '../../controllers/aws/clients.ts';
import { EksClusters } from '../../controllers/aws/clusters.ts';
import { Ec2Instances } from '../../controllers/aws/instances.ts';
import { EksNodeGroups } from '../../controllers/aws/nodeGroups.ts';
import { createKubernetesClient, type KubernetesClient } from '../../controllers/kubernetes/client.ts';
import { createEventSink, createPoolEvents } from '../../controllers/kubernetes/events.ts';
import { createLeaseClient } from '../../controllers/kubernetes/leases.ts';
import { createNodes, nodeIdentity, nodeIndexes, nodeListWatch } from '../../controllers/kubernetes/nodes.ts';
import { createPools, poolIdentity, poolListWatch } from '../../controllers/kubernetes/pools.ts';
import {
  createRuntimeClasses,
  runtimeClassIdentity,
  runtimeClassListWatch,
} from '../../controllers/kubernetes/runtimeClasses.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import { Controller } from '../../controllers/runtime/controller.ts';
import { LeaderElector, LeadershipLost } from '../../controllers/runtime/leaderElection.ts';
import { createEngineMetrics, type EngineMetrics } from '../../controllers/runtime/metrics.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import { Recorder } from '../../controllers/runtime/recorder.ts';
import { Reflector } from '../../controllers/runtime/reflector.ts';
import { Store } from '../../controllers/runtime/store.ts';
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import { NODE_GROUP_LABEL } from '../../controllers/windowspool/labels.ts';
import { Sights } from '../../controllers/windowspool/observe.ts';
import { Pace } from '../../controllers/windowspool/pace.ts';
import type { NodeRecord, RuntimeClass } from '../../controllers/windowspool/ports.ts';
import { reconcile } from '../../controllers/windowspool/reconcile.ts';
import { Rosters } from '../../controllers/windowspool/roster.ts';
import { nodeGroupsOfChange, poolChangeMatters, poolIndexes } from '../../controllers/windowspool/triggers.ts';
import type { Options } from './options.ts';
import { awsMetrics, PrometheusPoolMetrics } from './poolMetrics.ts';
import { type Check, type Endpoint, healthRoute, serve } from './serve.ts';

const LEASE = 'windowspool-operator';
const CONTROLLER = 'windowspool';
/**
 * Running reconciles may go on this long after the stop; a call to AWS takes a second or two, or hangs. Less than the 5 s between the
 * loss of the lease and its end, so that the process is gone before another leads.
 */
const GRACE_MS = 4_000;
const EVENTS_MS = 3_000;
const VERSION_REFRESH_MS = 3_600_000;

/** Runs the operator until the signal aborts and everything has ended. Rejects when it cannot go on. */
export async function runOperator(options: Options, version: string, pino: Pino, signal: AbortSignal): Promise<void> {
  const log: Logger = pino;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const metrics = createEngineMetrics(registry);
  const { kubeconfig } = options;
  const client = createKubernetesClient({ kubeconfigPath: kubeconfig, log, version, onRequest: metrics.request });
  const aws = createAwsClients({ region: options.region, version });
  const caches = new Caches(client, log, metrics);
  const instance = `${hostname()}_${randomBytes(4).toString('hex')}`;
  const recorder = new Recorder({
    sink: createEventSink(client),
    clock: realClock,
    log,
    controller: 'winpool.dev/windowspool-operator',
    instance,
  });
  const serverVersion = { current: undefined as string | undefined };
  const authorities = (await client.caData()) ?? '';
  const controller = new Controller({
    name: CONTROLLER,
    reconcile: reconciler(options, { client, aws, caches, recorder, registry, authorities, serverVersion }),
    sources: caches.stores,
    workers: options.workers,
    timeoutMs: options.reconcileTimeoutMs,
    graceMs: GRACE_MS,
    clock: realClock,
    log,
    newId: () => randomBytes(8).toString('hex'),
    hooks: metrics.controller(CONTROLLER, options.workers),
    backoff: { baseDelayMs: options.retryBaseMs, maxDelayMs: options.retryMaxMs },
  });
  metrics.observeQueue(CONTROLLER, controller.queue);
  caches.wake(controller);

  await using endpoints = await startEndpoints(options, registry, healthChecks(options, caches, controller), log);
  // The caches outlive the controller: running reconciles still read them while they finish.
  const ending = new AbortController();
  const background = [...caches.run(ending.signal), keepServerVersion(client, serverVersion, log, ending.signal)];
  const finish = async (): Promise<void> => {
    await recorder.stop(EVENTS_MS);
    ending.abort();
    await Promise.allSettled(background);
    aws.close();
    await client.close();
  };
  try {
    if (options.leaderElect) {
      const leases = createLeaseClient(client, options.leaderElectionNamespace, LEASE);
      const hooks = metrics.leaderElection(LEASE);
      const elector = new LeaderElector({ leases, identity: instance, clock: realClock, log, hooks });
      await elector.run(signal, (work) => controller.run(work));
    } else await controller.run(signal);
  } catch (error) {
    // Another may lead from now on: nothing may hold the process any longer, not even an event that waits for a connection.
    if (!(error instanceof LeadershipLost)) await finish();
    throw error;
  }
  await finish();
  void endpoints;
}

/** The cached collections and how their changes wake pools. */
class Caches {
  readonly pools: Store<WindowsPool, keyof typeof poolIndexes>;
  readonly nodes: Store<NodeRecord, keyof typeof nodeIndexes>;
  readonly runtimeClasses: Store<RuntimeClass>;
  readonly rosters: Rosters;
  readonly #reflectors: readonly { run(signal: AbortSignal): Promise<void> }[];

  constructor(client: KubernetesClient, log: Logger, metrics: EngineMetrics) {
    this.pools = new Store({ identity: poolIdentity, indexes: poolIndexes, log });
    this.nodes = new Store({ identity: nodeIdentity, indexes: nodeIndexes, log });
    this.rosters = new Rosters(
      (group) => this.nodes.byIndex('nodeGroup', group),
      () => Date.now(),
    );
    this.runtimeClasses = new Store({ identity: runtimeClassIdentity, log });
    const common = (name: string) => ({ name, clock: realClock, log, hooks: metrics.reflector(name) });
    this.#reflectors = [
      new Reflector({
        ...common('windowspools'),
        source: poolListWatch(client),
        identity: poolIdentity,
        store: this.pools,
      }),
      new Reflector({
        ...common('nodes'),
        source: nodeListWatch(client, NODE_GROUP_LABEL),
        identity: nodeIdentity,
        store: this.nodes,
      }),
      new Reflector({
        ...common('runtimeclasses'),
        source: runtimeClassListWatch(client),
        identity: runtimeClassIdentity,
        store: this.runtimeClasses,
      }),
    ];
  }

  get stores() {
    return [this.pools, this.nodes, this.runtimeClasses];
  }

  run(signal: AbortSignal): Promise<void>[] {
    return this.#reflectors.map((reflector) => reflector.run(signal));
  }

  wake(controller: Controller): void {
    this.pools.subscribe(({ key, before, after }) => {
      if (poolChangeMatters(before, after)) controller.enqueue(key);
    });
    this.nodes.subscribe(({ before, after }) => {
      this.rosters.follow(before, after);
      for (const group of nodeGroupsOfChange(before, after)) this.#wakeBy('nodeGroup', group, controller);
    });
    this.runtimeClasses.subscribe(({ key }) => this.#wakeBy('runtimeClass', key, controller));
  }

  #wakeBy(index: keyof typeof poolIndexes, value: string, controller: Controller): void {
    for (const { metadata } of this.pools.byIndex(index, value)) controller.enqueue(metadata.name);
  }
}

interface Parts {
  readonly client: KubernetesClient;
  readonly aws: AwsClients;
  readonly caches: Caches;
  readonly recorder: Recorder;
  readonly registry: Registry;
  readonly authorities: string;
  readonly serverVersion: { readonly current: string | undefined };
}

function reconciler(options: Options, parts: Parts) {
  const { client, aws, caches, recorder, registry, authorities, serverVersion } = parts;
  const lane = new Lane(awsMetrics(registry));
  const { clusterName } = options;
  const deps = {
    sights: new Sights(),
    pace: new Pace(),
    settings: options,
    now: () => Date.now(),
    nodeGroups: new EksNodeGroups(clusterName, aws.eks, lane),
    clusters: new EksClusters(clusterName, aws.eks, lane, () => authorities),
    instances: new Ec2Instances(aws.describeInstances, lane),
    nodes: createNodes(client, caches.nodes),
    rosters: caches.rosters,
    runtimeClasses: createRuntimeClasses(client, caches.runtimeClasses),
    pools: createPools(client, caches.pools),
    events: createPoolEvents(recorder),
    metrics: new PrometheusPoolMetrics(registry),
    serverVersion: () => serverVersion.current,
  };
  return (name: string, { signal }: { readonly signal: AbortSignal }) => reconcile(name, deps, signal);
}

/** Kubelets are compared with this version; it changes when the control plane is upgraded. */
async function keepServerVersion(
  client: KubernetesClient,
  version: { current: string | undefined },
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      version.current = await client.serverVersion(signal);
    } catch (error) {
      if (!signal.aborted) log.warn({ error: (error as Error).message }, 'the version of the API server is not known');
    }
    const wait = version.current === undefined ? 5_000 : VERSION_REFRESH_MS;
    await realClock.sleep(wait, signal).catch(() => undefined);
  }
}

interface HealthChecks {
  readonly live: readonly Check[];
  readonly ready: readonly Check[];
}

function healthChecks({ reconcileTimeoutMs }: Options, caches: Caches, controller: Controller): HealthChecks {
  const stuck: Check = [
    'reconcile',
    () => {
      const longest = Math.max(0, ...controller.queue.unfinished());
      // A reconcile aborts at its time-out; one that goes on for twice as long will never end.
      return longest > 2 * reconcileTimeoutMs
        ? `a reconcile has been running for ${Math.round(longest / 1_000)} s`
        : undefined;
    },
  ];
  const synced = (name: 'pools' | 'nodes' | 'runtimeClasses'): Check => [
    `cache-${name.toLowerCase()}`,
    () => (caches[name].hasSynced ? undefined : 'not synced yet'),
  ];
  return { live: [stuck], ready: [synced('pools'), synced('nodes'), synced('runtimeClasses')] };
}

async function startEndpoints(
  options: Options,
  registry: Registry,
  { live, ready }: HealthChecks,
  log: Logger,
): Promise<AsyncDisposable> {
  const open: Endpoint[] = [];
  const { metricsAddress, healthAddress } = options;
  if (metricsAddress) {
    const body = async () => ({ status: 200, contentType: registry.contentType, body: await registry.metrics() });
    open.push(await serve('metrics-address', metricsAddress, { '/metrics': body }));
    log.info({ metricsPort: open.at(-1)?.port }, 'serving metrics');
  }
  if (healthAddress) {
    const routes = { '/healthz': healthRoute(live), '/readyz': healthRoute(ready) };
    open.push(await serve('health-address', healthAddress, routes));
    log.info({ healthPort: open.at(-1)?.port }, 'serving health');
  }
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(open.map((endpoint) => endpoint[Symbol.asyncDispose]()));
    },
  };
}
