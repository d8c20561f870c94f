/** One run for one pool: observe -> plan -> act -> report. It starts from what is true now, never from the event that woke it. */
import { act, type Hands, type Outcome } from './act.ts';
import { SCALING_TAGS_QUESTION } from './nodeGroup/autoscalerFacts.ts';
import { excuseGateKey } from './nodes/gateRefusal.ts';
import { needsInstances, observe, type Sights, type Sources } from './observe.ts';
import { planFor } from './plan.ts';
import { hasNodeGroup } from './poolKind.ts';
import type { Answer } from './ports.ts';
import { needsExamination } from './prerequisites/examination.ts';
import { accessEntryQuestion } from './prerequisites/gather.ts';
import { report, type Voice } from './report.ts';
import { type Next, nextRun, retry, untilGroupLook } from './schedule.ts';
import type { Settings, Situation } from './situation.ts';
import { type Step, touchesAws } from './steps.ts';
import { waitsForBudget } from './upgrades/disruption.ts';
import { unverifiedRelease } from './upgrades/releaseFailures.ts';
import { excuseSkew } from './upgrades/versionSkew.ts';

export interface Deps extends Sources, Hands, Voice {
  readonly sights: Sights;
  readonly settings: Settings;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Brings one pool nearer to its spec. Never throws for expected trouble; a throw is a bug, or the signal. */
export async function reconcile(name: string, deps: Deps, signal: AbortSignal): Promise<Next> {
  const seen = await look(name, deps, signal);
  if (!seen.ok) return retry(seen.trouble);
  if (!seen.value) return forget(name, deps);
  const { situation, fresh } = seen.value;
  const plan = planFor(situation);
  const steps = fresh ? plan.steps : withoutAws(plan.steps);
  const acted = await actAlone(steps, situation, deps, signal);
  // Somebody else was faster: the next look shows whose the group is.
  if (!acted) return { kind: 'retry' };
  forgetWhatChanged(steps, deps.sights);
  const outcome = excuseGateKey(await excuseSkew(acted, deps.sights, deps, signal));
  const told = await report(outcome, plan.pending, fresh, deps, signal);
  if (outcome.released) return forget(name, deps);
  const { after } = outcome;
  if (!waitsForBudget(after) && !unverifiedRelease(after)) deps.fleet.rest(name);
  if (fresh) deps.sights.keep(after, deps.now() + untilGroupLook(after));
  if (told.kind === 'failed') return retry(told.trouble);
  const untilLook = hasNodeGroup(after.pool) ? deps.sights.dueAt(name) - deps.now() : untilGroupLook(after);
  return nextRun(after, told.kind === 'deferred' ? Math.min(told.ms, untilLook) : untilLook);
}

interface Look {
  readonly situation: Situation;
  /** Whether the pool and its group were read in this run, past every cache. */
  readonly fresh: boolean;
}

/**
 * The situation from the cache where that is enough. What is written to AWS is decided only on a fresh look: on a spec, a memory and a
 * group that are true now.
 */
async function look(name: string, deps: Deps, signal: AbortSignal): Promise<Answer<Look | undefined>> {
  const pool = deps.pools.get(name);
  if (!pool) return { ok: true, value: undefined };
  const now = deps.now();
  if (!hasNodeGroup(pool)) {
    const situation = await observe(pool, undefined, deps.sights, deps, deps.settings, now, signal);
    return { ok: true, value: { situation, fresh: false } };
  }
  const cached = deps.sights.current(pool, now);
  if (cached) {
    const situation = await observe(pool, cached, deps.sights, deps, deps.settings, now, signal);
    const asksAws =
      needsInstances(situation) || needsExamination(situation) || planFor(situation).steps.some(touchesAws);
    const enough = cached.troubles.length > 0 || !asksAws;
    if (enough) return { ok: true, value: { situation, fresh: false } };
  }
  const read = await deps.pools.read(name, signal);
  if (!read.ok) return read;
  if (!read.value) return { ok: true, value: undefined };
  const situation = await observe(read.value, undefined, deps.sights, deps, deps.settings, now, signal);
  return { ok: true, value: { situation, fresh: true } };
}

/** Takes the steps; not when they adopt a group that another pool has adopted since it was looked at. */
async function actAlone(
  steps: readonly Step[],
  s: Situation,
  deps: Deps,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const adopted = steps.find((step) => step.kind === 'adoptNodeGroup');
  if (!adopted) return act(steps, s, deps, signal);
  const { adoptions } = deps.sights;
  const { arn } = adopted.group;
  if (!adoptions.begin(arn, adopted.pool, s.now)) return undefined;
  try {
    return await act(steps, s, deps, signal);
  } finally {
    adoptions.end(arn, adopted.pool, deps.now());
  }
}

/**
 * What AWS refused at the last look is not asked again before the next one, however many events come. The finalizer and a share of the
 * disruption budget wait for what AWS is still to be asked.
 */
function withoutAws(steps: readonly Step[]): readonly Step[] {
  const waits = ({ kind }: Step) => ['removeFinalizer', 'claimDisruption'].includes(kind);
  return steps.some(touchesAws) ? steps.filter((step) => !touchesAws(step) && !waits(step)) : steps;
}

/** What was answered before is not true any more, also where a call failed: somebody else may have made it. */
function forgetWhatChanged(steps: readonly Step[], { shared }: Sights): void {
  for (const step of steps) {
    if (step.kind === 'createAccessEntry') shared.forget(accessEntryQuestion(step.role));
    if (step.kind === 'correctScalingTags') shared.forget(SCALING_TAGS_QUESTION);
  }
}

function forget(name: string, { sights, rosters, fleet, pace, metrics }: Deps): Next {
  sights.forget(name);
  fleet.rest(name);
  rosters.forget(name);
  pace.forget(name);
  metrics.drop(name);
  return { kind: 'rest' };
}
