import assert from 'node:assert/strict';
import type { MaintenanceWindow } from '../../../api/api.gen.ts';
import { RETRY_ANNOTATION } from '../../../api/labels.ts';
import { evaluateConditions } from '../../../conditions/evaluateConditions.ts';
import { statusFor } from '../../../reporting/poolStatus.ts';
import {
  knownStatus,
  NEXT,
  NOW,
  outcomeOf,
  type SpecChange,
  sampleError,
  sampleGroup,
  samplePool,
  sampleState,
  settings,
} from '../../../testing/fixtures.ts';
import { assertBrief } from '../../../testing/goldenTexts.ts';
import {
  conditionOf,
  fresh,
  hours,
  openFailure,
  readyWorld,
  retry,
  stateOf,
  until,
  wake,
} from '../../../testing/life.ts';

const AFTER_NEXT = '1.36-2026.04.18';
const ERRORS = [{ errorCode: 'NodeCreationFailure' as const, errorMessage: 'No node joined' }];
const NIGHTLY: MaintenanceWindow = { schedule: '0 2 * * *', duration: '1h', timeZone: 'Etc/UTC' };

/** A pool with automatic updates in these windows. */
function automatic(maintenanceWindows?: MaintenanceWindow[], rest: SpecChange = {}) {
  const update = { policy: 'Automatic' as const, force: false, ...(maintenanceWindows && { maintenanceWindows }) };
  return fresh({ nodeGroup: { ...samplePool().spec.nodeGroup, update }, ...rest });
}

describe('an automatic update', () => {
  it('starts with its maintenance window, and does not read AWS more often while it waits', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT);
    world.apply(automatic([NIGHTLY]));
    await hours(world, deps, 4);
    assert.match(conditionOf(world, 'UpToDate') ?? '', /^False WaitingForWindow: .* at 2026-03-02T02:00Z, /);
    const reads = world.awsCalls().filter((call) => call === 'DescribeNodegroup').length;
    assert.ok(reads < 40, `${reads} reads in 4 hours`);
    const begin = Date.parse('2026-03-02T02:00:00Z');
    const [sent = ''] = await hours(world, deps, 12);
    assert.ok(Date.parse(sent) >= begin && Date.parse(sent) < begin + 1_000, sent);
    assert.equal(stateOf(world)?.releaseVersion, NEXT);
  });

  it('continues after the end of its window', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT);
    world.cloud.faults.speed({ speed: 1 / 1_000 });
    world.now = Date.parse('2026-03-02T02:30:00Z');
    world.apply(automatic([NIGHTLY]));
    assert.equal((await hours(world, deps, 5)).length, 1);
    assert.deepEqual([stateOf(world)?.releaseVersion, stateOf(world)?.update?.status], [NEXT, 'Successful']);
    assert.ok(world.now > Date.parse('2026-03-02T05:00:00Z'));
  });

  const failures = Array.from({ length: 5 }, (_, index) => {
    const retry = index === 1 ? { retry: '1' } : {};
    return { content: `${index}`, reason: 'UpdateFailed', message: 'no', time: '2026-02-01T00:00:00Z', ...retry };
  });
  const memories: readonly (readonly [title: string, annotations: Record<string, string>, kept: readonly string[]])[] =
    [
      ['that failed is remembered, in place of the oldest of the others', {}, ['last', '0', '1', '2', '3']],
      ['that failed is forgotten when the user requests a retry', { [RETRY_ANNOTATION]: '1' }, ['last', '1']],
    ];
  for (const [title, annotations, kept] of memories)
    it(title, () => {
      const update = { id: 'u-1', type: 'VersionUpdate', target: 't', content: 'last', status: 'InProgress' };
      const status = knownStatus({ update, failedChanges: failures });
      const pool = samplePool({}, { metadata: { annotations }, status });
      const ended = { id: 'u-1', type: 'VersionUpdate', status: 'Failed', createdAt: NOW, errors: [] } as const;
      const s = sampleState({ pool, group: { kind: 'seen', group: sampleGroup() }, update: ended });
      const { nodeGroup } = statusFor(outcomeOf(s), evaluateConditions(outcomeOf(s)), []);
      assert.deepEqual(
        nodeGroup?.failedChanges?.map(({ content }) => content),
        kept,
      );
    });

  it('that failed leaves the pool Ready, and the next release is installed automatically', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT);
    world.cloud.faults.updateFailure({ errors: ERRORS });
    world.apply(automatic());
    assert.equal((await hours(world, deps, 3)).length, 1);
    const states = ['Ready', 'Stalled', 'Reconciling'].map((type) => conditionOf(world, type)?.split(':')[0]);
    assert.deepEqual(states, ['True EnoughNodesVerified', undefined, undefined]);
    assertBrief(
      conditionOf(world, 'UpToDate'),
      'False UpdateFailed',
      '1.36-2026.03.17',
      'NodeCreationFailure',
      'No node joined',
      'kubectl annotate wp web winpool.dev/retry=',
    );
    const warnings = world.events.filter(({ type }) => type === 'Warning').map(({ reason }) => reason);
    assert.deepEqual(warnings, ['UpdateFailed']);
    world.publish(AFTER_NEXT);
    assert.equal((await hours(world, deps, 3)).length, 1);
    assert.deepEqual([stateOf(world)?.releaseVersion, openFailure(stateOf(world))], [AFTER_NEXT, undefined]);
  });

  it('that failed is not retried in the next window, also after a restart', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT);
    world.cloud.faults.updateFailure({ errors: ERRORS });
    world.apply(automatic([NIGHTLY]));
    assert.equal((await hours(world, deps, 24)).length, 1);
    assert.deepEqual(await hours(world, world.start(), 48), []);
    assert.match(conditionOf(world, 'UpToDate') ?? '', /^False UpdateFailed: /);
  });

  it('that failed is retried at once when the user requests it, also after transient errors', async () => {
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
    assert.equal(openFailure(stateOf(world)), undefined);
  });

  it('to a release that EKS does not offer yet is retried at each resync', async () => {
    const { world, deps } = await readyWorld();
    const offer = world.publish(NEXT, { isOffered: false });
    world.apply(automatic());
    const sent = await hours(world, deps, 6);
    const resyncs = (6 * 3_600_000) / settings.resyncMs;
    assert.ok(sent.length > resyncs / 2 && sent.length <= resyncs * 1.4, `${sent.length} tries in ${resyncs} resyncs`);
    assertBrief(
      conditionOf(world, 'UpToDate'),
      'False ReleaseNotOffered',
      '1.36',
      '--resync-interval',
      'kubectl annotate wp web',
    );
    assert.deepEqual(
      [conditionOf(world, 'Stalled'), conditionOf(world, 'Ready')?.split(':')[0]],
      [undefined, 'True EnoughNodesVerified'],
    );
    offer();
    await until(world, deps, () => stateOf(world)?.releaseVersion === NEXT, 'the release');
    assert.equal(openFailure(stateOf(world)), undefined);
  });

  it('to a release that EKS does not offer yet does not change NodeGroupReady and Reconciling', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT, { isOffered: false });
    world.apply(automatic());
    await until(world, deps, () => conditionOf(world, 'UpToDate')?.includes('ReleaseNotOffered') ?? false, 'a try');
    for (let read = 0; read < 6; read++) {
      assert.deepEqual(
        [conditionOf(world, 'NodeGroupReady')?.split(':')[0], conditionOf(world, 'Reconciling')],
        ['True Active', undefined],
      );
      world.now = deps.readCache.dueAt('web');
      await wake(world, deps);
    }
    assert.deepEqual(
      world.events.filter(({ reason }) => reason === 'UpdateRejected'),
      [],
    );
  });

  it('that waits does not cause a rejected change of another field to be repeated', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT);
    world.fails = (call) => (call === 'UpdateNodegroupConfig' ? sampleError('refused') : undefined);
    world.apply(automatic([NIGHTLY], { disruption: { maxUnavailable: 2 }, labels: { team: 'a' } }));
    assert.equal((await hours(world, deps, 6)).length, 1);
    assert.match(conditionOf(world, 'Stalled') ?? '', /^True UpdateRejected: /);
  });

  it('with a window that never opens is reported, and causes no calls', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT);
    world.apply(automatic([{ ...NIGHTLY, timeZone: 'Mars/Base' }]));
    assert.deepEqual(await hours(world, deps, 4), []);
    assertBrief(
      conditionOf(world, 'UpToDate'),
      'False InvalidMaintenanceWindow',
      'spec.nodeGroup.update.maintenanceWindows[0].timeZone',
      'Mars/Base',
    );
    assert.match(conditionOf(world, 'Ready') ?? '', /^True EnoughNodesVerified/);
    const reads = world.awsCalls().filter((call) => call === 'DescribeNodegroup').length;
    assert.ok(reads < 40, `${reads} reads in 4 hours`);
  });
});
