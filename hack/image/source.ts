/** From which sources the image is built, and when. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runOrThrow } from './run.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const GIT_TIMEOUT_MS = 30_000;

export interface Source {
  /** The commit, with `-dirty` if files differ from it; undefined outside a Git repository. */
  readonly revision: string | undefined;
  /** In RFC 3339: SOURCE_DATE_EPOCH, or the time of the commit, or 1970. */
  readonly created: string;
}

/** Throws if Git cannot read the repository of the sources. */
export async function imageSource(env: NodeJS.ProcessEnv = process.env): Promise<Source> {
  const git = (...args: readonly string[]) => runOrThrow('git', ['-C', ROOT, ...args], GIT_TIMEOUT_MS);
  const log = existsSync(join(ROOT, '.git')) ? await git('log', '-1', '--format=%H %ct') : '';
  const [commit = '', committed = '0'] = log.trim().split(' ');
  const seconds = env.SOURCE_DATE_EPOCH || committed;
  if (!/^\d{1,11}$/.test(seconds))
    throw new Error(`SOURCE_DATE_EPOCH=${seconds}: must be a number of seconds since 1970.`);
  const isDirty = commit !== '' && (await git('status', '--porcelain', '--untracked-files=no')) !== '';
  return {
    revision: commit === '' ? undefined : `${commit}${isDirty ? '-dirty' : ''}`,
    created: new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z'),
  };
}
