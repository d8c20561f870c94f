import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { realClock } from '../../controllers/runtime/clock.ts';
import { NodePodCache } from './nodePodCache.ts';
import { DeniableServer, silent } from './testing/deniableServer.ts';

const pod = {
  metadata: {
    name: 'image-pull-a-1',
    uid: 'u-1',
    labels: { 'winpool.dev/pool': 'web' },
    ownerReferences: [{ kind: 'Node', name: 'ip-1', uid: 'n-1' }],
  },
};

describe('the cache of the operator’s pods on nodes', () => {
  /** A cache that runs, and what it has said about the pods of the pool web when it changed. */
  function running(server: DeniableServer) {
    const heard: string[] = [];
    const common = { name: 'pods', clock: realClock, log: silent };
    const cache: NodePodCache = new NodePodCache(server.client, 'ops', common, () => heard.push(stateOf(cache)));
    const ending = new AbortController();
    const ended = cache.run(ending.signal);
    const end = async () => {
      ending.abort();
      await ended;
    };
    return { cache, heard, [Symbol.asyncDispose]: end };
  }
  function stateOf(cache: NodePodCache): string {
    const view = cache.of('web');
    return view.kind === 'seen' ? view.pods.map(({ name }) => name).join() : `unknown ${view.error?.kind}`;
  }
  async function becomes(heard: readonly string[], state: string): Promise<void> {
    for (let turn = 0; turn < 1_000 && heard.at(-1) !== state; turn++) await sleep(10);
    assert.equal(heard.at(-1), state);
  }

  it('has the pods of a pool, and those on a node', async () => {
    await using open = running(new DeniableServer(pod));
    assert.equal(stateOf(open.cache), 'unknown undefined');
    await open.cache.synced;
    assert.equal(stateOf(open.cache), 'image-pull-a-1');
    const names = [
      ['web', 'n-1'],
      ['web', 'n-2'],
      ['db', 'n-1'],
    ].map(([pool = '', node = '']) => open.cache.on(pool, node).length);
    assert.deepEqual([open.cache.of('db'), names], [{ kind: 'seen', pods: [] }, [1, 0, 0]]);
  });

  it('does not delay the start of the operator without the permission to list them, and tells when it has it', async () => {
    const server = new DeniableServer(pod);
    server.denies = true;
    await using open = running(server);
    await open.cache.synced;
    assert.deepEqual(open.heard, ['unknown denied']);
    server.denies = false;
    await becomes(open.heard, 'image-pull-a-1');
    server.denies = true;
    await becomes(open.heard, 'unknown denied');
    server.denies = false;
    await becomes(open.heard, 'image-pull-a-1');
  });
});
