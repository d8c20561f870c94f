/** The programs in baseline/: client-go's and controller-runtime's sides of coldSync and noise, and the heartbeats. */
import { fileURLToPath } from 'node:url';
import { ensurePrograms, type Log } from '../gobuild/find.ts';
import type { Bench } from './section.ts';

/** The absolute paths of the programs, which are built if they are missing. */
export async function baselinePrograms(log: Log, signal?: AbortSignal) {
  const module = {
    dir: fileURLToPath(new URL('baseline/', import.meta.url)),
    name: 'bench-baseline',
    what: 'the informer of client-go, the manager of controller-runtime and the heartbeats for the benchmark',
    programs: [
      { name: 'baseline' as const, package: '.', buildSeconds: 60 },
      { name: 'manager' as const, package: './manager', buildSeconds: 60 },
      { name: 'kubelets' as const, package: './kubelets', buildSeconds: 10 },
    ],
  };
  return ensurePrograms(module, log, signal);
}

/** Builds them before a section that uses them. */
export async function prepareBaseline({ say, signal }: Bench): Promise<void> {
  await baselinePrograms(say, signal);
}
