import assert from 'node:assert/strict';
import type { WindowsPool } from './api.gen.ts';
import { nodeGroupsOf } from './nodes/poolNodesCache.ts';
import type { NodeRecord } from './ports/nodes.ts';
import { knownStatus, sampleNode, samplePool } from './testing/fixtures.ts';
import { poolChangeMatters, poolIndexes, Watches } from './watches.ts';

describe('a change of a node', () => {
  const node = sampleNode();
  const table: readonly (readonly [string, NodeRecord | undefined, NodeRecord | undefined, readonly string[]])[] = [
    ['wakes its pool when it joins', undefined, node, ['web']],
    ['wakes its pool when it leaves', node, undefined, ['web']],
    ['wakes its pool when it turns NotReady', node, { ...node, ready: 'False' }, ['web']],
    ['wakes its pool when its kernel changes', node, { ...node, kernelVersion: '10.0.17763.1' }, ['web']],
    ['wakes its pool when a label goes', node, { ...node, labels: { 'eks.amazonaws.com/nodegroup': 'web' } }, ['web']],
    [
      'wakes its pool when a resource changes',
      node,
      { ...node, allocatable: { ...node.allocatable, memory: '1Gi' } },
      ['web'],
    ],
    ['wakes its pool when a taint changes', node, { ...node, taints: [] }, ['web']],
    [
      'wakes both pools when it moves',
      node,
      { ...node, labels: { ...node.labels, 'eks.amazonaws.com/nodegroup': 'api' } },
      ['web', 'api'],
    ],
    ['wakes nobody when it is in no node group', undefined, { ...node, labels: {} }, []],
  ];
  for (const [name, before, after, want] of table) {
    it(name, () => assert.deepEqual(nodeGroupsOf(before, after), want));
  }
});

describe('a change of a pool', () => {
  const pool = samplePool();
  const withMetadata = (change: Partial<WindowsPool['metadata']>) => ({
    ...pool,
    metadata: { ...pool.metadata, ...change },
  });
  const table: readonly (readonly [string, WindowsPool | undefined, boolean])[] = [
    ['matters when it goes', undefined, true],
    ['matters when its spec changes', samplePool({ scaling: { max: 9 } }), true],
    ['matters when it is marked for deletion', withMetadata({ deletionTimestamp: '2026-03-01T12:00:00Z' }), true],
    ['matters when it is paused by annotation', withMetadata({ annotations: { 'winpool.dev/paused': 'true' } }), true],
    ['matters when its finalizer is taken away', withMetadata({ finalizers: [] }), true],
    [
      'does not matter when it is the operator’s own status',
      { ...withMetadata({ resourceVersion: '8' }), status: knownStatus() },
      false,
    ],
  ];
  for (const [name, after, want] of table) it(name, () => assert.equal(poolChangeMatters(pool, after), want));

  it('matters when it is new', () => assert.equal(poolChangeMatters(undefined, pool), true));
});

describe('a pool is found', () => {
  it('by its node group', () =>
    assert.deepEqual(poolIndexes.nodeGroup(samplePool({ nodeGroup: { name: 'other' } })), ['other']));

  it('by the RuntimeClass that it wants and by the one that it had', () => {
    const pool = samplePool({ runtimeClass: { scope: 'Pool' } }, { status: knownStatus() });
    assert.deepEqual(poolIndexes.runtimeClass(pool), ['web', 'windows-2022']);
  });
});

describe('a change that the watches bring', () => {
  const web = samplePool({}, { status: knownStatus() });
  const node = sampleNode();

  /** Watches of these pools, and what they do, in order. */
  function watching(...pools: readonly WindowsPool[]) {
    const done: string[] = [];
    const faulty = new Set<string>();
    const log = (what: string) => () => {
      if (faulty.has(what)) throw new Error(`a defect in ${what}`);
      done.push(what);
    };
    const watches = new Watches({
      pools: {
        get: (name) => pools.find(({ metadata }) => metadata.name === name),
        list: () => pools,
        byIndex: (index, value) => pools.filter((pool) => poolIndexes[index](pool).includes(value)),
      },
      nodes: { byIndex: () => [node] },
      fleet: { follow: log('fleet'), onRelease: () => undefined },
      poolNodesCache: { follow: log('nodes of pools') },
      nodeMembership: { declare: log('declare'), follow: log('membership'), reconsider: log('reconsider') },
      lists: { follow: log('list'), of: () => ({ kind: 'unknown' }) },
    });
    const begin = () =>
      watches.begin(
        (pool) => done.push(`wake ${pool}`),
        (pool) => done.push(`gone ${pool}`),
      );
    return { watches, begin, done, faulty };
  }

  it('wakes the pools that are there when an operator begins to lead', () => {
    const { begin, done } = watching(web, samplePool({}, { metadata: { name: 'db' } }));
    begin();
    assert.deepEqual(done, ['wake web', 'wake db']);
  });

  it('reaches what is derived from it before a pool is woken, and wakes nobody before the operator leads', () => {
    const { watches, begin, done } = watching(web);
    watches.node({ after: node });
    assert.deepEqual(done.splice(0), ['membership', 'nodes of pools']);
    begin();
    done.splice(0);
    watches.node({ before: node, after: { ...node, ready: 'False' } });
    assert.deepEqual(done, ['membership', 'nodes of pools', 'wake web']);
  });

  it('of a pool makes the nodes of its group its own', () => {
    const { watches, begin, done } = watching(web);
    begin();
    done.splice(0);
    watches.pool('web', { after: web });
    assert.deepEqual(done, ['fleet', 'list', 'declare', 'reconsider', 'wake web']);
  });

  it('of a pool that is gone frees its node group for a pool that waits for the name', () => {
    const other = samplePool({ nodeGroup: { name: 'web' } }, { metadata: { name: 'other' } });
    const { watches, begin, done } = watching(other);
    begin();
    done.splice(0);
    watches.pool('web', { before: web });
    assert.deepEqual(done.slice(-3), ['wake web', 'gone web', 'wake other']);
  });

  it('wakes a pool also where a cache that is derived from it has a defect', () => {
    const { watches, begin, done, faulty } = watching(web);
    begin();
    done.splice(0);
    faulty.add('membership').add('declare');
    assert.throws(() => watches.node({ after: node }), /^Error: a defect in membership$/);
    assert.throws(() => watches.pool('web', { after: web }), /^Error: a defect in declare$/);
    assert.deepEqual(done, ['nodes of pools', 'wake web', 'fleet', 'list', 'reconsider', 'wake web']);
  });

  it('of a list of hosts or a RuntimeClass wakes the pools that name it', () => {
    const { watches, begin, done } = watching(web);
    begin();
    done.splice(0);
    watches.list('web');
    watches.runtimeClass('windows-2022');
    watches.runtimeClass('another');
    assert.deepEqual(done, ['declare', 'wake web', 'wake web']);
  });
});
