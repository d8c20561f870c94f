/** Links of a built site that lead nowhere. Pure. */

/**
 * The links to the site itself, in its HTML files by path, whose file or anchor does not exist: `how-to/scale/index.html: /no/page/`.
 * `files` are all paths of the site, without a slash at their start.
 */
export function deadLinks(html: ReadonlyMap<string, string>, files: ReadonlySet<string>, base: string): string[] {
  const anchors = new Map([...html].map(([path, text]) => [path, new Set(valuesOf(text, 'id'))]));
  return [...html].flatMap(([path, text]) =>
    [...new Set([...valuesOf(text, 'href'), ...valuesOf(text, 'src')])]
      .filter((link) => !isAlive(link, path))
      .map((link) => `${path}: ${link}`),
  );

  function isAlive(link: string, from: string): boolean {
    const { protocol, host, pathname, hash } = new URL(link, `http://site.invalid${base}${from}`);
    if (protocol !== 'http:' || host !== 'site.invalid') return true;
    if (!pathname.startsWith(base)) return false;
    const path = decodeURI(pathname.slice(base.length)).replace(/(^|\/)$/, '$1index.html');
    if (!files.has(path)) return false;
    return hash === '' || hash === '#_top' || anchors.get(path)?.has(decodeURIComponent(hash.slice(1))) !== false;
  }
}

function valuesOf(html: string, attribute: 'href' | 'src' | 'id'): string[] {
  return [...html.matchAll(new RegExp(`<[a-z][^>]*?\\s${attribute}=(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'g'))].map(
    ([, double, single, bare]) => (double ?? single ?? bare ?? '').replaceAll('&amp;', '&'),
  );
}
