import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuiltImage, buildImage } from '../../hack/image/buildImage.ts';
import { ARCHITECTURES, type Architecture, readPins } from '../../hack/image/pins.ts';
import { ensurePackages } from '../../hack/realnode/distribution.ts';
import { shipped } from '../../hack/shipped.ts';
import manifest from '../../package.json' with { type: 'json' };
import { type ImageConfig, type ImageFile, run, runContainer, unpackImage } from './unpackedImage.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Compressed, of one architecture. */
const MAX_BYTES = 60e6;

describe('the image', function () {
  this.timeout(600_000);
  let folder: string;
  let image: BuiltImage;
  const unpacked = new Map<Architecture, { root: string; config: ImageConfig; files: readonly ImageFile[] }>();
  const of = (architecture: Architecture) => {
    const found = unpacked.get(architecture);
    assert.ok(found);
    return found;
  };

  before(async () => {
    if (process.getuid?.() !== 0) throw new Error('This suite starts the image with runc, which needs root.');
    await ensurePackages({ runc: 'runc', buildah: 'buildah', 'qemu-user-static': 'qemu-aarch64-static' }, console.log);
    folder = await mkdtemp(join(tmpdir(), 'windowspool-image-'));
    image = await buildImage({ folder: join(folder, 'build/image') });
    for (const architecture of ARCHITECTURES) {
      const root = join(folder, 'unpacked', architecture);
      await mkdir(root, { recursive: true });
      unpacked.set(architecture, { root, ...(await unpackImage(image.layout, architecture, root)) });
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('has the same digest if it is built again in another folder', async () => {
    const again = await buildImage({ folder: join(folder, 'again') });
    assert.equal(again.digest, image.digest);
    await rm(join(folder, 'again'), { recursive: true });
  });

  it('is small', () => {
    for (const { architecture, layers } of image.images) {
      const sizes = layers.map(({ descriptor, unpackedBytes }) => [descriptor.size, unpackedBytes] as const);
      const [compressed, plain] = sizes.reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
      const parts = layers.map(({ name, unpackedBytes }) => `${name} ${(unpackedBytes / 1e6).toFixed(1)}`);
      console.log(
        `    linux/${architecture}: ${(compressed / 1e6).toFixed(1)} MB, unpacked ${(plain / 1e6).toFixed(1)} MB (${parts.join(', ')})`,
      );
      assert.ok(compressed < MAX_BYTES, `${compressed} bytes`);
    }
  });

  it('says what it is', () => {
    const { config, created, architecture } = of('arm64').config;
    const {
      'org.opencontainers.image.created': time,
      'org.opencontainers.image.revision': commit,
      ...labels
    } = config.Labels;
    assert.deepEqual(labels, {
      'org.opencontainers.image.title': manifest.name,
      'org.opencontainers.image.description': manifest.description,
      'org.opencontainers.image.licenses': manifest.license,
      'org.opencontainers.image.source': 'https://github.com/windowspool-operator/windowspool-operator',
      'org.opencontainers.image.version': manifest.version,
    });
    assert.equal(architecture, 'arm64');
    assert.equal(time, created);
    assert.match(commit ?? '', /^[0-9a-f]{40}/);
  });

  for (const [title, uid, gid] of [
    ['the user of the image', ...shipped().user.split(':').map(Number)],
    ['a user ID that OpenShift assigns', 1_000_670_000, 0],
  ] as [string, number, number][])
    it(`starts without privileges on a read-only file system as ${title}`, async () => {
      const { root, config } = of('amd64');
      assert.deepEqual(await runContainer(root, config, folder, { args: ['--version'], uid, gid }), {
        stdout: `${manifest.version}\n`,
        stderr: '',
        code: 0,
      });
    });

  it('resolves names, knows certificates, time zones and the home folder, also for a user that it does not know', async () => {
    const { root, config } = of('amd64');
    const script = `Promise.all([import('node:dns/promises'), import('node:os'), import('node:tls')]).then(async ([dns, os, tls]) => console.log(JSON.stringify({
      home: os.homedir(),
      user: process.getuid(),
      address: (await dns.lookup('name.example')).address,
      certificates: tls.getCACertificates('system').length > 100,
      zone: new Date(0).getHours(),
    })))`;
    const env = [...config.config.Env, 'TZ=Asia/Tokyo'];
    const hosts = join(folder, 'hosts');
    await writeFile(hosts, '192.0.2.1 name.example\n');
    const { stdout, stderr } = await runContainer(root, { ...config, config: { ...config.config, Env: env } }, folder, {
      command: ['node', '-e', script],
      uid: 12_345,
      gid: 0,
      hosts,
    });
    assert.equal(stderr, '');
    assert.deepEqual(JSON.parse(stdout), {
      home: '/home/nonroot',
      user: 12_345,
      address: '192.0.2.1',
      certificates: true,
      zone: 9,
    });
  });

  it('starts on arm64, in an emulator', async () => {
    const { root, config } = of('arm64');
    const [, ...words] = config.config.Entrypoint.map((word) => word.replace(/^\/app/, join(root, 'app')));
    const node = [join(root, 'usr/local/bin/node'), ...words, '--version'];
    const { stdout } = await run('qemu-aarch64-static', ['-L', root, ...node]);
    assert.equal(stdout, `${manifest.version}\n`);
  });

  for (const architecture of ARCHITECTURES)
    describe(`for ${architecture}`, () => {
      it('has no shell, no package manager and no npm', () => {
        const names = /(^|\/)(sh|bash|dash|busybox|apt|apt-get|dpkg|npm|npx|corepack|yarn|perl|node_modules)$/;
        const found = of(architecture).files.filter(({ path }) => names.test(path) && path !== 'var/lib/dpkg');
        assert.deepEqual(found, []);
        const programs = of(architecture).files.filter(({ mode }) => /^-..x/.test(mode));
        assert.deepEqual(
          programs.map(({ path }) => path.replace(/.*\//, '')).filter((name) => !/\.so\./.test(name)),
          ['node'],
        );
      });

      it('has only files of root that nobody can write', () => {
        for (const { mode, owner, path } of of(architecture).files) {
          assert.equal(owner, '0/0', path);
          assert.match(mode, /^(-r-[-x]r-[-x]r-[-x]|drwxr-xr-x|lrwxrwxrwx)$/, path);
        }
      });

      it('tells scanners the packages that it has, with the hashes of their files and their licences', async () => {
        const { root } = of(architecture);
        const { debian } = await readPins();
        for (const [name, pins] of Object.entries(debian.packages)) {
          const status = await readFile(join(root, 'var/lib/dpkg/status.d', name), 'utf8');
          assert.match(status, new RegExp(`^Package: ${name.replaceAll('+', '\\+')}\n`));
          const { version, source, path } = pins[architecture];
          const fields = new Map([...status.matchAll(/^(\S+): (.+)$/gm)].map(([, key, value]) => [key, value]));
          assert.equal(fields.get('Version'), version);
          assert.equal((fields.get('Source') ?? name).split(' ')[0], source);
          assert.equal(fields.get('Architecture'), path.includes('_all.') ? 'all' : architecture);
          const sums = await readFile(join(root, 'var/lib/dpkg/status.d', `${name}.md5sums`), 'utf8');
          for (const [, sum, file = ''] of sums.matchAll(/^(\S+) {2}(.+)$/gm)) {
            const hash = createHash('md5').update(await readFile(join(root, file)));
            assert.equal(hash.digest('hex'), sum, file);
          }
          assert.ok((await readFile(join(root, 'usr/share/doc', name, 'copyright'), 'utf8')).length > 0);
        }
        assert.match(
          await readFile(join(root, 'etc/os-release'), 'utf8'),
          new RegExp(`^VERSION_ID="${debian.release}"$`, 'm'),
        );
        const sbom = JSON.parse(await readFile(join(root, 'app/operator.cdx.json'), 'utf8'));
        assert.ok(sbom.components.some(({ name }: { name: string }) => name === 'pino'));
      });
    });

  it('has the same files and settings if another program builds the Dockerfile', async () => {
    for (const name of ['Dockerfile', '.dockerignore']) await cp(join(ROOT, name), join(folder, name));
    const storage = join(folder, 'storage');
    const env = { ...process.env, CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf') };
    const policy = join(folder, 'policy.json');
    await writeFile(
      env.CONTAINERS_STORAGE_CONF,
      `[storage]\ndriver = "vfs"\ngraphroot = "${storage}"\nrunroot = "${storage}-run"\n`,
    );
    await writeFile(policy, '{"default": [{"type": "insecureAcceptAnything"}]}');
    const target = join(folder, 'oci');
    await run('buildah', ['bud', '--platform=linux/arm64', '--tag=operator', '--signature-policy', policy, folder], {
      env,
    });
    await run('buildah', ['push', '--signature-policy', policy, 'operator', `oci:${target}:operator`], { env });
    const root = join(folder, 'unpacked/buildah');
    await mkdir(root);
    const other = await unpackImage(target, 'arm64', root);
    const { files, config } = of('arm64');
    const sorted = (some: readonly ImageFile[]) =>
      [...new Map(some.filter(({ path }) => path !== '').map((file) => [file.path, file])).values()].sort((a, b) =>
        a.path < b.path ? -1 : 1,
      );
    assert.deepEqual(sorted(other.files), sorted(files));
    for (const { path, mode } of files)
      if (mode.startsWith('-') && existsSync(join(root, path)))
        assert.ok((await readFile(join(root, path))).equals(await readFile(join(of('arm64').root, path))), path);
    const { Labels, Env, ...settings } = other.config.config;
    const { Labels: labels, Env: variables, ...expected } = config.config;
    assert.deepEqual({ WorkingDir: '/', ...settings }, expected);
    assert.deepEqual([...Env].sort(), [...variables].sort());
    for (const [name, value] of Object.entries(shippedLabels(labels))) assert.equal(Labels[name], value);
  });
});

/** The labels of the Dockerfile, without those of a build. */
function shippedLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !/\.(version|created|revision)$/.test(name)));
}
