import assert from 'node:assert/strict';
import type { V1RuntimeClass } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import {
  createRuntimeClasses,
  runtimeClassIdentity,
  runtimeClassListWatch,
} from '../../controllers/kubernetes/runtimeClasses.ts';
import { Store } from '../../controllers/runtime/store.ts';
import { silentLog } from '../../controllers/runtime/testing/silentLog.ts';
import type { DesiredRuntimeClass, RuntimeClass } from '../../controllers/windowspool/ports/runtimeClasses.ts';
import { errorKindOf, good, until, withClient } from './clientFixture.ts';

describe('RuntimeClasses on a real API server', () => {
  const fixture = withClient();
  const { signal } = fixture;

  it('shares a RuntimeClass among pools, and deletes it with the last of them', async () => {
    const { seen, end } = await fixture.makePools('adapter-a', 'adapter-b', 'adapter-c');
    const store = new Store<RuntimeClass>({ identity: runtimeClassIdentity, log: silentLog });
    fixture.reflect('runtimeclasses', runtimeClassListWatch(fixture.client), runtimeClassIdentity, store);
    await until('the first sync', () => store.hasSynced);
    const classes = createRuntimeClasses(fixture.client, store);
    const desired: DesiredRuntimeClass = {
      name: 'adapter-shared',
      handler: 'runhcs-wcow-process',
      nodeSelector: { 'kubernetes.io/os': 'windows' },
      tolerations: [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }],
    };
    const shared = (): RuntimeClass => classes.get('adapter-shared') as RuntimeClass;
    const owners = (): string[] =>
      shared()
        .owners.map(({ name }) => name)
        .sort();

    good(await classes.create(desired, seen('adapter-a'), signal));
    assert.equal(errorKindOf(await classes.create(desired, seen('adapter-b'), signal)), 'conflict');
    const { uid } = shared();
    const added = await Promise.all([
      ...['adapter-b', 'adapter-c', 'adapter-a'].map((name) => classes.addOwner(shared(), seen(name), signal)),
      classes.addOwner(
        { ...shared(), name: 'adapter-absent', uid: seen('adapter-a').metadata.uid },
        seen('adapter-a'),
        signal,
      ),
    ]);
    assert.deepEqual(
      added.map((result) => result.ok || result.error.kind),
      [true, true, true, 'conflict'],
      'calls about the same RuntimeClass are shared, with those about others at the same time',
    );
    assert.equal(shared().uid, uid);
    assert.deepEqual(
      [owners(), shared().managed, shared().managedBy, shared().tolerations],
      [['adapter-a', 'adapter-b', 'adapter-c'], true, 'windowspool-operator', desired.tolerations],
    );
    const { resourceVersion } = shared();
    good(await classes.addOwner(shared(), seen('adapter-b'), signal));
    assert.equal(shared().resourceVersion, resourceVersion, 'an owner is added once');

    const other = { ...shared(), uid: '00000000-0000-0000-0000-000000000000' };
    assert.equal(errorKindOf(await classes.apply(desired, other, signal)), 'conflict');
    assert.equal(errorKindOf(await classes.addOwner(other, seen('adapter-a'), signal)), 'conflict');
    assert.equal(errorKindOf(await classes.removeOwner(other, seen('adapter-a'), signal)), 'conflict');
    assert.equal(errorKindOf(await classes.delete(other, signal)), 'conflict');
    const absent = { ...desired, name: 'adapter-absent' };
    assert.equal(
      errorKindOf(await classes.apply(absent, { ...other, name: 'adapter-absent' }, signal)),
      'conflict',
      'not created again',
    );
    const gone = { ...other, name: 'adapter-absent' };
    assert.equal(errorKindOf(await classes.addOwner(gone, seen('adapter-a'), signal)), 'conflict');
    good(await classes.removeOwner(gone, seen('adapter-a'), signal));

    const changed = { ...desired, nodeSelector: { 'kubernetes.io/os': 'windows', tier: 'web' }, tolerations: [] };
    for (const next of [changed, desired]) {
      good(await classes.apply(next, shared(), signal));
      const { nodeSelector, tolerations } = shared();
      assert.deepEqual(
        { nodeSelector, tolerations },
        { nodeSelector: next.nodeSelector, tolerations: next.tolerations },
      );
      assert.deepEqual(owners(), ['adapter-a', 'adapter-b', 'adapter-c']);
    }

    const stale = { ...shared(), resourceVersion };
    assert.equal(
      errorKindOf(await classes.removeOwner(stale, seen('adapter-c'), signal)),
      'conflict',
      'it has changed',
    );
    good(await classes.removeOwner(shared(), seen('adapter-c'), signal));
    assert.deepEqual([owners(), shared().nodeSelector], [['adapter-a', 'adapter-b'], desired.nodeSelector]);
    const { metadata } = await fixture.client.request<V1RuntimeClass>(
      'GET',
      '/apis/node.k8s.io/v1/runtimeclasses/adapter-shared',
      { signal },
    );
    // One field manager for any number of pools: each one costs the API server a conversion at every apply.
    assert.deepEqual([...new Set(metadata?.managedFields?.map(({ manager }) => manager))], ['windowspool-operator']);
    await end('adapter-a');
    await until('one owner', () => owners().length === 1, 60_000);
    await end('adapter-b');
    await until('the end of the RuntimeClass', () => shared() === undefined, 60_000);
    good(await classes.delete(other, signal));
    await end('adapter-c');
  });

  it('keeps a RuntimeClass that its last owner released', async () => {
    const { seen, end } = await fixture.makePools('adapter-retain');
    const classes = createRuntimeClasses(fixture.client, new Store({ identity: runtimeClassIdentity, log: silentLog }));
    const desired = {
      name: 'adapter-retained',
      handler: 'runhcs-wcow-process',
      nodeSelector: { a: 'b' },
      tolerations: [],
    };
    good(await classes.create(desired, seen('adapter-retain'), signal));
    const path = '/apis/node.k8s.io/v1/runtimeclasses/adapter-retained';
    const { metadata } = await fixture.client.request<Stored<V1RuntimeClass>>('GET', path, { signal });
    const found: RuntimeClass = {
      ...desired,
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
      deleting: false,
      managed: true,
      managedBy: 'windowspool-operator',
      owners: [],
    };
    good(await classes.removeOwner(found, seen('adapter-retain'), signal));
    await end('adapter-retain');
    const kept = await fixture.client.request<V1RuntimeClass>('GET', path, { signal });
    assert.deepEqual(kept.scheduling, { nodeSelector: { a: 'b' } });
    assert.deepEqual([kept.metadata?.ownerReferences, kept.metadata?.uid], [undefined, metadata.uid]);
    good(await classes.delete(found, signal));
    good(await classes.delete(found, signal));
  });
});
