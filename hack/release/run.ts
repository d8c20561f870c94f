import { runCommand } from '../controlplane/command.ts';

/** Runs a program to its end, and returns what it prints. Throws with its errors if it fails. */
export async function runOrThrow(
  program: string,
  args: readonly string[],
  timeoutMs: number,
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const { code, stdout, stderr } = await runCommand(program, args, { ...options, timeoutMs });
  if (code !== 0)
    throw new Error(`${program} ${args.join(' ')} ended with status ${code}: ${stderr.trim() || stdout.trim()}`);
  return stdout;
}
