/** Updates of nodes that change only the time of their heartbeats, at a constant rate, from a process of its own (baseline/kubelets). */
import { spawn } from 'node:child_process';
import { addAbortListener, once } from 'node:events';
import { text } from 'node:stream/consumers';
import { withDeadline } from '../controlplane/wait.ts';
import { baselinePrograms } from './baseline.ts';
import type { BenchCluster } from './benchCluster.ts';
import type { Bench } from './section.ts';

/** How long the last answers may take after the time is over. */
const ANSWERS_MS = 90_000;

interface Load {
  /** Updates per second, over all nodes in turn. */
  readonly rate: number;
  readonly seconds: number;
}

export interface Sent {
  /** Updates that the API server has accepted. */
  readonly count: number;
  readonly seconds: number;
}

/** What sends heartbeats needs of a benchmark. */
type Host = Pick<Bench, 'say' | 'signal'>;

/** Sends heartbeats until their seconds have passed or `enough` aborts, and waits for their answers. */
export async function sendHeartbeats(
  cluster: BenchCluster,
  { rate, seconds }: Load,
  { say, signal }: Host,
  enough?: AbortSignal,
): Promise<Sent> {
  const { kubelets } = await baselinePrograms(say, signal);
  const args = [`--kubeconfig=${cluster.world.controlPlane.adminKubeconfig}`];
  const child = spawn(kubelets, args, { stdio: ['pipe', 'pipe', 'inherit'], signal });
  const exited = once(child, 'exit');
  const output = text(child.stdout);
  // If it has ended early, its status tells.
  child.stdin.on('error', () => undefined);
  child.stdin.write(`${JSON.stringify({ nodes: cluster.names(), rate, seconds })}\n`);
  using _end = enough && addAbortListener(enough, () => child.stdin.end());
  try {
    const [code] = await withDeadline(exited, 'the heartbeats to end', seconds * 1_000 + ANSWERS_MS);
    if (code !== 0) throw new Error(`The heartbeats ended with status ${code}.`);
    return JSON.parse(await output);
  } finally {
    child.kill();
  }
}

/** Does something while heartbeats are sent. `sent`: how many per second; none with a rate of 0. */
export async function underHeartbeats<T>(
  cluster: BenchCluster,
  load: Load,
  host: Host,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly sent: number }> {
  if (load.rate === 0) return { result: await work(), sent: 0 };
  const enough = new AbortController();
  const heartbeats = sendHeartbeats(cluster, load, host, enough.signal);
  // Reported below.
  heartbeats.catch(() => undefined);
  try {
    const result = await work();
    enough.abort();
    const { count, seconds: lasted } = await heartbeats;
    return { result, sent: Math.round(count / lasted) };
  } finally {
    enough.abort();
  }
}
