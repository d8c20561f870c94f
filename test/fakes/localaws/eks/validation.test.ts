import assert from 'node:assert/strict';
import type { CreateNodegroupRequest, UpdateNodegroupConfigRequest } from '@aws-sdk/client-eks';
import { type LocalAws, startLocalAws } from '../localAws.ts';
import { untrustedRoleArn } from '../network.ts';
import { sampleCluster, sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { assertRejected, rejection } from '../testing/testGroup.ts';
import { type SdkClients, sdkClients } from '../wire/sdkClients.ts';

const long = 'x'.repeat(64);
const clusterName = sampleCluster.name;

type Case<T> = readonly [what: string, changes: T, error: RegExp];

const creates: readonly Case<Partial<Record<keyof CreateNodegroupRequest, unknown>>>[] = [
  ['a name of 64 characters', { nodegroupName: long }, /nodeGroupName.*\b63\b/],
  ['a name with a dot', { nodegroupName: 'a.b' }, /nodegroupName/],
  ['two sizes of three', { scalingConfig: { minSize: 1, maxSize: 2 } }, /minSize, maxSize, desiredSize/],
  ['min above desired', { scalingConfig: { minSize: 3, desiredSize: 2, maxSize: 4 } }, /minSize.*desiredSize/],
  ['desired above max', { scalingConfig: { minSize: 0, desiredSize: 5, maxSize: 4 } }, /desiredSize.*maxSize/],
  ['a max of 0', { scalingConfig: { minSize: 0, desiredSize: 0, maxSize: 0 } }, /maxSize is 0\b.*\b1 to 450\b/],
  [
    'an effect in the spelling of Kubernetes',
    { taints: [{ key: 'os', effect: 'NoSchedule' }] },
    /NoSchedule.*NO_SCHEDULE, NO_EXECUTE, PREFER_NO_SCHEDULE/,
  ],
  [
    '51 taints',
    { taints: Array.from({ length: 51 }, (_, index) => ({ key: `k${index}`, effect: 'NO_SCHEDULE' })) },
    /\b50 taints.*\b51\b/,
  ],
  [
    'a taint twice',
    {
      taints: [
        { key: 'a', effect: 'NO_SCHEDULE' },
        { key: 'a', value: 'b', effect: 'NO_SCHEDULE' },
      ],
    },
    /Taint a.*NO_SCHEDULE/,
  ],
  [
    'an ARM instance type',
    { instanceTypes: ['m5.large', 't4g.medium'] },
    /\[t4g\.medium\].*WINDOWS_CORE_2022_x86_64\b/,
  ],
  ['an unknown instance type', { instanceTypes: ['m5.huge'] }, /\[m5\.huge\]/],
  [
    'an unknown release',
    { releaseVersion: '1.36-2020.01.01' },
    /release version 1\.36-2020\.01\.01 is not valid for kubernetes version 1\.36\./,
  ],
  [
    'a release of another version',
    { version: '1.36', releaseVersion: '1.35-2026.04.18' },
    /release version 1\.35-2026\.04\.18 is not valid for kubernetes version 1\.36\./,
  ],
  ['a version above the cluster', { version: '1.37' }, /\b1\.37\b.*\b1\.36\b/],
  [
    'Windows 2025 below 1.35',
    { amiType: 'WINDOWS_CORE_2025_x86_64', version: '1.34' },
    /WINDOWS_CORE_2025_x86_64\b.*\b1\.35\b/,
  ],
  [
    'a disk size together with a template',
    { launchTemplate: { name: 'lt' }, diskSize: 50 },
    /Disk size.*launch template/,
  ],
  [
    'remote access together with a template',
    { launchTemplate: { name: 'lt' }, remoteAccess: { ec2SshKey: 'k' } },
    /Remote access.*launch template/,
  ],
  ['a disk of 0', { diskSize: 0 }, /diskSize is 0\b.*\b1 to 16384\b/],
  [
    'a reserved label of EKS',
    { labels: { 'eks.amazonaws.com/x': 'y' } },
    /Label.*\[kubernetes\.io\/, k8s\.io\/, eks\.amazonaws\.com\/\]/,
  ],
  ['a label without value', { labels: { a: '' } }, /label a.*\b1 to 63\b/],
  ['a label with a long name', { labels: { [long]: 'a' } }, /Label key.*\b1 to 63\b/],
  ['a reserved tag of AWS', { tags: { ...sampleGroup().tags, 'aws:x': 'y' } }, /Tag key aws:x/],
  [
    'maxUnavailable twice',
    { updateConfig: { maxUnavailable: 1, maxUnavailablePercentage: 10 } },
    /maxUnavailable.*maxUnavailablePercentage/,
  ],
  ['maxUnavailable 0', { updateConfig: { maxUnavailable: 0 } }, /maxUnavailable is 0\b.*\b1 to 100\b/],
  ['a role that EC2 cannot assume', { nodeRole: untrustedRoleArn }, /\[ec2\.amazonaws\.com\].*nodeRole/],
  ['a role that does not exist', { nodeRole: 'arn:aws:iam::111122223333:role/windows-nodes-2' }, /windows-nodes-2\b/],
  [
    'an unknown subnet',
    { subnets: ['subnet-0a1000000000000aa', 'subnet-9'] },
    /The subnet ID 'subnet-9' does not exist$/,
  ],
  ['no subnet', { subnets: [] }, /subnets/],
  ['no subnets at all', { subnets: undefined }, /'subnets'/],
  ['an unknown capacity type', { capacityType: 'Spot' }, /Spot.*\[CAPACITY_BLOCK, ON_DEMAND, SPOT\]/],
  [
    'a size as text',
    { scalingConfig: { minSize: '1', desiredSize: 1, maxSize: 1 } },
    /^SerializationException: .*scalingConfig\.minSize.*string/,
  ],
  [
    'another cluster',
    { clusterName: 'other' },
    /^AccessDeniedException: .*is not authorized to perform: eks:CreateNodegroup on resource: arn:aws:eks:us-west-2:111122223333:cluster\/other/,
  ],
  ['a taken name', { nodegroupName: 'taken' }, /^ResourceInUseException: .*name taken.*cluster name demo/],
];

const updates: readonly Case<Partial<UpdateNodegroupConfigRequest>>[] = [
  ['empty sizes', { scalingConfig: {} }, /minSize, maxSize, desiredSize/],
  ['empty labels', { labels: {} }, /addOrUpdateLabels.*removeLabels/],
  ['empty taints', { taints: { addOrUpdateTaints: [] } }, /addOrUpdateTaints.*removeTaints/],
  ['min above desired', { scalingConfig: { minSize: 3 } }, /\b3\b.*\b2\b/],
  ['desired above max', { scalingConfig: { desiredSize: 6 } }, /desiredSize.*maxSize/],
  ['max below desired', { scalingConfig: { maxSize: 1 } }, /desiredSize.*maxSize/],
  [
    'a reserved label of EKS',
    { labels: { addOrUpdateLabels: { 'eks.amazonaws.com/x': 'y' } } },
    /Label.*\[kubernetes\.io\/, k8s\.io\/, eks\.amazonaws\.com\/\]/,
  ],
  [
    'both kinds of maxUnavailable',
    { updateConfig: { maxUnavailable: 1, maxUnavailablePercentage: 1 } },
    /maxUnavailable.*maxUnavailablePercentage/,
  ],
  ['another group', { nodegroupName: 'other' }, /^ResourceNotFoundException: .*No node group found for name: other\./],
];

describe('a node group of an older Kubernetes version than the cluster', () => {
  for (const [olderVersionAtCreation, outcome] of [
    ['reject', /You can only create .* current Kubernetes version/],
    ['accept', /^accepted$/],
  ] as const) {
    it(`can be created or not: ${olderVersionAtCreation}`, async () => {
      const { cloud } = memoryCloud({ switches: { olderVersionAtCreation } });
      const creation = cloud.send('CreateNodegroup', sampleGroup({ version: '1.35' }));
      assert.match(await creation.then(() => 'accepted', String), outcome);
    });
  }
});

describe('EKS, through the real SDK client', () => {
  let cloud: LocalAws;
  let sdk: SdkClients;

  before(async () => {
    cloud = await startLocalAws({ cluster: sampleCluster, speed: 1000 });
    sdk = sdkClients(cloud.url, sampleCluster.region);
    await sdk.eks.createNodegroup(sampleGroup({ nodegroupName: 'taken' }));
    const deadline = Date.now() + 30_000;
    while ((await sdk.eks.describeNodegroup({ clusterName, nodegroupName: 'taken' })).nodegroup?.status !== 'ACTIVE') {
      assert.ok(Date.now() < deadline, 'the group is not ACTIVE after 30 s');
    }
  });

  after(async () => {
    sdk.destroy();
    await cloud.stop();
  });

  for (const [what, changes, error] of creates) {
    it(`rejects a creation with ${what}`, async () => {
      // Some rows violate the types on purpose.
      const request = { ...sampleGroup(), ...changes } as CreateNodegroupRequest;
      await assertRejected(sdk.eks.createNodegroup(request), error);
      assert.deepEqual([...cloud.state.groups.keys()], ['taken']);
    });
  }

  for (const [what, changes, error] of updates) {
    it(`rejects an update with ${what}`, async () => {
      const request = { clusterName, nodegroupName: 'taken', ...changes };
      await assertRejected(sdk.eks.updateNodegroupConfig(request), error);
      assert.equal(cloud.state.updates.size, 0);
    });
  }
});

describe('CreateNodegroup outside the commercial Regions', () => {
  for (const [region, outcome] of [
    ['us-gov-west-1', /commercial AWS Regions/],
    ['cn-north-1', /commercial AWS Regions/],
    ['ca-central-1', /^accepted$/],
  ] as const) {
    it(`has no Windows AMI types: ${region} is ${outcome.source}`, async () => {
      const { cloud } = memoryCloud({ cluster: { ...sampleCluster, region } });
      const request = sampleGroup({ amiType: 'WINDOWS_CORE_2022_x86_64' });
      assert.match(await rejection(cloud.send('CreateNodegroup', request)), outcome);
    });
  }
});
