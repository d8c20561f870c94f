/** Replacements of node groups that have the operator's launch template, or a warm pool. */
import assert from 'node:assert/strict';
import type { StateOptions } from '../../../../../test/fakes/localaws/state.ts';
import { switchTable } from '../../../../../test/fakes/localaws/switches.ts';
import type { Deps } from '../../../reconcile.ts';
import type { FakeWorld } from '../../../testing/fakeWorld.ts';
import { MINUTE, NEXT, sampleError } from '../../../testing/fixtures.ts';
import { fresh, hours, isReplaced, nodesIn, openFailure, readyWorld, stateOf, until } from '../../../testing/life.ts';
import { HASHED } from '../../../testing/replacementScenes.ts';

const { nodeGroup } = fresh().spec;
const DISK = { sizeGiB: 100, type: 'gp3', encrypted: true } as const;
const WARM = { minSize: 1, poolState: 'Stopped' } as const;

/** A Ready pool of two nodes. */
async function poolWith(
  change: object,
  options: Partial<StateOptions> = {},
): Promise<{ world: FakeWorld; deps: Deps }> {
  const scaling = { minSize: 2, maxSize: 4 };
  const spec = { ...nodeGroup, immutableChangePolicy: 'Replace', instanceTypes: ['m5.large'], scaling, ...change };
  const { world, deps } = await readyWorld({ nodeGroup: spec as never }, options);
  world.pods = [];
  return { world, deps };
}

function edit(world: FakeWorld, change: object): void {
  const pool = world.pools.get('web') ?? assert.fail();
  world.apply({ ...pool, spec: { ...pool.spec, nodeGroup: { ...pool.spec.nodeGroup, ...change } as never } });
}

/** Without the copies that EKS makes for its groups. */
const templates = (world: FakeWorld) =>
  [...world.cloud.state.launchTemplates.values()].map(({ name }) => name).filter((name) => !name.startsWith('eks-'));

describe('a node group that is replaced', () => {
  it('and used again does not repeat an automatic update that failed', async () => {
    const { world, deps } = await poolWith({ update: { policy: 'Automatic', force: false } });
    world.publish(NEXT);
    world.cloud.faults.updateFailure({
      errors: [{ errorCode: 'NodeCreationFailure', errorMessage: 'No node joined' }],
    });
    assert.equal((await hours(world, deps, 3)).length, 1);
    edit(world, { instanceTypes: ['m5.xlarge'] });
    await until(world, deps, () => stateOf(world)?.name === HASHED, 'the switch');
    edit(world, { instanceTypes: ['m5.large'] });
    assert.deepEqual(await hours(world, deps, 6), []);
    assert.equal(stateOf(world)?.name, 'web');
  });

  it('gets the launch template of the operator with the first launch setting, and loses it with the last', async () => {
    const { world, deps } = await poolWith({});
    edit(world, { disk: DISK });
    await until(world, deps, isReplaced(world), 'a group with a launch template');
    assert.deepEqual([...world.groups.keys()], [HASHED]);
    assert.equal(world.groups.get(HASHED)?.launchTemplate?.name, 'winpool/prod/web');
    assert.deepEqual(templates(world), ['winpool/prod/web']);

    edit(world, { disk: undefined });
    await until(world, deps, () => world.groups.has('web'), 'a group without one');
    assert.deepEqual(templates(world), ['winpool/prod/web'], 'the old group needs it');
    await until(world, deps, isReplaced(world), 'the group without a launch template alone');
    await until(world, deps, () => templates(world).length === 0, 'no launch template');
    assert.deepEqual([...world.groups.keys()], ['web']);
    assert.equal(world.groups.get('web')?.launchTemplate, undefined);
  });

  it('keeps its plain group when the spec goes back, and the launch template is deleted with the other one', async () => {
    const { world, deps } = await poolWith({});
    edit(world, { disk: DISK });
    await until(world, deps, () => world.groups.has(HASHED), 'the new group');
    edit(world, { disk: undefined });
    await until(world, deps, isReplaced(world), 'the old group alone');
    await until(world, deps, () => templates(world).length === 0, 'no launch template');
    assert.deepEqual([[...world.groups.keys()], nodesIn(world, 'web').length], [['web'], 2]);
  });

  it('gets another version of the launch template when the launch settings change at the same time', async () => {
    const { world, deps } = await poolWith({ disk: DISK });
    edit(world, { instanceTypes: ['m5.xlarge'] });
    await until(world, deps, () => world.groups.has(HASHED), 'the new group');
    edit(world, { disk: { ...DISK, sizeGiB: 200 } });
    await until(world, deps, isReplaced(world), 'a replaced group');
    assert.deepEqual([...world.groups.keys()], [HASHED]);
    const { id = '', version } = world.groups.get(HASHED)?.launchTemplate ?? {};
    const used = world.cloud.state.launchTemplates.get(id)?.versions.find(({ number }) => String(number) === version);
    assert.equal(used?.data.BlockDeviceMappings?.[0]?.Ebs?.VolumeSize, 200);
  });

  it('is deleted with the pool in the middle, and so is the launch template', async () => {
    const { world, deps } = await poolWith({});
    edit(world, { disk: DISK });
    await until(world, deps, () => world.groups.has(HASHED), 'the new group');
    world.remove('web');
    await until(world, deps, () => !world.pools.has('web'), 'no pool');
    assert.deepEqual([[...world.groups.keys()], templates(world)], [[], []]);
  });

  it('loses its launch template with the last launch setting, also after the status was lost', async () => {
    const { world, deps } = await poolWith({});
    edit(world, { disk: DISK });
    await until(world, deps, isReplaced(world), 'a group with a launch template');
    const { status: _lost, ...pool } = world.pools.get('web') ?? assert.fail();
    world.pools.set('web', pool);
    await until(world, deps, () => stateOf(world) !== undefined, 'a new status');
    edit(world, { disk: undefined });
    await until(world, deps, isReplaced(world), 'the group without a launch template alone');
    await until(world, deps, () => templates(world).length === 0, 'no launch template');
  });

  it('is retained in the middle, without the launch template that it does not use', async () => {
    const { world, deps } = await poolWith({});
    world.fails = (call) => (call === 'CreateNodegroup' ? sampleError('refused') : undefined);
    edit(world, { disk: DISK });
    await until(world, deps, () => templates(world).length > 0, 'the launch template');
    const pool = world.pools.get('web') ?? assert.fail();
    world.apply({ ...pool, spec: { ...pool.spec, deletionPolicy: 'Retain' } });
    world.remove('web');
    await until(world, deps, () => !world.pools.has('web'), 'no pool');
    assert.deepEqual([[...world.groups.keys()], templates(world)], [['web'], []]);
  });

  it('is retained in the middle with the launch template that it uses', async () => {
    const { world, deps } = await poolWith({});
    edit(world, { disk: DISK });
    await until(world, deps, isReplaced(world), 'a group with a launch template');
    world.fails = (call) => (call === 'CreateNodegroup' ? sampleError('refused') : undefined);
    edit(world, { instanceTypes: ['m5.xlarge'] });
    await until(world, deps, () => openFailure(stateOf(world)) !== undefined, 'the rejection');
    const pool = world.pools.get('web') ?? assert.fail();
    world.apply({ ...pool, spec: { ...pool.spec, deletionPolicy: 'Retain' } });
    world.remove('web');
    await until(world, deps, () => !world.pools.has('web'), 'no pool');
    assert.deepEqual([[...world.groups.keys()], templates(world)], [[HASHED], ['winpool/prod/web']]);
  });

  it('is retained with the one that replaces it, and both lose the labels of the operator', async () => {
    const { world, deps } = await poolWith({});
    edit(world, { instanceTypes: ['m5.xlarge'] });
    await until(world, deps, () => nodesIn(world, HASHED).length === 2, 'nodes of both');
    const pool = world.pools.get('web') ?? assert.fail();
    world.apply({ ...pool, spec: { ...pool.spec, deletionPolicy: 'Retain' } });
    world.remove('web');
    await until(world, deps, () => !world.pools.has('web'), 'no pool');
    assert.deepEqual(
      [...world.groups.values()].map(({ name, labels, tags }) => [name, labels, tags]),
      [
        ['web', {}, {}],
        [HASHED, {}, {}],
      ],
    );
    assert.ok(!world.events.some(({ reason }) => reason === 'CleanupIncomplete'));
  });

  for (const reuse of [false, true]) {
    it(`takes its warm pool along: instances are ${reuse ? '' : 'not '}reused`, async () => {
      const { world, deps } = await poolWith({ warmPool: { ...WARM, reuseOnScaleIn: reuse } });
      edit(world, { instanceTypes: ['m5.xlarge'] });
      await until(world, deps, isReplaced(world), 'a replaced group');
      assert.deepEqual(
        [[...world.groups.keys()], nodesIn(world, HASHED).length, nodesIn(world, 'web').length],
        [[HASHED], 2, 0],
      );
      assert.equal(world.groups.get(HASHED)?.warmPool?.minSize, 1);
    });
  }

  for (const nodesOfReusedInstances of switchTable.nodesOfReusedInstances) {
    it(`goes on if its instances return to a warm pool that the spec no longer has, and their nodes are ${nodesOfReusedInstances}`, async () => {
      const switches = { nodesOfReusedInstances };
      const { world, deps } = await poolWith({ warmPool: { ...WARM, reuseOnScaleIn: true } }, { switches });
      edit(world, { instanceTypes: ['m5.xlarge'], warmPool: undefined });
      await until(world, deps, isReplaced(world), 'a replaced group');
      assert.deepEqual(
        [[...world.groups.keys()], nodesIn(world, HASHED).length, nodesIn(world, 'web').length],
        [[HASHED], 2, 0],
      );
      assert.equal(world.calls.filter((call) => call.startsWith('TerminateInstance')).length, 2);
    });
  }

  for (const reuse of [false, true]) {
    it(`fills no warm pool of the group that is drained: instances are ${reuse ? '' : 'not '}reused`, async () => {
      const switches = { nodesOfReusedInstances: 'kept' } as const;
      const { world, deps } = await poolWith({ warmPool: { ...WARM, reuseOnScaleIn: reuse } }, { switches });
      await hours(world, deps, 1);
      const launched = () => [...world.cloud.state.instances.values()].filter(({ group }) => group === 'web').length;
      const [before, start] = [launched(), world.now];
      edit(world, { instanceTypes: ['m5.xlarge'] });
      await until(world, deps, () => nodesIn(world, 'web').length === 0, 'a drained group');
      assert.deepEqual([before, launched()], [4, 4]);
      assert.ok(world.now - start < 2 * MINUTE, `${(world.now - start) / MINUTE} minutes`);
      await until(world, deps, isReplaced(world), 'a replaced group');
      assert.equal(world.groups.get(HASHED)?.warmPool?.reuseOnScaleIn, reuse);
    });
  }

  it('gets its warm pool again when the spec goes back while its nodes are drained', async () => {
    const { world, deps } = await poolWith({ warmPool: { ...WARM, reuseOnScaleIn: true } });
    edit(world, { instanceTypes: ['m5.xlarge'] });
    await until(world, deps, () => nodesIn(world, 'web').length === 1, 'a drained node');
    edit(world, { instanceTypes: ['m5.large'] });
    await until(world, deps, isReplaced(world), 'the old group alone');
    assert.deepEqual([[...world.groups.keys()], nodesIn(world, 'web').length], [['web'], 2]);
    assert.equal(world.groups.get('web')?.warmPool?.reuseOnScaleIn, true);
  });
});
