import assert from 'node:assert/strict';
import { action } from './action.ts';
import { type Backup, backupOf, RESTORATIONS, type Restoration } from './backups.ts';
import { complaintsOf } from './complaints.ts';
import { Life } from './life.ts';
import { PATHS, type Path, settled } from './paths.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** One in this many lives is lived; with MODEL_RUNS, each is. */
const STRIDE = process.env.MODEL_RUNS === undefined ? 61 : 1;

/** How long after the beginning of a path its objects are saved; undefined: before it. */
const SAVED_AFTER = [undefined, 2 * SECOND, 10 * SECOND, 40 * SECOND, 2 * MINUTE, 8 * MINUTE];
/** How long after that they are restored. */
const RESTORED_AFTER = [10 * SECOND, MINUTE, 6 * MINUTE, 40 * MINUTE];

interface Plan {
  readonly restoration: Restoration;
  readonly savedAfter: number | undefined;
  readonly restoredAfter: number;
}

/** Lives the path, in which a backup is taken and restored. */
async function live({ before = [], path }: Path, { restoration, savedAfter, restoredAfter }: Plan): Promise<Life> {
  const life = new Life();
  const backups: Backup[] = [];
  const save = action('a backup', { run: (world) => void backups.push(backupOf(world)) });
  const start = action(path.name, { ...(path.run && { run: path.run }), passes: savedAfter ?? 0 });
  const restore = action(restoration, {
    run: (world) => {
      for (const backup of backups) RESTORATIONS[restoration](world, backup);
    },
  });
  const time = action('time', { passes: restoredAfter });
  const saved = savedAfter === undefined ? [save, start] : [start, save];
  await life.live([settled('the pool'), ...before, ...saved, time, restore]);
  return life;
}

describe('a backup that is restored', () => {
  let lives = 0;
  let turn = 0;

  for (const [what, path] of Object.entries(PATHS)) {
    it(`loses, doubles and orphans nothing, whenever it was taken during ${what}`, async function () {
      this.timeout(STRIDE === 1 ? 0 : 120_000);
      const wrong: string[] = [];
      for (const restoration of Object.keys(RESTORATIONS) as Restoration[])
        for (const savedAfter of SAVED_AFTER)
          for (const restoredAfter of RESTORED_AFTER) {
            if (turn++ % STRIDE !== 0) continue;
            lives += 1;
            const life = await live(path, { restoration, savedAfter, restoredAfter });
            await life.settle();
            const complaints = complaintsOf(life.world);
            const when = `${restoration} after ${restoredAfter / SECOND} s, saved after ${(savedAfter ?? 0) / SECOND} s`;
            if (complaints.length > 0) wrong.push(`${when}: ${complaints.join('; ')}`);
          }
      assert.deepEqual(wrong, []);
    });
  }

  after(() => {
    if (STRIDE === 1) console.log(`${lives} lives with one backup each`);
  });
});
