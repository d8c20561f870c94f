import assert from 'node:assert/strict';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { jsonDecoder } from '../../controllers/kubernetes/decoder.ts';
import { createListWatch } from '../../controllers/kubernetes/listWatch.ts';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { StreamFailure } from '../../controllers/runtime/failure.ts';
import type { Identity, ListWatch } from '../../controllers/runtime/ports.ts';
import { Store } from '../../controllers/runtime/store.ts';
import { silentLog } from '../../controllers/runtime/testing/silentLog.ts';
import { until, withClient } from './clientFixture.ts';

describe('a store that a reflector fills from a real API server', () => {
  const fixture = withClient();
  const { signal } = fixture;

  it('reads the version and the certificate authority of the server', async () => {
    assert.match(await fixture.client.serverVersion(signal), /^v1\.\d+\.\d+/);
    const expected = Buffer.from(fixture.world.controlPlane.caData, 'base64').toString();
    assert.equal(await fixture.client.caData(), expected);
  });

  describe('a store of ConfigMaps', () => {
    type Mirror = { name: string; uid: string; version: string; value: string };
    const identity: Identity<Mirror> = {
      key: ({ name }) => name,
      resourceVersion: ({ version }) => version,
    };
    const path = '/api/v1/namespaces/default/configmaps';
    const mirrorOf = ({ metadata, data }: Wire<V1ConfigMap>): Mirror => ({
      name: metadata?.name ?? '',
      uid: metadata?.uid ?? '',
      version: metadata?.resourceVersion ?? '',
      value: data?.value ?? '',
    });
    const decoder = jsonDecoder(mirrorOf);
    const write = (name: string, value: string): Promise<unknown> =>
      fixture.client.request('PATCH', `${path}/${name}`, {
        query: { fieldManager: 'test', force: true },
        contentType: 'application/apply-patch+yaml',
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { mirror: 'yes' } }, data: { value } },
        signal,
      });
    const remove = (name: string): Promise<unknown> => fixture.client.request('DELETE', `${path}/${name}`, { signal });
    const sourceOf = (): ListWatch<Mirror> =>
      createListWatch({ client: fixture.client, path, decoder, labelSelector: 'mirror=yes' });

    const equal = async (store: Store<Mirror>): Promise<boolean> => {
      const { items } = await sourceOf().list({ resourceVersion: '' }, signal);
      const byName = (a: Mirror, b: Mirror): number => (a.name < b.name ? -1 : 1);
      return JSON.stringify([...items].sort(byName)) === JSON.stringify([...store.list()].sort(byName));
    };

    /** A server without watch lists, as with the feature gate off. */
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
        fixture.reflect('configmaps', way === 'list' ? withoutWatchList(sourceOf()) : sourceOf(), identity, store);
        await until('the first sync', () => store.hasSynced);
        // The API server lists from its own cache, which lags behind.
        await until('20 ConfigMaps', () => store.size === 20);
        await Promise.all([write('mirror-1', 'second'), remove('mirror-2'), write('mirror-new', 'first')]);
        await remove('mirror-3');
        await write('mirror-3', 'again');
        await until('the same content', () => equal(store));
        await remove('mirror-new');
      });
    }

    it('continues after a restart of the API server', async function () {
      this.timeout(120_000);
      const store = new Store<Mirror>({ identity, log: silentLog });
      fixture.reflect('configmaps', sourceOf(), identity, store);
      await until('the first sync', () => store.hasSynced);
      const version = store.version;
      await fixture.world.controlPlane.stopApiServer();
      await fixture.world.controlPlane.startApiServer();
      await write('mirror-4', 'after the restart');
      await remove('mirror-5');
      await until('the same content', () => equal(store), 60_000);
      assert.ok(BigInt(store.version) > BigInt(version));
      for (const { name } of store.list()) await remove(name);
      await until('an empty store', () => store.size === 0);
    });

    it('gets an error when a version is too old to be watched, or in the future', async () => {
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
});
