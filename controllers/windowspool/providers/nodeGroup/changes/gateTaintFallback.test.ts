import assert from 'node:assert/strict';
import { PLAIN_GATE_TAINT_KEY } from '../../../api/labels.ts';
import { GATE_TAINT } from '../../../nodes/nodeTaints.ts';
import { FakeWorld } from '../../../testing/fakeWorld.ts';
import { sampleError } from '../../../testing/fixtures.ts';
import { fresh, openFailure, ready, readyWorld, until } from '../../../testing/life.ts';

const Gate = { verification: { policy: 'Gate' } } as const;
const words = 'Taint cannot contain reserved prefixes [kubernetes.io/, k8s.io/, eks.amazonaws.com/]';

/** Simulates that EKS rejects taints with kubernetes.io/ in their key. */
function refuses(world: FakeWorld, call: string): void {
  world.fails = (asked) =>
    asked === call && world.pools.get('web')?.status?.bookkeeping?.gateTaint === undefined
      ? sampleError('refused', { operation: call, message: words })
      : undefined;
}

const taintsOf = (world: FakeWorld) => world.groups.get('web')?.taints.map(({ key }) => key);
const eventCount = (world: FakeWorld) => world.events.filter(({ reason }) => reason === 'GateTaintReplaced').length;

describe('the gate taint if EKS rejects its key', () => {
  it('has the plain key, which the status records and an event reports once', async () => {
    const world = new FakeWorld();
    refuses(world, 'CreateNodegroup');
    world.apply(fresh(Gate));
    const deps = world.start();
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    assert.deepEqual(taintsOf(world), ['os', PLAIN_GATE_TAINT_KEY]);
    assert.equal(world.pools.get('web')?.status?.bookkeeping?.gateTaint, PLAIN_GATE_TAINT_KEY);
    assert.equal(openFailure(world.pools.get('web')?.status?.nodeGroup), undefined);
    assert.equal(eventCount(world), 1);
  });

  it('is added to an existing group with the plain key', async () => {
    const { world, deps } = await readyWorld();
    refuses(world, 'UpdateNodegroupConfig');
    const pool = world.pools.get('web') ?? assert.fail('the pool is gone');
    world.apply({ ...pool, spec: { ...pool.spec, verification: { policy: 'Gate' } } });
    await until(world, deps, () => taintsOf(world)?.includes(PLAIN_GATE_TAINT_KEY) === true, 'the gate');
    assert.equal(taintsOf(world)?.includes(GATE_TAINT.key), false);
  });

  it('is not retried in a loop if the plain key is also rejected', async () => {
    const world = new FakeWorld();
    world.fails = (asked) => (asked === 'CreateNodegroup' ? sampleError('refused', { message: words }) : undefined);
    world.apply(fresh(Gate));
    const deps = world.start();
    const failed = () => openFailure(world.pools.get('web')?.status?.nodeGroup) !== undefined;
    await until(world, deps, failed, 'a failed creation');
    assert.equal(world.calls.filter((call) => call === 'CreateNodegroup').length, 2);
  });
});
