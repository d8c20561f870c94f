import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveFolder } from './serveFolder.ts';

describe('the server of the site', () => {
  it('serves files and folders below its base, and nothing else', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'site-'));
    await mkdir(join(folder, 'a'));
    await writeFile(join(folder, 'a/index.html'), 'page a');
    const server = await serveFolder(folder, '/v1/', 0);
    try {
      const page = await fetch(`${server.url}a/`);
      assert.deepEqual(
        [page.status, page.headers.get('content-type'), await page.text()],
        [200, 'text/html; charset=utf-8', 'page a'],
      );
      for (const path of ['/a/', '/v1/b/', '/v1/..%2f..%2fetc/passwd'])
        assert.equal((await fetch(new URL(path, server.url))).status, 404, path);
    } finally {
      await server.close();
      await rm(folder, { recursive: true });
    }
  });
});
