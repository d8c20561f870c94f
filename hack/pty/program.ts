/** The program `pty`, by which tests run a command in a terminal. */
import { fileURLToPath } from 'node:url';
import { ensurePrograms, type Log } from '../gobuild/find.ts';

/** The absolute path of the program, which is built if it is missing. */
export async function ptyPath(log: Log, signal?: AbortSignal): Promise<string> {
  const module = {
    dir: fileURLToPath(new URL('.', import.meta.url)),
    name: 'pty',
    what: 'the terminal that tests of the kubectl plugin use',
    programs: [{ name: 'pty' as const, package: '.', buildSeconds: 5 }],
  };
  return (await ensurePrograms(module, log, signal)).pty;
}
