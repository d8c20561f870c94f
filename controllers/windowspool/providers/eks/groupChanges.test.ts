import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { WindowsPool, WindowsPoolSpec } from '../../api.gen.ts';
import type { ConfigChange, NodeGroup, Scaling } from '../../ports/eks.ts';
import type { Taint } from '../../ports/nodes.ts';
import { APPLIED, knownStatus, sampleGroup, samplePool } from '../../testing/fixtures.ts';
import { entriesOf, foundFields } from './applied.ts';
import { configChangeFor, configTargetOf, fieldsOfChange, tagChangeFor } from './groupChanges.ts';
import { desiredNodeGroup } from './nodeGroup.ts';

describe('the target of an update', () => {
  const base = configTargetOf(samplePool(), { scaling: { max: 5 } });
  const table: readonly (readonly [string, WindowsPool, boolean])[] = [
    ['labels', samplePool({ labels: { a: 'b' } }), true],
    ['taints', samplePool({ registrationTaint: false }), true],
    ['max', samplePool({ scaling: { max: 9 } }), true],
    ['a desired size', samplePool({ scaling: { desired: 3 } }), true],
    ['tags, which no update sends', samplePool({ nodeGroup: { tags: { a: 'b' } } }), false],
    ['what is no part of the group', samplePool({ deletionPolicy: 'Retain' }), false],
  ];
  for (const [what, pool, other] of table) {
    it(`is ${other ? 'another' : 'the same'} with other ${what}`, () =>
      assert.equal(configTargetOf(pool, { scaling: { max: 5 } }) !== base, other));
  }

  it('is another when what is sent is another, because somebody moved the group', () => {
    assert.notEqual(configTargetOf(samplePool(), { scaling: { max: 5, desired: 4 } }), base);
  });
});

describe('the smallest change', () => {
  const taint = (value?: string): Taint => ({
    key: 'gpu',
    effect: 'NoSchedule',
    ...(value !== undefined && { value }),
  });
  const own = desiredNodeGroup(samplePool()).labels;
  const table: readonly (readonly [string, Partial<WindowsPoolSpec>, Partial<NodeGroup>, ConfigChange | undefined])[] =
    [
      ['is none when nothing differs', {}, {}, undefined],
      ['sets a label', { labels: { a: '1' } }, {}, { labels: { set: { a: '1' }, remove: [] } }],
      [
        'changes a label',
        { labels: { a: '1', b: '2' } },
        { labels: { ...own, a: '0', b: '2' } },
        { labels: { set: { a: '1' }, remove: [] } },
      ],
      ['leaves the label of somebody else', {}, { labels: { ...own, a: '0' } }, undefined],
      ['sets a taint', { taints: [taint('yes')] }, {}, { taints: { set: [taint('yes')], remove: [] } }],
      [
        'removes the registration taint',
        { registrationTaint: false },
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
        'sees no difference between no value and an empty one, nor in the order',
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
    ['is left to the autoscaler', {}, 'never sent', { min: 3, max: 5, desired: 4 }, undefined],
    [
      'is left to the autoscaler after the user’s size was sent',
      { desired: 3 },
      3,
      { min: 3, max: 5, desired: 5 },
      undefined,
    ],
    ['follows the user’s change', { desired: 4 }, 3, { min: 3, max: 5, desired: 5 }, { desired: 4 }],
    ['follows the user’s first size', { desired: 4 }, 'never sent', { min: 3, max: 5, desired: 3 }, { desired: 4 }],
    ['is not sent when it is reached already', { desired: 4 }, 3, { min: 3, max: 5, desired: 4 }, undefined],
    ['is not sent when the memory was lost', { desired: 4 }, 'lost', { min: 3, max: 5, desired: 5 }, undefined],
    ['follows min', {}, 'never sent', { min: 1, max: 5, desired: 3 }, { min: 3 }],
    ['grows with min', {}, 'never sent', { min: 1, max: 5, desired: 1 }, { min: 3, desired: 3 }],
    ['shrinks with max', {}, 'never sent', { min: 3, max: 9, desired: 8 }, { max: 5, desired: 5 }],
    [
      'is kept in the bounds even when the memory was lost',
      {},
      'lost',
      { min: 0, max: 9, desired: 8 },
      { min: 3, max: 5, desired: 5 },
    ],
    [
      'changes with its bounds in one call',
      { min: 4, max: 6, desired: 6 },
      3,
      { min: 3, max: 5, desired: 3 },
      { min: 4, max: 6, desired: 6 },
    ],
  ];
  for (const [name, scaling, memory, seen, want] of table) {
    it(name, () => {
      const status =
        memory === 'lost' ? {} : { status: knownStatus(memory === 'never sent' ? {} : { lastAppliedDesired: memory }) };
      const change = configChangeFor(
        samplePool({ scaling: { min: 3, max: 5, ...scaling } }, status),
        sampleGroup(undefined, { scaling: seen }),
      );
      assert.deepEqual(change, want && { scaling: want });
    });
  }
});

/** As EKS carries out a change. */
function carriedOut(group: NodeGroup, { labels, taints, scaling }: ConfigChange): NodeGroup {
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

describe('a change that EKS carried out', () => {
  const word = fc.constantFrom('a', 'b', 'c', 'd');
  const taints = fc.uniqueArray(
    fc.record({ key: word, value: word, effect: fc.constantFrom('NoSchedule' as const, 'NoExecute' as const) }),
    { selector: ({ key, effect }) => key + effect, maxLength: 5 },
  );
  const scaling = fc
    .tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 }), fc.nat({ max: 9 }))
    .map((sizes) => sizes.sort((a, b) => a - b))
    .map(([min = 0, desired = 0, max = 0]) => ({ min, max: Math.max(1, max), desired }));
  const config = fc.record({ labels: fc.dictionary(word, word), taints, scaling });

  it('leaves nothing to change, keeps the size in its bounds and names nothing twice', () => {
    fc.assert(
      fc.property(
        config,
        config,
        fc.boolean(),
        fc.option(fc.nat({ max: 9 }), { nil: undefined }),
        (spec, seen, fixed, last) => {
          const { desired, ...bounds } = spec.scaling;
          const applied = entriesOf(foundFields(sampleGroup(samplePool(), seen)));
          const status = knownStatus({ applied, ...(last !== undefined && { lastAppliedDesired: last }) });
          const pool = samplePool({ ...spec, scaling: fixed ? { ...bounds, desired } : bounds }, { status });
          const group = sampleGroup(pool, seen);
          const change = configChangeFor(pool, group);
          const after = change ? carriedOut(group, change) : group;
          const sent = samplePool(pool.spec as never, {
            status: knownStatus({ applied, ...(desired !== undefined && { lastAppliedDesired: desired }) }),
          });
          assert.equal(configChangeFor(sent, after), undefined);
          assert.ok(after.scaling.min <= after.scaling.desired && after.scaling.desired <= after.scaling.max);
          assert.deepEqual(change?.labels?.remove.filter((key) => key in (change.labels?.set ?? {})) ?? [], []);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('what the spec no longer has', () => {
  const before = samplePool({ labels: { a: '0' }, taints: [{ key: 'gpu', effect: 'NoSchedule' }] });
  const group = sampleGroup(before, { labels: { ...desiredNodeGroup(before).labels, other: 'x' } });
  const status = knownStatus({ applied: entriesOf(foundFields(group)).filter((entry) => !entry.includes('other')) });

  it('is removed where the pool had it, and what others set stays', () => {
    assert.deepEqual(configChangeFor(samplePool({}, { status }), group), {
      labels: { set: {}, remove: ['a'] },
      taints: { set: [], remove: [{ key: 'gpu', effect: 'NoSchedule' }] },
    });
  });

  it('stays when nobody knows whose it was', () => {
    assert.equal(configChangeFor(samplePool(), group), undefined);
  });
});

describe('a size that was perhaps sent before a crash', () => {
  const unsure = { applied: [...APPLIED, 'desired=?'].sort(), lastAppliedDesired: 3 };
  const change = (desired: number, seen: number) =>
    configChangeFor(
      samplePool({ scaling: { desired } }, { status: knownStatus(unsure) }),
      sampleGroup(undefined, { scaling: { min: 3, max: 5, desired: seen } }),
    );

  it('is followed by the last word of the user, though it is the one that was known to be sent', () => {
    assert.deepEqual(
      [change(3, 4), change(3, 3), change(5, 4)],
      [{ scaling: { desired: 3 } }, undefined, { scaling: { desired: 5 } }],
    );
  });
});

describe('the fields of a change', () => {
  it('are those that it sets or removes', () => {
    const change: ConfigChange = {
      labels: { set: { a: '1' }, remove: ['b'] },
      taints: { set: [{ key: 'c', effect: 'NoSchedule' }], remove: [{ key: 'd', effect: 'NoExecute' }] },
      scaling: { max: 5, desired: 4 },
    };
    const fields = ['label a', 'label b', 'taint c:NoSchedule', 'taint d:NoExecute', 'scaling'];
    assert.deepEqual(fieldsOfChange(samplePool({ scaling: { desired: 4 } }), change), [...fields, 'desired']);
    assert.deepEqual(fieldsOfChange(samplePool(), change), fields, 'a size that is only lifted is not the user’s');
  });
});

describe('tags', () => {
  const tags = (change: Record<string, string>) =>
    sampleGroup(undefined, { tags: { 'winpool.dev/pool': 'web', ...change } });

  it('of others stay, those that were in the spec follow the spec', () => {
    const applied = [...APPLIED, 'tag a=01234567', 'tag c=01234567', 'tag gone=?'].sort();
    const pool = samplePool({ nodeGroup: { tags: { a: '1', b: '2' } } }, { status: knownStatus({ applied }) });
    assert.deepEqual(tagChangeFor(pool, tags({ a: '0', c: '3', other: 'x' })), {
      set: { a: '1', b: '2' },
      remove: ['c'],
    });
  });

  it('are left when they are as wanted, and nothing is removed without memory', () => {
    assert.equal(tagChangeFor(samplePool(), tags({ other: 'x' })), undefined);
  });
});
