import assert from 'node:assert/strict';
import { nodeRoleArn } from '../network.ts';
import { sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { active, group, rejection, statusOf } from '../testing/testGroup.ts';

const clusterName = 'demo';
const linuxGroups = ['system:bootstrappers', 'system:nodes'];
const windowsGroups = [...linuxGroups, 'eks:kube-proxy-windows'];

describe('the nodes of a role', () => {
  const rows: readonly (readonly [
    authenticationMode: string,
    entry: string | undefined,
    awsAuth: readonly string[] | undefined,
    outcome: string,
  ])[] = [
    ['API', 'EC2_WINDOWS', undefined, 'ACTIVE'],
    ['API', 'EC2_LINUX', undefined, 'DEGRADED AccessDenied'],
    ['API', 'STANDARD', undefined, 'CREATE_FAILED NodeCreationFailure'],
    ['API', undefined, windowsGroups, 'CREATE_FAILED NodeCreationFailure'],
    ['API_AND_CONFIG_MAP', 'EC2_WINDOWS', undefined, 'ACTIVE'],
    ['API_AND_CONFIG_MAP', 'EC2_LINUX', windowsGroups, 'DEGRADED AccessDenied'],
    ['API_AND_CONFIG_MAP', undefined, windowsGroups, 'ACTIVE'],
    ['API_AND_CONFIG_MAP', undefined, linuxGroups, 'DEGRADED AccessDenied'],
    ['API_AND_CONFIG_MAP', undefined, ['viewers'], 'CREATE_FAILED NodeCreationFailure'],
    ['CONFIG_MAP', 'EC2_LINUX', windowsGroups, 'ACTIVE'],
    ['CONFIG_MAP', 'EC2_WINDOWS', undefined, 'CREATE_FAILED NodeCreationFailure'],
  ];
  for (const [authenticationMode, entry, awsAuth, outcome] of rows) {
    const access = `${entry ?? 'no entry'} and ${awsAuth?.join(' ') ?? 'nothing'} in aws-auth`;
    it(`with ${authenticationMode}, ${access}: ${outcome}`, async () => {
      const { cloud, clock } = memoryCloud({ switches: { nodegroupAccessEntry: 'none' } });
      cloud.faults.accessEntry(entry === undefined ? { exists: false } : { type: entry });
      if (awsAuth !== undefined) cloud.state.awsAuth.set(nodeRoleArn, awsAuth);
      cloud.faults.cluster({ authenticationMode });
      await cloud.send('CreateNodegroup', sampleGroup());
      clock.advance(30);
      const { nodegroup } = await cloud.send('DescribeNodegroup', group);
      const codes = nodegroup?.health?.issues?.map(({ code }) => code) ?? [];
      assert.equal([nodegroup?.status, ...codes].join(' '), outcome);
    });
  }

  it('lose their mapping in aws-auth with the last node group of the role', async () => {
    const { cloud, clock } = memoryCloud();
    cloud.faults.accessEntry({ exists: false });
    cloud.faults.cluster({ authenticationMode: 'CONFIG_MAP' });
    await active(cloud, clock);
    await cloud.send('CreateNodegroup', sampleGroup({ nodegroupName: 'api' }));
    clock.advance(5);
    const end = async (nodegroupName: string) => {
      await cloud.send('DeleteNodegroup', { clusterName, nodegroupName });
      clock.advance(3);
      await cloud.send('DescribeCluster', { name: clusterName });
      return cloud.state.awsAuth.has(nodeRoleArn);
    };
    assert.deepEqual([await end('web'), await end('api')], [true, false]);
  });

  it('join as soon as the role has access', async () => {
    const { cloud, clock } = memoryCloud({ switches: { nodegroupAccessEntry: 'none' } });
    cloud.faults.accessEntry({ exists: false });
    await cloud.send('CreateNodegroup', sampleGroup());
    clock.advance(10);
    assert.equal(await statusOf(cloud), 'CREATING');
    await cloud.send('CreateAccessEntry', { clusterName, principalArn: nodeRoleArn, type: 'EC2_WINDOWS' });
    clock.advance(1);
    await statusOf(cloud);
    assert.ok([...cloud.state.instances.values()].every(({ joined }) => joined));
    clock.advance(9);
    assert.equal(await statusOf(cloud), 'ACTIVE');
  });

  it('degrade their group when the type of the entry is wrong, until it is correct', async () => {
    const { cloud, clock } = memoryCloud();
    await active(cloud, clock);
    for (const [type, status] of [
      ['EC2_LINUX', 'DEGRADED'],
      ['EC2_WINDOWS', 'ACTIVE'],
      ['STANDARD', 'DEGRADED'],
      ['EC2_WINDOWS', 'ACTIVE'],
    ] as const) {
      cloud.faults.accessEntry({ type });
      clock.advance(1);
      assert.equal(await statusOf(cloud), status, type);
    }
  });

  it('degrade their group until aws-auth is correct', async () => {
    const { cloud, clock } = memoryCloud();
    cloud.faults.cluster({ authenticationMode: 'CONFIG_MAP' });
    cloud.state.awsAuth.set(nodeRoleArn, linuxGroups);
    await cloud.send('CreateNodegroup', sampleGroup());
    clock.advance(10);
    assert.equal(await statusOf(cloud), 'DEGRADED');
    cloud.state.awsAuth.set(nodeRoleArn, windowsGroups);
    clock.advance(1);
    assert.equal(await statusOf(cloud), 'ACTIVE');
  });

  it('with an entry of type EC2_LINUX join depending on the switch', async () => {
    for (const [linuxAccessEntry, status, notReady] of [
      ['healthIssue', 'DEGRADED', false],
      ['notReady', 'ACTIVE', true],
      ['nobody', 'ACTIVE', false],
    ] as const) {
      const { cloud, clock } = memoryCloud({ switches: { linuxAccessEntry } });
      cloud.faults.accessEntry({ type: 'EC2_LINUX' });
      await cloud.send('CreateNodegroup', sampleGroup());
      clock.advance(4);
      assert.equal(await statusOf(cloud), status, linuxAccessEntry);
      const unready = [...cloud.state.instances.values()].map(({ defect }) => defect.notReady === true);
      assert.deepEqual(unready, [notReady, notReady]);
    }
  });

  it('without access get it from EKS at CreateNodegroup, depending on the switch', async () => {
    for (const [nodegroupAccessEntry, groups] of [
      ['EC2_WINDOWS', windowsGroups],
      ['EC2_LINUX', linuxGroups],
      ['none', undefined],
    ] as const) {
      const { cloud } = memoryCloud({ switches: { nodegroupAccessEntry } });
      cloud.faults.accessEntry({ exists: false });
      await cloud.send('CreateNodegroup', sampleGroup());
      const { type } = cloud.state.accessEntries.get(nodeRoleArn) ?? {};
      assert.equal(type, nodegroupAccessEntry === 'none' ? undefined : nodegroupAccessEntry);
      const old = memoryCloud({ switches: { nodegroupAccessEntry } }).cloud;
      old.faults.cluster({ authenticationMode: 'CONFIG_MAP' });
      await old.send('CreateNodegroup', sampleGroup());
      assert.deepEqual(old.state.awsAuth.get(nodeRoleArn), groups);
    }
  });

  it('of Linux without access get access for Linux', async () => {
    const { cloud } = memoryCloud();
    cloud.faults.accessEntry({ exists: false });
    cloud.faults.consoleCreate({ ...sampleGroup(), amiType: 'AL2023_x86_64_STANDARD' });
    assert.equal(cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_LINUX');
  });

  it('that aws-auth maps also get an entry', async () => {
    const { cloud, clock } = memoryCloud();
    cloud.faults.accessEntry({ exists: false });
    cloud.state.awsAuth.set(nodeRoleArn, windowsGroups);
    await active(cloud, clock);
    assert.equal(cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_WINDOWS');
  });

  it('keep the entry that they have, whatever its type', async () => {
    const { cloud } = memoryCloud();
    cloud.faults.accessEntry({ type: 'EC2_LINUX' });
    await cloud.send('CreateNodegroup', sampleGroup());
    assert.equal(cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_LINUX');
  });
});

it('a node group is neither created nor changed while the cluster is UPDATING', async () => {
  const { cloud, clock } = memoryCloud();
  await active(cloud, clock);
  cloud.faults.cluster({ status: 'UPDATING' });
  const update = { ...group, scalingConfig: { maxSize: 9 } };
  const create = sampleGroup({ nodegroupName: 'other' });
  const error = /^InvalidRequestException: .*is not in ACTIVE status/;
  assert.match(await rejection(cloud.send('UpdateNodegroupConfig', update)), error);
  assert.match(await rejection(cloud.send('CreateNodegroup', create)), error);
  cloud.faults.cluster({ status: 'ACTIVE' });
  assert.equal(await rejection(cloud.send('UpdateNodegroupConfig', update)), 'accepted');
  assert.equal(await rejection(cloud.send('CreateNodegroup', create)), 'accepted');
});
