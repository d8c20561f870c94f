import assert from 'node:assert/strict';
import type { StoreView } from '../runtime/ports.ts';
import type { NodeRecord } from '../windowspool/ports/nodes.ts';
import { createNodes } from './nodes.ts';
import { json, loopback } from './testing/loopbackServer.ts';

const { signal } = new AbortController();
const store = {} as StoreView<NodeRecord>;
const object = (name: string) => ({ metadata: { name, uid: `u-${name}`, resourceVersion: '7' } });

/** A server without protobuf, which rejects the first request. */
const PAGES: readonly (readonly [number, object])[] = [
  [406, { message: 'only the following media types are accepted: application/json' }],
  [200, { metadata: { resourceVersion: '9', continue: 'more' }, items: [object('a'), object('b')] }],
  [200, { metadata: { resourceVersion: '9' }, items: [object('c')] }],
];

describe('the nodes of a group that are read without a cache', () => {
  it('are those of all pages of the most recent version', async () => {
    const pages = [...PAGES];
    await using server = await loopback((_request, response) => json(response, ...(pages.shift() ?? [500, {}])));
    const found = await createNodes(server.client, store).ofGroup('web', signal);
    assert.deepEqual(found.ok && found.value.map(({ name }) => name), ['a', 'b', 'c']);
    const query = { labelSelector: 'eks.amazonaws.com/nodegroup=web', limit: '500' };
    assert.deepEqual(
      server.requests.slice(1).map((seen) => seen.query),
      [query, { ...query, continue: 'more' }],
    );
  });

  it('are listed by the label of their pool if it has no group', async () => {
    const pages = [...PAGES.slice(0, 1), ...PAGES.slice(2)];
    await using server = await loopback((_request, response) => json(response, ...(pages.shift() ?? [500, {}])));
    const found = await createNodes(server.client, store).ofPool('web', signal);
    assert.deepEqual(found.ok && found.value.map(({ name }) => name), ['c']);
    assert.equal(server.requests.at(-1)?.query.labelSelector, 'winpool.dev/pool=web,kubernetes.io/os=windows');
  });

  it('are an error if one page cannot be read', async () => {
    const pages = PAGES.slice(0, 2);
    await using server = await loopback((_request, response) => json(response, ...(pages.shift() ?? [503, {}])));
    const found = await createNodes(server.client, store).ofGroup('web', signal);
    assert.equal(!found.ok && found.error.kind, 'unavailable');
  });
});
