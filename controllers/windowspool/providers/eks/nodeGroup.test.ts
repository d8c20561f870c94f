import assert from 'node:assert/strict';
import type { WindowsPool } from '../../api.gen.ts';
import type { NodeGroup } from '../../ports/eks.ts';
import { sampleGroup, samplePool } from '../../testing/fixtures.ts';
import { desiredNodeGroup, immutableDifferences, isOwnedBy, nodeGroupNameOf } from './nodeGroup.ts';

describe('the wish', () => {
  it('says everything that EKS could choose otherwise', () => {
    const pool = samplePool({
      nodeGroup: { name: 'win', tags: { team: 'web' }, capacityType: 'Spot', edition: 'Full', diskSizeGiB: 80 },
      labels: { tier: 'front' },
      taints: [{ key: 'gpu', effect: 'NoExecute' }],
    });
    const { tags, ...desired } = desiredNodeGroup(pool);
    assert.deepEqual(desired, {
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
    assert.deepEqual(desiredNodeGroup(samplePool({ scaling: { desired: 4 } })).scaling, { min: 3, max: 5, desired: 4 });
  });

  it('names the Kubernetes version of a pinned release, which may be older than the cluster', () => {
    const { kubernetesVersion } = desiredNodeGroup(samplePool({ nodeGroup: { releaseVersion: '1.35-2026.02.17' } }));
    assert.equal(kubernetesVersion, '1.35');
  });

  it('has no taint of its own without registrationTaint', () => {
    assert.deepEqual(desiredNodeGroup(samplePool({ registrationTaint: false })).taints, []);
  });

  it('never sets the label by which pods are placed: the kubelet measures it', () => {
    const labels = desiredNodeGroup(samplePool()).labels;
    assert.equal('node.kubernetes.io/windows-build' in labels, false);
  });

  it('of the user cannot take over what marks the group as this pool’s', () => {
    const pool = samplePool({
      nodeGroup: { tags: { 'winpool.dev/pool': 'api' } },
      labels: { 'winpool.dev/pool': 'api' },
    });
    assert.deepEqual(
      [desiredNodeGroup(pool).tags['winpool.dev/pool'], desiredNodeGroup(pool).labels['winpool.dev/pool']],
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

describe('the tag of the pool', () => {
  it('tells whose the group is', () => {
    assert.deepEqual(
      [{}, { 'winpool.dev/pool': 'api' }, { 'winpool.dev/pool': 'web' }].map((each) =>
        isOwnedBy(samplePool(), sampleGroup(undefined, { tags: each })),
      ),
      [false, false, true],
    );
  });
});

describe('a launch template', () => {
  const WINDOWS = { name: 'windows', version: '$Latest' };
  const made = (nodeGroup: object) => samplePool({ nodeGroup: { diskSizeGiB: undefined, ...nodeGroup } } as never);
  const typed = made({ launchTemplate: WINDOWS });
  const bare = made({ launchTemplate: WINDOWS, instanceTypes: undefined });
  const SEEN = { id: 'lt-0a1b2c3d', name: 'windows', version: '7' };

  it('is asked for by number where that is known, without a disk size, and with types only from the spec', () => {
    const { launchTemplate, instanceTypes, diskSizeGiB } = desiredNodeGroup(typed, '7');
    assert.deepEqual(
      [launchTemplate, instanceTypes, diskSizeGiB],
      [{ name: 'windows', version: '7' }, ['m5.large'], undefined],
    );
    assert.deepEqual(desiredNodeGroup(bare).launchTemplate, WINDOWS);
    assert.deepEqual(desiredNodeGroup(bare).instanceTypes, []);
    assert.notEqual(
      desiredNodeGroup(bare, '7').tags['winpool.dev/created-from'],
      desiredNodeGroup(bare, '8').tags['winpool.dev/created-from'],
    );
  });

  const rows: readonly (readonly [string, WindowsPool, Partial<NodeGroup>, string[]])[] = [
    ['the same, by name', typed, { launchTemplate: SEEN }, []],
    ['the same, by id', made({ launchTemplate: { id: SEEN.id, version: 3 } }), { launchTemplate: SEEN }, []],
    ['the same, with types in it', bare, { launchTemplate: SEEN, instanceTypes: [] }, []],
    [
      'another',
      typed,
      { launchTemplate: { ...SEEN, name: 'other' } },
      ['launch template is other and the spec says windows'],
    ],
    [
      'one where the spec names none',
      samplePool(),
      { launchTemplate: SEEN, instanceTypes: [], diskSizeGiB: undefined },
      ['launch template is lt-0a1b2c3d and the spec says none'],
    ],
    ['none where the spec names one', typed, {}, ['launch template is none and the spec says windows']],
    [
      'the same, and types beside it',
      bare,
      { launchTemplate: SEEN, instanceTypes: ['m5.large'] },
      ['instance types are m5.large and the spec says in the launch template'],
    ],
    [
      'the same, with types only in it',
      typed,
      { launchTemplate: SEEN, instanceTypes: [] },
      ['instance types are in the launch template and the spec says m5.large'],
    ],
  ];
  for (const [what, pool, change, differences] of rows) {
    it(`of a group: ${what}`, () => {
      assert.deepEqual(immutableDifferences(pool, sampleGroup(samplePool(), change)), differences);
    });
  }
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
      'instance types are m5.xlarge, t3.large and the spec says m5.large',
      'disk size is 20 and the spec says 50',
      'subnets are subnet-1 and the spec says subnet-0a000000, subnet-0b000000',
      'node role is arn:other and the spec says arn:aws:iam::111122223333:role/windows-nodes',
    ]);
  });
});
