/** Memory and CPU time of a process: proc(5). */
import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second in /proc/PID/stat: USER_HZ, 100 on every platform that Node runs on under Linux. */
const TICKS = 100;

export interface Memory {
  /** Resident memory. */
  readonly rssKiB: number;
  /** Peak resident memory. */
  readonly peakKiB: number;
}

/** The IDs of the processes with such a command line, in which each word ends with NUL. */
export function processesWith(matches: (command: string) => boolean): number[] {
  const commandOf = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      // It has exited.
      return '';
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && matches(commandOf(name)))
    .map(Number);
}

/** Memory of a process; `self` is this one. Throws if the process does not exist. */
export function memoryOf(pid: number | 'self'): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number => {
    const value = new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1];
    if (value === undefined) throw new Error(`/proc/${pid}/status has no ${name}: the process has exited`);
    return Number(value);
  };
  return { rssKiB: field('VmRSS'), peakKiB: field('VmHWM') };
}

/** CPU time of a process in seconds, in user and system mode, rounded to hundredths. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the program's name in parentheses, which may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** The same of the threads that run now, in nanoseconds: differences over a second are exact enough. */
export function threadNanosecondsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => {
    const [ran = ''] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    return sum + Number(ran);
  }, 0);
}

/** KiB as MB with one digit. */
export function megabytes(kib: number): number {
  return Number(((kib * 1024) / 1e6).toFixed(1));
}
