import assert from 'node:assert/strict';
import fc from 'fast-check';
import { GATE_TAINT_KEY, QUARANTINE_TAINT_KEY } from '../labels.ts';
import type { NodeRecord, Taint } from '../ports/nodes.ts';
import { MINUTE, NOW, sampleNode, samplePool } from '../testing/fixtures.ts';
import { Roster } from './roster.ts';
import { Rosters } from './rosters.ts';
import type { RosterView } from './rosterView.ts';
import type { Expectation } from './verify.ts';

const GRACE = 15 * MINUTE;
const expecting = (minimumRevision?: number, quarantine = true): Expectation => ({
  spec: samplePool({ verification: { ...(minimumRevision !== undefined && { minimumRevision }) } }).spec,
  serverVersion: 'v1.36.3',
  joinGraceMs: GRACE,
  taints: { gate: quarantine, quarantine },
  teller: quarantine ? 'web' : undefined,
});

/** Everything that can be seen of a roster. */
function read(roster: RosterView) {
  const { total, ready, verified, failing, joining, warned, mislabelled, builds, nextGraceEnd } = roster;
  const { mistainted, untold, gated, quarantined, belowMinimum } = roster;
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
    untold,
    gated,
    quarantined,
    belowMinimum,
    builds: sorted,
    nextGraceEnd,
    instances: ['', 'i-1', 'i-2'].filter((id) => roster.hasInstance(id)),
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
    taints: fc.subarray<Taint>([
      { key: 'os', value: 'windows', effect: 'NoSchedule' },
      { key: GATE_TAINT_KEY, effect: 'NoSchedule' },
      { key: QUARANTINE_TAINT_KEY, value: 'WrongBuild', effect: 'NoSchedule' },
    ]),
  })
  .map((change) => sampleNode(change as Partial<NodeRecord>));

const anyChange = fc.oneof(
  { weight: 6, arbitrary: anyNode.map((node) => ({ kind: 'put' as const, node })) },
  { weight: 2, arbitrary: fc.constantFrom('a', 'b', 'c', 'd', 'e').map((name) => ({ kind: 'drop' as const, name })) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('spec' as const),
      floor: fc.constantFrom(undefined, 2000),
      quarantine: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom(MINUTE, GRACE).map((ms) => ({ kind: 'wait' as const, ms })) },
);

describe('a roster', () => {
  it('that followed every change reads like one that is made at the end', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 30, size: 'max' }), (changes) => {
        let now = NOW;
        let expected = expecting();
        const nodes = new Map<string, NodeRecord>();
        const roster = new Roster([], expected, now);
        for (const change of changes) {
          if (change.kind === 'put') {
            nodes.set(change.node.name, change.node);
            roster.put(change.node, now);
          } else if (change.kind === 'drop') {
            nodes.delete(change.name);
            roster.drop(change.name);
          } else if (change.kind === 'spec') expected = expecting(change.floor, change.quarantine);
          else now += change.ms;
        }
        roster.judge(expected, now);
        assert.deepEqual(read(roster), read(new Roster(nodes.values(), expected, now)));
      }),
      { numRuns: 500 },
    );
  });

  it('lists nodes by name, however they came', () => {
    const bad = (name: string) => sampleNode({ name, taints: [] });
    const roster = new Roster([bad('c'), bad('a'), bad('b')], expecting(), NOW);
    assert.deepEqual(
      roster.failing.map(({ node }) => node.name),
      ['a', 'b', 'c'],
    );
  });

  it('says when the first joining node turns', () => {
    const young = (name: string, age: number) => sampleNode({ name, ready: 'False', createdAt: NOW - age });
    const roster = new Roster([young('a', MINUTE), young('b', 3 * MINUTE)], expecting(), NOW);
    assert.equal(roster.nextGraceEnd, NOW + 12 * MINUTE);
    assert.equal(new Roster([], expecting(), NOW).nextGraceEnd, Number.POSITIVE_INFINITY);
  });
});

describe('the rosters of all pools', () => {
  const inGroup = (name: string, group: string) =>
    sampleNode({ name, labels: { ...sampleNode().labels, 'eks.amazonaws.com/nodegroup': group } });

  it('read the cache once and follow the events of their node group from then on', () => {
    let reads = 0;
    const cached = [inGroup('a', 'web')];
    const rosters = new Rosters(
      () => {
        reads += 1;
        return cached;
      },
      () => NOW,
    );
    const roster = rosters.of('pool', 'web', expecting());
    rosters.follow(undefined, inGroup('b', 'web'));
    rosters.follow(undefined, inGroup('x', 'api'));
    assert.equal(rosters.of('pool', 'web', expecting()), roster);
    assert.deepEqual([roster.total, reads], [2, 1]);
    rosters.follow(inGroup('b', 'web'), undefined);
    assert.equal(roster.total, 1);
  });

  it('let a node go that moves to another group', () => {
    const rosters = new Rosters(
      () => [inGroup('a', 'web')],
      () => NOW,
    );
    const web = rosters.of('web', 'web', expecting());
    rosters.follow(inGroup('a', 'web'), inGroup('a', 'api'));
    assert.equal(web.total, 0);
  });

  it('forget a pool that is gone, and one whose group is another', () => {
    const rosters = new Rosters(
      (group) => [inGroup(`of-${group}`, group)],
      () => NOW,
    );
    const first = rosters.of('pool', 'web', expecting());
    assert.equal(rosters.of('pool', 'api', expecting()).total, 1);
    rosters.follow(undefined, inGroup('b', 'web'));
    assert.equal(first.total, 1, 'the roster of the former group is not kept up');
    rosters.forget('pool');
    rosters.forget('pool');
    assert.notEqual(rosters.of('pool', 'web', expecting()), first);
  });
});
