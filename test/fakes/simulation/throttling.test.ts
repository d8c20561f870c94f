import assert from 'node:assert/strict';
import { isAwsCall } from '../../../controllers/windowspool/testing/fakeCalls.ts';
import { sampleError } from '../../../controllers/windowspool/testing/fixtures.ts';
import { action } from './action.ts';
import { complaintsOf } from './complaints.ts';
import { Life } from './life.ts';
import type { LocalAwsWorld } from './localAwsWorld.ts';
import { PATHS, type Path, settled } from './paths.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long after the beginning of a path AWS begins to throttle. */
const BEGINS_AFTER = [0, 2 * SECOND, 20 * SECOND, 2 * MINUTE];
/** Of both pools together, in an hour without an answer: each tries again at least every 5 minutes, and with several calls. */
const MOST_CALLS = 250;

/** Lives the path, in which AWS throttles every call for an hour. Returns how many calls were tried, and what the pools say in the end. */
async function live(
  { before = [], path }: Path,
  beginsAfter: number,
): Promise<{ life: Life; tried: number; says: string }> {
  const life = new Life();
  const throttle = action('AWS throttles', {
    run: (world: LocalAwsWorld) => {
      world.calls.length = 0;
      world.fails = (call) => (isAwsCall(call) ? sampleError('throttled') : undefined);
    },
    passes: HOUR,
  });
  const start = action(path.name, { ...(path.run && { run: path.run }), passes: beginsAfter });
  await life.live([settled('the pool'), ...before, start, throttle]);
  const tried = life.world.awsCalls().length;
  const says = JSON.stringify([...life.world.pools.values()].map(({ status }) => status?.conditions));
  life.world.fails = () => undefined;
  return { life, tried, says };
}

describe('an hour in which AWS throttles every call', () => {
  for (const [what, path] of Object.entries(PATHS)) {
    it(`costs few calls and loses nothing during ${what}`, async function () {
      this.timeout(120_000);
      for (const beginsAfter of BEGINS_AFTER) {
        const { life, tried, says } = await live(path, beginsAfter);
        assert.ok(tried <= MOST_CALLS, `${tried} calls`);
        if (life.world.pools.size > 0 && tried > 0)
          assert.match(says, /AWSUnavailable|Throttl/i, `after ${beginsAfter} ms`);
        await life.settle();
        // A pool that retains its group does not wait for an hour: the group keeps the operator's marks, which an event says.
        const isRetained = life.world.retained.has('web') && !life.world.pools.has('web');
        const accepted = isRetained ? ['web: the pool is gone and left its group'] : [];
        const complaints = complaintsOf(life.world).filter((complaint) => !accepted.includes(complaint));
        assert.deepEqual(complaints, [], `throttled after ${beginsAfter} ms`);
      }
    });
  }
});
