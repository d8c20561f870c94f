import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { assertNames } from '../../test/messages.ts';
import { type KubernetesClient, LARGEST_OBJECT, LARGEST_PAGE } from './client.ts';
import { jsonDecoder, LARGEST_EVENT } from './decoder.ts';
import { createDrains } from './drains.ts';
import { createEvictions } from './evictions.ts';
import { KubernetesError } from './kubernetesError.ts';
import { createListWatch } from './listWatch.ts';
import { LARGEST_LIST_PAGE } from './pages.ts';
import { type Handler, json, type Loopback, loopback } from './testing/loopbackServer.ts';

const { signal } = new AbortController();
const MEBIBYTE = 1024 ** 2;

/** Sends spaces around JSON, which are valid, until there are `bytes` or the client leaves. Resolves to the number of bytes that it took. */
async function flood(response: ServerResponse, bytes: number): Promise<number> {
  const piece = Buffer.alloc(64 * 1024, ' ');
  let sent = 0;
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  while (sent < bytes && !response.destroyed) {
    sent += piece.length;
    if (!response.write(piece)) await Promise.race([closed, new Promise((resolve) => response.once('drain', resolve))]);
  }
  response.end('{}');
  return sent;
}

describe('the body of a response', () => {
  const reading: readonly (readonly [string, number, (client: KubernetesClient) => Promise<unknown>])[] = [
    ['one object', LARGEST_OBJECT, (client) => client.request('GET', '/api/v1/nodes/a', { signal })],
    ['a page', LARGEST_PAGE, (client) => client.request('GET', '/api/v1/pods', { signal, maxBytes: LARGEST_PAGE })],
    [
      'a whole collection',
      3 * MEBIBYTE,
      (client) => {
        const decoder = jsonDecoder((object: object) => object);
        const source = createListWatch({ client, path: '/api/v1/nodes', decoder, maxListBytes: 3 * MEBIBYTE });
        return source.list({ resourceVersion: '5' }, signal);
      },
    ],
    [
      'one object of a collection',
      LARGEST_EVENT,
      (client) => {
        const decoder = jsonDecoder((object: object) => object);
        const source = createListWatch({ client, path: '/api/v1/nodes', decoder });
        return source.list({ resourceVersion: '', limit: 1 }, signal);
      },
    ],
  ];
  for (const [what, most, read] of reading)
    it(`of ${what} is an error beyond its limit, and the rest is not read`, async () => {
      const taken = Promise.withResolvers<number>();
      await using server = await loopback(async (_, response) => taken.resolve(await flood(response, 10 * most)));
      await assert.rejects(read(server.client), (error) => {
        assert.ok(error instanceof KubernetesError);
        assert.equal(error.reason, 'MalformedAnswer');
        assert.match(error.message, new RegExp(`: a response of more than ${most / MEBIBYTE} MiB \\(GET /api/v1/`));
        return true;
      });
      assert.ok((await taken.promise) < 5 * most);
    });

  it('can have exactly its limit', async () => {
    await using server = await loopback(
      (_, response) => void response.end(Buffer.concat([Buffer.from('{}'), Buffer.alloc(LARGEST_OBJECT - 2, ' ')])),
    );
    assert.deepEqual(await server.client.request('GET', '/x', { signal }), {});
  });
});

describe('lists of pods and PodDisruptionBudgets', () => {
  const metadata = { namespace: 'shop', name: 'cart-0', uid: 'u', creationTimestamp: '2026-03-01T12:00:00Z' };
  const pod = (index: number) => ({ metadata: { ...metadata, name: `cart-${index}`, labels: { app: 'cart' } } });
  const budget = (name: string, app: string) => ({
    metadata: { namespace: 'shop', name },
    spec: { selector: { matchLabels: { app } } },
    status: { disruptionsAllowed: 0 },
  });

  /** Serves these collections in pages of `limit`; the token is the index of the next object. `null` never ends. */
  const paging =
    (collections: Readonly<Record<string, readonly object[] | null>>): Handler =>
    ({ path, query }, response) => {
      const [from, limit] = [Number(query.continue ?? 0), Number(query.limit)];
      const all = collections[path.split('/').at(-1) ?? ''];
      const items = all?.slice(from, from + limit) ?? [];
      const isMore = all === null || from + limit < (all?.length ?? 0);
      json(response, 200, { metadata: isMore ? { continue: String(from + limit) } : {}, items });
    };
  const asked = ({ requests }: Loopback) =>
    requests.map(({ path, query }) => `${path.split('/').at(-1)} ${query.limit} ${query.continue ?? ''}`.trim());

  it('are read page by page: the pods of a node', async () => {
    const pods = Array.from({ length: 250 }, (_, index) => pod(index));
    await using server = await loopback(paging({ pods }));
    const answer = await createDrains(server.client).podsOn('ip-1', signal);
    assert.deepEqual(
      answer.ok && answer.value.map(({ name }) => name),
      pods.map((one) => one.metadata.name),
    );
    assert.deepEqual(asked(server), ['pods 100', 'pods 100 100', 'pods 100 200']);
    assert.ok(server.requests.every(({ query }) => query.fieldSelector === 'spec.nodeName=ip-1'));
  });

  it('are read page by page: the budgets of a cluster', async () => {
    const others = Array.from({ length: 1_100 }, (_, index) => budget(`other-${index}`, `other-${index}`));
    await using server = await loopback(
      paging({ pods: [pod(0)], poddisruptionbudgets: [...others, budget('cart', 'cart')] }),
    );
    const answer = await createEvictions(server.client).stuckOn(['ip-1'], signal);
    assert.deepEqual(answer, { ok: true, value: [{ namespace: 'shop', name: 'cart-0', budgets: ['cart'] }] });
    const budgets = ['500', '500 500', '500 1000'].map((page) => `poddisruptionbudgets ${page}`);
    assert.deepEqual(asked(server), ['pods 100', ...budgets]);
  });

  it('are read in smaller pages if their objects are large', async () => {
    const fat = 'x'.repeat(LARGEST_LIST_PAGE / 30);
    const pods = Array.from({ length: 45 }, (_, index) => ({ ...pod(index), spec: { containers: [{ image: fat }] } }));
    await using server = await loopback(paging({ pods }));
    const answer = await createDrains(server.client).podsOn('ip-1', signal);
    assert.deepEqual(
      answer.ok && answer.value.map(({ name }) => name),
      pods.map((one) => one.metadata.name),
    );
    assert.deepEqual(asked(server), ['pods 100', ...['', ' 10', ' 20', ' 30', ' 40'].map((from) => `pods 10${from}`)]);
  });

  it('are an error if one object is larger than a page', async () => {
    const pods = [{ ...pod(0), spec: { containers: [{ image: 'x'.repeat(LARGEST_LIST_PAGE) }] } }];
    await using server = await loopback(paging({ pods }));
    const answer = await createDrains(server.client).podsOn('ip-1', signal);
    assert.deepEqual(
      [answer.ok || answer.error.code, asked(server)],
      ['MalformedAnswer', ['pods 100', 'pods 10', 'pods 1']],
    );
  });

  it('are read one page at a time, also those of several nodes, because each page may be large', async () => {
    const pods = Array.from({ length: 150 }, (_, index) => pod(index));
    let [current, most] = [0, 0];
    await using server = await loopback((request, response) => {
      current += 1;
      most = Math.max(most, current);
      setImmediate(() => {
        current -= 1;
        void paging({ pods, poddisruptionbudgets: [] })(request, response);
      });
    });
    const nodes = ['ip-1', 'ip-2', 'ip-3'];
    const drains = createDrains(server.client);
    const lists = nodes.map((node) => drains.podsOn(node, signal));
    const [stuck, ...answers] = await Promise.all([createEvictions(server.client).stuckOn(nodes, signal), ...lists]);
    assert.deepEqual(stuck, { ok: true, value: [] });
    assert.deepEqual(
      answers.map((answer) => answer.ok && answer.value.length),
      [150, 150, 150],
    );
    assert.deepEqual([server.requests.length, most], [13, 1]);
  });

  it('are read after one that failed', async () => {
    let isBroken = true;
    await using server = await loopback((request, response) => {
      if (isBroken) return void response.destroy();
      return paging({ pods: [pod(0)] })(request, response);
    });
    const { podsOn } = createDrains(server.client);
    assert.equal((await podsOn('ip-1', signal)).ok, false);
    isBroken = false;
    assert.equal((await podsOn('ip-1', signal)).ok, true);
  });

  const endless: readonly (readonly [string, (client: KubernetesClient) => Promise<object>, string, number])[] = [
    ['pods of a node', (client) => createDrains(client).podsOn('ip-1', signal), '/api/v1/pods', 5_000],
    [
      'budgets of a cluster',
      (client) => createEvictions(client).stuckOn(['ip-1'], signal),
      '/apis/policy/v1/poddisruptionbudgets',
      100_000,
    ],
  ];
  for (const [what, read, path, most] of endless)
    it(`are an error if they are endless, not a shorter list: ${what}`, async () => {
      const isPods = path === '/api/v1/pods';
      await using server = await loopback(paging({ pods: isPods ? null : [pod(0)], poddisruptionbudgets: null }));
      const operation = `list ${path.split('/').at(-1)}`;
      const answer = await read(server.client);
      const error = { kind: 'unavailable', operation, code: 'MalformedAnswer' };
      assert.partialDeepStrictEqual(answer, { ok: false, error });
      assertNames(JSON.stringify(answer), `more than ${most} objects`, `GET ${path}`);
    });

  it('are unavailable, and not gone, if they expire between two pages', async () => {
    await using server = await loopback(({ query }, response) =>
      query.continue === undefined
        ? json(response, 200, { metadata: { continue: 'next' }, items: [pod(0)] })
        : json(response, 410, { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }),
    );
    const error = { kind: 'unavailable', operation: 'list pods', code: 'Expired', message: 'too old' };
    assert.deepEqual(await createDrains(server.client).podsOn('ip-1', signal), { ok: false, error });
  });
});
