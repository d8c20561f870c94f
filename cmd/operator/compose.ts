/** Starts the parts of the operator and connects them. connections.ts creates the clients and the caches. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { createEventSink, createPoolEvents } from '../../controllers/kubernetes/events.ts';
import { createLeaseClient } from '../../controllers/kubernetes/leases.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import { Controller } from '../../controllers/runtime/controller.ts';
import { LeaderElector, LeadershipLost } from '../../controllers/runtime/leaderElection.ts';
import type { Fence, Logger } from '../../controllers/runtime/ports.ts';
import { Recorder } from '../../controllers/runtime/recorder.ts';
import { ReadCache } from '../../controllers/windowspool/observation/readCache.ts';
import { reconcile } from '../../controllers/windowspool/reconcile.ts';
import { StatusThrottle } from '../../controllers/windowspool/reporting/statusThrottle.ts';
import { type Connections, connect, logScope, portsOf, settingsOf } from './connections.ts';
import { collectProcessMetrics, showOperator } from './metrics/catalogue.ts';
import { PoolSeries } from './metrics/poolSeries.ts';
import type { Options } from './options.ts';
import { healthChecks, startEndpoints } from './serving/endpoints.ts';
import { favorMemory } from './smallCluster.ts';
import { keepVersions, readServerVersion } from './versions.ts';

const LEASE = 'windowspool-operator';
const CONTROLLER = 'windowspool';
const REPORTER = 'winpool.dev/windowspool-operator';
/**
 * How long running reconciles may continue after the stop; an AWS call takes a second or two, or hangs. If the lease is lost, they end at once.
 */
const GRACE_MS = 4_000;
const EVENTS_MS = 3_000;
/** How long the start waits for the version of an API server that does not respond. */
const VERSION_WITHIN_MS = 5_000;

/** Runs the operator until the signal aborts and everything has stopped. Rejects when it cannot continue. */
export async function runOperator(
  options: Options,
  version: string,
  log: Logger,
  stopping: AbortSignal,
): Promise<void> {
  logScope(options, log);
  // Without leader election there is no other process.
  const fence: Fence = { check: () => elector?.check() };
  const connections = await connect(options, version, log, fence);
  const { client, caches, registry } = connections;
  collectProcessMetrics(registry);
  showOperator(registry, options, version);
  const instance = `${hostname()}_${randomBytes(4).toString('hex')}`;
  const recorder = new Recorder({
    sink: createEventSink(client),
    clock: realClock,
    log,
    controller: REPORTER,
    instance,
  });
  caches.publishTo(recorder);
  const signal = AbortSignal.any([stopping, caches.rewound]);
  const parts = { ...connections, recorder, readCache: new ReadCache() };
  const controller = createController(options, parts, log);

  const elector = options.leaderElect ? createElector(options, parts, instance, log) : undefined;
  const health = healthChecks(options, caches, controller, elector);
  await using _endpoints = await startEndpoints(options, { registry, client, health }, log);
  // The caches outlive the controller: running reconciles still read them while they finish.
  const ending = new AbortController();
  const background = [...caches.run(ending.signal)];
  void favorMemory(caches);
  const finish = async (): Promise<void> => {
    await recorder.stop(EVENTS_MS);
    ending.abort();
    await Promise.allSettled(background);
    connections.close();
  };
  // Works only while this process holds the lease. The last events are written before it is released.
  const work = async (leading: AbortSignal): Promise<void> => {
    await controller.run(leading);
    if (!(leading.reason instanceof LeadershipLost)) await recorder.stop(EVENTS_MS);
  };
  try {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(VERSION_WITHIN_MS)]);
    const check = await readServerVersion(connections, log, inTime);
    if (check?.kind === 'tooOld') throw new Error(check.message);
    background.push(keepVersions(connections, version, log, ending.signal));
    if (elector) await elector.run(signal, work);
    else await work(signal);
  } catch (error) {
    // Another process may lead from now on: nothing may delay the exit, not even an event that waits for a connection.
    if (!(error instanceof LeadershipLost)) await finish();
    throw error;
  }
  await finish();
  if (caches.rewound.aborted) throw caches.rewound.reason;
}

/** A candidate for the lease that all replicas share. */
function createElector(
  { leaderElectionNamespace }: Options,
  { client, metrics }: Parts,
  identity: string,
  log: Logger,
): LeaderElector {
  const leases = createLeaseClient(client, leaderElectionNamespace, LEASE);
  return new LeaderElector({ leases, identity, clock: realClock, log, hooks: metrics.leaderElection(LEASE) });
}

/** The controller, triggered by the caches. */
function createController(options: Options, parts: Parts, log: Logger): Controller {
  const { caches, metrics, readCache } = parts;
  const controller = new Controller({
    name: CONTROLLER,
    reconcile: reconciler(options, parts, log),
    sources: caches.stores,
    maxConcurrentReconciles: options.workers,
    timeoutMs: options.reconcileTimeoutMs,
    graceMs: GRACE_MS,
    clock: realClock,
    log,
    newId: () => randomBytes(8).toString('hex'),
    hooks: metrics.controller(CONTROLLER, options.workers),
    backoff: { baseDelayMs: options.retryBaseMs, maxDelayMs: options.retryMaxMs },
  });
  metrics.observeQueue(CONTROLLER, controller.queue);
  caches.wake(controller, (pool) => readCache.forget(pool));
  return controller;
}

interface Parts extends Connections {
  readonly recorder: Recorder;
  readonly readCache: ReadCache;
}

function reconciler(options: Options, parts: Parts, log: Logger) {
  const deps = {
    ...portsOf(options, parts),
    readCache: parts.readCache,
    statusThrottle: new StatusThrottle(),
    settings: settingsOf(options),
    now: () => parts.client.now(),
    events: createPoolEvents(parts.recorder, log),
    metrics: new PoolSeries(parts.registry),
  };
  return (name: string, signal: AbortSignal) => reconcile(name, deps, signal);
}
