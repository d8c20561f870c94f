/**
 * Cron schedules, evaluated by croner: it has no dependencies and does no I/O, uses the time zones of the runtime, and handles the hour that a clock change skips
 * or repeats.
 */
import { Cron } from 'croner';

/** The first time after `time` at which a schedule occurs, in epoch milliseconds; undefined if it is invalid, or there is none. */
export function nextStart(schedule: string, timeZone: string, time: number): number | undefined {
  // Croner takes an empty name for the time zone of the process.
  if (!isTimeZone(timeZone) || scheduleFault(schedule) !== undefined) return undefined;
  return new Cron(schedule, { timezone: timeZone, paused: true }).nextRun(new Date(time))?.getTime();
}

/** Whether the runtime knows the time zone. */
export function isTimeZone(timeZone: string): boolean {
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

/** Why a schedule is invalid or never occurs, as a part of a sentence; undefined if it is valid. */
export function scheduleFault(schedule: string): string | undefined {
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
