import assert from 'node:assert/strict';
import fc from 'fast-check';
import { NODE_GROUP_LABEL } from '../api/labels.ts';
import type { NodeMembershipView } from '../model/nodeMembershipView.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { existingPool, NOW, sampleNode, samplePool } from '../testing/fixtures.ts';
import { NodeMembership } from './nodeMembership.ts';

const expected = {
  spec: existingPool().spec,
  serverVersion: 'v1.36.3',
  joinGraceMs: 0,
  taints: { gate: false, quarantine: false },
  reportedBy: undefined,
};

/** A node with labels, and the ownership record of a pool. */
function node(name: string, labels: Readonly<Record<string, string>>, owner?: string): NodeRecord {
  const ownership = owner === undefined ? '' : JSON.stringify({ pool: owner, gated: false, labels: {}, taints: [] });
  return sampleNode({ name, labels, ownership });
}

/** A pool that was created at this minute and selects the nodes with one of these values of the label. */
function pool(name: string, values: readonly string[], minute = 0, deleting = false) {
  const metadata = {
    name,
    creationTimestamp: `2026-03-01T11:${String(minute).padStart(2, '0')}:00Z`,
    ...(deleting && { deletionTimestamp: '2026-03-01T13:00:00Z' }),
  };
  const matchExpressions = [{ key: 'site', operator: 'In' as const, values: [...values] }];
  return existingPool({ existingNodes: { selector: { matchExpressions } } }, { metadata });
}

class Fixture {
  nodes: NodeRecord[] = [];
  groups = new Map<string, string>();
  readonly instances = {
    pools: new Map<string, string>(),
    revision: 0,
    poolOfInstance(id: string) {
      return this.pools.get(id);
    },
  };
  /** How many nodes with the label of a node group were evaluated. */
  evaluated = 0;
  woken: string[] = [];
  readonly nodeMembership = new NodeMembership({
    nodes: () => this.nodes,
    poolOfGroup: (group) => {
      this.evaluated += 1;
      return this.groups.get(group);
    },
    instances: this.instances,
    wake: (name) => this.woken.push(name),
    now: () => NOW,
  });

  put(changed: NodeRecord): void {
    const before = this.nodes.find(({ name }) => name === changed.name);
    this.nodes = [...this.nodes.filter(({ name }) => name !== changed.name), changed];
    this.nodeMembership.follow(before, changed);
  }

  drop(name: string): void {
    const before = this.nodes.find((each) => each.name === name);
    this.nodes = this.nodes.filter((each) => each.name !== name);
    this.nodeMembership.follow(before, undefined);
  }

  declare(declared: ReturnType<typeof pool>): void {
    this.nodeMembership.declare(declared.metadata.name, declared);
    // The change triggers the pool.
    this.of(declared.metadata.name);
  }

  /** The nodes of a pool: their number, those that another pool owns, and those to release. */
  of(name: string): { held: number; contested: NodeMembershipView['contested']; toRelease: string[] } {
    const { poolNodes, membership, contested } = this.nodeMembership.of(name, expected);
    return {
      held: poolNodes.total,
      contested,
      toRelease: membership.toRelease.map((each) => each.name),
    };
  }
}

const NOTHING = { held: 0, contested: undefined, toRelease: [] };

describe('a change of a pool of existing nodes', () => {
  const marked = (name: string) => {
    const declared = pool(name, [name]);
    return { ...declared, status: { tracking: { marks: ['label/team=web'] } } };
  };

  it('evaluates only the nodes that the pool selects or owns, however many nodes the other pools own', () => {
    const fixture = new Fixture();
    const pools = Array.from({ length: 20 }, (_, index) => `pool-${index}`);
    for (const name of pools) fixture.declare(pool(name, [name]));
    for (const [index, site] of [...pools, ...pools, ...pools].entries())
      fixture.put(node(`n-${index}`, { site, [NODE_GROUP_LABEL]: 'unmanaged' }, site));
    fixture.evaluated = 0;
    fixture.declare(marked('pool-7'));
    assert.equal(fixture.evaluated, 3);
    fixture.evaluated = 0;
    for (const name of pools) fixture.nodeMembership.declare(name, undefined);
    for (const name of pools) fixture.declare(pool(name, [name]));
    assert.equal(fixture.evaluated, 2 * 60);
  });
});

describe('a pool of existing nodes that changes all the time', () => {
  it('has its nodes settled when it is reconciled, and not at each change', () => {
    const fixture = new Fixture();
    for (let index = 0; index < 10; index++)
      fixture.put(node(`n-${index}`, { site: 'fra', [NODE_GROUP_LABEL]: 'unmanaged' }));
    fixture.evaluated = 0;
    for (let turn = 0; turn <= 100; turn++) fixture.nodeMembership.declare('a', pool('a', [turn % 2 ? 'ams' : 'fra']));
    assert.equal(fixture.evaluated, 0);
    assert.deepEqual([fixture.of('a').held, fixture.evaluated], [10, 10]);
  });
});

describe('a change of a node that a hundred pools select', () => {
  const names = Array.from({ length: 100 }, (_, index) => `pool-${String(index).padStart(2, '0')}`);
  const selected = () => {
    const fixture = new Fixture();
    for (const name of names) fixture.declare(pool(name, ['fra', 'ams']));
    for (const name of ['m', 'n']) fixture.put(node(name, { site: 'fra' }));
    fixture.woken = [];
    return fixture;
  };

  it('triggers only the pool that holds it', () => {
    const fixture = selected();
    fixture.put(node('n', { site: 'ams' }));
    fixture.put(node('n', { site: 'ams' }, 'pool-00'));
    assert.deepEqual(fixture.woken, ['pool-00', 'pool-00']);
    assert.deepEqual(fixture.of('pool-99').contested, { node: 'm', holder: 'pool-00', more: 1 });
  });

  it('triggers all of them if another pool holds it, or if it is gone', () => {
    const fixture = selected();
    fixture.put(node('n', { site: 'fra' }, 'pool-07'));
    assert.deepEqual(new Set(fixture.woken.splice(0)), new Set(names));
    assert.deepEqual([fixture.of('pool-07').held, fixture.of('pool-00').held], [1, 1]);
    fixture.drop('n');
    assert.deepEqual(new Set(fixture.woken), new Set(names));
    assert.deepEqual(fixture.of('pool-99').contested, { node: 'm', holder: 'pool-00', more: 0 });
  });
});

describe('what a pool selects', () => {
  it('is derived once for all changes since the pool was reconciled', () => {
    const fixture = new Fixture();
    fixture.put(node('n', { site: 'fra' }));
    let derived = 0;
    const change = () =>
      fixture.nodeMembership.declareLater('a', () => {
        derived += 1;
        fixture.declare(pool('a', ['fra']));
      });
    for (let event = 0; event < 100; event++) change();
    assert.equal(derived, 0);
    assert.deepEqual([fixture.of('a').held, fixture.of('a').held, derived], [1, 1, 1]);
    change();
    fixture.nodeMembership.declare('a', undefined);
    assert.deepEqual([fixture.of('a').held, derived], [0, 1]);
  });
});

describe('the nodes of pools of existing nodes', () => {
  it('follow their labels', () => {
    const fixture = new Fixture();
    fixture.declare(pool('a', ['fra']));
    fixture.put(node('n', { site: 'ams' }));
    assert.deepEqual([fixture.of('a'), fixture.woken], [NOTHING, []], 'a node that no pool selects triggers no pool');
    fixture.put(node('n', { site: 'fra' }));
    assert.deepEqual([fixture.of('a'), fixture.woken.splice(0)], [{ ...NOTHING, held: 1 }, ['a']]);
    fixture.put(node('n', { site: 'ams' }, 'a'));
    assert.deepEqual([fixture.of('a'), fixture.woken.splice(0)], [{ ...NOTHING, toRelease: ['n'] }, ['a']]);
    fixture.put(node('n', { site: 'ams' }));
    assert.deepEqual([fixture.of('a'), fixture.woken.splice(0)], [NOTHING, ['a']]);
  });

  it('belong to the older of two pools, or to the first by name if they have the same age', () => {
    for (const [first, second] of [
      [pool('z', ['fra'], 1), pool('a', ['fra'], 2)],
      [pool('a', ['fra'], 1), pool('b', ['fra'], 1)],
    ] as const) {
      for (const order of [
        [first, second],
        [second, first],
      ] as const) {
        const fixture = new Fixture();
        fixture.put(node('n', { site: 'fra' }));
        for (const each of order) fixture.declare(each);
        const { name } = first.metadata;
        assert.equal(fixture.of(name).held, 1);
        assert.deepEqual(fixture.of(second.metadata.name).contested, { node: 'n', holder: name, more: 0 });
      }
    }
  });

  it('stay with the pool that owns them until it has released them, even if another one is older', () => {
    const fixture = new Fixture();
    fixture.declare(pool('young', ['fra'], 9));
    fixture.put(node('n', { site: 'fra' }, 'young'));
    fixture.declare(pool('old', ['fra', 'ams'], 1));
    assert.deepEqual(
      [fixture.of('young').held, fixture.of('old').contested],
      [1, { node: 'n', holder: 'young', more: 0 }],
    );
    fixture.declare(pool('young', ['fra'], 9, true));
    assert.deepEqual(fixture.of('young'), { ...NOTHING, toRelease: ['n'] });
    assert.deepEqual(fixture.of('old').held, 0);
    fixture.put(node('n', { site: 'fra' }));
    assert.deepEqual([fixture.of('young'), fixture.of('old').held], [NOTHING, 1]);
  });

  it('are free when the pool that owned them is gone', () => {
    const fixture = new Fixture();
    fixture.declare(pool('gone', ['fra']));
    fixture.declare(pool('next', ['fra'], 5));
    fixture.put(node('n', { site: 'fra' }, 'gone'));
    fixture.woken = [];
    fixture.nodeMembership.declare('gone', undefined);
    assert.deepEqual([fixture.of('next').held, fixture.woken], [1, ['next']]);
    assert.deepEqual(fixture.of('gone'), NOTHING);
  });

  it('do not include those of the node group of another pool', () => {
    const fixture = new Fixture();
    fixture.declare(pool('a', ['fra']));
    const managed = { site: 'fra', 'eks.amazonaws.com/nodegroup': 'web' };
    fixture.put(node('n', managed));
    assert.equal(fixture.of('a').held, 1, 'a group that no pool has');
    fixture.groups.set('web', 'web');
    fixture.nodeMembership.reconsider(fixture.nodes);
    assert.deepEqual(fixture.of('a'), { ...NOTHING, contested: { node: 'n', holder: 'web', more: 0 } });
    fixture.put(node('n', managed, 'a'));
    assert.deepEqual(fixture.of('a').toRelease, ['n']);
  });

  it('do not include an instance of the node group of another pool, which has lost the label of the group', () => {
    const fixture = new Fixture();
    fixture.declare(pool('a', ['fra']));
    const escaped = { ...node('n', { site: 'fra' }, 'a'), providerID: 'aws:///eu-west-1a/i-1' };
    fixture.put(escaped);
    assert.equal(fixture.of('a').held, 1, 'the instances are not listed yet');
    fixture.instances.pools.set('i-1', 'web');
    fixture.instances.revision += 1;
    assert.deepEqual(fixture.of('a'), { ...NOTHING, toRelease: ['n'] });
    fixture.put({ ...escaped });
    fixture.instances.pools.delete('i-1');
    fixture.instances.revision += 1;
    assert.equal(fixture.of('a').held, 1, 'the instance has left the node group');
    fixture.instances.pools.set('i-1', 'web');
    fixture.instances.revision += 1;
    assert.deepEqual(fixture.of('a'), { ...NOTHING, toRelease: ['n'] });
    assert.equal(fixture.nodeMembership.confirms(pool('a', ['fra']), {}, escaped), false);
  });

  it('are read without the cache when they left the watch', async () => {
    const fixture = new Fixture();
    fixture.declare(pool('a', ['fra']));
    const held = node('n', { site: 'fra' }, 'a');
    fixture.put(held);
    fixture.drop('n');
    const { membership } = fixture.nodeMembership.of('a', expected);
    assert.deepEqual([fixture.of('a'), membership.nextReadAt], [NOTHING, Number.NEGATIVE_INFINITY]);
    const read = async () => ({ ok: true, value: held }) as const;
    await membership.unwatchedNodes.read(() => true, { read }, NOW, new AbortController().signal);
    assert.deepEqual(fixture.of('a').toRelease, ['n']);
    fixture.put(held);
    assert.deepEqual(fixture.of('a'), { ...NOTHING, held: 1 });
  });

  it('do not include those that are being deleted', () => {
    const fixture = new Fixture();
    fixture.declare(pool('a', ['fra']));
    fixture.put(node('n', { site: 'fra' }));
    fixture.put({ ...node('n', { site: 'fra' }), deleting: true });
    assert.deepEqual(
      [fixture.of('a'), fixture.nodeMembership.of('a', expected).membership.nextReadAt],
      [NOTHING, Number.POSITIVE_INFINITY],
    );
  });

  describe('in a list of hosts', () => {
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
    const listedOf = (fixture: Fixture) => fixture.nodeMembership.of('a', expected).listed;

    it('are added and removed with their entry, by any of their addresses, case-insensitively', () => {
      const fixture = new Fixture();
      fixture.put(host('m', ['10.0.0.1', 'WIN-M.example.com']));
      fixture.put(host('n', ['10.0.0.2']));
      fixture.nodeMembership.declare('a', listing(), { list: seen('win-m.example.com', '10.0.0.9') });
      assert.deepEqual([fixture.of('a').held, listedOf(fixture)?.unknown], [1, ['10.0.0.9']]);
      fixture.nodeMembership.declare('a', listing(), { list: seen('10.0.0.2') });
      assert.deepEqual(
        [fixture.of('a').held, listedOf(fixture)?.unknown, listedOf(fixture)?.hasUsernames],
        [1, [], true],
      );
      fixture.put(host('n', ['10.0.0.3']));
      assert.deepEqual([fixture.of('a').held, listedOf(fixture)?.unknown], [0, ['10.0.0.2']]);
    });

    it('are kept while the list is unknown, and released when it does not exist', () => {
      const fixture = new Fixture();
      fixture.put(host('n', ['10.0.0.1'], 'a'));
      fixture.put(host('m', ['10.0.0.2']));
      fixture.nodeMembership.declare('a', listing());
      assert.deepEqual(fixture.of('a'), { ...NOTHING, held: 1 });
      fixture.nodeMembership.declare('a', listing(), { list: { kind: 'absent' } });
      assert.deepEqual(fixture.of('a'), { ...NOTHING, toRelease: ['n'] });
    });

    it('are combined with those that the selector matches', () => {
      const fixture = new Fixture();
      fixture.put(host('n', ['10.0.0.1']));
      fixture.put({ ...host('m', ['10.0.0.2']), labels: { site: 'ams' } });
      fixture.nodeMembership.declare('a', listing({ selector: { matchLabels: { site: 'ams' } } }), {
        list: seen('10.0.0.1'),
      });
      assert.equal(fixture.of('a').held, 2);
    });

    it('trigger the pool when any node gets or loses an address of the list', () => {
      const fixture = new Fixture();
      fixture.put(host('n', ['10.0.0.1']));
      fixture.nodeMembership.declare('a', listing({ selector: { matchLabels: { site: 'fra' } } }), {
        list: seen('10.0.0.2'),
      });
      assert.deepEqual(listedOf(fixture)?.unknown, ['10.0.0.2']);
      fixture.woken = [];
      fixture.put(host('n', ['10.0.0.2']));
      assert.deepEqual([listedOf(fixture)?.unknown, fixture.woken.splice(0)], [[], ['a', 'a']]);
      fixture.put(host('n', ['10.0.0.2']));
      fixture.put(host('m', ['10.0.0.7']));
      assert.deepEqual(fixture.woken.splice(0), ['a', 'a'], 'the pool holds them');
      fixture.drop('n');
      assert.deepEqual(listedOf(fixture)?.unknown, ['10.0.0.2']);
    });

    const resolved = (entries: readonly string[], found: Readonly<Record<string, readonly string[] | string>>) => ({
      ...seen(...entries),
      hosts: new Map(
        Object.entries(found).map(([entry, answer]) => [
          entry,
          typeof answer === 'string' ? { addresses: [], error: answer } : { addresses: answer, error: '' },
        ]),
      ),
    });

    it('are added by the address of their DNS name, and by the DNS name of their address', () => {
      const fixture = new Fixture();
      fixture.put(host('m', ['10.0.0.1']));
      fixture.put(host('n', ['win-n.example.com']));
      const list = resolved(['Win-M.example.com', '10.0.0.2'], {
        'win-m.example.com': ['10.0.0.1'],
        '10.0.0.2': ['win-n.example.com'],
      });
      fixture.nodeMembership.declare('a', listing(), { list });
      assert.deepEqual([fixture.of('a').held, listedOf(fixture)?.unknown], [2, []]);
      const read = { ...host('m', ['10.0.0.1'], 'a'), labels: { 'kubernetes.io/os': 'windows' } };
      assert.ok(fixture.nodeMembership.confirms(listing(), { list }, read));
      const unanswered = resolved(['win-x'], {});
      assert.ok(!fixture.nodeMembership.confirms(listing(), { list: unanswered }, read), 'it may not be listed');
    });

    it('stay at a start until their address was looked up, and leave when the awaited host has joined', () => {
      const fixture = new Fixture();
      fixture.put(host('n', ['win-n.example.com'], 'a'));
      fixture.nodeMembership.declare('a', listing(), { list: resolved(['10.0.0.2'], {}) });
      assert.equal(fixture.of('a').held, 1);
      fixture.nodeMembership.declare('a', listing(), { list: resolved(['win-2'], { 'win-2': 'ETIMEOUT' }) });
      assert.equal(fixture.of('a').held, 1);
      fixture.put(host('m', ['win-2']));
      assert.deepEqual([fixture.of('a').held, fixture.of('a').toRelease], [1, ['n']]);
    });

    it('leave when their DNS name resolves to another address, which is then unknown', () => {
      const fixture = new Fixture();
      fixture.put(host('m', ['10.0.0.1'], 'a'));
      fixture.nodeMembership.declare('a', listing(), { list: resolved(['win-m'], { 'win-m': ['10.0.0.1'] }) });
      assert.equal(fixture.of('a').held, 1);
      fixture.nodeMembership.declare('a', listing(), { list: resolved(['win-m'], { 'win-m': ['10.0.0.9'] }) });
      assert.deepEqual(fixture.of('a').toRelease, ['m']);
      const { unknown, lookups } = listedOf(fixture) ?? {};
      assert.deepEqual([unknown, lookups?.get('win-m')], [['win-m'], 'resolves to 10.0.0.9']);
    });

    it('stay while a DNS name that no node has cannot be looked up', () => {
      const fixture = new Fixture();
      fixture.put(host('m', ['10.0.0.1'], 'a'));
      fixture.put(host('n', ['win-n'], 'a'));
      for (const [answer, unanswered] of [
        [{}, ['win-m']],
        [{ 'win-m': 'ETIMEOUT', 'win-n': 'ETIMEOUT' }, ['win-m']],
        [{ 'win-m': [], 'win-n': [] }, []],
      ] as const) {
        fixture.nodeMembership.declare('a', listing(), { list: resolved(['win-m', 'win-n'], answer) });
        const isKept = unanswered.length > 0;
        assert.deepEqual(
          [fixture.of('a').held, fixture.of('a').toRelease, listedOf(fixture)?.unanswered],
          [isKept ? 2 : 1, isKept ? [] : ['m'], unanswered],
          JSON.stringify(answer),
        );
      }
    });

    it('are listed twice by their address and their DNS name, but not by a name that several addresses have', () => {
      const fixture = new Fixture();
      const names = ['10.0.0.1', '10.0.0.2', '10.0.0.3', 'win-1'];
      const list = resolved(names, { 'win-1': ['10.0.0.1'], '10.0.0.2': ['dhcp'], '10.0.0.3': ['dhcp'] });
      fixture.nodeMembership.declare('a', listing(), { list });
      assert.deepEqual(listedOf(fixture)?.doubles, [['10.0.0.1', 'win-1']]);
    });

    it('are not unknown addresses if another pool owns them', () => {
      const fixture = new Fixture();
      fixture.put(host('n', ['10.0.0.1'], 'b'));
      fixture.declare(pool('b', ['fra']));
      fixture.nodeMembership.declare('a', listing(), { list: seen('10.0.0.1') });
      assert.deepEqual(
        [fixture.of('a').contested, listedOf(fixture)?.unknown],
        [{ node: 'n', holder: 'b', more: 0 }, []],
      );
    });
  });

  it('are released when the pool gets a node group', () => {
    const fixture = new Fixture();
    fixture.declare(pool('a', ['fra']));
    fixture.put(node('n', { site: 'fra' }));
    fixture.nodeMembership.declare('a', samplePool());
    assert.deepEqual(fixture.of('a'), NOTHING);
  });

  it('are those of the Machines, whichever of these have changed since the pool was reconciled', () => {
    const names = ['m', 'n', 'o'];
    const ids = ['sim://1', 'sim://2'];
    const { existingNodes: _none, ...spec } = existingPool().spec;
    const ref = {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      namespace: 'c',
      name: 'w',
    } as const;
    const ofMachines = { ...existingPool({}, { metadata: { name: 'a' } }), spec: { ...spec, machines: { ref } } };
    const machines = fc.dictionary(fc.constantFrom(...names), fc.constantFrom(...ids)).map((all) => ({
      machines: new Map(Object.entries(all).map(([name, id]) => [name, new Set([id])])),
    }));
    const anyNode = fc
      .tuple(fc.constantFrom(...names), fc.constantFrom(...ids))
      .map(([name, providerID]) => ({ node: { ...node(name, {}), providerID } }));
    const reconcile = fc.constant({ reconcile: true } as const);
    fc.assert(
      fc.property(fc.array(fc.oneof(machines, anyNode, reconcile), { maxLength: 20 }), (events) => {
        const fixture = new Fixture();
        let last: Parameters<NodeMembership['declare']>[2] = {};
        for (const event of events) {
          if ('node' in event) fixture.put(event.node);
          else if ('reconcile' in event) fixture.of('a');
          else {
            last = event;
            fixture.nodeMembership.declare('a', ofMachines, event);
          }
        }
        const rebuilt = new Fixture();
        for (const each of fixture.nodes) rebuilt.put(each);
        if (last.machines) rebuilt.nodeMembership.declare('a', ofMachines, last);
        assert.deepEqual(fixture.of('a'), rebuilt.of('a'));
      }),
      { numRuns: 1_000 },
    );
  });

  it('do not depend on the order of events', () => {
    const sites = ['fra', 'ams', 'lhr'];
    const anyPool = fc
      .tuple(fc.constantFrom('a', 'b', 'c'), fc.subarray(sites, { minLength: 1 }), fc.nat({ max: 2 }), fc.boolean())
      .map(([name, values, minute, deleting]) => ({ pool: pool(name, values, minute, deleting) }));
    const anyNode = fc
      .tuple(fc.constantFrom('m', 'n'), fc.constantFrom(...sites), fc.constantFrom(undefined, 'a', 'b', 'gone'))
      .map(([name, site, owner]) => ({ node: node(name, { site }, owner) }));
    const end = fc.record({ ends: fc.constantFrom('a', 'b', 'c') });
    fc.assert(
      fc.property(fc.array(fc.oneof(anyPool, anyNode, end), { maxLength: 20 }), (events) => {
        const fixture = new Fixture();
        const pools = new Map<string, ReturnType<typeof pool>>();
        for (const event of events) {
          if ('node' in event) fixture.put(event.node);
          else if ('ends' in event) {
            pools.delete(event.ends);
            fixture.nodeMembership.declare(event.ends, undefined);
          } else {
            pools.set(event.pool.metadata.name, event.pool);
            fixture.declare(event.pool);
          }
        }
        const rebuilt = new Fixture();
        for (const each of pools.values()) rebuilt.declare(each);
        for (const each of fixture.nodes) rebuilt.put(each);
        for (const name of ['a', 'b', 'c']) assert.deepEqual(fixture.of(name), rebuilt.of(name), name);
      }),
      { numRuns: 1_000 },
    );
  });
});
