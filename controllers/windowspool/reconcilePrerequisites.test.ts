import assert from 'node:assert/strict';
import type { ClusterChange } from '../../test/fakes/localaws/faults.ts';
import { IGNORE_PREREQUISITES_ANNOTATION } from './api/labels.ts';
import { type Deps, reconcile } from './reconcile.ts';
import { nodeGroupIn } from './rules/nodeSource.ts';
import { FakeWorld } from './testing/fakeWorld.ts';
import { MINUTE, SUBNETS, sampleError, sampleNode, samplePool, settings } from './testing/fixtures.ts';
import { assertMentions } from './testing/goldenTexts.ts';
import {
  conditionOf,
  fresh,
  hours,
  PREREQUISITE_CALLS,
  ready,
  readyWorld,
  until,
  updatesIn,
  wake,
} from './testing/life.ts';
import { gaugesOf } from './testing/shownMetrics.ts';
import { wholeCondition } from './testing/wholeCondition.ts';

const condition = (world: FakeWorld, type: string, name = 'web') => wholeCondition(world.pools.get(name), type);
const says = (world: FakeWorld, type: string) => `${condition(world, type)?.status} ${condition(world, type)?.reason}`;

describe('a pool whose prerequisites are not met', () => {
  const ipamOff = () => {
    const world = new FakeWorld();
    world.kubeSystem.cniConfig = undefined;
    world.apply(fresh());
    return world;
  };

  it('creates nothing, reports that once, and continues when they are met', async () => {
    const world = ipamOff();
    const deps = world.start();
    await wake(world, deps);
    assert.deepEqual(
      [says(world, 'PrerequisitesMet'), says(world, 'Ready'), says(world, 'Stalled'), says(world, 'NodeGroupReady')],
      ['False WindowsIPAMDisabled', 'False WindowsIPAMDisabled', 'True WindowsIPAMDisabled', 'False Pending'],
    );
    assert.deepEqual(gaugesOf(world.metrics.get('web'), 'windowspool_prerequisite'), {
      'reason="WindowsIPAMDisabled",status="False"': 1,
    });
    for (let i = 0; i < 5; i++) {
      world.now = deps.readCache.dueAt('web');
      await wake(world, deps);
    }
    assert.equal(world.created, 0);
    assert.deepEqual(
      world.events.map(({ type, reason }) => `${type} ${reason}`),
      ['Normal RuntimeClassCreated', 'Warning WindowsIPAMDisabled'],
    );
    world.kubeSystem.cniConfig = { 'enable-windows-ipam': 'true' };
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    assert.equal(says(world, 'PrerequisitesMet'), 'True Met');
    assert.equal(world.created, 1);
    assert.deepEqual(gaugesOf(world.metrics.get('web'), 'windowspool_prerequisite'), {});
  });

  it('is checked again soon, and then less and less often', async () => {
    const world = ipamOff();
    const deps = world.start();
    const waits: number[] = [];
    for (let i = 0; i < 14; i++) {
      await wake(world, deps);
      waits.push(deps.readCache.dueAt('web') - world.now);
      world.now = deps.readCache.dueAt('web');
    }
    assert.deepEqual(
      waits,
      [...waits].sort((a, b) => a - b),
    );
    const [first = 0, last = 0] = [waits[0], waits.at(-1)];
    assert.ok(first >= settings.pollMs * 0.75 && first <= settings.pollMs * 1.25, `${first}`);
    assert.ok(last >= settings.resyncMs * 0.75 && last <= settings.resyncMs * 1.25, `${last}`);
  });

  it('makes no AWS calls at events in between', async () => {
    const world = ipamOff();
    const deps = world.start();
    await wake(world, deps);
    world.calls.splice(0);
    for (let i = 0; i < 5; i++) await wake(world, deps);
    assert.deepEqual(world.calls, []);
  });

  it('has the cluster read again, also when it has its group', async () => {
    const { world, deps } = await readyWorld();
    world.cloud.faults.cluster({ authenticationMode: 'CONFIG_MAP' });
    world.now += 2 * settings.resyncMs;
    await wake(world, deps);
    assert.equal(says(world, 'PrerequisitesMet'), 'False NodeAccessInvalid');
    world.cloud.faults.cluster({ authenticationMode: 'API_AND_CONFIG_MAP' });
    await until(world, deps, () => says(world, 'PrerequisitesMet') === 'True Met', 'the cluster as it is now');
  });

  const turns: readonly (readonly [string, ClusterChange, string])[] = [
    ['Auto Mode is enabled', { autoMode: true }, 'AutoModeUnsupported'],
    ['the cluster is upgraded to an unsupported version', { version: '1.99' }, 'UnsupportedVersion'],
  ];
  for (const [what, cluster, reason] of turns) {
    it(`is reported within the resync interval when ${what}`, async () => {
      const { world, deps } = await readyWorld();
      world.cloud.faults.cluster(cluster);
      const until = world.now + settings.resyncMs * 1.25;
      while (deps.readCache.dueAt('web') <= until && says(world, 'PrerequisitesMet') === 'True Met') {
        world.now = deps.readCache.dueAt('web');
        await wake(world, deps);
      }
      assert.deepEqual(
        [says(world, 'PrerequisitesMet'), says(world, 'Ready')],
        [`False ${reason}`, 'True EnoughNodesVerified'],
      );
    });
  }

  const linux = Buffer.from('#!/bin/bash\n/etc/eks/bootstrap.sh prod\n').toString('base64');
  const templates: readonly (readonly [what: string, data: object, words: readonly string[], code: string])[] = [
    ['user data for Linux', { UserData: linux }, ['a shell script'], 'Ec2LaunchTemplateInvalidConfiguration'],
    [
      'a root volume that is smaller than the AMI',
      { BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs: { VolumeSize: 20 } }] },
      ['20 GiB', 'at least 50'],
      'AsgInstanceLaunchFailures',
    ],
    [
      'no security group that reaches the control plane',
      { SecurityGroupIds: ['sg-0b'] },
      ['sg-0b', '443'],
      'NodeCreationFailure',
    ],
  ];
  for (const [what, data, words, code] of templates)
    it(`creates nothing from a launch template with ${what}, with which EKS would fail`, async () => {
      const world = new FakeWorld();
      world.cloud.faults.securityGroup({ id: 'sg-0b', outbound: [] });
      world.cloud.faults.launchTemplate({ name: 'windows', data });
      const launchTemplate = { name: 'windows', version: '$Latest' };
      const { spec, metadata, ...rest } = fresh();
      const nodeGroup = { ...nodeGroupIn(spec), diskSizeGiB: undefined, launchTemplate } as never;
      const pool = { ...rest, metadata, spec: { ...spec, nodeGroup } };
      world.apply(pool);
      const deps = world.start();
      await wake(world, deps);
      assert.deepEqual([says(world, 'PrerequisitesMet'), world.created], ['False LaunchTemplateInvalid', 0]);
      assertMentions(condition(world, 'PrerequisitesMet')?.message ?? '', ...words);
      const annotations = { [IGNORE_PREREQUISITES_ANNOTATION]: 'LaunchTemplateInvalid' };
      world.apply({ ...pool, metadata: { ...metadata, annotations } });
      const failed = () => world.groups.get('web')?.healthIssues[0]?.code === code;
      await until(world, deps, failed, `${code} of EKS`);
    });

  it('creates nothing for a role that was created again, until its access entry was, too', async () => {
    const world = new FakeWorld();
    world.cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
    world.now += MINUTE;
    world.cloud.faults.recreateRole();
    world.apply(fresh());
    const deps = world.start();
    await wake(world, deps);
    assert.deepEqual([says(world, 'PrerequisitesMet'), world.created], ['False NodeAccessInvalid', 0]);
    assertMentions(condition(world, 'PrerequisitesMet')?.message ?? '', 'aws eks delete-access-entry');
    world.cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
    await until(world, deps, () => ready(world) === 'True', 'Ready');
  });

  it('keeps its existing group', async () => {
    const { world, deps } = await readyWorld();
    world.kubeSystem.cniConfig = { 'enable-windows-ipam': 'false' };
    world.now += settings.resyncMs * 2;
    await wake(world, deps);
    assert.deepEqual(
      [says(world, 'PrerequisitesMet'), says(world, 'Ready'), says(world, 'Stalled')],
      ['False WindowsIPAMDisabled', 'True EnoughNodesVerified', 'undefined undefined'],
    );
  });
});

describe('a pool that ignores a prerequisite', () => {
  const annotate = (world: FakeWorld, value?: string) => {
    const pool = world.pools.get('web') ?? assert.fail();
    const annotations = value === undefined ? {} : { [IGNORE_PREREQUISITES_ANNOTATION]: value };
    world.pools.set('web', { ...pool, metadata: { ...pool.metadata, annotations } });
  };
  const takeEvents = (world: FakeWorld) => world.events.splice(0).map(({ type, reason }) => `${type} ${reason}`);

  it('gets its group at once, reports the ignored prerequisite while it is unmet, and publishes each change once', async () => {
    const world = new FakeWorld();
    world.kubeSystem.cniConfig = { 'enable-windows-ipam': 'false' };
    world.apply(fresh());
    const deps = world.start();
    await wake(world, deps);
    assert.equal(world.created, 0);
    annotate(world, 'WindowsIPAMDisabled');
    takeEvents(world);
    await wake(world, deps);
    assert.equal(world.created, 1);
    assert.equal(says(world, 'PrerequisitesMet'), 'True PrerequisitesIgnored');
    assert.deepEqual(takeEvents(world), ['Normal NodeGroupCreated', 'Warning PrerequisitesIgnored']);
    assert.deepEqual(gaugesOf(world.metrics.get('web'), 'windowspool_prerequisite'), {
      'reason="WindowsIPAMDisabled",status="Ignored"': 1,
    });
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    for (let poll = 0; poll < 3; poll++) {
      world.now = deps.readCache.dueAt('web');
      await wake(world, deps);
      assert.equal(says(world, 'PrerequisitesMet'), 'True PrerequisitesIgnored');
    }
    takeEvents(world);
    annotate(world);
    await wake(world, deps);
    assert.deepEqual([says(world, 'PrerequisitesMet'), ready(world)], ['False WindowsIPAMDisabled', 'True']);
    assert.deepEqual(takeEvents(world), ['Warning WindowsIPAMDisabled']);
    annotate(world, 'WindowsIPAMDisabled');
    await wake(world, deps);
    assert.deepEqual(takeEvents(world), ['Warning PrerequisitesIgnored']);
    world.kubeSystem.cniConfig = { 'enable-windows-ipam': 'true' };
    await until(world, deps, () => says(world, 'PrerequisitesMet') === 'True Met', 'Met');
    assert.deepEqual(takeEvents(world), ['Normal Met']);
  });

  it('still requires the others', async () => {
    const world = new FakeWorld();
    world.kubeSystem.cniConfig = { 'enable-windows-ipam': 'false' };
    world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
    world.apply(fresh());
    annotate(world, 'WindowsIPAMDisabled');
    await wake(world, world.start());
    assert.equal(world.created, 0);
    assert.equal(says(world, 'PrerequisitesMet'), 'False NodeAccessInvalid');
  });
});

describe('a pool whose prerequisites cannot be checked', () => {
  it('gets its group, and names the missing permission', async () => {
    const world = new FakeWorld();
    world.fails = (call) => (call === 'DescribeSubnets' ? sampleError('denied') : undefined);
    world.apply(fresh());
    const deps = world.start();
    await wake(world, deps);
    assert.equal(world.created, 1);
    assert.equal(says(world, 'PrerequisitesMet'), 'Unknown AccessDenied');
    assert.match(condition(world, 'PrerequisitesMet')?.message ?? '', /ec2:DescribeSubnets/);
    await until(world, deps, () => ready(world) === 'True', 'Ready');
  });

  it('gets its group whatever is denied or fails', async () => {
    for (const call of [
      ...PREREQUISITE_CALLS,
      'DescribeLaunchTemplateVersions',
      'get ConfigMap amazon-vpc-cni',
      'get ConfigMap aws-auth',
      'get Deployment vpc-resource-controller',
      'get MutatingWebhookConfiguration',
      'list Linux nodes',
      'list Linux groups',
    ] as const) {
      for (const kind of ['denied', 'throttled', 'unavailable', 'unknown', 'gone'] as const) {
        // This is not a missing answer of AWS: the template does not exist.
        if (call === 'DescribeLaunchTemplateVersions' && kind === 'gone') continue;
        const world = new FakeWorld();
        world.fails = (each) => (each === call ? sampleError(kind) : undefined);
        const launchTemplate = { name: 'windows', version: '$Latest' };
        world.cloud.faults.launchTemplate({ name: 'windows', data: {} });
        const ofTemplate = { ...fresh().spec.nodeGroup, diskSizeGiB: undefined, launchTemplate } as never;
        world.apply(call === 'DescribeLaunchTemplateVersions' ? fresh({ nodeGroup: ofTemplate }) : fresh());
        await wake(world, world.start());
        assert.ok(world.calls.includes(call), `${call} is asked`);
        assert.equal(world.created, 1, `${call} ${kind}`);
      }
    }
  });
});

describe('many pools', () => {
  it('share one read of the cluster when they check it one after the other', async () => {
    const world = new FakeWorld();
    const deps = world.start();
    const names = ['a', 'b', 'c'];
    const empty = fresh({ nodeGroup: { scaling: { minSize: 0, maxSize: 3 } } });
    for (const name of names) world.apply({ ...empty, metadata: { ...empty.metadata, name, uid: `uid-${name}` } });
    const counts: number[] = [];
    for (let round = 0; round < 4; round++) {
      world.calls.splice(0);
      for (const name of names) {
        await reconcile(name, deps, new AbortController().signal);
        world.now += settings.resyncMs / 20;
      }
      counts.push(world.calls.filter((call) => call === 'DescribeCluster').length);
      world.now += settings.resyncMs * 1.25;
    }
    assert.deepEqual(counts.slice(1), [1, 1, 1]);
  });

  it('share equal calls when they check for the first time', async () => {
    const world = new FakeWorld();
    const deps = world.start();
    const names = ['a', 'b', 'c'];
    for (const name of names) world.apply({ ...fresh(), metadata: { ...fresh().metadata, name, uid: `uid-${name}` } });
    await Promise.all(names.map((name) => reconcile(name, deps, new AbortController().signal)));
    const counted = Object.groupBy(world.awsCalls(), (call) => call);
    const counts = Object.fromEntries(Object.entries(counted).map(([call, all]) => [call, all?.length]));
    assert.deepEqual(counts, {
      DescribeNodegroup: 3,
      DescribeCluster: 1,
      ...Object.fromEntries(PREREQUISITE_CALLS.map((call) => [call, 1])),
      CreateNodegroup: 3,
    });
  });
});

describe('after the creation', () => {
  it('nodes without pod addresses cause a check of the prerequisites, which shows the cause', async () => {
    const { world, deps } = await readyWorld();
    world.kubeSystem.cniConfig = { 'enable-windows-ipam': 'false' };
    const allocatable = { memory: '6291456Ki' };
    world.nodes = world.nodes.map(({ name, providerID }) => sampleNode({ name, providerID, allocatable }));
    await wake(world, deps);
    assert.deepEqual(
      [says(world, 'NodesVerified'), says(world, 'PrerequisitesMet')],
      ['False NoPodAddresses', 'False WindowsIPAMDisabled'],
    );
    assert.match(
      condition(world, 'NodesVerified')?.message ?? '',
      /Likely cause: WindowsIPAMDisabled\. See status\.checks\./,
    );
  });

  const addressless = (world: FakeWorld) => {
    const allocatable = { memory: '6291456Ki' };
    world.nodes = world.nodes.map(({ name, providerID }) => sampleNode({ name, providerID, allocatable }));
  };

  it('nodes without pod addresses refer to the policy of the cluster role, which was only a warning', async () => {
    const { world, deps } = await readyWorld();
    world.cloud.faults.clusterRolePolicy({ attached: false });
    addressless(world);
    await wake(world, deps);
    assert.deepEqual(
      [says(world, 'NodesVerified'), says(world, 'PrerequisitesMet')],
      ['False NoPodAddresses', 'True MetWithWarnings'],
    );
    assert.match(
      condition(world, 'NodesVerified')?.message ?? '',
      /Likely cause: ClusterRolePolicyMissing\. See status\.checks\./,
    );
    world.cloud.faults.clusterRolePolicy({ attached: true });
    world.nodes = world.nodes.map(({ name, providerID }) => sampleNode({ name, providerID }));
    await until(world, deps, () => says(world, 'PrerequisitesMet') === 'True Met', 'Met');
  });

  it('nodes without pod addresses are reported with the warnings of the VPC resource controller for up to three nodes', async () => {
    const { world, deps } = await readyWorld({ nodeGroup: { scaling: { minSize: 5, maxSize: 5 } } });
    const [first, second] = world.nodes.map(({ name }) => name).sort();
    const unsupported = { reason: 'Unsupported', message: 'The instance type x9.large is not supported for Windows' };
    const blocks = { reason: 'InsufficientCidrBlocks', message: 'InsufficientCidrBlocks: no free cidr blocks' };
    world.controllerWarnings.set(first ?? '', [unsupported]);
    world.controllerWarnings.set(second ?? '', [unsupported, blocks]);
    addressless(world);
    world.calls.splice(0);
    await wake(world, deps);
    assert.equal(world.calls.filter((call) => call === 'list events').length, 3);
    assertMentions(condition(world, 'NodesVerified')?.message, 'x9.large', 'InsufficientCidrBlocks');
    assertMentions(
      world.pools.get('web')?.status?.failingNodes?.find(({ name }) => name === second)?.message,
      'InsufficientCidrBlocks',
    );
    world.calls.splice(0);
    await wake(world, deps);
    assert.deepEqual(
      world.calls.filter((call) => call === 'list events'),
      [],
    );
  });

  it('a new node without pod addresses is reported at once if the VPC resource controller never gives it any', async () => {
    for (const [warning, state] of [
      [
        { reason: 'Unsupported', message: 'The instance type x9.large is not supported for Windows' },
        'False NoPodAddresses',
      ],
      [{ reason: 'InsufficientCidrBlocks', message: 'InsufficientCidrBlocks: no free cidr blocks' }, 'Unknown Joining'],
    ] as const) {
      const { world, deps } = await readyWorld();
      world.cloud.faults.nextNode({ noPodAddresses: true });
      world.cloud.faults.edit({ group: 'web', scalingConfig: { desiredSize: 4 } });
      world.now = deps.readCache.dueAt('web');
      await wake(world, deps);
      assert.equal(says(world, 'NodesVerified'), 'Unknown Joining');
      const [node] = world.nodes.filter(({ allocatable }) => !allocatable['vpc.amazonaws.com/PrivateIPv4Address']);
      world.controllerWarnings.set(node?.name ?? '', [warning]);
      world.now += settings.pollMs;
      await wake(world, deps);
      assert.equal(says(world, 'NodesVerified'), state);
      const { message = '' } = condition(world, 'NodesVerified') ?? {};
      const isNamed = message.includes('x9.large') && message.includes('nodeGroup.instanceTypes');
      assert.equal(isNamed && !message.includes('Windows IPAM'), state !== 'Unknown Joining');
      const pool = world.pools.get('web') ?? assert.fail();
      world.apply({ ...pool, metadata: { ...pool.metadata, deletionTimestamp: new Date(world.now).toISOString() } });
      world.now += settings.pollMs;
      // While the pool is deleted, nothing is read again and again.
      await wake(world, deps);
    }
  });

  it('nodes without pod addresses are reported with the missing permission to read events', async () => {
    const { world, deps } = await readyWorld();
    world.fails = (call) => (call === 'list events' ? sampleError('denied') : undefined);
    addressless(world);
    await wake(world, deps);
    assert.match(
      condition(world, 'NodesVerified')?.message ?? '',
      /Events of the VPC resource controller cannot be read: grant list events\./,
    );
  });

  it('nodes that are not Ready refer to the access of their role', async () => {
    const { world, deps } = await readyWorld();
    world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
    world.nodes = world.nodes.map(({ name, providerID }) => sampleNode({ name, providerID, ready: 'False' }));
    await wake(world, deps);
    assert.match(
      condition(world, 'NodesVerified')?.message ?? '',
      /Likely cause: NodeAccessInvalid\. See status\.checks\./,
    );
  });

  it('nodes that never join refer to the access of their role', async () => {
    const { world, deps } = await readyWorld();
    world.nodes = [];
    await wake(world, deps);
    world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
    world.now += settings.joinGraceMs + MINUTE;
    await wake(world, deps);
    assert.deepEqual(says(world, 'NodesVerified'), 'False NodesMissing');
    assert.match(
      condition(world, 'NodesVerified')?.message ?? '',
      /Likely cause: NodeAccessInvalid\. See status\.checks\./,
    );
  });

  it('a degraded group refers to the unmet prerequisite', async () => {
    const { world, deps } = await readyWorld();
    const issues = [{ code: 'InsufficientFreeAddresses' as const, message: 'No addresses' }];
    world.cloud.faults.healthIssue({ group: 'web', issues });
    for (const id of SUBNETS) world.cloud.faults.subnet({ id, freeAddresses: 0 });
    world.now = deps.readCache.dueAt('web');
    await wake(world, deps);
    assert.match(
      condition(world, 'NodeGroupReady')?.message ?? '',
      /Likely cause: TooFewAddresses\. See status\.checks\. Free addresses in the subnets/,
    );
  });

  it('a degraded group does not refer to what cannot be its cause', async () => {
    const { world, deps } = await readyWorld({ nodeGroup: { scaling: { minSize: 1, maxSize: 9 } } });
    const message =
      'Could not launch On-Demand Instances. InsufficientInstanceCapacity - We have no m5.large in eu-west-1a.';
    world.cloud.faults.healthIssue({ group: 'web', issues: [{ code: 'AsgInstanceLaunchFailures' as const, message }] });
    for (const id of SUBNETS) world.cloud.faults.subnet({ id, freeAddresses: 0 });
    world.now = deps.readCache.dueAt('web');
    await wake(world, deps);
    const shown = condition(world, 'NodeGroupReady')?.message ?? '';
    assert.doesNotMatch(shown, /Likely cause/);
    assert.match(
      shown,
      /InsufficientInstanceCapacity.*Add more types to nodeGroup\.instanceTypes, or subnets of more zones/,
    );
  });

  it('instances that have not joined count as users of addresses', async () => {
    const { world, deps } = await readyWorld();
    const { faults, state } = world.cloud;
    const pool = world.pools.get('web') ?? assert.fail('there is no pool');
    world.pools.set('web', {
      ...pool,
      spec: {
        ...pool.spec,
        nodeGroup: { ...nodeGroupIn(pool.spec), scaling: { minSize: 3, maxSize: 5, desiredSize: 5 } },
      },
    });
    for (let late = 0; late < 2; late++) faults.nextNode({ neverJoins: true });
    faults.edit({ group: 'web', scalingConfig: { desiredSize: 5 } });
    for (const id of SUBNETS) faults.subnet({ id, freeAddresses: 3 });
    world.kubeSystem.cniConfig = undefined;
    world.now = deps.readCache.dueAt('web');
    await wake(world, deps);
    world.now = deps.readCache.dueAt('web');
    await wake(world, deps);
    assert.deepEqual(gaugesOf(world.metrics.get('web'), 'windowspool_prerequisite'), {
      'reason="WindowsIPAMDisabled",status="False"': 1,
    });
    for (const { id, joined } of [...state.instances.values()]) if (!joined) state.instances.delete(id);
    world.now = deps.readCache.dueAt('web');
    await wake(world, deps);
    const unmet = world.pools.get('web')?.status?.checks?.find(({ reason }) => reason === 'TooFewAddresses');
    assert.match(unmet?.message ?? '', /have 6 free IP addresses, and 2 more nodes need at least 8/);
  });

  it('a healthy group is checked only for what can change', async () => {
    const { world, deps } = await readyWorld();
    world.now += settings.resyncMs * 2;
    world.calls.splice(0);
    await wake(world, deps);
    assert.deepEqual(world.awsCalls(), [
      'DescribeNodegroup',
      'ListNodegroups',
      'DescribeCluster',
      'DescribeAutoScalingGroups',
      'DescribeAddon',
      'DescribeAccessEntry',
    ]);
  });
});

describe('an access entry that the operator creates', () => {
  const managing = () => {
    const world = new FakeWorld({ speed: 1 });
    world.cloud.faults.accessEntry({ exists: false });
    world.apply(fresh({ nodeGroup: { ...fresh().spec.nodeGroup, accessEntryManagement: 'Operator' } }));
    return world;
  };

  it('is created before the group, and reported', async () => {
    const world = managing();
    await wake(world, world.start());
    const changes = world.calls.filter((call) => call.startsWith('Create'));
    assert.deepEqual(changes, ['CreateAccessEntry', 'CreateNodegroup']);
    assert.equal(says(world, 'PrerequisitesMet'), 'True Met');
    assert.ok(world.events.some(({ reason }) => reason === 'AccessEntryCreated'));
  });

  it('is created once, and the earlier answer is not reused', async () => {
    const world = managing();
    const deps = world.start();
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    world.now = deps.readCache.dueAt('web');
    await wake(world, deps);
    assert.equal(world.calls.filter((call) => call === 'CreateAccessEntry').length, 1);
    assert.equal(world.events.filter(({ reason }) => reason === 'AccessEntryCreated').length, 1);
  });

  it('is created again each time that it is deleted', async () => {
    const { world, deps } = await readyWorld({
      nodeGroup: { ...fresh().spec.nodeGroup, accessEntryManagement: 'Operator' },
    });
    for (const time of ['first', 'second']) {
      world.cloud.faults.accessEntry({ exists: false });
      await until(world, deps, () => world.cloud.state.accessEntries.size > 0, `the ${time} entry`);
    }
  });

  it('blocks the group when it cannot be created', async () => {
    for (const kind of ['busy', 'denied', 'refused', 'throttled'] as const) {
      const world = managing();
      world.fails = (call) => (call === 'CreateAccessEntry' ? sampleError(kind) : undefined);
      const deps = world.start();
      await wake(world, deps);
      assert.equal(world.created, 0, kind);
      world.fails = () => undefined;
      await until(world, deps, () => ready(world) === 'True', 'Ready');
    }
  });

  it('that another client created for Linux in the meantime is named as the cause', async () => {
    const world = managing();
    world.fails = (call) => {
      if (call !== 'CreateAccessEntry') return undefined;
      world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
      return sampleError('busy');
    };
    const deps = world.start();
    await until(world, deps, () => says(world, 'PrerequisitesMet') === 'False NodeAccessInvalid', 'the cause');
    assert.equal(world.created, 0);
  });
});

describe('a Windows node that says that it runs Linux', () => {
  it('does not make its node role one of Linux nodes, which other pools could not use', async () => {
    const world = new FakeWorld();
    world.apply(fresh());
    const deps = world.start();
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    world.kubeSystem.linuxGroups = ['web', 'forged'];
    const metadata = { name: 'api', uid: 'api', finalizers: [], generation: 0 };
    world.apply(samplePool({ nodeGroup: { name: 'api' } }, { metadata }));
    const restarted = world.start();
    for (let run = 0; run < 5; run++) await reconcile('api', restarted, new AbortController().signal);
    const found = world.pools.get('api')?.status?.checks?.map(({ reason }) => reason);
    assert.deepEqual([found?.includes('NodeRoleShared'), world.created], [false, 2]);
  });
});

describe('an invalid parameter', () => {
  const refusing = (cluster: ClusterChange, code = 'InvalidParameterException') => {
    const world = new FakeWorld();
    world.apply(fresh());
    world.fails = (call) => {
      if (call !== 'CreateNodegroup') return undefined;
      world.cloud.faults.cluster(cluster);
      return sampleError('refused', {
        code,
        message: 'Requested release version is not valid for kubernetes version 1.35.',
      });
    };
    return world;
  };

  it('of a cluster that is being upgraded is retried after the upgrade', async () => {
    const world = refusing({ status: 'UPDATING' });
    const deps = world.start();
    await wake(world, deps);
    assert.deepEqual(
      [says(world, 'PrerequisitesMet'), says(world, 'Reconciling'), says(world, 'Stalled')],
      ['False ClusterNotActive', 'True ClusterNotActive', 'undefined undefined'],
    );
    world.cloud.faults.cluster({ status: 'ACTIVE' });
    world.fails = () => undefined;
    await until(world, deps, () => ready(world) === 'True', 'Ready');
  });

  it('of a cluster that has just been upgraded is retried once', async () => {
    const world = refusing({ version: '1.35' });
    const deps = world.start();
    await wake(world, deps);
    assert.equal(says(world, 'Stalled'), 'undefined undefined');
    world.now = deps.readCache.dueAt('web');
    await wake(world, deps);
    assert.equal(says(world, 'Stalled'), 'True CreateRejected');
  });

  it('of a cluster that cannot be read at that moment is retried', async () => {
    const { world, deps } = await readyWorld();
    world.apply(fresh({ labels: { team: 'web' } }));
    world.fails = (call) => {
      if (call === 'UpdateNodegroupConfig') return sampleError('refused', { code: 'InvalidParameterException' });
      return call === 'DescribeCluster' ? sampleError('throttled') : undefined;
    };
    await wake(world, deps);
    assert.equal(says(world, 'Stalled'), 'undefined undefined');
    world.fails = () => undefined;
    await until(world, deps, () => world.groups.get('web')?.labels.team === 'web', 'the label');
  });

  for (const [what, world] of [
    ['of a cluster that is not being upgraded', refusing({})],
    ['with another error code', refusing({ status: 'UPDATING' }, 'InvalidRequestException')],
  ] as const) {
    it(`${what} is not retried`, async () => {
      await wake(world, world.start());
      assert.deepEqual([says(world, 'NodeGroupReady')], ['False CreateRejected']);
    });
  }
});

describe('a launch template from which no node can join', () => {
  /** A pool whose group has a good template, of which the newest version then has a security group that cannot reach the API server. */
  async function refused(): Promise<{ world: FakeWorld; deps: Deps }> {
    const world = new FakeWorld();
    world.cloud.faults.securityGroup({ id: 'sg-0b', outbound: [] });
    world.cloud.faults.launchTemplate({ name: 'windows', data: {} });
    const { spec, ...rest } = fresh();
    const launchTemplate = { name: 'windows', version: '$Latest' };
    const update = { ...nodeGroupIn(spec).update, policy: 'Automatic' as const };
    const { diskSizeGiB: _size, ...group } = nodeGroupIn(spec);
    world.apply({ ...rest, spec: { ...spec, nodeGroup: { ...group, launchTemplate, update } } });
    const deps = world.start();
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    world.cloud.faults.launchTemplate({ name: 'windows', data: { SecurityGroupIds: ['sg-0b'] } });
    await hours(world, deps, 3);
    assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^False LaunchTemplateInvalid: /);
    return { world, deps };
  }

  it('is not sent while the rules of the control plane cannot be read for once', async () => {
    const { world, deps } = await refused();
    let failures = 0;
    world.fails = (call) => {
      if (call !== 'DescribeSecurityGroups' || failures > 0) return undefined;
      failures++;
      return sampleError('throttled');
    };
    await hours(world, deps, 3);
    assert.deepEqual([failures, updatesIn(world.awsCalls())], [1, []]);
  });

  it('keeps the text of its condition while the group cannot be read', async () => {
    const { world, deps } = await refused();
    const before = conditionOf(world, 'PrerequisitesMet');
    world.fails = (call) => (call === 'DescribeNodegroup' ? sampleError('throttled') : undefined);
    await hours(world, deps, 1);
    const during = conditionOf(world, 'PrerequisitesMet') ?? '';
    assert.ok(!during.includes('nodes verified'), during);
    world.fails = () => undefined;
    await hours(world, deps, 1);
    assert.equal(conditionOf(world, 'PrerequisitesMet'), before);
  });
});
