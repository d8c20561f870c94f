/** The parts of a Markdown page that a test can check: code blocks and links. */

export interface Block {
  /** The words after the fence, such as `sh aws`. */
  readonly info: string;
  readonly text: string;
  /** Line of the fence, from 1. */
  readonly line: number;
  /** The heading above it. */
  readonly section: string;
}

/** The fenced code blocks, in their order. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let open: { info: string; line: number; lines: string[] } | undefined;
  let section = '';
  for (const [index, line] of page.split('\n').entries()) {
    const fence = /^```(.*)$/.exec(line);
    if (fence && open) {
      blocks.push({ info: open.info, text: open.lines.join('\n'), line: open.line, section });
      open = undefined;
    } else if (fence) open = { info: (fence[1] ?? '').trim(), line: index + 1, lines: [] };
    else if (open) open.lines.push(line);
    else section = /^#+ (.*)$/.exec(line)?.[1] ?? section;
  }
  return blocks;
}

/** Targets of the links in the prose, without those to other sites. A regular expression in backticks may look like one. */
export function linksOf(page: string): string[] {
  return [
    ...proseOf(page)
      .replaceAll(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** Files that the prose names in backticks by a path from the root of the repository. */
export function pathsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/`((?:cmd|config|controllers|crds|docs|hack|test)\/[\w./-]+)`/g)].map(
    ([, path = '']) => path,
  );
}

/** What the prose has in backticks. */
export function namesOf(page: string): string[] {
  return [...proseOf(page).matchAll(/`([^`\n]+)`/g)].map(([, name = '']) => name);
}

/** The anchors that GitHub gives the headings. */
export function anchorsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function proseOf(page: string): string {
  return page.replace(/^```[\s\S]*?^```$/gm, '');
}
