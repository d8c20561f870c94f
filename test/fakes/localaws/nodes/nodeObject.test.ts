import assert from 'node:assert/strict';
import type { InstanceRecord } from '../records.ts';
import { sampleCluster, sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { kubeletLabels, nodeFor, podAddresses, restartLabels } from './nodeObject.ts';

const build = 'node.kubernetes.io/windows-build';

async function firstInstance(request = {}, defect = {}, kubernetesVersion = sampleCluster.kubernetesVersion) {
  const { cloud, clock } = memoryCloud({ cluster: { ...sampleCluster, kubernetesVersion } });
  cloud.faults.nextNode(defect);
  await cloud.send(
    'CreateNodegroup',
    sampleGroup({ scalingConfig: { minSize: 1, desiredSize: 1, maxSize: 1 }, ...request }),
  );
  clock.advance(3);
  await cloud.send('DescribeCluster', { name: 'demo' });
  const [instance] = cloud.state.instances.values();
  return { cloud, clock, instance: instance as InstanceRecord };
}

describe('the Node of a kubelet', () => {
  it('has the build of its Windows version and the revision of its release', async () => {
    const rows: readonly (readonly [amiType: string, kernelVersion: string, osImage: string])[] = [
      ['WINDOWS_CORE_2019_x86_64', '10.0.17763.8644', 'Windows Server 2019 Datacenter'],
      ['WINDOWS_FULL_2022_x86_64', '10.0.20348.5020', 'Windows Server 2022 Datacenter'],
      ['WINDOWS_CORE_2025_x86_64', '10.0.26100.32690', 'Windows Server 2025 Datacenter'],
    ];
    for (const [amiType, kernelVersion, osImage] of rows) {
      const { cloud, instance } = await firstInstance({ amiType });
      const node = nodeFor(cloud.state, instance);
      const info = node.status.nodeInfo;
      assert.deepEqual([info.kernelVersion, info.osImage], [kernelVersion, osImage]);
      assert.equal(node.metadata.labels[build], kernelVersion.split('.').slice(0, 3).join('.'));
    }
  });

  it('has the kernel of a defect', async () => {
    const rows: readonly (readonly [defect: object, kernelVersion: string])[] = [
      [{ build: '10.0.17763' }, '10.0.17763.8644'],
      [{ build: '10.0.99999' }, '10.0.99999.1'],
      [{ revision: 100 }, '10.0.20348.100'],
      [{ kernelVersion: 'unknown' }, 'unknown'],
    ];
    for (const [defect, kernelVersion] of rows) {
      const { instance } = await firstInstance({}, defect);
      assert.equal(instance.kernelVersion, kernelVersion);
    }
  });

  it('has --node-labels that override labels of the kubelet, at each start', async () => {
    const { instance } = await firstInstance({ labels: { [build]: '10.0.1', tier: 'web' } });
    assert.equal(kubeletLabels(instance)[build], '10.0.1');
    assert.equal(restartLabels(instance)[build], '10.0.1');
    assert.ok(!Object.hasOwn(restartLabels(instance), 'tier'), 'only its own labels are put back');
  });

  it('keeps the labels of its launch when those of its group change', async () => {
    const { cloud, clock, instance } = await firstInstance({ labels: { tier: 'old' } });
    const group = { clusterName: 'demo', nodegroupName: 'web' };
    await cloud.send('UpdateNodegroupConfig', { ...group, labels: { addOrUpdateLabels: { tier: 'new' } } });
    clock.advance(2);
    assert.equal((await cloud.send('DescribeNodegroup', group)).nodegroup?.labels?.tier, 'new');
    assert.equal(kubeletLabels(instance).tier, 'old');
  });

  it('reserves the eviction threshold of its kubelet version, or the memory of a defect', async () => {
    for (const [version, defect, allocatable] of [
      ['1.30', {}, '8092Mi'],
      ['1.36', {}, '7692Mi'],
      ['1.36', { reservedMiB: 2148 }, '6044Mi'],
    ] as const) {
      const { cloud, instance } = await firstInstance({}, defect, version);
      const { capacity, allocatable: left } = nodeFor(cloud.state, instance).status;
      assert.deepEqual([capacity.memory, left.memory], ['8192Mi', allocatable]);
    }
  });

  it('reserves what its arguments say, and no threshold that they leave out', async () => {
    const rows = [
      [{}, ['2', '7692Mi', '48317434675']],
      [
        { 'system-reserved': 'cpu=250m,memory=1Gi,ephemeral-storage=2Mi', 'kube-reserved': 'cpu=250m,memory=1Gi' },
        ['1500m', '5644Mi', '48315337523'],
      ],
      [{ 'eviction-hard': 'memory.available<25%' }, ['2', '6144Mi', '53686038528']],
      [{ 'eviction-hard': 'nodefs.available<50%' }, ['2', '8192Mi', '26843019264']],
    ] as const;
    const { cloud, instance } = await firstInstance();
    for (const [kubelet, wanted] of rows) {
      const {
        cpu,
        memory,
        'ephemeral-storage': storage,
      } = nodeFor(cloud.state, { ...instance, kubelet }).status.allocatable;
      assert.deepEqual([cpu, memory, storage], wanted);
    }
  });

  it('reports Linux with a defect', async () => {
    const { cloud, instance } = await firstInstance({}, { operatingSystem: 'linux' });
    const { metadata, status } = nodeFor(cloud.state, instance);
    assert.deepEqual([metadata.labels['kubernetes.io/os'], metadata.labels[build]], ['linux', undefined]);
    const { operatingSystem, kernelVersion } = status.nodeInfo;
    assert.deepEqual([operatingSystem, kernelVersion], ['linux', '6.1.112-122.189.amzn2023.x86_64']);
  });
});

describe('the instances of a group', () => {
  it('are spread over the zones, and terminated in the fullest one, the oldest first', async () => {
    const { cloud, clock } = memoryCloud();
    await cloud.send('CreateNodegroup', sampleGroup({ scalingConfig: { minSize: 0, desiredSize: 4, maxSize: 5 } }));
    clock.advance(3);
    const zones = async () => {
      const { Reservations } = await cloud.send('DescribeInstances', {
        Filters: [{ Name: 'instance-state-name', Values: ['running'] }],
      });
      return Reservations?.map(({ Instances }) => Instances?.[0]?.Placement?.AvailabilityZone?.at(-1)).join('');
    };
    assert.equal(await zones(), 'abca');
    await cloud.send('UpdateNodegroupConfig', {
      clusterName: 'demo',
      nodegroupName: 'web',
      scalingConfig: { desiredSize: 2 },
    });
    clock.advance(2);
    assert.equal(await zones(), 'ca');
  });

  it('have an address for each slot of their interface but one, and 16 with prefixes, on Nitro', async () => {
    const { cloud } = await firstInstance();
    const pods = () => ['m5.large', 'm4.large'].map((type) => podAddresses(cloud.state, { type }));
    assert.deepEqual(pods(), [9, 9]);
    cloud.state.prefixDelegation = true;
    assert.deepEqual(pods(), [144, 9]);
  });

  it('are replaced when one is terminated', async () => {
    const { cloud, instance, clock } = await firstInstance();
    const events: string[] = [];
    cloud.state.onNodeEvent(({ kind, instance: { nodeName } }) => events.push(`${kind} ${nodeName}`));
    cloud.faults.terminateInstance({ node: instance.nodeName });
    clock.advance(2);
    await cloud.send('DescribeCluster', { name: 'demo' });
    const [lost, leave, join, addresses] = events;
    assert.deepEqual([lost, leave], [`lost ${instance.nodeName}`, `leave ${instance.nodeName}`]);
    assert.equal(join, 'join ip-10-0-1-11.us-west-2.compute.internal');
    assert.match(addresses ?? '', /^podAddresses ip-10-0-/);
  });

  it('disappear from EC2 some time after their termination', async () => {
    const { cloud, clock } = await firstInstance();
    await cloud.send('DeleteNodegroup', { clusterName: 'demo', nodegroupName: 'web' });
    clock.advance(2);
    const states = async () =>
      (await cloud.send('DescribeInstances', {})).Reservations?.map(({ Instances }) => Instances?.[0]?.State?.Name);
    assert.deepEqual(await states(), ['terminated']);
    clock.advance(60);
    assert.deepEqual(await states(), []);
  });
});
