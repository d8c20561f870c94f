import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineMetrics } from '../../controllers/runtime/metrics.ts';
import { existingPool } from '../../controllers/windowspool/testing/fixtures.ts';
import { karpenterPool, NODE_CLASS } from '../../controllers/windowspool/testing/karpenterScenes.ts';
import { KarpenterCaches } from './karpenterCaches.ts';
import { DeniableServer, silent } from './testing/deniableServer.ts';
import { MachinesServer } from './testing/machinesServer.ts';

const nodePool = (name: string, pool = name) => ({
  name,
  labels: { 'winpool.dev/pool': pool, 'app.kubernetes.io/managed-by': 'windowspool-operator' },
});
const claim = (name: string, owner: string, nodeName = name) => ({
  name,
  owner,
  ownerKind: 'NodePool' as const,
  status: { nodeName, providerID: `kwok://${name}` },
});

describe('the caches of Karpenter', () => {
  let caches: KarpenterCaches;
  let server: MachinesServer;
  let changed: string[];
  beforeEach(() => {
    server = new MachinesServer({
      nodepools: [nodePool('web'), nodePool('db'), { name: 'theirs' }],
      ec2nodeclasses: [{ name: 'db' }],
      nodeclaims: [claim('web-1', 'web'), claim('web-2', 'web'), claim('db-1', 'db'), claim('theirs-1', 'theirs')],
    });
    changed = [];
    caches = cachesOf(server);
  });
  afterEach(() => caches.stop());

  function cachesOf({ client }: Pick<MachinesServer, 'client'>): KarpenterCaches {
    const metrics = { reflector: () => ({}) } as unknown as EngineMetrics;
    return new KarpenterCaches(client, silent, metrics, (name) => changed.push(name));
  }

  async function until(what: string, isTrue: () => boolean): Promise<void> {
    for (let turn = 0; turn < 500 && !isTrue(); turn++) await sleep(10);
    assert.ok(isTrue(), what);
  }
  const nodePoolIn = (pool: string) => {
    const view = caches.of(pool);
    return view.kind === 'seen' ? view.nodePool : view;
  };
  const isSeen = (pool: string) => caches.of(pool).kind === 'seen';

  it('watch nothing without a pool of Karpenter, and stop with the last one', async () => {
    caches.follow('other', existingPool());
    assert.deepEqual([server.watched, caches.of('other')], [[], { kind: 'unknown' }]);
    caches.follow('web', karpenterPool());
    await until('two watches', () => server.watched.length === 2);
    caches.follow('web', undefined);
    await until('no watch', () => server.watched.length === 0);
  });

  it('have the nodes of the NodeClaims of each pool, and none of a NodePool of another owner', async () => {
    for (const name of ['web', 'theirs', 'new']) caches.follow(name, karpenterPool());
    assert.equal(caches.nodesOf('web'), undefined);
    await until('the NodeClaims to be seen', () => isSeen('web'));
    assert.deepEqual(
      [...(caches.nodesOf('web') ?? [])],
      ['web-1', 'web-2'].map((name) => [name, new Set([`kwok://${name}`])]),
    );
    assert.equal(caches.nodesOf('web'), caches.nodesOf('web'));
    assert.deepEqual(
      [caches.nodesOf('theirs')?.size, nodePoolIn('new'), caches.nodesOf('new')?.size],
      [0, undefined, 0],
    );
  });

  it('watch node classes only while a pool has one: without the provider for AWS, no API server serves them', async () => {
    caches.follow('web', karpenterPool());
    await until('two watches', () => server.watched.length === 2);
    caches.follow('db', karpenterPool({ karpenter: NODE_CLASS }));
    await until('three watches', () => server.watched.length === 3);
    await until('the NodeClaims to be seen', () => isSeen('db'));
    const view = caches.of('db');
    assert.equal(view.kind === 'seen' && view.nodeClass?.name, 'db');
    changed.splice(0);
    server.change('ec2nodeclasses', { name: 'db', spec: { role: 'another' } });
    await until('a change', () => changed.length > 0);
    assert.deepEqual(new Set(changed), new Set(['db']));
  });

  it('trigger only the pool whose NodePool or NodeClaim changes', async () => {
    for (const name of ['web', 'db']) caches.follow(name, karpenterPool());
    await until('the NodeClaims to be seen', () => isSeen('web') && isSeen('db'));
    await sleep(20);
    for (const [resource, object] of [
      ['nodeclaims', claim('db-1', 'db', 'another')],
      ['nodepools', { ...nodePool('db'), spec: { weight: 1 } }],
    ] as const) {
      changed.splice(0);
      server.change(resource, object);
      await until('a change', () => changed.length > 0);
      assert.deepEqual(new Set(changed), new Set(['db']), resource);
    }
  });

  it('say why nothing is known', async () => {
    caches.stop();
    const denied = new DeniableServer({ metadata: { name: 'web' } });
    denied.denies = true;
    caches = cachesOf(denied);
    caches.follow('web', karpenterPool());
    await until('the error', () => {
      const view = caches.of('web');
      return view.kind === 'unknown' && view.error?.kind === 'denied';
    });
    assert.ok(changed.includes('web'));
  });
});
