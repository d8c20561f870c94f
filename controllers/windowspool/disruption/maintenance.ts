/** Maintenance windows: when automatic updates may begin. Pure. */
import type { MaintenanceWindow } from '../api/api.gen.ts';
import type { Opening } from '../model/disruption.ts';
import { isTimeZone, nextStart, scheduleFault } from '../util/cronSchedule.ts';
import { durationOf } from '../util/durations.ts';

/** The time zone of a window without one. It is not a default of the schema, because Argo CD reports defaults inside lists as drift from Git. */
const TIME_ZONE = 'Etc/UTC';

type Windows = readonly MaintenanceWindow[] | undefined;

/** Whether one of the windows is open at a time (epoch milliseconds). Without windows, updates may always begin. */
export function isInWindow(windows: Windows, now: number): boolean {
  if (!windows) return true;
  // A window is open when it started less than its duration ago.
  return windows.some((window) => {
    const start = startAfter(window, now - durationOf(window.duration));
    return start !== undefined && start <= now;
  });
}

/** When the last of the windows ends that are open at a time (epoch milliseconds); undefined if none is. */
export function windowEnd(windows: Windows, now: number): number | undefined {
  const ends = (windows ?? []).flatMap((window) => {
    const length = durationOf(window.duration);
    const start = lastStart(window, length, now);
    return start === undefined ? [] : [start + length];
  });
  return ends.length > 0 ? Math.max(...ends) : undefined;
}

/** A schedule of every minute has ten thousand starts in a window of a week, so the last ones are tried first. */
const LOOK_BACK_MS = [1, 10, 60, 360, 1_440].map((minutes) => minutes * 60_000);

/** The last start of a window that is open at a time; undefined if it is not. */
function lastStart(window: MaintenanceWindow, length: number, now: number): number | undefined {
  for (const back of [...LOOK_BACK_MS.filter((ms) => ms < length), length]) {
    let last: number | undefined;
    let start = startAfter(window, now - back);
    while (start !== undefined && start <= now) {
      last = start;
      start = startAfter(window, start);
    }
    if (last !== undefined) return last;
  }
  return undefined;
}

/** The next start of a window after a time (epoch milliseconds); undefined when there is none. */
export function nextOpening(windows: Windows, now: number): Opening | undefined {
  return (windows ?? [])
    .flatMap((window): Opening[] => {
      const at = startAfter(window, now);
      return at === undefined ? [] : [{ at, window }];
    })
    .reduce<Opening | undefined>((first, next) => (first && first.at <= next.at ? first : next), undefined);
}

/** The first window of a field that can never open, with its field, value and remedy, in sentences; the API server validates only the form. */
export function windowFault(windows: Windows, parent: `spec.${string}`): string | undefined {
  for (const [index, { schedule, timeZone = TIME_ZONE }] of (windows ?? []).entries()) {
    const field = `${parent}[${index}]`;
    if (!isTimeZone(timeZone))
      return `${field}.timeZone: ${timeZone || 'an empty value'} is not a known time zone. Use a name such as Europe/Berlin.`;
    const fault = scheduleFault(schedule);
    if (fault)
      return `${field}.schedule: "${schedule}" is invalid (${fault}). Use a cron schedule such as "0 2 * * SAT".`;
  }
  return undefined;
}

/** The time in UTC, and in the time zone of its window: `2026-03-07T02:00Z (2026-03-07 03:00 in Europe/Berlin)`. */
export function describeOpening({ at, window: { timeZone = TIME_ZONE } }: Opening): string {
  const utc = `${new Date(at).toISOString().slice(0, 16)}Z`;
  const local = localTime(at, timeZone);
  return local === localTime(at, 'UTC') ? utc : `${utc} (${local} in ${timeZone})`;
}

function localTime(at: number, timeZone: string): string {
  // The Swedish locale formats dates as ISO 8601.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(at);
}

/** An invalid window, which windowFault reports, never starts. */
function startAfter({ schedule, timeZone = TIME_ZONE }: MaintenanceWindow, time: number): number | undefined {
  return nextStart(schedule, timeZone, time);
}
