import assert from 'node:assert/strict';
import { ServiceTimes } from './inServiceTimes.ts';

/** When the instance counts as launched, of which EC2 says that it was started at 1,000. */
const launchOf = (times: ServiceTimes, now: number, launchedAt = 1_000) =>
  times.applyTo('web', [{ id: 'i-1', privateDnsName: 'ip-1', launchedAt }], now)[0]?.launchedAt;

describe('the instances of a group with a warm pool', () => {
  it('count as launched when they were first seen in service', () => {
    const times = new ServiceTimes();
    times.saw('web', ['i-1'], 5_000);
    times.saw('web', ['i-1', 'i-2'], 6_000);
    assert.equal(launchOf(times, 9_000), 5_000);
  });

  it('count as launched when they were last started, if that was later', () => {
    const times = new ServiceTimes();
    times.saw('web', ['i-1'], 5_000);
    assert.equal(launchOf(times, 9_000, 7_000), 7_000);
  });

  it('count as launched now if they were not seen yet', () => {
    const times = new ServiceTimes();
    assert.equal(launchOf(times, 9_000), 9_000);
    times.saw('web', ['i-2'], 5_000);
    assert.equal(launchOf(times, 9_000), 9_000);
  });

  it('start again when they return from the warm pool, and when the pool was deleted', () => {
    const times = new ServiceTimes();
    times.saw('web', ['i-1'], 5_000);
    times.saw('web', [], 6_000);
    times.saw('web', ['i-1'], 7_000);
    assert.equal(launchOf(times, 9_000), 7_000);
    times.forget('web');
    assert.equal(launchOf(times, 9_000), 9_000);
  });
});
