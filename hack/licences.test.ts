import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { bundledPackages } from './bundle.ts';
import { licenceFindings, packagesOf } from './licences.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

describe('the licences of bundled packages', () => {
  it('are all on the list of allowed licences', async () => {
    const packages = await bundledPackages('cmd/operator/main.ts');
    assert.ok(packages.length > 50, `${packages.length} packages`);
    assert.deepEqual(licenceFindings(packages), []);
  });

  it('are findings if they are not on the list, or missing', () => {
    const one = { folder: 'node_modules/one', name: 'one', version: '1.2.3' };
    const sentences = ['GPL-3.0-only', undefined, 'MIT'].flatMap((licence) => licenceFindings([{ ...one, licence }]));
    assert.deepEqual(
      sentences.map((sentence) => sentence.replace(/ Allowed:.*/, '')),
      ['GPL-3.0-only', 'unknown'].map((name) => `one 1.2.3 is in the bundle and has the licence ${name}.`),
    );
  });

  it('are those of the packages whose files are bundled', async () => {
    const files = ['cmd/operator/main.ts', 'node_modules/pino/pino.js', 'node_modules/pino/lib/tools.js'];
    const packages = await packagesOf(ROOT, files);
    assert.deepEqual(
      packages.map(({ folder, name, licence }) => ({ folder, name, licence })),
      [{ folder: 'node_modules/pino', name: 'pino', licence: 'MIT' }],
    );
  });
});
