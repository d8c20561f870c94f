/** Archives that are equal if their files are: in the order of their names, without times, owners, and the umask of the machine. */
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Zippable, zipSync } from 'fflate';
import { tar, USUAL_MODES } from '../image/tar.ts';

const UNIX = 3;

/** Packs all files in `folder`. */
export async function tarGz(archive: string, folder: string): Promise<void> {
  const unpacked = `${archive}.tar`;
  await tar(unpacked, folder, USUAL_MODES);
  await writeFile(archive, await promisify(gzip)(await readFile(unpacked), { level: 9 }));
  await rm(unpacked);
}

/** Packs the files in `folder`, which has no folders. */
export async function zip(archive: string, folder: string): Promise<void> {
  const entries: Zippable = {};
  for (const name of (await readdir(folder)).sort()) {
    const path = join(folder, name);
    const mode = (await stat(path)).mode & 0o111 ? 0o755 : 0o644;
    // The first time that the format knows. It has no time zone, and is read from the local time.
    const attributes = { mtime: new Date(1980, 0, 1), os: UNIX, attrs: (0o100000 | mode) << 16 };
    entries[name] = [await readFile(path), { level: 9, ...attributes }];
  }
  await writeFile(archive, zipSync(entries));
}
