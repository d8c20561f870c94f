import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertNames } from '../../test/messages.ts';
import { controlPlaneModule } from '../controlplane/binaries.ts';
import { buildAll, cacheFolder, findInstalled, installFolders } from './find.ts';

const { programs } = controlPlaneModule;
const kubectl = programs.find(({ name }) => name === 'kubectl') ?? assert.fail('kubectl is a program');

describe('the search for binaries', () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'windowspool-binaries-'));
  });
  after(() => rm(root, { recursive: true, force: true }));

  /** A folder with a program that prints `output` when asked for its version. */
  async function install(folder: string, output: string, status = 0): Promise<string> {
    await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, folder, 'kubectl'), `#!/bin/sh\necho '${output}'\nexit ${status}\n`);
    await chmod(join(root, folder, 'kubectl'), 0o755);
    return join(root, folder);
  }

  it('searches KUBEBUILDER_ASSETS before PATH, and skips empty entries', () => {
    assert.deepEqual(installFolders({ KUBEBUILDER_ASSETS: '/assets', PATH: '/a::/b:' }), ['/assets', '/a', '/b']);
    assert.deepEqual(installFolders({ PATH: '/a' }), ['/a']);
    assert.deepEqual(installFolders({}), []);
  });

  it('uses the first one with a usable version, and logs why others were skipped', async () => {
    const folders = [
      join(root, 'nothing'),
      await install('old', 'Client Version: v1.32.4'),
      await install('broken', 'no idea', 3),
      await install('mute', 'hello'),
      await install('good', 'Client Version: v1.36.3'),
      await install('good-too', 'Client Version: v1.36.9'),
    ];
    const lines: string[] = [];
    assert.equal(await findInstalled(kubectl, folders, (line) => lines.push(line)), join(root, 'good', 'kubectl'));
    const skipped = [
      ['old', /\b1\.32\.4\b.*\b1\.36\b/],
      ['broken', /\bstatus 3\b/],
      ['mute', /"hello"/],
    ] as const;
    assert.equal(lines.length, skipped.length, lines.join('\n'));
    for (const [at, [folder, cause]] of skipped.entries()) {
      assert.ok(lines[at]?.startsWith(`Skipping ${root}/${folder}/kubectl: `), lines[at]);
      assert.match(lines[at] ?? '', cause);
    }
  });

  it('logs an unusable program once that two folders share', async () => {
    const folder = await install('shared', 'Client Version: v1.30.0');
    await symlink(folder, join(root, 'link'));
    const lines: string[] = [];
    assert.equal(await findInstalled(kubectl, [folder, join(root, 'link')], (line) => lines.push(line)), undefined);
    assert.equal(lines.length, 1);
  });

  it('ignores a folder or a non-executable file with that name', async () => {
    await mkdir(join(root, 'folder', 'kubectl'), { recursive: true });
    await mkdir(join(root, 'file'));
    await writeFile(join(root, 'file', 'kubectl'), 'text', { mode: 0o644 });
    const none = await findInstalled(kubectl, [join(root, 'folder'), join(root, 'file')], (line) => assert.fail(line));
    assert.equal(none, undefined);
  });

  it('never uses an installed program without a release series', async () => {
    const folder = await install('unversioned', 'Client Version: v1.36.3');
    const { name, package: path, buildSeconds } = kubectl;
    const log = (line: string) => assert.fail(line);
    assert.equal(await findInstalled({ name, package: path, buildSeconds }, [folder], log), undefined);
  });

  it('uses a cache outside the checkout, in XDG_CACHE_HOME if that is an absolute path', async () => {
    const name = /\/windowspool-operator\/controlplane-[0-9a-f]{16}$/;
    const own = await cacheFolder(controlPlaneModule, { XDG_CACHE_HOME: '/caches' });
    assert.ok(own.startsWith('/caches/'), own);
    assert.match(own, name);
    assert.match(
      await cacheFolder(controlPlaneModule, { XDG_CACHE_HOME: 'relative' }),
      /\/\.cache\/windowspool-operator\/controlplane-/,
    );
  });
});

describe('a build', () => {
  it('logs its start, each program, and the remaining time', async () => {
    const lines: string[] = [];
    const built: string[] = [];
    const three = programs.slice(3, 6);
    await buildAll(
      three,
      (line) => lines.push(line),
      async ({ name }) => {
        built.push(name);
      },
    );
    assert.deepEqual(built, ['kube-scheduler', 'kubectl', 'kwok']);
    const [announced, ...progress] = lines;
    assertNames(announced, 'kube-scheduler, kubectl, kwok', '26 s');
    assert.deepEqual(
      progress.map((line) => /^Built .*\)\./.exec(line)?.[0]),
      ['Built kube-scheduler in 0 s (1 of 3).', 'Built kubectl in 0 s (2 of 3).', 'Built kwok in 0 s (3 of 3).'],
    );
    assertNames(progress[0], 'Left: kubectl, kwok');
  });

  it('logs nothing if nothing is built', async () => {
    await buildAll(
      [],
      (line) => assert.fail(line),
      () => assert.fail('built'),
    );
  });

  it('stops at the first failure', async () => {
    const tried: string[] = [];
    const build = async ({ name }: { name: string }) => {
      tried.push(name);
      throw new Error('broken source');
    };
    await assert.rejects(
      buildAll(programs, () => undefined, build),
      /broken source/,
    );
    assert.deepEqual(tried, ['etcd']);
  });
});
