import { readFileSync } from 'node:fs';

/**
 * Whether a process of this machine runs; one of another user does. A zombie, which has ended and waits for its parent or
 * init to take note, does not: it holds nothing any more.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  return !isZombie(pid);
}

/** The state is the letter after the command's name in parentheses (proc_pid_stat(5)). Unknown without /proc. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}
