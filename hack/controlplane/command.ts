import { execFile } from 'node:child_process';

/** How a command ended. `code` is its exit status, or null when a signal ended it. */
export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Written to the command's standard input, which is then closed. */
  readonly stdin?: string;
  /** Milliseconds after which the command is killed and the promise is rejected. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Lists of 10,000 nodes are about 200 MB of JSON. */
const maxOutputBytes = 1024 * 1024 * 1024;

/**
 * Runs a command to its end. A status other than 0 is an outcome, not an error; the promise is rejected when the
 * command can't be started, does not end in time, or the signal is raised.
 */
export function runCommand(file: string, args: readonly string[], options: CommandOptions): Promise<Outcome> {
  const { cwd, env, stdin, timeoutMs, signal } = options;
  return new Promise((resolve, reject) => {
    const child = execFile(
      file,
      args,
      { cwd, env, signal, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: maxOutputBytes },
      (error, stdout, stderr) => {
        if (!error) return resolve({ stdout, stderr, code: 0 });
        if (signal?.aborted) return reject(signal.reason);
        if (error.killed) {
          return reject(new Error(`${file} ${args.join(' ')} did not end within ${timeoutMs} ms: ${stderr.trim()}`));
        }
        // Node puts the exit status into `code`, and the name of a system error when the command never ran.
        if (typeof error.code === 'string') return reject(error);
        resolve({ stdout, stderr, code: error.code ?? null });
      },
    );
    // The command may exit without reading its input.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(stdin ?? '');
  });
}

const MOST_ERROR_CHARACTERS = 2_000;

/** Runs a program to its end, and returns what it prints. Throws with the end of its errors if it fails. */
export async function runOrThrow(
  program: string,
  args: readonly string[],
  timeoutMs: number,
  options: Pick<CommandOptions, 'cwd' | 'env'> = {},
): Promise<string> {
  const { code, stdout, stderr } = await runCommand(program, args, { ...options, timeoutMs });
  if (code !== 0)
    throw new Error(
      `${program} ${args.join(' ')} ended with status ${code}: ${(stderr.trim() || stdout.trim()).slice(-MOST_ERROR_CHARACTERS)}`,
    );
  return stdout;
}
