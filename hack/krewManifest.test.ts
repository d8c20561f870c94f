import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { krewManifest } from './krewManifest.ts';

const template = readFileSync(new URL('../config/krew/windowspool.yaml', import.meta.url), 'utf8');
const archive = { version: 'v1.2.3', uri: 'https://host.example/plugin.tar.gz', sha256: 'ab'.repeat(32) };

describe('the krew manifest', () => {
  it('has the archive of the release, which the template lacks', () => {
    const before = parse(template);
    const after = parse(krewManifest(template, archive));
    assert.deepEqual(
      [before.spec.version, before.spec.platforms[0].uri, before.spec.platforms[0].sha256],
      [undefined, undefined, undefined],
    );
    const [platform] = before.spec.platforms;
    const { version, uri, sha256 } = archive;
    assert.deepEqual(after, {
      ...before,
      spec: { ...before.spec, version, platforms: [{ ...platform, uri, sha256 }] },
    });
  });

  it('is rejected without an HTTPS URL', () => {
    for (const uri of ['', 'plugin.tar.gz', 'http://host.example/plugin.tar.gz'])
      assert.throws(() => krewManifest(template, { ...archive, uri }), {
        message: `ARCHIVE_URL=${uri}: must be an HTTPS URL.`,
      });
  });
});
