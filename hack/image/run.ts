import { runOrThrow as runProgram } from '../controlplane/command.ts';

/** The Debian packages of the programs that the image is built with, for the message of a missing one. */
const PACKAGE_OF: Readonly<Record<string, string>> = {
  'apt-get': 'apt',
  'apt-cache': 'apt',
  '/usr/lib/apt/apt-helper': 'apt',
  'dpkg-deb': 'dpkg',
  tar: 'tar (GNU tar)',
};

/** The output of a command in the locale C. Throws what it printed if it fails, and what to install if it is missing. */
export async function runOrThrow(
  program: string,
  args: readonly string[],
  timeoutMs: number,
  variables: NodeJS.ProcessEnv = {},
): Promise<string> {
  const env = { ...process.env, LC_ALL: 'C', ...variables };
  try {
    return await runProgram(program, args, timeoutMs, { env });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const name = PACKAGE_OF[program];
    throw new Error(
      name === undefined
        ? `${program} is missing: install it.`
        : `${program} is missing: install ${name}. The image is built on Debian or Ubuntu, also in a container.`,
    );
  }
}
