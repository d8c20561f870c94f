import assert from 'node:assert/strict';
import { action } from './action.ts';
import { complaintsOf } from './complaints.ts';
import { Life } from './life.ts';
import { ODD_ANSWER_NAMES, type OddAnswerName } from './oddAnswers.ts';
import { PATHS, type Path, settled } from './paths.ts';

const MINUTE = 60_000;

/** One in this many reads gets an odd answer; with MODEL_RUNS, each does. */
const STRIDE = process.env.MODEL_RUNS === undefined ? 97 : 1;

/** How long a path takes at most, drains among it. */
const PATH_MS = 40 * MINUTE;

type Plan = { readonly name: OddAnswerName; readonly read: number };

/** Lives the path with one odd answer, and returns what is wrong in the end. */
async function live({ before = [], path }: Path, plan?: Plan): Promise<Life> {
  const life = new Life();
  const begin = action('odd answers', { run: ({ oddAnswers }) => oddAnswers.begin(plan) });
  const end = action('true answers', { run: ({ oddAnswers }) => oddAnswers.end() });
  await life.live([settled('the pool'), ...before, begin, path, action('time', { passes: PATH_MS }), end]);
  return life;
}

describe('one odd answer of AWS', () => {
  let lives = 0;
  let turn = 0;

  for (const [what, path] of Object.entries(PATHS)) {
    it(`loses, doubles and orphans nothing at any read during ${what}`, async function () {
      this.timeout(STRIDE === 1 ? 0 : 120_000);
      const { reads } = (await live(path)).world.oddAnswers;
      const wrong: string[] = [];
      for (const name of ODD_ANSWER_NAMES) {
        for (let read = 0; read < (reads.get(name) ?? 0); read++) {
          if (turn++ % STRIDE !== 0) continue;
          lives += 1;
          const life = await live(path, { name, read });
          await life.settle();
          const complaints = complaintsOf(life.world);
          if (complaints.length > 0) wrong.push(`${name}, at read ${read}: ${complaints.join('; ')}`);
        }
      }
      assert.deepEqual(wrong, []);
    });
  }

  after(() => {
    if (STRIDE === 1) console.log(`${lives} lives with one odd answer each`);
  });
});
