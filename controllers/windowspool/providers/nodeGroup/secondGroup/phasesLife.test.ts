/** Replacements whose spec changes at random moments, or whose status is lost. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { faultInRecord } from '../../../../../test/fakes/simulation/secondGroupInvariants.ts';
import type { Deps } from '../../../reconcile.ts';
import type { FakeWorld } from '../../../testing/fakeWorld.ts';
import { fresh, isReplaced, readyWorld, stateOf, until, wake } from '../../../testing/life.ts';
import { NEW, OLD, THIRD } from '../../../testing/replacementScenes.ts';
import { PHASES, type Phase } from './phases.ts';

/** What happens after some runs of the operator: the spec has this instance type, or the status is lost. */
const randomChanges = fc.array(fc.tuple(fc.nat({ max: 9 }), fc.constantFrom(OLD, NEW, NEW, THIRD, 'lost')), {
  minLength: 2,
  maxLength: 6,
});

function apply(world: FakeWorld, change: string): void {
  const { status, ...pool } = world.pools.get('web') ?? assert.fail();
  if (change === 'lost') {
    world.pools.set('web', pool);
    return;
  }
  const nodeGroup = { ...pool.spec.nodeGroup, instanceTypes: [change] } as never;
  world.apply({ ...pool, ...(status && { status }), spec: { ...pool.spec, nodeGroup } });
}

/** The same dependencies; `saw` gets the pool before and after each write of its status. */
function watched(deps: Deps, world: FakeWorld, saw: (...pools: Parameters<typeof faultInRecord>) => void): Deps {
  const writeStatus: Deps['pools']['writeStatus'] = async (...args) => {
    const before = world.pools.get('web');
    const result = await deps.pools.writeStatus(...args);
    saw(before, world.pools.get('web'));
    return result;
  };
  return { ...deps, pools: Object.assign(Object.create(deps.pools), { writeStatus }) };
}

it('a replacement goes from phase to phase as the table says, and ends, whenever the spec changes or the status is lost', async () => {
  const seen = new Set<Phase>();
  await fc.assert(
    fc.asyncProperty(randomChanges, async (changes) => {
      const spec = { ...fresh().spec.nodeGroup, immutableChangePolicy: 'Replace', instanceTypes: [OLD] };
      const { world, deps } = await readyWorld({
        nodeGroup: { ...spec, scaling: { minSize: 2, maxSize: 4 } } as never,
      });
      world.pods = [];
      const checked = watched(deps, world, (before, after) => {
        assert.equal(faultInRecord(before, after), undefined);
        const { phase } = after?.status?.nodeGroup?.replacement ?? {};
        if (phase) seen.add(phase);
      });
      for (const [runs, change] of changes) {
        apply(world, change);
        for (let run = 0; run < runs; run++) {
          const next = await wake(world, checked);
          world.now += next.kind === 'requeueAfter' ? next.ms : 2_000;
        }
      }
      await until(world, checked, isReplaced(world), 'the end of the replacement', 400);
      assert.deepEqual([...world.groups.keys()], [stateOf(world)?.name]);
    }),
    { seed: 1, numRuns: 20 },
  );
  // Here, new nodes join and are verified between two runs.
  assert.deepEqual([...seen, 'Verifying'].sort(), Object.keys(PHASES).sort());
});
