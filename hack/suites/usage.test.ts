import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mergeUsage, readUsage, type Usage, writeUsage } from './usage.ts';

const usage = (verb: string, unneeded: readonly string[], refusals: readonly string[]): Usage => ({
  requests: [{ verb, objectRef: { resource: 'nodes' } }],
  aws: { unneeded, refusals },
});

describe('the combined permissions of several processes', () => {
  const [first, second] = [usage('get', ['a', 'b'], ['x']), usage('list', ['b', 'c'], ['x', 'y'])];

  it('are needed if one process needed them, and denied if one was denied', () => {
    const merged = mergeUsage([first, second]);
    assert.deepEqual(merged.aws, { unneeded: ['b'], refusals: ['x', 'y'] });
    assert.deepEqual(
      merged.requests.map(({ verb }) => verb),
      ['get', 'list'],
    );
  });

  it('are read from all files of a folder, which must not be empty', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'windowspool-usage-'));
    try {
      await assert.rejects(readUsage(folder), /is empty: no process of the cluster suites wrote what it used/);
      await writeUsage(join(folder, '0.json'), first);
      await writeUsage(join(folder, '1.json'), second);
      assert.deepEqual(await readUsage(folder), mergeUsage([first, second]));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
