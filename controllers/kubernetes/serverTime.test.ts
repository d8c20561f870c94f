import assert from 'node:assert/strict';
import { ServerTime } from './serverTime.ts';

/** A machine and a server, whose clocks a test sets. */
function start(machine = Date.UTC(2026, 2, 1, 12)) {
  const clocks = { machine, monotonic: 1_000, server: machine };
  const time = new ServerTime(
    () => clocks.machine,
    () => clocks.monotonic,
  );
  const pass = (ms: number): void => {
    for (const clock of ['machine', 'monotonic', 'server'] as const) clocks[clock] += ms;
  };
  /** The server puts the time in the header when half of the time has passed. */
  const request = (ms = 10): void => {
    const arrived = time.measure();
    pass(ms / 2);
    const date = new Date(clocks.server).toUTCString();
    pass(ms / 2);
    arrived(date);
  };
  const errorMs = (): number => time.now() - clocks.server;
  return { time, clocks, pass, request, errorMs };
}

describe('the time of the API server', () => {
  it('is that of the machine before the first response', () => {
    const { time, clocks } = start();
    assert.equal(time.now(), clocks.machine);
  });

  for (const minutes of [-1_440, -10, 10, 1_440]) {
    it(`is known to a second on a machine whose clock is ${minutes} minutes off`, () => {
      const { clocks, request, errorMs } = start();
      clocks.machine += minutes * 60_000;
      request();
      assert.ok(Math.abs(errorMs()) <= 1_000, `${errorMs()} ms`);
    });
  }

  it('is exactly that of the machine while the two agree to the second', () => {
    const { clocks, request, pass, errorMs } = start();
    clocks.machine += 1_200;
    for (let count = 0; count < 100; count++) {
      request();
      pass(777);
      assert.equal(errorMs(), 1_200);
    }
  });

  it('does not jump when the clock of the machine is set', () => {
    const { clocks, request, pass, errorMs } = start();
    request();
    clocks.machine -= 86_400_000;
    assert.equal(errorMs(), 0);
    pass(60_000);
    request();
    assert.equal(errorMs(), 0);
  });

  it('is corrected by the next response after the machine was suspended', () => {
    const { clocks, request, errorMs } = start();
    request();
    clocks.server += 3_600_000;
    clocks.machine += 3_600_000;
    assert.equal(errorMs(), -3_600_000);
    request();
    assert.ok(Math.abs(errorMs()) <= 1_000, `${errorMs()} ms`);
  });

  it('is not taken from a slow response, from a broken header, or from none', () => {
    const { time, clocks, request, errorMs } = start();
    request();
    clocks.server += 3_600_000;
    request(60_000);
    for (const header of [undefined, '', 'soon']) time.measure()(header);
    assert.equal(errorMs(), -3_600_000);
  });
});
