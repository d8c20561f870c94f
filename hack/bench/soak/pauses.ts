/** Pauses of the leader at random times, as of a process without CPU time or of a virtual machine that is suspended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../controlplane/wait.ts';
import { round } from '../statistics.ts';
import type { Replica, Replicas } from './replicas.ts';

/** Seconds between two pauses, at least and at most. */
const BETWEEN = [3, 12] as const;
/** Seconds of a pause that the leader usually survives. */
const SHORT = [0.1, 5] as const;
/** The same while the leader is spared: together with another fault, it stays below the 10 s after which a leader gives up the lease. */
const SPARED = [0.1, 1] as const;
/** Seconds of a pause after which it must not go on: it gives up the lease after 10 s, and another replica takes it after 15 s. */
const LONG = [11, 40] as const;
const LONG_SHARE = 0.5;
/** From the end of a long pause until the process must have exited. It may end its work for 5 s. */
const EXIT_MS = 20_000;

export interface PauseCounts {
  shortPauses: number;
  longPauses: number;
  /** From the end of a long pause until the process had exited. */
  slowestExitSeconds: number;
  readonly complaints: string[];
}

export interface PauseOptions {
  readonly replicas: Replicas;
  readonly say: (line: string) => void;
  /** From 0 to 1, like Math.random. */
  readonly random: () => number;
  /** Pauses until this signal aborts. */
  readonly signal: AbortSignal;
  /** Whether the leader has no pauses now that could make it exit. */
  readonly isSpared: () => boolean;
}

/** Pauses the leader again and again. Each process continues in the end. */
export async function pauseLeaders(options: PauseOptions): Promise<PauseCounts> {
  const { replicas, random, signal, isSpared } = options;
  const counts: PauseCounts = { shortPauses: 0, longPauses: 0, slowestExitSeconds: 0, complaints: [] };
  const between = ([least, most]: readonly [number, number]) => 1_000 * (least + (most - least) * random());
  while (!signal.aborted) {
    await sleep(between(BETWEEN), undefined, { signal }).catch(() => undefined);
    const { leader } = replicas;
    if (signal.aborted || !leader) continue;
    const isLong = !isSpared() && random() < LONG_SHARE;
    const short = isSpared() ? SPARED : SHORT;
    await pause(leader, between(isLong ? LONG : short), isLong, options, counts);
  }
  return counts;
}

async function pause(
  { name, process: paused }: Replica,
  ms: number,
  isLong: boolean,
  { replicas, say, signal }: PauseOptions,
  counts: PauseCounts,
): Promise<void> {
  send(paused, 'SIGSTOP');
  const started = performance.now();
  try {
    await sleep(ms, undefined, { signal }).catch(() => undefined);
  } finally {
    send(paused, 'SIGCONT');
  }
  const seconds = round((performance.now() - started) / 1_000, 1);
  const next = replicas.all.find((replica) => replica.leads && replica.process !== paused);
  say(`Paused ${name} for ${seconds} s${next ? `; ${next.name} leads` : ''}.`);
  if (!isLong) counts.shortPauses++;
  else if (seconds >= LONG[0]) await expectExit(name, paused, seconds, counts);
}

/** Sends a signal, unless the process has exited in the meantime. */
function send({ pid }: Replica['process'], signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function expectExit(
  name: string,
  paused: Replica['process'],
  seconds: number,
  counts: PauseCounts,
): Promise<void> {
  counts.longPauses++;
  const resumed = performance.now();
  const what = `${name} to exit after a pause of ${seconds} s`;
  const isGone = () => !paused.running;
  await waitFor(isGone, { what, timeoutMs: EXIT_MS, explain: () => paused.tail() }).catch((error: Error) =>
    counts.complaints.push(error.message),
  );
  const took = round((performance.now() - resumed) / 1_000, 1);
  counts.slowestExitSeconds = Math.max(counts.slowestExitSeconds, took);
}
