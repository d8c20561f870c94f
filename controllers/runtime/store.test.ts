import assert from 'node:assert/strict';
import type { Change } from './ports.ts';
import { Store } from './store.ts';
import { silentLog } from './testing/silentLog.ts';
import { type SimulatedItem, simulatedIdentity } from './testing/simulatedServer.ts';

function item(key: string, version: number, value = 0): SimulatedItem {
  return { key, uid: `uid of ${key}`, resourceVersion: String(version), value };
}

function storeWith(...items: SimulatedItem[]): Store<SimulatedItem, 'value'> {
  const indexes = { value: ({ value }: SimulatedItem) => (value === 0 ? [] : [String(value)]) };
  const store = new Store<SimulatedItem, 'value'>({ identity: simulatedIdentity, indexes, log: silentLog });
  store.replace(items, '10', { newest: true });
  return store;
}

function changesOf(store: Store<SimulatedItem, 'value'>, act: () => void): Change<SimulatedItem>[] {
  const changes: Change<SimulatedItem>[] = [];
  store.subscribe((change) => changes.push(change));
  changes.length = 0;
  act();
  return changes;
}

describe('the store', () => {
  it('is synced by the first complete list', async () => {
    const store = new Store<SimulatedItem>({ identity: simulatedIdentity, log: silentLog });
    store.upsert(item('a', 1));
    assert.equal(store.hasSynced, false);
    store.replace([item('a', 1)], '1', { newest: true });
    assert.equal(store.hasSynced, true);
    await store.synced;
  });

  it('does not notify listeners if only the version of an item changes, and records the version', () => {
    const refresh = (known: SimulatedItem, newer: SimulatedItem): boolean => {
      if (known.value !== newer.value) return false;
      Object.assign(known, newer);
      return true;
    };
    const store = new Store<SimulatedItem>({
      identity: { ...simulatedIdentity, absorbUnchanged: refresh },
      log: silentLog,
    });
    store.replace([item('a', 5)], '5', { newest: true });
    const [known, changes] = [store.get('a'), [] as Change<SimulatedItem>[]];
    store.subscribe((change) => changes.push(change));
    changes.length = 0;
    store.upsert(item('a', 7));
    store.upsert(item('a', 6, 9));
    assert.deepEqual([store.get('a'), store.version, changes], [item('a', 7), '7', []]);
    assert.equal(store.get('a'), known);
    store.upsert(item('a', 8, 9));
    assert.deepEqual(changes, [{ key: 'a', before: item('a', 7), after: item('a', 8, 9) }]);
  });

  it('replaces an item by one of the same version if more of the object was read', () => {
    const identity = {
      ...simulatedIdentity,
      completes: (known: SimulatedItem, newer: SimulatedItem) => known.value === 0 && newer.value !== 0,
    };
    const store = new Store<SimulatedItem>({ identity, log: silentLog });
    store.replace([item('a', 5), item('b', 6, 2), item('c', 9)], '9', { newest: true });
    const changes: Change<SimulatedItem>[] = [];
    store.subscribe((change) => changes.push(change));
    changes.length = 0;
    store.replace([item('a', 5, 1), item('b', 6), item('c', 8, 3)], '9', { newest: false });
    assert.deepEqual(changes, [{ key: 'a', before: item('a', 5), after: item('a', 5, 1) }]);
  });

  it('reports the deletion of an item that is missing in a list, with its last state', () => {
    const store = storeWith(item('a', 5), item('b', 6));
    const changes = changesOf(store, () => store.replace([item('b', 6)], '11', { newest: false }));
    assert.deepEqual(changes, [{ key: 'a', before: item('a', 5) }]);
  });

  it('contains an own write at once, and reports it once', () => {
    const store = storeWith(item('a', 5));
    const changes = changesOf(store, () => {
      assert.equal(store.observeWrite(item('a', 12, 7)), true);
      store.upsert(item('a', 11, 3));
      store.upsert(item('a', 12, 7));
    });
    assert.deepEqual(changes, [{ key: 'a', before: item('a', 5), after: item('a', 12, 7) }]);
    assert.deepEqual(store.get('a'), item('a', 12, 7));
  });

  it('keeps an own write that a list from the cache does not have yet', () => {
    const store = storeWith(item('a', 5));
    store.observeWrite(item('a', 14, 7));
    store.observeWrite(item('b', 15));
    store.replace([item('a', 5)], '12', { newest: false });
    assert.deepEqual(store.list(), [item('a', 14, 7), item('b', 15)]);
  });

  it('does not restore a deleted item after a late response to an own write', () => {
    const store = storeWith(item('a', 5));
    store.remove(item('a', 13));
    assert.equal(store.observeWrite(item('a', 12)), false);
    assert.equal(store.size, 0);
  });

  it('ignores repeated events, also if the item was deleted since', () => {
    const store = storeWith(item('a', 5));
    const changes = changesOf(store, () => {
      store.upsert(item('a', 11));
      store.remove(item('a', 13));
      store.upsert(item('a', 11));
      store.upsert(item('a', 15));
      store.remove(item('a', 13));
    });
    assert.deepEqual(
      changes.map(({ before, after }) => [before?.resourceVersion, after?.resourceVersion]),
      [
        ['5', '11'],
        ['11', undefined],
        [undefined, '15'],
      ],
    );
  });

  it('ignores the deletion of the object that an item replaced', () => {
    const store = storeWith();
    store.observeWrite(item('a', 15, 2));
    store.remove(item('a', 12));
    assert.deepEqual(store.list(), [item('a', 15, 2)]);
  });

  it('accepts the most recent list if the server was restored to an earlier state', () => {
    const store = storeWith(item('a', 5), item('b', 9));
    store.replace([item('a', 3)], '4', { newest: true });
    assert.deepEqual(store.list(), [item('a', 3)]);
    assert.equal(store.version, '4');
  });

  it('finds items by index as they are added, changed and removed', () => {
    const store = storeWith(item('a', 5, 1), item('b', 6, 1), item('c', 7));
    const find = (value: string): string[] => store.byIndex('value', value).map(({ key }) => key);
    assert.deepEqual(find('1'), ['a', 'b']);
    store.upsert(item('a', 11, 2));
    store.upsert(item('b', 12, 1));
    store.upsert(item('c', 13, 1));
    assert.deepEqual([find('1'), find('2')], [['b', 'c'], ['a']]);
    assert.deepEqual(store.byIndex('value', '1')[0], item('b', 12, 1));
    store.remove(item('a', 14, 2));
    assert.deepEqual(find('2'), []);
  });

  it('reports all items to a new listener, and survives one that throws', () => {
    const store = storeWith(item('a', 5));
    store.subscribe(() => {
      throw new Error('broken listener');
    });
    const seen: string[] = [];
    using subscription = store.subscribe(({ key }) => seen.push(key));
    store.upsert(item('b', 11));
    subscription[Symbol.dispose]();
    store.upsert(item('c', 12));
    assert.deepEqual(seen, ['a', 'b']);
  });
});
