import assert from 'node:assert/strict';
import { routeOf, sitePage } from './sitePage.ts';

const LINKS = {
  base: '/v1/',
  repository: 'https://git.example/repo',
  ref: 'main',
  isFolder: (path: string) => path === 'config',
};
const page = (...lines: string[]) => sitePage('docs/how-to/scale.md', lines.join('\n'), LINKS);

describe('a page of the site', () => {
  it('has a route without docs and .md, in lower case', () => {
    assert.deepEqual(
      ['docs/index.md', 'docs/operate/runbooks/PoolStuck.md', 'docs/how-to/from/index.md'].map(routeOf),
      ['', 'operate/runbooks/poolstuck', 'how-to/from'],
    );
  });

  it('has its first heading as title, and its first sentence as description', () => {
    const text = page(
      '<!-- Generated. -->',
      '# Scale `web`',
      '',
      '```sh',
      'make',
      '```',
      '',
      'Set the [size](a.md) of a',
      '*pool*: 1.5. More.',
    );
    assert.match(
      text,
      /^---\ntitle: "Scale web"\ndescription: "Set the size of a pool: 1.5."\neditUrl: false\n---\n\n```sh/,
    );
    assert.doesNotMatch(text, /# Scale|Generated/);
  });

  it('must have a title', () => {
    assert.throws(() => page('## Size'), /docs\/how-to\/scale\.md has no title/);
  });

  it('links to routes of the site and to files of the repository', () => {
    const text = page(
      '# A',
      '',
      '[b](../reference/B.md#c) [i](../index.md) [f](../../config/) [g](../../go.mod#L1)',
      '[h](#h) [w](https://w.example/x.md)',
      '',
      '[r]: from/x.md',
    );
    assert.match(
      text,
      /\[b\]\(\/v1\/reference\/b\/#c\) \[i\]\(\/v1\/\) \[f\]\(https:\/\/git\.example\/repo\/tree\/main\/config\)/,
    );
    assert.match(
      text,
      /\[g\]\(https:\/\/git\.example\/repo\/blob\/main\/go\.mod#L1\)\n\[h\]\(#h\) \[w\]\(https:\/\/w\.example\/x\.md\)/,
    );
    assert.match(text, /\n\[r\]: \/v1\/how-to\/from\/x\/$/);
  });

  it('keeps what looks like a link in code', () => {
    const code = ['```sh', '[a](b.md)', '```', '', '`[a](b.md)`'];
    assert.ok(page('# A', '', ...code).endsWith(code.join('\n')));
  });

  it('has diagrams as escaped HTML', () => {
    assert.match(page('# A', '', '```mermaid', 'a --> b', '```'), /\n<pre class="mermaid">\na --&gt; b\n<\/pre>$/);
  });
});
