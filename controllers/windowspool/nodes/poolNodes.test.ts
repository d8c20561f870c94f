import assert from 'node:assert/strict';
import fc from 'fast-check';
import { GATE_TAINT_KEY, QUARANTINE_TAINT_KEY, VERIFIED_CONDITION } from '../api/labels.ts';
import type { Expectation, PoolNodesView } from '../model/poolNodesView.ts';
import { podName } from '../nodePods/attempts.ts';
import { pullKey } from '../nodePods/preparation.ts';
import type { NodePod } from '../ports/nodePods.ts';
import type { NodeRecord, Taint } from '../ports/nodes.ts';
import { MINUTE, NOW, sampleError, sampleNode, samplePool } from '../testing/fixtures.ts';
import { randomNodePod } from '../testing/randomNodePods.ts';
import { PoolNodes } from './poolNodes.ts';
import { PoolNodesCache } from './poolNodesCache.ts';

const GRACE = 15 * MINUTE;
const IMAGES = { requiredImages: ['a', 'b'], imagePrePull: { timeout: '30m' } };
const expecting = (minimumRevision?: number, quarantine = true, pulls = false): Expectation => ({
  spec: samplePool({
    verification: { ...(minimumRevision !== undefined && { minimumRevision }), ...(pulls && IMAGES) },
  }).spec,
  serverVersion: 'v1.36.3',
  joinGraceMs: GRACE,
  taints: { gate: quarantine, quarantine },
  reportedBy: quarantine ? 'web' : undefined,
});

/** All public properties of the nodes of a pool. */
function read(poolNodes: PoolNodesView) {
  const { total, ready, verified, failing, joining, warned, mislabelled, builds, nextGraceEnd } = poolNodes;
  const { mistainted, unreported, gated, quarantined, belowMinimum, podNeeds, nextPodAt } = poolNodes;
  const sorted = [...builds].sort();
  return {
    total,
    ready,
    verified,
    failing,
    joining,
    warned,
    mislabelled,
    mistainted,
    unreported,
    gated,
    quarantined,
    belowMinimum,
    builds: sorted,
    nextGraceEnd,
    podNeeds,
    nextPodAt,
    instances: ['', 'i-1', 'i-2'].filter((id) => poolNodes.hasInstance(id)),
  };
}

const anyNode = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    ready: fc.constantFrom('True', 'False', 'Unknown'),
    kernelVersion: fc.constantFrom('10.0.20348.2762', '10.0.20348.1', '10.0.17763.5', 'odd'),
    createdAt: fc.constantFrom(NOW - 60 * MINUTE, NOW - MINUTE),
    deleting: fc.boolean(),
    providerID: fc.constantFrom('', 'aws:///eu-west-1a/i-1', 'aws:///eu-west-1a/i-2'),
    verified: fc.constantFrom(undefined, sampleNode().verified),
    images: fc.subarray(['docker.io/library/a:latest', 'docker.io/library/b:latest']),
    taints: fc.subarray<Taint>([
      { key: 'os', value: 'windows', effect: 'NoSchedule' },
      { key: GATE_TAINT_KEY, effect: 'NoSchedule' },
      { key: QUARANTINE_TAINT_KEY, value: 'WrongBuild', effect: 'NoSchedule' },
    ]),
  })
  .map((change) => sampleNode(change as Partial<NodeRecord>));

/** A pod that pulls one of the images on one of the nodes. */
const anyPod = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('a', 'b')).chain(([name, image]) => {
  const { uid } = sampleNode({ name });
  const key = pullKey({ uid }, image, IMAGES.imagePrePull);
  return randomNodePod({ name: podName('image-pull', key, 1), node: name, nodeUid: uid });
});

const anyChange = fc.oneof(
  { weight: 6, arbitrary: anyNode.map((node) => ({ kind: 'put' as const, node })) },
  { weight: 2, arbitrary: fc.constantFrom('a', 'b', 'c', 'd', 'e').map((name) => ({ kind: 'drop' as const, name })) },
  { weight: 2, arbitrary: anyPod.map((pod) => ({ kind: 'pod' as const, pod })) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('spec' as const),
      floor: fc.constantFrom(undefined, 2000),
      quarantine: fc.boolean(),
      pulls: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom(MINUTE, GRACE).map((ms) => ({ kind: 'wait' as const, ms })) },
);

describe('the nodes of a pool', () => {
  it('are the same after incremental changes as after a full computation', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 30, size: 'max' }), (changes) => {
        let now = NOW;
        let expected = expecting();
        const nodes = new Map<string, NodeRecord>();
        const pods = new Map<string, NodePod>();
        const podsOf = ({ uid }: NodeRecord) => [...pods.values()].filter(({ nodeUid }) => nodeUid === uid);
        const poolNodes = new PoolNodes([], expected, now, podsOf);
        for (const change of changes) {
          if (change.kind === 'put') {
            nodes.set(change.node.name, change.node);
            poolNodes.put(change.node, now);
          } else if (change.kind === 'drop') {
            nodes.delete(change.name);
            poolNodes.drop(change.name);
          } else if (change.kind === 'pod') {
            pods.set(change.pod.name, change.pod);
            poolNodes.podsChanged(change.pod.node, now);
          } else if (change.kind === 'spec') expected = expecting(change.floor, change.quarantine, change.pulls);
          else now += change.ms;
        }
        poolNodes.verifyAgainst(expected, now);
        assert.deepEqual(read(poolNodes), read(new PoolNodes(nodes.values(), expected, now, podsOf)));
      }),
      { numRuns: 500 },
    );
  });

  it('are sorted by name', () => {
    const bad = (name: string) => sampleNode({ name, taints: [] });
    const poolNodes = new PoolNodes([bad('c'), bad('a'), bad('b')], expecting(), NOW);
    assert.deepEqual(
      poolNodes.failing.map(({ node }) => node.name),
      ['a', 'b', 'c'],
    );
  });

  it('have the end of the first grace period', () => {
    const young = (name: string, age: number) => sampleNode({ name, ready: 'False', createdAt: NOW - age });
    const poolNodes = new PoolNodes([young('a', MINUTE), young('b', 3 * MINUTE)], expecting(), NOW);
    assert.equal(poolNodes.nextGraceEnd, NOW + 12 * MINUTE);
    assert.equal(new PoolNodes([], expecting(), NOW).nextGraceEnd, Number.POSITIVE_INFINITY);
  });
});

describe('the nodes of a group whose instances are known', () => {
  const onInstance = (id: string, change: Parameters<typeof sampleNode>[0] = {}) =>
    sampleNode({ name: id, providerID: `aws:///eu-west-1a/${id}`, ...change });
  const namesOf = (nodes: readonly { readonly name: string }[]) => nodes.map(({ name }) => name);
  const membersOf = (group: string, ids: readonly string[], unlisted: readonly string[] = []) => ({
    groupOfInstance: new Map(ids.map((id) => [id, group])),
    unlisted: new Set(unlisted),
  });

  function confirmed(): PoolNodes {
    const poolNodes = new PoolNodes([onInstance('i-1'), onInstance('i-2', { ready: 'False' })], expecting(), NOW);
    poolNodes.confirm(membersOf('web', ['i-1', 'i-3']), NOW);
    return poolNodes;
  }

  it('are those on its instances, whatever the labels of others say', () => {
    const poolNodes = confirmed();
    assert.deepEqual([poolNodes.total, poolNodes.unavailable, namesOf(poolNodes.nonMembers)], [1, [], ['i-2']]);
    assert.deepEqual(
      ['i-1', 'i-2', 'i-3'].map((id) => poolNodes.isMember(onInstance(id))),
      [true, false, true],
    );
    assert.ok(poolNodes.hasInstance('i-2'), 'an instance with a node did join');
  });

  it('need a question to AWS when one joins that is not listed, and not again for each change of it', () => {
    const poolNodes = confirmed();
    assert.equal(poolNodes.isConfirmed, false);
    poolNodes.markAsked(NOW);
    poolNodes.put(onInstance('i-2', { resourceVersion: '2', ready: 'False' }), NOW);
    poolNodes.put(onInstance('i-3'), NOW);
    assert.deepEqual([poolNodes.isConfirmed, poolNodes.total], [true, 2]);
    poolNodes.put(onInstance('i-4'), NOW);
    assert.equal(poolNodes.isConfirmed, false);
    poolNodes.markAsked(NOW);
    // An instance of a warm pool has joined the group.
    poolNodes.put(onInstance('i-2', { ready: 'True' }), NOW);
    assert.equal(poolNodes.isConfirmed, false);
  });

  it('cost no more questions when one flips between two states', () => {
    const poolNodes = confirmed();
    let asked = 0;
    for (let flip = 0; flip < 10; flip++) {
      poolNodes.put(onInstance('i-2', { ready: flip % 2 === 0 ? 'True' : 'False' }), NOW + flip);
      if (poolNodes.isConfirmed) continue;
      asked += 1;
      poolNodes.markAsked(NOW + flip);
    }
    assert.equal(asked, 2);
    poolNodes.markAsked(NOW + 300_000);
    poolNodes.put(onInstance('i-2', { ready: 'True' }), NOW + 300_000);
    assert.equal(poolNodes.isConfirmed, false, 'after a time');
  });

  it('follow a later list, and lose what is deleted', () => {
    const poolNodes = confirmed();
    poolNodes.confirm(membersOf('web', ['i-2']), NOW);
    assert.deepEqual([poolNodes.total, namesOf(poolNodes.nonMembers), poolNodes.unavailable], [1, ['i-1'], ['i-2']]);
    poolNodes.leave(onInstance('i-1'));
    assert.deepEqual([namesOf(poolNodes.nonMembers), poolNodes.hasInstance('i-1')], [[], false]);
    assert.equal(poolNodes.nextReadAt, Number.POSITIVE_INFINITY, 'a node that was not counted is not missed');
  });

  it('are also those with the label of a group that is too new to be listed', () => {
    const labels = { ...sampleNode().labels, 'eks.amazonaws.com/nodegroup': 'new' };
    const poolNodes = new PoolNodes([onInstance('i-1'), onInstance('i-2', { labels })], expecting(), NOW);
    poolNodes.confirm(membersOf('web', ['i-3'], ['new']), NOW);
    assert.deepEqual([poolNodes.total, namesOf(poolNodes.nonMembers)], [1, ['i-1']]);
  });

  it('run pods only on instances that are listed: the pods get Secrets, and a kubelet can set a label', () => {
    const labels = { ...sampleNode().labels, 'eks.amazonaws.com/nodegroup': 'new' };
    const pulling = expecting(undefined, true, true);
    const node = onInstance('i-2', { labels, images: [], verified: undefined });
    const poolNodes = new PoolNodes([node], pulling, NOW);
    poolNodes.confirm(membersOf('web', ['i-3'], ['new']), NOW);
    assert.deepEqual([poolNodes.total, poolNodes.isListed(node), poolNodes.podNeeds.length], [1, false, 0]);
    poolNodes.confirm(membersOf('new', ['i-2']), NOW);
    assert.deepEqual([poolNodes.isListed(node), poolNodes.podNeeds.length], [true, 1]);
  });

  it('are counted for each group, by the group of the instance and not by the label', () => {
    const other = { ...sampleNode().labels, 'eks.amazonaws.com/nodegroup': 'next' };
    const nodes = [
      onInstance('i-1', { unschedulable: true }),
      onInstance('i-2', { labels: other }),
      onInstance('i-3', { ready: 'False' }),
    ];
    const poolNodes = new PoolNodes(nodes, expecting(), NOW);
    poolNodes.confirm(membersOf('web', ['i-1', 'i-2', 'i-3']), NOW);
    const { total, ready, verified, unavailable } = poolNodes.inGroup('web');
    assert.deepEqual([total, ready, verified, unavailable], [3, 2, 2, ['i-1', 'i-3']]);
    assert.deepEqual(
      [poolNodes.inGroup('next').total, poolNodes.groupOf(onInstance('i-4', { labels: other }))],
      [0, 'next'],
    );
  });

  it('are all with the label while the instances are not known', () => {
    const poolNodes = new PoolNodes([onInstance('i-1'), onInstance('i-2')], expecting(), NOW);
    assert.deepEqual([poolNodes.total, poolNodes.isConfirmed], [2, true]);
  });
});

describe('the cache of the nodes of pools', () => {
  const inGroup = (name: string, group: string) =>
    sampleNode({ name, labels: { ...sampleNode().labels, 'eks.amazonaws.com/nodegroup': group } });

  it('reads the store once, and then follows the events of the node group', () => {
    let reads = 0;
    const cached = [inGroup('a', 'web')];
    const poolNodesCache = new PoolNodesCache(
      () => {
        reads += 1;
        return cached;
      },
      () => NOW,
    );
    const poolNodes = poolNodesCache.of('pool', ['web'], expecting());
    poolNodesCache.follow(undefined, inGroup('b', 'web'));
    poolNodesCache.follow(undefined, inGroup('x', 'api'));
    assert.equal(poolNodesCache.of('pool', ['web'], expecting()), poolNodes);
    assert.deepEqual([poolNodes.total, reads], [2, 1]);
    poolNodesCache.follow(inGroup('b', 'web'), undefined);
    assert.equal(poolNodes.total, 1);
  });

  it('follows the nodes of all groups of a pool', () => {
    const poolNodesCache = new PoolNodesCache(
      (group) => [inGroup(`of-${group}`, group)],
      () => NOW,
    );
    const poolNodes = poolNodesCache.of('pool', ['web', 'next'], expecting());
    assert.equal(poolNodesCache.of('pool', ['next', 'web'], expecting()), poolNodes);
    poolNodesCache.follow(inGroup('of-web', 'web'), inGroup('of-web', 'next'));
    poolNodesCache.follow(undefined, inGroup('b', 'next'));
    assert.equal(poolNodes.total, 3, 'a node that moves within the pool stays');
    assert.notEqual(poolNodesCache.of('pool', ['next'], expecting()), poolNodes);
    poolNodesCache.follow(undefined, inGroup('c', 'web'));
    assert.equal(poolNodes.total, 3, 'the former nodes are not updated');
  });

  it('removes a node that moves to another group', () => {
    const poolNodesCache = new PoolNodesCache(
      () => [inGroup('a', 'web')],
      () => NOW,
    );
    const web = poolNodesCache.of('web', ['web'], expecting());
    poolNodesCache.follow(inGroup('a', 'web'), inGroup('a', 'api'));
    assert.equal(web.total, 0);
  });

  it('forgets a deleted pool, and one with another group', () => {
    const poolNodesCache = new PoolNodesCache(
      (group) => [inGroup(`of-${group}`, group)],
      () => NOW,
    );
    const first = poolNodesCache.of('pool', ['web'], expecting());
    assert.equal(poolNodesCache.of('pool', ['api'], expecting()).total, 1);
    poolNodesCache.follow(undefined, inGroup('b', 'web'));
    assert.equal(first.total, 1, 'the nodes of the old group are not updated');
    poolNodesCache.forget('pool');
    poolNodesCache.forget('pool');
    assert.notEqual(poolNodesCache.of('pool', ['web'], expecting()), first);
  });
});

describe('what the VPC resource controller reports of a node without pod addresses', () => {
  const node = sampleNode({ name: 'a', allocatable: {}, createdAt: NOW, verified: undefined });
  const other = { ...node, uid: 'uid-other' };
  const unsupported = { reason: 'Unsupported', message: 'The instance type x9.large is not supported for Windows' };
  const good = { ok: true, value: [unsupported] } as const;
  const failed = { ok: false, error: sampleError('unavailable') } as const;
  const later = NOW + MINUTE;

  const rows: readonly (readonly [
    what: string,
    change: (poolNodes: PoolNodes) => void,
    answer: ReturnType<PoolNodes['controllerAnswer']>,
    failing: number,
  ])[] = [
    ['is what was read', () => undefined, { uid: node.uid, at: NOW, answer: good }, 1],
    [
      'stays as it was if the next read fails',
      (poolNodes) => poolNodes.reported(node, failed, later),
      { uid: node.uid, at: later, answer: good },
      1,
    ],
    [
      'changes with the next read',
      (poolNodes) => poolNodes.reported(node, { ok: true, value: [] }, later),
      { uid: node.uid, at: later, answer: { ok: true, value: [] } },
      0,
    ],
    [
      'is not what was read of another node with its name',
      (poolNodes) => {
        poolNodes.put(other, later);
        poolNodes.reported(other, failed, later);
      },
      { uid: other.uid, at: later, answer: failed },
      0,
    ],
    [
      'is not replaced by what was read of an earlier node with its name',
      (poolNodes) => {
        poolNodes.put(other, later);
        poolNodes.reported(other, failed, later);
        poolNodes.reported(node, good, later);
      },
      { uid: other.uid, at: later, answer: failed },
      0,
    ],
    ['is forgotten when it leaves', (poolNodes) => poolNodes.leave(node), undefined, 0],
    [
      'is not kept if it was read while the node left',
      (poolNodes) => {
        poolNodes.leave(node);
        poolNodes.reported(node, good, later);
      },
      undefined,
      0,
    ],
  ];
  for (const [what, change, answer, failing] of rows)
    it(what, () => {
      const poolNodes = new PoolNodes([node], expecting(), NOW);
      poolNodes.reported(node, good, NOW);
      change(poolNodes);
      assert.deepEqual([poolNodes.controllerAnswer('a'), poolNodes.failing.length], [answer, failing]);
    });
});

describe('a node that cannot be read completely', () => {
  it('fails, and nothing is written that could undo what was not read', () => {
    const node = sampleNode({
      name: 'a',
      unreadable: 'spec.taints: a number instead of a list',
      labels: { ...sampleNode().labels, 'node.kubernetes.io/windows-build': '10.0.17763' },
    });
    const poolNodes = new PoolNodes([node], { ...expecting(), owner: 'web' }, NOW);
    const { failing, mistainted, mislabelled, unmarked, unreported } = poolNodes;
    const message = 'cannot be read: spec.taints: a number instead of a list';
    assert.deepEqual(failing[0]?.failures[0], { reason: 'NodeUnreadable', message });
    assert.deepEqual([mistainted, mislabelled, unmarked], [[], [], []]);
    assert.equal(unreported[0]?.report[VERIFIED_CONDITION]?.reason, 'NodeUnreadable');
  });
});
