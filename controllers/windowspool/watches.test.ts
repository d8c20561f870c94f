import assert from 'node:assert/strict';
import type { WindowsPool } from './api/api.gen.ts';
import { runtimeClassReady } from './conditions/runtimeClassReady.ts';
import { nodeGroupsOf } from './nodes/poolNodesCache.ts';
import { planFor } from './plan.ts';
import type { NodeRecord } from './ports/nodes.ts';
import type { RuntimeClass } from './ports/runtimeClasses.ts';
import { describeStep } from './steps/stepKinds.ts';
import {
  knownStatus,
  sampleNode,
  sampleNodePod,
  samplePool,
  sampleRuntimeClass,
  sampleState,
} from './testing/fixtures.ts';
import { poolChangeMatters, poolIndexes, runtimeClassChangeMatters, Watches } from './watches.ts';

describe('a change of a node', () => {
  const node = sampleNode();
  const table: readonly (readonly [string, NodeRecord | undefined, NodeRecord | undefined, readonly string[]])[] = [
    ['triggers its pool when it joins', undefined, node, ['web']],
    ['triggers its pool when it is deleted', node, undefined, ['web']],
    ['triggers its pool when it becomes NotReady', node, { ...node, ready: 'False' }, ['web']],
    ['triggers its pool when its kernel changes', node, { ...node, kernelVersion: '10.0.17763.1' }, ['web']],
    [
      'triggers its pool when a label is removed',
      node,
      { ...node, labels: { 'eks.amazonaws.com/nodegroup': 'web' } },
      ['web'],
    ],
    [
      'triggers its pool when a resource changes',
      node,
      { ...node, allocatable: { ...node.allocatable, memory: '1Gi' } },
      ['web'],
    ],
    ['triggers its pool when a taint changes', node, { ...node, taints: [] }, ['web']],
    [
      'triggers both pools when it moves',
      node,
      { ...node, labels: { ...node.labels, 'eks.amazonaws.com/nodegroup': 'api' } },
      ['web', 'api'],
    ],
    ['triggers no pool when it has no node group', undefined, { ...node, labels: {} }, []],
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
    ['triggers a reconciliation when it is deleted', undefined, true],
    ['triggers a reconciliation when its spec changes', samplePool({ nodeGroup: { scaling: { maxSize: 9 } } }), true],
    [
      'triggers a reconciliation when it is marked for deletion',
      withMetadata({ deletionTimestamp: '2026-03-01T12:00:00Z' }),
      true,
    ],
    [
      'triggers a reconciliation when it is paused by annotation',
      withMetadata({ annotations: { 'winpool.dev/paused': 'true' } }),
      true,
    ],
    ['triggers a reconciliation when it gets a label', withMetadata({ labels: { team: 'web' } }), true],
    ['triggers a reconciliation when its finalizer is removed', withMetadata({ finalizers: [] }), true],
    [
      'triggers no reconciliation when only the operator’s own status changes',
      { ...withMetadata({ resourceVersion: '8' }), status: knownStatus() },
      false,
    ],
  ];
  for (const [name, after, want] of table) it(name, () => assert.equal(poolChangeMatters(pool, after), want));

  it('triggers a reconciliation when it is created', () => assert.equal(poolChangeMatters(undefined, pool), true));
});

describe('a change of a RuntimeClass', () => {
  const owner = (name: string) => ({ name, uid: `uid-${name}` });
  const web = samplePool();
  const seen = (names: readonly string[], change: Partial<RuntimeClass> = {}) =>
    sampleRuntimeClass(web, { owners: names.map(owner), ...change });
  const table: readonly (readonly [string, RuntimeClass | undefined, RuntimeClass | undefined, boolean])[] = [
    ['triggers a pool when it is created', undefined, seen(['web']), true],
    ['triggers a pool when it is deleted', seen(['web']), undefined, true],
    ['triggers a pool that becomes an owner', seen(['api']), seen(['api', 'web']), true],
    ['triggers a pool that is no longer an owner', seen(['web']), seen([]), true],
    ['triggers its owners when its content changes', seen(['web']), seen(['web'], { nodeSelector: {} }), true],
    ['does not trigger a pool that owns it when another becomes an owner', seen(['web']), seen(['web', 'api']), false],
  ];
  for (const [name, before, after, want] of table)
    it(name, () => assert.equal(runtimeClassChangeMatters(web, { before, after }), want));

  it('that does not trigger a pool changes neither what the pool does nor what it reports', () => {
    const both = [true, false];
    const owners = ['web', 'api', 'db'].reduce<readonly (readonly string[])[]>(
      (sets, name) => sets.flatMap((set) => [set, [...set, name]]),
      [[]],
    );
    const selectors = [{}, { nodeSelector: { 'kubernetes.io/os': 'windows' } }];
    const changes = ['a', 'b'].flatMap((handler) =>
      both.flatMap((managed) =>
        both.flatMap((deleting) =>
          selectors.flatMap((selector) =>
            owners.map((names) => ({ handler, managed, deleting, ...selector, owners: names.map(owner) })),
          ),
        ),
      ),
    );
    const handler = 'a';
    const deleted = samplePool({ runtimeClass: { handler }, deletionPolicy: 'Retain' });
    const pools = [
      samplePool({ runtimeClass: { handler } }),
      samplePool({ runtimeClass: { handler, name: 'own' } }),
      samplePool({ runtimeClass: { handler } }, { metadata: { annotations: { 'winpool.dev/paused': 'true' } } }),
      { ...deleted, metadata: { ...deleted.metadata, deletionTimestamp: '2026-03-01T12:00:00Z' } },
    ];
    let skipped = 0;
    for (const pool of pools) {
      const states = changes.map((change) => {
        const runtimeClass = sampleRuntimeClass(pool, change);
        const s = sampleState({ pool, runtimeClass });
        return {
          runtimeClass,
          does: [planFor(s).steps.map((step) => describeStep(step) ?? step.kind), runtimeClassReady(s)],
        };
      });
      for (const before of states)
        for (const after of states) {
          if (runtimeClassChangeMatters(pool, { before: before.runtimeClass, after: after.runtimeClass })) continue;
          skipped += 1;
          assert.deepEqual(after.does, before.does);
        }
    }
    // Each pool owns it in half of the sets.
    assert.equal(skipped, pools.length * (owners.length / 2) ** 2);
  });
});

describe('a pool is found', () => {
  it('by its node group', () =>
    assert.deepEqual(poolIndexes.nodeGroup(samplePool({ nodeGroup: { name: 'other' } })), ['other']));

  it('by the RuntimeClass of its spec and by its former one', () => {
    const pool = samplePool({ runtimeClass: { name: 'web' } }, { status: knownStatus() });
    assert.deepEqual(poolIndexes.runtimeClass(pool), ['web', 'windows-2022']);
  });
});

describe('a change in a watch', () => {
  const web = samplePool({}, { status: knownStatus() });
  const node = sampleNode();

  /** Watches of these pools, and their actions in order. */
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
      poolRegistry: { follow: log('poolRegistry'), onRelease: () => undefined },
      poolNodesCache: {
        follow: log('nodes of pools'),
        podsChanged: log('pods of pools'),
        forget: log('forget nodes'),
      },
      nodeMembership: {
        declare: log('declare'),
        declareLater: log('declare later'),
        follow: log('membership'),
        reconsider: log('reconsider'),
        podsChanged: log('pods of membership'),
      },
      lists: { follow: log('list'), of: () => ({ kind: 'unknown' }) },
      machineSets: { follow: log('machines'), nodesOf: () => undefined },
      nodePools: { follow: log('node pools'), nodesOf: () => undefined },
    });
    const begin = () =>
      watches.begin(
        (pool) => done.push(`wake ${pool}`),
        (pool) => done.push(`gone ${pool}`),
      );
    return { watches, begin, done, faulty };
  }

  it('triggers all existing pools when an operator starts to lead', () => {
    const { begin, done } = watching(web, samplePool({}, { metadata: { name: 'db' } }));
    begin();
    assert.deepEqual(done, ['wake web', 'wake db']);
  });

  it('updates derived caches before a pool is triggered, and triggers no pool before the operator leads', () => {
    const { watches, begin, done } = watching(web);
    watches.node({ after: node });
    assert.deepEqual(done.splice(0), ['membership', 'nodes of pools']);
    begin();
    done.splice(0);
    watches.node({ before: node, after: { ...node, ready: 'False' } });
    assert.deepEqual(done, ['membership', 'nodes of pools', 'wake web']);
  });

  it('of a pool assigns the nodes of its group to it', () => {
    const { watches, begin, done } = watching(web);
    begin();
    done.splice(0);
    watches.pool('web', { after: web });
    assert.deepEqual(done, ['poolRegistry', 'list', 'machines', 'node pools', 'declare', 'reconsider', 'wake web']);
  });

  it('of a deleted pool triggers a pool that waits for the name of its node group', () => {
    const other = samplePool({ nodeGroup: { name: 'web' } }, { metadata: { name: 'other' } });
    const { watches, begin, done } = watching(other);
    begin();
    done.splice(0);
    watches.pool('web', { before: web });
    assert.deepEqual(done.slice(-3), ['wake web', 'gone web', 'wake other']);
  });

  it('of a deleted pool frees its instances before other pools are asked about its nodes', () => {
    const { watches, begin, done } = watching(web);
    begin();
    done.splice(0);
    watches.pool('web', { before: samplePool({}, { status: knownStatus() }) });
    assert.deepEqual(
      done.filter((each) => ['forget nodes', 'reconsider'].includes(each)),
      ['forget nodes', 'reconsider'],
    );
  });

  it('triggers a pool even if a derived cache throws', () => {
    const { watches, begin, done, faulty } = watching(web);
    begin();
    done.splice(0);
    faulty.add('membership').add('declare');
    assert.throws(() => watches.node({ after: node }), /^Error: a defect in membership$/);
    assert.throws(() => watches.pool('web', { after: web }), /^Error: a defect in declare$/);
    assert.deepEqual(done, [
      'nodes of pools',
      'wake web',
      'poolRegistry',
      'list',
      'machines',
      'node pools',
      'reconsider',
      'wake web',
    ]);
  });

  it('of a node triggers the pool that has its group, and a few that name it while none has', () => {
    const naming = Array.from({ length: 9 }, (_, index) =>
      samplePool({ nodeGroup: { name: 'web' } }, { metadata: { name: `naming-${index}` } }),
    );
    const triggeredBy = (...pools: readonly WindowsPool[]) => {
      const { watches, begin, done } = watching(...pools);
      begin();
      done.splice(0);
      watches.node({ after: node });
      return done.filter((each) => each.startsWith('wake'));
    };
    const having = samplePool({}, { status: knownStatus() });
    assert.deepEqual(triggeredBy(...naming, having), ['wake web']);
    assert.equal(triggeredBy(...naming).length, 3);
  });

  it('of a pod of the operator verifies its node again, and triggers its pool', () => {
    const { watches, begin, done } = watching(web);
    begin();
    done.splice(0);
    watches.nodePod({ after: sampleNodePod() });
    assert.deepEqual(done.splice(0), ['pods of pools', 'pods of membership', 'wake web']);
    watches.nodePod({ before: sampleNodePod(), after: sampleNodePod({ phase: 'Failed' }) });
    assert.deepEqual(done.splice(0), ['pods of pools', 'pods of membership', 'wake web']);
    watches.nodePod({ after: sampleNodePod({ pool: '' }) });
    assert.deepEqual(done, []);
  });

  it('in whether the pods of the operator can be listed triggers the pools that need them', () => {
    const verification = { requiredImages: ['a'], imagePrePull: { timeout: '30m' } };
    const pulling = samplePool({ verification }, { metadata: { name: 'pulling' } });
    const { watches, begin, done } = watching(web, pulling);
    begin();
    done.splice(0);
    watches.nodePodsListed();
    assert.deepEqual(done, ['wake pulling']);
  });

  it('of a list of hosts or a RuntimeClass triggers the pools that use it', () => {
    const { watches, begin, done } = watching(web);
    begin();
    done.splice(0);
    watches.selected('web');
    watches.runtimeClass({ after: sampleRuntimeClass(web, { name: 'windows-2022' }) });
    watches.runtimeClass({ after: sampleRuntimeClass(web, { name: 'another' }) });
    assert.deepEqual(done, ['declare later', 'wake web', 'wake web']);
  });
});
