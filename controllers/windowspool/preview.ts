/** What the next run would do for a pool, as text. Read-only. */

import type { PendingStep, WindowsPool } from './api/api.gen.ts';
import { evaluateConditions } from './conditions/evaluateConditions.ts';
import { derive, withoutSteps } from './derive.ts';
import type { Step } from './model/steps.ts';
import { observe } from './observe.ts';
import { planFor } from './plan.ts';
import type { ObserveContext } from './providers/provider.ts';
import { providerOf } from './providers/providers.ts';
import { byHeading, pendingIn } from './rules/heldSteps.ts';
import { describeStep } from './steps/stepKinds.ts';
import { count, sentence } from './util/words.ts';

/** The steps, differences and obstacles of one pool, as text. */
export interface Preview {
  readonly pool: string;
  /** What the next run would do. */
  readonly now: readonly string[];
  /** What it would not do, and why. */
  readonly later: readonly PendingStep[];
  /** How the group differs from the spec, if the pool owns or is about to adopt it. */
  readonly differences: readonly string[];
  /** What blocks the pool or could not be read, as messages of its conditions. */
  readonly remarks: readonly string[];
  /** Whether everything could be read. */
  readonly isComplete: boolean;
}

/** Reads the pool and AWS now, and writes nothing. */
export async function preview(pool: WindowsPool, context: ObserveContext): Promise<Preview> {
  const s = derive(await observe(pool, undefined, { ...context, isPreview: true }));
  const { decisions, steps, held } = planFor(s);
  const conditions = evaluateConditions(withoutSteps(s, decisions));
  const { Stalled, PrerequisitesMet } = conditions;
  const { source, waiting, differences, ...part } = providerOf(pool).preview(s, decisions, conditions);
  const isObserved = part.isObserved && s.errors.length === 0;
  const unmet = PrerequisitesMet.reason === 'Met' ? undefined : PrerequisitesMet;
  const causes = isObserved ? [Stalled, unmet, waiting] : [source, PrerequisitesMet];
  const remarks = [...new Set(causes.flatMap((finding) => (finding ? [finding.message] : [])))];
  return {
    pool: pool.metadata.name,
    now: steps.flatMap((step) => describe(step) ?? []),
    later: pendingIn(held, describe),
    differences,
    remarks,
    isComplete: isObserved && PrerequisitesMet.status !== 'Unknown' && part.isComplete,
  };
}

function describe(step: Step): string | undefined {
  return step.kind === 'removeFinalizer' ? 'remove the finalizer of the pool' : describeStep(step);
}

/** The preview as text: a line for the pool, and indented lines for its steps, differences and messages. */
export function previewText({ pool, now, later, differences, remarks }: Preview): string {
  const steps = now.length + later.length;
  const list = (title: string, lines: readonly string[]) =>
    lines.length > 0 ? [`  ${title}:`, ...lines.map((line) => `    ${line}`)] : [];
  return [
    `WindowsPool ${pool}: ${steps > 0 ? count(steps, 'step') : 'nothing to do'}`,
    ...list('now', now.map(sentence)),
    ...byHeading(later).flatMap(([why, held]) => list(why, held.map(sentence))),
    ...list('the node group differs', differences.map(sentence)),
    // A message may end with a command, which must be copied without a full stop.
    ...list('messages', remarks),
  ].join('\n');
}
