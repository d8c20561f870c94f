import assert from 'node:assert/strict';
import { StatusThrottle } from './statusThrottle.ts';

describe('the pace of status writes', () => {
  it('lets the first one through, and the next after a second', () => {
    const statusThrottle = new StatusThrottle();
    const waits = [statusThrottle.wait('web', 5_000)];
    statusThrottle.wrote('web', 5_000);
    for (const now of [5_000, 5_400, 5_999, 6_000]) waits.push(statusThrottle.wait('web', now));
    assert.deepEqual(waits, [0, 1_000, 600, 1, 0]);
  });

  it('is each pool’s own, and ends with the pool', () => {
    const statusThrottle = new StatusThrottle();
    statusThrottle.wrote('web', 5_000);
    assert.equal(statusThrottle.wait('api', 5_000), 0);
    statusThrottle.forget('web');
    assert.equal(statusThrottle.wait('web', 5_000), 0);
  });

  it('does not silence a pool when the clock is set back', () => {
    const statusThrottle = new StatusThrottle();
    statusThrottle.wrote('web', 5_000);
    assert.equal(statusThrottle.wait('web', 4_000), 0);
  });
});
