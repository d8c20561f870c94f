import assert from 'node:assert/strict';
import type { ConsoleEdit } from '../../../../test/fakes/localaws/faults.ts';
import type { NodeGroup } from '../../ports/eks.ts';
import { Crash, type FakeWorld } from '../../testing/fakeWorld.ts';
import { MINUTE, type SpecChange, sampleError, settings } from '../../testing/fixtures.ts';
import { assertBriefs, assertMentions } from '../../testing/goldenTexts.ts';
import { fresh, pendingIn, readyWorld, until, updatesIn, wake } from '../../testing/life.ts';
import { gaugesOf } from '../../testing/shownMetrics.ts';

const spec: SpecChange = { labels: { tier: 'web' } };
const EDIT = { labels: { tier: 'db', 'winpool.dev/pool': 'web', 'winpool.dev/windows-build': '10.0.20348', x: 'y' } };

const TIER = 'label tier is db (expected web)';

const groupOf = (world: FakeWorld) => world.groups.get('web') ?? assert.fail('there is no group');
const edit = (world: FakeWorld, change: Omit<ConsoleEdit, 'group'>) =>
  world.cloud.faults.edit({ group: 'web', ...change });
const warnings = (world: FakeWorld) =>
  world.events.filter(({ type }) => type === 'Warning').map(({ message }) => message);
const upToDate = (world: FakeWorld) =>
  world.pools.get('web')?.status?.conditions?.find(({ type }) => type === 'UpToDate')?.reason;

describe('an external edit of the group', () => {
  it('is detected within the resync interval, reported, counted and corrected', async () => {
    const { world, deps } = await readyWorld(spec);
    edit(world, EDIT);
    world.now += settings.resyncMs * 1.25;
    await until(world, deps, () => groupOf(world).labels.tier === 'web', 'the correction');
    await until(world, deps, () => upToDate(world) === 'MatchesSpec', 'UpToDate');
    assert.equal(groupOf(world).labels.x, 'y', 'the label of another client stays');
    assert.equal(warnings(world).length, 1);
    assertMentions(warnings(world)[0], 'web', TIER);
    assert.deepEqual(world.corrections, [
      { label: 1, taint: 0, scaling: 0, tag: 0, version: 0, release: 0, template: 0, update: 0, warmPool: 0 },
    ]);
    assert.equal(world.updates.size, 1);
  });

  for (const calls of [1, 3]) {
    it(`is reported and counted once, also when ${calls} corrections fail first`, async () => {
      const { world, deps } = await readyWorld(spec);
      edit(world, EDIT);
      let failures = 0;
      world.fails = (call) =>
        call === 'UpdateNodegroupConfig' && failures++ < calls ? sampleError('throttled') : undefined;
      world.now += settings.resyncMs * 1.25;
      await until(world, deps, () => groupOf(world).labels.tier === 'web', 'the correction');
      await until(world, deps, () => upToDate(world) === 'MatchesSpec', 'UpToDate');
      const drifts = world.events.filter(({ reason }) => reason === 'Drifted').map(({ message }) => message);
      assertBriefs(
        drifts.map((message) => `Drifted: ${message}`),
        [['Drifted', 'web', TIER]],
      );
      assert.deepEqual(
        world.corrections.map(({ label }) => label),
        [1],
      );
    });
  }

  it('that is repeated at once is corrected once in a resync interval, and reported, despite many events', async () => {
    const { world, deps } = await readyWorld({ labels: { tier: 'web' } });
    world.cloud.front.gate = ({ operation }, phase) => {
      const { status, labels } = groupOf(world);
      if (operation === 'DescribeNodegroup' && phase === 'before' && status === 'ACTIVE')
        edit(world, { labels: { ...labels, tier: 'edited' } });
    };
    const end = world.now + 60 * MINUTE;
    while (world.now < end) {
      await wake(world, deps);
      world.now += 5_000;
    }
    const sent = updatesIn(world.calls).length;
    assert.ok(sent >= 4 && sent <= 8, `${sent} updates in an hour`);
    const reverts = world.events.filter(({ message }) => message.includes('another client reverted it'));
    assertMentions(
      reverts[0]?.message,
      'web',
      'label tier is edited',
      '--resync-interval',
      'nodeGroup.driftPolicy: Report',
    );
  });

  it('is reported once with driftPolicy Report and not corrected, and another field is reported again', async () => {
    const { world, deps } = await readyWorld({ ...spec, nodeGroup: { ...spec.nodeGroup, driftPolicy: 'Report' } });
    edit(world, EDIT);
    const read = async () => {
      world.now = deps.readCache.dueAt('web');
      await wake(world, deps);
    };
    for (let i = 0; i < 3; i++) await read();
    assert.equal(warnings(world).length, 1);
    assertMentions(warnings(world)[0], 'web', TIER, 'nodeGroup.driftPolicy: Correct');
    assert.deepEqual(pendingIn(world), ['Drifted: update node group web: labels set tier']);
    assert.deepEqual(gaugesOf(world.metrics.get('web'), 'windowspool_drift_fields'), {
      'part="label"': 1,
      'part="taint"': 0,
      'part="scaling"': 0,
      'part="tag"': 0,
      'part="version"': 0,
      'part="release"': 0,
      'part="template"': 0,
      'part="update"': 0,
      'part="warmPool"': 0,
    });
    edit(world, { scalingConfig: { maxSize: 9 } });
    await read();
    assert.equal(warnings(world).length, 2);
    assert.equal(groupOf(world).labels.tier, 'db');
    world.apply(fresh(spec));
    await until(world, deps, () => upToDate(world) === 'MatchesSpec', 'UpToDate with driftPolicy Correct');
    assert.deepEqual([groupOf(world).labels.tier, groupOf(world).scaling.maxSize], ['web', 5]);
  });

  it('is not drift when an autoscaler changes the size within the bounds', async () => {
    const { world, deps } = await readyWorld({
      ...spec,
      nodeGroup: { ...spec.nodeGroup, scaling: { minSize: 3, maxSize: 5, desiredSize: 3 } },
    });
    edit(world, { scalingConfig: { desiredSize: 5 } });
    world.now = deps.readCache.dueAt('web');
    await wake(world, deps);
    assert.deepEqual([upToDate(world), warnings(world), world.updates.size], ['MatchesSpec', [], 0]);
  });

  it('of the bounds is corrected together with a size outside of them, and the autoscaler is not reverted after that', async () => {
    const { world, deps } = await readyWorld({
      ...spec,
      nodeGroup: { ...spec.nodeGroup, scaling: { minSize: 3, maxSize: 5, desiredSize: 3 } },
    });
    edit(world, { scalingConfig: { maxSize: 9, desiredSize: 8 } });
    await until(world, deps, () => groupOf(world).scaling.maxSize === 5, 'the correction');
    for (let i = 0; i < 4; i++) {
      world.now = deps.readCache.dueAt('web');
      await wake(world, deps);
    }
    assert.deepEqual(groupOf(world).scaling, { minSize: 3, maxSize: 5, desiredSize: 5 });
  });

  it('is overwritten by a change of the same field with driftPolicy Report', async () => {
    const report: SpecChange = { ...spec, nodeGroup: { driftPolicy: 'Report' } };
    const { world, deps } = await readyWorld(report);
    edit(world, EDIT);
    world.apply(fresh({ ...report, labels: { tier: 'app' } }));
    await until(world, deps, () => groupOf(world).labels.tier === 'app', 'the change of the spec');
    world.apply(fresh({ ...report, labels: {} }));
    await until(world, deps, () => groupOf(world).labels.tier === undefined, 'the label to go');
  });
});

describe('a change that is reverted after a crash', () => {
  const changes: readonly (readonly [string, SpecChange, SpecChange, (group: NodeGroup) => unknown])[] = [
    ['a label', { labels: { tier: 'web' } }, { labels: { tier: 'db' } }, ({ labels }) => labels.tier],
    ['a new label', { labels: {} }, { labels: { tier: 'db' } }, ({ labels }) => labels.tier],
    [
      'the desired size',
      { nodeGroup: { scaling: { minSize: 3, maxSize: 5, desiredSize: 3 } } },
      { nodeGroup: { scaling: { minSize: 3, maxSize: 5, desiredSize: 4 } } },
      ({ scaling }) => scaling.desiredSize,
    ],
    [
      'a tag',
      { nodeGroup: { ...fresh().spec.nodeGroup, tags: { cost: '1' } } },
      { nodeGroup: { ...fresh().spec.nodeGroup, tags: { cost: '2' } } },
      ({ tags }) => tags.cost,
    ],
  ];
  for (const [what, before, after, read] of changes) {
    for (const driftPolicy of ['Correct', 'Report'] as const) {
      it(`of ${what} is applied with driftPolicy ${driftPolicy}, wherever the operator crashed`, async () => {
        const withPolicy = (change: SpecChange) => ({ ...change, nodeGroup: { ...change.nodeGroup, driftPolicy } });
        for (let at = 0; at < 12; at++) {
          const { world, deps } = await readyWorld(withPolicy(before));
          const initial = read(groupOf(world));
          world.apply(fresh(withPolicy(after)));
          world.crash = { at: world.calls.length + at, when: 'after' };
          await until(
            world,
            deps,
            () => upToDate(world) === 'MatchesSpec' && read(groupOf(world)) !== initial,
            'the change',
          ).catch((error: unknown) => {
            if (!(error instanceof Crash)) throw error;
          });
          world.crash = undefined;
          world.apply(fresh(withPolicy(before)));
          const again = world.start();
          for (let run = 0; run < 8; run++) {
            await wake(world, again);
            world.now = Math.max(world.now, again.readCache.dueAt('web'));
          }
          assert.deepEqual([read(groupOf(world)), upToDate(world)], [initial, 'MatchesSpec'], `crash at call ${at}`);
        }
      });
    }
  }
});
