import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { NodeGroupState, WindowsPoolStatus } from './api.gen.ts';
import type { ObservedState } from './model/observedState.ts';
import type { Outcome } from './model/outcome.ts';
import type { Step } from './model/steps.ts';
import type { NodeGroup, NodeGroupUpdate } from './ports/eks.ts';
import { nodeGroupConditions } from './providers/eks/conditions.ts';
import { configTargetOf } from './providers/eks/groupChanges.ts';
import { statusFor } from './status.ts';
import {
  APPLIED,
  CLUSTER_ARN,
  GROUP_ARN,
  GROW,
  knownStatus,
  MINUTE,
  NOW,
  SMALLER,
  sampleError,
  sampleGroup,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleRuntimeClass,
  sampleState,
} from './testing/fixtures.ts';
import { randomObservedState } from './testing/randomObservedState.ts';
import { canonical } from './util/hash.ts';

function statusOf(s: ObservedState, outcome: Partial<Outcome> = {}, pending: readonly Step[] = []): WindowsPoolStatus {
  const whole: Outcome = { after: s, done: [], accepted: undefined, left: [], released: false, ...outcome };
  return statusFor(whole, nodeGroupConditions(s), pending);
}

function groupState(change: Partial<ObservedState>, outcome: Partial<Outcome> = {}): NodeGroupState | undefined {
  return statusOf(sampleState(change), outcome).nodeGroup;
}

const TIME = '2026-03-01T12:00:00Z';
const pool = samplePool({}, { status: knownStatus() });
const described = {
  name: 'web',
  arn: GROUP_ARN,
  status: 'ACTIVE',
  amiType: 'WINDOWS_CORE_2022_x86_64',
  kubernetesVersion: '1.36',
  releaseVersion: '1.36-2026.02.11',
  releaseDate: '2026-02-11',
  autoScalingGroups: ['eks-web-0a1b'],
  applied: APPLIED,
};

describe('the status of a healthy pool', () => {
  it('is this', () => {
    const { conditions, ...rest } = statusOf(sampleState());
    assert.deepEqual(rest, {
      observedGeneration: 1,
      summary: { nodes: '3/3', verified: '3/3', build: '10.0.20348.2762' },
      nodes: { desired: 3, total: 3, ready: 3, verified: 3, joining: 0, failing: 0, gated: 0, quarantined: 0 },
      builds: [{ kernelVersion: '10.0.20348.2762', nodes: 3 }],
      revisions: { newest: '10.0.20348.2762', oldest: '10.0.20348.2762' },
      nodeGroup: described,
      cluster: { name: 'prod', arn: CLUSTER_ARN },
      runtimeClass: { name: 'windows-2022' },
    });
    assert.deepEqual(
      conditions?.map(({ type, status, reason, lastTransitionTime, observedGeneration }) => [
        type,
        status,
        reason,
        lastTransitionTime,
        observedGeneration,
      ]),
      [
        ['Ready', 'True', 'Verified', TIME, 1],
        ['PrerequisitesMet', 'True', 'Met', TIME, 1],
        ['NodeGroupReady', 'True', 'Active', TIME, 1],
        ['RuntimeClassReady', 'True', 'Available', TIME, 1],
        ['NodesVerified', 'True', 'AllVerified', TIME, 1],
        ['UpToDate', 'True', 'AsSpecified', TIME, 1],
      ],
    );
  });

  it('is the same again: only a change of a condition’s status moves its time', () => {
    const first = sampleState();
    const status = statusOf(first);
    const later = { ...first, pool: { ...first.pool, status }, now: NOW + 60 * MINUTE };
    assert.equal(canonical(statusOf(later)), canonical(status));
    const [node, ...others] = sampleNodes(3);
    const { poolNodes } = sampleState({ nodes: [...others, sampleNode({ ...node, taints: [] })] });
    const times = statusOf({ ...later, poolNodes }).conditions?.map(({ type, lastTransitionTime }) => [
      type,
      lastTransitionTime,
    ]);
    assert.deepEqual(times, [
      ['Ready', '2026-03-01T13:00:00Z'],
      ['PrerequisitesMet', TIME],
      ['NodeGroupReady', TIME],
      ['RuntimeClassReady', TIME],
      ['NodesVerified', '2026-03-01T13:00:00Z'],
      ['UpToDate', TIME],
    ]);
  });
});

describe('the nodes in the status', () => {
  it('are counted by build, most first, and the failing ones are named', () => {
    const nodes = [
      ...sampleNodes(2),
      sampleNode({ name: 'z', kernelVersion: '10.0.26100.1' }),
      sampleNode({ name: 'y', kernelVersion: '10.0.17763.1' }),
      sampleNode({ name: 'x', ready: 'False', readyReason: '', createdAt: NOW }),
    ];
    const status = statusOf(sampleState({ nodes }));
    assert.deepEqual(status.builds, [
      { kernelVersion: '10.0.20348.2762', nodes: 3 },
      { kernelVersion: '10.0.17763.1', nodes: 1 },
      { kernelVersion: '10.0.26100.1', nodes: 1 },
    ]);
    assert.deepEqual(
      status.failingNodes?.map(({ name, reason }) => [name, reason]),
      [
        ['y', 'WrongBuild'],
        ['z', 'WrongBuild'],
      ],
    );
    assert.deepEqual(status.nodes, {
      desired: 3,
      total: 5,
      ready: 4,
      verified: 2,
      joining: 1,
      failing: 2,
      gated: 0,
      quarantined: 0,
    });
    assert.deepEqual(status.summary, { nodes: '5/3', verified: '2/5', build: '3 builds' });
  });

  it('have no build when there are none, and no wanted number without a group', () => {
    const status = statusOf(sampleState({ group: { kind: 'absent' }, nodes: [] }));
    assert.deepEqual(status.summary, { nodes: '0/-', verified: '0/0' });
  });

  it('are as many as wanted before while the group cannot be looked at', () => {
    const away = { kind: 'unreachable', error: sampleError('throttled'), since: NOW } as const;
    const remembering = samplePool({}, { status: { ...knownStatus(), nodes: { desired: 4 } } });
    assert.equal(statusOf(sampleState({ group: { ...away, last: sampleGroup() } })).summary?.nodes, '3/3');
    assert.equal(
      statusOf(sampleState({ pool: remembering, group: { ...away, last: undefined } })).summary?.nodes,
      '3/4',
    );
  });

  it('are named and counted by build up to twenty, and all of them are counted', () => {
    const nodes = Array.from({ length: 25 }, (_, i) =>
      sampleNode({ name: `ip-${i}`, kernelVersion: `10.0.26100.${i}` }),
    );
    const status = statusOf(sampleState({ nodes }));
    assert.deepEqual([status.failingNodes?.length, status.builds?.length, status.nodes?.failing], [20, 20, 25]);
  });
});

describe('the node group in the status', () => {
  const desired = (size: number | undefined, memory: NodeGroupState['lastAppliedDesired'] | 'lost') =>
    samplePool(
      { scaling: { ...(size !== undefined && { desired: size }) } },
      memory === 'lost' ? {} : { status: knownStatus(memory === undefined ? {} : { lastAppliedDesired: memory }) },
    );
  const sized = (size: number): Pick<ObservedState, 'group'> => ({
    group: { kind: 'seen', group: sampleGroup(undefined, { scaling: { min: 3, max: 5, desired: size } }) },
  });
  const accepted = {
    update: { id: 'u-9', type: 'ConfigUpdate', status: 'InProgress', createdAt: NOW, errors: [] },
    target: 'x',
    change: 'scaling max 5',
    desired: 4,
  } as const;
  const sizes: readonly (readonly [
    string,
    number | undefined,
    number | undefined | 'lost',
    number,
    Partial<Outcome>,
    number | undefined,
  ])[] = [
    ['forgets a size that the spec dropped', undefined, 4, 4, {}, undefined],
    ['does not take a size as applied while its update runs', 4, 3, 3, { accepted }, 3],
    [
      'remembers a size that the group was created with',
      4,
      'lost',
      4,
      { done: [{ kind: 'createNodeGroup' } as Step] },
      4,
    ],
    ['remembers a size that is reached anyway', 4, 3, 4, {}, 4],
    ['takes the size of the spec as sent when the memory was lost', 4, 'lost', 5, {}, 4],
    ['keeps what was sent while an autoscaler decides', 4, 4, 5, {}, 4],
    ['keeps what was sent until the new size is', 5, 4, 3, {}, 4],
  ];
  for (const [name, size, memory, now, outcome, want] of sizes) {
    it(name, () =>
      assert.equal(groupState({ pool: desired(size, memory), ...sized(now) }, outcome)?.lastAppliedDesired, want),
    );
  }

  const running = { id: 'u-1', type: 'ConfigUpdate', target: configTargetOf(pool, GROW), status: 'InProgress' };
  const updating = samplePool({}, { status: knownStatus({ update: running }) });
  const ended = (status: 'Successful' | 'Failed', errors: NodeGroupUpdate['errors'] = []) => ({
    pool: updating,
    group: { kind: 'seen', group: sampleGroup(undefined, SMALLER) } as const,
    update: { id: 'u-1', type: 'ConfigUpdate', status, createdAt: NOW, errors },
  });

  for (const [status, want] of [
    ['Successful', 4],
    ['Failed', 3],
  ] as const) {
    it(`takes a size as ${status === 'Failed' ? 'not ' : ''}applied when its update is ${status}`, () => {
      const spec = { scaling: { desired: 4 } };
      const update = { ...running, desired: 4 };
      const sent = samplePool(spec, { status: knownStatus({ lastAppliedDesired: 3, update }) });
      const end = { id: 'u-1', type: 'ConfigUpdate', status, createdAt: NOW, errors: [] };
      assert.equal(groupState({ pool: sent, update: end, ...sized(5) })?.lastAppliedDesired, want);
    });
  }

  it('remembers the accepted update', () => {
    assert.deepEqual(groupState({}, { accepted })?.update, {
      id: 'u-9',
      type: 'ConfigUpdate',
      target: 'x',
      change: 'scaling max 5',
      desired: 4,
      status: 'InProgress',
      startedAt: '2026-03-01T12:00:00Z',
    });
  });

  it('keeps an update whose end is not known', () => assert.deepEqual(groupState({ pool: updating })?.update, running));

  it('shows how the update ended', () => {
    assert.deepEqual(groupState(ended('Successful'))?.update, { ...running, status: 'Successful' });
  });

  it('remembers what failed in words, until the spec asks for something else', () => {
    const state = groupState(
      ended('Failed', [{ code: 'NodeCreationFailure', message: 'No node joined', resourceIds: ['i-1'] }]),
    );
    assert.deepEqual(state?.update, {
      ...running,
      status: 'Failed',
      errors: ['NodeCreationFailure: No node joined (i-1)'],
    });
    const failed = {
      target: running.target,
      reason: 'UpdateFailed',
      message: 'Update u-1 of node group web failed: NodeCreationFailure: No node joined (i-1).',
      time: TIME,
    };
    assert.deepEqual(state?.failedTarget, failed);
    const kept = knownStatus({ failedTarget: failed });
    const { group } = ended('Failed');
    assert.deepEqual(groupState({ pool: samplePool({}, { status: kept }), group })?.failedTarget, failed);
    assert.equal(groupState({ pool: samplePool({}, { status: kept }) })?.failedTarget, undefined, 'the group is right');
    const other = samplePool({ labels: { a: 'b' } }, { status: kept });
    assert.equal(groupState({ pool: other, group })?.failedTarget, undefined);
  });

  const refused = (kind: 'refused' | 'limit' | 'unknown', step: Step['kind'], target?: string) => ({
    errors: [{ at: NOW, step, error: sampleError(kind, { message: 'no' }), ...(target && { target }) }],
  });
  const absent = { group: { kind: 'absent' } } as const;
  const failures: readonly (readonly [string, Partial<ObservedState>, string, string])[] = [
    [
      'a refused creation',
      { ...absent, ...refused('refused', 'createNodeGroup') },
      'CreateRefused',
      'EKS refused to create node group web: no',
    ],
    [
      'a quota',
      { ...absent, ...refused('limit', 'createNodeGroup') },
      'QuotaExceeded',
      'EKS refused to create node group web: no',
    ],
    [
      'an answer that nobody knows',
      { ...absent, ...refused('unknown', 'createNodeGroup') },
      'CreateRefused',
      'EKS refused to create node group web: no',
    ],
    [
      'a refused update',
      {
        ...refused('refused', 'updateConfig', configTargetOf(pool, GROW)),
        group: { kind: 'seen', group: sampleGroup(undefined, SMALLER) },
      },
      'UpdateRefused',
      'EKS refused to update node group web: no',
    ],
  ];
  for (const [name, change, reason, message] of failures) {
    it(`remembers ${name}`, () => {
      const { target, ...failed } = groupState(change)?.failedTarget ?? {};
      assert.deepEqual(failed, { reason, message, time: TIME });
      assert.match(target ?? '', /^[0-9a-f]{16}$/);
    });
  }

  it('remembers a refused creation over a look that failed', () => {
    const createdFrom = sampleGroup(pool).tags['winpool.dev/created-from'] ?? '';
    const failedTarget = { target: createdFrom, reason: 'CreateRefused', message: 'no', time: TIME };
    const refusedPool = samplePool({}, { status: knownStatus({ failedTarget }) });
    const away = { kind: 'unreachable', error: sampleError('throttled'), since: NOW, last: undefined } as const;
    assert.deepEqual(groupState({ pool: refusedPool, group: away })?.failedTarget, failedTarget);
    assert.equal(groupState({ pool: refusedPool })?.failedTarget, undefined);
  });

  const issue = { code: 'Unknown', message: 'm', resourceIds: ['i-1'] };
  const awsCache: readonly (readonly [string, Partial<ObservedState>, Partial<NodeGroupState>])[] = [
    [
      'shows its health issues',
      { group: { kind: 'seen', group: sampleGroup(pool, { healthIssues: [issue] }) } },
      { ...described, healthIssues: [issue] },
    ],
    [
      'shows nothing of a foreign group but what was known',
      { group: { kind: 'seen', group: sampleGroup(pool, { tags: {}, arn: 'x' }) } },
      { name: 'web', arn: GROUP_ARN, applied: APPLIED },
    ],
    [
      'keeps its ARN when it is gone, to tell the next one from it',
      absent,
      { name: 'web', arn: GROUP_ARN, applied: APPLIED },
    ],
    [
      'is as it was while it cannot be looked at',
      { group: { kind: 'unreachable', error: sampleError('throttled'), since: NOW, last: undefined } },
      { name: 'web', arn: GROUP_ARN, status: 'ACTIVE', applied: APPLIED },
    ],
    [
      'shows only what EKS says',
      {
        group: {
          kind: 'seen',
          group: sampleGroup(pool, {
            kubernetesVersion: undefined,
            releaseVersion: undefined,
            autoScalingGroups: [],
          } as Partial<NodeGroup>),
        },
      },
      {
        name: 'web',
        arn: GROUP_ARN,
        status: 'ACTIVE',
        amiType: 'WINDOWS_CORE_2022_x86_64',
        applied: APPLIED,
      },
    ],
  ];
  for (const [name, change, want] of awsCache) it(name, () => assert.deepEqual(groupState(change), want));
});

describe('the RuntimeClass in the status', () => {
  const own = samplePool({ runtimeClass: { scope: 'Pool' } }, { status: knownStatus() });
  const formerRuntimeClass = sampleRuntimeClass(pool);
  const left: Partial<Outcome> = { done: [{ kind: 'deleteRuntimeClass', seen: formerRuntimeClass }] };
  const none = samplePool({ runtimeClass: { manage: false } }, { status: knownStatus() });
  const foreign = sampleRuntimeClass(pool, { owners: [] });
  const table: readonly (readonly [string, Partial<ObservedState>, Partial<Outcome>, string | undefined])[] = [
    ['is the one that the spec wants', { pool: own }, {}, 'web'],
    ['is the former one until it is left', { pool: own, formerRuntimeClass }, {}, 'windows-2022'],
    ['is the new one once the former is left', { pool: own, formerRuntimeClass }, left, 'web'],
    ['is the new one when the former is not ours', { pool: own, formerRuntimeClass: foreign }, {}, 'web'],
    ['is none when the pool manages none', { pool: none }, {}, undefined],
  ];
  for (const [name, change, outcome, want] of table) {
    it(name, () => assert.equal(statusOf(sampleState(change), outcome).runtimeClass?.name, want));
  }
});

describe('pending steps', () => {
  it('are sentences, at most twenty, without what only the operator’s own books see', () => {
    const label = (i: number): Step => ({
      kind: 'labelNode',
      node: sampleNode({ name: `ip-${i}` }),
      build: '10.0.20348',
    });
    const steps = [{ kind: 'addFinalizer' } as const, ...Array.from({ length: 25 }, (_, i) => label(i))];
    const { pendingSteps } = statusOf(sampleState(), {}, steps);
    assert.equal(pendingSteps?.length, 20);
    assert.equal(pendingSteps?.[0], 'label node ip-0 with node.kubernetes.io/windows-build=10.0.20348');
    assert.equal('pendingSteps' in statusOf(sampleState(), {}, [{ kind: 'addFinalizer' }]), false);
  });
});

describe('every status', () => {
  it('keeps the bounds of the schema, however long AWS’ words are', () => {
    const long = 'x'.repeat(40_000);
    const issues = Array.from({ length: 30 }, () => ({
      code: 'Unknown',
      message: long,
      resourceIds: Array(30).fill('i'),
    }));
    const status = statusOf(
      sampleState({
        group: { kind: 'seen', group: sampleGroup(pool, { status: 'CREATE_FAILED', healthIssues: issues }) },
        nodes: [sampleNode({ name: 'ip-1', kernelVersion: long })],
        errors: [{ at: NOW, step: 'createNodeGroup', error: sampleError('refused', { message: long }) }],
      }),
    );
    const lengths = {
      conditions: Math.max(...(status.conditions ?? []).map(({ message }) => message.length)),
      issues: status.nodeGroup?.healthIssues
        ?.map(({ message, resourceIds }) => [message.length, resourceIds?.length])
        .at(-1),
      failed: status.nodeGroup?.failedTarget?.message.length,
      node: status.failingNodes?.[0]?.message.length,
      build: status.builds?.[0]?.kernelVersion.length,
    };
    assert.deepEqual(lengths, { conditions: 32_768, issues: [4_096, 20], failed: 4_096, node: 1_024, build: 256 });
  });

  it('is settled: the next one of the same situation is the same', () => {
    fc.assert(
      fc.property(randomObservedState, (s) => {
        const status = statusOf(s);
        const again: ObservedState = { ...s, pool: { ...s.pool, status: { ...status } } };
        const twice = statusOf(again);
        const settled = statusOf({ ...again, pool: { ...s.pool, status: twice } });
        assert.equal(canonical(settled), canonical(twice));
      }),
      { numRuns: 2_000 },
    );
  });
});
