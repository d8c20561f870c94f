import assert from 'node:assert/strict';
import { IGNORE_PREREQUISITES_ANNOTATION } from '../api/labels.ts';
import type { LinuxNodeView } from '../ports/prerequisites.ts';
import { FakeWorld } from '../testing/fakeWorld.ts';
import { existingPool, sampleError } from '../testing/fixtures.ts';
import { assertBrief } from '../testing/goldenTexts.ts';
import { conditionOf, wake } from '../testing/life.ts';
import { machinesPool } from '../testing/machineScenes.ts';

const NONE: LinuxNodeView = { acceptsPods: false };
const meta = (annotations: Record<string, string> = {}) => ({ finalizers: [], generation: 0, annotations });
const pools = {
  'existing nodes': (annotations?: Record<string, string>) => existingPool({}, { metadata: meta(annotations) }),
  machines: (annotations?: Record<string, string>) => machinesPool({}, { metadata: meta(annotations) }),
};

/** A world with this pool, after its first run. */
async function worldWith(pool: ReturnType<typeof machinesPool>, linuxNode: LinuxNodeView) {
  const world = new FakeWorld();
  world.kubeSystem.linuxNode = linuxNode;
  world.apply(pool);
  const deps = world.start();
  await wake(world, deps);
  return { world, deps };
}

for (const [what, poolOf] of Object.entries(pools))
  describe(`the checks of the cluster for a pool of ${what}`, () => {
    it('find that no Linux node accepts pods, and say how to get one', async () => {
      const { world } = await worldWith(poolOf(), NONE);
      assertBrief(
        conditionOf(world, 'PrerequisitesMet') ?? '',
        'False NoLinuxNode',
        'No Linux node accepts pods',
        'Add a Linux node.',
        'checks.md#a-linux-node',
      );
      const [check] = world.pools.get('web')?.status?.checks ?? [];
      assert.deepEqual([check?.reason, check?.status], ['NoLinuxNode', 'NotMet']);
      const cordoned = await worldWith(poolOf(), { acceptsPods: false, cordoned: 'linux-1' });
      assert.match(
        conditionOf(cordoned.world, 'PrerequisitesMet') ?? '',
        /Add a Linux node, or uncordon node linux-1: kubectl uncordon linux-1$/,
      );
    });

    it('can be ignored', async () => {
      const { world } = await worldWith(poolOf({ [IGNORE_PREREQUISITES_ANNOTATION]: 'NoLinuxNode' }), NONE);
      assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^True Met/);
      const [check] = world.pools.get('web')?.status?.checks ?? [];
      assert.equal(check?.status, 'Ignored');
    });

    it('report nothing while they are met, or cannot be read', async () => {
      const { world, deps } = await worldWith(poolOf(), { acceptsPods: true });
      assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^True Met/);
      world.fails = (call) => (call === 'list Linux nodes' ? sampleError('unavailable') : undefined);
      world.now += 3_600_000;
      await wake(world, deps);
      assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^True Met/);
      assert.equal(world.pools.get('web')?.status?.checks, undefined);
    });

    it('are read once for all pools, and not at each run', async () => {
      const { world, deps } = await worldWith(poolOf(), { acceptsPods: true });
      await wake(world, deps);
      await wake(world, deps);
      assert.equal(world.calls.filter((call) => call === 'list Linux nodes').length, 1);
    });
  });
