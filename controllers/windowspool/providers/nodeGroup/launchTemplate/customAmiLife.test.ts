/** The life of a pool with a custom AMI, on the local AWS in memory. */

import assert from 'node:assert/strict';
import { nodeRoleArn } from '../../../../../test/fakes/localaws/network.ts';
import { reconcile } from '../../../reconcile.ts';
import {
  change,
  contentOf,
  customWorld,
  hasVersion,
  imagesOf,
  isReady,
  NEW,
  OLD,
  spec,
} from '../../../testing/customAmiWorld.ts';
import { FakeWorld } from '../../../testing/fakeWorld.ts';
import { sampleError } from '../../../testing/fixtures.ts';
import { assertBrief } from '../../../testing/goldenTexts.ts';
import { TEMPLATE_NAME } from '../../../testing/launchSettingsScenes.ts';
import {
  conditionOf,
  fresh,
  hours,
  openFailure,
  ready,
  retry,
  signal,
  stateOf,
  until,
  updatesIn,
  wake,
} from '../../../testing/life.ts';
import { parseQuantity } from '../../../util/quantity.ts';

const NAME = '/windowspool/golden';

describe('a pool with a custom AMI', () => {
  for (const settingsOfCustomNodes of ['later', 'never'] as const) {
    it(`has nodes with all labels and taints, whether EKS sets them ${settingsOfCustomNodes}`, async () => {
      const verified = spec(OLD, {
        labels: { team: 'web' },
        taints: [{ key: 'gpu', effect: 'NoSchedule' }],
        verification: { policy: 'Gate' },
      });
      const { world } = await customWorld(verified, { switches: { settingsOfCustomNodes } });
      const [instance] = world.cloud.state.instances.values();
      assert.deepEqual(instance?.nodeLabels, {
        team: 'web',
        'winpool.dev/pool': 'web',
        'winpool.dev/windows-build': '10.0.20348',
        'eks.amazonaws.com/nodegroup': 'web',
        'eks.amazonaws.com/nodegroup-image': OLD,
        'eks.amazonaws.com/capacityType': 'ON_DEMAND',
      });
      assert.deepEqual(instance?.registerWithTaints.map(({ key }) => key).sort(), [
        'gpu',
        'os',
        'startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate',
      ]);
      const group = world.groups.get('web');
      assert.deepEqual([group?.amiType, group?.releaseVersion], ['CUSTOM', OLD]);
      assert.equal(conditionOf(world, 'UpToDate'), 'True MatchesSpec: Node group web matches the spec.');
      assert.equal(stateOf(world)?.latestReleaseVersion, undefined);
    });
  }

  it('has kubelets with the settings of the spec, also after they changed', async () => {
    const kubelet = { systemReserved: { memory: '2Gi' }, maxPods: 30 };
    const { world, deps } = await customWorld(spec(OLD, { nodeGroup: { kubelet } }));
    const running = () => [...world.cloud.state.instances.values()].filter(({ state }) => state === 'running');
    const maxPods = () => running().map((instance) => instance.kubelet['max-pods']);
    const reserved = () =>
      world.nodes.map(
        ({ capacity, allocatable }) =>
          ((parseQuantity(capacity.memory) ?? 0) - (parseQuantity(allocatable.memory) ?? 0)) / 1024 ** 2,
      );
    assert.deepEqual([maxPods(), reserved()], [Array(3).fill('30'), Array(3).fill(2548)]);
    const changed = { systemReserved: { memory: '3Gi' }, maxPods: 40 };
    change(world, spec(OLD, { nodeGroup: { kubelet: changed } }));
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    await until(world, deps, () => isReady(world)() && world.nodes.length === 3, 'nodes that are verified');
    assert.deepEqual([maxPods(), reserved()], [Array(3).fill('40'), Array(3).fill(3572)]);
  });

  it('sends EKS neither an AMI type nor a version, and gets no update from releases', async () => {
    const { world, deps } = await customWorld(
      spec(OLD, { nodeGroup: { update: { policy: 'Automatic', force: false } } }),
    );
    await hours(world, deps, 24);
    assert.deepEqual(updatesIn(world.calls), []);
    assert.deepEqual(
      world.calls.filter((call) => call === 'GetParameter'),
      [],
    );
  }).timeout(30_000);

  it('is updated to another AMI by a rolling update', async () => {
    const { world, deps } = await customWorld();
    world.publish('1.36-2026.03.17');
    change(world, spec(NEW));
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    assert.deepEqual(updatesIn(world.calls), ['UpdateNodegroupVersion']);
    assert.deepEqual([contentOf(world, 2).image, new Set(imagesOf(world))], [NEW, new Set([NEW])]);
    const first = contentOf(world, 1).script;
    assert.equal(contentOf(world, 2).script, first.replaceAll(OLD, NEW));
  });

  it('gets other labels on all nodes by a rolling update, because their kubelet sets them', async () => {
    const { world, deps } = await customWorld();
    change(world, spec(OLD, { labels: { team: 'web' } }));
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    assert.match(contentOf(world, 2).script, /--node-labels=[^ ]*team=web/);
    assert.ok([...world.nodes].every(({ labels }) => labels.team === 'web'));
  });

  it('has the access entry of Windows nodes before its group, because EKS would create that of Linux nodes', async () => {
    const world = new FakeWorld();
    world.cloud.faults.accessEntry({ principalArn: nodeRoleArn, exists: false });
    world.apply(fresh(spec(OLD)));
    const deps = world.start();
    await wake(world, deps);
    assertBrief(
      conditionOf(world, 'PrerequisitesMet'),
      'False NodeAccessInvalid',
      'prod',
      'create-access-entry',
      '--type',
      'EC2_WINDOWS',
      'nodeGroup.accessEntryManagement: Operator',
    );
    assert.equal(world.created, 0);
    change(world, spec(OLD, { nodeGroup: { accessEntryManagement: 'Operator' } }));
    await until(world, deps, isReady(world), 'a pool that is Ready');
    assert.equal(world.cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_WINDOWS');
  });

  it('reports another AMI in its parameter with policy Manual, and follows it in a maintenance window with Automatic', async () => {
    const world = new FakeWorld();
    const name = '/windowspool/golden';
    for (const id of ['ami-0a000001', 'ami-0a000002']) world.cloud.faults.image({ id });
    world.cloud.faults.parameter({ name, value: 'ami-0a000001' });
    const golden = (update?: object) =>
      spec('', { nodeGroup: { ami: { ssmParameter: name }, ...(update && { update }) } } as never);
    world.apply(fresh(golden()));
    const deps = world.start();
    await until(world, deps, isReady(world), 'a pool that is Ready');
    world.cloud.faults.parameter({ name, value: 'ami-0a000002' });
    await hours(world, deps, 1);
    const images = () => [stateOf(world)?.releaseVersion, stateOf(world)?.latestReleaseVersion];
    assert.deepEqual(images(), ['ami-0a000001', 'ami-0a000002']);
    assertBrief(
      conditionOf(world, 'UpToDate'),
      'False UpdateAvailable',
      'web',
      'ami-0a000001',
      '/windowspool/golden',
      'nodeGroup.update.policy: Automatic',
      'nodeGroup.ami.id: ami-0a000002',
    );
    const maintenanceWindows = [{ schedule: '0 20 * * *', duration: '2h' }];
    change(world, golden({ policy: 'Automatic', force: false, maintenanceWindows }));
    await wake(world, deps);
    assertBrief(
      conditionOf(world, 'UpToDate'),
      'False WaitingForWindow',
      'web',
      'ami-0a000001',
      'ami-0a000002',
      'version 1',
      '2026-03-01T20:00Z',
      'nodeGroup.ami.id: ami-0a000002',
    );
    const sent = await hours(world, deps, 24);
    assert.ok(
      sent.every((time) => time.startsWith('2026-03-01T20:')),
      sent.join(),
    );
    assert.deepEqual(images(), ['ami-0a000002', 'ami-0a000002']);
    assert.equal(conditionOf(world, 'UpToDate'), 'True MatchesSpec: Node group web matches the spec.');
  }).timeout(30_000);

  it('is not created before its parameter has an AMI', async () => {
    const world = new FakeWorld();
    const name = '/windowspool/golden';
    world.apply(fresh(spec('', { nodeGroup: { ami: { ssmParameter: name } } } as never)));
    const deps = world.start();
    await wake(world, deps);
    assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^False AMIInvalid: SSM parameter .* does not exist/);
    world.cloud.front.policy.remove('ReadImageParameters');
    await hours(world, deps, 1);
    assert.match(
      conditionOf(world, 'PrerequisitesMet') ?? '',
      /^Unknown AccessDenied: .*The node group is created when SSM returns the ID of its AMI\./,
    );
    world.cloud.front.policy.restore();
    world.cloud.faults.image({ id: 'ami-0a000001' });
    world.cloud.faults.parameter({ name, value: 'ami-0a000001' });
    await until(world, deps, isReady(world), 'a pool that is Ready');
  });

  it('adopts the group that a former pool with a custom AMI has left behind', async () => {
    const { world, deps } = await customWorld(spec(OLD, { deletionPolicy: 'Retain' }));
    world.remove('web');
    await until(world, deps, () => world.pools.size === 0, 'the deletion');
    world.cloud.state.group('web').nodegroup.tags = { 'winpool.dev/adoptable-by': 'web' };
    world.apply(fresh(spec(OLD, { nodeGroup: { adoption: 'IfUnowned' } })));
    const isAdopted = () => conditionOf(world, 'UpToDate')?.startsWith('True') === true;
    await until(world, deps, isAdopted, 'the adoption');
    assert.equal(world.created, 1);
    assert.ok(!world.calls.includes('UpdateNodegroupVersion'));
  });

  it('shows the age and the deprecation of its AMI', async () => {
    const world = new FakeWorld();
    const id = 'ami-0a000001';
    world.cloud.faults.image({ id, createdAt: '2025-11-20T00:00:00Z', deprecatedAt: '2026-03-20T00:00:00Z' });
    world.apply(fresh(spec(id)));
    const deps = world.start();
    await until(world, deps, isReady(world), 'a pool that is Ready');
    await hours(world, deps, 1);
    const { releaseVersion, releaseDate, deprecationDate } = stateOf(world) ?? {};
    assert.deepEqual([releaseVersion, releaseDate, deprecationDate], [id, '2025-11-20', '2026-03-20']);
    assertBrief(conditionOf(world, 'UpToDate'), 'True MatchesSpec', 'web', '2025-11-20', '2026-03-20', 'EKS-optimized');
    const [node] = world.nodes;
    assert.equal(
      world.metrics.get('web')?.windowspool_node_group_release_timestamp_seconds,
      Date.parse('2025-11-20') / 1000,
    );
    assert.ok(node);
  });

  it('is not updated to an AMI that no node can start from', async () => {
    const { world, deps } = await customWorld();
    world.cloud.faults.image({ id: 'ami-0a000002', name: 'golden-win2019' });
    change(world, spec('ami-0a000002'));
    await hours(world, deps, 1);
    assert.deepEqual(updatesIn(world.calls), []);
    assertBrief(conditionOf(world, 'UpToDate'), 'False AMIInvalid', 'ami-0a000002');
    world.cloud.faults.image({ id: 'ami-0a000002', name: 'golden-win2022' });
    await until(world, deps, hasVersion(world, '2'), 'the second version');
  });

  it('gets other labels on all nodes as soon as nodes can start from its AMI again', async () => {
    const { world, deps } = await customWorld(spec('ami-0a000001'), {}, ['ami-0a000001']);
    world.cloud.faults.image({ id: 'ami-0a000001', state: 'disabled' });
    await hours(world, deps, 1);
    change(world, spec('ami-0a000001', { labels: { team: 'web' } }));
    await hours(world, deps, 1);
    assert.match(conditionOf(world, 'UpToDate') ?? '', /^False AMIInvalid: .*userData differs/);
    world.cloud.faults.image({ id: 'ami-0a000001', state: 'available' });
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    assert.ok([...world.nodes].every(({ labels }) => labels.team === 'web'));
  });

  it('changes to another parameter at once, also when it has an AMI only later and the policy is Manual', async () => {
    const follows = (name: string) => spec('', { nodeGroup: { ami: { ssmParameter: name } } } as never);
    const [a, b] = ['/windowspool/a', '/windowspool/b'] as const;
    const { world, deps } = await customWorld(follows(a), {}, ['ami-0a000001', 'ami-0a000002'], a);
    change(world, follows(b));
    await hours(world, deps, 1);
    assertBrief(conditionOf(world, 'UpToDate'), 'False AMIInvalid', 'ami-0a000001');
    world.cloud.faults.parameter({ name: b, value: 'ami-0a000002' });
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    assert.equal(stateOf(world)?.releaseVersion, 'ami-0a000002');
  });

  const gaps: readonly (readonly [what: string, begin: (world: FakeWorld) => void])[] = [
    ['has no AMI', ({ cloud }) => cloud.faults.parameter({ name: NAME, value: 'none' })],
    ['has an AMI that does not exist', ({ cloud }) => cloud.faults.parameter({ name: NAME, value: 'ami-0a00000f' })],
    [
      'cannot be read',
      (world) => (world.fails = (call) => (call === 'GetParameter' ? sampleError('throttled') : undefined)),
    ],
  ];
  for (const [what, begin] of gaps) {
    it(`is not updated again to an AMI that failed, also if its parameter ${what} in between`, async () => {
      const update = { policy: 'Automatic', force: false };
      const follows = spec('', { nodeGroup: { ami: { ssmParameter: NAME }, update } } as never);
      const { world, deps } = await customWorld(follows, {}, ['ami-0a000001', 'ami-0a000002'], NAME);
      world.cloud.faults.updateFailure({
        errors: [{ errorCode: 'NodeCreationFailure', errorMessage: 'They failed.' }],
      });
      world.cloud.faults.parameter({ name: NAME, value: 'ami-0a000002' });
      await until(world, deps, () => openFailure(stateOf(world)) !== undefined, 'the failure');
      begin(world);
      await hours(world, deps, 1);
      world.fails = () => undefined;
      world.cloud.faults.parameter({ name: NAME, value: 'ami-0a000002' });
      await hours(world, deps, 2);
      assert.deepEqual(updatesIn(world.calls), ['UpdateNodegroupVersion']);
      assert.match(conditionOf(world, 'UpToDate') ?? '', /^False UpdateFailed: /);
    });
  }

  const alternations: readonly (readonly [when: string, isNext: (world: FakeWorld) => boolean])[] = [
    ['after the update to it has failed', (world) => openFailure(stateOf(world)) !== undefined],
    ['while EKS updates the node group to it', (world) => stateOf(world)?.update?.status === 'InProgress'],
  ];
  for (const [when, isNext] of alternations) {
    it(`is not updated again to an AMI that failed when its parameter has another AMI in between, ${when}`, async () => {
      const update = { policy: 'Automatic', force: false };
      const follows = spec('', { nodeGroup: { ami: { ssmParameter: NAME }, update } } as never);
      const images = ['ami-0a000001', 'ami-0a000002', 'ami-0a000003'] as const;
      const { world, deps: first } = await customWorld(follows, {}, images, NAME);
      world.cloud.faults.updateFailure({
        errors: [{ errorCode: 'NodeCreationFailure', errorMessage: 'They failed.' }],
      });
      world.cloud.faults.parameter({ name: NAME, value: images[1] });
      for (let run = 0; run < 100 && !isNext(world); run++) {
        const next = await reconcile('web', first, signal);
        world.now += next.kind === 'requeueAfter' ? next.ms : 0;
      }
      assert.ok(isNext(world), JSON.stringify(stateOf(world)));
      world.cloud.faults.parameter({ name: NAME, value: images[2] });
      // It reads the parameter at once.
      const deps = world.start();
      await until(world, deps, () => stateOf(world)?.releaseVersion === images[2], 'the other AMI', 200);
      assert.equal(openFailure(stateOf(world)), undefined);
      world.cloud.faults.parameter({ name: NAME, value: images[1] });
      await hours(world, deps, 2);
      assert.deepEqual(updatesIn(world.calls), ['UpdateNodegroupVersion', 'UpdateNodegroupVersion']);
      assertBrief(conditionOf(world, 'UpToDate'), 'False UpdateFailed', 'kubectl annotate wp web winpool.dev/retry=');
      retry(world, '1');
      await until(world, deps, () => stateOf(world)?.releaseVersion === images[1], 'the AMI that failed', 200);
    }).timeout(30_000);
  }

  it('does not ask for an update to an AMI in its parameter from which no node can start', async () => {
    const update = { policy: 'Automatic', force: false };
    const follows = spec('', { nodeGroup: { ami: { ssmParameter: NAME }, update } } as never);
    const { world, deps } = await customWorld(follows, {}, ['ami-0a000001'], NAME);
    world.cloud.faults.parameter({ name: NAME, value: 'ami-0a00000f' });
    await hours(world, deps, 1);
    assertBrief(
      conditionOf(world, 'UpToDate'),
      'False UpdateAvailable',
      'web',
      'ami-0a000001',
      '/windowspool/golden',
      'ami-0a00000f',
      'PrerequisitesMet',
    );
    assert.deepEqual(updatesIn(world.calls), []);
  });

  it('keeps its AMI with policy Manual when something else in the spec changes', async () => {
    const follows = (labels = {}) => spec('', { labels, nodeGroup: { ami: { ssmParameter: NAME } } } as never);
    const { world, deps } = await customWorld(follows(), {}, ['ami-0a000001', 'ami-0a000002'], NAME);
    world.cloud.faults.parameter({ name: NAME, value: 'ami-0a000002' });
    await hours(world, deps, 1);
    change(world, follows({ team: 'web' }));
    await hours(world, deps, 3);
    assert.deepEqual(updatesIn(world.calls), ['UpdateNodegroupConfig', 'UpdateNodegroupVersion']);
    assert.match(conditionOf(world, 'UpToDate') ?? '', /^False UpdateAvailable: Node group web has AMI ami-0a000001;/);
    assert.ok([...world.nodes].every(({ labels }) => labels.team === 'web'));
  });

  it('gets other labels on all nodes while its parameter has no AMI', async () => {
    const follows = (labels = {}) => spec('', { labels, nodeGroup: { ami: { ssmParameter: NAME } } } as never);
    const { world, deps } = await customWorld(follows(), {}, ['ami-0a000001'], NAME);
    world.cloud.faults.parameter({ name: NAME, value: 'none' });
    await hours(world, deps, 1);
    change(world, follows({ team: 'web' }));
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    await hours(world, deps, 1);
    assert.deepEqual(updatesIn(world.calls), ['UpdateNodegroupConfig', 'UpdateNodegroupVersion']);
    assert.ok([...world.nodes].every(({ labels }) => labels.team === 'web'));
  });

  it('reports that the AMI of its group was deregistered', async () => {
    const world = new FakeWorld();
    world.cloud.faults.image({ id: 'ami-0a000001' });
    world.apply(fresh(spec('ami-0a000001')));
    const deps = world.start();
    await until(world, deps, isReady(world), 'a pool that is Ready');
    world.cloud.faults.image({ id: 'ami-0a000001', exists: false });
    await hours(world, deps, 1);
    assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^False AMIInvalid: AMI ami-0a000001 does not exist/);
    assert.equal(ready(world), 'True');
  });

  for (const immutableChangePolicy of ['Reject', 'Replace'] as const)
    it(`does not count as up to date without its launch template and its status while its AMI is another one (${immutableChangePolicy})`, async () => {
      const { world, deps } = await customWorld(spec(OLD, { nodeGroup: { immutableChangePolicy } }));
      world.publish('1.36-2026.03.17');
      world.cloud.faults.launchTemplate({ name: TEMPLATE_NAME, exists: false });
      const { status: _lost, ...pool } = world.pools.get('web') ?? assert.fail();
      world.pools.set('web', pool);
      await until(world, deps, () => conditionOf(world, 'UpToDate')?.startsWith('True') === true, 'the same AMI');
      const { status: _again, ...same } = world.pools.get('web') ?? assert.fail();
      world.pools.set('web', same);
      change(world, spec(NEW, { nodeGroup: { immutableChangePolicy } }));
      await until(world, deps, () => stateOf(world) !== undefined, 'a new status');
      const state = immutableChangePolicy === 'Reject' ? `: ami is ${OLD} (expected ${NEW}). ` : ' replaces web. ';
      assert.ok(conditionOf(world, 'UpToDate')?.includes(state), conditionOf(world, 'UpToDate'));
    });

  it('is replaced by a new group when it gets its first custom AMI', async () => {
    const replacing = { immutableChangePolicy: 'Replace' } as const;
    const world = new FakeWorld();
    world.apply(fresh({ nodeGroup: replacing }));
    const deps = world.start();
    await until(world, deps, isReady(world), 'a pool that is Ready');
    change(world, spec(OLD, { nodeGroup: replacing }));
    const isReplaced = () => stateOf(world)?.amiType === 'CUSTOM' && stateOf(world)?.replacement === undefined;
    for (let run = 0; run < 5 && !isReplaced(); run++) {
      await until(world, deps, () => run > 0 || stateOf(world)?.replacement !== undefined, 'a replacement');
      await hours(world, deps, 1);
    }
    assert.ok(isReplaced(), JSON.stringify(stateOf(world)));
    const name = stateOf(world)?.name ?? '';
    assert.notEqual(name, 'web');
    assert.match(contentOf(world, 1).script, new RegExp(`eks\\.amazonaws\\.com/nodegroup=${name},`));
  }).timeout(30_000);
});
