import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { runOrThrow } from '../controlplane/command.ts';
import { tarGz, zip } from './archive.ts';

describe('an archive', () => {
  let work: string;
  before(async () => {
    work = await mkdtemp(join(tmpdir(), 'windowspool-archive-'));
  });
  after(() => rm(work, { recursive: true, force: true }));

  /** The same files with other times and modes, which a umask gives. */
  async function files(name: string, names: readonly string[], mode: number, seconds: number): Promise<string> {
    const folder = await mkdtemp(join(work, name));
    for (const file of names) {
      const path = join(folder, file);
      await writeFile(path, file);
      await chmod(path, file === 'program' ? mode | 0o100 : mode);
      await utimes(path, seconds, seconds);
    }
    return folder;
  }

  for (const [kind, pack] of Object.entries({ tarGz, zip }))
    it(`is equal if its files are, whatever their order, times and umask (${kind})`, async () => {
      const archives = [];
      for (const [names, mode, seconds] of [
        [['program', 'LICENSE'], 0o644, 1_700_000_000],
        [['LICENSE', 'program'], 0o600, 1_800_000_000],
      ] as const) {
        const archive = join(work, `${seconds}.${kind}`);
        await pack(archive, await files(kind, names, mode, seconds));
        archives.push(await readFile(archive));
      }
      assert.ok(archives[0]?.equals(archives[1] ?? Buffer.alloc(0)));
    });

  it('has the files, and which of them are programs', async () => {
    const folder = await files('listed', ['program', 'LICENSE'], 0o600, 1_700_000_000);
    await tarGz(join(work, 'listed.tar.gz'), folder);
    const list = await runOrThrow('tar', ['-tvf', join(work, 'listed.tar.gz')], 10_000);
    assert.deepEqual(
      list
        .trim()
        .split('\n')
        .map((line) => line.replace(/ .* /, ' ')),
      ['-rw-r--r-- LICENSE', '-rwxr-xr-x program'],
    );
    await zip(join(work, 'listed.zip'), folder);
    const unzipped = unzipSync(await readFile(join(work, 'listed.zip')));
    assert.deepEqual(
      Object.entries(unzipped).map(([name, content]) => [name, Buffer.from(content).toString()]),
      [
        ['LICENSE', 'LICENSE'],
        ['program', 'program'],
      ],
    );
  });
});
