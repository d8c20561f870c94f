import assert from 'node:assert/strict';
import { nodeName } from '../../controllers/kubernetes/testing/nodes.ts';
import { nodeObject } from './nodeObject.ts';

describe('a node of the benchmarks', () => {
  const node = nodeObject(4711, 'windows-1') as { metadata: { labels: object }; status: { images: readonly object[] } };

  it('is as large as a real one without the managed fields that the API server adds', () => {
    const bytes = JSON.stringify(node).length;
    assert.ok(bytes > 14_500 && bytes < 17_000, `it has ${bytes} bytes`);
    assert.equal(node.status.images.length, 30);
    assert.ok(Object.keys(node.metadata.labels).length >= 20);
  });

  it('has a unique name', () => {
    const names = new Set(Array.from({ length: 70_000 }, (_, index) => nodeName(index)));
    assert.equal(names.size, 70_000);
  });
});
