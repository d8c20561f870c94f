/**
 * Maintenance windows: when automatic updates may begin. Cron schedules and time zones are evaluated by croner: it has no dependencies, uses
 * the time zones of the runtime, and handles the hour that a clock change skips or repeats. Pure.
 */
import { Cron } from 'croner';
import type { MaintenanceWindow } from '../../../api/api.gen.ts';
import { durationOf } from '../../../util/durations.ts';
import type { Opening } from '../model/groupDue.ts';

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

/** The next start of a window after a time (epoch milliseconds); undefined when there is none. */
export function nextOpening(windows: Windows, now: number): Opening | undefined {
  return (windows ?? [])
    .flatMap((window): Opening[] => {
      const at = startAfter(window, now);
      return at === undefined ? [] : [{ at, window }];
    })
    .reduce<Opening | undefined>((first, next) => (first && first.at <= next.at ? first : next), undefined);
}

/** The first window that can never open, with its field, value and remedy, in sentences; the API server validates only the form. */
export function windowFault(windows: Windows): string | undefined {
  for (const [index, { schedule, timeZone = TIME_ZONE }] of (windows ?? []).entries()) {
    const field = `spec.nodeGroup.update.maintenanceWindows[${index}]`;
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

function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }) !== undefined;
  } catch {
    return false;
  }
}

/** As in the schema: without the extensions of croner, some of which take tenths of a second to find that a date never occurs. */
const ITEM = String.raw`(?:\*|[0-9]{1,2}|[A-Za-z]{3})(?:-(?:[0-9]{1,2}|[A-Za-z]{3}))?(?:/[0-9]{1,2})?`;
const PLAIN = new RegExp(`^${ITEM}(?:,${ITEM})*(?: ${ITEM}(?:,${ITEM})*){4}$`);

/** The faults of schedules, which are asked for at each reconciliation: whether a date ever occurs takes milliseconds. */
const faults = new Map<string, string | undefined>();
/** More than a cluster has of schedules; all are forgotten then. */
const MOST_SCHEDULES = 1_000;

function scheduleFault(schedule: string): string | undefined {
  if (!faults.has(schedule)) {
    if (faults.size >= MOST_SCHEDULES) faults.clear();
    faults.set(schedule, faultOf(schedule));
  }
  return faults.get(schedule);
}

function faultOf(schedule: string): string | undefined {
  if (!PLAIN.test(schedule)) return 'not five fields of numbers, names, ranges and steps';
  try {
    const never = new Cron(schedule, { timezone: 'UTC', paused: true }).nextRun(new Date(0)) === null;
    return never ? 'the date never occurs' : undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message.replace(/^CronPattern: /, '').replace(/\.$/, '');
  }
}

function startAfter({ schedule, timeZone = TIME_ZONE }: MaintenanceWindow, time: number): number | undefined {
  // Croner takes an empty name for the time zone of the process.
  if (!isTimeZone(timeZone)) return undefined;
  // windowFault reports it; an invalid window is never open.
  if (scheduleFault(schedule) !== undefined) return undefined;
  return new Cron(schedule, { timezone: timeZone, paused: true }).nextRun(new Date(time))?.getTime();
}
