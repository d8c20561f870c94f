import assert from 'node:assert/strict';
import { textTable } from '../testing/goldenTexts.ts';
import { describeOpening, isInWindow, nextOpening, windowEnd, windowFault } from './maintenance.ts';

const FIELD = 'spec.nodeGroup.update.maintenanceWindows';

const check = textTable('maintenanceWindows');

const at = (time: string) => Date.parse(time);
const window = (schedule: string, duration: string, timeZone?: string) => ({
  schedule,
  duration,
  ...(timeZone !== undefined && { timeZone }),
});
const SATURDAYS = window('0 2 * * SAT', '1h30m');
const BERLIN = window('30 2 * * *', '1h', 'Europe/Berlin');

describe('a maintenance window', () => {
  const table: readonly (readonly [string, ReturnType<typeof window>, string, boolean])[] = [
    ['is closed before it starts', SATURDAYS, '2026-03-07T01:59:59Z', false],
    ['is open from its start', SATURDAYS, '2026-03-07T02:00:00Z', true],
    ['is open until it ends', SATURDAYS, '2026-03-07T03:29:59Z', true],
    ['is closed when it ends', SATURDAYS, '2026-03-07T03:30:00Z', false],
    ['is closed on another day', SATURDAYS, '2026-03-08T02:30:00Z', false],
    ['continues after midnight', window('0 23 * * *', '4h'), '2026-03-08T02:59:00Z', true],
    ['is in its time zone, in winter', BERLIN, '2026-03-01T01:45:00Z', true],
    ['is in its time zone, in summer', BERLIN, '2026-07-01T00:45:00Z', true],
    ['is not in another time zone', BERLIN, '2026-07-01T01:45:00Z', false],
    ['that a clock change skips starts right after it', BERLIN, '2026-03-29T01:45:00Z', true],
    ['with an invalid schedule is never open', window('99 2 * * *', '1h'), '2026-03-07T02:00:00Z', false],
    ['with an unknown time zone is never open', window('* * * * *', '1h', 'Mars/Base'), '2026-03-07T02:00:00Z', false],
    ['with an empty time zone is never open', window('* * * * *', '1h', ''), '2026-03-07T02:00:00Z', false],
  ];
  for (const [name, one, time, want] of table) it(name, () => assert.equal(isInWindow([one], at(time)), want));

  const ends: readonly (readonly [string, readonly ReturnType<typeof window>[], string, string | undefined])[] = [
    ['ends its duration after it has started', [SATURDAYS], '2026-03-07T02:10:00Z', '2026-03-07T03:30:00Z'],
    ['has no end before it starts', [SATURDAYS], '2026-03-07T01:59:00Z', undefined],
    [
      'that starts again while it is open ends later',
      [window('0 * * * *', '4h')],
      '2026-03-07T10:30:00Z',
      '2026-03-07T14:00:00Z',
    ],
    [
      'of every minute ends its duration after this one',
      [window('* * * * *', '168h')],
      '2026-03-07T10:30:30Z',
      '2026-03-14T10:30:00Z',
    ],
    [
      'that started days ago ends with its duration',
      [window('0 0 1 * *', '100h')],
      '2026-03-05T03:00:00Z',
      '2026-03-05T04:00:00Z',
    ],
    [
      'of several that are open ends with the last one',
      [SATURDAYS, window('0 2 * * *', '3h')],
      '2026-03-07T02:10:00Z',
      '2026-03-07T05:00:00Z',
    ],
  ];
  for (const [name, windows, time, end] of ends)
    it(name, () => assert.equal(windowEnd(windows, at(time)), end === undefined ? undefined : at(end)));

  it('that a clock change repeats opens once', () => {
    const opens: string[] = [];
    for (let time = at('2026-10-25T00:00:00Z'); time < at('2026-10-25T06:00:00Z'); time += 30 * 60_000) {
      if (isInWindow([{ ...BERLIN, duration: '30m' }], time)) opens.push(new Date(time).toISOString());
    }
    assert.equal(opens.length, 1, opens.join());
  });

  it('is always open if the spec has none', () => assert.ok(isInWindow(undefined, 0)));

  it('has the start of the first of several as the next one', () => {
    const friday = window('0 5 * * FRI', '1h');
    const next = nextOpening([SATURDAYS, friday, window('99 2 * * *', '1h')], at('2026-03-01T00:00:00Z'));
    assert.deepEqual(next, { at: at('2026-03-06T05:00:00Z'), window: friday });
  });

  it('that never starts has no next start', () => {
    assert.equal(nextOpening([window('0 0 30 2 *', '1h')], at('2026-03-01T00:00:00Z')), undefined);
    assert.equal(nextOpening(undefined, 0), undefined);
  });

  const opening = at('2026-07-01T00:30:00Z');
  it('has a start that is also shown in its time zone', () => {
    assert.equal(
      describeOpening({ at: opening, window: BERLIN }),
      '2026-07-01T00:30Z (2026-07-01 02:30 in Europe/Berlin)',
    );
    assert.equal(describeOpening({ at: opening, window: SATURDAYS }), '2026-07-01T00:30Z');
  });

  const faults: readonly (readonly [string, ReturnType<typeof window>, readonly string[]])[] = [
    [
      'an impossible minute',
      window('99 2 * * *', '1h'),
      ['spec.nodeGroup.update.maintenanceWindows[1].schedule', '"99 2 * * *"', 'Invalid value for minute: 99'],
    ],
    [
      'a date that never occurs',
      window('0 0 30 2 *', '1h'),
      ['spec.nodeGroup.update.maintenanceWindows[1].schedule', '"0 0 30 2 *"'],
    ],
    [
      'an unknown time zone',
      window('* * * * *', '1h', 'Mars/Base'),
      ['spec.nodeGroup.update.maintenanceWindows[1].timeZone', 'Mars/Base', 'Europe/Berlin'],
    ],
    [
      'an empty time zone',
      window('* * * * *', '1h', ''),
      ['spec.nodeGroup.update.maintenanceWindows[1].timeZone', 'Europe/Berlin'],
    ],
  ];
  for (const [name, faulty, args] of faults)
    check(`with ${name} has a fault`, () => [`fault: ${windowFault([SATURDAYS, faulty], FIELD)}`], [
      ['fault', ...args],
    ]);

  it('has no fault when it is valid', () => {
    assert.equal(windowFault([SATURDAYS, BERLIN], FIELD), undefined);
    assert.equal(windowFault(undefined, FIELD), undefined);
  });
});
