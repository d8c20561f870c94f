import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineMetrics } from '../../controllers/runtime/metrics.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { machinesPool } from '../../controllers/windowspool/testing/machineScenes.ts';
import { MachineCaches } from './machineCaches.ts';
import { silent } from './testing/deniableServer.ts';
import { MachinesServer } from './testing/machinesServer.ts';

const machine = (name: string, owner: string, node = name) => ({
  name,
  owner,
  spec: { providerID: `sim://${name}` },
  status: { nodeRef: { name: node } },
});

/** A pool of MachineSet `set` in a namespace. */
function poolOf(set: string, namespace = 'a', apiVersion: 'v1beta1' | 'v1beta2' = 'v1beta2'): WindowsPool {
  const ref = { apiVersion: `cluster.x-k8s.io/${apiVersion}`, kind: 'MachineSet', namespace, name: set } as const;
  return machinesPool({ machines: { ref } });
}

describe('the caches of Machines', () => {
  let caches: MachineCaches;
  let server: MachinesServer;
  let changed: string[];
  beforeEach(() => {
    server = new MachinesServer({
      machinesets: [{ name: 'web' }, { name: 'db' }],
      machines: [machine('web-1', 'web'), machine('web-2', 'web'), machine('db-1', 'db')],
    });
    changed = [];
    const metrics = { reflector: () => ({}) } as unknown as EngineMetrics;
    caches = new MachineCaches(server.client, silent, metrics, (name) => changed.push(name));
  });
  afterEach(() => caches.stop());

  async function until(what: string, isTrue: () => boolean): Promise<void> {
    for (let turn = 0; turn < 500 && !isTrue(); turn++) await sleep(10);
    assert.ok(isTrue(), what);
  }
  const isSeen = (pool: string) => caches.of(pool).kind === 'seen';

  it('have the nodes of the Machines of each pool', async () => {
    caches.follow('web', poolOf('web'));
    assert.equal(caches.nodesOf('web'), undefined);
    await until('the Machines to be seen', () => isSeen('web'));
    assert.deepEqual(
      [...(caches.nodesOf('web') ?? [])],
      ['web-1', 'web-2'].map((name) => [name, new Set([`sim://${name}`])]),
    );
    assert.equal(caches.nodesOf('web'), caches.nodesOf('web'));
  });

  it('trigger only the pool whose object has a Machine that changes, and none for each Machine of the first list', async () => {
    caches.follow('web', poolOf('web'));
    caches.follow('db', poolOf('db'));
    await until('the Machines to be seen', () => isSeen('web') && isSeen('db'));
    await sleep(20);
    assert.ok(changed.filter((name) => name === 'db').length <= 5, `${changed}`);
    changed.splice(0);
    server.change('machines', machine('web-1', 'web', 'other'));
    server.change('machinesets', { name: 'web', spec: { replicas: 5 } });
    await until('two changes', () => changed.length >= 2);
    await sleep(20);
    assert.deepEqual(changed.splice(0), ['web', 'web']);
    server.change('machines', machine('web-1', 'db'));
    await until('the change of the owner', () => changed.length >= 2);
    assert.deepEqual(changed.sort(), ['db', 'web']);
  });

  it('are those of the oldest pools, in whichever order the pools are known', async () => {
    const created = (pool: WindowsPool, creationTimestamp: string) => ({
      ...pool,
      metadata: { ...pool.metadata, creationTimestamp },
    });
    for (const namespace of ['b', 'c', 'd', 'e'])
      caches.follow(namespace, created(poolOf('web', namespace), '2026-03-02T00:00:00Z'));
    await until('four namespaces', () => isSeen('e'));
    changed.splice(0);
    caches.follow('z', created(poolOf('web', 'z'), '2026-03-01T00:00:00Z'));
    await until('the oldest pool', () => isSeen('z'));
    assert.deepEqual([caches.of('e').kind, caches.nodesOf('e')], ['unknown', undefined]);
    assert.ok(changed.includes('e'), `${changed}`);
  });

  it('have no nodes of an object that the operator should create, but another owner has', async () => {
    const metadata = { namespace: 'a', name: 'web' };
    const template = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'MachineSet', metadata, spec: {} } as const;
    caches.follow('web', machinesPool({ machines: { template } }));
    await until('the object to be seen', () => isSeen('web'));
    assert.equal(caches.nodesOf('web')?.size, 0);
    caches.follow('web', poolOf('web'));
    assert.equal(caches.nodesOf('web')?.size, 2);
  });

  it('follow a pool that was created again for another object of the same namespace', async () => {
    caches.follow('web', poolOf('web'));
    await until('the Machines to be seen', () => isSeen('web'));
    caches.follow('web', poolOf('db'));
    assert.deepEqual([...(caches.nodesOf('web') ?? [])], [['db-1', new Set(['sim://db-1'])]]);
  });

  it('keep their watch when a pool changes the version while another pool waits', async () => {
    for (const namespace of ['a', 'b', 'c', 'd', 'e']) caches.follow(namespace, poolOf('web', namespace));
    await until('four namespaces', () => isSeen('d'));
    const waiting = caches.of('e');
    assert.match(waiting.kind === 'unknown' ? (waiting.error?.message ?? '') : '', /more than 4 namespaces/);
    caches.follow('a', poolOf('web', 'a', 'v1beta1'));
    await until('the other version', () => isSeen('a'));
    assert.equal(caches.of('e').kind, 'unknown');
    caches.follow('a', undefined);
    await until('the pool that waited', () => isSeen('e'));
    assert.deepEqual(
      server.watched,
      ['b', 'c', 'd', 'e'].flatMap((namespace) =>
        ['machinedeployments', 'machinehealthchecks', 'machinepools', 'machines', 'machinesets'].map(
          (resource) => `cluster.x-k8s.io/v1beta2/namespaces/${namespace}/${resource}`,
        ),
      ),
    );
  });
});
