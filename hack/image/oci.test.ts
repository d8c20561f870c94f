import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../controlplane/command.ts';
import { OciLayout } from './oci.ts';

describe('an OCI layout', () => {
  const settings = { env: { A: 'b' }, labels: { c: 'd' }, user: '7:8', entrypoint: ['node'], layers: ['files'] };
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-oci-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Writes the same files in a folder of another name, at another time and in another order. */
  async function build(name: string, files: readonly string[], time: Date) {
    const source = join(folder, name, 'files');
    await mkdir(source, { recursive: true });
    for (const file of files) {
      await writeFile(join(source, file), file);
      await chmod(join(source, file), 0o444);
      await utimes(join(source, file), time, time);
    }
    const layout = await OciLayout.create(join(folder, name, 'oci'));
    const layer = await layout.addLayer('files', source);
    const image = await layout.addImage('arm64', settings, [layer], '2026-01-02T03:04:05Z');
    const index = await layout.addIndex([image], settings.labels, 'example.com/operator:1.2.3');
    return {
      layer,
      image,
      index,
      blob: (digest: string) => join(layout.folder, 'blobs', digest.replace(':', '/')),
      layout,
    };
  }

  it('has the same digests for the same files', async () => {
    const one = await build('one', ['x', 'y'], new Date(1));
    const other = await build('other', ['y', 'x'], new Date());
    assert.deepEqual([other.layer, other.image, other.index], [one.layer, one.image, one.index]);
    const third = await build('third', ['x', 'z'], new Date(1));
    assert.notEqual(third.index.digest, one.index.digest);
  });

  it('leads from its name to the settings of the image', async () => {
    const { layer, image, index, blob, layout } = await build('named', ['x'], new Date(1));
    const json = async (path: string) => JSON.parse(await readFile(path, 'utf8'));
    const [content] = (await json(join(layout.folder, 'index.json'))).manifests;
    assert.deepEqual(
      [content.digest, content.annotations],
      [
        index.digest,
        { 'io.containerd.image.name': 'example.com/operator:1.2.3', 'org.opencontainers.image.ref.name': '1.2.3' },
      ],
    );
    assert.deepEqual((await json(blob(index.digest))).manifests, [image]);
    assert.deepEqual(image.platform, { os: 'linux', architecture: 'arm64' });
    const manifest = await json(blob(image.digest));
    assert.deepEqual(manifest.layers, [layer.descriptor]);
    const { config, rootfs, created } = await json(blob(manifest.config.digest));
    assert.deepEqual(config, { User: '7:8', Env: ['A=b'], Entrypoint: ['node'], WorkingDir: '/', Labels: { c: 'd' } });
    assert.deepEqual([rootfs.diff_ids, created], [[layer.diffId], '2026-01-02T03:04:05Z']);
  });

  it('is packed with the names that the specification has', async () => {
    const { layout } = await build('packed', ['x'], new Date(1));
    const archive = join(folder, 'packed.tar');
    await layout.pack(archive);
    const { stdout } = await runCommand('tar', ['-tf', archive], { timeoutMs: 20_000 });
    assert.match(stdout, /^blobs\/\nblobs\/sha256\/\n(blobs\/sha256\/[0-9a-f]{64}\n){4}index\.json\noci-layout\n$/);
  });
});
