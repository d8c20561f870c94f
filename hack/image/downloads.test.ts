import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertNames } from '../../test/messages.ts';
import { cached } from './downloads.ts';

describe('a download of the image', () => {
  let cache: string;
  beforeEach(async () => {
    cache = await mkdtemp(join(tmpdir(), 'windowspool-downloads-'));
  });
  afterEach(() => rm(cache, { recursive: true, force: true }));

  const hash = { algorithm: 'sha256', digest: createHash('sha256').update('text').digest('hex') } as const;
  /** Writes this text, and counts. */
  const download =
    (text: string, calls: string[] = []) =>
    async (folder: string) => {
      calls.push(text);
      const file = join(folder, 'file');
      await writeFile(file, text);
      return file;
    };

  it('is made once', async () => {
    const calls: string[] = [];
    const path = await cached('libc6 1', hash, download('text', calls), cache);
    assert.equal(await cached('libc6 1', hash, download('text', calls), cache), path);
    assert.equal(await readFile(path, 'utf8'), 'text');
    assert.equal(calls.length, 1);
  });

  it('is made again if the file was damaged', async () => {
    const path = await cached('libc6 1', hash, download('text'), cache);
    await writeFile(path, 'damaged');
    assert.equal(await readFile(await cached('libc6 1', hash, download('text'), cache), 'utf8'), 'text');
  });

  it('is rejected and removed if it has another hash than its pin', async () => {
    const error = await cached('libc6 1', hash, download('other'), cache).catch((reason: Error) => reason.message);
    assertNames(String(error), 'libc6 1', hash.digest, 'hack/image/pins.json', 'make image-pins');
    assert.deepEqual(await readdir(cache), []);
  });
});
