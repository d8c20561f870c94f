import assert from 'node:assert/strict';
import { dateOf, isNewerMinor, isNewerRelease, lifeOf, minorOf, normalizedRelease } from './releaseVersion.ts';

describe('a release', () => {
  it('is the same text in either spelling', () => {
    for (const release of ['1.35-2026.01.22', '1.35-2026-01-22', '1.35-2026.01-22'])
      assert.equal(normalizedRelease(release), '1.35-2026.01.22');
  });

  it('is not changed if it is invalid', () => assert.deepEqual(['', 'x'].map(normalizedRelease), ['', 'x']));

  it('has its Kubernetes version', () => {
    assert.deepEqual(['1.35-2026-01-22', '1.36-2026.03.17', ''].map(minorOf), ['1.35', '1.36', '']);
  });
});

describe('the day of a release', () => {
  it('is read in either spelling', () => {
    assert.deepEqual(['1.35-2026.01.22', '1.35-2026-01-22', '1.35', ''].map(dateOf), [
      '2026-01-22',
      '2026-01-22',
      undefined,
      undefined,
    ]);
  });

  it('determines which release is newer, after the Kubernetes version', () => {
    const newer: readonly (readonly [string, string, boolean])[] = [
      ['1.35-2026.02.10', '1.35-2026-01-22', true],
      ['1.35-2026.01.22', '1.35-2026-01-22', false],
      ['1.35-2026.01.22', '1.35-2026.02.10', false],
      ['1.36-2026.01.22', '1.35-2026.02.10', true],
      ['1.35-2026.02.10', '1.36-2026.01.22', false],
    ];
    for (const [release, other, want] of newer)
      assert.equal(isNewerRelease(release, other), want, `${release} ${other}`);
  });

  it('determines until when it can be launched', () => {
    assert.deepEqual(lifeOf('1.35-2026-01-22'), { old: Date.parse('2026-04-22'), private: Date.parse('2026-05-22') });
    assert.deepEqual([lifeOf('1.35'), lifeOf('1.35-2026.99.99')], [undefined, undefined]);
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
