import assert from 'node:assert/strict';
import { IGNORE_PREREQUISITES_ANNOTATION } from './labels.ts';
import { FakeWorld } from './testing/fakeWorld.ts';
import { SUBNETS, sampleError, settings } from './testing/fixtures.ts';
import { conditionOf, fresh, ready, until, wake } from './testing/life.ts';

/** A world with a pool that is Ready and has the condition. */
async function remarkedWorld(change: (world: FakeWorld) => void, annotations: Record<string, string> = {}) {
  const world = new FakeWorld();
  change(world);
  const pool = fresh({ scaling: { min: 1, max: 9 } });
  world.apply({ ...pool, metadata: { ...pool.metadata, annotations } });
  const deps = world.start();
  await until(world, deps, () => ready(world) === 'True', 'Ready');
  world.events.splice(0);
  return { world, deps };
}

/** So many addresses are free in each subnet of the pool. */
function free(world: FakeWorld, freeAddresses: number): void {
  for (const id of SUBNETS) world.cloud.faults.subnet({ id, freeAddresses });
}

describe('what PrerequisitesMet reports beside prerequisites that are met', () => {
  const remarks = [
    ['a warning', 'True MetWithWarnings', ({ cloud }) => cloud.faults.clusterRolePolicy({ attached: false }), {}],
    [
      'an ignored prerequisite',
      'True PrerequisitesIgnored',
      (world) => free(world, 1),
      { [IGNORE_PREREQUISITES_ANNOTATION]: 'TooFewAddresses' },
    ],
  ] satisfies (readonly [string, string, (world: FakeWorld) => void, Record<string, string>])[];
  for (const [what, expected, change, annotations] of remarks) {
    for (const call of ['DescribeNodegroup', 'DescribeCluster'] as const) {
      for (const kind of ['throttled', 'denied'] as const) {
        it(`outlasts one ${call} that is ${kind}, if it is ${what}`, async () => {
          const { world, deps } = await remarkedWorld(change, annotations);
          const reported = () => conditionOf(world, 'PrerequisitesMet')?.split(':')[0];
          assert.equal(reported(), expected);
          world.fails = (each) => (each === call ? sampleError(kind) : undefined);
          world.now = deps.awsCache.dueAt('web');
          await wake(world, deps);
          assert.notEqual(reported(), 'True Met');
          world.fails = () => undefined;
          for (let look = 0; look < 3; look++) {
            world.now = deps.awsCache.dueAt('web');
            await wake(world, deps);
            assert.notEqual(reported(), 'True Met');
          }
          assert.equal(reported(), expected);
        });
      }
    }
  }

  it('is no trouble where an ignored prerequisite cannot be checked', async () => {
    const world = new FakeWorld();
    const denied = { ...sampleError('denied'), operation: 'iam:ListAttachedRolePolicies' };
    world.fails = (call) => (call === 'ListAttachedRolePolicies' ? denied : undefined);
    const pool = fresh();
    const annotations = { [IGNORE_PREREQUISITES_ANNOTATION]: 'ClusterRolePolicyMissing' };
    world.apply({ ...pool, metadata: { ...pool.metadata, annotations } });
    const deps = world.start();
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    assert.match(
      conditionOf(world, 'PrerequisitesMet') ?? '',
      /^True PrerequisitesIgnored: .* ClusterRolePolicyMissing: Could not be checked: it needs iam:ListAttachedRolePolicies\. See/,
    );
  });

  it('stays as it is however the number of free addresses changes, and is one event when another comes', async () => {
    const { world, deps } = await remarkedWorld((made) => free(made, 10));
    assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^True MetWithWarnings: .*TooFewAddresses/);
    for (const freeAddresses of [9, 8, 7]) {
      free(world, freeAddresses);
      world.now = deps.awsCache.dueAt('web') + settings.resyncMs;
      const before = conditionOf(world, 'PrerequisitesMet');
      await wake(world, deps);
      assert.equal(conditionOf(world, 'PrerequisitesMet'), before);
    }
    assert.deepEqual(world.events, []);
    world.cloud.faults.clusterRolePolicy({ attached: false });
    world.now = deps.awsCache.dueAt('web') + settings.resyncMs;
    await wake(world, deps);
    assert.deepEqual(
      world.events.map(({ type, reason }) => `${type} ${reason}`),
      ['Warning MetWithWarnings'],
    );
  });
});
