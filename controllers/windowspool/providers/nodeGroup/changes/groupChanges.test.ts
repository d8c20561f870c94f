import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { TaintSpec, WindowsPool } from '../../../api/api.gen.ts';
import type { ConfigChange, NodeGroup, Scaling } from '../../../ports/eks.ts';
import type { Taint } from '../../../ports/nodes.ts';
import {
  APPLIED,
  knownStatus,
  type SpecChange,
  sampleGroup,
  samplePool,
  sampleState,
} from '../../../testing/fixtures.ts';
import { desiredNodeGroup } from '../desired/desiredNodeGroup.ts';
import { entriesOf, foundFields } from './appliedFields.ts';
import { configTargetOf, fieldsOfChange } from './groupChanges.ts';

/** What is due for a pool with this group. */
const dueFor = (pool: WindowsPool, group: NodeGroup) =>
  sampleState({ pool, group: { kind: 'seen', group }, nodes: [] }).due;
const configChangeFor = (pool: WindowsPool, group: NodeGroup) => dueFor(pool, group).config?.change;

describe('the target of an update', () => {
  const base = configTargetOf(samplePool(), { scaling: { maxSize: 5 } });
  const table: readonly (readonly [string, WindowsPool, boolean])[] = [
    ['labels', samplePool({ labels: { a: 'b' } }), true],
    ['taints', samplePool({ registrationTaint: 'None' }), true],
    ['max', samplePool({ nodeGroup: { scaling: { maxSize: 9 } } }), true],
    ['a desired size', samplePool({ nodeGroup: { scaling: { desiredSize: 3 } } }), true],
    ['tags, which are not part of an update', samplePool({ nodeGroup: { tags: { a: 'b' } } }), false],
    ['fields that do not concern the group', samplePool({ deletionPolicy: 'Retain' }), false],
  ];
  for (const [what, pool, other] of table) {
    it(`is ${other ? 'another' : 'the same'} with other ${what}`, () =>
      assert.equal(configTargetOf(pool, { scaling: { maxSize: 5 } }) !== base, other));
  }

  it('is another when another change is sent, because another client resized the group', () => {
    assert.notEqual(configTargetOf(samplePool(), { scaling: { maxSize: 5, desiredSize: 4 } }), base);
  });
});

describe('the smallest change', () => {
  const taint = (value?: string): TaintSpec => ({
    key: 'gpu',
    effect: 'NoSchedule',
    ...(value !== undefined && { value }),
  });
  const own = desiredNodeGroup(samplePool()).labels;
  const table: readonly (readonly [string, SpecChange, Partial<NodeGroup>, ConfigChange | undefined])[] = [
    ['is none when nothing differs', {}, {}, undefined],
    ['sets a label', { labels: { a: '1' } }, {}, { labels: { set: { a: '1' }, remove: [] } }],
    [
      'changes a label',
      { labels: { a: '1', b: '2' } },
      { labels: { ...own, a: '0', b: '2' } },
      { labels: { set: { a: '1' }, remove: [] } },
    ],
    ['keeps the label of another client', {}, { labels: { ...own, a: '0' } }, undefined],
    ['sets a taint', { taints: [taint('yes')] }, {}, { taints: { set: [taint('yes')], remove: [] } }],
    [
      'removes the registration taint',
      { registrationTaint: 'None' },
      {},
      { taints: { set: [], remove: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }] } },
    ],
    [
      'changes the value of a taint without removing it',
      { taints: [taint('yes')] },
      { taints: [...desiredNodeGroup(samplePool()).taints, taint('no')] },
      { taints: { set: [taint('yes')], remove: [] } },
    ],
    [
      'ignores the order, and treats an absent value as an empty one',
      { taints: [taint()] },
      { taints: [taint(''), ...desiredNodeGroup(samplePool()).taints] },
      undefined,
    ],
  ];
  for (const [name, spec, group, want] of table) {
    it(name, () => {
      const pool = samplePool(spec, { status: knownStatus() });
      assert.deepEqual(configChangeFor(pool, { ...sampleGroup(), ...group }), want);
    });
  }
});

describe('the size of a pool', () => {
  type Memory = number | 'never sent' | 'lost';
  const table: readonly (readonly [string, Partial<Scaling>, Memory, Scaling, Partial<Scaling> | undefined])[] = [
    ['is left to the autoscaler', {}, 'never sent', { minSize: 3, maxSize: 5, desiredSize: 4 }, undefined],
    [
      'is left to the autoscaler after the size of the spec was sent',
      { desiredSize: 3 },
      3,
      { minSize: 3, maxSize: 5, desiredSize: 5 },
      undefined,
    ],
    [
      'follows a change of desiredSize',
      { desiredSize: 4 },
      3,
      { minSize: 3, maxSize: 5, desiredSize: 5 },
      { desiredSize: 4 },
    ],
    [
      'follows the first desiredSize',
      { desiredSize: 4 },
      'never sent',
      { minSize: 3, maxSize: 5, desiredSize: 3 },
      { desiredSize: 4 },
    ],
    [
      'is not sent when the group already has it',
      { desiredSize: 4 },
      3,
      { minSize: 3, maxSize: 5, desiredSize: 4 },
      undefined,
    ],
    [
      'is not sent when the status was lost',
      { desiredSize: 4 },
      'lost',
      { minSize: 3, maxSize: 5, desiredSize: 5 },
      undefined,
    ],
    ['follows minSize', {}, 'never sent', { minSize: 1, maxSize: 5, desiredSize: 3 }, { minSize: 3 }],
    [
      'grows with minSize',
      {},
      'never sent',
      { minSize: 1, maxSize: 5, desiredSize: 1 },
      { minSize: 3, desiredSize: 3 },
    ],
    [
      'shrinks with maxSize',
      {},
      'never sent',
      { minSize: 3, maxSize: 9, desiredSize: 8 },
      { maxSize: 5, desiredSize: 5 },
    ],
    [
      'is kept in the bounds even if the status was lost',
      {},
      'lost',
      { minSize: 0, maxSize: 9, desiredSize: 8 },
      { minSize: 3, maxSize: 5, desiredSize: 5 },
    ],
    [
      'changes with its bounds in one call',
      { minSize: 4, maxSize: 6, desiredSize: 6 },
      3,
      { minSize: 3, maxSize: 5, desiredSize: 3 },
      { minSize: 4, maxSize: 6, desiredSize: 6 },
    ],
  ];
  for (const [name, scaling, memory, seen, want] of table) {
    it(name, () => {
      const status =
        memory === 'lost'
          ? {}
          : { status: knownStatus(memory === 'never sent' ? {} : { lastAppliedDesiredSize: memory }) };
      const change = configChangeFor(
        samplePool({ nodeGroup: { scaling: { minSize: 3, maxSize: 5, ...scaling } } }, status),
        sampleGroup(undefined, { scaling: seen }),
      );
      assert.deepEqual(change, want && { scaling: want });
    });
  }
});

/** The group after EKS has applied a change. */
function applied(group: NodeGroup, { labels, taints, scaling }: ConfigChange): NodeGroup {
  const same = (a: Taint) => (b: Taint) => a.key === b.key && a.effect === b.effect;
  const gone = [...(taints?.set ?? []), ...(taints?.remove ?? [])];
  return {
    ...group,
    labels: {
      ...Object.fromEntries(Object.entries(group.labels).filter(([key]) => !labels?.remove.includes(key))),
      ...labels?.set,
    },
    taints: [...group.taints.filter((taint) => !gone.some(same(taint))), ...(taints?.set ?? [])],
    scaling: { ...group.scaling, ...scaling },
  };
}

describe('a change that EKS has applied', () => {
  const word = fc.constantFrom('a', 'b', 'c', 'd');
  const taints = fc.uniqueArray(
    fc.record({ key: word, value: word, effect: fc.constantFrom('NoSchedule' as const, 'PreferNoSchedule' as const) }),
    { selector: ({ key, effect }) => key + effect, maxLength: 5 },
  );
  const scaling = fc
    .tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 }), fc.nat({ max: 9 }))
    .map((sizes) => sizes.sort((a, b) => a - b))
    .map(([minSize = 0, desiredSize = 0, max = 0]) => ({ minSize, maxSize: Math.max(1, max), desiredSize }));
  const config = fc.record({ labels: fc.dictionary(word, word), taints, scaling });

  it('leaves nothing to change, keeps the size in its bounds and contains no key twice', () => {
    fc.assert(
      fc.property(
        config,
        config,
        fc.boolean(),
        fc.option(fc.nat({ max: 9 }), { nil: undefined }),
        (spec, seen, fixed, last) => {
          const { desiredSize: desired, ...bounds } = spec.scaling;
          const entries = entriesOf(foundFields(sampleGroup(samplePool(), seen)));
          const status = knownStatus({ applied: entries, ...(last !== undefined && { lastAppliedDesiredSize: last }) });
          const pool = samplePool(
            {
              labels: spec.labels,
              taints: spec.taints,
              nodeGroup: { scaling: fixed ? spec.scaling : bounds },
            },
            { status },
          );
          const group = sampleGroup(pool, seen);
          const change = configChangeFor(pool, group);
          const after = change ? applied(group, change) : group;
          const sent = samplePool(pool.spec as never, {
            status: knownStatus({
              applied: entries,
              ...(desired !== undefined && { lastAppliedDesiredSize: desired }),
            }),
          });
          assert.equal(configChangeFor(sent, after), undefined);
          assert.ok(
            after.scaling.minSize <= after.scaling.desiredSize && after.scaling.desiredSize <= after.scaling.maxSize,
          );
          assert.deepEqual(change?.labels?.remove.filter((key) => key in (change.labels?.set ?? {})) ?? [], []);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('a label or taint that was removed from the spec', () => {
  const before = samplePool({ labels: { a: '0' }, taints: [{ key: 'gpu', effect: 'NoSchedule' }] });
  const group = sampleGroup(before, { labels: { ...desiredNodeGroup(before).labels, other: 'x' } });
  const status = knownStatus({ applied: entriesOf(foundFields(group)).filter((entry) => !entry.includes('other')) });

  it('is removed if the pool had it, and those of other clients stay', () => {
    assert.deepEqual(configChangeFor(samplePool({}, { status }), group), {
      labels: { set: {}, remove: ['a'] },
      taints: { set: [], remove: [{ key: 'gpu', effect: 'NoSchedule' }] },
    });
  });

  it('stays when its origin is unknown', () => {
    assert.equal(configChangeFor(samplePool(), group), undefined);
  });
});

describe('a size that may have been sent before a crash', () => {
  const unsure = { applied: [...APPLIED, 'desired=?'].sort(), lastAppliedDesiredSize: 3 };
  const change = (desired: number, seen: number) =>
    configChangeFor(
      samplePool({ nodeGroup: { scaling: { desiredSize: desired } } }, { status: knownStatus(unsure) }),
      sampleGroup(undefined, { scaling: { minSize: 3, maxSize: 5, desiredSize: seen } }),
    );

  it('is replaced by the current desiredSize, even if that was the last one known to be sent', () => {
    assert.deepEqual(
      [change(3, 4), change(3, 3), change(5, 4)],
      [{ scaling: { desiredSize: 3 } }, undefined, { scaling: { desiredSize: 5 } }],
    );
  });
});

describe('the fields of a change', () => {
  it('are those that it sets or removes', () => {
    const change: ConfigChange = {
      labels: { set: { a: '1' }, remove: ['b'] },
      taints: { set: [{ key: 'c', effect: 'NoSchedule' }], remove: [{ key: 'd', effect: 'PreferNoSchedule' }] },
      scaling: { maxSize: 5, desiredSize: 4 },
    };
    const fields = ['label a', 'label b', 'taint c:NoSchedule', 'taint d:PreferNoSchedule', 'scaling'];
    assert.deepEqual(fieldsOfChange(samplePool({ nodeGroup: { scaling: { desiredSize: 4 } } }), change), [
      ...fields,
      'desired',
    ]);
    assert.deepEqual(
      fieldsOfChange(samplePool(), change),
      fields,
      'a size that was only moved into the bounds is not that of the spec',
    );
  });
});

describe('tags', () => {
  const tags = (change: Record<string, string>) =>
    sampleGroup(undefined, { tags: { 'winpool.dev/pool': 'web', ...change } });

  it('of other clients stay, and those of the spec follow the spec', () => {
    const applied = [...APPLIED, 'tag a=01234567', 'tag c=01234567', 'tag gone=?'].sort();
    const pool = samplePool({ nodeGroup: { tags: { a: '1', b: '2' } } }, { status: knownStatus({ applied }) });
    assert.deepEqual(dueFor(pool, tags({ a: '0', c: '3', other: 'x' })).tags, {
      set: { a: '1', b: '2' },
      remove: ['c'],
    });
  });

  it('are not changed when they match, and not removed when the status was lost', () => {
    assert.equal(dueFor(samplePool(), tags({ other: 'x' })).tags, undefined);
  });
});
