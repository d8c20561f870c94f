/** Steps that are due and not taken in this run: what holds them, and how that is shown. Pure. */
import type { PendingStep } from '../api/api.gen.ts';
import type { Reason } from '../api/reasons.ts';
import type { HeldStep } from '../model/decisions.ts';
import type { Step } from '../model/steps.ts';

/** The steps to take, and those that are held. */
export interface Held {
  readonly steps: readonly Step[];
  readonly held: readonly HeldStep[];
}

/** Holds those of the steps to which this applies. */
export function hold({ steps, held }: Held, heldBy: Reason, isHeld: (step: Step) => boolean): Held {
  const more = steps.filter(isHeld).map((step) => ({ step, heldBy }));
  return more.length === 0
    ? { steps, held }
    : { steps: steps.filter((step) => !isHeld(step)), held: [...held, ...more] };
}

/**
 * Reasons that hold a step until the next run, or until the next read of AWS. Status does not show such a step: it is taken a moment later, or a
 * condition reports the call that AWS refused.
 */
const BRIEF: ReadonlySet<Reason> = new Set(['DisruptionPending', 'Replacing', 'Pending']);

/** The held steps that are shown as pending. */
export function shownIn(held: readonly HeldStep[]): readonly HeldStep[] {
  return held.filter(({ heldBy }) => !BRIEF.has(heldBy));
}

/** The held steps that are shown as pending and have a description. */
export function pendingIn(
  held: readonly HeldStep[],
  describe: (step: Step) => string | undefined,
): readonly PendingStep[] {
  return shownIn(held).flatMap(({ step, heldBy: reason }) => {
    const description = describe(step);
    return description === undefined ? [] : [{ description, reason }];
  });
}

const HEADINGS: Readonly<Partial<Record<string, string>>> = {
  Paused: 'when the pool is resumed',
  Adopting: 'after the node group is adopted',
  UpdatePending: 'after the launch template is written',
  Drifted: 'not corrected, because nodeGroup.driftPolicy is Report',
} satisfies Partial<Record<Reason, string>>;

/** The pending steps by what holds them, each list with a heading for users. A later release of the operator may have other reasons. */
export function byHeading(steps: readonly PendingStep[]): readonly (readonly [heading: string, steps: string[]])[] {
  return [...Map.groupBy(steps, ({ reason }) => reason)].map(([reason, held]) => [
    HEADINGS[reason] ?? (reason ? `not made yet (${reason})` : 'not made yet'),
    held.map(({ description }) => description),
  ]);
}
