import assert from 'node:assert/strict';
import { Pace } from './pace.ts';

describe('the pace of status writes', () => {
  it('lets the first one through, and the next after a second', () => {
    const pace = new Pace();
    const waits = [pace.wait('web', 5_000)];
    pace.wrote('web', 5_000);
    for (const now of [5_000, 5_400, 5_999, 6_000]) waits.push(pace.wait('web', now));
    assert.deepEqual(waits, [0, 1_000, 600, 1, 0]);
  });

  it('is each pool’s own, and ends with the pool', () => {
    const pace = new Pace();
    pace.wrote('web', 5_000);
    assert.equal(pace.wait('api', 5_000), 0);
    pace.forget('web');
    assert.equal(pace.wait('web', 5_000), 0);
  });

  it('does not silence a pool when the clock is set back', () => {
    const pace = new Pace();
    pace.wrote('web', 5_000);
    assert.equal(pace.wait('web', 4_000), 0);
  });
});
