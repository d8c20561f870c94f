/** CHANGELOG.md: https://keepachangelog.com */

/** The kinds of changes that Artifact Hub knows, which are those of the format. */
const KINDS = ['added', 'changed', 'deprecated', 'removed', 'fixed', 'security'] as const;

export interface Change {
  readonly kind: (typeof KINDS)[number];
  readonly description: string;
}

/** The text below the heading `## [x.y.z]` or `## x.y.z`, optionally with a date. Throws if there is none, or nothing below it. */
export function sectionOf(changelog: string, version: string): string {
  const sections = changelog.split(/^(?=## )/m);
  const section = sections.find((text) => /^## \[?([^\s\]]+)/.exec(text)?.[1] === version);
  if (section === undefined)
    throw new Error(
      `CHANGELOG.md has no section "## [${version}]". Move what is below "## [Unreleased]" into it, and add the date.`,
    );
  // Without the links at the end of the file.
  const text = section
    .replace(/^.*\n/, '')
    .replace(/^\[[^\]]+\]: .*$/gm, '')
    .trim();
  if (text === '') throw new Error(`The section "## [${version}]" of CHANGELOG.md is empty. Describe the changes.`);
  return `${text}\n`;
}

/** The items of a section, each below the heading of its kind, such as `### Added`. Throws on another heading. */
export function changesOf(section: string): readonly Change[] {
  return section.split(/^(?=### )/m).flatMap((part) => {
    const heading = /^### (.*)\n/.exec(part);
    if (!heading) return [];
    const kind = KINDS.find((one) => one === heading[1]?.trim().toLowerCase());
    if (!kind) throw new Error(`CHANGELOG.md has the heading "### ${heading[1]}". Use one of: ${KINDS.join(', ')}.`);
    return part
      .split(/^- /m)
      .slice(1)
      .map((item) => ({ kind, description: item.replace(/\s+/g, ' ').trim() }));
  });
}
