/** Steps about the pool itself, and about what its status must record before AWS is called. */

import { keepTerminations, withTerminations } from '../disruption/terminationRecord.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Memory } from '../model/steps.ts';
import type { Writers } from '../model/writers.ts';
import { remembering } from '../providers/eks/applied.ts';
import { otherGroupIn } from '../providers/eks/replacement/replacement.ts';
import { changed, type StepKinds, type StepResult, when } from './stepKind.ts';

export const poolSteps: StepKinds<
  | 'addFinalizer'
  | 'removeFinalizer'
  | 'remember'
  | 'switchNodeGroup'
  | 'beginDraining'
  | 'beginCanary'
  | 'endCanary'
  | 'reserveDisruption'
  | 'recordTerminations'
> = {
  addFinalizer: {
    subject: () => 'pool',
    run: async (_step, soFar, { pools }, signal) =>
      when(await pools.addFinalizer(soFar.after.pool, signal), (pool) => changed(soFar, { pool })),
  },
  removeFinalizer: {
    subject: () => 'pool',
    run: async (_step, soFar, { pools }, signal) =>
      when(await pools.removeFinalizer(soFar.after.pool, signal), () => ({ ...soFar, released: true })),
  },
  remember: {
    subject: () => 'nodeGroup',
    run: writeMemory,
  },
  switchNodeGroup: {
    subject: () => 'nodeGroup',
    describe: ({ text }) => text,
    reason: 'ReplacementStarted',
    needsFreshRead: true,
    blocks: 'nodeGroup',
    run: async ({ memory, keepsMain }, soFar, { pools }, signal) => {
      const { pool, group, former } = soFar.after;
      const status = remembering(pool.status, memory);
      return when(await pools.writeStatus(pool, status, signal), (written) => {
        if (keepsMain) return changed(soFar, { pool: written });
        const { former: _before, ...after } = soFar.after;
        const views = {
          group: former ?? { kind: 'absent' as const },
          ...(otherGroupIn({ status }) && { former: group }),
        };
        // What was read of the other group.
        const unread = { update: undefined, instances: undefined, autoscaler: undefined, answerSince: after.now };
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
    subject: () => 'formerNodeGroup',
    describe: ({ text }) => text,
    reason: 'CanaryEnded',
    needsFreshRead: true,
    run: writeMemory,
  },
  beginDraining: {
    subject: () => 'formerNodeGroup',
    describe: ({ text }) => text,
    reason: 'ReplacementDraining',
    needsFreshRead: true,
    run: writeMemory,
  },
  reserveDisruption: {
    subject: () => 'nodeGroup',
    describe: ({ begins }) => begins?.join('; '),
    reason: 'NodeDisruptionStarted',
    needsFreshRead: true,
    run: async ({ memory }, soFar, { budget }, signal) => {
      const { pool } = soFar.after;
      const status = remembering(pool.status, keepTerminations(pool.status, memory));
      return when(await budget.reserve(pool, status, signal), (written) => changed(soFar, { pool: written }));
    },
  },
  recordTerminations: {
    // Nothing is terminated without the record.
    subject: () => 'pool',
    needsFreshRead: true,
    run: async ({ entries }, soFar, { pools }, signal) => {
      const { pool, now } = soFar.after;
      return when(await pools.writeStatus(pool, withTerminations(pool.status, entries, now), signal), (written) =>
        changed(soFar, { pool: written }),
      );
    },
  },
};

/** Writes what must survive a crash to status. */
async function writeMemory(
  { memory }: { readonly memory: Memory },
  soFar: Outcome,
  { pools }: Writers,
  signal: AbortSignal,
): Promise<StepResult> {
  const { pool } = soFar.after;
  return when(await pools.writeStatus(pool, remembering(pool.status, memory), signal), (written) =>
    changed(soFar, { pool: written }),
  );
}
