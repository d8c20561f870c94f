import assert from 'node:assert/strict';
import type { Component, Sbom } from './sbom.ts';
import { spdxOf } from './spdx.ts';

const component = (name: string, more: Partial<Component> = {}): Component => ({
  'bom-ref': `${name}@1.0.0`,
  name,
  version: '1.0.0',
  purl: `pkg:npm/${name}@1.0.0`,
  ...more,
});

const sbom: Sbom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  metadata: { component: component('operator') },
  components: [
    component('pino', { licenses: [{ license: { id: 'MIT' } }], hashes: [{ alg: 'SHA-512', content: 'ab' }] }),
    component('yaml', { licenses: [{ expression: 'ISC OR MIT' }] }),
  ],
  dependencies: [
    { ref: 'operator@1.0.0', dependsOn: ['pino@1.0.0', 'yaml@1.0.0'] },
    { ref: 'pino@1.0.0', dependsOn: [] },
  ],
};

describe('the SBOM as SPDX', () => {
  const document = spdxOf(sbom, { namespace: 'https://host.example/1', created: '2026-01-02T03:04:05Z' });

  it('has the product and its packages, with their licences, hashes and purls', () => {
    assert.deepEqual(
      document.packages.map(({ name, versionInfo, licenseDeclared, checksums, externalRefs }) => [
        name,
        versionInfo,
        licenseDeclared,
        checksums,
        externalRefs[0]?.referenceLocator,
      ]),
      [
        ['operator', '1.0.0', 'NOASSERTION', undefined, 'pkg:npm/operator@1.0.0'],
        ['pino', '1.0.0', 'MIT', [{ algorithm: 'SHA512', checksumValue: 'ab' }], 'pkg:npm/pino@1.0.0'],
        ['yaml', '1.0.0', 'ISC OR MIT', undefined, 'pkg:npm/yaml@1.0.0'],
      ],
    );
  });

  it('describes the product, and has the dependencies', () => {
    assert.deepEqual(
      document.relationships.map((one) => Object.values(one).join(' ')),
      [
        'SPDXRef-DOCUMENT DESCRIBES SPDXRef-Package-0',
        'SPDXRef-Package-0 DEPENDS_ON SPDXRef-Package-1',
        'SPDXRef-Package-0 DEPENDS_ON SPDXRef-Package-2',
      ],
    );
  });
});
