import assert from 'node:assert/strict';
import { createKubernetesClient, type KubernetesClient } from '../../controllers/kubernetes/client.ts';
import { normalisePem } from '../../controllers/kubernetes/credentials.ts';
import { jsonDecoder } from '../../controllers/kubernetes/decoder.ts';
import { createEventSink } from '../../controllers/kubernetes/events.ts';
import { createLeaseClient } from '../../controllers/kubernetes/leases.ts';
import { createListWatch } from '../../controllers/kubernetes/listWatch.ts';
import { createNodes, nodeIdentity, nodeIndexes, nodeListWatch } from '../../controllers/kubernetes/nodes.ts';
import type { KubernetesObject } from '../../controllers/kubernetes/objects.ts';
import { createPools, poolIdentity, poolListWatch } from '../../controllers/kubernetes/pools.ts';
import {
  createRuntimeClasses,
  runtimeClassIdentity,
  runtimeClassListWatch,
} from '../../controllers/kubernetes/runtimeClasses.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import { StreamFailure } from '../../controllers/runtime/failure.ts';
import { LeaderElector, LeadershipLost } from '../../controllers/runtime/leaderElection.ts';
import type { Identity, LeaseClient, ListWatch } from '../../controllers/runtime/ports.ts';
import { Recorder } from '../../controllers/runtime/recorder.ts';
import { Reflector } from '../../controllers/runtime/reflector.ts';
import { silentLog } from '../../controllers/runtime/silentLog.ts';
import { Store } from '../../controllers/runtime/store.ts';
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import type { Answer } from '../../controllers/windowspool/ports/answer.ts';
import type { NodeRecord, Nodes, Taint, TaintEffect } from '../../controllers/windowspool/ports/nodes.ts';
import type { RuntimeClass, RuntimeClassWish } from '../../controllers/windowspool/ports/runtimeClasses.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import type { World } from '../../hack/world/world.ts';
import { poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';

describe('engine and adapter on a real API server', () => {
  let world: World;
  let client: KubernetesClient;
  const ending = new AbortController();
  const { signal } = ending;
  const running: Promise<void>[] = [];
  const requests: string[] = [];

  before(async function () {
    this.timeout(600_000);
    world = await theWorld();
    const kubeconfigPath = world.controlPlane.adminKubeconfig;
    const onRequest = (code: string, method: string): void => void requests.push(`${code} ${method}`);
    client = await createKubernetesClient({ kubeconfigPath, log: silentLog, version: 'test', onRequest });
  });

  after(async () => {
    ending.abort();
    await Promise.all(running);
    await client?.close();
  });

  function reflect<T>(name: string, source: ListWatch<T>, identity: Identity<T>, store: Store<T, string>): void {
    running.push(new Reflector({ name, source, identity, store, clock: realClock, log: silentLog }).run(signal));
  }

  const until = (what: string, probe: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<boolean> =>
    waitFor(probe, { what, timeoutMs, intervalMs: 20 });

  const good = <T>(answer: Answer<T>): T => {
    if (!answer.ok) throw new Error(`${answer.trouble.operation}: ${answer.trouble.message}`);
    return answer.value;
  };
  const troubleOf = (answer: Answer<unknown>): string => (answer.ok ? 'none' : answer.trouble.kind);

  it('knows the server by its version and its certificate authority', async () => {
    assert.match(await client.serverVersion(signal), /^v1\.\d+\.\d+/);
    const expected = Buffer.from(world.controlPlane.caData, 'base64').toString();
    assert.equal(await client.caData(), normalisePem(expected));
  });

  describe('a store of ConfigMaps', () => {
    type Mirror = { name: string; uid: string; version: string; value: string };
    const identity: Identity<Mirror> = {
      key: ({ name }) => name,
      uid: ({ uid }) => uid,
      resourceVersion: ({ version }) => version,
    };
    const path = '/api/v1/namespaces/default/configmaps';
    const mirrorOf = ({ metadata, data }: KubernetesObject & { data?: { value?: string } }): Mirror => ({
      name: metadata?.name ?? '',
      uid: metadata?.uid ?? '',
      version: metadata?.resourceVersion ?? '',
      value: data?.value ?? '',
    });
    const decoder = jsonDecoder(mirrorOf);
    const write = (name: string, value: string): Promise<unknown> =>
      client.request('PATCH', `${path}/${name}`, {
        query: { fieldManager: 'test', force: true },
        contentType: 'application/apply-patch+yaml',
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { mirror: 'yes' } }, data: { value } },
        signal,
      });
    const remove = (name: string): Promise<unknown> => client.request('DELETE', `${path}/${name}`, { signal });
    const sourceOf = (): ListWatch<Mirror> => createListWatch({ client, path, decoder, labelSelector: 'mirror=yes' });

    const equal = async (store: Store<Mirror>): Promise<boolean> => {
      const { items } = await sourceOf().list({ resourceVersion: '' }, signal);
      const byName = (a: Mirror, b: Mirror): number => (a.name < b.name ? -1 : 1);
      return JSON.stringify([...items].sort(byName)) === JSON.stringify([...store.list()].sort(byName));
    };

    /** A server without watch lists, as one that has the feature turned off. */
    const withoutWatchList = (source: ListWatch<Mirror>): ListWatch<Mirror> => ({
      list: (options, aborts) => source.list(options, aborts),
      watch: (options, aborts) => {
        if (options.sendInitialEvents) throw new StreamFailure('sendInitialEvents is forbidden', { status: 422 });
        return source.watch(options, aborts);
      },
    });

    for (const way of ['watch list', 'list']) {
      it(`is filled by a ${way}, and follows every change`, async () => {
        for (let index = 0; index < 20; index++) await write(`mirror-${index}`, 'first');
        const store = new Store<Mirror>({ identity, log: silentLog });
        reflect('configmaps', way === 'list' ? withoutWatchList(sourceOf()) : sourceOf(), identity, store);
        await until('the first sync', () => store.hasSynced);
        assert.equal(store.size, 20);
        await Promise.all([write('mirror-1', 'second'), remove('mirror-2'), write('mirror-new', 'first')]);
        await remove('mirror-3');
        await write('mirror-3', 'anew');
        await until('the same content', () => equal(store));
        await remove('mirror-new');
      });
    }

    it('goes on after the API server was restarted', async function () {
      this.timeout(120_000);
      const store = new Store<Mirror>({ identity, log: silentLog });
      reflect('configmaps', sourceOf(), identity, store);
      await until('the first sync', () => store.hasSynced);
      const version = store.version;
      await world.controlPlane.stopApiServer();
      await world.controlPlane.startApiServer();
      await write('mirror-4', 'after the restart');
      await remove('mirror-5');
      await until('the same content', () => equal(store), 60_000);
      assert.ok(BigInt(store.version) > BigInt(version));
      for (const { name } of store.list()) await remove(name);
      await until('an empty store', () => store.size === 0);
    });

    it('is told when a version is too old to be watched, or not there yet', async () => {
      const failures: (number | undefined)[] = [];
      const options = { sendInitialEvents: false, timeoutSeconds: 5 };
      for await (const events of sourceOf().watch({ ...options, resourceVersion: '1' }, signal)) {
        for (const event of events) if (event.type === 'ERROR') failures.push(event.failure.status);
      }
      assert.deepEqual(failures, [410]);
      await assert.rejects(sourceOf().list({ resourceVersion: '99999999999' }, signal), (error: StreamFailure) => {
        assert.deepEqual([error.status, error.causes], [504, ['ResourceVersionTooLarge']]);
        return true;
      });
    });
  });

  it('labels the very node that was seen, and no other of its name', async () => {
    const store = new Store({ identity: nodeIdentity, indexes: nodeIndexes, log: silentLog });
    reflect('nodes', nodeListWatch(client), nodeIdentity, store);
    await until('the first sync', () => store.hasSynced);
    const labels = { 'eks.amazonaws.com/nodegroup': 'adapter', 'kubernetes.io/os': 'windows' };
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'adapter-node', labels } };
    await client.request('POST', '/api/v1/nodes', { body, signal });
    await until('the node', () => store.byIndex('nodeGroup', 'adapter').length === 1);
    const nodes = createNodes(client, store);
    const [node] = store.byIndex('nodeGroup', 'adapter');
    assert.ok(node);
    good(await nodes.setLabel(node, 'example.com/a', 'b', signal));
    assert.equal(store.get('adapter-node')?.labels['example.com/a'], 'b', 'an own write is seen at once');
    const other = { ...node, uid: '00000000-0000-0000-0000-000000000000' };
    assert.equal(troubleOf(await nodes.setLabel(other, 'example.com/a', 'c', signal)), 'conflict');
    assert.equal(
      troubleOf(await nodes.setLabel({ ...node, name: 'no-such-node' }, 'example.com/a', 'c', signal)),
      'gone',
    );
    assert.equal(troubleOf(await nodes.setLabel(node, 'not/a/label', 'c', signal)), 'refused');
    await changeTaints(nodes, () => store.get('adapter-node'));
    await changeCondition(nodes, () => store.get('adapter-node'));
    await client.request('DELETE', '/api/v1/nodes/adapter-node', { signal });
    await until('the end of the node', () => store.byIndex('nodeGroup', 'adapter').length === 0);
  });

  async function changeCondition(nodes: Nodes, seen: () => NodeRecord | undefined): Promise<void> {
    const now = () => seen() ?? assert.fail('the node is gone');
    const conditions = async () => {
      const path = '/api/v1/nodes/adapter-node';
      const node = await client.request<{ status: { conditions?: { type: string; lastTransitionTime: string }[] } }>(
        'GET',
        path,
        { signal },
      );
      return node.status.conditions ?? [];
    };
    const since = async () =>
      (await conditions()).find(({ type }) => type === 'winpool.dev/Verified')?.lastTransitionTime;
    const told = (status: 'True' | 'False', message: string) => ({ status, reason: 'Because', message });
    const [noon, one, two] = ['12', '13', '14'].map((hour) => Date.parse(`2026-03-01T${hour}:00:00Z`));
    const first = now();
    good(await nodes.setVerified(first, told('False', 'a'), noon ?? 0, signal));
    assert.deepEqual([now().verified, await since()], [told('False', 'a'), '2026-03-01T12:00:00Z']);
    good(await nodes.setVerified(now(), told('False', 'b'), one ?? 0, signal));
    assert.deepEqual([now().verified, await since()], [told('False', 'b'), '2026-03-01T12:00:00Z']);
    good(await nodes.setVerified(now(), told('True', 'b'), two ?? 0, signal));
    assert.deepEqual([now().verified, await since()], [told('True', 'b'), '2026-03-01T14:00:00Z']);
    const other = { ...now(), uid: '00000000-0000-0000-0000-000000000000' };
    assert.equal(troubleOf(await nodes.setVerified(other, undefined, 0, signal)), 'conflict');
    const before = (await conditions()).length;
    good(await nodes.setVerified(now(), undefined, 0, signal));
    assert.deepEqual([now().verified, (await conditions()).length], [undefined, before - 1]);
  }

  async function changeTaints(nodes: Nodes, seen: () => NodeRecord | undefined): Promise<void> {
    const now = () => seen() ?? assert.fail('the node is gone');
    const taint = (key: string, value: string, effect: TaintEffect = 'NoSchedule') => ({ key, value, effect });
    const timeAdded = '2026-01-15T08:00:00Z';
    const foreign = { ...taint('example.com/foreign', 'x', 'NoExecute'), timeAdded };
    // The control plane taints the node, too: it is not Ready.
    const isOfTest = ({ key }: Taint) => key.startsWith('example.com/');
    const ofServer = async () => {
      const path = '/api/v1/nodes/adapter-node';
      const node = await client.request<{ spec: { taints?: Taint[] } }>('GET', path, { signal });
      return node.spec.taints?.filter(isOfTest);
    };
    type Change = Parameters<Nodes['setTaints']>[1];
    // Written as the operator does it: again, when the control plane was faster.
    const write = (change: () => Change) =>
      waitFor(
        async () => {
          const answer = await nodes.setTaints(now(), change(), signal);
          if (!answer.ok && answer.trouble.kind !== 'conflict') assert.fail(answer.trouble.message);
          return answer.ok;
        },
        { what: 'the taints to be written', timeoutMs: 60_000, intervalMs: 20 },
      );
    const before = now();
    await write(() => ({ set: [taint('example.com/a', '1')], remove: [] }));
    assert.deepEqual(now().taints.filter(isOfTest), [taint('example.com/a', '1')], 'an own write is seen at once');
    assert.equal(troubleOf(await nodes.setTaints(before, { set: [], remove: [foreign] }, signal)), 'conflict');
    await client.request('PATCH', '/api/v1/nodes/adapter-node', {
      body: { spec: { taints: [taint('example.com/a', '1'), foreign, taint('example.com/b', '1')] } },
      contentType: 'application/merge-patch+json',
      signal,
    });
    await until('the foreign taint', () => now().taints.filter(isOfTest).length === 3);
    const change = { set: [taint('example.com/b', '2')], remove: [taint('example.com/a', '')] };
    await write(() => change);
    assert.deepEqual(await ofServer(), [foreign, taint('example.com/b', '2')], 'others are as they were');
    const odd = { set: [taint('not/a/key', '')], remove: [] };
    const isRefused = async () => troubleOf(await nodes.setTaints(now(), odd, signal)) === 'refused';
    await waitFor(isRefused, { what: 'an odd taint to be refused', timeoutMs: 60_000, intervalMs: 20 });
    await write(() => ({ set: [], remove: now().taints }));
    assert.deepEqual(now().taints.filter(isOfTest), []);
    const gone = { ...now(), name: 'no-such-node' };
    assert.equal(troubleOf(await nodes.setTaints(gone, change, signal)), 'gone');
  }

  async function makePools(...names: readonly string[]) {
    const store = new Store<WindowsPool>({ identity: poolIdentity, log: silentLog });
    reflect('windowspools', poolListWatch(client), poolIdentity, store);
    const path = '/apis/winpool.dev/v1alpha1/windowspools';
    for (const name of names) {
      await client.request('POST', path, {
        body: poolManifest(name, { nodeGroup: { instanceTypes: ['m5.large'] } }),
        signal,
      });
    }
    await until('the pools', () => names.every((name) => store.get(name) !== undefined));
    const seen = (name: string): WindowsPool => store.get(name) as WindowsPool;
    const end = (name: string): Promise<unknown> => client.request('DELETE', `${path}/${name}`, { signal });
    return { pools: createPools(client, store), seen, end, path };
  }

  it('has no status of a pool that nobody has looked at, while others read that its generation is not observed', async () => {
    const { seen, end, path } = await makePools('adapter-new');
    assert.equal(seen('adapter-new').status, undefined);
    const shown = await client.request<WindowsPool>('GET', `${path}/adapter-new`, { signal });
    assert.deepEqual(shown.status, { observedGeneration: -1 });
    await end('adapter-new');
  });

  it('has the status that somebody else put back without the generation', async () => {
    const { seen, end, path } = await makePools('adapter-restored');
    const cluster = { name: 'demo', arn: 'arn:aws:eks:us-east-1:111122223333:cluster/demo' };
    const contentType = 'application/merge-patch+json';
    await client.request('PATCH', `${path}/adapter-restored/status`, {
      body: { status: { cluster } },
      contentType,
      signal,
    });
    await until('the status', () => seen('adapter-restored').status !== undefined);
    assert.deepEqual(seen('adapter-restored').status, { observedGeneration: -1, cluster });
    await end('adapter-restored');
  });

  it('writes finalizer and status only on the version that was seen, and reads its own writes', async () => {
    const { pools, seen, end, path } = await makePools('adapter-pool');
    const first = seen('adapter-pool');
    await client.request('PATCH', `${path}/adapter-pool`, {
      body: { metadata: { finalizers: ['example.com/other'] } },
      contentType: 'application/merge-patch+json',
      signal,
    });
    assert.equal(troubleOf(await pools.addFinalizer(first, signal)), 'conflict');
    const current = good(await pools.read('adapter-pool', signal)) as WindowsPool;
    const held = good(await pools.addFinalizer(current, signal));
    assert.deepEqual(held.metadata.finalizers, ['example.com/other', 'winpool.dev/finalizer']);
    assert.equal(pools.get('adapter-pool')?.metadata.resourceVersion, held.metadata.resourceVersion);
    assert.equal(troubleOf(await pools.writeStatus(current, { observedGeneration: 1 }, signal)), 'conflict');

    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'Verified',
      message: 'm',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    } as const;
    const shown = good(await pools.writeStatus(held, { observedGeneration: 1, conditions: [condition] }, signal));
    assert.deepEqual(shown.status, { observedGeneration: 1, conditions: [condition] });
    const replaced = good(await pools.writeStatus(shown, { observedGeneration: 1 }, signal));
    assert.deepEqual(replaced.status, { observedGeneration: 1 }, 'what is left out is gone');
    const again = good(await pools.writeStatus(replaced, { observedGeneration: 1 }, signal));
    assert.equal(again.metadata.resourceVersion, replaced.metadata.resourceVersion, 'the same status is no change');
    assert.equal(again.metadata.generation, first.metadata.generation);

    await end('adapter-pool');
    await until('the deletion', () => seen('adapter-pool').metadata.deletionTimestamp !== undefined);
    good(await pools.removeFinalizer(seen('adapter-pool'), signal));
    const left = good(await pools.read('adapter-pool', signal)) as WindowsPool;
    assert.deepEqual(left.metadata.finalizers, ['example.com/other']);
    await client.request('PATCH', `${path}/adapter-pool`, {
      body: { metadata: { finalizers: [] } },
      contentType: 'application/merge-patch+json',
      signal,
    });
    good(await pools.removeFinalizer(held, signal));
    assert.equal(good(await pools.read('adapter-pool', signal)), undefined);
    assert.equal(troubleOf(await pools.writeStatus(again, {}, signal)), 'gone');
  });

  it('shares a RuntimeClass among pools, and lets it end with the last of them', async () => {
    const { seen, end } = await makePools('adapter-a', 'adapter-b', 'adapter-c');
    const store = new Store<RuntimeClass>({ identity: runtimeClassIdentity, log: silentLog });
    reflect('runtimeclasses', runtimeClassListWatch(client), runtimeClassIdentity, store);
    await until('the first sync', () => store.hasSynced);
    const classes = createRuntimeClasses(client, store);
    const wish: RuntimeClassWish = {
      name: 'adapter-shared',
      handler: 'runhcs-wcow-process',
      nodeSelector: { 'kubernetes.io/os': 'windows' },
      tolerations: [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }],
      imageBuilds: '10.0.26100,10.0.20348',
    };
    const shared = (): RuntimeClass => classes.get('adapter-shared') as RuntimeClass;
    const owners = (): string[] => shared().owners.map(({ name }) => name);

    good(await classes.create(wish, seen('adapter-a'), signal));
    assert.equal(troubleOf(await classes.create(wish, seen('adapter-b'), signal)), 'conflict');
    for (const name of ['adapter-b', 'adapter-c']) good(await classes.apply(wish, shared(), seen(name), signal));
    assert.deepEqual(
      [owners(), shared().managed, shared().tolerations, shared().imageBuilds],
      [['adapter-a', 'adapter-b', 'adapter-c'], true, wish.tolerations, '10.0.26100,10.0.20348'],
    );
    const { resourceVersion } = shared();
    good(await classes.apply(wish, shared(), seen('adapter-b'), signal));
    assert.equal(shared().resourceVersion, resourceVersion, 'the same apply is no change');

    const other = { ...shared(), uid: '00000000-0000-0000-0000-000000000000' };
    assert.equal(troubleOf(await classes.apply(wish, other, seen('adapter-a'), signal)), 'conflict');
    assert.equal(troubleOf(await classes.delete(other, signal)), 'conflict');
    const absent = { ...wish, name: 'adapter-absent' };
    assert.equal(troubleOf(await classes.apply(absent, other, seen('adapter-a'), signal)), 'conflict', 'not made anew');

    good(await classes.release(shared(), seen('adapter-c'), signal));
    assert.deepEqual([owners(), shared().nodeSelector], [['adapter-a', 'adapter-b'], wish.nodeSelector]);
    type Managed = { metadata: { managedFields: { manager: string }[] } };
    const { metadata } = await client.request<Managed>('GET', '/apis/node.k8s.io/v1/runtimeclasses/adapter-shared', {
      signal,
    });
    assert.equal(
      metadata.managedFields.some(({ manager }) => manager.endsWith('adapter-c')),
      false,
    );
    await end('adapter-a');
    await until('one owner', () => owners().length === 1, 60_000);
    await end('adapter-b');
    await until('the end of the RuntimeClass', () => shared() === undefined, 60_000);
    good(await classes.delete(other, signal));
    await end('adapter-c');
  });

  it('keeps a RuntimeClass that its last owner released', async () => {
    const { seen, end } = await makePools('adapter-retain');
    const classes = createRuntimeClasses(client, new Store({ identity: runtimeClassIdentity, log: silentLog }));
    const wish = {
      name: 'adapter-retained',
      handler: 'runhcs-wcow-process',
      nodeSelector: { a: 'b' },
      tolerations: [],
      imageBuilds: '10.0.20348',
    };
    good(await classes.create(wish, seen('adapter-retain'), signal));
    const path = '/apis/node.k8s.io/v1/runtimeclasses/adapter-retained';
    const { metadata } = await client.request<{ metadata: { uid: string } }>('GET', path, { signal });
    const found: RuntimeClass = {
      ...wish,
      uid: metadata.uid,
      resourceVersion: '',
      deleting: false,
      managed: true,
      owners: [],
    };
    good(await classes.release(found, seen('adapter-retain'), signal));
    await end('adapter-retain');
    const kept = await client.request<{ scheduling: object; metadata: KubernetesObject['metadata'] }>('GET', path, {
      signal,
    });
    assert.deepEqual(kept.scheduling, { nodeSelector: { a: 'b' } });
    assert.deepEqual([kept.metadata?.ownerReferences, kept.metadata?.uid], [undefined, metadata.uid]);
    good(await classes.delete(found, signal));
    good(await classes.delete(found, signal));
  });

  it('hands the lease over, at once when it is released and after its end when the leader is cut off', async () => {
    // Long enough that a busy machine renews in time.
    const times = { leaseMs: 9_000, renewDeadlineMs: 6_000, retryMs: 300, jitter: 0.2 };
    const lease = createLeaseClient(client, 'default', 'adapter-lease');
    const order: string[] = [];
    const elect = (identity: string, leases: LeaseClient) => {
      const stopping = new AbortController();
      const elector = new LeaderElector({ leases, identity, clock: realClock, log: silentLog, times });
      const done = elector.run(stopping.signal, async (work) => {
        order.push(`${identity} begins`);
        await new Promise((resolve) => work.addEventListener('abort', resolve, { once: true }));
        order.push(`${identity} ends`);
      });
      return { done, stop: () => stopping.abort() };
    };
    const begins = (identity: string) => until(`${identity} to lead`, () => order.includes(`${identity} begins`));
    let cut = false;
    const reach =
      <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
      (...args: A): Promise<R> =>
        cut ? Promise.reject(new StreamFailure('cut off')) : call(...args);
    const first = elect('first', lease);
    await begins('first');
    const second = elect('second', {
      read: reach(lease.read),
      create: reach(lease.create),
      update: reach(lease.update),
    });
    first.stop();
    await first.done;
    await begins('second');
    const third = elect('third', lease);
    cut = true;
    await assert.rejects(second.done, LeadershipLost);
    await begins('third');
    third.stop();
    await third.done;
    assert.deepEqual(order, [
      'first begins',
      'first ends',
      'second begins',
      'second ends',
      'third begins',
      'third ends',
    ]);
    assert.equal((await lease.read(signal))?.record.holder, '');
  });

  it('writes events that kubectl describe shows, repeated ones as a series', async () => {
    const { seen, end } = await makePools('adapter-events');
    const recorder = new Recorder({
      sink: createEventSink(client),
      clock: realClock,
      log: silentLog,
      controller: 'winpool.dev/windowspool-operator',
      instance: 'test',
    });
    const { name, uid } = seen('adapter-events').metadata;
    const regarding = { apiVersion: 'winpool.dev/v1alpha1', kind: 'WindowsPool', name, uid };
    const message = {
      type: 'Warning',
      reason: 'WrongBuild',
      action: 'Verify',
      note: 'node-1 has build 10.0.17763',
    } as const;
    recorder.publish(regarding, message);
    await until('the first event', async () => (await world.kubectl('describe', 'wp', name)).includes('WrongBuild'));
    recorder.publish(regarding, message);
    recorder.publish(regarding, message);
    await recorder.stop(30_000);
    const text = await world.kubectl('get', 'events.events.k8s.io', '-n', 'default', '-o', 'json');
    type Event = { regarding: { name: string }; note: string; series?: { count: number } };
    const events = (JSON.parse(text).items as Event[]).filter((event) => event.regarding.name === name);
    assert.deepEqual(
      events.map(({ note, series }) => [note, series?.count]),
      [['node-1 has build 10.0.17763', 3]],
    );
    await end(name);
  });

  it('was refused nothing that it did not ask to be refused', () => {
    const codes = new Set(requests.map((request) => request.split(' ')[0]));
    for (const code of ['401', '403', '500']) assert.equal(codes.has(code), false, `some request was answered ${code}`);
  });
});
