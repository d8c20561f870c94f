import assert from 'node:assert/strict';
import type { UpdateNodegroupVersionRequest } from '@aws-sdk/client-eks';
import { openPolicy, sampleCluster, sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { withOpenCloud } from '../testing/testCloud.ts';
import { group, rejection, statusOf } from '../testing/testGroup.ts';

const cluster = { ...sampleCluster, kubernetesVersion: '1.35' };
// A group of an older version than its cluster, as after an upgrade of the cluster.
const switches = { olderVersionAtCreation: 'accept' } as const;
const world = () => memoryCloud({ cluster, policy: openPolicy, switches });
const older = { version: '1.34', releaseVersion: '1.34-2026.03.17' };

describe('a change of version, through the real SDK client', () => {
  const fixture = withOpenCloud({ cluster, speed: 100, switches });
  const update = (request: Partial<UpdateNodegroupVersionRequest>) =>
    fixture.sdk.eks.updateNodegroupVersion({ ...group, ...request });

  before(async () => {
    await fixture.sdk.eks.createNodegroup(sampleGroup(older));
    const deadline = Date.now() + 30_000;
    while ((await fixture.sdk.eks.describeNodegroup(group)).nodegroup?.status !== 'ACTIVE')
      assert.ok(Date.now() < deadline, 'the group is not ACTIVE after 30 s');
  });

  const refused: readonly (readonly [string, Partial<UpdateNodegroupVersionRequest>, RegExp])[] = [
    ['a version above the cluster', { version: '1.36' }, /^InvalidParameterException: .*\b1\.36\b.*\b1\.35\b/],
    ['an invalid version', { version: '1.2' }, /^InvalidParameterException: .*\b1\.2\b/],
    [
      'a release of another version',
      { version: '1.35', releaseVersion: '1.34-2026.04.18' },
      /^InvalidParameterException: .*release version 1\.34-2026\.04\.18 is not valid for kubernetes version 1\.35\./,
    ],
    [
      'a release of another version than the group has, alone',
      { releaseVersion: '1.35-2026.04.18' },
      /^InvalidParameterException: .*release version 1\.35-2026\.04\.18 is not valid for kubernetes version 1\.34\./,
    ],
    [
      'a release that was never published',
      { releaseVersion: '1.34-2026.04.19' },
      /^InvalidParameterException: .*release version 1\.34-2026\.04\.19 is not valid for kubernetes version 1\.34\./,
    ],
    ['another group', { nodegroupName: 'none' }, /^ResourceNotFoundException: .*No node group found for name: none\./],
  ];
  for (const [what, request, error] of refused) {
    it(`rejects ${what}`, async () => {
      assert.match(await rejection(update(request)), error);
    });
  }

  it('is an update with parameters, and the group changes when it succeeds', async () => {
    const { update: begun } = await update({ version: '1.35', releaseVersion: '1.35-2026.03.17' });
    const { id = '', status, type, params, errors } = begun ?? {};
    assert.deepEqual(
      { status, type, params, errors },
      {
        status: 'InProgress',
        type: 'VersionUpdate',
        params: [
          { type: 'Version', value: '1.35' },
          { type: 'ReleaseVersion', value: '1.35-2026.03.17' },
        ],
        errors: [],
      },
    );
    const deadline = Date.now() + 30_000;
    for (let done = false; !done; ) {
      const { nodegroup } = await fixture.sdk.eks.describeNodegroup(group);
      done = nodegroup?.status === 'ACTIVE';
      assert.deepEqual(
        [nodegroup?.version, nodegroup?.releaseVersion],
        done ? ['1.35', '1.35-2026.03.17'] : [older.version, older.releaseVersion],
      );
      assert.ok(Date.now() < deadline, 'the group is not ACTIVE after 30 s');
    }
    const described = await fixture.sdk.eks.describeUpdate({ name: 'demo', nodegroupName: 'web', updateId: id });
    assert.equal(described.update?.status, 'Successful');
  });
});

describe('a change of version', () => {
  it("uses the cluster's version and its newest release by default", async () => {
    const { cloud, clock } = world();
    await cloud.send('CreateNodegroup', sampleGroup(older));
    clock.advance(3);
    const { update } = await cloud.send('UpdateNodegroupVersion', group);
    assert.deepEqual(
      update?.params?.map(({ value }) => value),
      ['1.35', '1.35-2026.04.18'],
    );
  });

  it('happens once for each token, and not with another request under that token', async () => {
    const { cloud, clock } = world();
    await cloud.send('CreateNodegroup', sampleGroup(older));
    clock.advance(3);
    const request = { ...group, version: '1.35', clientRequestToken: 'once' };
    const first = await cloud.send('UpdateNodegroupVersion', request);
    const second = await cloud.send('UpdateNodegroupVersion', request);
    assert.equal(first.update?.id, second.update?.id);
    assert.match(
      await rejection(cloud.send('UpdateNodegroupVersion', { ...request, version: '1.34' })),
      /^InvalidRequestException: Client request token once /,
    );
    assert.deepEqual([...cloud.state.updates.keys()], [first.update?.id]);
  });

  it('excludes every other update of the group', async () => {
    const { cloud, clock } = world();
    await cloud.send('CreateNodegroup', sampleGroup(older));
    const busy = /^ResourceInUseException: .*not in Active State/;
    assert.match(await rejection(cloud.send('UpdateNodegroupVersion', group)), busy);
    clock.advance(3);
    await cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 6 } });
    assert.match(await rejection(cloud.send('UpdateNodegroupVersion', group)), busy);
    clock.advance(1.5);
    await cloud.send('UpdateNodegroupVersion', group);
    assert.match(await rejection(cloud.send('UpdateNodegroupVersion', group)), busy);
    assert.match(
      await rejection(cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 7 } })),
      busy,
    );
    assert.equal(await statusOf(cloud), 'UPDATING');
  });

  it('that changes nothing succeeds without replacing nodes, or is rejected, depending on the switch', async () => {
    for (const [updatesWithoutChange, outcome] of [
      ['accept', /^accepted$/],
      ['reject', /^InvalidParameterException: .*changes nothing/],
    ] as const) {
      const { cloud, clock } = memoryCloud({ policy: openPolicy, switches: { updatesWithoutChange } });
      await cloud.send('CreateNodegroup', sampleGroup());
      clock.advance(3);
      assert.match(await rejection(cloud.send('UpdateNodegroupVersion', group)), outcome);
      clock.advance(1);
      assert.equal(await statusOf(cloud), 'ACTIVE');
      assert.equal(cloud.state.instances.size, 2);
    }
  });

  it('requires its own permission', async () => {
    const { cloud, clock } = memoryCloud({ policy: openPolicy });
    await cloud.send('CreateNodegroup', sampleGroup());
    clock.advance(3);
    for (const [action, call] of [
      ['eks:UpdateNodegroupVersion', () => cloud.send('UpdateNodegroupVersion', group)],
      ['ssm:GetParameter', () => cloud.send('GetParameter', { Name: '/x' })],
      ['ec2:DescribeImages', () => cloud.send('DescribeImages', {})],
    ] as const) {
      cloud.faults.removeAction({ action });
      assert.match(await rejection(call()), new RegExp(`not authorized to perform: ${action}`));
    }
  });
});

describe('an earlier version', () => {
  for (const [answer, result] of [
    ['accept', /^accepted$/],
    ['reject', /^InvalidParameterException: .*\b1\.35\b.*\b1\.34\b/],
  ] as const) {
    it(`is a rolling update with switch earlierNodegroupVersions: ${answer}`, async () => {
      const { cloud, clock } = memoryCloud({
        cluster,
        policy: openPolicy,
        switches: { earlierNodegroupVersions: answer },
      });
      await cloud.send('CreateNodegroup', sampleGroup());
      clock.advance(3);
      assert.match(await rejection(cloud.send('UpdateNodegroupVersion', { ...group, ...older })), result);
      clock.advance(60);
      const { nodegroup } = await cloud.send('DescribeNodegroup', group);
      assert.equal(nodegroup?.version, answer === 'accept' ? '1.34' : '1.35');
    });
  }
});

describe('a rollback of the cluster', () => {
  /** A cluster that was just upgraded to 1.36, with a group of that version. */
  async function upgradedWorld() {
    const { cloud, clock } = world();
    const version = async () => (await cloud.send('DescribeCluster', { name: 'demo' })).cluster?.version;
    const versionAfter = async (seconds: number) => {
      clock.advance(seconds);
      return await version();
    };
    assert.throws(() => cloud.faults.rollbackCluster(), /not upgraded/);
    cloud.faults.upgradeCluster({ version: '1.36' });
    assert.equal(await versionAfter(8), '1.36');
    await cloud.send('CreateNodegroup', sampleGroup());
    await versionAfter(3);
    return { cloud, versionAfter };
  }

  it('is an update to the version before its upgrade, once its node groups have that', async () => {
    const { cloud, versionAfter } = await upgradedWorld();
    assert.throws(() => cloud.faults.rollbackCluster(), /web has 1\.36; roll it back first/);
    await cloud.send('UpdateNodegroupVersion', { ...group, version: '1.35' });
    await versionAfter(60);
    cloud.faults.rollbackCluster();
    const types = [...cloud.state.updates.values()].map(({ update }) => update.type);
    assert.deepEqual([await versionAfter(0), types.at(-1), await versionAfter(8)], ['1.36', 'VersionRollback', '1.35']);
    assert.throws(() => cloud.faults.rollbackCluster(), /not upgraded/);
  });

  it('is possible for 7 days, and with force although a node group is newer', async () => {
    const { cloud, versionAfter } = await upgradedWorld();
    cloud.faults.rollbackCluster({ force: true });
    assert.equal(await versionAfter(8), '1.35');
    cloud.faults.upgradeCluster({ version: '1.36' });
    await versionAfter(8 * 86_400);
    assert.throws(() => cloud.faults.rollbackCluster({ force: true }), /not upgraded to it within the last 7 days/);
  });
});

describe('an upgrade of the cluster', () => {
  it('is an update of the cluster, during which groups cannot be changed', async () => {
    const { cloud, clock } = world();
    await cloud.send('CreateNodegroup', sampleGroup());
    clock.advance(3);
    cloud.faults.upgradeCluster({ version: '1.36' });
    const { cluster: upgrading } = await cloud.send('DescribeCluster', { name: 'demo' });
    assert.deepEqual([upgrading?.status, upgrading?.version], ['UPDATING', '1.35']);
    const updateId = [...cloud.state.updates.keys()].at(-1);
    assert.match(
      await rejection(cloud.send('UpdateNodegroupVersion', group)),
      new RegExp(`^ResourceInUseException: .*cluster demo .* update ${updateId} `),
    );
    const updateOf = async () => (await cloud.send('DescribeUpdate', { name: 'demo', updateId })).update;
    assert.deepEqual([(await updateOf())?.type, (await updateOf())?.status], ['VersionUpdate', 'InProgress']);
    clock.advance(8);
    const { cluster: upgraded } = await cloud.send('DescribeCluster', { name: 'demo' });
    assert.deepEqual(
      [upgraded?.status, upgraded?.version, (await updateOf())?.status],
      ['ACTIVE', '1.36', 'Successful'],
    );
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    assert.equal(nodegroup?.version, '1.35');
    const { update } = await cloud.send('UpdateNodegroupVersion', group);
    assert.equal(update?.params?.[0]?.value, '1.36');
  });

  it('upgrades by one minor version, if no other update is running', () => {
    const { cloud } = world();
    assert.throws(() => cloud.faults.upgradeCluster({ version: '1.37' }), /the cluster has 1.35; give the next of/);
    assert.throws(() => cloud.faults.upgradeCluster({ version: '1.34' }), /the cluster has 1.35; give the next of/);
    cloud.faults.upgradeCluster({ version: '1.36' });
    assert.throws(() => cloud.faults.upgradeCluster({ version: '1.36' }), /the cluster is UPDATING/);
  });
});
