import assert from 'node:assert/strict';
import { imageEnd, imageIdOf, yearIn } from './image.ts';

describe('the Windows version in the name of an AMI', () => {
  const names: readonly (readonly [string, string | undefined])[] = [
    ['Windows_Server-2022-English-Core-EKS_Optimized-1.36-2026.02.11', '2022'],
    ['Windows_Server-2025-English-Full-EKS_Optimized-1.36-2026.02.11', '2025'],
    ['web Windows Server 2019 hardened', '2019'],
    ['golden-win2019-3', '2019'],
    ['windows2022', '2022'],
    ['shop-ltsc2022-v3', '2022'],
    ['base-20348.4773', '2022'],
    ['10.0.26100', '2025'],
    ['windows-2016-core', '2016'],
    ['windows-2022-build-17763', undefined],
    ['golden-2022-03-17', undefined],
    ['golden-17', undefined],
    ['windows-20220', undefined],
    ['x120348', undefined],
    ['', undefined],
  ];
  for (const [name, year] of names) {
    it(`is ${year ?? 'unknown'} for ${JSON.stringify(name)}`, () => assert.equal(yearIn({ name }), year));
  }
});

describe('the age of an AMI', () => {
  const at = (day: string) => Date.parse(`${day}T00:00:00Z`);
  const [createdAt, deprecatedAt] = [at('2026-01-01'), at('2026-09-01')];
  const again = ' Make a new one from the newest EKS-optimized AMI.';
  const old = ' The AMI is from 2026-01-01, and has no Windows updates that are newer.';
  const texts: readonly (readonly [string, string])[] = [
    ['2026-01-02', ''],
    ['2026-04-02', ''],
    ['2026-04-03', `${old}${again}`],
    ['2026-08-02', `${old} EC2 deprecates the AMI on 2026-09-01.${again}`],
    ['2026-09-01', `${old} The AMI is deprecated since 2026-09-01.${again}`],
  ];
  for (const [day, text] of texts) {
    it(`is ${text === '' ? 'not ' : ''}reported on ${day}`, () =>
      assert.equal(imageEnd({ createdAt, deprecatedAt, isOfAmazon: false }, at(day)), text));
  }

  it('is not reported if EC2 does not say it', () =>
    assert.equal(imageEnd({ isOfAmazon: true }, at('2030-01-01')), ''));

  for (const [day, text] of [
    ['2026-03-31', ''],
    ['2026-04-01', ' AWS makes this AMI private around 2026-05-01. After that, new nodes cannot start from it.'],
    ['2026-05-01', ' AWS made this AMI private around 2026-05-01. New nodes cannot start from it.'],
  ] as const)
    it(`is that of a release if Amazon owns it (${day})`, () =>
      assert.equal(imageEnd({ createdAt, deprecatedAt, isOfAmazon: true }, at(day)), text));
});

describe('the AMI of a node group', () => {
  it('is its release if its type is CUSTOM', () => {
    assert.equal(imageIdOf({ amiType: 'CUSTOM', releaseVersion: 'ami-0a000001' }), 'ami-0a000001');
    for (const group of [
      undefined,
      { amiType: 'WINDOWS_CORE_2022_x86_64', releaseVersion: 'ami-0a000001' },
      { amiType: 'CUSTOM', releaseVersion: '1.36-2026.02.11' },
      { amiType: 'CUSTOM', releaseVersion: undefined },
    ])
      assert.equal(imageIdOf(group), undefined);
  });
});
