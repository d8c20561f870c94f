import assert from 'node:assert/strict';
import type { StateOptions } from '../../../../../test/fakes/localaws/state.ts';
import type { WindowsPoolSpec } from '../../../api/api.gen.ts';
import type { Scaling } from '../../../ports/eks.ts';
import { Crash, type FakeWorld } from '../../../testing/fakeWorld.ts';
import { NEXT, sampleError, samplePool } from '../../../testing/fixtures.ts';
import { assertBrief } from '../../../testing/goldenTexts.ts';
import {
  conditionOf,
  fresh,
  hours,
  openFailure,
  RETRIES,
  ready,
  readyWorld,
  retry,
  stateOf,
  until,
  updatesIn,
  wake,
} from '../../../testing/life.ts';

const MESSAGE = 'Reached max retries while trying to evict pod shop/cart-0 because of PodDisruptionBudget cart';

/** The next `count` updates fail: their first node is not drained. */
function failUpdates(world: FakeWorld, count = 1): void {
  const resourceIds = world.nodes.slice(0, 1).map(({ name }) => name);
  const errors = [{ errorCode: 'PodEvictionFailure' as const, errorMessage: MESSAGE, resourceIds }];
  for (let update = 0; update < count; update++) world.cloud.faults.updateFailure({ errors });
}

/** A Ready pool, and a newer release. */
async function upgradableWorld(options: Partial<StateOptions> = {}) {
  const made = await readyWorld({}, options);
  made.world.publish(NEXT);
  return made;
}

const pins = (nodeGroup: Partial<WindowsPoolSpec['nodeGroup']>, scaling: Partial<Scaling> = {}) =>
  fresh({ nodeGroup: { ...samplePool().spec.nodeGroup, ...nodeGroup, scaling } });

describe('an upgrade', () => {
  it('is sent once, reported while it runs, and recorded when it has finished', async () => {
    const { world, deps } = await upgradableWorld({ speed: 1 });
    world.apply(pins({ releaseVersion: NEXT }));
    await wake(world, deps);
    const { change, status, type } = stateOf(world)?.update ?? {};
    assert.deepEqual([change, status, type], [`release ${NEXT}`, 'InProgress', 'VersionUpdate']);
    assert.equal(ready(world), 'True');
    assertBrief(conditionOf(world, 'Reconciling'), 'True Updating', 'web', NEXT);
    await until(world, deps, () => stateOf(world)?.update?.status === 'Successful', 'the update');
    await hours(world, deps, 3);
    assert.deepEqual(updatesIn(world.awsCalls()), ['UpdateNodegroupVersion']);
    assert.deepEqual(
      [stateOf(world)?.releaseVersion, conditionOf(world, 'UpToDate'), conditionOf(world, 'Reconciling')],
      [NEXT, 'True MatchesSpec: Node group web matches the spec.', undefined],
    );
  });

  it('that failed is reported with the pods that were not evicted, and not sent again', async () => {
    const { world, deps } = await upgradableWorld();
    failUpdates(world);
    world.stuckPods = [{ namespace: 'shop', name: 'cart-0', budgets: ['cart'] }];
    world.apply(pins({ releaseVersion: NEXT }));
    const start = world.calls.length;
    await hours(world, deps, 3);
    assert.equal(world.calls.slice(start).filter((call) => call === 'list pods').length, 1);
    assert.deepEqual(updatesIn(world.awsCalls()), ['UpdateNodegroupVersion']);
    const words = `PodEvictionFailure: ${MESSAGE} (${world.nodes[0]?.name})`;
    assert.deepEqual([stateOf(world)?.update?.status, stateOf(world)?.update?.errors], ['Failed', [words]]);
    const shown = conditionOf(world, 'NodeGroupReady') ?? '';
    const remedy = ['shop/cart-0', 'PodDisruptionBudget cart', 'delete the pods, and retry: kubectl annotate wp web'];
    assertBrief(shown, 'False UpdateFailed', `release ${NEXT}`, 'web', words, ...remedy);
    assert.match(conditionOf(world, 'UpToDate') ?? '', /^False UpdateFailed: /);
  });

  it('that failed in a known form is reported in fewer words than those of EKS, which the event has', async () => {
    const { world, deps } = await upgradableWorld();
    const errorMessage = 'Reached max retries while trying to evict pods from nodes in node group web';
    const [resource = ''] = world.nodes.map(({ name }) => name);
    const error = { errorCode: 'PodEvictionFailure' as const, errorMessage, resourceIds: [resource] };
    world.cloud.faults.updateFailure({ errors: [error] });
    world.apply(pins({ releaseVersion: NEXT }));
    await hours(world, deps, 1);
    const [own, words] = ['(PodEvictionFailure)', `(AWS: PodEvictionFailure: ${errorMessage} (${resource}))`];
    const shown = conditionOf(world, 'NodeGroupReady') ?? '';
    const event = world.events.find(({ reason }) => reason === 'UpdateFailed')?.message ?? '';
    assert.deepEqual([shown.includes(own), shown.includes(words)], [true, false]);
    assert.deepEqual([event.includes(own), event.endsWith(words)], [true, true]);
  });

  for (const [what, change] of [
    ['a release', pins({ releaseVersion: NEXT })],
    ['a label', fresh({ labels: { team: 'a' } })],
  ] as const) {
    it(`to ${what} that failed before its start was recorded is not sent again`, async () => {
      const { world, deps } = await upgradableWorld();
      failUpdates(world);
      world.apply(change);
      // The process crashes right after the call: no status has the ID of the update.
      world.fails = (call) => {
        if (call === 'write status' && updatesIn(world.calls).length > 0) throw new Crash(call);
        return undefined;
      };
      await assert.rejects(wake(world, deps), Crash);
      world.fails = () => undefined;
      await hours(world, world.start(), 3);
      assert.equal(world.updates.size, 1);
      assert.match(conditionOf(world, 'Stalled') ?? '', /^True UpdateFailed: /);
    });
  }

  it('that failed is retried once for each new value of the annotation, also right after a restart', async () => {
    const { world, deps } = await upgradableWorld();
    failUpdates(world, 2);
    world.apply(pins({ releaseVersion: NEXT }));
    await hours(world, deps, 1);
    world.awsCalls();
    retry(world, '1');
    await hours(world, deps, 1);
    assert.deepEqual(updatesIn(world.awsCalls()), ['UpdateNodegroupVersion']);
    await hours(world, world.start(), 1);
    assert.deepEqual(updatesIn(world.awsCalls()), []);
    retry(world, '2');
    await hours(world, deps, 1);
    assert.deepEqual(updatesIn(world.awsCalls()), ['UpdateNodegroupVersion']);
    assert.deepEqual([stateOf(world)?.releaseVersion, openFailure(stateOf(world))], [NEXT, undefined]);
  });

  it('that failed is retried once for each other value of the annotation, but not when the annotation is removed', async () => {
    const { world, deps } = await upgradableWorld();
    failUpdates(world, 10);
    world.apply(pins({ releaseVersion: NEXT }));
    await hours(world, deps, 1);
    world.awsCalls();
    for (const [value, isRetried] of RETRIES) {
      retry(world, value);
      await hours(world, deps, 1);
      assert.deepEqual(updatesIn(world.awsCalls()), isRetried ? ['UpdateNodegroupVersion'] : [], `after ${value}`);
    }
  });

  it('to a pinned release that EKS does not offer yet is retried, but not at every node event', async () => {
    const { world, deps } = await readyWorld();
    world.apply(pins({ releaseVersion: NEXT }));
    for (let event = 0; event < 20; event++) await wake(world, deps);
    assert.deepEqual(updatesIn(world.awsCalls()), ['UpdateNodegroupVersion']);
    assertBrief(conditionOf(world, 'Stalled'), 'True ReleaseNotOffered', '--resync-interval');
    world.publish(NEXT);
    await until(world, deps, () => stateOf(world)?.releaseVersion === NEXT, 'the release');
    await hours(world, deps, 1);
    assert.deepEqual([openFailure(stateOf(world)), conditionOf(world, 'Stalled')], [undefined, undefined]);
  });

  it('that EKS rejected is retried at once when the user sets the annotation', async () => {
    const { world, deps } = await upgradableWorld();
    world.fails = (call) => (call === 'UpdateNodegroupVersion' ? sampleError('refused') : undefined);
    world.apply(pins({ releaseVersion: NEXT }));
    await wake(world, deps);
    world.awsCalls();
    retry(world, '1');
    await wake(world, deps);
    assert.deepEqual(updatesIn(world.awsCalls()), ['UpdateNodegroupVersion']);
    assert.match(conditionOf(world, 'NodeGroupReady') ?? '', /^False UpdateRejected: /);
  });

  it('and another change that both fail are sent once each', async () => {
    const { world, deps } = await upgradableWorld();
    failUpdates(world, 2);
    world.apply(pins({ releaseVersion: NEXT }, { maxSize: 9 }));
    await hours(world, deps, 5);
    assert.deepEqual(updatesIn(world.awsCalls()), ['UpdateNodegroupVersion', 'UpdateNodegroupConfig']);
    assert.deepEqual(stateOf(world)?.failedChanges?.length, 2);
  });

  it('that EKS rejects while the group is DEGRADED is reported, retried rarely, and sent when the group is healthy', async () => {
    const { world, deps } = await upgradableWorld({ switches: { updatesWhileDegraded: 'reject' } });
    const issues = [{ code: 'AsgInstanceLaunchFailures' as const, message: 'No capacity' }];
    world.cloud.faults.healthIssue({ group: 'web', issues });
    world.apply(pins({ releaseVersion: NEXT }));
    await hours(world, deps, 2);
    const asked = updatesIn(world.awsCalls()).length;
    assert.ok(asked >= 8 && asked <= 17, `asked ${asked} times in 2 hours`);
    const shown = conditionOf(world, 'NodeGroupReady') ?? '';
    assertBrief(shown, 'False Degraded', 'No capacity', 'Pending change: release 1.36-2026.03.17');
    world.cloud.faults.healthIssue({ group: 'web', issues: [] });
    await until(world, deps, () => stateOf(world)?.releaseVersion === NEXT, 'the release');
  });

  it('is sent again when EKS was busy', async () => {
    const { world, deps } = await upgradableWorld();
    let busy = 2;
    world.fails = (call) => (call === 'UpdateNodegroupVersion' && busy-- > 0 ? sampleError('busy') : undefined);
    world.apply(pins({ releaseVersion: NEXT }));
    await until(world, deps, () => stateOf(world)?.releaseVersion === NEXT, 'the release');
    assert.deepEqual(updatesIn(world.awsCalls()).length, 3);
  });

  it('that is available is reported, and the newest release is read rarely', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT);
    await hours(world, deps, 3);
    const asked = world.awsCalls().filter((call) => call === 'GetParameter').length;
    assert.ok(asked >= 2 && asked <= 3, `asked ${asked} times in 3 hours`);
    assert.equal(stateOf(world)?.latestReleaseVersion, NEXT);
    assert.equal(stateOf(world)?.releaseDate, '2026-02-11');
    assertBrief(
      conditionOf(world, 'UpToDate'),
      'False UpdateAvailable',
      'nodeGroup.releaseVersion: 1.36-2026.03.17',
      'nodeGroup.update.policy: Automatic',
    );
    assert.equal(ready(world), 'True');
    world.fails = (call) => (call === 'GetParameter' ? sampleError('denied') : undefined);
    await hours(world, deps, 2);
    assert.equal(stateOf(world)?.latestReleaseVersion, NEXT);
    assert.match(conditionOf(world, 'UpToDate') ?? '', /^True MatchesSpec: .* The newest AMI release is unknown: /);
  });

  it('waits for the control plane, and starts when that has been upgraded', async () => {
    const { world, deps } = await readyWorld();
    world.apply(pins({ kubernetesVersion: '1.37' }));
    await hours(world, deps, 1);
    assert.deepEqual(updatesIn(world.awsCalls()), []);
    const pin = ['nodeGroup.kubernetesVersion', '1.37', 'prod', '1.36'];
    assertBrief(conditionOf(world, 'PrerequisitesMet'), 'False UnsupportedVersion', ...pin);
    assertBrief(conditionOf(world, 'UpToDate'), 'False UnsupportedVersion', '1.37', 'PrerequisitesMet');
    assert.equal(ready(world), 'True');
    world.cloud.faults.cluster({ version: '1.37' });
    await until(world, deps, () => stateOf(world)?.kubernetesVersion === '1.37', 'the version');
    assert.deepEqual(updatesIn(world.awsCalls()), ['UpdateNodegroupVersion']);
  });

  it('that is automatic is sent once for each release, also when it fails', async () => {
    const { world, deps } = await readyWorld();
    world.publish(NEXT);
    world.apply(pins({ update: { policy: 'Automatic', force: false } }));
    await hours(world, deps, 3);
    assert.deepEqual(updatesIn(world.awsCalls()), ['UpdateNodegroupVersion']);
    assert.deepEqual(
      [stateOf(world)?.releaseVersion, conditionOf(world, 'UpToDate')],
      [NEXT, 'True MatchesSpec: Node group web matches the spec.'],
    );
    failUpdates(world);
    world.publish('1.36-2026.04.18');
    await hours(world, deps, 3);
    world.fails = (call) => (call === 'GetParameter' ? sampleError('denied') : undefined);
    await hours(world, deps, 3);
    assert.deepEqual(updatesIn(world.awsCalls()), ['UpdateNodegroupVersion']);
    assert.match(conditionOf(world, 'UpToDate') ?? '', /^False UpdateFailed: /);
  });

  it('that is automatic follows the control plane', async () => {
    const { world, deps } = await readyWorld();
    world.apply(pins({ update: { policy: 'Automatic', force: false } }));
    await hours(world, deps, 2);
    world.awsCalls();
    world.cloud.faults.cluster({ version: '1.37' });
    world.publish('1.37-2026.04.18');
    await hours(world, deps, 3);
    assert.deepEqual(updatesIn(world.awsCalls()), ['UpdateNodegroupVersion']);
    assert.deepEqual(stateOf(world)?.kubernetesVersion, '1.37');
  });
});
