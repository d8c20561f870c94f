import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Action } from './action.ts';
import { anyReplicatedLife } from './replicaActions.ts';
import { ReplicatedLife } from './replicatedLife.ts';
import type { ReplicatedWorld } from './replicatedWorld.ts';

/** The same lives each time by default; MODEL_RUNS=5000 runs more. MODEL_SEED and MODEL_PATH repeat a failure. */
const { MODEL_RUNS, MODEL_SEED, MODEL_PATH } = process.env;
const seed = Number(MODEL_SEED ?? (MODEL_RUNS === undefined ? 1 : Date.now() | 0));
const numRuns = Number(MODEL_RUNS ?? 30);

describe(`two replicas, ${numRuns} times, with seed ${seed}`, () => {
  const total: Record<string, number> = {};
  const count = ({ tally, lateWrites, lateViolations }: ReplicatedWorld): void => {
    const all = { lives: 1, ...tally, lateWrites: lateWrites.length, lateViolations: lateViolations.length };
    for (const [name, value] of Object.entries(all)) total[name] = (total[name] ?? 0) + value;
  };

  async function outcome(actions: readonly Action<ReplicatedWorld>[]): Promise<string[]> {
    const life = new ReplicatedLife();
    await life.live(actions);
    const complaints = await life.settle();
    count(life.world);
    return complaints;
  }

  it('never write both, and never harm a node or a group, whatever is paused or late', async function () {
    this.timeout(numRuns * 20_000);
    await fc.assert(
      fc.asyncProperty(anyReplicatedLife, async (actions) => {
        const complaints = await outcome(actions);
        assert.deepEqual(complaints, [], actions.map(({ name }) => name).join('\n'));
      }),
      { numRuns, seed, ...(MODEL_PATH !== undefined && { path: MODEL_PATH }) },
    );
  });

  after(() => {
    if (MODEL_RUNS !== undefined) console.log(total);
  });
});
