/**
 * When automatic updates may begin. Cron and time zones are croner's: it has no dependencies, uses the zones of the runtime, and handles the
 * hour that a change of clocks skips or repeats. Pure.
 */
import { Cron } from 'croner';
import type { MaintenanceWindow } from '../../../api.gen.ts';
import { durationOf } from '../../../util/durations.ts';

/** Where a window names none. Not a default of the schema: one inside a list looks to Argo CD like an edit of what Git says. */
const TIME_ZONE = 'Etc/UTC';

type Windows = readonly MaintenanceWindow[] | undefined;

/** The begin of a window, in epoch milliseconds. */
export interface Opening {
  readonly at: number;
  readonly window: MaintenanceWindow;
}

/** Whether one of the windows is open at a time (epoch milliseconds). Without any window it always is. */
export function isInWindow(windows: Windows, now: number): boolean {
  if (!windows) return true;
  // It is open when it began within the time that it lasts.
  return windows.some((window) => {
    const begin = beginAfter(window, now - durationOf(window.duration));
    return begin !== undefined && begin <= now;
  });
}

/** The next begin of a window after a time (epoch milliseconds); undefined when none ever does. */
export function nextOpening(windows: Windows, now: number): Opening | undefined {
  return (windows ?? [])
    .flatMap((window): Opening[] => {
      const at = beginAfter(window, now);
      return at === undefined ? [] : [{ at, window }];
    })
    .reduce<Opening | undefined>((first, next) => (first && first.at <= next.at ? first : next), undefined);
}

/** What is wrong with the first window that can never open, with its field, value and next move; the API server checks only the form. */
export function windowFault(windows: Windows): string | undefined {
  for (const [index, { schedule, timeZone = TIME_ZONE }] of (windows ?? []).entries()) {
    const field = `spec.nodeGroup.update.maintenanceWindows[${index}]`;
    if (!isTimeZone(timeZone)) return `${field}.timeZone is ${timeZone}. Give a time zone such as Europe/Berlin.`;
    const fault = scheduleFault(schedule);
    if (fault) return `${field}.schedule is "${schedule}": ${fault}. Give one such as "0 2 * * SAT".`;
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
  // Swedish is written as ISO 8601 is.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(at);
}

function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }) !== undefined;
  } catch {
    return false;
  }
}

function scheduleFault(schedule: string): string | undefined {
  try {
    const never = new Cron(schedule, { timezone: 'UTC', paused: true }).nextRun(new Date(0)) === null;
    return never ? 'that day never comes' : undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message.replace(/^CronPattern: /, '').replace(/\.$/, '');
  }
}

function beginAfter({ schedule, timeZone = TIME_ZONE }: MaintenanceWindow, time: number): number | undefined {
  try {
    return new Cron(schedule, { timezone: timeZone, paused: true }).nextRun(new Date(time))?.getTime();
  } catch {
    // Told by windowFault; a window that nobody understands is never open.
    return undefined;
  }
}
