import assert from 'node:assert/strict';
import { terminateInGroup } from '../../test/fakes/localaws/ec2/autoScaling.ts';
import type { StateOptions } from '../../test/fakes/localaws/state.ts';
import { switchTable } from '../../test/fakes/localaws/switches.ts';
import type { WarmPoolSpec } from './api/api.gen.ts';
import { REMOVE_ANNOTATION } from './api/labels.ts';
import { adviceReasonsIn } from './testing/adviceStates.ts';
import { FakeWorld } from './testing/fakeWorld.ts';
import { MINUTE, NEXT, type SpecChange, sampleGroup, samplePool, settings } from './testing/fixtures.ts';
import { assertBrief, assertBriefs } from './testing/goldenTexts.ts';
import { conditionOf, fresh, hours, ready, stateOf, until, wake } from './testing/life.ts';

const WARM: WarmPoolSpec = { minSize: 0, maxGroupPreparedCapacity: 5, poolState: 'Stopped', reuseOnScaleIn: false };

const poolWith = (warmPool: Partial<WarmPoolSpec>, nodeGroup: SpecChange['nodeGroup'] = {}, spec: SpecChange = {}) =>
  fresh({ ...spec, nodeGroup: { warmPool: { ...WARM, ...warmPool }, ...nodeGroup } });

/** A Ready pool of 3 nodes with a warm pool whose instances are prepared. */
async function warmedUp(pool: ReturnType<typeof poolWith>, switches: NonNullable<StateOptions['switches']> = {}) {
  const world = new FakeWorld({ switches });
  world.apply(pool);
  const deps = world.start();
  await until(world, deps, () => ready(world) === 'True', 'Ready');
  world.now += settings.resyncMs;
  await wake(world, deps);
  return { world, deps };
}

type World = Awaited<ReturnType<typeof warmedUp>>;

/** As an autoscaler does. */
const scaleTo = ({ world }: World, desiredSize: number) =>
  world.cloud.faults.edit({ group: 'web', scalingConfig: { desiredSize } });

/** Lets minutes pass, with all runs that are due. */
async function minutes({ world, deps }: World, count: number): Promise<void> {
  const end = world.now + count * MINUTE;
  while (world.now < end) {
    const next = await wake(world, deps);
    world.now += Math.min(next.kind === 'requeueAfter' ? next.ms : MINUTE, MINUTE);
  }
}

const nodes = (world: FakeWorld) => world.pools.get('web')?.status?.nodes;
const warmIn = (world: FakeWorld) =>
  [...world.cloud.state.instances.values()].filter(({ warm, state }) => warm !== undefined && state !== 'terminated');

describe('a pool with a warm pool', () => {
  for (const warmInstances of switchTable.warmInstances) {
    for (const nodesOfWarmInstances of switchTable.nodesOfWarmInstances) {
      it(`shows its instances, and does not count them: they are ${warmInstances}, and their nodes ${nodesOfWarmInstances}`, async () => {
        const { world, deps } = await warmedUp(poolWith({}), { warmInstances, nodesOfWarmInstances });
        assert.deepEqual(stateOf(world)?.warmPool, { ...WARM, instances: 2 });
        assert.equal(world.metrics.get('web')?.windowspool_warm_instances, 2);
        await hours(world, deps, 2);
        assert.deepEqual(
          [ready(world), nodes(world)?.desired, nodes(world)?.total, nodes(world)?.failing],
          ['True', 3, 3, 0],
        );
        assert.deepEqual(
          world.events.filter(({ type }) => type === 'Warning'),
          [],
        );
        const names = warmIn(world).map(({ nodeName }) => nodeName);
        const uncounted = ['2 nodes', 'eks.amazonaws.com/nodegroup=web', 'warm pool', names.sort().join(', ')];
        const args = nodesOfWarmInstances === 'absent' ? [] : uncounted;
        assertBrief(conditionOf(world, 'NodesVerified'), 'True AllVerified', '3 nodes', ...args);
      });
    }
  }

  for (const nodesOfWarmInstances of switchTable.nodesOfWarmInstances) {
    it(`gets its nodes from it as soon as they join, with the policy Gate, while those that wait are ${nodesOfWarmInstances}`, async () => {
      const pool = await warmedUp(poolWith({}, {}, { verification: { policy: 'Gate' } }), { nodesOfWarmInstances });
      const warm = warmIn(pool.world).map(({ nodeName }) => nodeName);
      scaleTo(pool, 5);
      await minutes(pool, settings.resyncMs / MINUTE + 1);
      const { world } = pool;
      assert.deepEqual(
        [ready(world), nodes(world)?.verified, nodes(world)?.gated, stateOf(world)?.warmPool?.instances],
        ['True', 5, 0, 0],
      );
      const names = world.nodes.map(({ name }) => name);
      assert.deepEqual(
        warm.filter((name) => names.includes(name)),
        warm,
      );
    });
  }

  it('keeps the warm pool of a group that it adopts, and changes it once the spec has one', async () => {
    const world = new FakeWorld();
    const tags = { 'winpool.dev/adoptable-by': 'web' };
    const found = { minSize: 2, maxGroupPreparedCapacity: 4, poolState: 'Running', reuseOnScaleIn: true } as const;
    world.makeGroup(sampleGroup(samplePool(), { tags, warmPool: found }));
    world.apply(fresh({ nodeGroup: { adoption: 'IfUnowned' } }));
    const deps = world.start();
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    await minutes({ world, deps }, settings.resyncMs / MINUTE + 1);
    assert.deepEqual(stateOf(world)?.warmPool, { ...found, instances: 2 });
    world.apply(poolWith({}, { adoption: 'IfUnowned' }));
    await until(world, deps, () => stateOf(world)?.warmPool?.poolState === 'Stopped', 'the change');
    const { instances: _, ...changed } = stateOf(world)?.warmPool ?? assert.fail();
    assert.deepEqual(changed, WARM);
  });

  for (const spotWarmPools of switchTable.spotWarmPools) {
    it(`shows whether EKS accepts it with Spot Instances (${spotWarmPools}), and otherwise works as before`, async () => {
      const spot = { capacityType: 'Spot' } as const;
      const { world, deps } = await warmedUp(fresh({ nodeGroup: spot }), { spotWarmPools });
      world.apply(poolWith({}, spot));
      const isKnown = () =>
        spotWarmPools === 'accept'
          ? stateOf(world)?.warmPool?.instances === 2
          : /^False UpdateRejected: .*not supported for Spot Instances/.test(conditionOf(world, 'UpToDate') ?? '');
      await until(world, deps, isKnown, 'the answer of EKS');
      const sent = await hours(world, deps, 2);
      assert.deepEqual([sent, ready(world), nodes(world)?.verified], [[], 'True', 3]);
      world.apply(fresh({ nodeGroup: spot }));
      const isSettled = () => /^True MatchesSpec/.test(conditionOf(world, 'UpToDate') ?? '');
      await until(world, deps, isSettled, 'the pool without it');
      assert.equal(stateOf(world)?.warmPool, undefined);
    });
  }

  it('gets advice when it is to hibernate and cannot, while its group is healthy', async () => {
    const large = { instanceTypes: ['m5.2xlarge'] };
    const { world, deps } = await warmedUp(poolWith({}, large));
    const advice = () => adviceReasonsIn(world.pools.get('web'));
    assert.ok(!advice().includes('HibernationUnavailable'));
    world.apply(poolWith({ poolState: 'Hibernated' }, large));
    await until(world, deps, () => advice().includes('HibernationUnavailable'), 'the advice');
    world.apply(poolWith({ poolState: 'Running' }, large));
    await until(world, deps, () => !advice().includes('HibernationUnavailable'), 'the end of the advice');
  });

  for (const deletionPolicy of ['Delete', 'Retain'] as const) {
    it(`is deleted with deletionPolicy ${deletionPolicy}: the operator terminates no instance of it`, async () => {
      const { world, deps } = await warmedUp(poolWith({}, {}, { deletionPolicy }));
      world.remove('web');
      await until(world, deps, () => world.pools.size === 0, 'the deletion');
      assert.deepEqual(world.ended, []);
      assert.equal(warmIn(world).length, deletionPolicy === 'Delete' ? 0 : 2);
    });
  }

  it('changes and removes it with the spec, and keeps that of another client', async () => {
    const pool = await warmedUp(poolWith({}));
    const { world, deps } = pool;
    const config = () => world.cloud.state.group('web').nodegroup.warmPoolConfig;
    world.apply(poolWith({ minSize: 1, maxGroupPreparedCapacity: 4, reuseOnScaleIn: true }));
    await until(world, deps, () => config()?.reuseOnScaleIn === true, 'the change');
    assert.deepEqual(
      [config()?.minSize, config()?.maxGroupPreparedCapacity, config()?.poolState, warmIn(world).length],
      [1, 4, 'STOPPED', 1],
    );
    world.apply(fresh());
    await until(world, deps, () => config() === undefined, 'the removal');
    await minutes(pool, settings.resyncMs / MINUTE + 1);
    assert.deepEqual([stateOf(world)?.warmPool, warmIn(world)], [undefined, []]);
    const warmPoolConfig = { enabled: true, maxGroupPreparedCapacity: 4 };
    await world.cloud.send('UpdateNodegroupConfig', { clusterName: 'prod', nodegroupName: 'web', warmPoolConfig });
    await hours(world, deps, 2);
    assert.deepEqual([warmIn(world).length, stateOf(world)?.warmPool?.instances], [1, 1]);
  });

  it('does not terminate an instance that waited for long and has just been taken, although another has failed to join for long', async () => {
    const remediation = { policy: 'Replace', unhealthyAfter: '60m', maxUnhealthy: '100%' } as const;
    const pool = await warmedUp(poolWith({ poolState: 'Running' }, {}, { remediation }));
    const { world } = pool;
    for (const instance of warmIn(world)) instance.defect = { neverJoins: true };
    const [first, second] = warmIn(world).map(({ id }) => id);
    await hours(world, pool.deps, 3);
    scaleTo(pool, 4);
    await minutes(pool, 50);
    assert.match(conditionOf(world, 'NodesVerified') ?? '', /NodesMissing/);
    assert.match(conditionOf(world, 'NodesVerified') ?? '', new RegExp(first ?? ''));
    scaleTo(pool, 5);
    await minutes(pool, 9);
    assert.deepEqual(world.ended, []);
    assert.doesNotMatch(conditionOf(world, 'NodesVerified') ?? '', new RegExp(second ?? ''));
    await minutes(pool, 40);
    assert.deepEqual(world.ended, [first]);
    await minutes(pool, 30);
    assert.deepEqual(world.ended, [first, second]);
  });

  for (const nodesOfReusedInstances of switchTable.nodesOfReusedInstances) {
    it(`is Ready after an autoscaler returned an instance to it, whose node is ${nodesOfReusedInstances}, and took it again`, async () => {
      const pool = await warmedUp(poolWith({ reuseOnScaleIn: true, maxGroupPreparedCapacity: 4 }), {
        nodesOfReusedInstances,
      });
      const { world } = pool;
      scaleTo(pool, 4);
      await minutes(pool, 10);
      assert.deepEqual([nodes(world)?.verified, warmIn(world).length], [4, 0]);
      const InstanceId = [...world.cloud.state.instances.keys()].at(-1);
      terminateInGroup(world.cloud.state, { InstanceId, ShouldDecrementDesiredCapacity: true });
      await minutes(pool, 15);
      assert.equal(warmIn(world)[0]?.id, InstanceId);
      assert.deepEqual(
        [ready(world), nodes(world)?.total, nodes(world)?.failing, stateOf(world)?.warmPool?.instances],
        ['True', 3, 0, 1],
      );
      scaleTo(pool, 4);
      await minutes(pool, 15);
      assert.deepEqual([ready(world), nodes(world)?.verified, warmIn(world).length], ['True', 4, 0]);
      assert.equal([...world.cloud.state.instances.values()].length, 4);
    });
  }

  for (const nodesOfReusedInstances of switchTable.nodesOfReusedInstances) {
    it(`gets the instance of a node that is removed, whose node is ${nodesOfReusedInstances}, and uses it again`, async () => {
      const scaling = { minSize: 1, maxSize: 5 };
      const pool = await warmedUp(poolWith({ reuseOnScaleIn: true }, { scaling }), { nodesOfReusedInstances });
      const { world } = pool;
      scaleTo(pool, 3);
      await minutes(pool, 15);
      const [node = assert.fail()] = world.nodes;
      world.setNode({ ...node, annotations: { ...node.annotations, [REMOVE_ANNOTATION]: 'true' } });
      await minutes(pool, 30);
      const instance = [...world.cloud.state.instances.values()].find(({ nodeName }) => nodeName === node.name);
      assert.deepEqual([world.ended, instance?.warm], [[instance?.id], 'Stopped']);
      assert.deepEqual([ready(world), nodes(world)?.total], ['True', 2]);
      assert.equal(world.pools.get('web')?.status?.disruption, undefined);
      scaleTo(pool, 5);
      await minutes(pool, 30);
      assert.deepEqual([world.ended.length, nodes(world)?.verified, warmIn(world).length], [1, 5, 0]);
      const back = world.nodes.find(({ name }) => name === node.name);
      const isKept = nodesOfReusedInstances === 'kept';
      assert.deepEqual(
        [back?.unschedulable, back?.annotations],
        [false, isKept ? { [REMOVE_ANNOTATION]: 'left' } : {}],
      );
      const canceled = world.events.filter(({ reason }) => reason === 'NodeDisruptionCanceled');
      assertBriefs(
        canceled.map(({ type, message }) => `${type}: ${message}`),
        isKept ? [['Normal', `node ${node.name}`, 'warm pool']] : [],
      );
    });
  }

  it('terminates no instance twice that left its group and came back as the same node between two lists', async () => {
    const scaling = { minSize: 1, maxSize: 5 };
    const pool = await warmedUp(poolWith({ reuseOnScaleIn: true }, { scaling }), { nodesOfReusedInstances: 'kept' });
    const { world, deps } = pool;
    scaleTo(pool, 3);
    await minutes(pool, 15);
    const [node = assert.fail()] = world.nodes;
    world.setNode({ ...node, annotations: { ...node.annotations, [REMOVE_ANNOTATION]: 'true' } });
    await until(world, deps, () => world.ended.length > 0, 'the termination');
    const instance = [...world.cloud.state.instances.values()].find(({ nodeName }) => nodeName === node.name);
    // The operator does not run.
    world.now += 5 * MINUTE;
    assert.deepEqual([instance?.warm, instance?.id], ['Stopped', world.ended[0]]);
    scaleTo(pool, 5);
    world.now += 5 * MINUTE;
    assert.equal(instance?.warm, undefined);
    await minutes(pool, 40);
    assert.deepEqual([world.ended.length, nodes(world)?.total, nodes(world)?.verified], [1, 5, 5]);
    const back = world.nodes.find(({ uid }) => uid === node.uid);
    assert.deepEqual([back?.unschedulable, back?.annotations], [false, { [REMOVE_ANNOTATION]: 'left' }]);
    assert.equal(world.pools.get('web')?.status?.disruption, undefined);
  });

  for (const outdatedWarmInstances of switchTable.outdatedWarmInstances) {
    it(`is updated once, also if the instances that wait are ${outdatedWarmInstances}`, async () => {
      const update = { policy: 'Automatic', force: false, strategy: 'Minimal' } as const;
      const { world, deps } = await warmedUp(poolWith({}, { update }), { outdatedWarmInstances });
      world.publish(NEXT);
      await until(world, deps, () => stateOf(world)?.releaseVersion === NEXT, 'the update');
      const sent = await hours(world, deps, 6);
      assert.deepEqual([sent, ready(world)], [[], 'True']);
    });
  }
});
