import assert from 'node:assert/strict';
import { imageIdFor, newestRelease } from '../../../../test/fakes/localaws/ec2/images.ts';
import type { NodeClassSpec } from '../../api/api.gen.ts';
import type { NodeClassManifestSpec } from '../../ports/karpenter.ts';
import type { FakeWorld } from '../../testing/fakeWorld.ts';
import { sampleError } from '../../testing/fixtures.ts';
import { assertBrief } from '../../testing/goldenTexts.ts';
import { editPool, karpenterWorld, NODE_CLASS } from '../../testing/karpenterScenes.ts';
import { conditionOf, pendingIn, ready, wake } from '../../testing/life.ts';
import { pass } from '../../testing/nodeLife.ts';

const { ami: _own, ...followed } = NODE_CLASS.nodeClass ?? assert.fail('no node class');
const PARAMETER = '/windowspool/golden';
const GOLDEN = { ...followed, ami: { ssmParameter: PARAMETER } };
const SCRIPTED: NodeClassSpec = {
  ...followed,
  ami: { id: 'ami-0123456789abcdef0' },
  userData: { configMap: 'windows', key: 'user-data.ps1' },
};

const specIn = (world: FakeWorld) => world.karpenter.nodeClass?.spec as NodeClassManifestSpec | undefined;
const amiIn = (world: FakeWorld) => specIn(world)?.amiSelectorTerms[0]?.id;
const prerequisites = (world: FakeWorld) => conditionOf(world, 'PrerequisitesMet') ?? '';
const nodePoolReady = (world: FakeWorld) => conditionOf(world, 'NodePoolReady') ?? '';
const worldWith = (nodeClass: NodeClassSpec) => karpenterWorld({ karpenter: { nodeClass } });

/** More than the resync interval: facts are read again. */
const LATER = 60;

describe('the AMI of an EC2NodeClass', () => {
  it('is the newest one of EKS for the Kubernetes version of the cluster, by its ID', async () => {
    const { world, deps } = await worldWith(followed);
    const [minor, type] = ['1.36', 'WINDOWS_CORE_2022_x86_64'];
    const newest = newestRelease(world.cloud.state, minor, type)?.releaseVersion ?? assert.fail('no release');
    assert.deepEqual(specIn(world)?.amiSelectorTerms, [{ id: imageIdFor(type, newest) }]);
    assert.equal(ready(world), 'True');
    editPool(world, { paused: true, karpenter: { nodeClass: { ...followed, edition: 'Full' } } });
    await wake(world, deps);
    assert.deepEqual(pendingIn(world), ['Paused: change amiSelectorTerms of EC2NodeClass web (replaces every node)']);
  });

  it('follows a parameter, and keeps its ID while the parameter cannot be read', async () => {
    const { world, deps } = await worldWith(GOLDEN);
    world.cloud.faults.parameter({ name: PARAMETER, value: 'ami-00000000000000001' });
    await pass(world, deps, LATER);
    assert.equal(amiIn(world), 'ami-00000000000000001');
    world.cloud.faults.parameter({ name: PARAMETER, value: 'ami-00000000000000002' });
    await pass(world, deps, LATER);
    assert.equal(amiIn(world), 'ami-00000000000000002');
    world.cloud.faults.parameter({ name: PARAMETER });
    await pass(world, deps, LATER);
    assert.equal(amiIn(world), 'ami-00000000000000002');
    assertBrief(prerequisites(world), 'False AMIInvalid', PARAMETER, 'does not exist', 'karpenter.nodeClass.ami.id');
  });

  it('is waited for by the EC2NodeClass and the NodePool, and its value is not shown', async () => {
    const { world, deps } = await worldWith(GOLDEN);
    assertBrief(nodePoolReady(world), 'False NotChecked', 'EC2NodeClass web', 'PrerequisitesMet');
    assert.deepEqual([world.karpenter.nodeClass, world.karpenter.nodePool], [undefined, undefined]);
    world.cloud.faults.parameter({ name: PARAMETER, value: 'hunter2' });
    await pass(world, deps, LATER);
    assertBrief(prerequisites(world), 'False AMIInvalid', PARAMETER, 'is not the ID of an AMI');
    assert.doesNotMatch(prerequisites(world), /hunter2/);
    world.cloud.faults.parameter({ name: PARAMETER, value: 'ami-00000000000000001' });
    await pass(world, deps, LATER);
    assert.equal(amiIn(world), 'ami-00000000000000001');
    assert.notEqual(world.karpenter.nodePool, undefined);
  });

  it('that AWS does not allow the operator to read is reported with the permission', async () => {
    const { world, deps } = await worldWith(GOLDEN);
    world.fails = (call) => (call === 'GetParameter' ? sampleError('denied') : undefined);
    await pass(world, deps, LATER);
    assertBrief(prerequisites(world), 'False AMIInvalid', 'ssm:GetParameter');
  });
});

describe('the user data of an EC2NodeClass', () => {
  it('is the script of a ConfigMap, without tags, as one command that Karpenter puts before its own', async () => {
    const { world, deps } = await worldWith(SCRIPTED);
    assertBrief(
      prerequisites(world),
      'False UserDataNotFound',
      'karpenter.nodeClass.userData',
      'winpool-system/windows',
    );
    assertBrief(nodePoolReady(world), 'False NotChecked', 'EC2NodeClass web', 'userData');
    world.scripts.set('windows', { 'user-data.ps1': '<powershell>\nInstall-Agent\n</powershell>\n' });
    await pass(world, deps, LATER);
    const { userData = '' } = specIn(world) ?? {};
    assert.match(userData, /^\$before = \[scriptblock\]::Create\('Install-Agent'\)$/m);
    assert.match(userData, /& \$before$/);
    assert.doesNotMatch(userData, /<\/?powershell>/);
    assert.match(prerequisites(world), /^True Met:/);
  });

  it('stays as it is while the ConfigMap is gone or has a script that nodes cannot run', async () => {
    const { world, deps } = await worldWith(SCRIPTED);
    world.scripts.set('windows', { 'user-data.ps1': 'Install-Agent' });
    await pass(world, deps, LATER);
    const before = specIn(world)?.userData;
    for (const [text, reason] of [
      [undefined, 'UserDataNotFound'],
      ['#!/bin/bash\n/etc/eks/bootstrap.sh', 'UserDataInvalid'],
    ] as const) {
      if (text === undefined) world.scripts.delete('windows');
      else world.scripts.set('windows', { 'user-data.ps1': text });
      await pass(world, deps, LATER);
      assertBrief(prerequisites(world), `False ${reason}`);
      assert.equal(specIn(world)?.userData, before);
    }
  });

  it('that looks like a secret is advised against', async () => {
    const { world, deps } = await worldWith(SCRIPTED);
    world.scripts.set('windows', { 'user-data.ps1': '$password = "hunter22"' });
    await pass(world, deps, LATER);
    const advice = world.pools.get('web')?.status?.checks?.find(({ severity }) => severity === 'Advice');
    assert.equal(advice?.reason, 'SecretInUserData');
    assert.doesNotMatch(advice?.message ?? '', /hunter22/);
  });
});

it('a Windows version that Kubernetes does not support yet is reported before Karpenter creates a node', async () => {
  const { world, deps } = await karpenterWorld({ windowsVersion: 'Windows2025' }, 0);
  assert.match(prerequisites(world), /^True Met:/);
  await pass(world, { ...deps, serverVersion: () => 'v1.34.2-eks-1a2b3c4' }, LATER);
  assertBrief(
    prerequisites(world),
    'False UnsupportedVersion',
    'Windows Server 2025',
    'from 1.35',
    '1.34',
    '#versions',
  );
});

it('prefix delegation, of which Karpenter knows nothing, is warned of', async () => {
  const { world, deps } = await worldWith({ ...followed, ami: { id: 'ami-0123456789abcdef0' } });
  world.kubeSystem.cniConfig = { ...world.kubeSystem.cniConfig, 'enable-windows-prefix-delegation': 'true' };
  await pass(world, deps, LATER);
  assertBrief(prerequisites(world), 'True MetWithWarnings', 'Prefix delegation', '#prefix-delegation');
});

describe('the cluster of an EC2NodeClass', () => {
  const OWN: NodeClassSpec = { ...followed, ami: { id: 'ami-0123456789abcdef0' } };
  const withRange = (world: FakeWorld, serviceIpv4Cidr: string) => {
    world.alter = (operation, output) => {
      const { cluster } = output as { cluster?: { kubernetesNetworkConfig?: object } };
      if (operation === 'DescribeCluster' && cluster)
        Object.assign(cluster.kubernetesNetworkConfig ?? {}, { serviceIpv4Cidr });
      return output;
    };
  };
  const findings: readonly (readonly [what: string, damage: (world: FakeWorld) => void, words: readonly string[]])[] = [
    [
      'an access entry of Linux nodes',
      ({ cloud }) => cloud.faults.accessEntry({ type: 'EC2_LINUX' }),
      ['False NodeAccessInvalid', 'EC2_LINUX', 'aws eks create-access-entry', '#node-access'],
    ],
    [
      'no access entry',
      ({ cloud }) => cloud.faults.accessEntry({ exists: false }),
      ['False NodeAccessInvalid', 'no access entry', 'aws eks create-access-entry'],
    ],
    [
      'no access entry where aws-auth is not read',
      ({ cloud }) => {
        cloud.faults.cluster({ authenticationMode: 'API' });
        cloud.faults.accessEntry({ exists: false });
      },
      ['False NodeAccessInvalid', 'no access entry', '--type EC2_WINDOWS'],
    ],
    [
      'a mapping without the group of kube-proxy',
      (world) => {
        world.cloud.faults.accessEntry({ exists: false });
        const groups = ['system:bootstrappers', 'system:nodes'];
        world.kubeSystem.roleMappings = [{ roleArn: 'arn:aws:iam::111122223333:role/windows-nodes', groups }];
      },
      ['False NodeAccessInvalid', 'eks:kube-proxy-windows', 'mapRoles'],
    ],
    ['IPv6', ({ cloud }) => cloud.faults.cluster({ ipFamily: 'ipv6' }), ['False UnsupportedIPFamily', 'ipv6', '#ipv4']],
    [
      'a Service CIDR that nodes do not assume',
      (world) => withRange(world, '10.50.0.0/16'),
      ['True MetWithWarnings', '10.50.0.0/16', 'Get-EKSCluster -Name', '#service-cidr'],
    ],
  ];
  for (const [what, damage, words] of findings)
    it(`is reported if it has ${what}`, async () => {
      const { world, deps } = await worldWith(OWN);
      assert.match(prerequisites(world), /^True Met:/);
      damage(world);
      await pass(world, deps, LATER);
      const [condition = '', ...rest] = words;
      assertBrief(prerequisites(world), condition, ...rest);
    });

  it('may have a mapping of the node role in place of an access entry, and its Service CIDR in the user data', async () => {
    const { world, deps } = await worldWith(SCRIPTED);
    world.scripts.set('windows', { 'user-data.ps1': '$global:EKSCluster = Get-EKSCluster -Name prod' });
    world.cloud.faults.accessEntry({ exists: false });
    const groups = ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'];
    world.kubeSystem.roleMappings = [{ roleArn: 'arn:aws:iam::111122223333:role/windows-nodes', groups }];
    withRange(world, '10.50.0.0/16');
    await pass(world, deps, LATER);
    assert.match(prerequisites(world), /^True Met:/);
  });

  it('may be unknown to an operator without AWS, which then calls it no more often than it polls', async () => {
    const { world, deps } = await worldWith(OWN);
    world.fails = (call) => (/^[A-Z]/.test(call) ? sampleError('denied') : undefined);
    await pass(world, deps, LATER);
    assert.match(prerequisites(world), /^True Met:/);
    world.awsCalls();
    for (let event = 0; event < 20; event++) await wake(world, deps);
    assert.ok(world.awsCalls().length <= 2);
  });

  it('has only instance types on which Windows pods can run', async () => {
    const values = ['m5.large', 'm6g.large', 'm99.large'];
    const requirements = [{ key: 'node.kubernetes.io/instance-type', operator: 'In' as const, values }];
    const { world } = await karpenterWorld({ karpenter: { nodeClass: OWN, requirements } });
    assertBrief(
      prerequisites(world),
      'False InstanceTypeUnsupported',
      'Instance type m6g.large is arm64',
      'm99.large does not exist',
    );
    assert.doesNotMatch(prerequisites(world), /m5\.large/);
  });
});
