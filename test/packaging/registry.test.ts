import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuiltImage, buildImage } from '../../hack/image/buildImage.ts';
import { KeySigner, pushImage } from '../../hack/image/publish.ts';
import { ensurePackages } from '../../hack/realnode/distribution.ts';
import { writeImageSboms } from '../../hack/supplyChain/imageSboms.ts';
import { toolPath } from '../../hack/tools/tools.ts';
import manifest from '../../package.json' with { type: 'json' };
import { RegistryServer } from '../plugin/registryServer.ts';
import { run } from './unpackedImage.ts';

const CHART = fileURLToPath(new URL('../../config/charts/windowspool-operator', import.meta.url));
const log = (line: string) => console.log(`    ${line}`);
const plainHttp = { plainHttp: true };

describe('a registry', function () {
  this.timeout(1_200_000);
  let folder: string;
  let registry: RegistryServer;
  let signer: KeySigner;
  let stranger: KeySigner;
  before(async () => {
    await ensurePackages({ skopeo: 'skopeo' }, log);
    const cosign = await toolPath('cosign', log);
    folder = await mkdtemp(join(tmpdir(), 'windowspool-registry-'));
    registry = await RegistryServer.start(folder);
    const withKey = async (name: string) => {
      await mkdir(join(folder, name));
      return KeySigner.create(cosign, join(folder, name), plainHttp);
    };
    [signer, stranger] = [await withKey('key'), await withKey('other-key')];
  });
  after(async () => {
    await registry?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  /** Rejects, because there is no signature of this key. */
  const isRefused = (verified: Promise<unknown>) =>
    assert.rejects(verified, /no (matching )?(signatures|attestations)|invalid signature/);

  describe('has the image', () => {
    let image: BuiltImage;
    const named = (digest: string) => `${registry.host}/winpool/operator@${digest}`;
    before(async () => {
      image = await buildImage({ folder: join(folder, 'image') });
    });

    it('under its digest for all architectures, and under its tag', async () => {
      const digest = await pushImage(image.archive, `${registry.host}/winpool/operator:${manifest.version}`, plainHttp);
      assert.equal(digest, image.digest);
      for (const reference of [named(digest), `${registry.host}/winpool/operator:${manifest.version}`]) {
        const args = ['inspect', '--raw', '--tls-verify=false', `docker://${reference}`];
        const index = JSON.parse((await run('skopeo', args)).stdout);
        assert.deepEqual(
          index.manifests.map(({ platform, digest: one }: { platform: object; digest: string }) => [platform, one]),
          image.images.map(({ architecture, digest: one }) => [{ os: 'linux', architecture }, one]),
        );
      }
    });

    it('signed, which another key does not verify', async () => {
      await isRefused(signer.verify(named(image.digest)));
      await signer.sign(named(image.digest));
      await signer.verify(named(image.digest));
      await isRefused(stranger.verify(named(image.digest)));
    });

    it('with a signed SBOM of each architecture', async () => {
      const digestOf = (architecture: string) =>
        image.images.find((one) => one.architecture === architecture)?.digest ?? '';
      for (const { architecture, format, path } of await writeImageSboms(folder)) {
        const reference = named(digestOf(architecture));
        await signer.attest(reference, format, path);
        const predicate = await signer.verifyAttestation(reference, format);
        assert.deepEqual(predicate, JSON.parse(await readFile(path, 'utf8')));
        await isRefused(stranger.verifyAttestation(reference, format));
      }
    });

    it('without a signature of another image', async () => {
      const digest = await registry.pushImage('winpool/operator', 'other', { os: 'linux', architecture: 'amd64' });
      await isRefused(signer.verify(named(digest)));
    });
  });

  describe('has the chart', () => {
    const name = 'windowspool-operator';
    const archive = () => join(folder, `${name}-${manifest.version}.tgz`);
    let digest: string;
    let helm: string;
    before(async () => {
      helm = await toolPath('helm', log);
      await run(helm, ['package', CHART, '--destination', folder]);
    });

    it('as it was packed', async () => {
      const { stdout, stderr } = await run(helm, ['push', archive(), `oci://${registry.host}/charts`, '--plain-http']);
      digest = /^Digest: (sha256:[0-9a-f]{64})$/m.exec(stdout + stderr)?.[1] ?? '';
      const pulled = join(folder, 'pulled');
      await mkdir(pulled);
      const reference = [`oci://${registry.host}/charts/${name}`, '--version', manifest.version, '--plain-http'];
      await run(helm, ['pull', ...reference, '--destination', pulled]);
      assert.ok((await readFile(join(pulled, `${name}-${manifest.version}.tgz`))).equals(await readFile(archive())));
    });

    it('from which it renders the manifests, with the image by its digest', async () => {
      const values = [
        'clusterName=my-cluster',
        'region=eu-west-1',
        'image.repository=registry.example.com/operator',
        `image.digest=sha256:${'a'.repeat(64)}`,
      ];
      const set = values.flatMap((value) => ['--set', value]);
      const { stdout } = await run(helm, [
        'template',
        'windowspool',
        `oci://${registry.host}/charts/${name}@${digest}`,
        '--plain-http',
        ...set,
      ]);
      assert.match(stdout, /image: "?registry\.example\.com\/operator@sha256:a{64}/);
    });

    it('signed, which another key does not verify', async () => {
      const reference = `${registry.host}/charts/${name}@${digest}`;
      await isRefused(signer.verify(reference));
      await signer.sign(reference);
      await signer.verify(reference);
      await isRefused(stranger.verify(reference));
    });
  });
});
