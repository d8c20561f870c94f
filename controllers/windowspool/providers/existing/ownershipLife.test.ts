import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { TaintSpec } from '../../api/api.gen.ts';
import { GATE_TAINT_KEY, POOL_KEY, QUARANTINE_TAINT_KEY } from '../../api/labels.ts';
import {
  foreignTaints,
  type Marks,
  markChangeFor,
  marksIn,
  operatorMarksOf,
  ownershipOf,
  releaseOf,
} from '../../nodes/ownershipRecord.ts';
import type { NodeMarks, NodeRecord, Taint } from '../../ports/nodes.ts';
import { existingPool, sampleNode } from '../../testing/fixtures.ts';

type Spec = NonNullable<Parameters<typeof existingPool>[0]>;

/** The node after a write, as in the API server. */
function written(node: NodeRecord, marks: NodeMarks | undefined): NodeRecord {
  if (!marks) return node;
  const labels = Object.entries({ ...node.labels, ...marks.labels }).filter(([, value]) => value !== null);
  const changed = [...marks.taints.set, ...marks.taints.remove];
  const kept = node.taints.filter(
    (taint) => !changed.some(({ key, effect }) => key === taint.key && effect === taint.effect),
  );
  return {
    ...node,
    labels: Object.fromEntries(labels) as Record<string, string>,
    taints: [...kept, ...marks.taints.set],
    ownership: marks.ownership ?? '',
  };
}

/** The marks of a pool that had these specs, one after the other. */
const marksOfSpecs = (...specs: readonly Spec[]): Marks =>
  new Set(specs.flatMap((spec) => marksIn(existingPool(spec).spec)));
/** The node in a pool that had other specs before. */
const marked = (node: NodeRecord, spec: Spec = {}, earlier: readonly Spec[] = []) =>
  written(node, markChangeFor(node, 'web', existingPool(spec).spec, marksOfSpecs(spec, ...earlier)));
const bare = (change: Partial<NodeRecord> = {}) => sampleNode({ taints: [], ...change });
const shown = ({ labels, taints, ownership }: NodeRecord) => ({
  labels,
  taints: taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`).sort(),
  ownership,
});

const key = fc.constantFrom('tier', 'team', 'example.com/a', 'constructor');
const value = fc.constantFrom('a', 'b', 'windows', 'Windows');
const taint = fc.record({
  key: fc.constantFrom('os', 'gpu', 'dedicated'),
  value,
  effect: fc.constantFrom<TaintSpec['effect']>('NoSchedule', 'PreferNoSchedule'),
});
const taints = fc.uniqueArray(taint, { selector: ({ key: name, effect }) => `${name}:${effect}` });
const anySpec = fc.record({
  labels: fc.dictionary(key, value, { noNullPrototype: true }),
  taints: taints.map((list) => list.filter((each) => each.key !== 'os')),
  registrationTaint: fc.constantFrom('OSWindows' as const, 'None' as const),
});
const anyNode = fc
  .record({
    labels: fc.dictionary(fc.oneof(key, fc.constant(POOL_KEY)), value, { noNullPrototype: true }),
    taints,
    kernelVersion: fc.constantFrom('10.0.20348.1', '10.0.17763.5', 'odd'),
  })
  .map((change) => sampleNode(change));

describe('an ownership record', () => {
  it('is written with the labels and taints of the pool, and has the previous ones', () => {
    const node = bare({ labels: { tier: 'gold' } });
    const gpu = { key: 'gpu', value: 'a', effect: 'NoSchedule' as const };
    const { labels, taints: found, ownership } = marked(node, { labels: { tier: 'web' }, taints: [gpu] });
    assert.deepEqual(labels, { tier: 'web', [POOL_KEY]: 'web', 'node.kubernetes.io/windows-build': '10.0.20348' });
    assert.deepEqual(found, [{ key: 'os', value: 'windows', effect: 'NoSchedule' }, gpu]);
    assert.deepEqual(JSON.parse(ownership ?? ''), {
      pool: 'web',
      gated: false,
      labels: {
        'node.kubernetes.io/windows-build': { was: null, is: '10.0.20348' },
        tier: { was: 'gold', is: 'web' },
        [POOL_KEY]: { was: null, is: 'web' },
      },
      taints: found,
    });
  });

  it('needs no further change, for any node and spec', () => {
    fc.assert(
      fc.property(anyNode, anySpec, (node, spec) => {
        const marks = marksOfSpecs(spec);
        assert.equal(markChangeFor(marked(node, spec), 'web', existingPool(spec).spec, marks), undefined);
      }),
    );
  });

  it('restores the node exactly, after any changes of the spec', () => {
    fc.assert(
      fc.property(anyNode, fc.array(anySpec, { minLength: 1, maxLength: 4 }), (node, specs) => {
        const last = specs.reduce((each, spec) => marked(each, spec, specs), node);
        assert.deepEqual(shown(written(last, releaseOf(last, false, marksOfSpecs(...specs)))), shown(node));
      }),
    );
  });

  it('undoes only what a spec of the pool has set, whatever a kubelet writes into it', () => {
    const label = fc.record({ was: fc.oneof(value, fc.constantFrom(null, 'not valid!', '\u001b')), is: value });
    const anyEffect = fc.constantFrom('NoSchedule', 'NoExecute', 'PreferNoSchedule');
    const record = fc.record({
      pool: fc.constant('web'),
      gated: fc.boolean(),
      labels: fc.dictionary(key, label, { noNullPrototype: true }),
      taints: fc.array(fc.record({ key: fc.constantFrom('os', 'gpu', 'dedicated'), value, effect: anyEffect })),
    });
    fc.assert(
      fc.property(anyNode, record, anySpec, (node, forged, spec) => {
        const hostile = { ...node, ownership: JSON.stringify(forged) };
        const marks = marksOfSpecs(spec);
        const changes = [
          releaseOf(hostile, false, marks),
          markChangeFor(hostile, 'web', existingPool(spec).spec, marks),
        ];
        const expected = existingPool(spec).spec;
        const own = [...(expected.taints ?? []), { key: 'os', value: 'windows', effect: 'NoSchedule' }];
        for (const change of changes) {
          for (const removed of change?.taints.remove ?? [])
            assert.ok(
              own.some((taint) => isDeepStrictEqual({ ...removed }, { ...taint })),
              JSON.stringify(removed),
            );
          for (const [name, to] of Object.entries(change?.labels ?? {})) {
            const isOwn = name === POOL_KEY || name.endsWith('/windows-build') || Object.hasOwn(spec.labels, name);
            assert.ok(isOwn, name);
            assert.match(to ?? '', /^[a-zA-Z0-9.-]*$/);
          }
        }
      }),
    );
  });

  it('undoes nothing of a pool that never had the node', () => {
    const foreign = [
      { key: 'dedicated', value: 'admin', effect: 'NoSchedule' },
      { key: 'drain', effect: 'NoExecute' },
    ] as const;
    const ownership = JSON.stringify({ pool: 'web', gated: false, labels: {}, taints: foreign });
    const hostile = bare({ taints: foreign, ownership });
    assert.deepEqual(written(hostile, releaseOf(hostile, false, marksOfSpecs({}))).taints, foreign);
  });

  it('keeps the quarantine of the pool that awaits the node', () => {
    const held = { key: QUARANTINE_TAINT_KEY, value: 'WrongBuild', effect: 'NoSchedule' } as const;
    const hostile = bare({ taints: [held], ownership: '{"pool":"web"}' });
    assert.deepEqual(written(hostile, releaseOf(hostile, true, marksOfSpecs({}))).taints, [held]);
  });

  it('never replaces a taint of another owner, which is reported', () => {
    fc.assert(
      fc.property(anyNode, anySpec, (node, spec) => {
        const then = marked(node, spec);
        for (const each of node.taints) assert.ok(then.taints.includes(each), `${each.key} is gone`);
        const foreign = foreignTaints(then, existingPool(spec).spec);
        for (const { found, wanted } of foreign) assert.notEqual(found.value, wanted.value);
        const missing = spec.taints.filter(
          (taint) =>
            !then.taints.some(
              ({ key: name, value: text, effect }) =>
                name === taint.key && effect === taint.effect && text === taint.value,
            ),
        );
        assert.deepEqual(
          foreign.filter(({ wanted }) => wanted.key !== 'os').map(({ wanted }) => wanted),
          missing,
        );
      }),
    );
  });

  it('keeps later changes of others on release, and reverts them before that', () => {
    const owned = marked(bare({ labels: { tier: 'gold' } }), { labels: { tier: 'web' } });
    const edited = { ...owned, labels: { ...owned.labels, tier: 'mine' } };
    assert.equal(
      written(edited, releaseOf(edited, false, marksOfSpecs({ labels: { tier: 'web' } }))).labels.tier,
      'mine',
    );
    assert.equal(marked(edited, { labels: { tier: 'web' } }).labels.tier, 'web');
    assert.equal(marked(edited).labels.tier, 'mine', 'a label that the pool no longer has');
  });

  it('treats os=Windows like os=windows', () => {
    const node = bare({ taints: [{ key: 'os', value: 'Windows', effect: 'NoSchedule' }] });
    assert.deepEqual(marked(node).taints, node.taints);
    assert.deepEqual(foreignTaints(marked(node), existingPool().spec), []);
  });

  it('has whether the node joined with the gate taint', () => {
    const gate: Taint = { key: GATE_TAINT_KEY, effect: 'NoSchedule' };
    const gated = marked(bare({ taints: [gate] }));
    assert.equal(ownershipOf(gated)?.gated, true);
    assert.equal(ownershipOf(marked({ ...gated, taints: [] }))?.gated, true, 'after its release');
    assert.equal(ownershipOf(marked(bare()))?.gated, false);
  });

  it('removes the operator’s own taints on release, also from a node that keeps the rest', () => {
    const held = { key: QUARANTINE_TAINT_KEY, value: 'WrongBuild', effect: 'NoSchedule' } as const;
    const node = marked(bare({ taints: [held, { key: GATE_TAINT_KEY, effect: 'NoSchedule' }] }), {
      labels: { tier: 'web' },
    });
    assert.deepEqual(written(node, releaseOf(node, false, marksOfSpecs({}))).taints, []);
    const kept = written(node, operatorMarksOf(node, false));
    assert.deepEqual([kept.labels.tier, kept.taints.map((each) => each.key), kept.ownership], ['web', ['os'], '']);
  });

  const forged: readonly (readonly [string, string])[] = [
    ['no JSON', '{'],
    ['no object', '"web"'],
    ['nothing', 'null'],
    ['no pool', '{"labels":{"a":{"was":"x","is":"y"}}}'],
    ['invalid lists', '{"pool":"web","labels":[1],"taints":{"a":1}}'],
    [
      'values that are not strings',
      '{"pool":"web","labels":{"a":{"was":1,"is":2},"b":7},"taints":[{"key":1},"x",null]}',
    ],
    [
      'keys that no pool sets',
      '{"pool":"web","labels":{"node-restriction.kubernetes.io/tier":{"was":"secret","is":"x"},"eks.amazonaws.com/a":{"was":"y","is":"x"}},"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]}',
    ],
  ];
  for (const [what, ownership] of forged) {
    it(`changes nothing if another user wrote it with ${what}`, () => {
      const node = bare({
        ownership,
        labels: { 'node-restriction.kubernetes.io/tier': 'x', 'eks.amazonaws.com/a': 'x', a: 'y' },
        taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
      });
      assert.deepEqual(releaseOf(node, false, marksOfSpecs({})), {
        labels: {},
        taints: { set: [], remove: [] },
        ownership: undefined,
      });
    });
  }
});
