import assert from 'node:assert/strict';
import { GATE_TAINT_KEY, POOL_KEY, REMOVE_ANNOTATION, UNINITIALIZED_TAINT_KEY } from '../../api/labels.ts';
import type { Deps } from '../../reconcile.ts';
import { crashAtEach } from '../../testing/crashAtEach.ts';
import type { FakeWorld } from '../../testing/fakeWorld.ts';
import { sampleError } from '../../testing/fixtures.ts';
import { assertBrief, assertBriefs } from '../../testing/goldenTexts.ts';
import { conditionOf, ready, until, wake } from '../../testing/life.ts';
import { machinesPool, machinesWorld, settleMachines } from '../../testing/machineScenes.ts';
import { annotate, isSettled, nodeOf, pass } from '../../testing/nodeLife.ts';
import { REPLACE } from '../../testing/nodeScenes.ts';

const REMOVE = { [REMOVE_ANNOTATION]: 'true' };
const names = (world: FakeWorld) => world.nodes.map(({ name }) => name).join(' ');
const replicas = (world: FakeWorld) => world.machines.set?.replicas;
const machineIn = (world: FakeWorld, name: string) =>
  world.machines.machines.find((one) => one.name === name) ?? assert.fail(`no Machine ${name}`);
const size = (desiredSize: number) => machinesPool({ machines: { desiredSize } });

/** Runs and lets the controller of the Machines work, until the pool holds no share of the budget and has its nodes. */
async function untilSettled(world: FakeWorld, deps: Deps): Promise<void> {
  const isDone = () => {
    settleMachines(world);
    return world.machines.changes.length > 0 && isSettled(world) && world.nodes.length === replicas(world);
  };
  await until(world, deps, isDone, 'the end of the operation');
  await wake(world, deps);
}

describe('a pool of machines', () => {
  it('gives the nodes of its Machines its labels and taints, and is Ready, without AWS calls', async () => {
    const { world, deps } = await machinesWorld();
    await wake(world, deps);
    assert.equal(ready(world), 'True');
    assertBrief(conditionOf(world, 'MachinesReady') ?? '', 'True MachinesReady', 'MachineDeployment clusters/windows');
    assert.deepEqual(
      world.nodes.map(({ labels }) => labels[POOL_KEY]),
      ['web', 'web', 'web'],
    );
    const { status } = world.pools.get('web') ?? {};
    const { infrastructureTemplate, ...counts } = status?.machines ?? {};
    assert.deepEqual(counts, { replicas: 3, total: 3, withoutNode: 0, deleting: 0, outdated: 0 });
    assert.equal(infrastructureTemplate, 'SimMachineTemplate/windows-1');
    assert.deepEqual([status?.summary?.nodes, status?.nodes?.desired], ['3/3', 3]);
    assert.deepEqual(world.awsCalls(), []);
    const { 'windowspool_machines{state="withNode"}': machines, windowspool_nodes_desired: desired } =
      world.metrics.get('web') ?? {};
    assert.deepEqual([machines, desired], [3, 3]);
  });

  it('marks a node with policy Gate only when Cluster API has initialized it: its gate taint can come with that', async () => {
    const { world, deps } = await machinesWorld({
      verification: { ...machinesPool().spec.verification, policy: 'Gate' },
    });
    const a = nodeOf(world, 'a') ?? assert.fail('no node');
    const taint = { key: UNINITIALIZED_TAINT_KEY, effect: 'NoSchedule' } as const;
    const isMarked = () => nodeOf(world, 'z')?.ownership !== '';
    world.machines.machines = world.machines.machines.map((one) => (one.name === 'a' ? { ...one, node: 'z' } : one));
    world.nodes = [...world.nodes, { ...a, name: 'z', uid: 'uid-z', ownership: '', taints: [taint] }];
    await pass(world, deps, 1);
    assert.equal(isMarked(), false);
    assert.match(conditionOf(world, 'NodesVerified') ?? '', /z has no taints of the pool yet, because Cluster API/);
    world.setNode({ ...(nodeOf(world, 'z') ?? a), taints: [{ key: GATE_TAINT_KEY, effect: 'NoSchedule' }] });
    await pass(world, deps, 1);
    assert.match(nodeOf(world, 'z')?.ownership ?? '', /"gated":true/);
  });

  it('takes no node that only has the name or the labels of one of its nodes', async () => {
    const { world, deps } = await machinesWorld();
    const a = nodeOf(world, 'a') ?? assert.fail('no node');
    world.nodes = [
      ...world.nodes.filter(({ name }) => name !== 'a'),
      { ...a, uid: 'uid-other', providerID: 'sim://other' },
      { ...a, name: 'z', uid: 'uid-z', providerID: 'sim://z' },
    ];
    await wake(world, deps);
    assert.equal(world.pools.get('web')?.status?.nodes?.total, 2);
  });

  it('restores its nodes when it is deleted, and keeps the Machines', async () => {
    const { world, deps } = await machinesWorld();
    world.remove('web');
    await pass(world, deps, 1);
    assert.equal(world.pools.size, 0);
    assert.deepEqual(
      world.nodes.map(({ labels, ownership }) => [labels[POOL_KEY], ownership]),
      [
        [undefined, ''],
        [undefined, ''],
        [undefined, ''],
      ],
    );
    assert.deepEqual(world.machines.changes, []);
  });

  it('keeps its nodes while the Machines are not known', async () => {
    const { world } = await machinesWorld();
    world.machines.unknown = { kind: 'unknown' };
    const deps = world.start();
    await wake(world, deps);
    assert.equal(world.pools.get('web')?.status?.nodes?.total, 3);
    assertBrief(conditionOf(world, 'MachinesReady') ?? '', 'Unknown MachinesUnknown', 'clusters/windows');
  });
});

describe('the size of a pool of machines', () => {
  it('is written once, and later changes of others are kept', async () => {
    const { world, deps } = await machinesWorld();
    world.apply(size(5));
    await wake(world, deps);
    settleMachines(world);
    await wake(world, deps);
    assert.deepEqual([world.machines.changes, world.nodes.length], [['scale 5'], 5]);
    world.machines.scale(2);
    settleMachines(world);
    await pass(world, deps, 30);
    assert.deepEqual([replicas(world), world.machines.changes], [2, ['scale 5', 'scale 2']]);
    world.apply(size(4));
    await wake(world, deps);
    assert.equal(replicas(world), 4);
  });

  it('is not changed while the spec has none', async () => {
    const { world, deps } = await machinesWorld();
    world.machines.scale(7);
    settleMachines(world);
    await pass(world, deps, 10);
    assert.deepEqual([replicas(world), world.pools.get('web')?.status?.summary?.nodes], [7, '7/7']);
  });

  it('is pending while the pool is paused', async () => {
    const { world, deps } = await machinesWorld();
    world.apply(machinesPool({ paused: true, machines: { desiredSize: 4 } }));
    await wake(world, deps);
    assert.equal(replicas(world), 3);
    assertBriefs(
      (world.pools.get('web')?.status?.pendingSteps ?? []).map(
        ({ description, reason }) => `${reason}: ${description}`,
      ),
      [['Paused', 'scale windows from 3 to 4 Machines']],
    );
  });
});

describe('the size of a pool of machines whose object is paused', () => {
  it('is written when it is no longer paused', async () => {
    const { world, deps } = await machinesWorld();
    const set = world.machines.set ?? assert.fail('no object');
    world.machines.set = { ...set, pausedBy: 'status.authoritativeAPI is ClusterAPI' };
    world.apply(size(4));
    await pass(world, deps, 5);
    assert.deepEqual(world.machines.changes, []);
    world.machines.set = set;
    await pass(world, deps, 5);
    assert.deepEqual(world.machines.changes, ['scale 4']);
  });
});

describe('a node of a Machine with the annotation', () => {
  it('replace is drained, and its Machine is deleted and not drained again', async () => {
    const { world, deps } = await machinesWorld();
    annotate(world, 'b', REPLACE);
    await untilSettled(world, deps);
    assert.deepEqual(world.machines.changes, ['delete b']);
    assert.deepEqual(world.machines.drainedAgain, []);
    assert.deepEqual(world.evicted, ['shop/cart-b 30']);
    assert.equal(names(world), 'a c d');
    const events = world.events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
    assertBriefs(
      events.filter((event) => /Disruption|MachineDeleted/.test(event)),
      [
        ['Normal NodeDisruptionStarted', 'replace node b', 'delete its Machine'],
        ['Normal MachineDeleted', 'node b'],
        ['Normal NodeDisruptionFinished', 'b'],
      ],
    );
  });

  it('replace waits for the turn of another one', async () => {
    const { world, deps } = await machinesWorld();
    annotate(world, 'a', REPLACE);
    annotate(world, 'b', REPLACE);
    let most = 0;
    const isDone = () => {
      most = Math.max(most, world.nodes.filter(({ unschedulable }) => unschedulable).length + 3 - world.nodes.length);
      settleMachines(world);
      return world.machines.changes.length === 2 && isSettled(world);
    };
    await until(world, deps, isDone, 'the replacement of both', 200);
    assert.deepEqual([world.machines.changes, most], [['delete a', 'delete b'], 1]);
  });

  it('remove lowers the number of Machines after its Machine is marked', async () => {
    const { world, deps } = await machinesWorld();
    annotate(world, 'b', REMOVE);
    await untilSettled(world, deps);
    assert.deepEqual(world.machines.changes, ['mark b', 'scale 2']);
    assert.equal(names(world), 'a c');
  });

  it('remove is rejected while the spec or an autoscaler sets the size', async () => {
    for (const [spec, set, why] of [
      [{ machines: { desiredSize: 3 } }, {}, 'machines.desiredSize is 3'],
      [{}, { sizedBy: 'an autoscaler' }, 'an autoscaler'],
      [{}, { outdated: 1 }, 'its controller would delete another Machine'],
    ] as const) {
      const { world, deps } = await machinesWorld(spec, set);
      annotate(world, 'b', REMOVE);
      await pass(world, deps, 5);
      assert.deepEqual([world.machines.changes, names(world)], [[], 'a b c']);
      assertBrief(conditionOf(world, 'Disrupting') ?? '', 'True RemovalRejected', 'b', why);
    }
  });

  it('replace waits while the Machines are paused or replaced by their controller', async () => {
    for (const change of [{ pausedBy: 'spec.paused is true' }, { isRollingOut: true, outdated: 2 }]) {
      const { world, deps } = await machinesWorld();
      world.machines.set = { ...(world.machines.set ?? assert.fail('no object')), ...change };
      annotate(world, 'b', REPLACE);
      await pass(world, deps, 5);
      assert.deepEqual([world.machines.changes, nodeOf(world, 'b')?.unschedulable], [[], false]);
      assertBrief(
        conditionOf(world, 'Disrupting') ?? '',
        'True DisruptionPending',
        'b',
        'MachineDeployment clusters/windows',
      );
    }
  });

  it('replace is rejected without permission, with the command that gives it', async () => {
    const { world, deps } = await machinesWorld({}, { usableBy: '' });
    annotate(world, 'b', REPLACE);
    await pass(world, deps, 5);
    assert.deepEqual([world.machines.changes, nodeOf(world, 'b')?.unschedulable], [[], false]);
    assertBrief(
      conditionOf(world, 'Disrupting') ?? '',
      'True MachineSetNotUsable',
      'Node b is not replaced',
      'annotate machinedeployment.cluster.x-k8s.io windows winpool.dev/usable-by=web --overwrite',
    );
  });

  it('replace stays if no Machine of the pool has it any more', async () => {
    const { world, deps } = await machinesWorld();
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    annotate(world, 'b', REPLACE);
    await pass(world, deps, 1);
    assert.equal(nodeOf(world, 'b')?.unschedulable, true);
    world.machines.machines = world.machines.machines.filter(({ name }) => name !== 'b');
    world.pods = [];
    await pass(world, deps, 5);
    assert.deepEqual([world.machines.changes, nodeOf(world, 'b')?.unschedulable], [[], false]);
  });

  it('remove lowers the number once, although the controller of the Machines deletes another one', async () => {
    const { world, deps } = await machinesWorld();
    world.machines.ignoresMarks = true;
    annotate(world, 'b', REMOVE);
    await untilSettled(world, deps);
    assert.deepEqual([world.machines.changes, replicas(world)], [['mark b', 'scale 2', 'delete b'], 2]);
    assert.equal(nodeOf(world, 'b'), undefined);
  });

  it('remove is not repeated while the controller of the Machines does nothing', async () => {
    const { world, deps } = await machinesWorld();
    annotate(world, 'b', REMOVE);
    await pass(world, deps, 10);
    assert.deepEqual(world.machines.changes, ['mark b', 'scale 2']);
    assert.equal(world.events.filter(({ reason }) => reason === 'MachineDeleted').length, 1);
    assertBrief(conditionOf(world, 'Disrupting') ?? '', 'True Draining', 'b', 'is about to delete its Machine');
  });

  it('stays if the permission is withdrawn right before its Machine is deleted', async () => {
    for (const annotation of [REPLACE, REMOVE]) {
      const { world, deps } = await machinesWorld();
      const allow = (usableBy: string) => {
        world.machines.set = { ...(world.machines.set ?? assert.fail('no object')), usableBy };
      };
      // The cache shows the permission until the end of the run.
      world.fails = (call) => {
        if (call === 'read pool') allow('web');
        if (call === 'get machines') allow('');
        return undefined;
      };
      annotate(world, 'b', annotation);
      await pass(world, deps, 2);
      assert.deepEqual(world.machines.changes, []);
    }
  });

  it('remove leaves no mark when it is canceled: the next removal takes no other node', async () => {
    const { world, deps } = await machinesWorld();
    world.fails = (call) => (call === 'patch machinesets/scale' ? sampleError('denied') : undefined);
    annotate(world, 'a', REMOVE);
    await pass(world, deps, 2);
    assert.deepEqual([...new Set(world.machines.changes)], ['mark a']);
    annotate(world, 'a', {});
    world.fails = () => undefined;
    await pass(world, deps, 2);
    assert.deepEqual([world.machines.changes.at(-1), machineIn(world, 'a').drainExcludedBy], ['unmark a', 'nobody']);
    annotate(world, 'c', REMOVE);
    const isDone = () => {
      settleMachines(world);
      return isSettled(world) && world.nodes.length === 2;
    };
    await until(world, deps, isDone, 'the removal of c');
    assert.equal(names(world), 'a b');
  });

  it('replace leaves no mark when it is canceled: other users of its Machine expect a drain', async () => {
    const { world, deps } = await machinesWorld();
    world.fails = (call) => (call === 'delete machines' ? sampleError('denied') : undefined);
    annotate(world, 'a', REPLACE);
    await pass(world, deps, 4);
    assert.equal(machineIn(world, 'a').drainExcludedBy, 'operator');
    assert.deepEqual(world.machines.changes, []);
    annotate(world, 'a', {});
    await pass(world, deps, 2);
    assert.deepEqual([world.machines.changes, machineIn(world, 'a').drainExcludedBy], [['unmark a'], 'nobody']);
  });

  it('keeps the marks of another pool that may use the object, or has created it', async () => {
    for (const owner of [{ usableBy: 'other' }, { usableBy: '', createdFor: 'other' }]) {
      const { world, deps } = await machinesWorld({}, owner);
      world.machines.mark(machineIn(world, 'a'), 2);
      await pass(world, deps, 3);
      assert.deepEqual(world.machines.changes, ['mark a']);
    }
  });

  it('stays cordoned while a finalizer keeps its Machine, but does not hold the budget forever', async () => {
    const { world, deps } = await machinesWorld();
    annotate(world, 'b', REPLACE);
    await pass(world, deps, 5);
    assertBrief(conditionOf(world, 'Disrupting') ?? '', 'True Draining', 'b', 'Its Machine is being deleted.');
    world.machines.machines = [
      ...world.machines.machines,
      { ...machineIn(world, 'a'), name: 'd', uid: 'd', node: 'd', providerID: 'sim://d' },
    ];
    world.nodes = [
      ...world.nodes,
      { ...(nodeOf(world, 'a') ?? assert.fail('no node')), name: 'd', uid: 'uid-d', providerID: 'sim://d' },
    ];
    await pass(world, deps, 60);
    assert.equal(nodeOf(world, 'b')?.unschedulable, true);
    assert.deepEqual(
      world.events.map(({ reason }) => reason).filter((reason) => reason.startsWith('NodeDisruption')),
      ['NodeDisruptionStarted'],
    );
    assert.equal(isSettled(world), true);
  });

  it('remove leaves no mark when the pool is deleted', async () => {
    const { world, deps } = await machinesWorld();
    world.fails = (call) => (call === 'patch machinesets/scale' ? sampleError('denied') : undefined);
    annotate(world, 'a', REMOVE);
    await pass(world, deps, 2);
    world.remove('web');
    await pass(world, deps, 1);
    assert.deepEqual([world.pools.size, world.machines.changes.at(-1)], [0, 'unmark a']);
  });

  it('is replaced once, whatever call the operator crashes at', async () => {
    for (const [annotation, expected] of [
      [REPLACE, ['delete b', 3]],
      [REMOVE, ['scale 2', 2]],
    ] as const) {
      await crashAtEach({
        prepare: async () => {
          const { world, deps } = await machinesWorld();
          annotate(world, 'b', annotation);
          return { world, deps };
        },
        finish: untilSettled,
        check: (world, where) => {
          const done = world.machines.changes.filter((change) => change === expected[0]);
          assert.deepEqual([done.length, world.nodes.length, replicas(world)], [1, expected[1], expected[1]], where);
        },
        moreThan: 8,
      });
    }
  });
});

describe('a Machine with the readiness gate', () => {
  it('gets the result of its node, once for each change', async () => {
    const { world, deps } = await machinesWorld();
    world.machines.machines = world.machines.machines.map((one) => ({ ...one, hasReadinessGate: one.name !== 'c' }));
    await pass(world, deps, 5);
    assert.deepEqual(world.machines.changes, ['report a True', 'report b True']);
    const b = nodeOf(world, 'b') ?? assert.fail('no node');
    world.setNode({ ...b, kernelVersion: '10.0.17763.1' });
    await pass(world, deps, 5);
    assert.deepEqual(world.machines.changes.slice(2), ['report b False']);
    world.setNode({ ...b, resourceVersion: '99' });
    await pass(world, deps, 5);
    assert.deepEqual(world.machines.changes.slice(3), ['report b True']);
  });

  it('gets none while the pool is paused', async () => {
    const { world, deps } = await machinesWorld({ paused: true });
    world.machines.machines = world.machines.machines.map((one) => ({ ...one, hasReadinessGate: true }));
    await pass(world, deps, 5);
    assert.deepEqual(world.machines.changes, []);
  });
});

describe('remediation of a pool of machines', () => {
  const remediation = { policy: 'Replace', unhealthyAfter: '10m', maxUnhealthy: 1 } as const;

  it('replaces a node that has failed for too long', async () => {
    const { world, deps } = await machinesWorld({ remediation });
    const b = nodeOf(world, 'b') ?? assert.fail('no node');
    world.setNode({ ...b, ready: 'False' });
    const isDone = () => {
      settleMachines(world);
      return world.machines.changes.length > 0 && isSettled(world) && names(world) === 'a c d';
    };
    await until(world, deps, isDone, 'the remediation', 200);
    assert.deepEqual(world.machines.changes, ['delete b']);
  });

  it('is left to a MachineHealthCheck that selects the Machines, and takes over when it is gone', async () => {
    const { world, deps } = await machinesWorld({ remediation });
    const check = { name: 'windows', uid: 'u', resourceVersion: '1', selector: {}, startupTimeoutMs: 600_000 };
    world.machines.healthChecks = [check];
    const b = nodeOf(world, 'b') ?? assert.fail('no node');
    world.setNode({ ...b, ready: 'False' });
    await pass(world, deps, 30);
    assert.deepEqual(world.machines.changes, []);
    assertBrief(
      conditionOf(world, 'RemediationAllowed') ?? '',
      'False RemediatedByHealthCheck',
      'MachineHealthCheck clusters/windows',
      'remediation.policy: Report',
    );
    assertBrief(conditionOf(world, 'MachinesReady') ?? '', 'True MachinesReady', '10 minutes', 'Raise');
    world.machines.healthChecks = [];
    await pass(world, deps, 5);
    assert.deepEqual(world.machines.changes, ['delete b']);
  });

  it('stops when too many nodes fail', async () => {
    const { world, deps } = await machinesWorld({ remediation });
    for (const name of ['a', 'b']) {
      const node = nodeOf(world, name) ?? assert.fail('no node');
      world.setNode({ ...node, ready: 'False' });
    }
    await pass(world, deps, 60);
    assert.deepEqual(world.machines.changes, []);
    assertBrief(conditionOf(world, 'RemediationAllowed') ?? '', 'False TooManyUnhealthy', 'maxUnhealthy');
  });
});
