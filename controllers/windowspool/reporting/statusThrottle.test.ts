import assert from 'node:assert/strict';
import { StatusThrottle } from './statusThrottle.ts';

describe('the throttle of status writes', () => {
  it('allows the first one, and the next one after a second', () => {
    const statusThrottle = new StatusThrottle();
    const waits = [statusThrottle.wait('web', 5_000)];
    statusThrottle.wrote('web', 5_000);
    for (const now of [5_000, 5_400, 5_999, 6_000]) waits.push(statusThrottle.wait('web', now));
    assert.deepEqual(waits, [0, 1_000, 600, 1, 0]);
  });

  it('is separate for each pool, and deleted with the pool', () => {
    const statusThrottle = new StatusThrottle();
    statusThrottle.wrote('web', 5_000);
    assert.equal(statusThrottle.wait('api', 5_000), 0);
    statusThrottle.forget('web');
    assert.equal(statusThrottle.wait('web', 5_000), 0);
  });

  it('does not block a pool when the clock is set back', () => {
    const statusThrottle = new StatusThrottle();
    statusThrottle.wrote('web', 5_000);
    assert.equal(statusThrottle.wait('web', 4_000), 0);
  });
});
