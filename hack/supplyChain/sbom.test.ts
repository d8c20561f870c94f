import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import lock from '../../package-lock.json' with { type: 'json' };
import { bundle, bundledPackages } from '../bundle.ts';
import { type Sbom, sbomOf } from './sbom.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const OPERATOR = 'cmd/operator/main.ts';
const locked = lock.packages as Readonly<Record<string, { version?: string; integrity?: string; license?: string }>>;

describe('the SBOM of the bundle', () => {
  let folder: string;
  let sbom: Sbom;
  before(async () => {
    await mkdir(join(ROOT, 'build'), { recursive: true });
    folder = await mkdtemp(join(ROOT, 'build/sbom-test-'));
    await bundle(OPERATOR, 'operator', folder);
    sbom = await sbomOf(ROOT, manifest, await bundledPackages(OPERATOR));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('has exactly the packages of which the bundle contains code', async () => {
    const notices = await readFile(join(folder, 'THIRD_PARTY_NOTICES'), 'utf8');
    const shipped = notices
      .split(`${'-'.repeat(80)}\n`)
      .map((notice) => /^(\S+) (\S+): (.+)\n/.exec(notice)?.slice(1, 4) ?? [notice])
      .sort();
    const listed = sbom.components.map(({ name, version, licenses }) => [
      name,
      version,
      licenses?.[0]?.license?.id ?? '',
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
    const edges = new Map(sbom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set([component['bom-ref']]);
    for (const ref of reached) for (const next of edges.get(ref) ?? []) reached.add(next);
    assert.deepEqual([...reached].sort(), [component, ...sbom.components].map((one) => one['bom-ref']).sort());
  });

  it('has the same bytes if it is written again', async () => {
    const again = await sbomOf(ROOT, manifest, await bundledPackages(OPERATOR));
    assert.equal(JSON.stringify(again), JSON.stringify(sbom));
  });

  it('is rejected if npm does not know a package', async () => {
    const unknown = { folder: 'node_modules/left', name: 'left', version: '1.0.0', licence: 'MIT' };
    await assert.rejects(sbomOf(ROOT, manifest, [unknown]), /^Error: .*left@1\.0\.0\..* make deps/);
  });
});
