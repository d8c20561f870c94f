import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { PodCredentials } from '../../hack/controlplane/controlplane.ts';
import manifest from '../../package.json' with { type: 'json' };
import lock from '../../package-lock.json' with { type: 'json' };
import { containerObstacle } from '../fakes/testenv/container.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import { messageOf, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
/** As OpenShift assigns it: from the range of the namespace, without an entry in /etc/passwd. */
const ASSIGNED_USER = '1000660000:0';

/** Runs Node in a folder without packages, as in the image. */
async function node(args: readonly string[], cwd: string): Promise<{ stdout: string; stderr: string; code: number }> {
  try {
    const { stdout, stderr } = await run(process.execPath, args, { cwd, env: {}, timeout: 30_000 });
    return { stdout, stderr, code: 0 };
  } catch (error) {
    return error as { stdout: string; stderr: string; code: number };
  }
}

/** Copies the sources of the bundle, and their packages: real files, so that every path differs. */
async function copySources(target: string): Promise<void> {
  const packages = Object.entries(lock.packages as Record<string, { dev?: boolean }>)
    .filter(([path, { dev }]) => path !== '' && (!dev || /node_modules\/(@?esbuild)\b/.test(path)))
    .map(([path]) => path);
  const sources = [
    'package.json',
    'cmd',
    'controllers',
    'hack/build.ts',
    'hack/bundle.ts',
    'hack/licences.ts',
    'LICENSE',
  ];
  // Packages for other platforms are in the lock file, but not on the disk.
  const there = [...sources, ...packages].filter((path) => existsSync(join(ROOT, path)));
  for (const path of there) await cp(join(ROOT, path), join(target, path), { recursive: true });
}

describe('the shipped bundle', () => {
  let folder: string;
  let world: TestEnv;
  let operator: OperatorProcess | undefined;
  const bundle = () => join(folder, 'first');
  const entry = () => join(bundle(), 'operator.mjs');

  before(async function () {
    this.timeout(600_000);
    folder = await mkdtemp(join(tmpdir(), 'windowspool-bundle-'));
    await run(process.execPath, [join(ROOT, 'hack/build.ts'), bundle()], { cwd: ROOT });
    world = await theWorld();
  });
  after(async () => {
    if (operator?.running) await world.kubectl('delete', 'windowspools', '--all', '--timeout=50s');
    await operator?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('has the same bytes when it is built again from a copy of the checkout in another folder', async () => {
    const checkout = join(folder, 'checkout');
    await copySources(checkout);
    await run(process.execPath, ['hack/build.ts'], { cwd: checkout });
    const contents = async (dir: string) => {
      const names = (await readdir(dir)).sort();
      return Promise.all(names.map(async (name) => [name, await readFile(join(dir, name), 'utf8')] as const));
    };
    const [before, again] = [await contents(bundle()), await contents(join(checkout, 'build/operator'))];
    assert.deepEqual(
      again.map(([name]) => name),
      before.map(([name]) => name),
    );
    for (const [index, [name, text]] of again.entries()) assert.ok(text === before[index]?.[1], `${name} differs`);
  });

  it('contains its licence and those of its packages, as the bundle of the kubectl plugin does', async () => {
    const plugin = join(folder, 'plugin');
    await run(process.execPath, [join(ROOT, 'hack/build.ts'), '--kubectl-plugin', plugin], { cwd: ROOT });
    const notices = await Promise.all(
      [bundle(), plugin].map(async (each) => {
        assert.equal(await readFile(join(each, 'LICENSE'), 'utf8'), await readFile(join(ROOT, 'LICENSE'), 'utf8'));
        return readFile(join(each, 'THIRD_PARTY_NOTICES'), 'utf8');
      }),
    );
    for (const text of notices) assert.match(text, /Permission is hereby granted, free of charge/);
    for (const [name, version] of Object.entries(manifest.dependencies))
      assert.match(notices.join('\n'), new RegExp(`^${name} ${version}: \\S`, 'm'));
  });

  it('prints its version, its help and wrong flags', async () => {
    assert.deepEqual(await node([entry(), '--version'], folder), {
      stdout: `${manifest.version}\n`,
      stderr: '',
      code: 0,
    });
    assert.match((await node([entry(), '--help'], folder)).stdout, /^Amazon EKS:\n +--cluster-name /m);
    const { code, stderr } = await node([entry(), '--cluster-name=prod'], folder);
    assert.equal(code, 2);
    assert.match(stderr, /--region is missing.* AWS_REGION /);
  });

  it('makes a pool Ready as in a pod of any user ID, without a home directory and without the reader of kubeconfigs', async () => {
    await rename(join(bundle(), await chunkWith('loadFromFile')), join(folder, 'client-node.mjs'));
    const credentials = await readableBy(ASSIGNED_USER, await world.podCredentials());
    const obstacle = await containerObstacle(ASSIGNED_USER, [
      process.execPath,
      entry(),
      join(credentials.dir, 'token'),
    ]);
    if (obstacle)
      console.log(
        `    Not as user ${ASSIGNED_USER} on a read-only file system, which this machine does not allow: ${obstacle}`,
      );
    operator = world.operator(['--leader-elect=false', '--join-grace=2s'], {
      entry: entry(),
      credentials,
      containerUser: obstacle === undefined ? ASSIGNED_USER : undefined,
      environment: { HOME: undefined },
    });
    await operator.ready();
    await world.apply(poolManifest('bundled'));
    await world.waitForReady('bundled');
  });

  it('contains only the used parts of the EC2 client', async () => {
    const { size } = await stat(join(bundle(), await chunkWith('DescribeInstancesCommand')));
    assert.ok(size < 150_000, `${size} bytes`);
  });

  it('calls EC2 when nodes are missing, and names their instances', async () => {
    world.cloud.faults.nextNode({ group: 'bundled', neverJoins: true });
    await world.kubectl('scale', 'windowspool', 'bundled', '--replicas=2');
    const pool = await world.waitForConditions('bundled', 'NodesVerified=False/NodesMissing');
    const message = messageOf(pool, 'NodesVerified');
    assert.match(message, / did not join .*: instance i-[0-9a-f]+ is running\./);
  });

  it('exits cleanly, and has written only log lines', async () => {
    await world.kubectl('delete', 'windowspool', 'bundled', '--timeout=30s');
    assert.equal(await operator?.stop(), 0);
    assert.deepEqual(operator?.otherLines, []);
  });

  /** The ServiceAccount in a folder that only this user can read, as the kubelet mounts it. */
  async function readableBy(user: string, { dir, env }: PodCredentials): Promise<PodCredentials> {
    const copy = join(folder, 'service-account');
    await cp(dir, copy, { recursive: true });
    // The bundle is next to it.
    await chmod(folder, 0o755);
    const [uid = 0, gid = 0] = user.split(':').map(Number);
    if (process.getuid?.() === 0)
      for (const path of [copy, ...(await readdir(copy)).map((name) => join(copy, name))]) await chown(path, uid, gid);
    return { dir: copy, env };
  }

  /** The only file next to the entry that contains a word. */
  async function chunkWith(word: string): Promise<string> {
    const found: string[] = [];
    for (const name of await readdir(bundle()))
      if (name !== 'operator.mjs' && (await readFile(join(bundle(), name), 'utf8')).includes(word)) found.push(name);
    assert.equal(found.length, 1, `${word} is in ${found.join(', ') || 'no chunk'}`);
    return found[0] ?? '';
  }
});
