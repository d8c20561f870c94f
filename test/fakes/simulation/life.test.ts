import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Action } from './action.ts';
import { anyLife } from './anyLife.ts';
import { complaintsOf, isRetrying } from './complaints.ts';
import { Life } from './life.ts';

/** The same lives each time by default; MODEL_RUNS=5000 runs more. MODEL_SEED and MODEL_PATH repeat a failure. */
const { MODEL_RUNS, MODEL_SEED, MODEL_PATH } = process.env;
const seed = Number(MODEL_SEED ?? (MODEL_RUNS === undefined ? 1 : Date.now() | 0));
const numRuns = Number(MODEL_RUNS ?? 30);

async function outcome(actions: readonly Action[]): Promise<string[]> {
  const life = new Life();
  await life.live(actions);
  await life.settle();
  const complaints = complaintsOf(life.world);
  if (complaints.length > 0) return complaints;
  // Retried forever, at the interval of --create-retry-interval.
  if (isRetrying(life.world)) return [];
  const before = [life.world.writes.length, JSON.stringify([...life.world.pools])];
  await life.pass(30 * 60_000);
  const after = [life.world.writes.length, JSON.stringify([...life.world.pools])];
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [`it does not rest: ${life.world.writes.slice(-3)}`];
}

describe(`a pool's life, ${numRuns} times, with seed ${seed}`, () => {
  it('ends as specified or with the reason in its status, with one group, and never two updates at a time', async function () {
    // A life takes a tenth of a second, and several times that with coverage on a busy machine.
    this.timeout(numRuns * 20_000);
    await fc.assert(
      fc.asyncProperty(anyLife, async (actions) => {
        const complaints = await outcome(actions);
        assert.deepEqual(complaints, [], actions.map(({ name }) => name).join('; '));
      }),
      { numRuns, seed, ...(MODEL_PATH !== undefined && { path: MODEL_PATH }) },
    );
  });
});
