import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { nodeRoleArn, subnetIds } from '../../hack/localaws/network.ts';
import { conditionOf, messageOf, type TestEnv, windowsIpam } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { setSwitch } from '../sharedWorld.ts';
import { awsAuth, LINUX, linuxGroup, withPrerequisites } from './prerequisitesFixture.ts';

/** How a prerequisite is removed and restored, and what the pool reports meanwhile. */
interface Row {
  readonly what: string;
  readonly name: string;
  readonly spec?: Parameters<typeof poolManifest>[1];
  readonly breaks: (world: TestEnv) => unknown;
  readonly mends: (world: TestEnv) => unknown;
  readonly reason: string;
  readonly words: RegExp;
}

const rows: readonly Row[] = [
  {
    what: 'the cluster is ACTIVE',
    name: 'updating',
    breaks: ({ cloud }) => cloud.faults.cluster({ status: 'UPDATING' }),
    mends: ({ cloud }) => cloud.faults.cluster({ status: 'ACTIVE' }),
    reason: 'ClusterNotActive',
    words: /is UPDATING, and EKS makes no node group before it is ACTIVE/,
  },
  {
    what: 'the cluster has IPv4',
    name: 'ipv6',
    breaks: ({ cloud }) => cloud.faults.cluster({ ipFamily: 'ipv6' }),
    mends: ({ cloud }) => cloud.faults.cluster({ ipFamily: 'ipv4' }),
    reason: 'UnsupportedIPFamily',
    words: /is of IP family ipv6/,
  },
  {
    what: 'the cluster is not in Auto Mode without the vpc-cni add-on',
    name: 'auto',
    breaks: ({ cloud }) => cloud.faults.cluster({ autoMode: true }),
    mends: ({ cloud }) => cloud.faults.cluster({ autoMode: false }),
    reason: 'AutoModeUnsupported',
    words: /Auto Mode, whose own nodes cannot run Windows\. .* needs the vpc-cni add-on, which is not installed/,
  },
  {
    what: 'its version goes with Windows Server 2025',
    name: 'old',
    spec: { windowsVersion: 'Windows2025' },
    breaks: ({ cloud }) => cloud.faults.cluster({ version: '1.34' }),
    mends: ({ cloud }) => cloud.faults.cluster({ version: '1.36' }),
    reason: 'UnsupportedVersion',
    words: /Kubernetes 1\.34 does not go with Windows Server 2025, which EKS supports from 1\.35/,
  },
  {
    what: 'EKS publishes an AMI for a version that the operator does not list',
    name: 'newer',
    breaks: ({ cloud }) => cloud.faults.cluster({ version: '1.38' }),
    mends: ({ cloud }) => cloud.faults.cluster({ version: '1.36' }),
    reason: 'UnsupportedVersion',
    words: /EKS publishes no AMI of Windows Server 2022 Core for Kubernetes 1\.38 in eu-west-1/,
  },
  {
    what: 'a Linux node takes pods',
    name: 'nolinux',
    breaks: (world) => world.kubectl('cordon', ...LINUX),
    mends: (world) => world.kubectl('uncordon', ...LINUX),
    reason: 'NoLinuxNode',
    words: /no Linux node that takes pods/,
  },
  {
    what: 'Windows IPAM is on in the ConfigMap',
    name: 'ipam',
    breaks: (world) => world.apply(windowsIpam(false)),
    mends: (world) => world.apply(windowsIpam(true)),
    reason: 'WindowsIPAMDisabled',
    words: /The vpc-cni add-on is not installed: set enable-windows-ipam: "true" in the ConfigMap/,
  },
  {
    what: 'Windows IPAM is on in the add-on that owns it',
    name: 'addon',
    breaks: async (world) => {
      world.cloud.faults.addon({ name: 'vpc-cni', configurationValues: '{}' });
      await world.apply(windowsIpam(false));
    },
    mends: async (world) => {
      world.cloud.faults.addon({ name: 'vpc-cni', configurationValues: '{"enableWindowsIpam":"true"}' });
    },
    reason: 'WindowsIPAMDisabled',
    words:
      /The vpc-cni add-on of cluster demo owns it: add \{"enableWindowsIpam":"true"\} to the add-on's configuration/,
  },
  {
    what: 'the old VPC resource controller is gone',
    name: 'legacy',
    breaks: (world) =>
      world.kubectl('-n', 'kube-system', 'create', 'deployment', 'vpc-resource-controller', '--image=old'),
    mends: (world) => world.kubectl('-n', 'kube-system', 'delete', 'deployment', 'vpc-resource-controller'),
    reason: 'LegacyResourceController',
    words: /Deployment kube-system\/vpc-resource-controller is there/,
  },
  {
    what: 'the access entry of the node role is for Windows',
    name: 'entry',
    breaks: ({ cloud }) => cloud.faults.accessEntry({ type: 'EC2_LINUX' }),
    mends: ({ cloud }) => cloud.faults.accessEntry({ type: 'EC2_WINDOWS' }),
    reason: 'NodeAccessWrong',
    words: /is of type EC2_LINUX: kube-proxy of Windows nodes lacks its permissions/,
  },
  {
    what: 'aws-auth gives the node role its groups, where there are no access entries',
    name: 'awsauth',
    breaks: async (world) => {
      world.cloud.faults.cluster({ authenticationMode: 'CONFIG_MAP' });
      await world.apply(awsAuth(['system:bootstrappers', 'system:nodes']));
    },
    mends: (world) => world.apply(awsAuth(['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'])),
    reason: 'NodeAccessWrong',
    words: /maps node role \S+ without eks:kube-proxy-windows/,
  },
  {
    what: 'no Linux group has the node role',
    name: 'shared',
    breaks: (world) => linuxGroup(world, 'linux', nodeRoleArn),
    mends: (world) => world.kubectl('label', 'nodes', ...LINUX, 'eks.amazonaws.com/nodegroup-'),
    reason: 'NodeRoleShared',
    words: /is also the role of Linux node group linux/,
  },
  {
    what: 'the instance type is x86_64',
    name: 'arm',
    spec: { nodeGroup: { instanceTypes: ['m6g.large'] } },
    breaks: () => undefined,
    mends: (world) => world.apply(poolManifest('arm', { nodeGroup: { instanceTypes: ['m5.large'] } })),
    reason: 'InstanceTypeUnsupported',
    words: /instance type m6g\.large is arm64/,
  },
  {
    what: 'the instance type exists',
    name: 'notype',
    spec: { nodeGroup: { instanceTypes: ['m5.tiny'] } },
    breaks: () => undefined,
    mends: (world) => world.apply(poolManifest('notype', { nodeGroup: { instanceTypes: ['m5.large'] } })),
    reason: 'InstanceTypeUnsupported',
    words: /EC2 knows no instance type m5\.tiny in eu-west-1/,
  },
  {
    what: 'the instance type is offered in the zones',
    name: 'zones',
    spec: { nodeGroup: { instanceTypes: ['r5.large'] } },
    breaks: ({ cloud }) => cloud.faults.offering({ instanceType: 'r5.large', zones: ['eu-west-1a'] }),
    mends: ({ cloud }) => cloud.faults.offering({ instanceType: 'r5.large' }),
    reason: 'InstanceTypeNotOffered',
    words: /EC2 offers none of the pool's instance types \(r5\.large\) in eu-west-1b, where subnet-0a2/,
  },
  {
    what: 'the subnets exist',
    name: 'nosubnet',
    spec: { nodeGroup: { subnets: [{ id: 'subnet-0123456789abcdef0' }] } },
    breaks: () => undefined,
    mends: (world) => world.apply(poolManifest('nosubnet')),
    reason: 'SubnetNotFound',
    words: /EC2 knows no subnet subnet-0123456789abcdef0 in eu-west-1/,
  },
  {
    what: 'the subnets have free addresses',
    name: 'addresses',
    breaks: ({ cloud }) => {
      for (const id of subnetIds) cloud.faults.subnet({ id, freeAddresses: 1 });
    },
    mends: ({ cloud }) => {
      for (const id of subnetIds) cloud.faults.subnet({ id, freeAddresses: 251 });
    },
    reason: 'TooFewAddresses',
    words: /together have 2 free addresses: 1 more node takes at least 4 \(10 when they are full of pods\)/,
  },
  {
    what: 'the subnets have free addresses for the prefixes of the nodes',
    name: 'prefixes',
    breaks: async (world) => {
      for (const id of subnetIds) world.cloud.faults.subnet({ id, freeAddresses: 5 });
      await world.apply(windowsIpam(true, { 'enable-windows-prefix-delegation': 'true' }));
    },
    mends: (world) => world.apply(windowsIpam(true)),
    reason: 'TooFewAddresses',
    words:
      /together have 10 free addresses: 1 more node takes at least 17 \(145 when they are full of pods\)\. Prefix delegation is on: a node takes contiguous \/28 blocks/,
  },
];

describe('the prerequisites of a pool', () => {
  const { stage, is, message, remove, creations, measured } = withPrerequisites();

  for (const { what, name, spec, breaks, mends, reason, words } of rows) {
    it(`${what}: nothing is created before, and then it goes on`, async () => {
      stage.world.cloud.resetCalls();
      await breaks(stage.world);
      await stage.world.apply(poolManifest(name, spec));
      await is(name, 'PrerequisitesMet', `False/${reason}`);
      await is(name, 'Ready', `False/${reason}`);
      assert.match(await message(name, 'PrerequisitesMet'), words);
      assert.match(await message(name, 'PrerequisitesMet'), /See docs\/prerequisites\.md#[a-z0-9-]+\.$/);
      assert.ok((await measured(name)).includes(`False/${reason}`), `the metric of ${reason}`);
      assert.equal(creations(name), 0);
      await mends(stage.world);
      await is(name, 'Ready', 'True/Verified');
      assert.equal(conditionOf(await stage.world.pool(name), 'PrerequisitesMet'), 'True/Met');
      assert.deepEqual(await measured(name), []);
      assert.equal(creations(name), 1);
      await remove(name);
    });
  }

  for (const authenticationMode of ['API', 'API_AND_CONFIG_MAP', 'CONFIG_MAP'] as const) {
    it(`are met without access of the node role, which EKS creates with the group (${authenticationMode})`, async () => {
      const { cloud } = stage.world;
      const name = `noaccess-${authenticationMode.toLowerCase().replaceAll('_', '-')}`;
      cloud.faults.cluster({ authenticationMode });
      cloud.faults.accessEntry({ exists: false });
      await stage.world.apply(poolManifest(name));
      await is(name, 'NodeGroupReady', 'False/Creating');
      assert.match(
        await message(name, 'PrerequisitesMet'),
        /yet: EKS (creates one of type EC2_WINDOWS|adds it) with the node group\./,
      );
      await is(name, 'Ready', 'True/Verified');
      await is(name, 'PrerequisitesMet', 'True/Met');
      assert.deepEqual(await measured(name), []);
      assert.equal(
        cloud.state.accessEntries.get(nodeRoleArn)?.type,
        authenticationMode === 'CONFIG_MAP' ? undefined : 'EC2_WINDOWS',
      );
      await remove(name);
    });
  }

  it('name the access entry that EKS created for Linux nodes, once it is there', async () => {
    const restore = setSwitch(stage.world, 'nodegroupAccessEntry', 'EC2_LINUX');
    try {
      stage.world.cloud.faults.accessEntry({ exists: false });
      await stage.world.apply(poolManifest('forlinux'));
      await is('forlinux', 'PrerequisitesMet', 'False/NodeAccessWrong');
      assert.equal(creations('forlinux'), 1);
      stage.world.cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
      await is('forlinux', 'PrerequisitesMet', 'True/Met');
      await is('forlinux', 'Ready', 'True/Verified');
      await remove('forlinux');
    } finally {
      restore();
    }
  });

  it('name the access that EKS did not create, once the creation has failed', async () => {
    const restore = setSwitch(stage.world, 'nodegroupAccessEntry', 'none');
    try {
      stage.world.cloud.faults.accessEntry({ exists: false });
      await stage.world.apply(poolManifest('noentry'));
      await is('noentry', 'NodeGroupReady', 'False/CreateFailed');
      await is('noentry', 'PrerequisitesMet', 'False/NodeAccessWrong');
      assert.match(
        await message('noentry', 'PrerequisitesMet'),
        /has no access entry in cluster demo, so its nodes cannot join/,
      );
      await remove('noentry');
    } finally {
      restore();
    }
  });

  it('that fail are passed by the annotation, which the status, an event and the metric report', async () => {
    await linuxGroup(stage.world, 'linux', nodeRoleArn);
    await stage.world.apply(poolManifest('ignoring'));
    await is('ignoring', 'PrerequisitesMet', 'False/NodeRoleShared');
    await stage.world.kubectl('annotate', 'windowspool', 'ignoring', 'winpool.dev/ignore-prerequisites=NodeRoleShard');
    await stage.world.waitForPool('ignoring', 'to suggest the right name', (pool) =>
      /NodeRoleShard \(did you mean NodeRoleShared\?\)/.test(JSON.stringify(pool?.status?.conditions)),
    );
    assert.equal(creations('ignoring'), 0);
    await stage.world.kubectl(
      'annotate',
      'windowspool',
      'ignoring',
      'winpool.dev/ignore-prerequisites=NodeRoleShared',
      '--overwrite',
    );
    await is('ignoring', 'PrerequisitesMet', 'True/PrerequisitesIgnored');
    await is('ignoring', 'Ready', 'True/Verified');
    assert.deepEqual(await measured('ignoring'), ['Ignored/NodeRoleShared']);
    const events = await stage.world.kubectl('get', 'events.events.k8s.io', '-A', '-o', 'jsonpath={.items[*].reason}');
    assert.ok(events.split(' ').includes('PrerequisitesIgnored'), events);
    await remove('ignoring');
  });

  it('that only warn hold nothing back: a role that Linux nodes share under aws-auth', async () => {
    const groups = ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'];
    await stage.world.apply(awsAuth(groups));
    stage.world.cloud.faults.cluster({ authenticationMode: 'CONFIG_MAP' });
    await linuxGroup(stage.world, 'linux', nodeRoleArn);
    await stage.world.apply(poolManifest('sharing'));
    await is('sharing', 'Ready', 'True/Verified');
    await is('sharing', 'PrerequisitesMet', 'True/MetWithWarnings');
    assert.deepEqual(await measured('sharing'), ['Warning/NodeRoleShared']);
    await remove('sharing');
  });

  it('only warn where the addresses are too few for scaling.max', async () => {
    for (const id of subnetIds) stage.world.cloud.faults.subnet({ id, freeAddresses: 3 });
    await stage.world.apply(poolManifest('roomy'));
    const pool = await stage.world.waitForPool('roomy', 'to warn', (found) =>
      messageOf(found, 'PrerequisitesMet').includes('TooFewAddresses'),
    );
    assert.equal(conditionOf(pool, 'PrerequisitesMet'), 'True/MetWithWarnings');
    assert.match(
      messageOf(pool, 'PrerequisitesMet'),
      /together have too few free addresses for the pool to grow to scaling\.max: 3 more nodes take at least 12/,
    );
    await is('roomy', 'Ready', 'True/Verified');
    await remove('roomy');
  });

  it('let a pool be whose Kubernetes version is newer than the table, where EKS has an AMI or nobody may ask', async () => {
    stage.world.cloud.faults.cluster({ version: '1.37' });
    await stage.world.apply(poolManifest('ahead'));
    await is('ahead', 'NodeGroupReady', 'True/Active');
    assert.equal(conditionOf(await stage.world.pool('ahead'), 'PrerequisitesMet'), 'True/Met');
    await remove('ahead');
    stage.world.cloud.faults.removeAction({ action: 'ssm:GetParameter' });
    await stage.world.apply(poolManifest('unasked', { windowsVersion: 'Windows2025' }));
    await is('unasked', 'PrerequisitesMet', 'Unknown/AccessDenied');
    assert.match(await message('unasked', 'PrerequisitesMet'), /the Kubernetes version \(it needs ssm:GetParameter\)/);
    await is('unasked', 'NodeGroupReady', 'True/Active');
    await remove('unasked');
  });

  it('warn of Windows 2019, which the Kubernetes project no longer supports with this version', async () => {
    await stage.world.apply(poolManifest('retired', { windowsVersion: 'Windows2019' }));
    await is('retired', 'Ready', 'True/Verified');
    await is('retired', 'PrerequisitesMet', 'True/MetWithWarnings');
    assert.match(await message('retired', 'PrerequisitesMet'), /supports Windows Server 2019 up to 1\.34/);
    assert.deepEqual(await measured('retired'), ['Warning/UnsupportedVersion']);
    await remove('retired');
  });

  for (const [addresses, nodes] of [
    ['withAddon', 'True/AllVerified'],
    ['never', 'False/NoPodAddresses'],
  ] as const) {
    it(`let a pool be beside Auto Mode with the vpc-cni add-on (addresses ${addresses})`, async () => {
      const restore = setSwitch(stage.world, 'addressesBesideAutoMode', addresses);
      try {
        stage.world.cloud.faults.addon({ name: 'vpc-cni', configurationValues: '{"enableWindowsIpam":"true"}' });
        stage.world.cloud.faults.cluster({ autoMode: true });
        const name = `auto-${addresses.toLowerCase()}`;
        await stage.world.apply(poolManifest(name));
        await is(name, 'NodesVerified', nodes);
        await is(name, 'PrerequisitesMet', 'True/MetWithWarnings');
        assert.match(await message(name, 'PrerequisitesMet'), /needs the vpc-cni add-on, which is installed/);
        if (addresses === 'never')
          assert.match(
            await message(name, 'NodesVerified'),
            /Likely cause: AutoModeUnsupported, see PrerequisitesMet\.$/,
          );
        await remove(name);
      } finally {
        restore();
      }
    });
  }

  it('make the access entry where the pool says so, and leave it when the pool goes', async () => {
    stage.world.cloud.faults.accessEntry({ exists: false });
    await stage.world.apply(poolManifest('manages', { nodeGroup: { manageAccessEntry: true } }));
    await is('manages', 'Ready', 'True/Verified');
    assert.equal(stage.world.cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_WINDOWS');
    await remove('manages');
    assert.equal(stage.world.cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_WINDOWS');
  });

  it('never change an access entry of another type', async () => {
    stage.world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
    await stage.world.apply(poolManifest('linuxentry', { nodeGroup: { manageAccessEntry: true } }));
    await is('linuxentry', 'PrerequisitesMet', 'False/NodeAccessWrong');
    assert.equal(stage.world.cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_LINUX');
    await remove('linuxentry');
  });

  it('let an update wait that EKS refuses only while the cluster is upgraded', async () => {
    await stage.world.apply(poolManifest('skew'));
    await is('skew', 'Ready', 'True/Verified');
    const { faults } = stage.world.cloud;
    faults.cluster({ status: 'UPDATING' });
    const words = 'Requested release version is not valid for kubernetes version 1.36.';
    const refusal = { operation: 'UpdateNodegroupConfig', name: 'InvalidParameterException', message: words };
    faults.calls.error({ ...refusal, count: 3 });
    stage.world.cloud.resetCalls();
    await stage.world.apply(poolManifest('skew', { labels: { team: 'web' } }));
    const tries = () =>
      stage.world.cloud.calls().filter(({ operation }) => operation === 'UpdateNodegroupConfig').length;
    await waitFor(() => tries() >= 3, { what: 'three tries', timeoutMs: 60_000 });
    // Of a refusal the cluster is asked whether it is being upgraded.
    const isAsked = () => {
      const calls = stage.world.cloud.calls();
      const last = calls.findLastIndex(({ result }) => result === refusal.name);
      return calls.slice(last).some(({ operation, result }) => operation === 'DescribeCluster' && result === 'ok');
    };
    await waitFor(isAsked, { what: 'a look at the cluster', timeoutMs: 60_000 });
    assert.equal(conditionOf(await stage.world.pool('skew'), 'Stalled'), 'absent');
    faults.cluster({ status: 'ACTIVE' });
    await stage.world.waitForPool(
      'skew',
      'to be relabelled',
      () => stage.world.cloud.state.groups.get('skew')?.nodegroup.labels?.team === 'web',
    );
    faults.calls.error(refusal);
    await is('skew', 'NodeGroupReady', 'True/Active');
    await stage.world.apply(poolManifest('skew', { labels: { team: 'other' } }));
    await is('skew', 'Stalled', 'True/UpdateRefused');
    await remove('skew');
  });

  it('of many pools are asked for once', async () => {
    const names = ['one', 'two', 'three', 'four'];
    stage.world.cloud.resetCalls();
    await stage.world.apply({
      apiVersion: 'v1',
      kind: 'List',
      items: names.map((name) => poolManifest(name, { nodeGroup: { instanceTypes: ['t3.xlarge'] } })),
    });
    for (const name of names) await is(name, 'PrerequisitesMet', 'True/Met');
    const counts = Object.groupBy(stage.world.cloud.calls(), ({ operation }) => operation);
    for (const operation of ['DescribeInstanceTypes', 'DescribeInstanceTypeOfferings'])
      assert.equal(counts[operation]?.length, 1, operation);
    for (const name of names) await remove(name);
  });
});
