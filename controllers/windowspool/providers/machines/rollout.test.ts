import assert from 'node:assert/strict';
import type { MachinesState, MachinesUpdateSpec } from '../../api/api.gen.ts';
import { REMOVE_ANNOTATION, REPLACE_ANNOTATION } from '../../api/labels.ts';
import type { Deps } from '../../reconcile.ts';
import { machinesIn } from '../../rules/nodeSource.ts';
import { crashAtEach } from '../../testing/crashAtEach.ts';
import type { FakeWorld } from '../../testing/fakeWorld.ts';
import { MINUTE, sampleError } from '../../testing/fixtures.ts';
import { assertBrief } from '../../testing/goldenTexts.ts';
import { conditionOf, until, wake } from '../../testing/life.ts';
import { machinesPool, machinesWorld, settleMachines } from '../../testing/machineScenes.ts';
import { annotate, isSettled, nodeOf, pass, terminatingIn } from '../../testing/nodeLife.ts';
import { releaseFailuresIn } from '../providers.ts';

const AUTOMATIC = { policy: 'Automatic' } as const;
const HOUR = 60 * MINUTE;
const names = (world: FakeWorld) => world.nodes.map(({ name }) => name).join(' ');
/** Changes how nodes of an earlier template are replaced. */
function edit(world: FakeWorld, update: MachinesUpdateSpec): void {
  const pool = world.pools.get('web') ?? assert.fail('no pool');
  world.apply({ ...pool, spec: { ...pool.spec, machines: { ...machinesIn(pool.spec), update } } });
}

const condition = (world: FakeWorld) => conditionOf(world, 'MachinesReady') ?? '';

/** A pool of the Machines a, b and c, whose template has just changed. */
async function outdatedWorld(
  update: MachinesUpdateSpec | undefined,
  spec: Parameters<typeof machinesPool>[0] = {},
): Promise<{ world: FakeWorld; deps: Deps }> {
  const { world, deps } = await machinesWorld({ ...spec, ...(update && { machines: { update } }) });
  world.machines.roll();
  await wake(world, deps);
  return { world, deps };
}

/** Runs until the Machines are these, and the pool holds no share of the budget. */
async function untilNodes(world: FakeWorld, deps: Deps, want: string): Promise<void> {
  const isDone = () => {
    settleMachines(world);
    return isSettled(world) && names(world) === want;
  };
  await until(world, deps, isDone, `the nodes ${want}`, 300);
  await wake(world, deps);
}

/** A window of two hours that opens in this many minutes, every day. */
function windowIn(world: Pick<FakeWorld, 'now'>, minutes: number) {
  const start = new Date(world.now + minutes * MINUTE);
  return { schedule: `${start.getUTCMinutes()} ${start.getUTCHours()} * * *`, duration: '2h' };
}

function fail(world: FakeWorld, name: string, isFailing: boolean): void {
  const node = nodeOf(world, name) ?? assert.fail(`no node ${name}`);
  world.setNode({ ...node, kernelVersion: isFailing ? '10.0.17763.1' : (nodeOf(world, 'c')?.kernelVersion ?? '') });
}

describe('nodes of Machines that are made from an earlier template', () => {
  it('are left to users by default', async () => {
    const { world, deps } = await outdatedWorld(undefined);
    await pass(world, deps, 60);
    assert.deepEqual(world.machines.changes, []);
    assertBrief(
      condition(world),
      'True MachinesReady',
      '3 Machines are',
      'update.policy: Automatic',
      REPLACE_ANNOTATION,
    );
    const { status } = world.pools.get('web') ?? {};
    assert.equal(status?.machines?.outdated, 3);
    assert.equal(world.metrics.get('web')?.windowspool_machines_outdated, 3);
  });

  it('are not counted any more while their Machines are being deleted, which their controller still counts', async () => {
    const { world, deps } = await outdatedWorld(AUTOMATIC);
    const { machines } = world;
    for (const [left, message] of [
      ['c', 'True MachinesReady: .*1 Machine is made from an earlier template'],
      ['none', '^False MachinesScaling'],
    ] as const) {
      machines.machines = machines.machines.map((one) => ({ ...one, deleting: one.name !== left }));
      machines.set = { ...(machines.set ?? assert.fail('no object')), outdated: 3, replicas: left === 'c' ? 1 : 3 };
      await wake(world, deps);
      assert.match(condition(world), new RegExp(message));
      assert.equal(world.pools.get('web')?.status?.machines?.outdated, left === 'c' ? 1 : 0);
    }
  });

  it('are replaced one by one with policy Automatic', async () => {
    const { world, deps } = await outdatedWorld(AUTOMATIC);
    let most = 0;
    const isDone = () => {
      const out = world.nodes.filter(({ unschedulable }) => unschedulable).length + 3 - world.nodes.length;
      most = Math.max(most, out);
      settleMachines(world);
      return isSettled(world) && names(world) === 'd e f';
    };
    await until(world, deps, isDone, 'the rollout', 300);
    await wake(world, deps);
    assert.deepEqual([world.machines.changes, most], [['delete a', 'delete b', 'delete c'], 1]);
    assert.deepEqual(world.machines.drainedAgain, []);
    assertBrief(condition(world), 'True MachinesReady', '3 Machines');
    const started = world.events
      .filter(({ reason }) => reason === 'NodeDisruptionStarted')
      .map(({ message }) => message);
    assert.match(started[0] ?? '', /replace node a, which is outdated \(drain it, delete its Machine\)/);
  });

  it('wait for the verification of each new node, and say so', async () => {
    const { world, deps } = await outdatedWorld(AUTOMATIC);
    await until(world, deps, () => world.machines.changes.length === 1, 'the first deletion');
    settleMachines(world);
    const d = nodeOf(world, 'd') ?? assert.fail('no node');
    world.setNode({ ...d, ready: 'False', createdAt: world.now });
    await pass(world, deps, 3);
    assert.deepEqual(world.machines.changes, ['delete a']);
    assertBrief(condition(world), 'True MachinesReady', '2 Machines are', 'once the node of Machine d is verified');
    world.setNode(d);
    await untilNodes(world, deps, 'd e f');
  });

  it('stay while a new node fails, until the cause is fixed', async () => {
    const { world, deps } = await outdatedWorld(AUTOMATIC);
    await until(world, deps, () => world.machines.changes.length === 1, 'the first deletion');
    settleMachines(world);
    fail(world, 'd', true);
    await pass(world, deps, 120);
    assert.deepEqual(world.machines.changes, ['delete a']);
    assertBrief(
      condition(world),
      'False RolloutHalted',
      'Machine d',
      'runs',
      '2 Machines of an earlier',
      'Correct the template',
    );
    assert.match(conditionOf(world, 'Stalled') ?? '', /^True RolloutHalted/);
    assert.ok(isSettled(world), 'other pools wait for it');
    fail(world, 'd', false);
    await untilNodes(world, deps, 'd e f');
  });

  it('stay while a node of the same template fails in another pool, and go on after that', async () => {
    const { world, deps } = await outdatedWorld(undefined);
    const failedTemplate = { node: 'api-1', finding: 'WrongBuild: runs build 10.0.17763' };
    const api = (machines: MachinesState | undefined) => {
      const pool = machinesPool({}, { metadata: { name: 'api' }, status: { ...(machines && { machines }) } });
      world.pools.set('api', pool);
    };
    api({ infrastructureTemplate: 'SimMachineTemplate/windows-1', failedTemplate });
    edit(world, AUTOMATIC);
    await pass(world, deps, 60);
    assert.deepEqual(world.machines.changes, []);
    assertBrief(
      condition(world),
      'True MachinesReady',
      '3 Machines are',
      'Node api-1 of WindowsPool api',
      'made from the same template',
      'WrongBuild',
      REPLACE_ANNOTATION,
    );
    api({ infrastructureTemplate: 'SimMachineTemplate/windows-2', failedTemplate });
    await untilNodes(world, deps, 'd e f');
  });

  it('show other pools a template whose nodes fail because of its image, as long as they do', async () => {
    const { world, deps } = await outdatedWorld(AUTOMATIC);
    const shown = () => releaseFailuresIn(world.pools.get('web') ?? assert.fail('no pool'));
    await until(world, deps, () => world.machines.changes.length === 1, 'the first deletion');
    settleMachines(world);
    const d = nodeOf(world, 'd') ?? assert.fail('no node');
    world.setNode({ ...d, ready: 'False' });
    await pass(world, deps, 60);
    assert.deepEqual(shown(), [], 'a node that is not Ready shows nothing about the image');
    fail(world, 'd', true);
    await pass(world, deps, 2);
    const [{ kind, release, node, finding } = assert.fail('no failure')] = shown();
    assert.deepEqual([kind, release, node], ['SimMachineTemplate', 'clusters/windows-1', 'd']);
    assert.match(finding, /^WrongBuild: runs /);
    world.setNode(d);
    await untilNodes(world, deps, 'd e f');
    assert.deepEqual(shown(), []);
  });

  it('stay while a new Machine gets no node', async () => {
    const { world, deps } = await outdatedWorld(AUTOMATIC);
    await until(world, deps, () => world.machines.changes.length === 1, 'the first deletion');
    world.machines.makesNodes = false;
    settleMachines(world);
    await pass(world, deps, 120);
    assert.deepEqual(world.machines.changes, ['delete a']);
    assertBrief(condition(world), 'False RolloutHalted', 'Machine d', 'has had no node', '2 Machines of an earlier');
    // A corrected template goes on, without the Machine that nobody else would delete.
    world.machines.makesNodes = true;
    world.machines.roll();
    await untilNodes(world, deps, 'e f g');
    assert.deepEqual(world.machines.changes.slice(0, 2), ['delete a', 'delete d']);
  });

  it('stay while a new node does not count', async () => {
    const { world, deps } = await outdatedWorld(AUTOMATIC);
    await until(world, deps, () => world.machines.changes.length === 1, 'the first deletion');
    settleMachines(world);
    world.nodes = world.nodes.filter(({ name }) => name !== 'd');
    await pass(world, deps, 60);
    assert.deepEqual(world.machines.changes, ['delete a']);
    assertBrief(condition(world), 'False RolloutHalted', 'Machine d', 'does not count', 'NodesVerified');
  });

  it('stay while a Machine that failed is deleted, and until its successor is verified', async () => {
    const remediation = { policy: 'Replace', unhealthyAfter: '5m', maxUnhealthy: 1 } as const;
    const disruption = { maxUnavailable: 2 } as const;
    const { world, deps } = await outdatedWorld(AUTOMATIC, { remediation, disruption });
    await until(world, deps, () => world.machines.changes.length === 2, 'the first deletions');
    assert.deepEqual(world.machines.changes, ['delete a', 'delete b']);
    settleMachines(world);
    fail(world, 'd', true);
    await until(world, deps, () => world.machines.changes.includes('delete d'), 'the remediation', 200);
    await pass(world, deps, 10);
    settleMachines(world);
    await wake(world, deps);
    assert.ok(!world.machines.changes.includes('delete c'));
    await untilNodes(world, deps, 'e f g');
  });

  it('are replaced although a new node that was verified is not Ready for a moment', async () => {
    const { world, deps } = await outdatedWorld(AUTOMATIC);
    await until(world, deps, () => world.machines.changes.length === 1, 'the first deletion');
    settleMachines(world);
    await until(world, deps, () => nodeOf(world, 'b')?.unschedulable === true, 'the drain of b', 200);
    const d = nodeOf(world, 'd') ?? assert.fail('no node');
    world.setNode({ ...d, ready: 'False' });
    await pass(world, deps, 3);
    assert.deepEqual(world.machines.changes, ['delete a', 'delete b']);
    settleMachines(world);
    await pass(world, deps, 3);
    assert.ok(!world.machines.changes.includes('delete c'));
    world.setNode(d);
    await untilNodes(world, deps, 'd e f');
  });

  it('are replaced if they are annotated to be removed, which is rejected meanwhile', async () => {
    const { world, deps } = await outdatedWorld(AUTOMATIC);
    annotate(world, 'b', { [REMOVE_ANNOTATION]: 'true' });
    await untilNodes(world, deps, 'd e f');
    assert.equal(world.machines.set?.replicas, 3);
  });

  it('are not left out because the Machines could not be read, or their object was paused', async () => {
    const unreadable = sampleError('throttled', { operation: 'get machines' });
    const obstacles: readonly (readonly [what: string, set: (world: FakeWorld, isSet: boolean) => void])[] = [
      [
        'unreadable',
        ({ machines }, isSet) => (machines.unknown = isSet ? { kind: 'unknown', error: unreadable } : undefined),
      ],
      [
        'paused',
        ({ machines }, isSet) =>
          (machines.set = {
            ...(machines.set ?? assert.fail('no object')),
            pausedBy: isSet ? 'spec.paused is true' : '',
          }),
      ],
    ];
    for (const [what, change] of obstacles) {
      const { world, deps } = await outdatedWorld(AUTOMATIC);
      world.fails = (call) => (call === 'evict pod' ? sampleError('throttled') : undefined);
      await until(world, deps, () => nodeOf(world, 'a')?.unschedulable === true, 'the drain of a');
      change(world, true);
      await pass(world, deps, 60);
      assert.deepEqual(world.machines.changes, [], what);
      assert.equal(nodeOf(world, 'a')?.annotations[REPLACE_ANNOTATION], undefined, what);
      change(world, false);
      world.fails = () => undefined;
      await untilNodes(world, deps, 'd e f');
    }
  });

  it('are left to users where their controller does not report which they are', async () => {
    const { world, deps } = await machinesWorld({ machines: { update: AUTOMATIC } }, { outdated: 2 });
    await pass(world, deps, 10);
    assert.deepEqual(world.machines.changes, []);
    assertBrief(condition(world), 'True MachinesReady', '2 Machines are', 'condition UpToDate', 'replace=true');
  });

  it('are left alone until the controller has seen the change of the object', async () => {
    const { world, deps } = await outdatedWorld({ policy: 'Manual' });
    world.machines.set = { ...(world.machines.set ?? assert.fail('no object')), isObserved: false };
    world.apply(machinesPool({ machines: { update: AUTOMATIC } }));
    await pass(world, deps, 10);
    assert.deepEqual(world.machines.changes, []);
    world.machines.set = { ...world.machines.set, isObserved: true };
    await untilNodes(world, deps, 'd e f');
  });

  it('are drained no further when the template or the policy is reverted, or a user leaves them out', async () => {
    const ends: readonly (readonly [what: string, end: (world: FakeWorld) => void])[] = [
      ['the template', ({ machines }) => machines.roll(false)],
      ['the policy', (world) => world.apply(machinesPool({ machines: { update: { policy: 'Manual' } } }))],
      ['a user', (world) => annotate(world, 'a', { [REPLACE_ANNOTATION]: 'off' })],
    ];
    for (const [what, end] of ends) {
      const { world, deps } = await outdatedWorld(AUTOMATIC);
      world.fails = (call) => (call === 'delete machines' ? sampleError('denied') : undefined);
      await until(world, deps, () => nodeOf(world, 'a')?.unschedulable === true, 'the drain of a');
      end(world);
      world.fails = () => undefined;
      await until(world, deps, () => nodeOf(world, 'a')?.unschedulable === false, `the end of the drain by ${what}`);
      assert.ok(!world.machines.changes.includes('delete a'), what);
    }
  });

  it('wait for a maintenance window, and are drained to the end when it closes', async () => {
    const { world: clock } = await machinesWorld();
    const maintenanceWindows = [windowIn(clock, 60)];
    const { world, deps } = await outdatedWorld({ ...AUTOMATIC, maintenanceWindows });
    const opens = new Date(clock.now + HOUR).toISOString().slice(0, 16);
    assertBrief(condition(world), 'True MachinesReady', '3 Machines are', `from ${opens}Z on`, 'replace=true');
    await pass(world, deps, 55);
    assert.deepEqual(world.machines.changes, []);
    const next = await wake(world, deps);
    assert.ok(next.kind === 'requeueAfter' && world.now + next.ms <= clock.now + HOUR + MINUTE, JSON.stringify(next));
    await until(world, deps, () => terminatingIn(world).length === 1, 'the first drain');
    world.now = clock.now + 4 * HOUR;
    await until(world, deps, () => isSettled(world), 'the end of the drain');
    assert.ok(world.machines.changes.length <= 1);
    assert.equal(terminatingIn(world).length, 0);
  });

  it('wait for a valid window', async () => {
    const maintenanceWindows = [{ schedule: '0 2 30 2 *', duration: '1h' }];
    const { world, deps } = await outdatedWorld({ ...AUTOMATIC, maintenanceWindows });
    await pass(world, deps, 60);
    assert.deepEqual(world.machines.changes, []);
    assertBrief(
      condition(world),
      'False InvalidMaintenanceWindow',
      'spec.machines.update.maintenanceWindows[0].schedule',
    );
  });

  it('wait for the permission of the object', async () => {
    const { world, deps } = await outdatedWorld(AUTOMATIC);
    world.machines.set = { ...(world.machines.set ?? assert.fail('no object')), usableBy: '' };
    await pass(world, deps, 10);
    assert.deepEqual(world.machines.changes, []);
    assertBrief(condition(world), 'False MachineSetNotUsable', 'winpool.dev/usable-by=web');
  });

  it('are left out after a drain that timed out, while the others are replaced', async () => {
    const drain = { timeout: '1m', podsWithEmptyDir: 'Evict', podsWithoutController: 'Block' } as const;
    const { world, deps } = await outdatedWorld(AUTOMATIC, { disruption: { drain } });
    const before = world.pods;
    world.pods = before.map((pod) => (pod.node === 'a' ? { ...pod, keptBy: 'cart' } : pod));
    await untilNodes(world, deps, 'a d e');
    assert.equal(nodeOf(world, 'a')?.annotations[REPLACE_ANNOTATION], 'timed-out');
    assertBrief(
      condition(world),
      'True MachinesReady',
      '1 Machine is',
      'Node a is left out',
      `${REPLACE_ANNOTATION}=timed-out`,
      `annotate node a ${REPLACE_ANNOTATION}-`,
    );
    assert.doesNotMatch(condition(world), /within disruption/);
    await pass(world, deps, 60);
    assert.equal(nodeOf(world, 'a')?.unschedulable, false);
    world.pods = before;
    annotate(world, 'a', {});
    await untilNodes(world, deps, 'd e f');
  });

  it('are left to the controller of the Machines if it replaces them itself', async () => {
    const { world, deps } = await outdatedWorld(AUTOMATIC);
    world.machines.set = { ...(world.machines.set ?? assert.fail('no object')), isRollingOut: true, isOnDelete: false };
    await pass(world, deps, 10);
    assert.deepEqual(world.machines.changes, []);
    assert.match(condition(world), /^False MachinesRollingOut/);
  });

  it('are replaced once each, whatever call the operator crashes at', async () => {
    await crashAtEach({
      prepare: () => outdatedWorld(AUTOMATIC),
      finish: (world, deps) => untilNodes(world, deps, 'd e f'),
      check: (world, where) => {
        const deleted = world.machines.changes.filter((change) => change.startsWith('delete'));
        assert.deepEqual(deleted.toSorted(), ['delete a', 'delete b', 'delete c'], where);
      },
      moreThan: 24,
    });
  }).timeout(60_000);
});
