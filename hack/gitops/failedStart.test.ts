import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GitRepository } from './gitRepository.ts';
import { startProcesses } from './processes.ts';

describe('temporary folders', () => {
  const { PATH, TMPDIR } = process.env;
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-failed-'));
    process.env.TMPDIR = folder;
  });
  afterEach(async () => {
    process.env.PATH = PATH;
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    await rm(folder, { recursive: true });
  });

  it('of a Git repository are removed if git fails', async () => {
    process.env.PATH = folder;
    await assert.rejects(GitRepository.create(), /ENOENT/);
    assert.deepEqual(await readdir(folder), []);
  });

  const failures: readonly (readonly [what: string, environment: string | undefined])[] = [
    ['their environment', 'no kustomize'],
    ['their start', undefined],
  ];
  for (const [what, failure] of failures)
    it(`of processes are removed if ${what} fails`, async () => {
      const environment = async (created: string) => {
        await writeFile(join(created, 'settings'), '');
        if (failure !== undefined) throw new Error(failure);
        return {};
      };
      const lines: string[] = [];
      const created = startProcesses(
        'failed',
        environment,
        () => Promise.reject(new Error('no start')),
        (line) => lines.push(line),
      );
      await assert.rejects(created, { message: failure ?? 'no start' });
      assert.deepEqual([await readdir(folder), lines], [[], []]);
    });
});
