/** The operator's endpoints: metrics, liveness and readiness. */

import type { Registry } from 'prom-client';
import type { KubernetesClient } from '../../../controllers/kubernetes/client.ts';
import type { Controller } from '../../../controllers/runtime/controller.ts';
import type { LeaderElector } from '../../../controllers/runtime/leaderElection.ts';
import type { Logger } from '../../../controllers/runtime/ports.ts';
import type { Caches } from '../caches.ts';
import type { Options } from '../options.ts';
import { startMetrics } from './metricsEndpoint.ts';
import { type Check, healthRoute, serve } from './serve.ts';

interface HealthChecks {
  readonly live: readonly Check[];
  readonly ready: readonly Check[];
}

/** Live: no reconciliation is stuck. Ready: every cache is synced and, with leader election, the lease is reachable. */
export function healthChecks(
  { reconcileTimeoutMs }: Options,
  caches: Caches,
  controller: Controller,
  elector: LeaderElector | undefined,
): HealthChecks {
  const stuck: Check = [
    'reconcile',
    () => {
      const longest = Math.max(0, ...controller.queue.unfinished());
      // A reconciliation aborts at its timeout; one that runs twice as long never ends.
      return longest > 2 * reconcileTimeoutMs
        ? `a reconciliation has been running for ${Math.round(longest / 1_000)} s`
        : undefined;
    },
  ];
  const synced = (name: 'pools' | 'nodes' | 'runtimeClasses'): Check => [
    `cache-${name.toLowerCase()}`,
    () => (caches[name].hasSynced ? undefined : 'not synced yet'),
  ];
  const electable: Check[] = elector ? [['leader-election', () => elector.unreachable()]] : [];
  return { live: [stuck], ready: [synced('pools'), synced('nodes'), synced('runtimeClasses'), ...electable] };
}

/** The metrics and health checks to serve, and the client for token and access reviews of scrapers. */
export interface Served {
  readonly registry: Registry;
  readonly client: KubernetesClient;
  readonly health: HealthChecks;
}

/** Serves /metrics, /healthz and /readyz on the addresses of the flags, until disposed. */
export async function startEndpoints(options: Options, served: Served, log: Logger): Promise<AsyncDisposable> {
  const open: AsyncDisposable[] = [];
  const { metricsAddress, healthAddress } = options;
  if (metricsAddress) open.push(await startMetrics(options, metricsAddress, served, log));
  if (healthAddress) {
    const { live, ready } = served.health;
    const routes = { '/healthz': healthRoute(live), '/readyz': healthRoute(ready) };
    const endpoint = await serve('health-address', healthAddress, routes);
    open.push(endpoint);
    log.info({ healthPort: endpoint.port }, 'serving health checks');
  }
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(open.map((endpoint) => endpoint[Symbol.asyncDispose]()));
    },
  };
}
