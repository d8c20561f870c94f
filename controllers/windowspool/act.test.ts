import assert from 'node:assert/strict';
import { act } from './act.ts';
import type { Step } from './model/steps.ts';
import type { Writers } from './model/writers.ts';
import type { CallError } from './ports/callResult.ts';
import type { NodeRecord } from './ports/nodes.ts';
import type { EksState } from './providers/nodeGroup/model/groupState.ts';
import { runtimeClassFor } from './runtimeClass/runtimeClass.ts';
import { Crash, FakeWorld } from './testing/fakeWorld.ts';
import {
  APPLIED,
  CLUSTER_ARN,
  knownStatus,
  NOW,
  newNodeGroup,
  sampleError,
  sampleGroup,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleRuntimeClass,
  sampleState,
} from './testing/fixtures.ts';

const { signal } = new AbortController();
const pool = samplePool({}, { metadata: { finalizers: [] } });
const desired = runtimeClassFor(pool) ?? assert.fail();
const remember = {
  kind: 'writeAhead',
  ahead: {
    cluster: { name: 'prod', arn: CLUSTER_ARN },
    nodeGroupName: 'web',
    initial: { applied: APPLIED, desired: undefined },
  },
} as const satisfies Step;
const create: Step = { kind: 'createNodeGroup', desired: newNodeGroup(pool), token: 't' };
const createClass: Step = { kind: 'createRuntimeClass', desired };
const label: Step = { kind: 'labelNode', node: sampleNode({ name: 'ip-1' }), build: '10.0.20348' };
const otherLabel: Step = { kind: 'labelNode', node: sampleNode({ name: 'ip-2' }), build: '10.0.20348' };
const everything: readonly Step[] = [{ kind: 'addFinalizer' }, remember, create, createClass, label, otherLabel];

async function run(
  steps: readonly Step[],
  change: Partial<EksState> = {},
  fails: FakeWorld['fails'] = () => undefined,
) {
  const world = new FakeWorld();
  const s = sampleState({ pool, group: { kind: 'absent' }, ...change });
  world.pools.set('web', s.pool);
  if (s.group.kind === 'seen') world.makeGroup(s.group.group);
  world.nodes = [sampleNode({ name: 'ip-1' }), sampleNode({ name: 'ip-2' })];
  world.fails = fails;
  const writers: Writers = world.start();
  const outcome = await act(steps, s, writers, signal);
  return { world, outcome, done: outcome.done.map(({ kind }) => kind) };
}

const only = (call: string, kind: CallError['kind']) => (now: string) => (now === call ? sampleError(kind) : undefined);

describe('the steps', () => {
  it('are taken in order, each on the result of the previous one', async () => {
    const { world, outcome } = await run(everything);
    assert.deepEqual(world.calls, [
      'add finalizer',
      'write status',
      'CreateNodegroup',
      'create RuntimeClass',
      'label node',
      'label node',
    ]);
    assert.deepEqual([outcome.done, outcome.after.errors, outcome.released], [everything, [], false]);
    const status = {
      ...pool.status,
      cluster: { name: 'prod', arn: CLUSTER_ARN },
      nodeGroup: { name: 'web' },
      tracking: { applied: APPLIED },
    };
    assert.deepEqual(outcome.after.pool.status, status);
    assert.equal(outcome.after.group.kind === 'seen' && outcome.after.group.group.status, 'CREATING');
  });

  const isolation: readonly (readonly [string, string, readonly string[]])[] = [
    ['the finalizer: nothing is created', 'add finalizer', []],
    [
      'the status: AWS is not changed',
      'write status',
      ['addFinalizer', 'createRuntimeClass', 'labelNode', 'labelNode'],
    ],
    [
      'the node group: the other steps continue',
      'CreateNodegroup',
      ['addFinalizer', 'writeAhead', 'createRuntimeClass', 'labelNode', 'labelNode'],
    ],
    [
      'the RuntimeClass: the other steps continue',
      'create RuntimeClass',
      ['addFinalizer', 'writeAhead', 'createNodeGroup', 'labelNode', 'labelNode'],
    ],
  ];
  for (const [name, call, want] of isolation) {
    it(`isolate an error of ${name}`, async () => {
      const { done, outcome } = await run(everything, {}, only(call, 'denied'));
      assert.deepEqual(done, want);
      assert.deepEqual(
        outcome.after.errors.map(({ error }) => [error.operation, error.kind]),
        [[call, 'denied']],
      );
    });
  }

  it('are skipped with the reason: another one failed, or their node is gone', async () => {
    const reasons = async (call: string, kind: CallError['kind']) => {
      const { outcome } = await run([remember, create, label], {}, only(call, kind));
      return outcome.skipped.map(({ step, why }) => [step.kind, why]);
    };
    assert.deepEqual(await reasons('write status', 'denied'), [['createNodeGroup', 'failure']]);
    assert.deepEqual(await reasons('label node', 'gone'), [['labelNode', 'gone']]);
    assert.deepEqual(await reasons('label node', 'denied'), []);
  });

  it('that follow an update of a retained group are skipped until EKS has finished it', async () => {
    const update: Step = { kind: 'updateConfig', group: 'web', change: {}, token: 't', target: 'x', retain: true };
    const { outcome } = await run([update, label, { kind: 'removeFinalizer' }], {
      group: { kind: 'seen', group: sampleGroup() },
    });
    assert.deepEqual(
      outcome.skipped.map(({ step, why }) => [step.kind, why]),
      [
        ['labelNode', 'update'],
        ['removeFinalizer', 'update'],
      ],
    );
  });

  it('isolate an error of one node from the other nodes', async () => {
    let first = true;
    const { done, outcome } = await run([label, otherLabel], {}, () => {
      const error = first ? sampleError('conflict') : undefined;
      first = false;
      return error;
    });
    assert.deepEqual([done, outcome.after.errors.map(({ step }) => step)], [['labelNode'], ['labelNode']]);
  });

  it('are taken in parallel for different nodes, and in order for one node', async () => {
    const nodes = sampleNodes(40);
    let open = 0;
    let most = 0;
    const calls: string[] = [];
    const call = async (what: string, { name }: NodeRecord) => {
      most = Math.max(most, ++open);
      calls.push(`${what} ${name}`);
      await new Promise(setImmediate);
      open -= 1;
      return { ok: true, value: undefined } as const;
    };
    const writers = {
      ...new FakeWorld().start(),
      nodes: {
        read: () => assert.fail('nothing is read'),
        outside: () => assert.fail('nothing is listed'),
        ofPool: () => assert.fail('nothing is counted'),
        ofGroup: () => assert.fail('nothing is counted'),
        setLabel: (node: NodeRecord) => call('label', node),
        setTaints: (node: NodeRecord) => call('taint', node),
        setMarks: (node: NodeRecord) => call('mark', node),
        setConditions: (node: NodeRecord) => call('tell', node),
        cordon: (node: NodeRecord) => call('cordon', node),
        restore: (node: NodeRecord) => call('restore', node),
      },
    };
    const change = { set: [], remove: [] };
    const steps = [
      ...nodes.map((node): Step => ({ kind: 'labelNode', node, build: '10.0.20348' })),
      ...nodes.map((node): Step => ({ kind: 'taintNode', node, change })),
    ];
    const { done } = await act(steps, sampleState(), writers, signal);
    assert.deepEqual([done.length, most], [80, 16]);
    for (const { name } of nodes) {
      assert.deepEqual(
        calls.filter((each) => each.endsWith(` ${name}`)),
        [`label ${name}`, `taint ${name}`],
      );
    }
  });

  it('start nothing on other nodes after a crash on one', async () => {
    const world = new FakeWorld();
    world.crash = { at: 20, when: 'before' };
    const steps = sampleNodes(100).map((node): Step => ({ kind: 'labelNode', node, build: '10.0.20348' }));
    await assert.rejects(act(steps, sampleState(), world.start(), signal), Crash);
    await new Promise(setImmediate);
    assert.ok(world.calls.length < 40, `${world.calls.length} calls`);
  });

  it('keep the errors of the observed state', async () => {
    const before = { at: NOW, step: 'describeUpdate' as const, error: sampleError('denied') };
    const { outcome } = await run([create], { errors: [before] }, only('CreateNodegroup', 'limit'));
    assert.deepEqual(
      outcome.after.errors.map(({ step }) => step),
      ['describeUpdate', 'createNodeGroup'],
    );
  });
});

describe('the finalizer', () => {
  const held = samplePool();
  const release: Step = { kind: 'releaseRuntimeClass', seen: sampleRuntimeClass() };

  it('is removed last', async () => {
    const { outcome, world } = await run([release, { kind: 'removeFinalizer' }], { pool: held });
    assert.deepEqual([outcome.released, world.calls], [true, ['remove owner of RuntimeClass', 'remove finalizer']]);
  });

  it('is not removed when an earlier step failed', async () => {
    const fails = only('remove owner of RuntimeClass', 'unavailable');
    const { outcome, world } = await run([release, { kind: 'removeFinalizer' }], { pool: held }, fails);
    assert.deepEqual([outcome.released, world.calls], [false, ['remove owner of RuntimeClass']]);
  });
});

describe('the observed state after the steps', () => {
  const group = { group: { kind: 'seen', group: sampleGroup() } } as const;

  it('shows an accepted update before EKS does', async () => {
    const update: Step = {
      kind: 'updateConfig',
      group: 'web',
      change: { scaling: { maxSize: 9 } },
      token: 't',
      target: 'x',
    };
    const { outcome } = await run([update], group);
    assert.equal(outcome.after.group.kind === 'seen' && outcome.after.group.group.status, 'UPDATING');
    assert.deepEqual([outcome.accepted?.target, outcome.accepted?.update.status], ['x', 'InProgress']);
  });

  const updateAnswers: readonly (readonly [string, FakeWorld['fails'], readonly string[]])[] = [
    ['takes an update on', () => undefined, ['labelNode', 'updateConfig']],
    ['does not answer to an update', only('UpdateNodegroupConfig', 'unavailable'), ['labelNode']],
    ['refuses an update', only('UpdateNodegroupConfig', 'denied'), ['cordonNode', 'labelNode']],
  ];
  for (const [what, fails, want] of updateAnswers) {
    it(`${want.includes('cordonNode') ? 'cordons nodes' : 'cordons no node'} in the run in which EKS ${what}`, async () => {
      const update: Step = { kind: 'updateConfig', group: 'web', change: {}, token: 't', target: 'x' };
      const node = sampleNode({ name: 'ip-1' });
      const { done, outcome, world } = await run([update, { kind: 'cordonNode', node }, otherLabel], group, fails);
      assert.deepEqual(done.sort(), want);
      assert.equal(
        outcome.skipped.some(({ why }) => why === 'update'),
        !want.includes('cordonNode'),
      );
      assert.equal(world.calls.includes('cordon node'), want.includes('cordonNode'));
    });
  }

  it('shows a deletion before EKS does', async () => {
    const { outcome } = await run([{ kind: 'deleteNodeGroup', group: 'web', why: 'so' }], group);
    assert.equal(outcome.after.group.kind === 'seen' && outcome.after.group.group.status, 'DELETING');
  });

  const change = { set: { a: '1' }, remove: ['b'] };
  const mine = { 'winpool.dev/pool': 'web' };
  const tagged = sampleGroup(undefined, { tags: { b: '2', other: 'x', ...mine } });
  const correct: Step = { kind: 'correctTags', group: tagged, change };

  it('shows the current tags', async () => {
    const { outcome, world } = await run([correct], { group: { kind: 'seen', group: tagged } });
    assert.deepEqual(world.groups.get('web')?.tags, { a: '1', other: 'x', ...mine });
    assert.deepEqual(outcome.after.group.kind === 'seen' && outcome.after.group.group.tags, {
      a: '1',
      other: 'x',
      ...mine,
    });
  });

  for (const call of ['TagResource', 'UntagResource']) {
    it(`shows the previous tags when ${call} failed`, async () => {
      const { outcome } = await run([correct], { group: { kind: 'seen', group: tagged } }, only(call, 'refused'));
      assert.deepEqual(outcome.after.group.kind === 'seen' && outcome.after.group.group.tags, tagged.tags);
      assert.deepEqual(
        outcome.after.errors.map(({ step }) => step),
        ['correctTags'],
      );
    });
  }

  it('keeps the other records in status', async () => {
    const known = samplePool({}, { status: knownStatus({ lastAppliedDesiredSize: 4 }) });
    const { cluster, nodeGroupName } = remember.ahead;
    const sending: Step = { kind: 'writeAhead', ahead: { cluster, nodeGroupName, sending: ['scaling'] } };
    const { outcome } = await run([sending], { pool: known });
    const applied = APPLIED.map((entry) => entry.replace(/^scaling=.*/, 'scaling=?'));
    assert.deepEqual(outcome.after.pool.status, knownStatus({ lastAppliedDesiredSize: 4, applied }));
  });
});

describe('RuntimeClasses', () => {
  it('are applied, shared, released and deleted', async () => {
    const seen = sampleRuntimeClass();
    const { world, done } = await run([
      { kind: 'applyRuntimeClass', desired, seen: { ...seen, nodeSelector: {} } },
      { kind: 'shareRuntimeClass', seen: { ...seen, owners: [] } },
      { kind: 'releaseRuntimeClass', seen },
      { kind: 'deleteRuntimeClass', seen },
    ]);
    assert.deepEqual(world.calls, [
      'apply RuntimeClass',
      'add owner of RuntimeClass',
      'remove owner of RuntimeClass',
      'delete RuntimeClass',
    ]);
    assert.equal(done.length, 4);
  });
});
