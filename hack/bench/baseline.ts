/** The program in baseline/: client-go's side of coldSync and noise. */
import { fileURLToPath } from 'node:url';
import { ensurePrograms, type Log } from '../gobuild/find.ts';

/** The absolute path of the program, which is built if it is missing. */
export async function baselinePath(log: Log, signal?: AbortSignal): Promise<string> {
  const module = {
    dir: fileURLToPath(new URL('baseline/', import.meta.url)),
    name: 'bench-baseline',
    what: 'the client-go informer of the benchmark',
    programs: [{ name: 'baseline' as const, package: '.', buildSeconds: 60 }],
  };
  return (await ensurePrograms(module, log, signal)).baseline;
}
