/** Runs one of coldSync's programs and reads what it prints. */
import { runCommand } from '../controlplane/command.ts';
import type { Synced } from './coldSync/program.ts';

const TIMEOUT_MS = 300_000;

export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  /** In addition to the environment of the benchmark. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts the program with the time of its start as an argument, and returns its figures when it has ended. Rejects with its output when it failed. */
export async function runMeasured({ file, args, env = {} }: Program, signal: AbortSignal): Promise<Synced> {
  const started = performance.timeOrigin + performance.now();
  const all = [...args, `--started=${started}`];
  const { code, stdout, stderr } = await runCommand(file, all, {
    env: { ...process.env, ...env },
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with status ${code}:\n${stderr}`);
  return JSON.parse(stdout);
}
