import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { krewManifest } from './krewManifest.ts';

const template = readFileSync(new URL('../../config/krew/windowspool.yaml', import.meta.url), 'utf8');
const archive = (os: string, bin: string) => ({
  os,
  arch: 'amd64',
  uri: `https://host.example/${os}`,
  sha256: 'ab'.repeat(32),
  bin,
});

describe('the krew manifest', () => {
  it('has the version and a platform for each archive, which the template lacks', () => {
    const before = parse(template);
    assert.deepEqual([before.spec.version, before.spec.platforms], [undefined, undefined]);
    const archives = [archive('linux', 'kubectl-windowspool'), archive('windows', 'kubectl-windowspool.exe')];
    const { spec, ...after } = parse(krewManifest(template, '1.2.3', archives));
    const { version, platforms, ...texts } = spec;
    assert.deepEqual({ ...after, spec: texts }, before);
    assert.equal(version, 'v1.2.3');
    const platform = ({ os, arch, ...rest }: (typeof archives)[number]) => ({
      selector: { matchLabels: { os, arch } },
      ...rest,
      files: [rest.bin, 'LICENSE', 'NODE_LICENSE', 'THIRD_PARTY_NOTICES'].map((from) => ({ from, to: '.' })),
    });
    assert.deepEqual(platforms, archives.map(platform));
  });

  it('is rejected without an HTTPS URL', () => {
    for (const uri of ['', 'plugin.tar.gz', 'http://host.example/plugin.tar.gz'])
      assert.throws(() => krewManifest(template, '1.2.3', [{ ...archive('linux', 'kubectl-windowspool'), uri }]), {
        message: `${uri}: krew downloads only from HTTPS URLs. Set DOWNLOADS.`,
      });
  });
});
