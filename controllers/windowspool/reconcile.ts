/**
 * One run for one pool: observe -> derive -> plan -> act -> report. It is level-triggered: it starts from the current state, never from the event that
 * triggered it.
 */

import { act } from './act.ts';
import type { WindowsPool } from './api.gen.ts';
import type { AwsCache } from './awsCache.ts';
import { derive, resultOf } from './derive.ts';
import { rememberedOperations, withCount } from './disruption/observe.ts';
import { isDueAgain } from './disruption/terminateInstance.ts';
import type { Derived } from './model/due.ts';
import type { AutoscalerFacts, ObservedState, Settings } from './model/observedState.ts';
import type { Outcome, ReconcileResult, RunResult } from './model/outcome.ts';
import type { Step } from './model/steps.ts';
import type { Writers } from './model/writers.ts';
import { observe } from './observe.ts';
import { heldUntilRead, planFor } from './plan.ts';
import type { CallResult } from './ports/callResult.ts';
import type { ScalingGroup } from './ports/ec2.ts';
import { SCALING_GROUPS_QUESTION } from './providers/eks/autoscalerFacts.ts';
import { tolerateGateKey } from './providers/eks/gateRefusal.ts';
import { accessEntryQuestion, IPAM_QUESTIONS } from './providers/eks/prerequisites/gather.ts';
import { tolerateSkew } from './providers/eks/upgrades/versionSkew.ts';
import type { ObserveContext } from './providers/provider.ts';
import { providerOf } from './providers/providers.ts';
import { confirmedAt, type Reporter, report } from './report.ts';
import { waitsForOtherPools } from './ruleChains.ts';
import { nextRun, retry, untilNextRead } from './schedule.ts';
import type { Sources } from './sources.ts';
import { isIpamStep } from './steps/isIpamStep.ts';
import { needsFreshRead } from './steps/steps.ts';

/** What a run needs: sources, writers, reporter, cache, settings and clock. */
export interface Deps extends Sources, Writers, Reporter {
  readonly awsCache: AwsCache;
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
  const { observed, fresh } = seen.value;
  const { decisions, steps, held } = fresh ? planFor(observed) : heldUntilRead(planFor(observed));
  const acted = await actAlone(steps, observed, deps, signal);
  // Another pool was faster: the next read shows what it changed.
  if (!acted) return { kind: 'requeue' };
  forgetWhatChanged(steps, acted, deps.awsCache);
  keepOperations(acted.after, deps.awsCache);
  const outcome = resultOf(
    tolerateGateKey(await tolerateSkew(acted, deps.awsCache, deps, signal)),
    observed,
    decisions,
  );
  const reported = await report(outcome, held, fresh, deps, signal);
  if (outcome.released) return forget(name, deps);
  if (!waitsForOtherPools(outcome.decisions)) deps.fleet.rest(name);
  const untilRead = keep(outcome, fresh, deps);
  if (reported.kind === 'failed') return retry(reported.error);
  return nextRun(outcome, reported.kind === 'deferred' ? Math.min(reported.ms, untilRead) : untilRead);
}

interface Observation {
  readonly observed: Derived;
  /** Whether the pool and what is outside the cluster were read in this run, uncached. */
  readonly fresh: boolean;
}

/**
 * The observed state from the cache where that is enough. Writes to AWS are decided only on a fresh read: on the current spec, status and group.
 * Undefined: the pool is deleted.
 */
async function observation(
  name: string,
  deps: Deps,
  signal: AbortSignal,
): Promise<CallResult<Observation | undefined>> {
  const pool = deps.pools.get(name);
  if (!pool) return { ok: true, value: undefined };
  const cached = await observedFromCache(pool, deps, signal);
  if (cached) return { ok: true, value: { observed: cached, fresh: false } };
  const read = await deps.pools.read(name, signal);
  if (!read.ok) return read;
  if (!read.value) return { ok: true, value: undefined };
  const observed = await observe(read.value, undefined, contextOf(deps, signal));
  const capacity = providerOf(read.value).capacity(observed);
  return { ok: true, value: { observed: derive(await withCount(observed, capacity, deps, signal)), fresh: true } };
}

function contextOf(deps: Deps, signal: AbortSignal): ObserveContext {
  return { awsCache: deps.awsCache, sources: deps, settings: deps.settings, now: deps.now(), signal };
}

/** The observed state from the cache; undefined if the cache is not enough. */
async function observedFromCache(pool: WindowsPool, deps: Deps, signal: AbortSignal): Promise<Derived | undefined> {
  const context = contextOf(deps, signal);
  const provider = providerOf(pool);
  const snapshot = deps.awsCache.current(pool, context.now);
  if (!provider.mayUseCache(pool, snapshot)) return undefined;
  const observed = derive(await observe(pool, snapshot, context));
  const isEnough = !provider.needsRead(observed) && !planFor(observed).steps.some(needsFreshRead);
  // What AWS refused at the last read is not retried before the next one, however many events arrive.
  const isRefused = snapshot?.errors.some((error) => !isDueAgain(error, observed)) === true;
  return isEnough || isRefused ? observed : undefined;
}

/** Keeps what was read from outside the cluster until the next read is due. Returns the milliseconds until then. */
function keep({ after, accepted }: RunResult, fresh: boolean, { awsCache, now }: Deps): number {
  if (after.group.kind === 'none') return untilNextRead(after, 0);
  const at = now();
  if (fresh) {
    const since = awsCache.statusSince(after, accepted !== undefined, at);
    awsCache.keep(after, since, at + untilNextRead(after, at - since));
  }
  return awsCache.dueAt(after.pool.metadata.name) - at;
}

/** Takes the steps. Returns undefined when they change a cluster setting that another pool has changed since it was read. */
async function actAlone(
  steps: readonly Step[],
  s: ObservedState,
  deps: Deps,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const kind = steps.find(isIpamStep)?.kind;
  if (!kind) return act(steps, s, deps, signal);
  const { windowsIpam } = deps.awsCache;
  if (!windowsIpam.begin(s.now)) return undefined;
  let result: Parameters<typeof windowsIpam.end>[1] = {};
  try {
    const outcome = await act(steps, s, deps, signal);
    const error = outcome.after.errors.find(({ step }) => step === kind);
    result = { ...(error && { error }), ...(outcome.done.some((step) => step.kind === kind) && { done: kind }) };
    return outcome;
  } finally {
    windowsIpam.end(deps.now(), result);
  }
}

/**
 * Drops shared answers that the steps made stale, also when a call failed: another client may have made the change. The tags of scaling groups are
 * one answer for all pools: a pool that wrote its own tags changes them there, so that other pools need not read again.
 */
function forgetWhatChanged(steps: readonly Step[], { done, after }: Outcome, { shared }: AwsCache): void {
  const written = after.autoscaler?.tags;
  for (const step of steps) {
    if (step.kind === 'createAccessEntry') shared.forget(accessEntryQuestion(step.role));
    if (isIpamStep(step)) for (const question of IPAM_QUESTIONS) shared.forget(question);
    if (step.kind !== 'correctScalingTags') continue;
    if (written && done.includes(step))
      shared.amend<ListedGroups>(SCALING_GROUPS_QUESTION, (all) => withTags(all, written));
    else shared.forget(SCALING_GROUPS_QUESTION);
  }
}

type ListedGroups = Readonly<Record<string, ScalingGroup>>;

function withTags(all: ListedGroups, written: AutoscalerFacts['tags']): ListedGroups {
  const changed = Object.entries(all).map(([name, group]) => [name, { ...group, tags: written[name] ?? group.tags }]);
  return Object.fromEntries(changed);
}

/** Keeps the drain state, so that terminating nodes are checked at intervals and not at every event. */
function keepOperations(after: ObservedState, awsCache: AwsCache): void {
  const { name } = after.pool.metadata;
  const operations = rememberedOperations(after);
  if (operations) awsCache.operations.set(name, operations);
  else awsCache.operations.delete(name);
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

function forget(name: string, { awsCache, poolNodesCache, fleet, statusThrottle, metrics }: Deps): ReconcileResult {
  awsCache.forget(name);
  fleet.rest(name);
  poolNodesCache.forget(name);
  statusThrottle.forget(name);
  metrics.drop(name);
  return { kind: 'done' };
}
