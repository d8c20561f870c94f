import assert from 'node:assert/strict';
import type { MachineSetTemplate } from '../../api/api.gen.ts';
import { type Deps, reconcile } from '../../reconcile.ts';
import { crashAtEach } from '../../testing/crashAtEach.ts';
import { FakeWorld } from '../../testing/fakeWorld.ts';
import { sampleError } from '../../testing/fixtures.ts';
import { assertBrief } from '../../testing/goldenTexts.ts';
import { conditionOf, ready, signal, until, wake } from '../../testing/life.ts';
import { machinesPool, settleMachines } from '../../testing/machineScenes.ts';
import { annotate, isSettled } from '../../testing/nodeLife.ts';
import { REPLACE } from '../../testing/nodeScenes.ts';

const infrastructureTemplate = (image: string) => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind: 'SimMachineTemplate',
  spec: { template: { spec: { image } } },
});
const template: MachineSetTemplate = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'MachineDeployment',
  metadata: { namespace: 'clusters', name: 'windows' },
  spec: { clusterName: 'prod' },
  infrastructureTemplate: infrastructureTemplate('a'),
};

type Spec = Parameters<typeof machinesPool>[0];
const poolWith = (image: string, spec: Spec = {}, desiredSize = 2) =>
  machinesPool(
    {
      ...spec,
      machines: { template: { ...template, infrastructureTemplate: infrastructureTemplate(image) }, desiredSize },
    },
    { metadata: { finalizers: [], generation: 0 } },
  );

/** A pool whose object does not exist yet. */
function emptyWorld(pool = poolWith('a')): { world: FakeWorld; deps: Deps } {
  const world = new FakeWorld();
  world.apply(pool);
  return { world, deps: world.start() };
}

async function untilReady(world: FakeWorld, deps: Deps): Promise<void> {
  const isDone = () => {
    settleMachines(world);
    return ready(world) === 'True' && isSettled(world) && world.machines.changes.at(-1) === 'prune';
  };
  await until(world, deps, isDone, 'the pool to be Ready');
}

async function untilDeleted(world: FakeWorld, deps: Deps): Promise<void> {
  const isDone = () => {
    settleMachines(world);
    return world.pools.size === 0;
  };
  await until(world, deps, isDone, 'the pool to be deleted');
}

/** A Ready pool that a user has deleted. */
async function leavingWorld(): Promise<{ world: FakeWorld; deps: Deps }> {
  const { world, deps } = emptyWorld();
  await untilReady(world, deps);
  world.remove('web');
  return { world, deps };
}

describe('a pool with machines.template', () => {
  it('creates the object with its infrastructure template, and takes its nodes', async () => {
    const { world, deps } = emptyWorld();
    await wake(world, deps);
    assertBrief(conditionOf(world, 'MachinesReady') ?? '', 'False MachinesScaling');
    await untilReady(world, deps);
    assert.equal(world.machines.templates.length, 1);
    assert.deepEqual(world.machines.changes, [`apply windows with ${world.machines.templates[0]}`, 'prune']);
    const { status } = world.pools.get('web') ?? {};
    assert.deepEqual([status?.machines?.replicas, status?.nodes?.verified], [2, 2]);
  });

  it('may replace nodes and change the size without an annotation of the object', async () => {
    const { world, deps } = emptyWorld();
    await untilReady(world, deps);
    world.machines.changes.splice(0);
    world.apply(poolWith('a', {}, 3));
    annotate(world, 'a', REPLACE);
    await until(
      world,
      deps,
      () => {
        settleMachines(world);
        return world.machines.changes.includes('delete a') && isSettled(world) && world.nodes.length === 3;
      },
      'the replacement',
    );
    assert.ok(world.machines.changes.includes('scale 3'), `${world.machines.changes}`);
  });

  it('applies a change once, keeps the size of others, and prunes the template that is no longer used', async () => {
    const { world, deps } = emptyWorld();
    await untilReady(world, deps);
    world.machines.scale(4);
    world.machines.changes.splice(0);
    world.apply(poolWith('b'));
    await untilReady(world, deps);
    await wake(world, deps);
    assert.deepEqual(world.machines.changes, [`apply windows with ${world.machines.templates[0]}`, 'prune']);
    assert.equal(world.machines.templates.length, 1);
    assert.equal(world.machines.set?.replicas, 4);
  });

  it('keeps templates while Machines of an earlier one are left', async () => {
    const { world, deps } = emptyWorld();
    await untilReady(world, deps);
    world.apply(poolWith('b'));
    await wake(world, deps);
    world.machines.roll();
    for (let run = 0; run < 10; run += 1) await wake(world, deps);
    assert.equal(world.machines.changes.filter((change) => change === 'prune').length, 1);
    assert.equal(world.machines.templates.length, 2);
    world.machines.roll(false);
    await untilReady(world, deps);
    assert.equal(world.machines.templates.length, 1);
  });

  it('prunes again when a MachineSet that its controller kept is gone', async () => {
    const { world, deps } = emptyWorld();
    world.machines.sets = 2;
    await untilReady(world, deps);
    await wake(world, deps);
    assert.equal(world.machines.changes.filter((change) => change === 'prune').length, 1);
    world.machines.sets = 1;
    await wake(world, deps);
    await wake(world, deps);
    assert.equal(world.machines.changes.filter((change) => change === 'prune').length, 2);
  });

  for (const [whose, change, why] of [
    ['another pool', { createdFor: 'api' }, 'WindowsPool web did not create it'],
    ['a pool of the same name in another cluster', { clusterName: 'test' }, 'belongs to Cluster test'],
  ] as const)
    it(`leaves an object of ${whose} when it is deleted`, async () => {
      const { world, deps } = emptyWorld();
      await untilReady(world, deps);
      world.machines.set = { ...(world.machines.set ?? assert.fail('no object')), ...change };
      world.machines.changes.splice(0);
      await wake(world, deps);
      assertBrief(conditionOf(world, 'MachinesReady') ?? '', 'False MachineSetNotOwned', why, 'machines.ref');
      world.remove('web');
      await untilDeleted(world, deps);
      assert.deepEqual(world.machines.changes, ['prune']);
      assert.equal(world.nodes.length, 2);
    });

  it('shows why the API server rejects it, and tries a corrected template', async () => {
    const { world, deps } = emptyWorld();
    world.fails = (call) =>
      call === 'patch machinedeployments'
        ? sampleError('refused', { message: 'spec.clusterName: Required value' })
        : undefined;
    await wake(world, deps);
    await wake(world, deps);
    assertBrief(conditionOf(world, 'MachinesReady') ?? '', 'False MachineSetRejected', 'spec.clusterName: Required');
    world.fails = () => undefined;
    world.apply(poolWith('b'));
    await untilReady(world, deps);
  });

  it('shows each other error of an apply, also if the pool is Ready', async () => {
    const { world, deps } = emptyWorld();
    await untilReady(world, deps);
    for (const [kind, status, ...words] of [
      ['gone', 'MachineSetRejected', 'the server could not find', 'Correct machines.template'],
      ['unavailable', 'MachineSetRejected', 'the server could not find'],
    ] as const) {
      world.fails = (call) =>
        call === 'patch machinedeployments'
          ? sampleError(kind, { message: 'the server could not find the requested resource' })
          : undefined;
      world.apply(poolWith(kind));
      await wake(world, deps);
      assertBrief(conditionOf(world, 'MachinesReady') ?? '', `False ${status}`, ...words);
    }
  });

  it('is not applied while it is wrong', async () => {
    const pool = machinesPool({ machines: { template: { ...template, spec: { replicas: 3 } } } });
    const { world, deps } = emptyWorld({ ...pool, metadata: { ...pool.metadata, finalizers: [], generation: 0 } });
    await wake(world, deps);
    await wake(world, deps);
    assertBrief(conditionOf(world, 'MachinesReady') ?? '', 'False InvalidTemplate', 'spec.replicas');
    assert.deepEqual(world.machines.changes, []);
  });

  it('deletes the object first, with its Machines, and then the templates', async () => {
    const { world, deps } = emptyWorld();
    await untilReady(world, deps);
    world.machines.changes.splice(0);
    world.remove('web');
    await wake(world, deps);
    await wake(world, deps);
    assertBrief(conditionOf(world, 'MachinesReady') ?? '', 'False MachineSetDeleting', '2 left');
    assert.equal(world.pools.size, 1);
    await untilDeleted(world, deps);
    assert.deepEqual(world.machines.changes, ['delete the object', 'prune']);
    assert.deepEqual([world.machines.set, world.machines.templates, world.nodes], [undefined, [], []]);
  });

  it('goes on automatically once its object is gone', async () => {
    const { world, deps } = await leavingWorld();
    await wake(world, deps);
    [world.machines.machines, world.nodes] = [[], []];
    for (let run = 0; run < 5; run += 1) {
      await wake(world, deps);
      world.now += 10_000;
    }
    world.machines.set = undefined;
    // Its own write of the status triggers no run.
    const next = await reconcile('web', deps, signal);
    assert.equal(world.machines.changes.at(-1), 'prune');
    assert.ok(next.kind === 'requeueAfter' && next.ms <= 1_000, JSON.stringify(next));
    await reconcile('web', deps, signal);
    assert.equal(world.pools.size, 0);
  });

  it('keeps all with deletionPolicy Retain, and a pool of the same name takes it', async () => {
    const { world, deps } = emptyWorld(poolWith('a', { deletionPolicy: 'Retain' }));
    await untilReady(world, deps);
    world.machines.changes.splice(0);
    world.remove('web');
    await untilDeleted(world, deps);
    assert.deepEqual(world.machines.changes, []);
    assert.equal(world.nodes.length, 2);
    world.apply(poolWith('a'));
    await until(world, deps, () => ready(world) === 'True', 'the pool to be Ready again');
    assert.deepEqual(world.machines.changes, ['prune']);
  });

  it('says why its object is not deleted, and how to go without it', async () => {
    for (const kind of ['denied', 'refused', 'gone', 'unavailable'] as const) {
      const { world, deps } = await leavingWorld();
      world.fails = (call) => (call === 'delete machinedeployments' ? sampleError(kind, { message: 'no' }) : undefined);
      await wake(world, deps);
      await wake(world, deps);
      assertBrief(
        conditionOf(world, 'MachinesReady') ?? '',
        'False MachineSetDeleting',
        'could not be deleted',
        'deletionPolicy: Retain',
      );
    }
  });

  it('does not go before its object, which it cannot read', async () => {
    const { world, deps } = emptyWorld();
    await untilReady(world, deps);
    world.machines.changes.splice(0);
    world.machines.unknown = { kind: 'unknown' };
    world.remove('web');
    for (let run = 0; run < 5; run += 1) await wake(world, deps);
    assertBrief(conditionOf(world, 'MachinesReady') ?? '', 'False MachinesUnknown', 'deletionPolicy: Retain');
    assert.deepEqual([world.pools.size, world.machines.changes], [1, []]);
  });

  it('is created and deleted once, whatever call the operator crashes at', async () => {
    const phases = [
      { prepare: async () => emptyWorld(), finish: untilReady, expected: [1, 0] },
      { prepare: leavingWorld, finish: untilDeleted, expected: [0, 1] },
    ] as const;
    for (const { prepare, finish, expected } of phases)
      await crashAtEach({
        prepare,
        finish,
        check: ({ machines }, where) => {
          const deleted = machines.changes.filter((change) => change === 'delete the object').length;
          assert.deepEqual([machines.templates.length, deleted], expected, where);
        },
        moreThan: 4,
      });
  });
});
