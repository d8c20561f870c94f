import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesClient } from '../../controllers/kubernetes/client.ts';
import { KubernetesError } from '../../controllers/kubernetes/kubernetesError.ts';
import { createNodes } from '../../controllers/kubernetes/nodes.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import { NodeCache } from './nodeCache.ts';
import { silent } from './testing/deniableServer.ts';

/** A server with one node, which only speaks JSON. */
class OneNode {
  readonly log = silent;
  version = 7;
  /** The watches that have begun. */
  watches = 0;

  get client(): KubernetesClient {
    return this as unknown as KubernetesClient;
  }

  get object() {
    const metadata = { name: 'ip-1', uid: 'n-1', labels: { 'kubernetes.io/os': 'windows' } };
    return {
      metadata: { ...metadata, resourceVersion: String(this.version) },
      status: { images: [{ names: ['a:1'] }] },
    };
  }

  async request(): Promise<unknown> {
    return this.object;
  }

  async *stream(_path: string, { accept, signal }: { accept: string; signal: AbortSignal }): AsyncGenerator<Buffer> {
    if (!accept.includes('json')) throw new KubernetesError('only JSON', { status: 406, reason: 'NotAcceptable' });
    this.watches++;
    const metadata = { resourceVersion: '7', annotations: { 'k8s.io/initial-events-end': 'true' } };
    yield line({ type: 'ADDED', object: this.object });
    yield line({ type: 'BOOKMARK', object: { metadata } });
    for (let sent = this.version; !signal.aborted; await sleep(5)) {
      if (sent !== this.version) yield line({ type: 'MODIFIED', object: this.object });
      sent = this.version;
    }
  }
}

const line = (event: object) => Buffer.from(`${JSON.stringify(event)}\n`);
describe('the cache of nodes', () => {
  /** A cache that runs, and the images of the node at each change. */
  function running(poolsKnown?: Promise<void>) {
    const server = new OneNode();
    const cache = new NodeCache(server.client, { name: 'nodes', clock: realClock, log: silent });
    const heard: (readonly string[] | undefined)[] = [];
    cache.store.subscribe(({ after }) => heard.push(after?.images));
    const ending = new AbortController();
    const ended = cache.run(ending.signal, poolsKnown);
    const end = async () => {
      ending.abort();
      await ended;
    };
    return { cache, heard, server, [Symbol.asyncDispose]: end };
  }
  async function until(isTrue: () => boolean): Promise<void> {
    for (let turn = 0; turn < 1_000 && !isTrue(); turn++) await sleep(5);
    assert.ok(isTrue());
  }

  it('reads the images of known nodes when the first pool needs them, and lists the nodes no more for later ones', async () => {
    await using open = running();
    const { cache, heard, server } = open;
    await cache.store.synced;
    assert.deepEqual([cache.readsImages, heard], [false, [undefined]]);
    cache.needImages();
    assert.equal(cache.store.get('ip-1')?.images, undefined, 'unknown until they are read');
    await until(() => heard.length === 2);
    assert.deepEqual([cache.readsImages, heard], [true, [undefined, ['a:1']]]);
    const lists = server.watches;
    cache.needImages();
    await sleep(30);
    assert.equal(server.watches, lists);
  });

  it('lists the nodes once at its start: when the pools are known', async () => {
    const pools = Promise.withResolvers<void>();
    await using open = running(pools.promise);
    await sleep(30);
    assert.equal(open.server.watches, 0);
    open.cache.needImages();
    pools.resolve();
    await open.cache.store.synced;
    assert.deepEqual([open.heard, open.server.watches], [[['a:1']], 1]);
  });

  it('can be stopped before the pools are known', async () => {
    await using open = running(new Promise(() => undefined));
    assert.equal(open.cache.store.size, 0);
  });

  it('has the images of a node that the operator writes only if it reads them', async () => {
    for (const [needs, images] of [
      [false, undefined],
      [true, ['a:1']],
    ] as const) {
      const server = new OneNode();
      const cache = new NodeCache(server.client, { name: 'nodes', clock: realClock, log: silent });
      if (needs) cache.needImages();
      cache.store.replace([], '1', { newest: true });
      const nodes = createNodes(server.client, cache.store, () => cache.readsImages);
      const read = await nodes.read('ip-1', new AbortController().signal);
      assert.ok(read.ok && read.value);
      await nodes.setLabel(read.value, 'a', 'b', new AbortController().signal);
      assert.deepEqual([read.value.images, cache.store.get('ip-1')?.images], [['a:1'], images]);
    }
  });
});
