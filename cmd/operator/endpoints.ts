/** What the operator serves: its metrics, and whether it lives and is ready. */
import type { Registry } from 'prom-client';
import type { Controller } from '../../controllers/runtime/controller.ts';
import type { LeaderElector } from '../../controllers/runtime/leaderElection.ts';
import type { Logger } from '../../controllers/runtime/ports.ts';
import type { Caches } from './caches.ts';
import type { Options } from './options.ts';
import { type Check, type Endpoint, healthRoute, serve } from './serve.ts';

interface HealthChecks {
  readonly live: readonly Check[];
  readonly ready: readonly Check[];
}

/** Alive: no reconcile is stuck. Ready: every cache is synced, and the lease is within reach where there is an election. */
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
  const electable: Check[] = elector ? [['leader-election', () => elector.unreachable()]] : [];
  return { live: [stuck], ready: [synced('pools'), synced('nodes'), synced('runtimeClasses'), ...electable] };
}

/** Serves /metrics, /healthz and /readyz on the addresses that the flags give, until disposed. */
export async function startEndpoints(
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
