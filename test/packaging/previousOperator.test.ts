import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../hack/controlplane/command.ts';
import { FIRST_LINE_OF_API, lastOtherCommit } from './previousOperator.ts';

describe('the commit of the previous operator', () => {
  let folder: string;
  let commits: readonly string[];
  const origin = () => join(folder, 'origin');

  async function git(cwd: string, ...args: readonly string[]): Promise<string> {
    const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false'];
    const { stdout, stderr, code } = await runCommand('git', [...identity, ...args], { cwd, timeoutMs: 30_000 });
    assert.equal(code, 0, stderr);
    return stdout.trim();
  }

  async function commit(path: string, text: string): Promise<string> {
    await writeFile(join(origin(), path), text);
    await git(origin(), 'add', '--all');
    await git(origin(), 'commit', '--quiet', '--message', `Change ${path}`);
    return git(origin(), 'rev-parse', 'HEAD');
  }

  /** A clone with the last `depth` commits. */
  async function clone(depth: number): Promise<string> {
    const target = join(folder, `depth-${depth}`);
    await git(folder, 'clone', '--quiet', `--depth=${depth}`, `file://${origin()}`, target);
    return target;
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-history-'));
    for (const path of ['cmd', 'crds']) await mkdir(join(origin(), path), { recursive: true });
    await writeFile(join(origin(), 'crds/windowspools.yaml'), FIRST_LINE_OF_API);
    await git(origin(), 'init', '--quiet');
    commits = [await commit('cmd/main.ts', '1'), await commit('cmd/main.ts', '2'), await commit('README.md', 'text')];
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('is the one before the last change of the operator', async () => {
    assert.equal(await lastOtherCommit(origin()), commits[0]);
  });

  it('is HEAD while the checkout has changes of the operator', async () => {
    await writeFile(join(origin(), 'cmd/main.ts'), '3');
    assert.equal(await lastOtherCommit(origin()), 'HEAD');
    await git(origin(), 'checkout', '--quiet', 'cmd/main.ts');
  });

  it('does not exist without a history', async () => {
    assert.equal(await lastOtherCommit(folder), undefined);
  });

  it('does not exist before the first commit of the API', async () => {
    await git(origin(), 'switch', '--quiet', '--create', 'earlier');
    await commit('crds/windowspools.yaml', 'another API');
    await commit('crds/windowspools.yaml', FIRST_LINE_OF_API);
    assert.equal(await lastOtherCommit(origin()), undefined);
    await git(origin(), 'switch', '--quiet', '-');
  });

  for (const depth of [1, 2])
    it(`fails with the remedy in a shallow clone of ${depth} of the 3 commits, and is found after it`, async () => {
      const shallow = await clone(depth);
      await assert.rejects(lastOtherCommit(shallow), /is a shallow clone: .* Run: git fetch --unshallow$/);
      await git(shallow, 'fetch', '--quiet', '--unshallow');
      assert.equal(await lastOtherCommit(shallow), commits[0]);
    });

  it('is found in a shallow clone that is deep enough', async () => {
    assert.equal(await lastOtherCommit(await clone(3)), commits[0]);
  });
});
