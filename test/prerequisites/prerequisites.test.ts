import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { nodeRoleArn, subnetIds } from '../fakes/localaws/network.ts';
import { conditionOf, messageOf, type TestEnv, windowsIpam } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { setSwitch } from '../sharedWorld.ts';
import { awsAuth, LINUX, linuxGroup, withPrerequisites } from './prerequisitesFixture.ts';

/** How a prerequisite is removed and restored, and what the pool reports meanwhile. */
interface Row {
  readonly what: string;
  readonly name: string;
  readonly spec?: Parameters<typeof poolManifest>[1];
  readonly violate: (world: TestEnv) => unknown;
  readonly restore: (world: TestEnv) => unknown;
  readonly reason: string;
  readonly words: RegExp;
}

const rows: readonly Row[] = [
  {
    what: 'the cluster is ACTIVE',
    name: 'updating',
    violate: ({ cloud }) => cloud.faults.cluster({ status: 'UPDATING' }),
    restore: ({ cloud }) => cloud.faults.cluster({ status: 'ACTIVE' }),
    reason: 'ClusterNotActive',
    words: /\bUPDATING\b.*\bACTIVE\b/,
  },
  {
    what: 'the cluster has IPv4',
    name: 'ipv6',
    violate: ({ cloud }) => cloud.faults.cluster({ ipFamily: 'ipv6' }),
    restore: ({ cloud }) => cloud.faults.cluster({ ipFamily: 'ipv4' }),
    reason: 'UnsupportedIPFamily',
    words: /has IP family ipv6\. Windows nodes need ipv4/,
  },
  {
    what: 'the cluster is not in Auto Mode without the vpc-cni add-on',
    name: 'auto',
    violate: ({ cloud }) => cloud.faults.cluster({ autoMode: true }),
    restore: ({ cloud }) => cloud.faults.cluster({ autoMode: false }),
    reason: 'AutoModeUnsupported',
    words: /Auto Mode.*\bvpc-cni\b/,
  },
  {
    what: 'its version supports Windows Server 2025',
    name: 'old',
    spec: { windowsVersion: 'Windows2025' },
    violate: ({ cloud }) => cloud.faults.cluster({ version: '1.34' }),
    restore: ({ cloud }) => cloud.faults.cluster({ version: '1.36' }),
    reason: 'UnsupportedVersion',
    words: /Windows Server 2025 with Kubernetes 1\.34\b.*\b1\.35\b/,
  },
  {
    what: 'EKS publishes an AMI for a version that the operator does not list',
    name: 'newer',
    violate: ({ cloud }) => cloud.faults.cluster({ version: '1.38' }),
    restore: ({ cloud }) => cloud.faults.cluster({ version: '1.36' }),
    reason: 'UnsupportedVersion',
    words: /Windows Server 2022 Core for Kubernetes 1\.38 in eu-west-1\b/,
  },
  {
    what: 'a Linux node accepts pods',
    name: 'nolinux',
    violate: (world) => world.kubectl('cordon', ...LINUX),
    restore: (world) => world.kubectl('uncordon', ...LINUX),
    reason: 'NoLinuxNode',
    words: /no Linux node that accepts pods/,
  },
  {
    what: 'Windows IPAM is enabled in the ConfigMap',
    name: 'ipam',
    violate: (world) => world.apply(windowsIpam(false)),
    restore: (world) => world.apply(windowsIpam(true)),
    reason: 'WindowsIPAMDisabled',
    words: /\bvpc-cni\b.*\benable-windows-ipam: "true" in the ConfigMap/,
  },
  {
    what: 'Windows IPAM is enabled in the add-on that owns it',
    name: 'addon',
    violate: async (world) => {
      world.cloud.faults.addon({ name: 'vpc-cni', configurationValues: '{}' });
      await world.apply(windowsIpam(false));
    },
    restore: async (world) => {
      world.cloud.faults.addon({ name: 'vpc-cni', configurationValues: '{"enableWindowsIpam":"true"}' });
    },
    reason: 'WindowsIPAMDisabled',
    words: /\bvpc-cni add-on of cluster demo\b.*\{"enableWindowsIpam":"true"\}/,
  },
  {
    what: 'the legacy VPC resource controller is deleted',
    name: 'legacy',
    violate: (world) =>
      world.kubectl('-n', 'kube-system', 'create', 'deployment', 'vpc-resource-controller', '--image=old'),
    restore: (world) => world.kubectl('-n', 'kube-system', 'delete', 'deployment', 'vpc-resource-controller'),
    reason: 'LegacyResourceController',
    words: /Deployment kube-system\/vpc-resource-controller exists/,
  },
  {
    what: 'the access entry of the node role is for Windows',
    name: 'entry',
    violate: ({ cloud }) => cloud.faults.accessEntry({ type: 'EC2_LINUX' }),
    restore: ({ cloud }) => cloud.faults.accessEntry({ type: 'EC2_WINDOWS' }),
    reason: 'NodeAccessInvalid',
    words: /\bEC2_LINUX\b.*\bkube-proxy on Windows\b/,
  },
  {
    what: 'aws-auth maps the node role to its groups, without access entries',
    name: 'awsauth',
    violate: async (world) => {
      world.cloud.faults.cluster({ authenticationMode: 'CONFIG_MAP' });
      await world.apply(awsAuth(['system:bootstrappers', 'system:nodes']));
    },
    restore: (world) => world.apply(awsAuth(['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'])),
    reason: 'NodeAccessInvalid',
    words: /maps node role \S+ without eks:kube-proxy-windows/,
  },
  {
    what: 'no Linux group has the node role',
    name: 'shared',
    violate: (world) => linuxGroup(world, 'linux', nodeRoleArn),
    restore: (world) => world.kubectl('label', 'nodes', ...LINUX, 'eks.amazonaws.com/nodegroup-'),
    reason: 'NodeRoleShared',
    words: /is also the role of Linux node group linux/,
  },
  {
    what: 'the instance type is x86_64',
    name: 'arm',
    spec: { nodeGroup: { instanceTypes: ['m6g.large'] } },
    violate: () => undefined,
    restore: (world) => world.apply(poolManifest('arm', { nodeGroup: { instanceTypes: ['m5.large'] } })),
    reason: 'InstanceTypeUnsupported',
    words: /Instance type m6g\.large is arm64/,
  },
  {
    what: 'the instance type exists',
    name: 'notype',
    spec: { nodeGroup: { instanceTypes: ['m5.tiny'] } },
    violate: () => undefined,
    restore: (world) => world.apply(poolManifest('notype', { nodeGroup: { instanceTypes: ['m5.large'] } })),
    reason: 'InstanceTypeUnsupported',
    words: /Instance type m5\.tiny does not exist in eu-west-1/,
  },
  {
    what: 'the instance type is offered in the zones',
    name: 'zones',
    spec: { nodeGroup: { instanceTypes: ['r5.large'] } },
    violate: ({ cloud }) => cloud.faults.offering({ instanceType: 'r5.large', zones: ['eu-west-1a'] }),
    restore: ({ cloud }) => cloud.faults.offering({ instanceType: 'r5.large' }),
    reason: 'InstanceTypeNotOffered',
    words: /\(r5\.large\) in eu-west-1b\b.*\bsubnet-0a2/,
  },
  {
    what: 'the subnets exist',
    name: 'nosubnet',
    spec: { nodeGroup: { subnets: [{ id: 'subnet-0123456789abcdef0' }] } },
    violate: () => undefined,
    restore: (world) => world.apply(poolManifest('nosubnet')),
    reason: 'SubnetNotFound',
    words: /No subnet matches subnet-0123456789abcdef0 in eu-west-1/,
  },
  {
    what: 'the subnets have free addresses',
    name: 'addresses',
    violate: ({ cloud }) => {
      for (const id of subnetIds) cloud.faults.subnet({ id, freeAddresses: 1 });
    },
    restore: ({ cloud }) => {
      for (const id of subnetIds) cloud.faults.subnet({ id, freeAddresses: 251 });
    },
    reason: 'TooFewAddresses',
    words: /\b2 free IP addresses\b.*\b1 more node\b.*\b4 \(10\b/,
  },
  {
    what: 'the subnets have free addresses for the prefixes of the nodes',
    name: 'prefixes',
    violate: async (world) => {
      for (const id of subnetIds) world.cloud.faults.subnet({ id, freeAddresses: 5 });
      await world.apply(windowsIpam(true, { 'enable-windows-prefix-delegation': 'true' }));
    },
    restore: (world) => world.apply(windowsIpam(true)),
    reason: 'TooFewAddresses',
    words: /\b10 free IP addresses\b.*\b1 more node\b.*\b17 \(145\b.*\/28\b/,
  },
];

describe('the prerequisites of a pool', () => {
  const { fixture, is, message, remove, creations, measured } = withPrerequisites();

  for (const { what, name, spec, violate, restore, reason, words } of rows) {
    it(`${what}: nothing is created before, and the pool continues after that`, async () => {
      fixture.world.cloud.resetCalls();
      await violate(fixture.world);
      await fixture.world.apply(poolManifest(name, spec));
      await is(name, 'PrerequisitesMet', `False/${reason}`);
      await is(name, 'Ready', `False/${reason}`);
      assert.match(await message(name, 'PrerequisitesMet'), words);
      assert.match(await message(name, 'PrerequisitesMet'), /See https:\/\/\S+\/prerequisites\.md#[a-z0-9-]+\.$/);
      assert.ok((await measured(name)).includes(`False/${reason}`), `the metric of ${reason}`);
      assert.equal(creations(name), 0);
      await restore(fixture.world);
      await is(name, 'Ready', 'True/EnoughNodesVerified');
      assert.equal(conditionOf(await fixture.world.pool(name), 'PrerequisitesMet'), 'True/Met');
      assert.deepEqual(await measured(name), []);
      assert.equal(creations(name), 1);
      await remove(name);
    });
  }

  for (const authenticationMode of ['API', 'API_AND_CONFIG_MAP', 'CONFIG_MAP'] as const) {
    it(`are met before the node role has access, which EKS creates with the group (${authenticationMode})`, async () => {
      const { cloud } = fixture.world;
      const name = `noaccess-${authenticationMode.toLowerCase().replaceAll('_', '-')}`;
      cloud.faults.cluster({ authenticationMode });
      cloud.faults.accessEntry({ exists: false });
      await fixture.world.apply(poolManifest(name));
      await is(name, 'NodeGroupReady', 'False/Creating');
      assert.match(await message(name, 'PrerequisitesMet'), /yet: EKS (creates one of type EC2_WINDOWS|adds it)/);
      await is(name, 'Ready', 'True/EnoughNodesVerified');
      await is(name, 'PrerequisitesMet', 'True/Met');
      assert.deepEqual(await measured(name), []);
      assert.equal(
        cloud.state.accessEntries.get(nodeRoleArn)?.type,
        authenticationMode === 'CONFIG_MAP' ? undefined : 'EC2_WINDOWS',
      );
      await remove(name);
    });
  }

  it('name the access entry that EKS created for Linux nodes, as soon as it exists', async () => {
    const restore = setSwitch(fixture.world, 'nodegroupAccessEntry', 'EC2_LINUX');
    try {
      fixture.world.cloud.faults.accessEntry({ exists: false });
      await fixture.world.apply(poolManifest('forlinux'));
      await is('forlinux', 'PrerequisitesMet', 'False/NodeAccessInvalid');
      assert.equal(creations('forlinux'), 1);
      fixture.world.cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
      await is('forlinux', 'PrerequisitesMet', 'True/Met');
      await is('forlinux', 'Ready', 'True/EnoughNodesVerified');
      await remove('forlinux');
    } finally {
      restore();
    }
  });

  it('name the access that EKS did not create, after the creation has failed', async () => {
    const restore = setSwitch(fixture.world, 'nodegroupAccessEntry', 'none');
    try {
      fixture.world.cloud.faults.accessEntry({ exists: false });
      await fixture.world.apply(poolManifest('noentry'));
      await is('noentry', 'NodeGroupReady', 'False/CreateFailed');
      await is('noentry', 'PrerequisitesMet', 'False/NodeAccessInvalid');
      assertNames(await message('noentry', 'PrerequisitesMet'), 'access entry', 'cluster demo');
      await remove('noentry');
    } finally {
      restore();
    }
  });

  it('can be ignored with the annotation, which the status, an event and the metric report', async () => {
    await linuxGroup(fixture.world, 'linux', nodeRoleArn);
    await fixture.world.apply(poolManifest('ignoring'));
    await is('ignoring', 'PrerequisitesMet', 'False/NodeRoleShared');
    await fixture.world.kubectl(
      'annotate',
      'windowspool',
      'ignoring',
      'winpool.dev/ignore-prerequisites=NodeRoleShard',
    );
    await fixture.world.waitForPool('ignoring', 'to suggest the right name', (pool) =>
      /NodeRoleShard \(did you mean NodeRoleShared\?\)/.test(JSON.stringify(pool?.status?.conditions)),
    );
    assert.equal(creations('ignoring'), 0);
    await fixture.world.kubectl(
      'annotate',
      'windowspool',
      'ignoring',
      'winpool.dev/ignore-prerequisites=NodeRoleShared',
      '--overwrite',
    );
    await is('ignoring', 'PrerequisitesMet', 'True/PrerequisitesIgnored');
    await is('ignoring', 'Ready', 'True/EnoughNodesVerified');
    assert.deepEqual(await measured('ignoring'), ['Ignored/NodeRoleShared']);
    const events = await fixture.world.kubectl(
      'get',
      'events.events.k8s.io',
      '-A',
      '-o',
      'jsonpath={.items[*].reason}',
    );
    assert.ok(events.split(' ').includes('PrerequisitesIgnored'), events);
    await remove('ignoring');
  });

  it('that only warn block nothing: a role that Linux nodes share in aws-auth', async () => {
    const groups = ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'];
    await fixture.world.apply(awsAuth(groups));
    fixture.world.cloud.faults.cluster({ authenticationMode: 'CONFIG_MAP' });
    await linuxGroup(fixture.world, 'linux', nodeRoleArn);
    await fixture.world.apply(poolManifest('sharing'));
    await is('sharing', 'Ready', 'True/EnoughNodesVerified');
    await is('sharing', 'PrerequisitesMet', 'True/MetWithWarnings');
    assert.deepEqual(await measured('sharing'), ['Warning/NodeRoleShared']);
    await remove('sharing');
  });

  it('only warn if there are too few addresses for scaling.maxSize', async () => {
    for (const id of subnetIds) fixture.world.cloud.faults.subnet({ id, freeAddresses: 3 });
    await fixture.world.apply(poolManifest('roomy'));
    const pool = await fixture.world.waitForPool('roomy', 'to warn', (found) =>
      messageOf(found, 'PrerequisitesMet').includes('TooFewAddresses'),
    );
    assert.equal(conditionOf(pool, 'PrerequisitesMet'), 'True/MetWithWarnings');
    assertNames(messageOf(pool, 'PrerequisitesMet'), 'nodeGroup.scaling.maxSize', '3 more nodes', '12');
    await is('roomy', 'Ready', 'True/EnoughNodesVerified');
    await remove('roomy');
  });

  it('accept a Kubernetes version newer than the table if EKS has an AMI or the call is denied', async () => {
    fixture.world.cloud.faults.cluster({ version: '1.37' });
    await fixture.world.apply(poolManifest('ahead'));
    await is('ahead', 'NodeGroupReady', 'True/Active');
    assert.equal(conditionOf(await fixture.world.pool('ahead'), 'PrerequisitesMet'), 'True/Met');
    await remove('ahead');
    fixture.world.cloud.faults.removeAction({ action: 'ssm:GetParameter' });
    await fixture.world.apply(poolManifest('unasked', { windowsVersion: 'Windows2025' }));
    await is('unasked', 'PrerequisitesMet', 'Unknown/AccessDenied');
    assert.match(
      await message('unasked', 'PrerequisitesMet'),
      /the Kubernetes version \(missing permission ssm:GetParameter\)/,
    );
    await is('unasked', 'NodeGroupReady', 'True/Active');
    await remove('unasked');
  });

  it('warn of Windows 2019, which the Kubernetes project no longer supports with this version', async () => {
    await fixture.world.apply(poolManifest('retired', { windowsVersion: 'Windows2019' }));
    await is('retired', 'Ready', 'True/EnoughNodesVerified');
    await is('retired', 'PrerequisitesMet', 'True/MetWithWarnings');
    assert.match(await message('retired', 'PrerequisitesMet'), /supports Windows Server 2019 up to 1\.34/);
    assert.deepEqual(await measured('retired'), ['Warning/UnsupportedVersion']);
    await remove('retired');
  });

  for (const [addresses, nodes] of [
    ['withAddon', 'True/AllVerified'],
    ['never', 'False/NoPodAddresses'],
  ] as const) {
    it(`accept Auto Mode with the vpc-cni add-on (addresses ${addresses})`, async () => {
      const restore = setSwitch(fixture.world, 'addressesBesideAutoMode', addresses);
      try {
        fixture.world.cloud.faults.addon({ name: 'vpc-cni', configurationValues: '{"enableWindowsIpam":"true"}' });
        fixture.world.cloud.faults.cluster({ autoMode: true });
        const name = `auto-${addresses.toLowerCase()}`;
        await fixture.world.apply(poolManifest(name));
        await is(name, 'NodesVerified', nodes);
        await is(name, 'PrerequisitesMet', 'True/MetWithWarnings');
        assert.match(await message(name, 'PrerequisitesMet'), /needs the vpc-cni add-on, which is installed/);
        if (addresses === 'never')
          assertNames(await message(name, 'NodesVerified'), 'Likely cause: AutoModeUnsupported');
        await remove(name);
      } finally {
        restore();
      }
    });
  }

  it('include an access entry that the operator creates if the spec says so, and keeps when the pool is deleted', async () => {
    fixture.world.cloud.faults.accessEntry({ exists: false });
    await fixture.world.apply(poolManifest('manages', { nodeGroup: { accessEntryManagement: 'Operator' } }));
    await is('manages', 'Ready', 'True/EnoughNodesVerified');
    assert.equal(fixture.world.cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_WINDOWS');
    await remove('manages');
    assert.equal(fixture.world.cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_WINDOWS');
  });

  it('never change an access entry of another type', async () => {
    fixture.world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
    await fixture.world.apply(poolManifest('linuxentry', { nodeGroup: { accessEntryManagement: 'Operator' } }));
    await is('linuxentry', 'PrerequisitesMet', 'False/NodeAccessInvalid');
    assert.equal(fixture.world.cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_LINUX');
    await remove('linuxentry');
  });

  it('delay an update that EKS rejects only while the cluster is upgraded', async () => {
    await fixture.world.apply(poolManifest('skew'));
    await is('skew', 'Ready', 'True/EnoughNodesVerified');
    const { faults } = fixture.world.cloud;
    faults.cluster({ status: 'UPDATING' });
    const words = 'Requested release version is not valid for kubernetes version 1.36.';
    const refusal = { operation: 'UpdateNodegroupConfig', name: 'InvalidParameterException', message: words };
    faults.calls.error({ ...refusal, count: 3 });
    fixture.world.cloud.resetCalls();
    await fixture.world.apply(poolManifest('skew', { labels: { team: 'web' } }));
    const tries = () =>
      fixture.world.cloud.calls().filter(({ operation }) => operation === 'UpdateNodegroupConfig').length;
    await waitFor(() => tries() >= 3, { what: 'three attempts', timeoutMs: 60_000 });
    // After a rejection the operator reads whether the cluster is being upgraded.
    const isAsked = () => {
      const calls = fixture.world.cloud.calls();
      const last = calls.findLastIndex(({ result }) => result === refusal.name);
      return calls.slice(last).some(({ operation, result }) => operation === 'DescribeCluster' && result === 'ok');
    };
    await waitFor(isAsked, { what: 'a read of the cluster', timeoutMs: 60_000 });
    assert.equal(conditionOf(await fixture.world.pool('skew'), 'Stalled'), 'absent');
    faults.cluster({ status: 'ACTIVE' });
    await fixture.world.waitForPool(
      'skew',
      'to be relabelled',
      () => fixture.world.cloud.state.groups.get('skew')?.nodegroup.labels?.team === 'web',
    );
    faults.calls.error(refusal);
    await is('skew', 'NodeGroupReady', 'True/Active');
    await fixture.world.apply(poolManifest('skew', { labels: { team: 'other' } }));
    await is('skew', 'Stalled', 'True/UpdateRejected');
    await remove('skew');
  });

  it('of many pools are read once', async () => {
    const names = ['one', 'two', 'three', 'four'];
    fixture.world.cloud.resetCalls();
    await fixture.world.apply({
      apiVersion: 'v1',
      kind: 'List',
      items: names.map((name) => poolManifest(name, { nodeGroup: { instanceTypes: ['t3.xlarge'] } })),
    });
    for (const name of names) await is(name, 'PrerequisitesMet', 'True/Met');
    const counts = Object.groupBy(fixture.world.cloud.calls(), ({ operation }) => operation);
    for (const operation of ['DescribeInstanceTypes', 'DescribeInstanceTypeOfferings'])
      assert.equal(counts[operation]?.length, 1, operation);
    for (const name of names) await remove(name);
  });
});
