import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { checkVersion, isPrerelease, withVersion } from './versions.ts';

describe('the version of a release', () => {
  it('is a semantic version without a v', () => {
    for (const version of ['0.1.0', '1.22.3', '2.0.0-rc.1']) checkVersion(version);
    for (const version of ['', 'v1.2.3', '1.2', '01.2.3', '1.2.3+4', '1.2.3-', 'latest'])
      assert.throws(() => checkVersion(version), /^Error: VERSION=.*: must be a semantic version without a leading v/);
    assert.deepEqual(['1.0.0', '1.0.0-rc.1'].map(isPrerelease), [false, true]);
  });

  it('is that of package.json in the chart', () => {
    const chart = parse(
      readFileSync(new URL('../../config/charts/windowspool-operator/Chart.yaml', import.meta.url), 'utf8'),
    );
    assert.deepEqual([chart.version, chart.appVersion], [manifest.version, manifest.version]);
  });

  it('replaces the previous one where a file repeats it, and nothing else', () => {
    for (const [before, after] of [
      ['image: host/windowspool-operator:0.1.0', 'image: host/windowspool-operator:1.0.0'],
      ['docker push "$IMAGE:0.1.0"', 'docker push "$IMAGE:1.0.0"'],
      ['newTag: 0.1.0', 'newTag: 1.0.0'],
      ['appVersion: 0.1.0\nversion: 0.1.0', 'appVersion: 1.0.0\nversion: 1.0.0'],
      ['helm install --version 0.1.0', 'helm install --version 1.0.0'],
      ['download/v0.1.0/install.yaml', 'download/v1.0.0/install.yaml'],
      ['//config/default?ref=v0.1.0', '//config/default?ref=v1.0.0'],
      ['windowspool-operator-0.1.0.tgz', 'windowspool-operator-1.0.0.tgz'],
      ['version: 10.1.0', 'version: 10.1.0'],
      ['version: 0.1.01', 'version: 0.1.01'],
      ['version: 0.1.0-rc.1', 'version: 0.1.0-rc.1'],
      ['Since 0.1.0, pools', 'Since 0.1.0, pools'],
    ] as const)
      assert.equal(withVersion(before, '0.1.0', '1.0.0'), after);
  });
});
