import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { NodeMembershipView } from '../../model/nodeMembership.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { existingPool, NOW, sampleNode, samplePool } from '../../testing/fixtures.ts';
import { NodeMembership } from './nodeMembership.ts';

const expected = {
  spec: existingPool().spec,
  serverVersion: 'v1.36.3',
  joinGraceMs: 0,
  taints: { gate: false, quarantine: false },
  reportedBy: undefined,
};

/** A node with labels, and the claim of a pool on it. */
function node(name: string, labels: Readonly<Record<string, string>>, owner?: string): NodeRecord {
  const ownership = owner === undefined ? '' : JSON.stringify({ pool: owner, gated: false, labels: {}, taints: [] });
  return sampleNode({ name, labels, ownership });
}

/** A pool that was made at this minute and wants the nodes that have one of these values of the label. */
function pool(name: string, values: readonly string[], minute = 0, going = false) {
  const metadata = {
    name,
    creationTimestamp: `2026-03-01T11:${String(minute).padStart(2, '0')}:00Z`,
    ...(going && { deletionTimestamp: '2026-03-01T13:00:00Z' }),
  };
  const matchExpressions = [{ key: 'site', operator: 'In' as const, values: [...values] }];
  return existingPool({ existingNodes: { selector: { matchExpressions } } }, { metadata });
}

class Stage {
  nodes: NodeRecord[] = [];
  groups = new Map<string, string>();
  woken: string[] = [];
  readonly nodeMembership = new NodeMembership({
    nodes: () => this.nodes,
    poolOfGroup: (group) => this.groups.get(group),
    wake: (name) => this.woken.push(name),
    now: () => NOW,
  });

  put(wanted: NodeRecord): void {
    const before = this.nodes.find(({ name }) => name === wanted.name);
    this.nodes = [...this.nodes.filter(({ name }) => name !== wanted.name), wanted];
    this.nodeMembership.follow(before, wanted);
  }

  drop(name: string): void {
    const before = this.nodes.find((each) => each.name === name);
    this.nodes = this.nodes.filter((each) => each.name !== name);
    this.nodeMembership.follow(before, undefined);
  }

  declare(wanted: ReturnType<typeof pool>): void {
    this.nodeMembership.declare(wanted.metadata.name, wanted);
  }

  /** What a pool has: `2 held; n contested by a; n leaving`. */
  of(name: string): { held: number; contested: NodeMembershipView['contested']; toRelease: string[] } {
    const { poolNodes, membership } = this.nodeMembership.of(name, expected);
    return {
      held: poolNodes.total,
      contested: membership.contested,
      toRelease: membership.toRelease.map((each) => each.name),
    };
  }
}

const NOTHING = { held: 0, contested: [], toRelease: [] };

describe('the nodes of pools of existing nodes', () => {
  it('follow their labels', () => {
    const stage = new Stage();
    stage.declare(pool('a', ['fra']));
    stage.put(node('n', { site: 'ams' }));
    assert.deepEqual([stage.of('a'), stage.woken], [NOTHING, []], 'what nobody wants wakes nobody');
    stage.put(node('n', { site: 'fra' }));
    assert.deepEqual([stage.of('a'), stage.woken.splice(0)], [{ ...NOTHING, held: 1 }, ['a']]);
    stage.put(node('n', { site: 'ams' }, 'a'));
    assert.deepEqual([stage.of('a'), stage.woken.splice(0)], [{ ...NOTHING, toRelease: ['n'] }, ['a']]);
    stage.put(node('n', { site: 'ams' }));
    assert.deepEqual([stage.of('a'), stage.woken.splice(0)], [NOTHING, ['a']]);
  });

  it('go to the older of two pools, and by name to one of the same age', () => {
    for (const [first, second] of [
      [pool('z', ['fra'], 1), pool('a', ['fra'], 2)],
      [pool('a', ['fra'], 1), pool('b', ['fra'], 1)],
    ] as const) {
      for (const order of [
        [first, second],
        [second, first],
      ] as const) {
        const stage = new Stage();
        stage.put(node('n', { site: 'fra' }));
        for (const each of order) stage.declare(each);
        const { name } = first.metadata;
        assert.equal(stage.of(name).held, 1);
        assert.deepEqual(stage.of(second.metadata.name).contested, [{ node: 'n', holder: name }]);
      }
    }
  });

  it('stay with the pool that claimed them, however old another one is, until it has given them back', () => {
    const stage = new Stage();
    stage.declare(pool('young', ['fra'], 9));
    stage.put(node('n', { site: 'fra' }, 'young'));
    stage.declare(pool('old', ['fra', 'ams'], 1));
    assert.deepEqual([stage.of('young').held, stage.of('old').contested], [1, [{ node: 'n', holder: 'young' }]]);
    stage.declare(pool('young', ['fra'], 9, true));
    assert.deepEqual(stage.of('young'), { ...NOTHING, toRelease: ['n'] });
    assert.deepEqual(stage.of('old').held, 0);
    stage.put(node('n', { site: 'fra' }));
    assert.deepEqual([stage.of('young'), stage.of('old').held], [NOTHING, 1]);
  });

  it('are free when the pool that claimed them is gone', () => {
    const stage = new Stage();
    stage.declare(pool('gone', ['fra']));
    stage.declare(pool('next', ['fra'], 5));
    stage.put(node('n', { site: 'fra' }, 'gone'));
    stage.woken = [];
    stage.nodeMembership.declare('gone', undefined);
    assert.deepEqual([stage.of('next').held, stage.woken], [1, ['next']]);
    assert.deepEqual(stage.of('gone'), NOTHING);
  });

  it('are not those that EKS makes for another pool', () => {
    const stage = new Stage();
    stage.declare(pool('a', ['fra']));
    const managed = { site: 'fra', 'eks.amazonaws.com/nodegroup': 'web' };
    stage.put(node('n', managed));
    assert.equal(stage.of('a').held, 1, 'a group that no pool has');
    stage.groups.set('web', 'web');
    stage.nodeMembership.reconsider(stage.nodes);
    assert.deepEqual(stage.of('a'), { ...NOTHING, contested: [{ node: 'n', holder: 'web' }] });
    stage.put(node('n', managed, 'a'));
    assert.deepEqual(stage.of('a').toRelease, ['n']);
  });

  it('are read past the cache when they left the watch without a word', async () => {
    const stage = new Stage();
    stage.declare(pool('a', ['fra']));
    const held = node('n', { site: 'fra' }, 'a');
    stage.put(held);
    stage.drop('n');
    const { membership } = stage.nodeMembership.of('a', expected);
    assert.deepEqual([stage.of('a'), membership.nextReadAt], [NOTHING, Number.NEGATIVE_INFINITY]);
    const read = async () => ({ ok: true, value: held }) as const;
    await membership.lostNodes.read(() => true, { read }, NOW, new AbortController().signal);
    assert.deepEqual(stage.of('a').toRelease, ['n']);
    stage.put(held);
    assert.deepEqual(stage.of('a'), { ...NOTHING, held: 1 });
  });

  it('that are being deleted are gone', () => {
    const stage = new Stage();
    stage.declare(pool('a', ['fra']));
    stage.put(node('n', { site: 'fra' }));
    stage.put({ ...node('n', { site: 'fra' }), deleting: true });
    assert.deepEqual(
      [stage.of('a'), stage.nodeMembership.of('a', expected).membership.nextReadAt],
      [NOTHING, Number.POSITIVE_INFINITY],
    );
  });

  describe('that a list of hosts names', () => {
    const listing = (selector?: object) => {
      const instancesConfigMap = { namespace: 'ops', name: 'windows-instances' };
      return existingPool(
        { existingNodes: { instancesConfigMap, ...selector } },
        { metadata: { name: 'a', creationTimestamp: '2026-03-01T11:00:00Z' } },
      );
    };
    const seen = (...addresses: readonly string[]) =>
      ({ kind: 'seen', data: Object.fromEntries(addresses.map((address) => [address, 'username=core'])) }) as const;
    const host = (name: string, addresses: readonly string[], owner?: string) => ({
      ...node(name, { site: 'fra' }, owner),
      addresses,
    });
    const listedOf = (stage: Stage) => stage.nodeMembership.of('a', expected).membership.listed;

    it('come and go with their entry, by any of their addresses and in any case', () => {
      const stage = new Stage();
      stage.put(host('m', ['10.0.0.1', 'WIN-M.example.com']));
      stage.put(host('n', ['10.0.0.2']));
      stage.nodeMembership.declare('a', listing(), seen('win-m.example.com', '10.0.0.9'));
      assert.deepEqual([stage.of('a').held, listedOf(stage)?.unknown], [1, ['10.0.0.9']]);
      stage.nodeMembership.declare('a', listing(), seen('10.0.0.2'));
      assert.deepEqual([stage.of('a').held, listedOf(stage)?.unknown, listedOf(stage)?.hasUsernames], [1, [], true]);
      stage.put(host('n', ['10.0.0.3']));
      assert.deepEqual([stage.of('a').held, listedOf(stage)?.unknown], [0, ['10.0.0.2']]);
    });

    it('stay while the list is not known, and leave when there is none', () => {
      const stage = new Stage();
      stage.put(host('n', ['10.0.0.1'], 'a'));
      stage.put(host('m', ['10.0.0.2']));
      stage.nodeMembership.declare('a', listing());
      assert.deepEqual(stage.of('a'), { ...NOTHING, held: 1 });
      stage.nodeMembership.declare('a', listing(), { kind: 'absent' });
      assert.deepEqual(stage.of('a'), { ...NOTHING, toRelease: ['n'] });
    });

    it('are as welcome as those that the selector names', () => {
      const stage = new Stage();
      stage.put(host('n', ['10.0.0.1']));
      stage.put({ ...host('m', ['10.0.0.2']), labels: { site: 'ams' } });
      stage.nodeMembership.declare('a', listing({ selector: { matchLabels: { site: 'ams' } } }), seen('10.0.0.1'));
      assert.equal(stage.of('a').held, 2);
    });

    it('have an address also when another pool has them', () => {
      const stage = new Stage();
      stage.put(host('n', ['10.0.0.1'], 'b'));
      stage.declare(pool('b', ['fra']));
      stage.nodeMembership.declare('a', listing(), seen('10.0.0.1'));
      assert.deepEqual([stage.of('a').contested, listedOf(stage)?.unknown], [[{ node: 'n', holder: 'b' }], []]);
    });
  });

  it('are let go when the pool gets a node group', () => {
    const stage = new Stage();
    stage.declare(pool('a', ['fra']));
    stage.put(node('n', { site: 'fra' }));
    stage.nodeMembership.declare('a', samplePool());
    assert.deepEqual(stage.of('a'), NOTHING);
  });

  it('are the same however they came about', () => {
    const sites = ['fra', 'ams', 'lhr'];
    const anyPool = fc
      .tuple(fc.constantFrom('a', 'b', 'c'), fc.subarray(sites, { minLength: 1 }), fc.nat({ max: 2 }), fc.boolean())
      .map(([name, values, minute, going]) => ({ pool: pool(name, values, minute, going) }));
    const anyNode = fc
      .tuple(fc.constantFrom('m', 'n'), fc.constantFrom(...sites), fc.constantFrom(undefined, 'a', 'b', 'gone'))
      .map(([name, site, owner]) => ({ node: node(name, { site }, owner) }));
    const end = fc.record({ ends: fc.constantFrom('a', 'b', 'c') });
    fc.assert(
      fc.property(fc.array(fc.oneof(anyPool, anyNode, end), { maxLength: 20 }), (events) => {
        const stage = new Stage();
        const pools = new Map<string, ReturnType<typeof pool>>();
        for (const event of events) {
          if ('node' in event) stage.put(event.node);
          else if ('ends' in event) {
            pools.delete(event.ends);
            stage.nodeMembership.declare(event.ends, undefined);
          } else {
            pools.set(event.pool.metadata.name, event.pool);
            stage.declare(event.pool);
          }
        }
        const anew = new Stage();
        for (const each of pools.values()) anew.declare(each);
        for (const each of stage.nodes) anew.put(each);
        for (const name of ['a', 'b', 'c']) assert.deepEqual(stage.of(name), anew.of(name), name);
      }),
      { numRuns: 1_000 },
    );
  });
});
