import assert from 'node:assert/strict';
import { GATE_TAINT_KEY, POOL_KEY, REPLACE_ANNOTATION } from '../../api/labels.ts';
import type { NodePoolSpec } from '../../ports/karpenter.ts';
import type { Deps } from '../../reconcile.ts';
import { crashAtEach } from '../../testing/crashAtEach.ts';
import type { FakeWorld } from '../../testing/fakeWorld.ts';
import { MINUTE, sampleError, samplePool } from '../../testing/fixtures.ts';
import { assertBrief } from '../../testing/goldenTexts.ts';
import { editPool, karpenterWorld, NODE_CLASS, settleKarpenter } from '../../testing/karpenterScenes.ts';
import { conditionOf, pendingIn, ready, until, wake } from '../../testing/life.ts';
import { annotate, isSettled, nodeOf, pass, terminatingIn } from '../../testing/nodeLife.ts';

const GATE = { verification: { ...samplePool().spec.verification, policy: 'Gate' } } as const;
const REPLACE = { remediation: { policy: 'Replace', unhealthyAfter: '5m', maxUnhealthy: 2 } } as const;
const names = (world: FakeWorld) => world.nodes.map(({ name }) => name).join(' ');
const condition = (world: FakeWorld) => conditionOf(world, 'NodePoolReady') ?? '';
const specOf = (world: FakeWorld) => (world.karpenter.nodePool ?? assert.fail('no NodePool')).spec as NodePoolSpec;
const templateIn = (world: FakeWorld) => specOf(world).template.spec;

/** Runs until the nodes are these, and the pool holds no share of the budget. */
async function untilNodes(world: FakeWorld, deps: Deps, want: string): Promise<void> {
  const isDone = () => {
    settleKarpenter(world);
    return isSettled(world) && names(world) === want;
  };
  await until(world, deps, isDone, `the nodes ${want}`, 300);
  await wake(world, deps);
}

/** Runs until the pool is gone. */
async function untilDeleted(world: FakeWorld, deps: Deps): Promise<void> {
  const isGone = () => {
    settleKarpenter(world);
    return world.pools.size === 0;
  };
  await until(world, deps, isGone, 'the end of the pool', 100);
}

function fail(world: FakeWorld, name: string): void {
  world.setNode({ ...(nodeOf(world, name) ?? assert.fail('no node')), kernelVersion: '10.0.17763.1' });
}

describe('a pool of Karpenter', () => {
  it('creates its NodePool and verifies the nodes that Karpenter creates, without calls to AWS', async () => {
    const { world } = await karpenterWorld();
    assert.equal(ready(world), 'True');
    assert.match(condition(world), /^True NodePoolReady: NodePool web has 3 NodeClaims\.$/);
    const { status } = world.pools.get('web') ?? {};
    assert.deepEqual(status?.karpenter, { nodeClaims: 3, withoutNode: 0, deleting: 0, drifted: 0 });
    assert.deepEqual([status?.nodes?.total, status?.nodes?.verified, status?.summary?.nodes], [3, 3, '3']);
    assert.ok(world.nodes.every(({ labels }) => labels[POOL_KEY] === 'web'));
    assert.deepEqual(world.awsCalls(), []);
    assert.equal(world.metrics.get('web')?.['windowspool_node_claims{state="withNode"}'], 3);
  });

  it('writes nothing once it is settled', async () => {
    const { world, deps } = await karpenterWorld();
    await pass(world, deps, 60);
    assert.deepEqual(world.karpenter.changes, []);
    assert.deepEqual(
      world.calls.filter((call) => /patch|write|mark|taint|create|delete/.test(call)),
      [],
    );
  });

  it('is Ready without nodes, and stays so while the first ones join', async () => {
    const { world, deps } = await karpenterWorld({}, 0);
    assert.match(conditionOf(world, 'Ready') ?? '', /^True NoNodes: Karpenter creates nodes when pods need them\.$/);
    assert.match(conditionOf(world, 'NodesVerified') ?? '', /^True NoNodes/);
    world.karpenter.demand = 2;
    settleKarpenter(world);
    for (const { name } of world.nodes) {
      const node = nodeOf(world, name) ?? assert.fail('no node');
      world.setNode({ ...node, ready: 'False', createdAt: world.now });
    }
    await wake(world, deps);
    assert.match(conditionOf(world, 'Ready') ?? '', /^True Joining: 2 nodes are joining\.$/);
    fail(world, 'a');
    await wake(world, deps);
    assert.match(conditionOf(world, 'Ready') ?? '', /^False WrongBuild/);
  });

  it('opens the gate of verified nodes, and keeps that of others', async () => {
    const { world, deps } = await karpenterWorld(GATE, 1);
    assert.equal(templateIn(world).startupTaints[0]?.key, GATE_TAINT_KEY);
    const taintsOf = (name: string) => nodeOf(world, name)?.taints.map(({ key }) => key);
    assert.deepEqual(taintsOf('a'), ['os']);
    world.karpenter.demand = 2;
    settleKarpenter(world);
    fail(world, 'b');
    await pass(world, deps, 1);
    assert.deepEqual(taintsOf('b'), ['os', GATE_TAINT_KEY]);
  });

  it('takes no node that only has the name or the labels of one of its nodes', async () => {
    const { world, deps } = await karpenterWorld({}, 2);
    const a = nodeOf(world, 'a') ?? assert.fail('no node');
    world.nodes = [
      ...world.nodes.filter(({ name }) => name !== 'a'),
      { ...a, uid: 'uid-other', providerID: 'kwok://other' },
      { ...a, name: 'z', uid: 'uid-z', providerID: 'kwok://z' },
    ];
    await wake(world, deps);
    assert.equal(world.pools.get('web')?.status?.nodes?.total, 1);
  });

  it('says that a change of the template replaces every node, and makes it', async () => {
    const { world, deps } = await karpenterWorld();
    await pass(world, deps, 1);
    editPool(world, { paused: true, taints: [{ key: 'dedicated', value: 'win', effect: 'NoSchedule' }] });
    await wake(world, deps);
    assert.deepEqual(world.karpenter.changes, []);
    assert.match(pendingIn(world).join(), /change taints of NodePool web \(replaces every node\)/);
    editPool(world, { karpenter: { weight: 10 } });
    await wake(world, deps);
    assert.deepEqual(world.karpenter.changes, ['apply web']);
    assert.equal(specOf(world).weight, 10);
  });

  it('reverts a change of another client, at most once a minute', async () => {
    const { world, deps } = await karpenterWorld();
    await pass(world, deps, 2);
    for (let time = 0; time < 2; time++) {
      world.karpenter.change({ disruption: { ...specOf(world).disruption, budgets: [] } });
      await wake(world, deps);
    }
    assert.deepEqual(world.karpenter.changes, ['apply web']);
    assertBrief(condition(world), 'False Drifted', 'Another client changed budgets of NodePool web', 'reverts this at');
    await pass(world, deps, 2);
    assert.deepEqual(world.karpenter.changes, ['apply web', 'apply web']);
    assert.equal(specOf(world).disruption.budgets.length, 2);
  });

  it('leaves a NodePool that another tool created, also when it is deleted', async () => {
    const { world, deps } = await karpenterWorld();
    const nodePool = world.karpenter.nodePool ?? assert.fail('no NodePool');
    world.karpenter.nodePool = { ...nodePool, createdFor: '', appliedAt: 0 };
    await wake(world, deps);
    assertBrief(condition(world), 'False NodePoolNotOwned', 'did not create it', 'another name');
    assert.equal(world.pools.get('web')?.status?.nodes?.total, 0);
    world.remove('web');
    await untilDeleted(world, deps);
    assert.deepEqual(world.karpenter.changes, []);
  });

  it('keeps a NodePool whose labels another client has changed, and restores them', async () => {
    const { world, deps } = await karpenterWorld(GATE);
    await pass(world, deps, 2);
    world.karpenter.nodePool = { ...(world.karpenter.nodePool ?? assert.fail('no NodePool')), createdFor: '' };
    await wake(world, deps);
    assert.deepEqual(world.karpenter.changes, ['apply web']);
    assert.equal(world.pools.get('web')?.status?.nodes?.total, 3);
  });

  const problems: readonly (readonly [string, (world: FakeWorld) => void, readonly string[]])[] = [
    [
      'Karpenter is not installed',
      (world) => {
        world.karpenter.unknown = { kind: 'unknown', error: sampleError('gone') };
      },
      ['False KarpenterMissing', 'Install Karpenter'],
    ],
    [
      'it has no permission',
      (world) => {
        world.karpenter.unknown = { kind: 'unknown', error: sampleError('denied', { operation: 'watch nodepools' }) };
      },
      ['Unknown AccessDenied', 'config/karpenter'],
    ],
    [
      'the node class does not exist',
      (world) => {
        const { nodePool } = world.karpenter;
        if (nodePool) world.karpenter.nodePool = { ...nodePool, ready: 'False', problem: 'NodeClass not found' };
      },
      ['False NodePoolNotReady', 'NodeClass not found', 'kubectl describe nodepool web'],
    ],
    [
      'Karpenter does not run',
      (world) => {
        const { nodePool } = world.karpenter;
        if (nodePool) world.karpenter.nodePool = { ...nodePool, ready: 'Unknown' };
        world.now += 2 * MINUTE;
      },
      ['False NodePoolNotReady', 'has not evaluated', 'Check that it runs'],
    ],
    [
      'its nodes do not register',
      (world) => {
        const { nodePool } = world.karpenter;
        if (nodePool) world.karpenter.nodePool = { ...nodePool, registrationProblem: 'nodes did not register' };
      },
      ['False NodeClaimsWithoutNode', 'nodes did not register', 'kubectl describe nodepool web'],
    ],
    [
      'a NodeClaim gets no node',
      (world) => {
        const [claim] = world.karpenter.claims;
        if (claim) {
          const late = { ...claim, name: 'late', node: '', createdAt: world.now - 60 * MINUTE, problem: 'no capacity' };
          world.karpenter.claims = [...world.karpenter.claims, late];
        }
      },
      ['False NodeClaimsWithoutNode', 'late', 'no capacity', 'kubectl describe nodeclaim late'],
    ],
    [
      'a maintenance window can never open',
      (world) =>
        editPool(world, {
          karpenter: { update: { maintenanceWindows: [{ schedule: '0 0 31 2 *', duration: '1h' }] } },
        }),
      ['False InvalidMaintenanceWindow', 'spec.karpenter.update.maintenanceWindows[0]'],
    ],
  ];
  for (const [what, happens, parts] of problems)
    it(`says that ${what}`, async () => {
      const { world, deps } = await karpenterWorld();
      happens(world);
      await wake(world, deps);
      const [first = '', ...others] = parts;
      assertBrief(condition(world), first, ...others);
      assert.equal(world.nodes.length, 3);
    });

  it('says why the API server rejects its NodePool, and tries again when the spec changes', async () => {
    const { world, deps } = await karpenterWorld();
    world.fails = (call) =>
      call === 'patch nodepools' ? sampleError('refused', { message: 'label domain is restricted' }) : undefined;
    editPool(world, { karpenter: { weight: 5 } });
    await wake(world, deps);
    assertBrief(condition(world), 'False NodePoolRejected', 'label domain is restricted', 'Correct spec.karpenter');
    world.fails = () => undefined;
    editPool(world, { karpenter: { weight: 6 } });
    await wake(world, deps);
    assert.equal(specOf(world).weight, 6);
  });

  it('reports a replacement of a drifted node that Karpenter gives up, because it is verified too late', async () => {
    const { world, deps } = await karpenterWorld({}, 2);
    const [old, next] = world.karpenter.claims;
    const starting = { ...(next ?? assert.fail('no claim')), isInitialized: false, createdAt: world.now };
    world.karpenter.claims = [{ ...(old ?? assert.fail('no claim')), drift: 'AMIDrift' }, starting];
    await pass(world, deps, 9);
    assert.doesNotMatch(condition(world), /tries again/);
    await pass(world, deps, 2);
    assertBrief(
      condition(world),
      'True NodePoolReady',
      '1 new node did not become Ready',
      '10 minutes',
      'describe node b',
    );
  });

  it('shows how many nodes Karpenter replaces, and when', async () => {
    const { world, deps } = await karpenterWorld();
    world.karpenter.claims = world.karpenter.claims.map((claim) => ({ ...claim, drift: 'AMIDrift' }));
    await wake(world, deps);
    assertBrief(condition(world), 'True NodePoolReady', '3 nodes differ', 'AMIDrift', 'at most 1 at a time');
    const [first, ...others] = world.karpenter.claims;
    world.karpenter.claims = [{ ...(first ?? assert.fail('no claim')), isInitialized: false }, ...others];
    await wake(world, deps);
    assertBrief(condition(world), 'True NodePoolReady', '2 nodes differ', 'not replace 1 drifted node', 'node a');
    world.karpenter.claims = world.karpenter.claims.map((claim) => ({ ...claim, isInitialized: true }));
    const start = new Date(world.now + 90 * MINUTE);
    const schedule = `${start.getUTCMinutes()} ${start.getUTCHours()} * * *`;
    editPool(world, { karpenter: { update: { maintenanceWindows: [{ schedule, duration: '2h' }] } } });
    await wake(world, deps);
    settleKarpenter(world);
    await wake(world, deps);
    assertBrief(condition(world), 'True NodePoolReady', '3 nodes differ', 'in a maintenance window');
  });

  it('opens and closes the budget of the NodePool with its maintenance windows', async () => {
    const { world, deps } = await karpenterWorld();
    const start = new Date(world.now + 30 * MINUTE);
    const schedule = `${start.getUTCMinutes()} ${start.getUTCHours()} * * *`;
    editPool(world, { karpenter: { update: { maintenanceWindows: [{ schedule, duration: '1h' }] } } });
    const drifted = () => {
      const { budgets } = specOf(world).disruption;
      return budgets
        .filter(({ reasons }) => reasons.includes('Drifted'))
        .map((budget) => [budget.nodes, budget.schedule]);
    };
    await pass(world, deps, 5);
    assert.deepEqual(drifted(), [['0', undefined]]);
    await pass(world, deps, 30);
    const [open, closing, ...more] = drifted();
    assert.deepEqual([open, closing?.[0], more], [['1', undefined], '0', []]);
    const end = new Date(start.getTime() + 60 * MINUTE);
    assert.match(closing?.[1] ?? '', new RegExp(`^${end.getUTCMinutes()} ${end.getUTCHours()} ${end.getUTCDate()} `));
    await pass(world, deps, 70);
    assert.deepEqual(drifted(), [['0', undefined]]);
    assert.equal(world.karpenter.changes.length, 3);
  });
});

describe('a node of Karpenter', () => {
  for (const operation of ['replace', 'remove'])
    it(`with the annotation to ${operation} it has its NodeClaim deleted, and is drained by Karpenter alone`, async () => {
      const { world, deps } = await karpenterWorld();
      annotate(world, 'a', { [`winpool.dev/${operation}`]: 'true' });
      await untilNodes(world, deps, 'b c d');
      assert.deepEqual(world.karpenter.changes, ['delete claim a']);
      assert.deepEqual(
        world.calls.filter((call) => /cordon|evict|list pods/.test(call)),
        [],
      );
    });

  it('waits until the node before it is gone, and says for what Karpenter waits', async () => {
    const { world, deps } = await karpenterWorld();
    world.karpenter.kept.add('a');
    for (const name of ['a', 'b']) annotate(world, name, { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 5);
    assert.deepEqual(world.karpenter.changes, ['delete claim a']);
    assert.match(
      conditionOf(world, 'Disrupting') ?? '',
      /Karpenter drains it, and waits without a limit for volumes, and for pods with a PodDisruptionBudget/,
    );
    world.karpenter.kept.clear();
    await untilNodes(world, deps, 'c d e');
    assert.deepEqual(world.karpenter.changes, ['delete claim a', 'delete claim b']);
  });

  it('waits until Karpenter has drained another one, for however long and for whatever reason', async () => {
    const { world, deps } = await karpenterWorld({}, 4);
    world.karpenter.isRunning = false;
    for (const { name } of world.nodes) annotate(world, name, { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 120);
    assert.deepEqual(world.karpenter.changes, ['delete claim a']);
    world.karpenter.isRunning = true;
    await untilNodes(world, deps, 'e f g h');
    // A node that Karpenter removes for its own reasons counts, too.
    world.karpenter.kept.add('e');
    world.karpenter.claims = world.karpenter.claims.map((claim) => ({ ...claim, deleting: claim.name === 'e' }));
    world.karpenter.changes.splice(0);
    annotate(world, 'f', { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 30);
    assert.deepEqual(world.karpenter.changes, []);
    assert.match(conditionOf(world, 'Disrupting') ?? '', /Node f waits: at most 1 node may be unavailable/);
  });

  it('waits until the successor of another one has joined', async () => {
    const { world, deps } = await karpenterWorld();
    for (const name of ['a', 'b']) annotate(world, name, { [REPLACE_ANNOTATION]: 'true' });
    world.karpenter.registers = false;
    for (let minute = 0; minute < 8; minute++) {
      await pass(world, deps, 1);
      settleKarpenter(world);
    }
    assert.deepEqual(world.karpenter.changes, ['delete claim a']);
    world.karpenter.registers = true;
    await untilNodes(world, deps, 'c d e');
    assert.deepEqual(world.karpenter.changes, ['delete claim a', 'delete claim b']);
  });

  it('that fails for too long is replaced, unless too many fail', async () => {
    const { world, deps } = await karpenterWorld({ ...GATE, ...REPLACE });
    fail(world, 'a');
    await untilNodes(world, deps, 'b c d');
    assert.deepEqual(world.karpenter.changes, ['delete claim a']);
    for (const name of ['b', 'c', 'd']) fail(world, name);
    await pass(world, deps, 30);
    assert.deepEqual(world.karpenter.changes, ['delete claim a']);
    assert.match(conditionOf(world, 'RemediationAllowed') ?? '', /^False TooManyUnhealthy/);
  });

  it('stays while Karpenter has lost its NodePool, and if its request is cancelled', async () => {
    const { world, deps } = await karpenterWorld();
    world.karpenter.unknown = { kind: 'unknown', error: sampleError('unavailable') };
    annotate(world, 'a', { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 5);
    assert.match(conditionOf(world, 'Disrupting') ?? '', /NodePool web cannot be read/);
    annotate(world, 'a', {});
    world.karpenter.unknown = undefined;
    await pass(world, deps, 5);
    assert.deepEqual([world.karpenter.changes, terminatingIn(world)], [[], []]);
  });

  it('is replaced once, whatever call the operator crashes at', async () => {
    const { world: sample } = await karpenterWorld();
    assert.equal(names(sample), 'a b c');
    await crashAtEach({
      prepare: async () => {
        const { world, deps } = await karpenterWorld();
        annotate(world, 'a', { [REPLACE_ANNOTATION]: 'true' });
        return { world, deps };
      },
      finish: (world, deps) => untilNodes(world, deps, 'b c d'),
      check: (world, where) => assert.deepEqual(new Set(world.karpenter.changes), new Set(['delete claim a']), where),
      moreThan: 5,
    });
  });
});

describe('the deletion of a pool of Karpenter', () => {
  it('deletes the NodePool, and waits until its nodes are gone', async () => {
    const { world, deps } = await karpenterWorld();
    world.karpenter.kept.add('b');
    world.remove('web');
    await pass(world, deps, 1);
    settleKarpenter(world);
    await wake(world, deps);
    assertBrief(condition(world), 'False NodePoolDeleting', '1 NodeClaim left');
    world.karpenter.kept.clear();
    await untilDeleted(world, deps);
    assert.deepEqual(
      [world.karpenter.changes, world.nodes.length, world.karpenter.nodePool],
      [['delete the NodePool'], 0, undefined],
    );
  });

  it('with Retain keeps the NodePool without the gate, that no controller would open', async () => {
    const { world, deps } = await karpenterWorld({ ...GATE, deletionPolicy: 'Retain' });
    world.remove('web');
    await untilDeleted(world, deps);
    assert.deepEqual(world.karpenter.changes, ['apply web']);
    assert.deepEqual([templateIn(world).startupTaints, world.nodes.length], [[], 3]);
  });

  it('with Retain waits until the NodePool is read: otherwise, the gate would stay forever', async () => {
    const { world, deps } = await karpenterWorld({ ...GATE, deletionPolicy: 'Retain' });
    for (const unknown of [{}, { error: sampleError('unavailable') }]) {
      world.karpenter.unknown = { kind: 'unknown', ...unknown };
      world.remove('web');
      await pass(world, deps, 5);
      assertBrief(condition(world), 'False NodePoolUnknown', 'still has the gate');
      assert.equal(world.pools.size, 1);
    }
    world.karpenter.unknown = undefined;
    await untilDeleted(world, deps);
    assert.deepEqual([world.karpenter.changes, templateIn(world).startupTaints], [['apply web'], []]);
  });

  it('with Retain deletes NodeClaims that would become nodes with the gate, and opens the budgets', async () => {
    const maintenanceWindows = [{ schedule: '0 2 1 1 *', duration: '1h' }];
    const update = { maintenanceWindows };
    const { world, deps } = await karpenterWorld({ ...GATE, deletionPolicy: 'Retain', karpenter: { update } });
    world.karpenter.registers = false;
    world.karpenter.demand = 4;
    settleKarpenter(world);
    await wake(world, deps);
    world.remove('web');
    await untilDeleted(world, deps);
    assert.deepEqual(world.karpenter.changes, ['apply web', 'delete claim d']);
    assert.deepEqual(
      specOf(world).disruption.budgets.map(({ nodes }) => nodes),
      ['10%', '1'],
    );
  });

  for (const kind of ['refused', 'denied'] as const)
    it(`with Retain is done although the change of the NodePool is ${kind}, and says what stays`, async () => {
      const { world, deps } = await karpenterWorld({ ...GATE, deletionPolicy: 'Retain' });
      world.fails = (call) => (call === 'patch nodepools' ? sampleError(kind) : undefined);
      world.remove('web');
      await untilDeleted(world, deps);
      assert.match(JSON.stringify(world.events), /keeps the gate and the budgets of the pool in its NodePool/);
    });

  for (const deletionPolicy of ['Delete', 'Retain'] as const)
    it(`with ${deletionPolicy} is done once, whatever call the operator crashes at`, async () => {
      await crashAtEach({
        prepare: async () => {
          const { world, deps } = await karpenterWorld({ ...GATE, deletionPolicy }, 1);
          world.remove('web');
          return { world, deps };
        },
        finish: (world, deps) => untilDeleted(world, deps),
        check: (world, where) => {
          assert.equal(world.pools.size, 0, where);
          assert.equal(world.nodes.length, deletionPolicy === 'Delete' ? 0 : 1, where);
        },
        moreThan: 3,
      });
    });

  it('is created once, whatever call the operator crashes at', async () => {
    await crashAtEach({
      prepare: async () => {
        const { world } = await karpenterWorld({}, 0);
        world.karpenter.nodePool = undefined;
        return { world, deps: world.start() };
      },
      finish: async (world, deps) => {
        const isReady = () => {
          settleKarpenter(world);
          return condition(world).startsWith('True');
        };
        await until(world, deps, isReady, 'a NodePool', 60);
      },
      check: (world, where) => assert.ok(world.karpenter.changes.length <= 1, where),
      moreThan: 1,
    });
  });
});

describe('failing nodes of a pool of Karpenter', () => {
  const FITS = {
    nodeSelector: { 'kubernetes.io/os': 'windows' },
    tolerations: [{ key: 'os', operator: 'Exists' }],
  } as const;
  const pods = (...names: string[]) => names.map((name) => ({ namespace: 'shop', name, ...FITS }));

  /** A world in which node d joins with another build, so that its gate stays closed. */
  async function withHeldNode(spec: Parameters<typeof karpenterWorld>[0]) {
    const { world, deps } = await karpenterWorld({ ...GATE, ...spec });
    const elsewhere = { ...FITS, nodeSelector: { 'kubernetes.io/os': 'linux' } };
    world.karpenter.pendingPods = [
      ...pods('a', 'b', 'c', 'd'),
      { namespace: 'shop', name: 'linux', ...elsewhere },
      { namespace: 'shop', name: 'intolerant', ...FITS, tolerations: [] },
    ];
    world.karpenter.demand = 4;
    settleKarpenter(world);
    fail(world, 'd');
    await pass(world, deps, 2);
    return { world, deps };
  }

  const cases: readonly (readonly [what: string, spec: object, next: string])[] = [
    ['only reports them', {}, 'To replace the node: kubectl annotate node d winpool.dev/replace=true'],
    ['replaces them', REPLACE, 'The operator replaces a node that has failed for 5m (remediation.unhealthyAfter).'],
    [
      'remediates none while many fail',
      { remediation: { ...REPLACE.remediation, maxUnhealthy: 0 } },
      'The operator replaces none (TooManyUnhealthy). To replace one: kubectl annotate node d winpool.dev/replace=true',
    ],
  ];
  for (const [what, spec, next] of cases)
    it(`are named with the pods that wait for them, if the pool ${what}`, async () => {
      const { world, deps } = await withHeldNode(spec);
      assertBrief(
        condition(world),
        'True NodePoolReady',
        '4 pods may wait for d, because Karpenter starts no other node for them: shop/a, shop/b, shop/c and 1 more.',
        next,
      );
      world.karpenter.pendingPods = [];
      world.now += deps.settings.pollMs;
      await wake(world, deps);
      assert.equal(condition(world), 'True NodePoolReady: NodePool web has 4 NodeClaims.');
    });

  it('are named with these pods while the budget holds up their replacement', async () => {
    const { world, deps } = await withHeldNode(REPLACE);
    world.karpenter.kept.add('a');
    annotate(world, 'a', { [REPLACE_ANNOTATION]: 'true' });
    await pass(world, deps, 1);
    world.now += 6 * MINUTE;
    await pass(world, deps, 1);
    assertBrief(
      condition(world),
      'True NodePoolReady',
      'The node is replaced later: at most 1 node may be unavailable at a time.',
    );
  });

  for (const policy of ['Report', 'Gate', 'Quarantine'] as const)
    it(`keep the build label of the pool under ${policy}, by which Karpenter plans pods onto them`, async () => {
      const { world, deps } = await karpenterWorld({ verification: { ...GATE.verification, policy } });
      fail(world, 'a');
      await pass(world, deps, 5);
      assert.match(conditionOf(world, 'NodesVerified') ?? '', /^False WrongBuild: /);
      assert.equal(nodeOf(world, 'a')?.labels['node.kubernetes.io/windows-build'], '10.0.20348');
      assert.doesNotMatch(conditionOf(world, 'NodesVerified') ?? '', /has the label/);
    });

  it('are quarantined only while few fail, because Karpenter creates another node for the pods of each', async () => {
    const verification = { ...GATE.verification, policy: 'Quarantine' } as const;
    const { world, deps } = await karpenterWorld({
      verification,
      remediation: { ...REPLACE.remediation, policy: 'Report' },
    });
    const quarantined = () => world.nodes.filter(({ taints }) => taints.length > 1).map(({ name }) => name);
    for (const name of ['a', 'b']) {
      fail(world, name);
      await pass(world, deps, 3);
    }
    assert.deepEqual(quarantined(), ['a', 'b']);
    fail(world, 'c');
    await pass(world, deps, 3);
    assert.match(conditionOf(world, 'RemediationAllowed') ?? '', /^False TooManyUnhealthy/);
    assert.deepEqual(quarantined(), ['a', 'b']);
  });

  it('are left to Karpenter while that runs with NodeRepair', async () => {
    const { world, deps } = await karpenterWorld(REPLACE);
    world.karpenter.repairsNodes = true;
    world.now += deps.settings.pollMs;
    fail(world, 'a');
    await pass(world, deps, 1);
    world.now += 10 * MINUTE;
    await pass(world, deps, 5);
    assert.match(conditionOf(world, 'RemediationAllowed') ?? '', /^False RemediatedByNodeRepair: /);
    assert.deepEqual(world.karpenter.changes, []);
    world.karpenter.repairsNodes = false;
    await until(world, deps, () => world.karpenter.changes.length > 0, 'a remediation', 100);
    assert.deepEqual(world.karpenter.changes, ['delete claim a']);
  });

  it('are replaced if it is not known whether Karpenter runs with NodeRepair, which the pool says', async () => {
    const { world, deps } = await karpenterWorld(REPLACE);
    world.fails = (call) => (call === 'list deployments.apps' ? sampleError('denied') : undefined);
    world.now += deps.settings.pollMs;
    fail(world, 'a');
    await pass(world, deps, 1);
    assertBrief(
      condition(world),
      'True NodePoolReady',
      'not known whether Karpenter runs with the feature gate NodeRepair',
    );
    await until(world, deps, () => world.karpenter.changes.length > 0, 'a remediation', 100);
  });
});

describe('the EC2NodeClass of a pool of Karpenter', () => {
  it('is created before the NodePool, and deleted after it', async () => {
    const { world, deps } = await karpenterWorld({ karpenter: NODE_CLASS });
    assert.equal(ready(world), 'True');
    assert.deepEqual(templateIn(world).nodeClassRef, { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'web' });
    world.karpenter.kept.add('a');
    world.remove('web');
    await pass(world, deps, 1);
    settleKarpenter(world);
    await pass(world, deps, 1);
    assert.deepEqual(world.karpenter.changes, ['delete the NodePool']);
    world.karpenter.kept.clear();
    await untilDeleted(world, deps);
    assert.deepEqual(world.karpenter.changes, ['delete the NodePool', 'delete the EC2NodeClass']);
    assert.equal(world.karpenter.nodeClass, undefined);
  });

  it('says what Karpenter does not find, and keeps the NodePool', async () => {
    const { world, deps } = await karpenterWorld({ karpenter: NODE_CLASS });
    const { nodeClass } = world.karpenter;
    if (nodeClass)
      world.karpenter.nodeClass = { ...nodeClass, ready: 'False', problem: 'AMISelector did not match any AMIs' };
    await wake(world, deps);
    assertBrief(
      condition(world),
      'False NodePoolNotReady',
      'EC2NodeClass web: AMISelector did not match any AMIs',
      'kubectl describe ec2nodeclass web',
    );
    assert.deepEqual(world.karpenter.changes, []);
  });

  it('is changed with a new AMI, which replaces every node, and not with other subnets', async () => {
    const { world, deps } = await karpenterWorld({ karpenter: NODE_CLASS });
    await pass(world, deps, 1);
    const nodeClass = NODE_CLASS.nodeClass ?? assert.fail('no node class');
    const changes: readonly (readonly [Partial<typeof nodeClass>, string])[] = [
      [{ ami: { id: 'ami-00000000000000001' } }, 'change amiSelectorTerms of EC2NodeClass web (replaces every node)'],
      [
        { subnets: [{ id: 'subnet-0123456789abcdef0' }] },
        'change subnetSelectorTerms of EC2NodeClass web (replaces nodes that do not match)',
      ],
    ];
    for (const [change, step] of changes) {
      editPool(world, { paused: true, karpenter: { nodeClass: { ...nodeClass, ...change } } });
      await wake(world, deps);
      assert.deepEqual(pendingIn(world), [`Paused: ${step}`]);
    }
    assert.deepEqual(world.karpenter.changes, []);
  });

  it('of another owner is adopted only if the pool and the owner want that, after which it is kept', async () => {
    const { world, deps } = await karpenterWorld({ karpenter: NODE_CLASS });
    const { nodeClass, nodePool } = world.karpenter;
    const foreign = { createdFor: '', appliedAt: 0, manifestHash: '' };
    world.karpenter.nodeClass = { ...(nodeClass ?? assert.fail('none')), ...foreign };
    const spec = { ...(nodePool?.spec as NodePoolSpec), weight: 3 };
    world.karpenter.nodePool = { ...(nodePool ?? assert.fail('none')), ...foreign, spec };
    const adopting = { karpenter: { ...NODE_CLASS, adoption: 'IfUnowned', weight: 7 } } as const;
    editPool(world, adopting);
    await wake(world, deps);
    assertBrief(
      condition(world),
      'False NodePoolNotOwned',
      'kubectl annotate ec2nodeclass web winpool.dev/adoptable-by=web',
    );
    assert.deepEqual(world.karpenter.changes, []);
    world.karpenter.nodeClass = { ...world.karpenter.nodeClass, adoptableBy: 'web' };
    world.karpenter.nodePool = { ...world.karpenter.nodePool, adoptableBy: 'web' };
    editPool(world, { ...adopting, paused: true });
    await wake(world, deps);
    assert.match(pendingIn(world).join(), /adopt, with changes of metadata\.labels of EC2NodeClass web/);
    editPool(world, { karpenter: { ...NODE_CLASS, weight: 7 } });
    await wake(world, deps);
    assert.deepEqual(world.karpenter.changes, [], 'the owner alone does not suffice');
    editPool(world, adopting);
    await pass(world, deps, 5);
    assert.deepEqual(world.karpenter.changes, ['apply class web', 'apply web']);
    assert.deepEqual([specOf(world).weight, ready(world)], [7, 'True']);
  });

  it('of another owner is left alone, and no NodePool is created for it', async () => {
    const { world, deps } = await karpenterWorld({ karpenter: NODE_CLASS });
    world.karpenter.nodePool = undefined;
    world.karpenter.nodeClass = { ...(world.karpenter.nodeClass ?? assert.fail('none')), createdFor: '', appliedAt: 0 };
    await wake(world, deps);
    assertBrief(condition(world), 'False NodePoolNotOwned', 'EC2NodeClass web exists', 'another name');
    assert.deepEqual(world.karpenter.changes, []);
  });

  it('is deleted once with its pool, whatever call the operator crashes at', async () => {
    await crashAtEach({
      prepare: async () => {
        const { world, deps } = await karpenterWorld({ karpenter: NODE_CLASS }, 1);
        world.remove('web');
        return { world, deps };
      },
      finish: (world, deps) => untilDeleted(world, deps),
      check: ({ karpenter: { nodePool, nodeClass }, nodes }, where) =>
        assert.deepEqual([nodePool, nodeClass, nodes], [undefined, undefined, []], where),
      moreThan: 4,
    });
  });
});
