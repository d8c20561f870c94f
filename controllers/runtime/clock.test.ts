import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { deadline, realClock } from './clock.ts';
import { SimulatedClock } from './testing/simulatedClock.ts';

describe('a clock', () => {
  for (const [name, make] of [
    ['real', () => realClock],
    ['simulated', () => new SimulatedClock()],
  ] as const) {
    it(`rejects a sleep with the reason of the abort, and removes its listener (${name})`, async () => {
      const clock = make();
      const aborting = new AbortController();
      const asleep = clock.sleep(60_000, aborting.signal);
      aborting.abort(new Error('wake up'));
      await assert.rejects(asleep, /^Error: wake up$/);
      await assert.rejects(clock.sleep(0, aborting.signal), /^Error: wake up$/);
      assert.equal(getEventListeners(aborting.signal, 'abort').length, 0);
    });
  }

  it('sleeps and calls functions, except disposed ones, if it is real', async () => {
    const { signal } = new AbortController();
    const calls: string[] = [];
    using _never = realClock.after(2 ** 40, () => calls.push('far too early'));
    realClock.after(1, () => calls.push('disposed'))[Symbol.dispose]();
    const called = new Promise<void>((resolve) => {
      realClock.after(5, () => {
        calls.push('called');
        resolve();
      });
    });
    const since = realClock.monotonic();
    await realClock.sleep(10, signal);
    await called;
    assert.deepEqual(calls, ['called']);
    assert.ok(realClock.monotonic() - since >= 9);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  it('fires timers in order, and reports pending ones, if it is simulated', async () => {
    const clock = new SimulatedClock();
    const fired: string[] = [];
    clock.after(20, () => fired.push('later'));
    clock.after(10, () => {
      fired.push('first');
      clock.after(5, () => fired.push('set by the first'));
    });
    clock.after(10, () => fired.push('second'));
    await clock.advance(15);
    assert.deepEqual([fired, clock.monotonic()], [['first', 'second', 'set by the first'], 15]);
    await assert.rejects(
      clock.until(() => false, 'the impossible', 60_000),
      /the impossible: not after 60 simulated seconds/,
    );
  });
});

describe('a deadline', () => {
  it('aborts when the time has passed, and reports what took so long', async () => {
    const clock = new SimulatedClock();
    const { signal } = deadline(clock, 1_500, new AbortController().signal, 'the call');
    await clock.advance(1_499);
    assert.equal(signal.aborted, false);
    await clock.advance(1);
    assert.match(String(signal.reason), /TimeoutError: the call took longer than 1.5 s/);
  });

  it('aborts with its parent, and removes its timer and listener', async () => {
    const clock = new SimulatedClock();
    const parent = new AbortController();
    {
      using first = deadline(clock, 1_000, parent.signal, 'the call');
      assert.equal(first.signal.aborted, false);
    }
    assert.deepEqual([clock.pending, getEventListeners(parent.signal, 'abort').length], [0, 0]);
    using second = deadline(clock, 1_000, parent.signal, 'the call');
    parent.abort(new Error('enough'));
    assert.equal((second.signal.reason as Error).message, 'enough');
    using third = deadline(clock, 1_000, parent.signal, 'the call');
    assert.equal(third.signal.aborted, true);
  });
});
