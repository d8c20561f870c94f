import assert from 'node:assert/strict';
import manifest from '../../package.json' with { type: 'json' };
import { assertNames } from '../../test/messages.ts';
import { ARCHITECTURES, readPins } from './pins.ts';

describe('the packages of the image', () => {
  it('have the Node.js that the tests run on', async () => {
    const { node } = await readPins();
    assert.equal(node.version, manifest.devDependencies.node);
    assert.equal(`v${node.version}`, process.version);
  });

  it('are rejected if package.json has another Node.js', async () => {
    const error = await readPins('1.2.3').catch((reason: Error) => reason.message);
    assertNames(String(error), manifest.devDependencies.node, '1.2.3', 'make image-pins');
  });

  it('have the same versions for all architectures, and a hash for each', async () => {
    const { node, debian } = await readPins();
    for (const architecture of ARCHITECTURES) {
      assert.match(node.integrity[architecture], /^sha512-[\w+/]{86}==$/);
      for (const [name, pins] of Object.entries(debian.packages)) {
        const { version, path, sha256 } = pins[architecture];
        assert.equal(version, pins.amd64.version, name);
        assert.match(path, new RegExp(`^debian(-security)?/pool/.*_(all|${architecture})\\.deb$`));
        assert.match(sha256, /^[0-9a-f]{64}$/);
      }
    }
  });
});
