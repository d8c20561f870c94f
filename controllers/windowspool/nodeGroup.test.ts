import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { WindowsPool, WindowsPoolSpec } from './api.gen.ts';
import {
  configChangeFor,
  configTargetOf,
  immutableDifferences,
  isOwnedBy,
  nodeGroupNameOf,
  tagChangeFor,
  tagKeysFor,
  wishFor,
} from './nodeGroup.ts';
import type { ConfigChange, NodeGroup, Scaling, Taint } from './ports.ts';
import { knownStatus, sampleGroup, samplePool } from './testing/fixtures.ts';

describe('the wish', () => {
  it('says everything that EKS could choose otherwise', () => {
    const pool = samplePool({
      nodeGroup: { name: 'win', tags: { team: 'web' }, capacityType: 'Spot', edition: 'Full', diskSizeGiB: 80 },
      labels: { tier: 'front' },
      taints: [{ key: 'gpu', effect: 'NoExecute' }],
    });
    const { tags, ...wish } = wishFor(pool);
    assert.deepEqual(wish, {
      name: 'win',
      amiType: 'WINDOWS_FULL_2022_x86_64',
      capacityType: 'Spot',
      instanceTypes: ['m5.large'],
      subnets: ['subnet-0a000000', 'subnet-0b000000'],
      nodeRoleArn: 'arn:aws:iam::111122223333:role/windows-nodes',
      diskSizeGiB: 80,
      scaling: { min: 3, max: 5, desired: 3 },
      labels: { tier: 'front', 'winpool.dev/pool': 'web', 'winpool.dev/windows-build': '10.0.20348' },
      taints: [
        { key: 'os', value: 'windows', effect: 'NoSchedule' },
        { key: 'gpu', effect: 'NoExecute' },
      ],
    });
    const { 'winpool.dev/created-from': hash, ...others } = tags;
    assert.deepEqual(others, { team: 'web', 'winpool.dev/pool': 'web' });
    assert.match(hash ?? '', /^[0-9a-f]{16}$/);
  });

  it('starts with the desired size of the spec, or with min', () => {
    assert.deepEqual(wishFor(samplePool({ scaling: { desired: 4 } })).scaling, { min: 3, max: 5, desired: 4 });
  });

  it('has no taint of its own without registrationTaint', () => {
    assert.deepEqual(wishFor(samplePool({ registrationTaint: false })).taints, []);
  });

  it('never sets the label by which pods are placed: the kubelet measures it', () => {
    const labels = wishFor(samplePool()).labels;
    assert.equal('node.kubernetes.io/windows-build' in labels, false);
  });

  it('of the user cannot take over what marks the group as this pool’s', () => {
    const pool = samplePool({
      nodeGroup: { tags: { 'winpool.dev/pool': 'api' } },
      labels: { 'winpool.dev/pool': 'api' },
    });
    assert.deepEqual(
      [wishFor(pool).tags['winpool.dev/pool'], wishFor(pool).labels['winpool.dev/pool']],
      ['web', 'web'],
    );
  });

  it('is called like the pool, unless the spec says otherwise', () => {
    assert.deepEqual(
      [nodeGroupNameOf(samplePool()), nodeGroupNameOf(samplePool({ nodeGroup: { name: 'win' } }))],
      ['web', 'win'],
    );
  });
});

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
  const own = wishFor(samplePool()).labels;
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
      ['removes a label', {}, { labels: { ...own, a: '0' } }, { labels: { set: {}, remove: ['a'] } }],
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
        { taints: [...wishFor(samplePool()).taints, taint('no')] },
        { taints: { set: [taint('yes')], remove: [] } },
      ],
      [
        'sees no difference between no value and an empty one, nor in the order',
        { taints: [taint()] },
        { taints: [taint(''), ...wishFor(samplePool()).taints] },
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
          const status = knownStatus(last === undefined ? {} : { lastAppliedDesired: last });
          const pool = samplePool({ ...spec, scaling: fixed ? { ...bounds, desired } : bounds }, { status });
          const group = sampleGroup(pool, seen);
          const change = configChangeFor(pool, group);
          const after = change ? applied(group, change) : group;
          const sent = samplePool(pool.spec as never, { status: knownStatus({ lastAppliedDesired: desired }) });
          assert.equal(configChangeFor(sent, after), undefined);
          assert.ok(after.scaling.min <= after.scaling.desired && after.scaling.desired <= after.scaling.max);
          assert.deepEqual(change?.labels?.remove.filter((key) => key in (change.labels?.set ?? {})) ?? [], []);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('tags', () => {
  const knows = (tagKeys: string[]) => ({ status: knownStatus({ tagKeys }) });
  const tags = (change: Record<string, string>) =>
    sampleGroup(undefined, { tags: { 'winpool.dev/pool': 'web', ...change } });

  it('of others stay, those that the operator wrote follow the spec', () => {
    const pool = samplePool({ nodeGroup: { tags: { a: '1', b: '2' } } }, knows(['a', 'c', 'gone', 'winpool.dev/pool']));
    const seen = tags({ a: '0', c: '3', other: 'x' });
    assert.deepEqual(tagChangeFor(pool, seen), { set: { a: '1', b: '2' }, remove: ['c'] });
    assert.deepEqual(tagKeysFor(pool, seen), ['a', 'b', 'c', 'winpool.dev/pool']);
  });

  it('are left when they are as wanted, and nothing is removed without memory', () => {
    assert.equal(tagChangeFor(samplePool(), tags({ other: 'x' })), undefined);
    assert.deepEqual(tagKeysFor(samplePool(), undefined), ['winpool.dev/pool']);
  });

  it('tell whose the group is', () => {
    assert.deepEqual(
      [{}, { 'winpool.dev/pool': 'api' }, { 'winpool.dev/pool': 'web' }].map((each) =>
        isOwnedBy(samplePool(), sampleGroup(undefined, { tags: each })),
      ),
      [false, false, true],
    );
  });
});

describe('what EKS cannot change', () => {
  it('is nothing in a group that was made from the spec, in whatever order EKS lists its subnets', () => {
    const group = sampleGroup(undefined, { subnets: ['subnet-0b000000', 'subnet-0a000000'], diskSizeGiB: undefined });
    assert.deepEqual(immutableDifferences(samplePool(), group), []);
  });

  it('is named with what is and what is wanted', () => {
    const group = sampleGroup(undefined, {
      amiType: 'WINDOWS_CORE_2019_x86_64',
      capacityType: 'Spot',
      instanceTypes: ['m5.xlarge', 't3.large'],
      subnets: ['subnet-1'],
      nodeRoleArn: 'arn:other',
      diskSizeGiB: 20,
    });
    assert.deepEqual(immutableDifferences(samplePool(), group), [
      'AMI type is WINDOWS_CORE_2019_x86_64 and the spec says WINDOWS_CORE_2022_x86_64',
      'capacity type is Spot and the spec says OnDemand',
      'instance types is m5.xlarge, t3.large and the spec says m5.large',
      'subnets is subnet-1 and the spec says subnet-0a000000, subnet-0b000000',
      'node role is arn:other and the spec says arn:aws:iam::111122223333:role/windows-nodes',
      'disk size is 20 and the spec says 50',
    ]);
  });
});
