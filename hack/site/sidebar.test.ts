import assert from 'node:assert/strict';
import { sidebarOf } from './sidebar.ts';

describe('the sidebar', () => {
  it('has the parts in their order, first the listed pages, then the others by name', () => {
    const paths = [
      'index',
      'reference/api',
      'how-to/zebra',
      'how-to/ape',
      'how-to/scale',
      'how-to/from/ack',
      'operate/runbooks/A',
    ];
    assert.deepEqual(sidebarOf(paths.map((path) => `docs/${path}.md`)), [
      { label: 'How-to guides', items: ['how-to/scale', 'how-to/ape', 'how-to/zebra'] },
      { label: 'Move from', items: ['how-to/from/ack'] },
      { label: 'Reference', items: ['reference/api'] },
      { label: 'Runbooks', items: ['operate/runbooks/a'], collapsed: true },
    ]);
  });

  it('has a place for each page', () => {
    assert.throws(() => sidebarOf(['docs/news/today.md']), /In no part of the sidebar: news\/today/);
  });
});
