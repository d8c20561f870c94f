import assert from 'node:assert/strict';
import type { CallError } from './ports/callResult.ts';
import { preview, previewText } from './preview.ts';
import { AwsMemory } from './providers/nodeGroup/observation/nodeGroupSnapshot.ts';
import { type Deps, reconcile } from './reconcile.ts';
import { Crash, FakeWorld } from './testing/fakeWorld.ts';
import { MINUTE, sampleError, samplePool, settings } from './testing/fixtures.ts';
import { assertBrief, assertMentions, type Brief } from './testing/goldenTexts.ts';
import { conditionOf, fresh, hours, pendingIn, ready, signal, until, wake } from './testing/life.ts';

const enabling = { ...settings, enableWindowsIpam: true };
const start = (world: FakeWorld): Deps => ({ ...world.start(), settings: enabling });
const IN_ADDON = 'UpdateAddon';
const IN_CONFIG = 'patch ConfigMap amazon-vpc-cni';

/** A world in which Windows IPAM is disabled, in the add-on or without one. */
function ipamOff({ addon = false } = {}): FakeWorld {
  const world = new FakeWorld();
  world.kubeSystem.cniConfig = { 'enable-windows-ipam': 'false', other: 'kept' };
  if (addon) world.cloud.faults.addon({ name: 'vpc-cni' });
  world.apply(fresh());
  return world;
}

const changes = (world: FakeWorld) => world.calls.filter((call) => call === IN_ADDON || call === IN_CONFIG);
const events = (world: FakeWorld) =>
  world.events.filter(({ reason }) => reason.startsWith('WindowsIPAM')).map(({ type, reason }) => `${type} ${reason}`);

describe('an operator that enables Windows IPAM', () => {
  for (const addon of [true, false]) {
    const call = addon ? IN_ADDON : IN_CONFIG;
    it(`changes it once, ${addon ? 'in the add-on' : 'in the ConfigMap'}, reports that, and the pool continues`, async () => {
      const world = ipamOff({ addon });
      await until(world, start(world), () => ready(world) === 'True', 'Ready');
      assert.deepEqual(changes(world), [call]);
      assert.deepEqual(world.kubeSystem.cniConfig, { 'enable-windows-ipam': 'true', other: 'kept' });
      assert.ok(events(world).includes('Normal WindowsIPAMEnabled'), events(world).join());
      assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^True Met/);
    });

    it(`has the same result after a crash at any call (${call})`, async () => {
      const enabled = (world: FakeWorld) => () => world.created === 1;
      for (let at = 0, crashed = true; crashed; at++) {
        crashed = false;
        for (const when of ['before', 'after'] as const) {
          const world = ipamOff({ addon });
          world.crash = { at, when };
          try {
            await until(world, start(world), enabled(world), 'a node group');
          } catch (error) {
            if (!(error instanceof Crash)) throw error;
            crashed = true;
          }
          world.crash = undefined;
          await until(world, start(world), enabled(world), 'a node group');
          assert.ok(changes(world).length <= 2, `${when} ${at}: ${changes(world)}`);
          assert.deepEqual(world.kubeSystem.cniConfig, { 'enable-windows-ipam': 'true', other: 'kept' });
        }
      }
    });
  }

  it('waits for the add-on, and is not Stalled in the meantime', async () => {
    const world = ipamOff({ addon: true });
    const deps = start(world);
    await wake(world, deps);
    assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /The vpc-cni add-on is UPDATING\. The operator waits\./);
    assert.equal(conditionOf(world, 'Stalled'), undefined);
    assert.equal(world.created, 0);
  });

  it('changes nothing without the flag, nor for a paused pool, which shows the step', async () => {
    const without = ipamOff();
    await wake(without, without.start());
    const paused = ipamOff();
    paused.apply(fresh({ paused: true }));
    await wake(paused, start(paused));
    assert.deepEqual([changes(without), changes(paused)], [[], []]);
    assert.deepEqual(
      pendingIn(paused).filter((step) => step.includes('ipam')),
      ['Paused: set enable-windows-ipam: "true" in ConfigMap kube-system/amazon-vpc-cni'],
    );
    assert.match(
      conditionOf(paused, 'PrerequisitesMet') ?? '',
      /Enable Windows IPAM: kubectl -n kube-system patch configmap amazon-vpc-cni /,
    );
  });

  it('shows the step in a preview, which changes nothing', async () => {
    const world = ipamOff({ addon: true });
    const deps = start(world);
    const shown = await preview(fresh(), {
      readCache: deps.readCache,
      sources: deps,
      settings: enabling,
      now: world.now,
      signal,
    });
    assertMentions(previewText(shown), 'enableWindowsIpam', 'vpc-cni', 'prod');
    assert.deepEqual(changes(world), []);
  });

  it('changes it once for many pools that check at the same time', async () => {
    const world = ipamOff({ addon: true });
    const names = ['web', 'db', 'batch'];
    for (const name of names) world.apply(samplePool({}, { metadata: { name, uid: name, generation: 0 } }));
    const deps = start(world);
    await Promise.all(names.map((name) => reconcile(name, deps, signal)));
    assert.deepEqual(changes(world), [IN_ADDON]);
  });

  describe('whose attempt for another pool AWS rejected', () => {
    const refusal = (at: number, kind: 'refused' | 'denied') => ({
      error: { at, step: 'updateAddon' as const, error: sampleError(kind, { operation: IN_ADDON }) },
    });
    const refuse = (world: FakeWorld, { readCache }: Deps, kind: 'refused' | 'denied') => {
      const { windowsIpam } = readCache.of(AwsMemory);
      windowsIpam.begin(world.now);
      windowsIpam.end(world.now, refusal(world.now, kind));
    };

    for (const kind of ['refused', 'denied'] as const) {
      it(`polls a group that EKS creates or deletes as often as before (${kind})`, async () => {
        const world = new FakeWorld({ speed: 1 / 9 });
        world.apply(fresh());
        const deps = start(world);
        const poll = async () => {
          world.now = Math.max(world.now + 1, deps.readCache.dueAt('web'));
          await wake(world, deps);
          const ms = deps.readCache.dueAt('web') - world.now;
          assert.ok(ms <= 1.25 * settings.pollMs, `the next poll is in ${ms} ms`);
        };
        await wake(world, deps);
        refuse(world, deps, kind);
        await poll();
        await until(world, deps, () => ready(world) === 'True', 'Ready');
        const pool = world.pools.get('web');
        assert.ok(pool);
        const deletionTimestamp = new Date(world.now).toISOString();
        world.pools.set('web', { ...pool, metadata: { ...pool.metadata, deletionTimestamp } });
        refuse(world, deps, kind);
        await poll();
      });
    }

    it('does not report the error after a user has enabled it', async () => {
      const world = ipamOff({ addon: true });
      const deps = start(world);
      world.fails = (call) => (call === IN_ADDON ? sampleError('denied', { operation: IN_ADDON }) : undefined);
      await wake(world, deps);
      assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^False AccessDenied/);
      world.cloud.faults.addon({ name: 'vpc-cni', configurationValues: '{"enableWindowsIpam":"true"}' });
      world.now = deps.readCache.dueAt('web');
      await wake(world, deps);
      assert.equal(world.created, 1);
      assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^True Met/);
    });
  });

  it('retries soon after a conflicting write of the ConfigMap, also after hours', async () => {
    const world = ipamOff();
    await hours(world, world.start(), 3);
    let isFirst = true;
    world.fails = (call) => {
      if (call !== IN_CONFIG || !isFirst) return undefined;
      isFirst = false;
      return sampleError('conflict');
    };
    const deps = start(world);
    const begun = world.now;
    await until(world, deps, () => world.created === 1, 'a node group');
    assert.ok(world.now - begun <= MINUTE, `the node group is created after ${world.now - begun} ms`);
  });

  it('is not triggered between its attempts when the ConfigMap is denied', async () => {
    const world = ipamOff();
    await hours(world, world.start(), 3);
    world.fails = (call) => (call === IN_CONFIG ? sampleError('denied') : undefined);
    const deps = start(world);
    for (let run = 0; run < 5; run++) {
      world.calls.splice(0);
      const next = await wake(world, deps);
      assert.deepEqual(changes(world), [IN_CONFIG]);
      world.now += next.kind === 'requeueAfter' ? next.ms : 2_000;
    }
  });

  it('warns when a tool that manages the ConfigMap may revert it', async () => {
    const world = ipamOff();
    world.kubeSystem.cniManagedBy = 'Helm release kube-system/aws-vpc-cni';
    await wake(world, start(world));
    assert.ok(events(world).includes('Warning WindowsIPAMEnabled'), events(world).join());
  });

  it('enables it again only once per resync, with an event each time', async () => {
    const world = ipamOff();
    const deps = start(world);
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    world.calls.splice(0);
    const disable = () => {
      world.kubeSystem.cniConfig = { 'enable-windows-ipam': 'false' };
    };
    const end = world.now + 60 * MINUTE;
    while (world.now < end) {
      disable();
      const next = await wake(world, deps);
      world.now += next.kind === 'requeueAfter' ? next.ms : 2_000;
    }
    const most = (60 * MINUTE) / settings.resyncMs + 1;
    const { length } = changes(world);
    assert.ok(length >= 2 && length <= most, `${length} changes in an hour`);
    assert.equal(world.events.filter(({ reason }) => reason === 'WindowsIPAMEnabled').length, length + 1);
    world.now += 2 * settings.resyncMs;
    disable();
    await wake(world, deps);
    assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^True Met/);
    // Shared answers are read again by then, but the next attempt is not due yet.
    world.now += 0.6 * settings.resyncMs;
    disable();
    world.apply(fresh({ nodeGroup: { driftPolicy: 'Report' } }));
    await wake(world, deps);
    assertMentions(conditionOf(world, 'PrerequisitesMet'), '2026-03-01T11:00:00Z');
  });

  const failures: readonly [what: string, call: string, error: CallError, want: Brief][] = [
    [
      'the permission to change the add-on',
      IN_ADDON,
      sampleError('denied', { operation: IN_ADDON, message: 'not authorized to perform: eks:UpdateAddon' }),
      ['False AccessDenied', 'UpdateAddon', 'config/aws/windows-ipam.json'],
    ],
    [
      'values that EKS accepts',
      IN_ADDON,
      sampleError('refused', { operation: IN_ADDON, message: 'Json schema validation failed' }),
      ['False WindowsIPAMDisabled', 'UpdateAddon', 'Json schema validation failed'],
    ],
    [
      'the permission to change the ConfigMap',
      IN_CONFIG,
      sampleError('denied', { operation: 'patch configmaps', message: 'configmaps is forbidden' }),
      ['False AccessDenied', 'patch configmaps', 'config/windows-ipam'],
    ],
  ];
  for (const [what, call, error, want] of failures) {
    it(`reports the error without ${what}, retries later, and continues when it has that`, async () => {
      const world = ipamOff({ addon: call === IN_ADDON });
      let lacks = true;
      world.fails = (each) => (lacks && each === call ? error : undefined);
      const deps = start(world);
      const { setCniConfig } = deps.system;
      deps.system.setCniConfig = async (...args) => {
        const answer = await setCniConfig(...args);
        return answer.ok ? answer : { ok: false, error };
      };
      await wake(world, deps);
      const first = conditionOf(world, 'PrerequisitesMet') ?? '';
      assertBrief(first, ...want);
      await hours(world, deps, 1);
      assert.equal(conditionOf(world, 'PrerequisitesMet'), first);
      assert.ok(changes(world).length <= 60, `${changes(world).length} tries in an hour`);
      assert.ok(changes(world).length >= 3, `${changes(world).length} tries in an hour`);
      lacks = false;
      await until(world, deps, () => ready(world) === 'True', 'Ready');
    });
  }

  it('reports a failed update of the add-on with the message of EKS, and retries later', async () => {
    const world = ipamOff({ addon: true });
    world.cloud.faults.addonFailure({ code: 'ConfigurationConflict', message: 'Conflicts found' });
    const deps = start(world);
    await wake(world, deps);
    world.now = deps.readCache.dueAt('web');
    await wake(world, deps);
    assertMentions(conditionOf(world, 'PrerequisitesMet'), 'vpc-cni', 'ConfigurationConflict');
    assert.deepEqual(changes(world), [IN_ADDON]);
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    assert.equal(changes(world).length, 2);
  });
});
