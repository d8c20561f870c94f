/** A page of docs/ as a page of the site. Pure. */
import { posix } from 'node:path';

/** Where the pages of the site are, and where the files are that it does not have. */
export interface SiteLinks {
  /** Path of the site on its host, with a slash at both ends. */
  readonly base: string;
  /** URL of the repository, and the branch or tag that links to its files name. */
  readonly repository: string;
  readonly ref: string;
  /** Whether a path from the root of the repository is a folder. */
  readonly isFolder: (path: string) => boolean;
}

/** The route of a page in docs/, without slashes at its ends: `how-to/scale`, and an empty one for docs/index.md. */
export function routeOf(path: string): string {
  return path
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .replace(/(^|\/)index$/, '')
    .toLowerCase();
}

/**
 * The page with the frontmatter that Starlight needs: the title is the first heading, the description the first sentence. Links to pages
 * become routes, links to other files URLs of the repository, and diagrams HTML that a script draws.
 */
export function sitePage(path: string, text: string, links: SiteLinks): string {
  const source = text.replace(/^(?:<!--[\s\S]*?-->\s*)+/, '');
  const [, title] = /^# (.+)$/m.exec(source) ?? [];
  if (!title) throw new Error(`${path} has no title: its first line must be a heading of level 1.`);
  const body = source.replace(/^# .+\n+/m, '');
  const frontmatter = [
    `title: ${JSON.stringify(plain(title))}`,
    `description: ${JSON.stringify(descriptionOf(body))}`,
    'editUrl: false',
  ];
  return `---\n${frontmatter.join('\n')}\n---\n\n${withLinks(path, withDiagrams(body), links)}`;
}

/** The first sentence of the first paragraph, as plain text. */
function descriptionOf(body: string): string {
  const paragraph = body.split(/\n{2,}/).find((each) => /^(?:[A-Za-z[*]|`[^`])/.test(each)) ?? '';
  const [sentence = ''] = /^.*?\.(?=\s|$)/s.exec(plain(paragraph)) ?? [plain(paragraph)];
  return sentence.replace(/:$/, '.');
}

function plain(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function withDiagrams(body: string): string {
  return body.replaceAll(/^```mermaid\n([\s\S]*?)^```$/gm, (_, diagram: string) => {
    const escaped = diagram.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    return `<pre class="mermaid">\n${escaped}</pre>`;
  });
}

/** Links in prose. Code blocks and code spans, which may look like links, are left as they are. */
function withLinks(path: string, body: string, links: SiteLinks): string {
  return body.replaceAll(
    /^( *)```[\s\S]*?^\1```$|``.*?``|`[^`\n]*`|(\]\()([^)\s]+)(?=\))|^(\[[^\]\n]+\]: )(\S+)$/gm,
    (whole, _indent, inline = '', target = '', definition = '', defined = '') => {
      if (inline) return `${inline}${hrefOf(path, target, links)}`;
      return definition ? `${definition}${hrefOf(path, defined, links)}` : whole;
    },
  );
}

function hrefOf(page: string, target: string, { base, repository, ref, isFolder }: SiteLinks): string {
  if (/^(?:[a-z]+:|#)/.test(target)) return target;
  const [relative = '', anchor] = target.split('#');
  const path = posix.normalize(posix.join(posix.dirname(page), relative)).replace(/\/$/, '');
  const fragment = anchor === undefined ? '' : `#${anchor}`;
  if (path.startsWith('docs/') && path.endsWith('.md')) {
    const route = routeOf(path);
    return `${base}${route}${route === '' ? '' : '/'}${fragment}`;
  }
  return `${repository}/${isFolder(path) ? 'tree' : 'blob'}/${ref}/${path}${fragment}`;
}
