/** Steps about the pool itself and its disruption of nodes. */

import { keepTerminations, withTerminations } from '../disruption/terminationRecord.ts';
import { changed, type StepKinds, when } from './stepKind.ts';

export const poolSteps: StepKinds<'addFinalizer' | 'removeFinalizer' | 'reserveDisruption' | 'recordTerminations'> = {
  addFinalizer: {
    subject: () => 'pool',
    run: async (_step, outcome, { pools }, signal) =>
      when(await pools.addFinalizer(outcome.after.pool, signal), (pool) => changed(outcome, { pool })),
  },
  removeFinalizer: {
    subject: () => 'pool',
    isLast: () => true,
    run: async (_step, outcome, { pools }, signal) =>
      when(await pools.removeFinalizer(outcome.after.pool, signal), () => ({ ...outcome, released: true })),
  },
  reserveDisruption: {
    subject: () => 'nodes',
    describe: ({ begins }) => begins.join('; '),
    onlyStarts: true,
    reason: 'NodeDisruptionStarted',
    needsFreshRead: true,
    reserves: true,
    run: async ({ reservation }, outcome, { budget }, signal) => {
      const { pool } = outcome.after;
      const status = { ...pool.status, disruption: keepTerminations(pool.status, reservation) };
      return when(await budget.reserve(pool, status, signal), (written) => changed(outcome, { pool: written }));
    },
  },
  recordTerminations: {
    // Nothing is terminated without the record.
    subject: () => 'pool',
    needsFreshRead: true,
    run: async ({ entries }, outcome, { pools }, signal) => {
      const { pool, now } = outcome.after;
      return when(await pools.writeStatus(pool, withTerminations(pool.status, entries, now), signal), (written) =>
        changed(outcome, { pool: written }),
      );
    },
  },
};
