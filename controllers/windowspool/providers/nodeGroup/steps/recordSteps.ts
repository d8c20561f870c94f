/** Steps that write to status what must survive a crash, before AWS is called. */

import type { Outcome } from '../../../model/outcome.ts';
import type { Writers } from '../../../model/writers.ts';
import { changed, type StepKinds, type StepResult, when } from '../../../steps/stepKind.ts';
import type { EksState } from '../model/groupState.ts';
import { statusWith, type WriteAheadRecord } from '../reporting/writeAheadStatus.ts';
import { secondIn } from '../secondGroup/secondGroup.ts';

declare module '../../../model/steps.ts' {
  interface Steps {
    /** Writes what must survive a crash to status before AWS is called. */
    writeAhead: { ahead: WriteAheadRecord };
    /** Makes another group the main one. Writes only status. */
    switchNodeGroup: {
      ahead: WriteAheadRecord;
      text: string;
      /** The main group stays the same, and only the record of the second one is restored. */
      keepsMain?: true;
    };
    /** Records that the main group serves the pool, before the second one is changed. Writes only status. */
    beginDraining: { ahead: WriteAheadRecord; text: string };
    /** Records the canary before it is created, or again when its record was lost. Writes only status. */
    beginCanary: { ahead: WriteAheadRecord; text: string };
    /** Records that the canary has ended, before it is drained. Writes only status. */
    endCanary: { ahead: WriteAheadRecord; text: string };
    /** Takes a share of the disruption budget for a rolling update, and records what must survive a crash with it. */
    reserveUpdate: { ahead: WriteAheadRecord };
  }
}

export const recordSteps: StepKinds<
  'writeAhead' | 'switchNodeGroup' | 'beginDraining' | 'beginCanary' | 'endCanary' | 'reserveUpdate'
> = {
  writeAhead: {
    subject: () => 'nodeGroup',
    run: writeRecord,
  },
  switchNodeGroup: {
    subject: () => 'nodeGroup',
    describe: ({ text }) => text,
    onlyStarts: true,
    reason: 'ReplacementStarted',
    needsFreshRead: true,
    goesFirst: true,
    blocks: 'nodeGroup',
    run: async ({ ahead, keepsMain }, outcome: Outcome<EksState>, { pools }, signal) => {
      const { pool, group, second } = outcome.after;
      const status = statusWith(pool.status, ahead);
      return when(await pools.writeStatus(pool, status, signal), (written) => {
        if (keepsMain) return changed(outcome, { pool: written });
        const { second: _before, ...after } = outcome.after;
        const views = {
          group: second ?? { kind: 'absent' as const },
          ...(secondIn({ status }) && { second: group }),
        };
        // What was read of the group that was the main one.
        const unread = { update: undefined, instances: undefined, autoscaler: undefined };
        return { ...outcome, after: { ...after, ...views, ...unread, pool: written } };
      });
    },
  },
  beginCanary: {
    subject: () => 'nodeGroup',
    describe: ({ text }) => text,
    onlyStarts: true,
    reason: 'CanaryStarted',
    needsFreshRead: true,
    appliesSpec: true,
    run: writeRecord,
  },
  endCanary: {
    subject: () => 'secondNodeGroup',
    describe: ({ text }) => text,
    onlyStarts: true,
    reason: 'CanaryEnded',
    needsFreshRead: true,
    run: writeRecord,
  },
  beginDraining: {
    subject: () => 'secondNodeGroup',
    describe: ({ text }) => text,
    onlyStarts: true,
    reason: 'ReplacementDraining',
    needsFreshRead: true,
    run: writeRecord,
  },
  reserveUpdate: {
    subject: () => 'nodeGroup',
    needsFreshRead: true,
    reserves: true,
    run: async ({ ahead }, outcome: Outcome<EksState>, { budget }, signal) => {
      const { pool } = outcome.after;
      return when(await budget.reserve(pool, statusWith(pool.status, ahead), signal), (written) =>
        changed(outcome, { pool: written }),
      );
    },
  },
};

/** Writes what must survive a crash to status. */
async function writeRecord(
  { ahead }: { readonly ahead: WriteAheadRecord },
  outcome: Outcome<EksState>,
  { pools }: Writers,
  signal: AbortSignal,
): Promise<StepResult> {
  const { pool } = outcome.after;
  return when(await pools.writeStatus(pool, statusWith(pool.status, ahead), signal), (written) =>
    changed(outcome, { pool: written }),
  );
}
