import assert from 'node:assert/strict';
import { isNewerMinor, minorOf, spelled } from './releaseVersion.ts';

describe('a release', () => {
  it('is the same text in either spelling', () => {
    for (const release of ['1.35-2026.01.22', '1.35-2026-01-22', '1.35-2026.01-22'])
      assert.equal(spelled(release), '1.35-2026.01.22');
  });

  it('that is no release is left as it is', () => assert.deepEqual(['', 'x'].map(spelled), ['', 'x']));

  it('tells its Kubernetes version', () => {
    assert.deepEqual(['1.35-2026-01-22', '1.36-2026.03.17', ''].map(minorOf), ['1.35', '1.36', '']);
  });
});

describe('a Kubernetes version', () => {
  const table: readonly (readonly [string, string, boolean])[] = [
    ['1.36', '1.35', true],
    ['1.36', '1.9', true],
    ['1.36', '1.36', false],
    ['1.9', '1.36', false],
    ['2.0', '1.36', true],
  ];
  for (const [version, other, want] of table) {
    it(`${version} is ${want ? '' : 'not '}newer than ${other}`, () =>
      assert.equal(isNewerMinor(version, other), want));
  }
});
