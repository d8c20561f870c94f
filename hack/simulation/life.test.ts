import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Action } from './action.ts';
import { lives } from './actions.ts';
import { Life } from './life.ts';

/** The same lives each time, but for a long look, such as MODEL_RUNS=5000. MODEL_SEED and MODEL_PATH repeat what a failure printed. */
const { MODEL_RUNS, MODEL_SEED, MODEL_PATH } = process.env;
const seed = Number(MODEL_SEED ?? (MODEL_RUNS === undefined ? 1 : Date.now() | 0));
const numRuns = Number(MODEL_RUNS ?? 30);

async function outcome(acts: readonly Action[]): Promise<string[]> {
  const life = new Life();
  await life.live(acts);
  await life.settle();
  const complaints = await life.complaints();
  if (complaints.length > 0) return complaints;
  // A creation that failed is tried again after a while, for ever.
  if (life.hasFailed()) return [];
  const before = [life.world.writes.length, JSON.stringify([...life.world.pools])];
  await life.pass(30 * 60_000);
  const after = [life.world.writes.length, JSON.stringify([...life.world.pools])];
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [`it does not rest: ${life.world.writes.slice(-3)}`];
}

describe(`a pool's life, ${numRuns} times, with seed ${seed}`, () => {
  it('ends as its spec says or says why not, with one group, and never two updates at a time', async function () {
    // A life takes a tenth of a second, several times that where coverage is counted on a busy machine.
    this.timeout(numRuns * 5_000);
    await fc.assert(
      fc.asyncProperty(lives, async (acts) => {
        const complaints = await outcome(acts);
        assert.deepEqual(complaints, [], acts.map(({ name }) => name).join('; '));
      }),
      { numRuns, seed, ...(MODEL_PATH !== undefined && { path: MODEL_PATH }) },
    );
  });
});
