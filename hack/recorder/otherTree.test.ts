import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommand } from '../controlplane/command.ts';
import { withTree } from './otherTree.ts';

const RECORDER = 'hack/recorder/main.ts';

describe('the tree of another version', function () {
  // Git takes a tenth of a second, and several times that on a busy machine.
  this.timeout(30_000);
  let root: string;
  const { signal } = new AbortController();

  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  const git = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runCommand('git', args, { cwd: root, timeoutMs: 30_000 });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const commit = async (): Promise<void> => {
    await git('add', '.');
    await git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '--quiet', '--message=x');
  };

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'recorder-test-'));
    await git('init', '--quiet');
    await write('package-lock.json', '{}');
    await write('.gitignore', 'node_modules/');
    await write('generator.ts', 'old');
    await commit();
    await write(RECORDER, 'new');
    await write('generator.ts', 'new');
    await write('node_modules/a/index.js', 'a');
  });
  afterEach(() => rm(root, { recursive: true }));

  const filesOf = (...overlay: string[]) =>
    withTree(root, 'HEAD', overlay, signal, (tree) =>
      Promise.all(
        ['generator.ts', RECORDER, 'node_modules/a/index.js'].map((path) => readFile(join(tree, path), 'utf8')),
      ),
    );

  it('has the files of the commit, the packages of this version, and its recorder if it has none', async () => {
    assert.deepEqual(await filesOf(), ['old', 'new', 'a']);
  });

  it('keeps its own recorder', async () => {
    await commit();
    await write(RECORDER, 'newer');
    assert.deepEqual((await filesOf())[1], 'new');
  });

  it('gets the files of this version that are named', async () => {
    assert.deepEqual((await filesOf('generator.ts'))[0], 'new');
  });

  it('is removed, also when the work fails', async () => {
    let folder = '';
    const failing = withTree(root, 'HEAD', [], signal, async (tree) => {
      folder = tree;
      throw new Error('stopped');
    });
    await assert.rejects(failing, /stopped/);
    assert.equal(existsSync(dirname(folder)), false);
    assert.equal((await git('worktree', 'list')).trim().split('\n').length, 1);
  });

  it('names a commit that does not exist', async () => {
    await assert.rejects(
      withTree(root, 'nothing', [], signal, async () => undefined),
      /invalid reference: nothing/,
    );
  });
});
