import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Timeline } from './timeline.ts';

describe('the timeline', () => {
  it('runs due events in order of time, then of scheduling, regardless of the calls to settle', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20)), fc.array(fc.nat(10)), (delays, steps) => {
        let now = 0;
        const timeline = new Timeline({ now: () => now });
        const ran: { delay: number; index: number; at: number }[] = [];
        delays.forEach((delay, index) => {
          timeline.after(delay, () => ran.push({ delay, index, at: timeline.now().getTime() }));
        });
        for (const step of [...steps, 100]) {
          now += step * 1000;
          timeline.settle();
        }
        const expected = delays
          .map((delay, index) => ({ delay, index, at: delay * 1000 }))
          .sort((a, b) => a.delay - b.delay || a.index - b.index);
        assert.deepEqual(ran, expected);
      }),
    );
  });

  it('schedules relative to the time at which an event was due, not at which it ran', () => {
    let now = 0;
    const timeline = new Timeline({ now: () => now });
    const ends: number[] = [];
    timeline.after(1, () => timeline.after(1, () => ends.push(timeline.now().getTime())));
    now = 60_000;
    timeline.settle();
    assert.deepEqual(ends, [2000]);
  });

  it('moves scheduled events when the speed changes', () => {
    let now = 0;
    const timeline = new Timeline({ now: () => now });
    timeline.after(10, () => {});
    now = 2000;
    timeline.speed = 4;
    assert.equal(timeline.nextDue(), 4000);
  });

  it('rejects a speed that is not above 0', () => {
    for (const speed of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(() => new Timeline({ now: () => 0 }, speed), /give a number above 0/);
    }
  });
});
