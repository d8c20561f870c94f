import assert from 'node:assert/strict';
import { IGNORE_PREREQUISITES_ANNOTATION } from './api/labels.ts';
import { FakeWorld } from './testing/fakeWorld.ts';
import { SUBNETS, sampleError, settings } from './testing/fixtures.ts';
import { assertBrief } from './testing/goldenTexts.ts';
import { conditionOf, fresh, ready, until, wake } from './testing/life.ts';

/** A world with a pool that is Ready and has the condition. */
async function readyWorldWith(change: (world: FakeWorld) => void, annotations: Record<string, string> = {}) {
  const world = new FakeWorld();
  change(world);
  const pool = fresh({ nodeGroup: { scaling: { minSize: 1, maxSize: 9 } } });
  world.apply({ ...pool, metadata: { ...pool.metadata, annotations } });
  const deps = world.start();
  await until(world, deps, () => ready(world) === 'True', 'Ready');
  world.events.splice(0);
  return { world, deps };
}

/** Sets the number of free addresses in each subnet of the pool. */
function free(world: FakeWorld, freeAddresses: number): void {
  for (const id of SUBNETS) world.cloud.faults.subnet({ id, freeAddresses });
}

describe('a remark of PrerequisitesMet about met prerequisites', () => {
  const cases = [
    ['a warning', 'True MetWithWarnings', ({ cloud }) => cloud.faults.clusterRolePolicy({ attached: false }), {}],
    [
      'an ignored prerequisite',
      'True PrerequisitesIgnored',
      (world) => free(world, 1),
      { [IGNORE_PREREQUISITES_ANNOTATION]: 'TooFewAddresses' },
    ],
  ] satisfies (readonly [string, string, (world: FakeWorld) => void, Record<string, string>])[];
  for (const [what, expected, change, annotations] of cases) {
    for (const call of ['DescribeNodegroup', 'DescribeCluster'] as const) {
      for (const kind of ['throttled', 'denied'] as const) {
        it(`remains after one ${call} that is ${kind}, if it is ${what}`, async () => {
          const { world, deps } = await readyWorldWith(change, annotations);
          const state = () => conditionOf(world, 'PrerequisitesMet')?.split(':')[0];
          assert.equal(state(), expected);
          world.fails = (each) => (each === call ? sampleError(kind) : undefined);
          world.now = deps.readCache.dueAt('web');
          await wake(world, deps);
          assert.notEqual(state(), 'True Met');
          world.fails = () => undefined;
          for (let poll = 0; poll < 3; poll++) {
            world.now = deps.readCache.dueAt('web');
            await wake(world, deps);
            assert.notEqual(state(), 'True Met');
          }
          assert.equal(state(), expected);
        });
      }
    }
  }

  it('is True when an ignored prerequisite cannot be checked', async () => {
    const world = new FakeWorld();
    const denied = { ...sampleError('denied'), operation: 'iam:ListAttachedRolePolicies' };
    world.fails = (call) => (call === 'ListAttachedRolePolicies' ? denied : undefined);
    const pool = fresh();
    const annotations = { [IGNORE_PREREQUISITES_ANNOTATION]: 'ClusterRolePolicyMissing' };
    world.apply({ ...pool, metadata: { ...pool.metadata, annotations } });
    const deps = world.start();
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    assertBrief(
      conditionOf(world, 'PrerequisitesMet'),
      'True PrerequisitesIgnored',
      'ClusterRolePolicyMissing',
      'iam:ListAttachedRolePolicies',
    );
  });

  it('does not change with the number of free addresses, and another remark is one event', async () => {
    const { world, deps } = await readyWorldWith((made) => free(made, 10));
    assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^True MetWithWarnings: .*TooFewAddresses/);
    for (const freeAddresses of [9, 8, 7]) {
      free(world, freeAddresses);
      world.now = deps.readCache.dueAt('web') + settings.resyncMs;
      const before = conditionOf(world, 'PrerequisitesMet');
      await wake(world, deps);
      assert.equal(conditionOf(world, 'PrerequisitesMet'), before);
    }
    assert.deepEqual(world.events, []);
    world.cloud.faults.clusterRolePolicy({ attached: false });
    world.now = deps.readCache.dueAt('web') + settings.resyncMs;
    await wake(world, deps);
    assert.deepEqual(
      world.events.map(({ type, reason }) => `${type} ${reason}`),
      ['Warning MetWithWarnings'],
    );
  });
});
