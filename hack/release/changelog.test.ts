import assert from 'node:assert/strict';
import { changesOf, sectionOf } from './changelog.ts';

const CHANGELOG = `# Changelog

## [Unreleased]

## [1.2.0] - 2026-01-02

### Added

- A field that is
  long.
- A command.

### Fixed

- An error.

## [1.1.0] - 2026-01-01

[1.2.0]: https://host.example/1.2.0
`;

describe('the section of CHANGELOG.md', () => {
  it('of a version becomes the notes of the release, and its changes have the kinds of Artifact Hub', () => {
    const section = sectionOf(CHANGELOG, '1.2.0');
    assert.match(section, /^### Added\n[\s\S]*- An error\.\n$/);
    assert.deepEqual(changesOf(section), [
      { kind: 'added', description: 'A field that is long.' },
      { kind: 'added', description: 'A command.' },
      { kind: 'fixed', description: 'An error.' },
    ]);
    assert.equal(sectionOf(CHANGELOG.replace('[1.2.0] -', '1.2.0 -'), '1.2.0'), section);
  });

  it('is refused if it is missing or empty', () => {
    assert.throws(() => sectionOf(CHANGELOG, '1.2'), /no section "## \[1\.2\]"\. Move what is below/);
    assert.throws(() => sectionOf(CHANGELOG, '1.1.0'), /"## \[1\.1\.0\]" of CHANGELOG\.md is empty/);
  });

  it('is refused with a heading that the format does not have', () => {
    assert.throws(() => changesOf('### New\n\n- A field.\n'), /heading "### New"\. Use one of: added, changed/);
  });
});
