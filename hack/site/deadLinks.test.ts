import assert from 'node:assert/strict';
import { deadLinks } from './deadLinks.ts';

const found = (body: string, base = '/v1/') =>
  deadLinks(
    new Map([
      ['index.html', body],
      ['a/index.html', '<h2 id="here">Here</h2>'],
    ]),
    new Set(['index.html', 'a/index.html', 'logo.svg']),
    base,
  );

describe('dead links of a site', () => {
  it('are none, if pages, files and anchors exist', () => {
    const links = [
      '/v1/',
      '/v1/a/#here',
      'a/',
      '/v1/a/#_top',
      '/v1/logo.svg',
      'https://w.example/',
      'mailto:a@b.example',
    ];
    assert.deepEqual(found(links.map((link) => `<a class="x" href="${link}">`).join('')), []);
  });

  for (const link of ['/v1/b/', '/v1/a/#there', '/a/', '#nowhere'])
    it(`are found: ${link}`, () => assert.deepEqual(found(`<a href="${link}">`), [`index.html: ${link}`]));

  it('are found in images, and named once', () => {
    assert.deepEqual(found('<img src=/v1/no.svg><img src="/v1/no.svg">'), ['index.html: /v1/no.svg']);
  });
});
