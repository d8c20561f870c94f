import assert from 'node:assert/strict';
import type { WindowsPool } from '../../../api/api.gen.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { sampleGroup, samplePool } from '../../../testing/fixtures.ts';
import { desiredNodeGroup, immutableDifferences, isOwnedBy, nodeGroupNameOf } from './desiredNodeGroup.ts';

describe('the desired node group', () => {
  it('sets every field for which EKS has a default', () => {
    const pool = samplePool({
      nodeGroup: { name: 'win', tags: { team: 'web' }, capacityType: 'Spot', edition: 'Full', diskSizeGiB: 80 },
      labels: { tier: 'front' },
      taints: [{ key: 'gpu', effect: 'PreferNoSchedule' }],
    });
    const { tags, ...desired } = desiredNodeGroup(pool);
    assert.deepEqual(desired, {
      name: 'win',
      amiType: 'WINDOWS_FULL_2022_x86_64',
      capacityType: 'Spot',
      instanceTypes: ['m5.large'],
      diskSizeGiB: 80,
      scaling: { minSize: 3, maxSize: 5, desiredSize: 3 },
      labels: { tier: 'front', 'winpool.dev/pool': 'web', 'winpool.dev/windows-build': '10.0.20348' },
      taints: [
        { key: 'os', value: 'windows', effect: 'NoSchedule' },
        { key: 'gpu', effect: 'PreferNoSchedule' },
      ],
    });
    const { 'winpool.dev/created-from': hash, ...others } = tags;
    assert.deepEqual(others, { team: 'web', 'winpool.dev/pool': 'web' });
    assert.match(hash ?? '', /^[0-9a-f]{16}$/);
  });

  it('starts with the desired size of the spec, or with minSize', () => {
    const sizes = [{ desiredSize: 4 }, {}].map(
      (scaling) => desiredNodeGroup(samplePool({ nodeGroup: { scaling } })).scaling,
    );
    assert.deepEqual(sizes, [
      { minSize: 3, maxSize: 5, desiredSize: 4 },
      { minSize: 3, maxSize: 5, desiredSize: 3 },
    ]);
  });

  it('has the Kubernetes version of a pinned release, which may be older than that of the cluster', () => {
    const { kubernetesVersion } = desiredNodeGroup(samplePool({ nodeGroup: { releaseVersion: '1.35-2026.02.17' } }));
    assert.equal(kubernetesVersion, '1.35');
  });

  it('has no taint of its own without registrationTaint', () => {
    assert.deepEqual(desiredNodeGroup(samplePool({ registrationTaint: 'None' })).taints, []);
  });

  it('does not set the build label, which the kubelet sets', () => {
    const labels = desiredNodeGroup(samplePool()).labels;
    assert.equal('node.kubernetes.io/windows-build' in labels, false);
  });

  it('does not let the spec override the label and the tag of the pool', () => {
    const pool = samplePool({
      nodeGroup: { tags: { 'winpool.dev/pool': 'api' } },
      labels: { 'winpool.dev/pool': 'api' },
    });
    assert.deepEqual(
      [desiredNodeGroup(pool).tags['winpool.dev/pool'], desiredNodeGroup(pool).labels['winpool.dev/pool']],
      ['web', 'web'],
    );
  });

  it('has the name of the pool, unless the spec has another one', () => {
    assert.deepEqual(
      [nodeGroupNameOf(samplePool()), nodeGroupNameOf(samplePool({ nodeGroup: { name: 'win' } }))],
      ['web', 'win'],
    );
  });
});

describe('the tag of the pool', () => {
  it('shows which pool owns the group', () => {
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

  it('is requested by version number if known, without a disk size, and with instance types only from the spec', () => {
    const { launchTemplate, instanceTypes, diskSizeGiB } = desiredNodeGroup(typed, { name: 'windows', version: '7' });
    assert.deepEqual(
      [launchTemplate, instanceTypes, diskSizeGiB],
      [{ name: 'windows', version: '7' }, ['m5.large'], undefined],
    );
    assert.deepEqual(desiredNodeGroup(bare).launchTemplate, WINDOWS);
    assert.deepEqual(desiredNodeGroup(bare).instanceTypes, []);
    assert.notEqual(
      desiredNodeGroup(bare, { name: 'windows', version: '7' }).tags['winpool.dev/created-from'],
      desiredNodeGroup(bare, { name: 'windows', version: '8' }).tags['winpool.dev/created-from'],
    );
  });

  const rows: readonly (readonly [string, WindowsPool, Partial<NodeGroup>, string[]])[] = [
    ['the same, by name', typed, { launchTemplate: SEEN }, []],
    ['the same, by ID', made({ launchTemplate: { id: SEEN.id, version: 3 } }), { launchTemplate: SEEN }, []],
    ['the same, with instance types in it', bare, { launchTemplate: SEEN, instanceTypes: [] }, []],
    ['another', typed, { launchTemplate: { ...SEEN, name: 'other' } }, ['launch template is other (expected windows)']],
    [
      'one if the spec has none',
      samplePool(),
      { launchTemplate: SEEN, instanceTypes: [], diskSizeGiB: undefined },
      ['launch template is lt-0a1b2c3d (expected none)'],
    ],
    ['none if the spec has one', typed, {}, ['launch template is none (expected windows)']],
    [
      'the same, with instance types in the group',
      bare,
      { launchTemplate: SEEN, instanceTypes: ['m5.large'] },
      ['instance types are m5.large (expected in the launch template)'],
    ],
    [
      'the same, with instance types only in the template',
      typed,
      { launchTemplate: SEEN, instanceTypes: [] },
      ['instance types are in the launch template (expected m5.large)'],
    ],
  ];
  for (const [what, pool, change, differences] of rows) {
    it(`is compared with that of the group: ${what}`, () => {
      assert.deepEqual(immutableDifferences(pool, sampleGroup(samplePool(), change)), differences);
    });
  }
});

describe('differences that EKS cannot change', () => {
  it('are absent for a group created from the spec, whatever the order of its subnets', () => {
    const group = sampleGroup(undefined, { subnets: ['subnet-0b000000', 'subnet-0a000000'], diskSizeGiB: undefined });
    assert.deepEqual(immutableDifferences(samplePool(), group), []);
  });

  it('are reported with the current and the expected value', () => {
    const group = sampleGroup(undefined, {
      amiType: 'WINDOWS_CORE_2019_x86_64',
      capacityType: 'Spot',
      instanceTypes: ['m5.xlarge', 't3.large'],
      subnets: ['subnet-1'],
      nodeRoleArn: 'arn:other',
      diskSizeGiB: 20,
    });
    assert.deepEqual(immutableDifferences(samplePool(), group), [
      'AMI type is WINDOWS_CORE_2019_x86_64 (expected WINDOWS_CORE_2022_x86_64)',
      'capacity type is Spot (expected OnDemand)',
      'instance types are m5.xlarge, t3.large (expected m5.large)',
      'disk size is 20 (expected 50)',
      'subnets are subnet-1 (expected subnet-0a000000, subnet-0b000000)',
      'node role is arn:other (expected arn:aws:iam::111122223333:role/windows-nodes)',
    ]);
  });
});
