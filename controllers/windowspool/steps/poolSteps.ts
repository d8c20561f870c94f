/** Steps about the pool itself and its disruption of nodes. */

import { keepTerminations, withTerminations } from '../disruption/terminationRecord.ts';
import { changed, type StepKinds, when } from './stepKind.ts';

export const poolSteps: StepKinds<'addFinalizer' | 'removeFinalizer' | 'reserveDisruption' | 'recordTerminations'> = {
  addFinalizer: {
    subject: () => 'pool',
    run: async (_step, soFar, { pools }, signal) =>
      when(await pools.addFinalizer(soFar.after.pool, signal), (pool) => changed(soFar, { pool })),
  },
  removeFinalizer: {
    subject: () => 'pool',
    isLast: () => true,
    run: async (_step, soFar, { pools }, signal) =>
      when(await pools.removeFinalizer(soFar.after.pool, signal), () => ({ ...soFar, released: true })),
  },
  reserveDisruption: {
    subject: () => 'nodes',
    describe: ({ begins }) => begins.join('; '),
    reason: 'NodeDisruptionStarted',
    needsFreshRead: true,
    reserves: true,
    run: async ({ reservation }, soFar, { budget }, signal) => {
      const { pool } = soFar.after;
      const status = { ...pool.status, disruption: keepTerminations(pool.status, reservation) };
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
