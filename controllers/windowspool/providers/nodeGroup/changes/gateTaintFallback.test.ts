import assert from 'node:assert/strict';
import type { WindowsPoolSpec } from '../../../api/api.gen.ts';
import { PLAIN_GATE_TAINT_KEY } from '../../../api/labels.ts';
import { GATE_TAINT } from '../../../nodes/nodeTaints.ts';
import { FakeWorld } from '../../../testing/fakeWorld.ts';
import { NEXT, RELEASE, type SpecChange, sampleError } from '../../../testing/fixtures.ts';
import { assertBrief } from '../../../testing/goldenTexts.ts';
import {
  conditionOf,
  fresh,
  hours,
  openFailure,
  ready,
  readyWorld,
  stateOf,
  until,
  wake,
} from '../../../testing/life.ts';

const Gate = { verification: { policy: 'Gate' } } as const;
const words = 'Taint cannot contain reserved prefixes [kubernetes.io/, k8s.io/, eks.amazonaws.com/]';

/** Simulates that EKS rejects taints with kubernetes.io/ in their key. */
function refuses(world: FakeWorld, call: string): void {
  world.fails = (asked) =>
    asked === call && world.pools.get('web')?.status?.tracking?.gateTaint === undefined
      ? sampleError('refused', { operation: call, message: words })
      : undefined;
}

const taintsOf = (world: FakeWorld) => world.groups.get('web')?.taints.map(({ key }) => key);
const eventCount = (world: FakeWorld) => world.events.filter(({ reason }) => reason === 'GateTaintReplaced').length;

const SUBDOMAINS = { reservedTaints: 'subdomains' } as const;
const edit = (world: FakeWorld, change: SpecChange) => {
  const pool = world.pools.get('web') ?? assert.fail('the pool is gone');
  world.apply({ ...pool, spec: { ...pool.spec, ...change } as WindowsPoolSpec });
};

/** A pool that tries updates on a canary, whose group EKS created with its gate taint. Now EKS rejects the key. */
async function gatedWorld(gate: SpecChange = Gate) {
  const canary = { nodes: 1, soakDuration: '5m' };
  const world = new FakeWorld();
  world.apply(fresh({ ...gate, nodeGroup: { update: { policy: 'Automatic', force: false, canary } } }));
  const deps = world.start();
  await until(world, deps, () => stateOf(world)?.status === 'ACTIVE', 'the group');
  await hours(world, deps, 1);
  Object.assign(world.cloud.state.switches, SUBDOMAINS);
  return { world, deps };
}

describe('the gate taint if EKS rejects its key', () => {
  it('has the plain key, which the status records and an event reports once', async () => {
    const world = new FakeWorld();
    refuses(world, 'CreateNodegroup');
    world.apply(fresh(Gate));
    const deps = world.start();
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    assert.deepEqual(taintsOf(world), ['os', PLAIN_GATE_TAINT_KEY]);
    assert.equal(world.pools.get('web')?.status?.tracking?.gateTaint, PLAIN_GATE_TAINT_KEY);
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

  it('has the plain key in all calls if EKS rejects subdomains of the reserved prefixes', async () => {
    const world = new FakeWorld({ switches: SUBDOMAINS });
    world.apply(fresh(Gate));
    await until(world, world.start(), () => ready(world) === 'True', 'Ready');
    assert.deepEqual(taintsOf(world), ['os', PLAIN_GATE_TAINT_KEY]);
  });

  it('has the plain key on a canary, and then on the group, if EKS accepted the default key before', async () => {
    const { world, deps } = await gatedWorld();
    world.publish(NEXT);
    await until(world, deps, () => stateOf(world)?.releaseVersion === NEXT, 'the release', 300);
    await until(world, deps, () => stateOf(world)?.canary === undefined, 'the end of the canary', 300);
    assert.deepEqual(taintsOf(world), ['os', PLAIN_GATE_TAINT_KEY]);
    assert.deepEqual([eventCount(world), openFailure(stateOf(world))], [1, undefined]);
  }).timeout(30_000);
});

describe('the taint of a NodeReadinessRule if EKS rejects its key', () => {
  const readiness = { verification: { policy: 'Gate', readinessTaint: 'readiness.k8s.io/windows' } } as const;
  const remedy = ['readiness.k8s.io/windows', 'verification.readinessTaint'];

  it('is reported when the group is to be created, and the group is created without it', async () => {
    const world = new FakeWorld({ switches: SUBDOMAINS });
    world.apply(fresh(readiness));
    const deps = world.start();
    await wake(world, deps);
    assertBrief(conditionOf(world, 'NodeGroupReady'), 'False CreateRejected', ...remedy);
    edit(world, Gate);
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    assert.deepEqual(taintsOf(world), ['os', PLAIN_GATE_TAINT_KEY]);
  });

  it('is reported when an existing group is to get it', async () => {
    const { world, deps } = await readyWorld({}, { switches: SUBDOMAINS });
    edit(world, readiness);
    await wake(world, deps);
    assertBrief(conditionOf(world, 'NodeGroupReady'), 'False UpdateRejected', ...remedy);
    assert.equal(ready(world), 'True');
  });

  it('is reported when a canary is to get it', async () => {
    const { world, deps } = await gatedWorld(readiness);
    world.publish(NEXT);
    await hours(world, deps, 2);
    assertBrief(conditionOf(world, 'UpToDate'), 'False CanaryFailed', ...remedy);
    assert.equal(stateOf(world)?.releaseVersion, RELEASE);
  });
});
