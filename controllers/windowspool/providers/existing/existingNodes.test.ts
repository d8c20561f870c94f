import assert from 'node:assert/strict';
import fc from 'fast-check';
import { act } from '../../act.ts';
import {
  CORDONED_ANNOTATION,
  CORDONED_BY_OPERATOR,
  GATE_TAINT_KEY,
  POOL_KEY,
  QUARANTINE_TAINT_KEY,
} from '../../api/labels.ts';
import { evaluateConditions } from '../../conditions/evaluateConditions.ts';
import { derive, resultOf } from '../../derive.ts';
import { expectationOf } from '../../nodes/expectation.ts';
import { NODES_IN_A_RUN } from '../../nodes/nodeRules.ts';
import { marksIn } from '../../nodes/ownershipRecord.ts';
import { PoolNodes } from '../../nodes/poolNodes.ts';
import { observe } from '../../observe.ts';
import { planFor } from '../../plan.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { preview, previewText } from '../../preview.ts';
import { reconcile } from '../../reconcile.ts';
import { statusFor } from '../../reporting/poolStatus.ts';
import { nextRun, untilNextRead } from '../../schedule.ts';
import { describeStep } from '../../steps/stepKinds.ts';
import { Crash, FakeWorld } from '../../testing/fakeWorld.ts';
import {
  existingPool,
  MINUTE,
  NOW,
  outcomeOf,
  sampleError,
  sampleNode,
  sampleRuntimeClass,
  settings,
} from '../../testing/fixtures.ts';
import { assertMentions } from '../../testing/goldenTexts.ts';
import { pendingIn, ready, signal, until, wake } from '../../testing/life.ts';
import { nodeOf, populated } from '../../testing/nodeLife.ts';
import { wholeCondition } from '../../testing/wholeCondition.ts';

type Spec = Parameters<typeof existingPool>[0];

const bare = (name: string, change: Parameters<typeof sampleNode>[0] = {}) =>
  sampleNode({
    name,
    labels: {
      site: 'fra',
      'kubernetes.io/os': 'windows',
      'kubernetes.io/arch': 'amd64',
      'node.kubernetes.io/windows-build': '10.0.20348',
    },
    taints: [],
    verified: undefined,
    kubeletVersion: 'v1.36.1',
    capacity: { memory: '8388608Ki' },
    allocatable: { memory: '6291456Ki' },
    ...change,
  });

const many = (count: number) => Array.from({ length: count }, (_, index) => bare(`n${index}`, { uid: `uid-${index}` }));

const denied = (_call: string) => sampleError('denied');

/** A world with a settled pool of existing nodes. */
async function settledWorld(spec: Spec = {}, nodes = [bare('n1'), bare('n2')]) {
  const world = new FakeWorld();
  world.nodes = nodes;
  world.apply(existingPool(spec, { metadata: { finalizers: [], generation: 0 } }));
  const deps = world.start();
  const next = await wake(world, deps);
  return { world, deps, next };
}

const conditions = (world: FakeWorld) =>
  Object.fromEntries(
    (world.pools.get('web')?.status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  );
const message = (world: FakeWorld, conditionType: string) =>
  wholeCondition(world.pools.get('web'), conditionType)?.message;
const keysOf = (world: FakeWorld) => world.nodes.map(({ taints }) => taints.map(({ key }) => key));

describe('a pool of existing nodes', () => {
  it('labels, taints and verifies its nodes, and creates a RuntimeClass, without AWS calls', async () => {
    const { world, next } = await settledWorld({ labels: { tier: 'web' } });
    assert.deepEqual(conditions(world), {
      Ready: 'True EnoughNodesVerified',
      PrerequisitesMet: 'True Met',
      NodesFound: 'True NodesFound',
      RuntimeClassReady: 'True Available',
      NodesVerified: 'True AllVerified',
    });
    const { nodes, summary, nodeGroup, cluster } = world.pools.get('web')?.status ?? {};
    assert.deepEqual(
      [nodes?.desired, nodes?.total, summary?.nodes, nodeGroup, cluster],
      [undefined, 2, '2', undefined, undefined],
    );
    assert.deepEqual(
      world.nodes.map(({ labels, verified }) => [labels.tier, labels[POOL_KEY], verified?.status]),
      [
        ['web', 'web', 'True'],
        ['web', 'web', 'True'],
      ],
    );
    assert.deepEqual(keysOf(world), [['os'], ['os']]);
    assert.deepEqual(world.awsCalls(), []);
    assert.equal(next.kind === 'requeueAfter' && next.ms > 5 * MINUTE, true, JSON.stringify(next));
  });

  it('reports that it has no nodes, and what to check', async () => {
    const { world } = await settledWorld({}, [bare('n1', { labels: { site: 'ams' } })]);
    assert.deepEqual(
      [conditions(world).Ready, conditions(world).NodesFound],
      ['False NoNodesFound', 'False NoNodesFound'],
    );
    assertMentions(message(world, 'Ready'), 'spec.existingNodes', 'web');
  });

  it('is Ready until all nodes fail', async () => {
    const wrong = { kernelVersion: '10.0.17763.5' };
    const { world, deps } = await settledWorld({ verification: { policy: 'Quarantine' } }, [
      bare('n1'),
      bare('n2', wrong),
    ]);
    assert.deepEqual(
      [conditions(world).Ready, conditions(world).NodesVerified],
      ['True EnoughNodesVerified', 'False WrongBuild'],
    );
    assert.deepEqual(keysOf(world), [['os'], ['os', QUARANTINE_TAINT_KEY]]);
    const [first] = world.nodes;
    assert.ok(first);
    world.setNode({ ...first, ...wrong });
    await wake(world, deps);
    assert.equal(conditions(world).Ready, 'False WrongBuild');
  });

  it('requires pod addresses only of nodes with a kubelet of EKS', async () => {
    const onEks = bare('n2', { kubeletVersion: 'v1.36.1-eks-1234567' });
    const { world } = await settledWorld({}, [bare('n1'), onEks]);
    assert.deepEqual(
      world.pools.get('web')?.status?.failingNodes?.map(({ name, reason }) => `${name} ${reason}`),
      ['n2 NoPodAddresses'],
    );
  });

  it('restores a node that it no longer selects, and then drops it', async () => {
    const { world, deps } = await settledWorld({ labels: { tier: 'web' } });
    const [first] = world.nodes;
    assert.ok(first);
    world.setNode({ ...first, labels: { ...first.labels, site: 'ams' } });
    await until(world, deps, () => world.nodes[0]?.ownership === '', 'the node to be released');
    const [{ labels, taints, verified }] = world.nodes as [(typeof world.nodes)[number]];
    assert.deepEqual(
      { labels, taints, verified },
      { labels: { ...bare('n1').labels, site: 'ams' }, taints: [], verified: undefined },
    );
    await wake(world, deps);
    assert.equal(world.pools.get('web')?.status?.nodes?.total, 1);
    assert.ok(world.events.some(({ reason }) => reason === 'NodeReleased'));
  });

  it('restores a node that lost the Windows label, also while the operator was not running', async () => {
    for (const restarts of [false, true]) {
      const { world, deps } = await settledWorld({ labels: { tier: 'web' } });
      const [first] = world.nodes;
      assert.ok(first);
      const linux = { ...bare('n1').labels, 'kubernetes.io/os': 'linux' };
      const next = restarts ? world.start() : deps;
      world.setNode({ ...first, labels: { ...first.labels, 'kubernetes.io/os': 'linux' } });
      await until(world, next, () => world.nodes[0]?.ownership === '', 'the node to be released');
      assert.deepEqual([world.nodes[0]?.labels, world.nodes[0]?.taints], [linux, []]);
    }
  });

  it('is not deleted before nodes that the watch does not report are released', async () => {
    const { world, deps } = await settledWorld();
    await wake(world, deps);
    const next = world.start();
    await wake(world, next);
    const [first] = world.nodes;
    assert.ok(first);
    world.setNode({ ...first, labels: { ...first.labels, 'kubernetes.io/os': 'linux' } });
    world.remove('web');
    await until(world, world.start(), () => world.pools.size === 0, 'the deletion of the pool');
    assert.deepEqual(
      world.nodes.map(({ ownership, taints }) => [ownership, taints]),
      [
        ['', []],
        ['', []],
      ],
    );
  });

  it('pauses when another controller reverts its changes, and continues after that', async () => {
    const { world, deps } = await settledWorld({ labels: { tier: 'web' } });
    const fight = async () => {
      const [first] = world.nodes;
      assert.ok(first);
      world.setNode({ ...first, labels: { ...first.labels, tier: 'other' } });
      return reconcile('web', deps, signal);
    };
    for (let round = 0; round < 50; round++) await fight();
    const marks = world.calls.filter((call) => call === 'mark node').length;
    assert.ok(marks < 10, `${marks} writes`);
    await wake(world, deps);
    assert.equal(conditions(world).NodesFound, 'False NodeChangesReverted');
    assertMentions(message(world, 'NodesFound'), 'n1', '12:01Z');
    world.now += 2 * MINUTE;
    await wake(world, deps);
    assert.deepEqual([world.nodes[0]?.labels.tier, conditions(world).NodesFound], ['web', 'True NodesFound']);
  });

  it('quarantines a failing node also while another controller reverts its changes of that node', async () => {
    const { world, deps } = await settledWorld({ labels: { tier: 'web' }, verification: { policy: 'Quarantine' } });
    const edit = async (change: Partial<NodeRecord>) => {
      const [first] = world.nodes;
      assert.ok(first);
      world.setNode({ ...first, ...change, labels: { ...first.labels, tier: 'other' } });
      await reconcile('web', deps, signal);
    };
    for (let round = 0; round < 10; round++) await edit({});
    await edit({ kernelVersion: '10.0.17763.5' });
    await reconcile('web', deps, signal);
    assert.deepEqual(keysOf(world)[0], ['os', QUARANTINE_TAINT_KEY]);
  });

  it('reports that the API server rejects writes to its nodes', async () => {
    const { world, deps } = await settledWorld({ paused: true });
    const refusal = 'admission webhook "labels.example.com" refused the request';
    world.fails = (call) => (call === 'mark node' ? sampleError('refused', { message: refusal }) : undefined);
    world.apply(existingPool());
    await wake(world, deps);
    assertMentions(message(world, 'NodesVerified'), 'labels.example.com', 'kubectl annotate node n1');
  });

  it('has the same result after a crash at any call', async () => {
    for (let at = 0; ; at++) {
      const world = new FakeWorld();
      world.nodes = [bare('n1'), bare('n2')];
      world.apply(existingPool({ labels: { tier: 'web' } }, { metadata: { finalizers: [], generation: 0 } }));
      world.crash = { at, when: at % 2 === 0 ? 'before' : 'after' };
      let crashed = false;
      try {
        await wake(world, world.start());
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        crashed = true;
        world.crash = undefined;
        await wake(world, world.start());
      }
      assert.equal(ready(world), 'True');
      for (const { labels, ownership } of world.nodes) {
        assert.deepEqual([labels.tier, JSON.parse(ownership ?? '').labels.tier], ['web', { was: null, is: 'web' }]);
      }
      if (!crashed) break;
    }
  });

  for (const deletionPolicy of ['Delete', 'Retain'] as const) {
    it(`is deleted with ${deletionPolicy} when its nodes are released, also after a crash at any call`, async () => {
      for (let at = 0; ; at++) {
        const { world } = await settledWorld({ deletionPolicy, labels: { tier: 'web' } });
        world.remove('web');
        world.calls.length = 0;
        world.crash = { at, when: at % 2 === 0 ? 'before' : 'after' };
        let crashed = false;
        try {
          await until(world, world.start(), () => world.pools.size === 0, 'the deletion of the pool');
        } catch (error) {
          if (!(error instanceof Crash)) throw error;
          crashed = true;
          world.crash = undefined;
          await until(world, world.start(), () => world.pools.size === 0, 'the deletion of the pool');
        }
        const kept = deletionPolicy === 'Retain';
        for (const { labels, taints, ownership, verified } of world.nodes) {
          assert.deepEqual(
            [labels.tier, taints.length, ownership, verified],
            [kept ? 'web' : undefined, kept ? 1 : 0, '', undefined],
          );
        }
        assert.equal(world.runtimeClasses.size, kept ? 1 : 0);
        if (!crashed) break;
      }
    });
  }

  it('is not deleted while it cannot write to its nodes, except with Retain', async () => {
    const { world, deps } = await settledWorld();
    world.fails = (call) => (call.includes('node') ? sampleError('denied') : undefined);
    world.remove('web');
    await wake(world, deps);
    assert.equal(ready(world), 'False');
    assertMentions(message(world, 'NodesFound'), 'n1', 'n2');
    const pool = world.pools.get('web');
    assert.ok(pool);
    world.apply({ ...pool, spec: { ...pool.spec, deletionPolicy: 'Retain' } });
    await until(world, deps, () => world.pools.size === 0, 'the deletion of the pool');
    assert.ok(world.events.some(({ reason }) => reason === 'CleanupIncomplete'));
  });

  it('is deleted with Retain also when it has more nodes than one run writes, and all writes are denied', async () => {
    const { world, deps } = await settledWorld({ deletionPolicy: 'Retain' }, many(NODES_IN_A_RUN + 50));
    world.fails = (call) => (call.endsWith('node') || call === 'write node condition' ? denied(call) : undefined);
    world.remove('web');
    await until(world, deps, () => world.pools.size === 0, 'the deletion of the pool');
    assert.ok(
      world.events.some(({ message: text }) => /has 300 nodes with the annotation winpool\.dev\/ownership/.test(text)),
    );
  });

  it('has its labels and taints in status before it writes them to a node, and until no node has them', async () => {
    const { world, deps } = await settledWorld({ labels: { tier: 'web' } });
    const marks = () => world.pools.get('web')?.status?.tracking?.marks;
    const pool = world.pools.get('web') ?? assert.fail();
    assert.deepEqual(marks(), ['label/tier=web', 'taint/os=windows:NoSchedule']);
    world.apply({ ...pool, spec: { ...pool.spec, labels: { tier: 'db' } } });
    // Status is written at most once a second.
    world.now += 2_000;
    const without = world.nodes.map(({ labels }) => labels.tier);
    await reconcile('web', deps, signal);
    assert.deepEqual(marks(), ['label/tier=db', 'label/tier=web', 'taint/os=windows:NoSchedule']);
    assert.deepEqual(
      world.nodes.map(({ labels }) => labels.tier),
      without,
    );
    await until(world, deps, () => marks()?.length === 2, 'the former label to be forgotten');
    assert.deepEqual(
      world.nodes.map(({ labels }) => labels.tier),
      ['db', 'db'],
    );
    assert.deepEqual(marks(), ['label/tier=db', 'taint/os=windows:NoSchedule']);
  });

  it('writes all nodes in turn, also when the first ones are never written', async () => {
    const { world, deps } = await settledWorld({ paused: true }, many(1_000));
    const marks = marksIn(existingPool({ labels: { tier: 'web' } }).spec);
    const pool = existingPool({ labels: { tier: 'web' } }, { status: { tracking: { marks } } });
    const observed = await observe(pool, undefined, {
      readCache: deps.readCache,
      sources: deps,
      settings,
      now: NOW,
      signal,
    });
    const toRelease = world.nodes.map((node) => ({ ...node, ownership: '{}' }));
    const membership = observed.membership && { ...observed.membership, toRelease };
    for (const kind of ['markNode', 'releaseNode']) {
      const seen = new Set<string>();
      for (let minute = 0; minute < 60; minute++) {
        for (const step of planFor(
          derive({ ...observed, ...(membership && { membership }), now: NOW + minute * 61_000 }),
        ).steps)
          if (step.kind === kind && 'node' in step) seen.add(step.node.name);
      }
      assert.equal(seen.size, 1_000, kind);
    }
  });

  for (const how of ['paused', 'denied', 'going and denied'] as const) {
    it(`limits its calls for a node that it cannot release: ${how}`, async () => {
      const { world, deps } = await settledWorld();
      const [first] = world.nodes;
      assert.ok(first);
      world.setNode({ ...first, labels: { ...first.labels, 'kubernetes.io/os': 'linux' } });
      if (how !== 'denied') world.remove('web');
      const pool = world.pools.get('web');
      if (how === 'paused' && pool) world.apply({ ...pool, spec: { ...pool.spec, paused: true } });
      else world.fails = (call) => (call.startsWith('write node') ? sampleError('denied') : undefined);
      const end = world.now + 60 * MINUTE;
      world.calls.length = 0;
      while (world.now < end) {
        const next = await reconcile('web', deps, signal);
        world.now += next.kind === 'requeueAfter' ? next.ms : 1_000;
      }
      const asked = world.calls.filter((call) => call !== 'write status');
      assert.ok(asked.length < 300, `${asked.length} calls in an hour`);
      assert.ok(world.pools.has('web'));
    });
  }

  it('keeps a node whose selected label it overwrites, and restores it', async () => {
    const { world, deps } = await settledWorld({ labels: { site: 'ams' } });
    assert.deepEqual([world.nodes[0]?.labels.site, conditions(world).NodesFound], ['ams', 'True NodesFound']);
    world.remove('web');
    await until(world, deps, () => world.pools.size === 0, 'the deletion of the pool');
    assert.deepEqual(world.nodes[0]?.labels, bare('n1').labels);
  });

  it('keeps a node that is selected by an outdated build label', async () => {
    const matchLabels = { 'node.kubernetes.io/windows-build': '10.0.17763' };
    const stale = { ...bare('n1').labels, ...matchLabels };
    const { world } = await settledWorld({ existingNodes: { selector: { matchLabels } } }, [
      bare('n1', { labels: stale }),
    ]);
    assert.equal(conditions(world).NodesFound, 'True NodesFound');
  });

  it('leaves the gate taint to the next pool that selects the node', async () => {
    const gate = { key: GATE_TAINT_KEY, effect: 'NoSchedule' } as const;
    const wrong = bare('n1', { taints: [gate], kernelVersion: '10.0.17763.5' });
    const { world, deps } = await settledWorld({ verification: { policy: 'Gate' } }, [wrong]);
    const other = existingPool({ existingNodes: { selector: { matchLabels: { site: 'ams' } } } });
    world.apply({ ...other, metadata: { ...other.metadata, name: 'other', uid: 'other', finalizers: [] } });
    const [first] = world.nodes;
    assert.ok(first);
    // A kubelet can do this: the annotation proves nothing.
    world.setNode({ ...first, ownership: '{"pool":"other","gated":true,"labels":{},"taints":[]}' });
    for (let run = 0; run < 5; run++) await reconcile('other', deps, signal);
    assert.deepEqual(keysOf(world)[0], [GATE_TAINT_KEY, 'os']);
    await wake(world, deps);
    assert.match(world.nodes[0]?.ownership ?? '', /"pool":"web","gated":true/);
  });

  it('removes the gate taint when the policy changes', async () => {
    const gate = { key: GATE_TAINT_KEY, effect: 'NoSchedule' } as const;
    const wrong = bare('n1', { taints: [gate], kernelVersion: '10.0.17763.5' });
    const { world, deps } = await settledWorld({ verification: { policy: 'Gate' } }, [wrong, bare('n2')]);
    assert.deepEqual(keysOf(world)[0], [GATE_TAINT_KEY, 'os']);
    assert.match(message(world, 'NodesVerified') ?? '', /1 node is gated/);
    assert.match(world.nodes[1]?.verified?.message ?? '', /with 1 warning: joined without the taint/);
    world.apply(existingPool({ verification: { policy: 'Report' } }));
    await wake(world, deps);
    assert.deepEqual(keysOf(world)[0], ['os']);
  });

  it('leaves the condition and the cordon of a node of a node group to its pool, if the kubelet names another pool as the owner', async () => {
    const { world, deps } = await populated();
    world.apply(existingPool({}, { metadata: { name: 'hosts', uid: 'uid-hosts', finalizers: [], generation: 0 } }));
    await reconcile('hosts', deps, signal);
    const node = nodeOf(world, 'a') ?? assert.fail('there is no node a');
    const ownership = JSON.stringify({ pool: 'hosts', gated: false, labels: {}, taints: [] });
    const annotations = { [CORDONED_ANNOTATION]: CORDONED_BY_OPERATOR };
    world.setNode({ ...node, ownership, annotations, unschedulable: true });
    world.calls.splice(0);
    await reconcile('hosts', deps, signal);
    assert.deepEqual(
      world.calls.filter((call) => call.endsWith('node')),
      ['mark node'],
    );
    const { resourceVersion: _, ...after } = nodeOf(world, 'a') ?? {};
    const { resourceVersion: _version, ...before } = node;
    assert.deepEqual(after, { ...before, ownership: '', annotations, unschedulable: true });
  });

  it('changes nothing while it is paused, and shows the pending steps', async () => {
    const { world, deps } = await settledWorld({ paused: true, labels: { tier: 'web' } });
    assert.deepEqual(keysOf(world), [[], []]);
    assert.deepEqual(pendingIn(world).slice(1, 2), [
      "Paused: apply the pool's labels and taints to node n1: labels set tier, winpool.dev/pool; taints set os:NoSchedule",
    ]);
    const pool = world.pools.get('web');
    assert.ok(pool);
    const text = previewText(
      await preview(pool, { readCache: deps.readCache, sources: deps, settings, now: NOW, signal }),
    );
    assertMentions(text, 'when the pool is resumed', 'RuntimeClass windows-2022');
  });

  it('has steps, conditions and a status for any nodes', async () => {
    const node = fc
      .record({
        name: fc.constantFrom('a', 'b', 'c'),
        kernelVersion: fc.constantFrom('10.0.20348.1', '10.0.17763.5', 'odd'),
        ready: fc.constantFrom('True' as const, 'False' as const),
        ownership: fc.constantFrom('', '{}', '{"pool":"web","gated":false,"labels":{},"taints":[]}'),
      })
      .map((change) => bare(change.name, change));
    const nodes = fc.uniqueArray(node, { selector: ({ name }) => name });
    const error = fc.constantFrom('denied' as const, 'conflict' as const, 'unavailable' as const, 'refused' as const);
    const any = fc.record({
      spec: fc.record({
        paused: fc.boolean(),
        deletionPolicy: fc.constantFrom('Delete' as const, 'Retain' as const),
        policy: fc.constantFrom('Report' as const, 'Quarantine' as const, 'Gate' as const),
      }),
      going: fc.boolean(),
      nodes,
      toRelease: nodes,
      listed: fc.constantFrom(
        undefined,
        ...(['unknown', 'absent'] as const).map((kind) => ({
          list: { kind },
          unknown: [],
          lookups: new Map<string, string>(),
          unanswered: [],
          doubles: [],
          malformed: [],
          hasUsernames: false,
        })),
        {
          list: { kind: 'seen' as const, data: {} },
          unknown: ['10.0.0.1'],
          lookups: new Map([['win-1', 'does not resolve']]),
          unanswered: [],
          doubles: [['10.0.0.1', 'win-1'] as const],
          malformed: [{ entry: 'a_b', message: 'is wrong' }],
          hasUsernames: true,
        },
      ),
      contention: fc.constantFrom(
        { nodes: [], until: Number.POSITIVE_INFINITY },
        { nodes: ['a'], until: NOW + MINUTE },
      ),
      contested: fc.constantFrom(undefined, { node: 'x', holder: 'y', more: 2 }),
      errors: fc.array(
        error.map((kind) => ({ at: NOW, step: 'markNode' as const, error: sampleError(kind) })),
        { maxLength: 1 },
      ),
    });
    await fc.assert(
      fc.asyncProperty(
        any,
        async ({ spec: { policy, ...spec }, going, nodes: held, toRelease, listed, contention, contested, errors }) => {
          const metadata = going ? { deletionTimestamp: '2026-03-01T12:00:00Z' } : {};
          const pool = existingPool({ ...spec, verification: { policy } }, { metadata });
          const serverVersion = 'v1.36.3';
          const s = derive({
            pool,
            now: NOW,
            settings,
            poolNodes: new PoolNodes(
              held,
              expectationOf(pool, { hasGateTaint: false }, serverVersion, settings.joinGraceMs),
              NOW,
            ),
            nodePods: { kind: 'seen', pods: [] },
            otherPools: { disrupted: [], failures: [] },
            membership: {
              listed,
              contested,
              toRelease,
              awaited: new Set(),
              contention,
              nextReadAt: Number.POSITIVE_INFINITY,
            },
            runtimeClass: sampleRuntimeClass(),
            formerRuntimeClass: undefined,
            serverVersion,
            errors,
          });
          const plan = planFor(s);
          for (const step of [...plan.steps, ...plan.held.map(({ step }) => step)]) describeStep(step);
          const outcome = await act([], s, new FakeWorld().start(), signal);
          const status = statusFor(resultOf(outcome, s, plan.decisions), evaluateConditions(outcomeOf(s)), plan.held);
          assert.equal(status.nodeGroup, undefined);
          assert.ok(untilNextRead(s, 0) > MINUTE);
          assert.notEqual(nextRun(resultOf(outcome, s, plan.decisions), untilNextRead(s, 0)).kind, 'done');
        },
      ),
    );
  });
});
