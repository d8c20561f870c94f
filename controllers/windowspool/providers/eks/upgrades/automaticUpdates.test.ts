import assert from 'node:assert/strict';
import type { MaintenanceWindow, WindowsPoolSpec } from '../../../api.gen.ts';
import { NEXT, sampleError, samplePool, settings } from '../../../testing/fixtures.ts';
import { conditionOf, fresh, hours, readyWorld, retry, stateOf, until, wake } from '../../../testing/life.ts';

const AFTER_NEXT = '1.36-2026.04.18';
const ERRORS = [{ errorCode: 'NodeCreationFailure' as const, errorMessage: 'No node joined' }];
const NIGHTLY: MaintenanceWindow = { schedule: '0 2 * * *', duration: '1h', timeZone: 'Etc/UTC' };

/** A pool that follows the newest release in these windows. */
function automatic(maintenanceWindows?: MaintenanceWindow[], rest: Partial<WindowsPoolSpec> = {}) {
  const update = { policy: 'Automatic' as const, force: false, ...(maintenanceWindows && { maintenanceWindows }) };
  return fresh({ nodeGroup: { ...samplePool().spec.nodeGroup, update }, ...rest });
}

describe('an automatic update', () => {
  it('begins when its maintenance window does, and asks AWS no more often while it waits', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT);
    world.apply(automatic([NIGHTLY]));
    await hours(world, deps, 4);
    assert.match(conditionOf(world, 'UpToDate') ?? '', /^False WaitingForWindow: .* at 2026-03-02T02:00Z, /);
    const looks = world.awsCalls().filter((call) => call === 'DescribeNodegroup').length;
    assert.ok(looks < 40, `${looks} looks in 4 hours`);
    const begin = Date.parse('2026-03-02T02:00:00Z');
    const [sent = ''] = await hours(world, deps, 12);
    assert.ok(Date.parse(sent) >= begin && Date.parse(sent) < begin + 1_000, sent);
    assert.equal(stateOf(world)?.releaseVersion, NEXT);
  });

  it('that runs when its window ends goes on', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT);
    world.cloud.faults.speed({ speed: 1 / 1_000 });
    world.now = Date.parse('2026-03-02T02:30:00Z');
    world.apply(automatic([NIGHTLY]));
    assert.equal((await hours(world, deps, 5)).length, 1);
    assert.deepEqual([stateOf(world)?.releaseVersion, stateOf(world)?.update?.status], [NEXT, 'Successful']);
    assert.ok(world.now > Date.parse('2026-03-02T05:00:00Z'));
  });

  it('that failed leaves the pool Ready, and the next release is tried by itself', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT);
    world.cloud.faults.updateFailure({ errors: ERRORS });
    world.apply(automatic());
    assert.equal((await hours(world, deps, 3)).length, 1);
    const reported = ['Ready', 'Stalled', 'Reconciling'].map((type) => conditionOf(world, type)?.split(':')[0]);
    assert.deepEqual(reported, ['True Verified', undefined, undefined]);
    assert.match(
      conditionOf(world, 'UpToDate') ?? '',
      /^False UpdateFailed: .*1\.36-2026\.03\.17 is the newest\. Update .* failed: NodeCreationFailure: No node joined\. .*winpool\.dev\/retry changes; the next release is\.$/,
    );
    const warnings = world.events.filter(({ type }) => type === 'Warning').map(({ reason }) => reason);
    assert.deepEqual(warnings, ['UpdateFailed']);
    world.publish(AFTER_NEXT);
    assert.equal((await hours(world, deps, 3)).length, 1);
    assert.deepEqual([stateOf(world)?.releaseVersion, stateOf(world)?.failedTarget], [AFTER_NEXT, undefined]);
  });

  it('that failed is not tried again in the next window, also after a restart', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT);
    world.cloud.faults.updateFailure({ errors: ERRORS });
    world.apply(automatic([NIGHTLY]));
    assert.equal((await hours(world, deps, 24)).length, 1);
    assert.deepEqual(await hours(world, world.start(), 48), []);
    assert.match(conditionOf(world, 'UpToDate') ?? '', /^False UpdateFailed: /);
  });

  it('that failed is tried again at once when the user asks for that, also when AWS is away at first', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT);
    world.cloud.faults.updateFailure({ errors: ERRORS });
    world.apply(automatic([NIGHTLY]));
    await hours(world, deps, 24);
    let away = 3;
    world.fails = (call) => (call.startsWith('Update') && away-- > 0 ? sampleError('throttled') : undefined);
    retry(world, '1');
    await until(world, deps, () => stateOf(world)?.releaseVersion === NEXT, 'the release');
    assert.ok(new Date(world.now).getUTCHours() >= 12, 'the window is closed');
    assert.equal(stateOf(world)?.failedTarget, undefined);
  });

  it('to a release that EKS does not offer yet is sent again at each resync until EKS takes it', async () => {
    const { world, deps } = await readyWorld();
    const offer = world.publish(NEXT, { isOffered: false });
    world.apply(automatic());
    const sent = await hours(world, deps, 6);
    const resyncs = (6 * 3_600_000) / settings.resyncMs;
    assert.ok(sent.length > resyncs / 2 && sent.length <= resyncs * 1.4, `${sent.length} tries in ${resyncs} resyncs`);
    assert.match(
      conditionOf(world, 'UpToDate') ?? '',
      /^False ReleaseNotOffered: .* is not valid for kubernetes version 1\.36\. It is tried again at each --resync-interval, and at once when .* changes\.$/,
    );
    assert.deepEqual(
      [conditionOf(world, 'Stalled'), conditionOf(world, 'Ready')?.split(':')[0]],
      [undefined, 'True Verified'],
    );
    offer();
    await until(world, deps, () => stateOf(world)?.releaseVersion === NEXT, 'the release');
    assert.equal(stateOf(world)?.failedTarget, undefined);
  });

  it('to a release that EKS does not offer yet leaves NodeGroupReady and Reconciling as they are', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT, { isOffered: false });
    world.apply(automatic());
    await until(world, deps, () => conditionOf(world, 'UpToDate')?.includes('ReleaseNotOffered') ?? false, 'a try');
    for (let look = 0; look < 6; look++) {
      assert.deepEqual(
        [conditionOf(world, 'NodeGroupReady')?.split(':')[0], conditionOf(world, 'Reconciling')],
        ['True Active', undefined],
      );
      world.now = deps.awsCache.dueAt('web');
      await wake(world, deps);
    }
    assert.deepEqual(
      world.events.filter(({ reason }) => reason === 'UpdateRefused'),
      [],
    );
  });

  it('that waits does not have a refused change of something else sent again and again', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT);
    world.fails = (call) => (call === 'UpdateNodegroupConfig' ? sampleError('refused') : undefined);
    world.apply(automatic([NIGHTLY], { disruption: { maxUnavailable: 2 }, labels: { team: 'a' } }));
    assert.equal((await hours(world, deps, 6)).length, 1);
    assert.match(conditionOf(world, 'Stalled') ?? '', /^True UpdateRefused: /);
  });

  it('with a window that never opens is told of, and costs no call', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT);
    world.apply(automatic([{ ...NIGHTLY, timeZone: 'Mars/Base' }]));
    assert.deepEqual(await hours(world, deps, 4), []);
    assert.match(
      conditionOf(world, 'UpToDate') ?? '',
      /^False InvalidMaintenanceWindow: spec\.nodeGroup\.update\.maintenanceWindows\[0\]\.timeZone is Mars\/Base\. Give a time zone/,
    );
    assert.match(conditionOf(world, 'Ready') ?? '', /^True Verified/);
    const looks = world.awsCalls().filter((call) => call === 'DescribeNodegroup').length;
    assert.ok(looks < 40, `${looks} looks in 4 hours`);
  });
});
