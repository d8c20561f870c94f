/** Archives of GNU tar that are equal if their files are: in the order of their names, without times and owners. */
import { readdir } from 'node:fs/promises';
import { runOrThrow } from './run.ts';

const TIMEOUT_MS = 120_000;
/** Times would give a layer of the image another digest for each commit. */
const EQUAL = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=@0', '--format=ustar'];

/** Gives files the modes that the umask of most machines gives them, for files whose modes depend on it. */
export const USUAL_MODES = '--mode=u=rwX,go=rX';

/** Packs the content of a folder. Its names do not begin with `./`, which scanners take for an attack. */
export async function tar(archive: string, folder: string, ...options: readonly string[]): Promise<void> {
  const names = (await readdir(folder)).sort();
  await runOrThrow('tar', [...EQUAL, ...options, '-cf', archive, '-C', folder, '--', ...names], TIMEOUT_MS);
}
