import type { ConsoleEdit } from '../fakes/localaws/faults.ts';
import { namesAll } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

describe('an external edit of a node group', () => {
  const fixture = withOperator('--resync-interval=1s');
  const POOL = 'edited';
  const spec = {
    labels: { tier: 'web' },
    taints: [{ key: 'gpu', value: 'no', effect: 'NoSchedule' }],
    nodeGroup: { tags: { cost: '42' } },
  };

  const group = () => fixture.world.cloud.state.groups.get(POOL)?.nodegroup;
  const becomes = (state: string) => fixture.world.waitForConditions(POOL, `UpToDate=${state}`);

  before(async () => {
    await fixture.world.apply(poolManifest(POOL, spec));
    await fixture.world.waitForReady(POOL);
    await becomes('True/MatchesSpec');
  });

  const edits: readonly (readonly [string, () => Omit<ConsoleEdit, 'group'>, string])[] = [
    ['a label', () => ({ labels: { ...group()?.labels, tier: 'db', other: 'x' } }), 'label tier is db (expected web)'],
    [
      'a taint',
      () => ({ taints: group()?.taints?.filter(({ key }) => key !== 'gpu') ?? [] }),
      'taint gpu:NoSchedule is missing (expected no)',
    ],
    ['the bounds', () => ({ scalingConfig: { minSize: 0, maxSize: 9 } }), 'scaling is 0 to 9 (expected 1 to 3)'],
    ['a tag', () => ({ tags: { ...group()?.tags, cost: '7', backup: 'daily' } }), 'tag cost is 7 (expected 42)'],
  ];

  for (const [what, edit, words] of edits) {
    it(`of ${what} is corrected and reported`, async () => {
      fixture.world.cloud.faults.edit({ group: POOL, ...edit() });
      const isReported = (note: string) => namesAll(note, `Node group ${POOL}`, words);
      await fixture.until(`an event with ${words}`, async () =>
        (await fixture.world.notesOf('Drifted')).some(isReported),
      );
      await becomes('True/MatchesSpec');
    });
  }
});
