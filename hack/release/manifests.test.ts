import assert from 'node:assert/strict';
import { withImage } from './manifests.ts';

describe('the manifests of a release', () => {
  it('have the image of the release, and no other is changed', () => {
    const manifest = (image: string) =>
      `      containers:\n      - image: ${image}\n        name: operator\n      - image: host/other:1.0\n`;
    for (const image of [
      '111122223333.dkr.ecr.eu-west-1.amazonaws.com/windowspool-operator:0.1.0',
      'windowspool-operator@sha256:ab',
    ])
      assert.equal(withImage(manifest(image), 'host/operator:1.0', 'install.yaml'), manifest('host/operator:1.0'));
  });

  it('are refused if they install the operator and have no image of it', () => {
    assert.throws(
      () => withImage('kind: Deployment\n', 'host/operator:1.0', 'install.yaml'),
      /^Error: install\.yaml has no image/,
    );
    assert.equal(withImage('kind: Rule\n', 'host/operator:1.0', 'prometheus.yaml'), 'kind: Rule\n');
  });
});
