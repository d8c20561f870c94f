import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { operatorBundle, operatorEntry } from './operatorBundle.ts';

describe('the shared bundle', () => {
  let folder: string;
  let builds = 0;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-bundles-'));
    builds = 0;
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function build(target: string): Promise<void> {
    builds += 1;
    await mkdir(target);
    await writeFile(join(target, 'operator.mjs'), 'built');
  }

  it('is built once for concurrent and later requests', async () => {
    const first = await Promise.all([operatorBundle(folder, build), operatorBundle(folder, build)]);
    assert.deepEqual([...first, await operatorBundle(folder, build)], Array(3).fill(first[0]));
    assert.equal(builds, 1);
    assert.deepEqual(await readdir(dirname(first[0])), ['operator.mjs']);
    assert.equal((await readdir(folder)).length, 1);
  });

  it('is built again after a failed build', async () => {
    const fail = async (target: string) => {
      await mkdir(target);
      throw new Error('no space left');
    };
    await assert.rejects(operatorBundle(folder, fail), /no space left/);
    await operatorBundle(folder, build);
    assert.equal(builds, 1);
  });

  it('replaces bundles that were not requested since yesterday', async () => {
    for (const name of ['yesterday', 'today']) await mkdir(join(folder, name));
    const old = new Date(Date.now() - 25 * 3_600_000);
    await utimes(join(folder, 'yesterday'), old, old);
    await operatorBundle(folder, build);
    const left = await readdir(folder);
    assert.equal(left.length, 2);
    assert.ok(left.includes('today'));
  });
});

describe('OPERATOR', () => {
  it('=sources runs the sources in the tests', async () => {
    assert.equal(await operatorEntry('sources'), fileURLToPath(new URL('../cmd/operator/main.ts', import.meta.url)));
  });

  it('with another value is rejected', async () => {
    await assert.rejects(operatorEntry('source'), /OPERATOR=source: .*"bundle".*"sources"/);
  });
});
