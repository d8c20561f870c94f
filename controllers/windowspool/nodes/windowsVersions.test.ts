import assert from 'node:assert/strict';
import { amiTypeOf, buildOf, parseKernelVersion, releaseOf, type WindowsVersion, yearOf } from './windowsVersions.ts';

describe('a Windows version', () => {
  const table: readonly (readonly [WindowsVersion, string, string, string])[] = [
    ['Windows2019', '2019', '10.0.17763', 'WINDOWS_CORE_2019_x86_64'],
    ['Windows2022', '2022', '10.0.20348', 'WINDOWS_CORE_2022_x86_64'],
    ['Windows2025', '2025', '10.0.26100', 'WINDOWS_CORE_2025_x86_64'],
  ];
  for (const [version, year, build, amiType] of table) {
    it(`${version} has its build, its AMI type and its name`, () => {
      assert.deepEqual(
        [yearOf(version), buildOf(version), amiTypeOf(version, 'Core'), amiTypeOf(version, 'Full'), releaseOf(build)],
        [year, build, amiType, amiType.replace('CORE', 'FULL'), `Windows Server ${year}`],
      );
    });
  }

  it('is not known of a build that no supported version has', () => assert.equal(releaseOf('10.0.14393'), undefined));
});

describe('a kernel version', () => {
  const good: readonly (readonly [string, string, number | undefined])[] = [
    ['10.0.20348.1607', '10.0.20348', 1607],
    ['10.0.20348', '10.0.20348', undefined],
    ['10.0.17763.0', '10.0.17763', 0],
  ];
  for (const [text, build, revision] of good) {
    it(`${text} is parsed`, () => assert.deepEqual(parseKernelVersion(text), { build, revision }));
  }
  const bad = [
    '',
    '10.0',
    '10.0.',
    '10.0.20348.',
    '10.0.20348.1.2',
    '10.1.20348',
    ' 10.0.20348',
    '10.0.20348\n',
    '5.10.0',
  ];
  for (const text of bad) {
    it(`${JSON.stringify(text)} is no guess`, () => assert.equal(parseKernelVersion(text), undefined));
  }
});
