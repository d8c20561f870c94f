import assert from 'node:assert/strict';
import { growthOf } from './memoryTrack.ts';

/** A sample every tenth of a minute. */
const series = (from: number, to: number, megabytes: (minute: number) => number) =>
  Array.from({ length: (to - from) * 10 + 1 }, (_, index) => from + index / 10).map((x) => ({ x, y: megabytes(x) }));
const rounded = (points: ReturnType<typeof series>, begin: number) => {
  const growth = growthOf(points, begin);
  return growth && { growthMB: Math.round(growth.growthMB), minutes: Math.round(growth.minutes) };
};

describe('the growth of a process', () => {
  it('is what it gains per minute, for the time in which it is measured', () => {
    const steady = series(0, 10, (minute) => 100 + 3 * minute);
    assert.deepEqual(rounded(steady, 5), { growthMB: 15, minutes: 5 });
  });

  it('does not include the first 2 minutes of the process', () => {
    const started = series(6, 12, (minute) => (minute < 8 ? 50 * (minute - 6) : 100));
    assert.deepEqual(rounded(started, 5), { growthMB: 0, minutes: 4 });
  });

  it('does not include peaks, such as those of lists', () => {
    const peaks = series(0, 12, (minute) => (Math.round(minute * 10) % 7 < 4 ? 60 + 5 * minute : 60));
    assert.deepEqual(rounded(peaks, 6), { growthMB: 0, minutes: 6 });
  });

  it('is unknown if the process was measured for less than 4 minutes', () => {
    assert.deepEqual(
      rounded(
        series(0, 5, () => 100),
        0,
      ),
      undefined,
    );
    assert.deepEqual(growthOf([], 0), undefined);
  });
});
