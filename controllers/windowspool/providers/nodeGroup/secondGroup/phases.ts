/**
 * The phases of the second group. In a replacement, that is the old group, and the main group is the new one. A canary is itself the second group; its
 * phases are Creating, Verifying, Soaking, and then Draining (canaryRules.ts).
 *
 * The table is that of a replacement. A group serves the pool while the disruption budget counts its nodes. One that has served is only ever drained, and one that
 * has not may be deleted at once. Pure.
 *
 * Who changes the phase: secondGroupStatus.ts when the group is created and its nodes are verified, secondGroupDrainRules.ts when the main group can take over
 * (`whenReady`), replacementRules.ts when the spec is reverted (`whenReverted`).
 */
import type { SecondNodeGroup } from '../../../api/api.gen.ts';

/** A phase of a replacement or of a canary, as status records it. */
export type Phase = SecondNodeGroup['phase'];

/** A phase of a replacement. */
export type ReplacementPhase = Exclude<Phase, 'Soaking'>;

interface PhaseFacts {
  /** The group that serves the pool. */
  readonly serving: 'main' | 'second';
  /** The groups that have served it: one always has. */
  readonly served: 'main' | 'second' | 'both';
  /** The next phase when the main group can take over, and the nodes of the second one begin to leave. */
  readonly whenReady: ReplacementPhase;
  /** The next phase when the spec describes the second group again, and the two change roles. */
  readonly whenReverted: ReplacementPhase;
}

/** Every phase of a replacement, which begins with Creating, or with Returning if its record was lost. */
export const PHASES: Readonly<Record<ReplacementPhase, PhaseFacts>> = {
  Creating: { serving: 'second', served: 'second', whenReady: 'Draining', whenReverted: 'Cancelling' },
  Verifying: { serving: 'second', served: 'second', whenReady: 'Draining', whenReverted: 'Cancelling' },
  Draining: { serving: 'main', served: 'both', whenReady: 'Draining', whenReverted: 'Returning' },
  Returning: { serving: 'second', served: 'both', whenReady: 'Draining', whenReverted: 'Returning' },
  Cancelling: { serving: 'main', served: 'main', whenReady: 'Discarding', whenReverted: 'Verifying' },
  Discarding: { serving: 'main', served: 'main', whenReady: 'Discarding', whenReverted: 'Verifying' },
};

/** The facts about the phase of a replacement. A canary that has ended has the same phase as a second group that is drained. */
export function factsOf({ phase }: Pick<SecondNodeGroup, 'phase'>): PhaseFacts {
  return PHASES[phase === 'Soaking' ? 'Verifying' : phase];
}

/** Whether the nodes of the second group leave in this phase. */
export function isDrainPhase(phase: Phase): boolean {
  return phase === 'Draining' || phase === 'Discarding';
}
