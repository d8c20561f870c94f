/**
 * The process that owns the processes of one control plane, so that they exit with its parent.
 *
 *     parent ──stdin──▶ supervisor ──socket──▶ guard.sh
 *                          │ └───── etcd, kube-apiserver, ...
 *
 * - The parent ends in any way: its end of the pipe closes, and the supervisor ends all, upper layers first.
 * - Ctrl-C: the supervisor leads a session of its own, so the terminal's signal reaches only the parent.
 * - The supervisor is killed: its socket to the guard closes, and the guard kills all.
 * - The guard is killed: the supervisor ends all, because it could no longer promise the line above.
 *
 * Only killing supervisor and guard in the same instant leaves processes behind.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Message, type ProcessSpec, type Request, readLines, type SupervisorOptions } from './protocol.ts';

/** The time between SIGTERM and SIGKILL. */
const graceMs = 5000;

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly layer: number;
  readonly ended: Promise<void>;
  asked: boolean;
}

const options = JSON.parse(process.argv[2] ?? '{"remove":""}') as SupervisorOptions;
const running = new Map<string, Running>();
let ending = false;

const guard = spawn('/bin/sh', [fileURLToPath(new URL('guard.sh', import.meta.url)), options.remove], {
  // Its own session: a signal to the supervisor's process group must not kill both.
  detached: true,
  stdio: ['pipe', 'ignore', 'ignore'],
});
guard.stdin.on('error', () => undefined);

function say(message: Message): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function start(spec: ProcessSpec): number {
  if (ending) throw new Error(`${spec.name} can't start: the control plane is ending`);
  if (running.has(spec.name)) throw new Error(`${spec.name} runs already`);
  const log = openSync(spec.log, 'a');
  // The shell sends its process id to the guard and then becomes the process, without the socket.
  const script = 'echo "+ $$" >&3 && exec "$@" 3>&-';
  const child = spawn('/bin/sh', ['-c', script, spec.name, spec.file, ...spec.args], {
    env: { ...spec.env },
    stdio: ['ignore', log, log, guard.stdin],
  });
  closeSync(log);
  child.on('error', () => undefined);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${spec.name} can't start: no process could be made`);
  const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('exit', (code, signal) => resolve([code, signal]));
  }).then(([code, signal]) => {
    guard.stdin.write(`- ${pid}\n`);
    const asked = running.get(spec.name)?.asked ?? true;
    running.delete(spec.name);
    say({ kind: 'exit', name: spec.name, pid, how: signal ? `by ${signal}` : `with status ${code}`, asked });
  });
  running.set(spec.name, { child, pid, layer: spec.layer, ended, asked: false });
  return pid;
}

async function stop(one: Running): Promise<void> {
  one.asked = true;
  one.child.kill('SIGTERM');
  const kill = setTimeout(() => one.child.kill('SIGKILL'), graceMs);
  await one.ended;
  clearTimeout(kill);
}

async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  const layers = [...new Set([...running.values()].map((one) => one.layer))].sort((a, b) => b - a);
  for (const layer of layers) {
    await Promise.all([...running.values()].filter((one) => one.layer === layer).map(stop));
  }
  if (options.remove) rmSync(options.remove, { recursive: true, force: true, maxRetries: 3 });
  process.exit(0);
}

async function answer(request: Request): Promise<void> {
  const { id } = request;
  try {
    if (request.kind === 'start') return say({ kind: 'reply', id, pid: start(request.process) });
    const one = running.get(request.name);
    if (one) await stop(one);
    say({ kind: 'reply', id });
  } catch (error) {
    say({ kind: 'reply', id, error: error instanceof Error ? error.message : String(error) });
  }
}

// Nobody reads the messages after the parent has exited.
process.stdout.on('error', () => undefined);
readLines(process.stdin, (line) => void answer(JSON.parse(line) as Request));
process.stdin.on('close', () => void end());
guard.on('exit', () => void end());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end());
say({ kind: 'ready', guard: guard.pid ?? 0 });
