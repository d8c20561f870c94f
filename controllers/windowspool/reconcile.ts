/**
 * One run for one pool: observe -> derive -> plan -> act -> report. It is level-triggered: it starts from the current state, never from the event that
 * triggered it.
 */

import { act } from './act.ts';
import type { WindowsPool } from './api/api.gen.ts';
import { derive, resultOf } from './derive.ts';
import { rememberedOperations, withCount } from './disruption/observeLeavingNodes.ts';
import { terminatingNodes } from './disruption/reservation.ts';
import { isDueAgain } from './disruption/terminateInstance.ts';
import type { Derived } from './model/due.ts';
import type { ObservedState, Settings } from './model/observedState.ts';
import type { ReconcileResult, RunResult } from './model/outcome.ts';
import type { Writers } from './model/writers.ts';
import type { ReadCache } from './observation/readCache.ts';
import type { Sources } from './observation/sources.ts';
import { observe } from './observe.ts';
import { heldUntilRead, type Plan, planFor, requiresRead } from './plan.ts';
import type { CallResult } from './ports/callResult.ts';
import type { ObserveContext } from './providers/provider.ts';
import { providerOf } from './providers/providers.ts';
import { confirmedAt, type Reporter, report } from './report.ts';
import { isDeleting } from './rules/poolQueries.ts';
import { waitsForBudget, waitsForOtherPools } from './rules/ruleChains.ts';
import { nextRun, retry, untilNextRead } from './schedule.ts';

/** What a run needs: sources, writers, reporter, cache, settings and clock. */
export interface Deps extends Sources, Writers, Reporter {
  readonly readCache: ReadCache;
  readonly settings: Settings;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Brings one pool closer to its spec. Never throws for expected errors; a throw is a bug, or the signal. */
export async function reconcile(name: string, deps: Deps, signal: AbortSignal): Promise<ReconcileResult> {
  // Stamped before the first call that may fail, so that an alert can fire on a status that was never confirmed.
  if (deps.pools.get(name)) deps.metrics.stampFirst(name, confirmedAt(deps.now()));
  const seen = await observation(name, deps, signal);
  if (!seen.ok) return retry(seen.error);
  if (!seen.value) return (await deleteOrphans(name, deps, signal)) ?? forget(name, deps);
  if (!('plan' in seen.value)) return { kind: 'requeueAfter', ms: seen.value.readInMs };
  const { observed, plan, fresh, readInMs = Number.POSITIVE_INFINITY } = seen.value;
  const { decisions, steps, held } = fresh ? plan : heldUntilRead(plan);
  const take = () => act<ObservedState>(steps, observed, deps, signal);
  const { takeSteps } = providerOf(observed.pool);
  const acted = await (takeSteps
    ? takeSteps(steps, observed, { ...contextOf(deps, signal), clock: deps.now }, take)
    : take());
  // Another pool was faster: the next read shows what it changed.
  if (!acted) return { kind: 'requeue' };
  keepOperations(acted.after, deps.readCache);
  keepDrains(acted.after, deps.readCache);
  const outcome = resultOf(acted, observed, decisions);
  // A run that failed is retried with backoff, which can be minutes: its report does not wait for that.
  const isUrgent = fresh || outcome.after.errors.length > 0;
  const reported = await report(outcome, held, isUrgent, deps, signal);
  if (outcome.released) return forget(name, deps);
  if (!waitsForOtherPools(outcome.decisions)) deps.poolRegistry.stopWaiting(name);
  else if (!waitsForBudget(outcome.decisions)) deps.poolRegistry.needNoTurn(name);
  const { until = Number.POSITIVE_INFINITY } = observed.otherPools;
  const untilRead = Math.min(keep(outcome, fresh, deps), readInMs, Math.max(0, until - observed.now));
  if (reported.kind === 'failed') return retry(reported.error);
  return nextRun(outcome, reported.kind === 'deferred' ? Math.min(reported.ms, untilRead) : untilRead);
}

interface Planned {
  readonly observed: Derived;
  readonly plan: Plan;
}

interface Observation extends Planned {
  /** Whether what is outside the cluster was read in this run, and the pool too where the cached one is not enough. */
  readonly fresh: boolean;
  /** The milliseconds until a read that is due: the pool has had too many. */
  readonly readInMs?: number;
}

/** The same without an observed state: nothing is cached that a run could use. */
interface Postponed {
  readonly readInMs: number;
}

/**
 * The observed state from the cache where that is enough. Writes to AWS are decided only on a fresh read: on the current spec, status and group.
 * A read at which there is nothing to write to AWS takes the pool from the cache: its status is written with its resourceVersion as a precondition.
 * Undefined: the pool is deleted.
 */
async function observation(
  name: string,
  deps: Deps,
  signal: AbortSignal,
): Promise<CallResult<Observation | Postponed | undefined>> {
  const pool = deps.pools.get(name);
  if (!pool) return { ok: true, value: undefined };
  const cached = await observedFromCache(pool, deps, signal);
  if (cached?.isEnough) return { ok: true, value: { ...cached.seen, fresh: false } };
  const readInMs = deps.readCache.countRead(name, deps.settings.pollMs, deps.now());
  if (readInMs > 0) return { ok: true, value: cached ? { ...cached.seen, fresh: false, readInMs } : { readInMs } };
  const isCurrentNeeded = needsCurrent(pool, deps) || (cached && requiresRead(cached.seen.plan));
  const seen = isCurrentNeeded ? undefined : await observedNow(pool, deps, signal);
  if (seen && !requiresRead(seen.plan)) return { ok: true, value: { ...seen, fresh: true } };
  const read = await deps.pools.read(name, signal);
  if (!read.ok) return read;
  if (!read.value) return { ok: true, value: undefined };
  // If the cached pool is the current one, it also was when AWS was read.
  const isCurrent = seen && read.value.metadata.resourceVersion === pool.metadata.resourceVersion;
  return { ok: true, value: { ...(isCurrent ? seen : await observedNow(read.value, deps, signal)), fresh: true } };
}

/** The observed state, with what is outside the cluster read now. */
async function observedNow(pool: WindowsPool, deps: Deps, signal: AbortSignal): Promise<Planned> {
  const observed = await observe(pool, undefined, contextOf(deps, signal));
  return planned(derive(await withCount(observed, providerOf(pool).capacity(observed), deps, signal)));
}

/** Whether the cached pool, which may be older than that of the API server, is not enough: at the first read of this process, and where nodes go. */
function needsCurrent(pool: WindowsPool, { readCache }: Deps): boolean {
  return readCache.last(pool.metadata.name) === undefined || isDeleting(pool) || terminatingNodes(pool).length > 0;
}

const planned = (observed: Derived): Planned => ({ observed, plan: planFor(observed) });

function contextOf(deps: Deps, signal: AbortSignal): ObserveContext {
  return { readCache: deps.readCache, sources: deps, settings: deps.settings, now: deps.now(), signal };
}

/** The observed state from the cache, and whether it is enough for this run; undefined if the cache has none. */
async function observedFromCache(pool: WindowsPool, deps: Deps, signal: AbortSignal) {
  const context = contextOf(deps, signal);
  const provider = providerOf(pool);
  const snapshot = deps.readCache.current(pool, context.now);
  if (!provider.mayUseCache(pool, snapshot)) return undefined;
  const seen = planned(derive(await observe(pool, snapshot, context)));
  const { observed, plan } = seen;
  const isEnough = !provider.needsRead(observed) && !requiresRead(plan);
  // What AWS refused at the last read is not retried before the next one, however many events arrive.
  const isRefused = snapshot?.errors.some((error) => !isDueAgain(error, observed)) === true;
  return { seen, isEnough: isEnough || isRefused };
}

/** Keeps what was read from outside the cluster until the next read is due. Returns the milliseconds until then. */
function keep({ after, accepted }: RunResult, fresh: boolean, { readCache, now }: Deps): number {
  const { pool } = after;
  const read = providerOf(pool).snapshot?.(after);
  if (!read) return untilNextRead(after, 0);
  const { name } = pool.metadata;
  const at = now();
  if (fresh) {
    const since = readCache.stageSince(name, read.stage, accepted !== undefined, at);
    readCache.keep(pool, read, { at: after.now, since, until: at + untilNextRead(after, at - since) });
  }
  return readCache.dueAt(name) - at;
}

/** The most nodes of a pool whose last drain is remembered. */
const MOST_DRAINED = 1_000;

/** Keeps when drains began. */
function keepDrains({ pool }: ObservedState, { drained }: ReadCache): void {
  const { name } = pool.metadata;
  const begun = terminatingNodes(pool).map(({ uid, startTime }) => [uid, Date.parse(startTime)] as const);
  if (begun.length > 0) drained.set(name, new Map([...(drained.get(name) ?? []), ...begun].slice(-MOST_DRAINED)));
}

/** Keeps the drain state, so that terminating nodes are checked at intervals and not at every event. */
function keepOperations(after: ObservedState, readCache: ReadCache): void {
  const { name } = after.pool.metadata;
  const operations = rememberedOperations(after);
  if (operations) readCache.operations.set(name, operations);
  else readCache.operations.delete(name);
}

/** Deletes the pods of a pool whose finalizer another user removed. Undefined: there are none left. */
async function deleteOrphans(
  name: string,
  { nodePods }: Deps,
  signal: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const view = nodePods.of(name);
  for (const pod of view.kind === 'seen' ? view.pods : []) {
    const deleted = await nodePods.delete(pod, signal);
    if (!deleted.ok) return retry(deleted.error);
  }
  return undefined;
}

function forget(
  name: string,
  { readCache, poolNodesCache, poolRegistry, statusThrottle, metrics }: Deps,
): ReconcileResult {
  readCache.forget(name);
  poolRegistry.stopWaiting(name);
  poolNodesCache.forget(name);
  statusThrottle.forget(name);
  metrics.drop(name);
  return { kind: 'done' };
}
