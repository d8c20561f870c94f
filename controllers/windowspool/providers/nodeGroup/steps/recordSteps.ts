/** Steps that write to status what must survive a crash, before AWS is called. */

import type { Outcome } from '../../../model/outcome.ts';
import type { Writers } from '../../../model/writers.ts';
import { changed, type StepKinds, type StepResult, when } from '../../../steps/stepKind.ts';
import type { EksState } from '../model/groupState.ts';
import { type Memory, remembering } from '../reporting/writeAheadStatus.ts';
import { secondIn } from '../secondGroup/secondGroup.ts';

declare module '../../../model/steps.ts' {
  interface Steps {
    /** Writes what must survive a crash to status before AWS is called. */
    remember: { memory: Memory };
    /** Makes another group the main one. Writes only status. */
    switchNodeGroup: {
      memory: Memory;
      text: string;
      /** The main group stays the same, and only the record of the second one is restored. */
      keepsMain?: true;
    };
    /** Records that the main group serves the pool, before the second one is changed. Writes only status. */
    beginDraining: { memory: Memory; text: string };
    /** Records the canary before it is created, or again when its record was lost. Writes only status. */
    beginCanary: { memory: Memory; text: string };
    /** Records that the canary has ended, before it is drained. Writes only status. */
    endCanary: { memory: Memory; text: string };
    /** Takes a share of the disruption budget for a rolling update, and records what must survive a crash with it. */
    reserveUpdate: { memory: Memory };
  }
}

export const recordSteps: StepKinds<
  'remember' | 'switchNodeGroup' | 'beginDraining' | 'beginCanary' | 'endCanary' | 'reserveUpdate'
> = {
  remember: {
    subject: () => 'nodeGroup',
    run: writeMemory,
  },
  switchNodeGroup: {
    subject: () => 'nodeGroup',
    describe: ({ text }) => text,
    reason: 'ReplacementStarted',
    needsFreshRead: true,
    goesFirst: true,
    blocks: 'nodeGroup',
    run: async ({ memory, keepsMain }, soFar: Outcome<EksState>, { pools }, signal) => {
      const { pool, group, second } = soFar.after;
      const status = remembering(pool.status, memory);
      return when(await pools.writeStatus(pool, status, signal), (written) => {
        if (keepsMain) return changed(soFar, { pool: written });
        const { second: _before, ...after } = soFar.after;
        const views = {
          group: second ?? { kind: 'absent' as const },
          ...(secondIn({ status }) && { second: group }),
        };
        // What was read of the group that was the main one.
        const unread = { update: undefined, instances: undefined, autoscaler: undefined };
        return { ...soFar, after: { ...after, ...views, ...unread, pool: written } };
      });
    },
  },
  beginCanary: {
    subject: () => 'nodeGroup',
    describe: ({ text }) => text,
    reason: 'CanaryStarted',
    needsFreshRead: true,
    appliesSpec: true,
    run: writeMemory,
  },
  endCanary: {
    subject: () => 'secondNodeGroup',
    describe: ({ text }) => text,
    reason: 'CanaryEnded',
    needsFreshRead: true,
    run: writeMemory,
  },
  beginDraining: {
    subject: () => 'secondNodeGroup',
    describe: ({ text }) => text,
    reason: 'ReplacementDraining',
    needsFreshRead: true,
    run: writeMemory,
  },
  reserveUpdate: {
    subject: () => 'nodeGroup',
    needsFreshRead: true,
    reserves: true,
    run: async ({ memory }, soFar: Outcome<EksState>, { budget }, signal) => {
      const { pool } = soFar.after;
      return when(await budget.reserve(pool, remembering(pool.status, memory), signal), (written) =>
        changed(soFar, { pool: written }),
      );
    },
  },
};

/** Writes what must survive a crash to status. */
async function writeMemory(
  { memory }: { readonly memory: Memory },
  soFar: Outcome<EksState>,
  { pools }: Writers,
  signal: AbortSignal,
): Promise<StepResult> {
  const { pool } = soFar.after;
  return when(await pools.writeStatus(pool, remembering(pool.status, memory), signal), (written) =>
    changed(soFar, { pool: written }),
  );
}
