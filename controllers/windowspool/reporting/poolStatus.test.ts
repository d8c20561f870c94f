import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { NodeGroupState, Tracking, WindowsPoolStatus } from '../api/api.gen.ts';
import type { Reason } from '../api/reasons.ts';
import type { HeldStep } from '../model/decisions.ts';
import type { RunResult } from '../model/outcome.ts';
import type { Step } from '../model/steps.ts';
import type { NodeGroup, NodeGroupUpdate } from '../ports/eks.ts';
import { configTargetOf } from '../providers/nodeGroup/changes/groupChanges.ts';
import { nodeGroupConditions } from '../providers/nodeGroup/conditions/nodeGroupConditions.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import type { EksState } from '../providers/nodeGroup/model/groupState.ts';
import { derive } from '../testing/derived.ts';
import {
  APPLIED,
  CLUSTER_ARN,
  GROUP_ARN,
  GROW,
  knownStatus,
  MINUTE,
  NOW,
  outcomeOf,
  SMALLER,
  SUBNETS,
  sampleError,
  sampleGroup,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleRuntimeClass,
  sampleState,
} from '../testing/fixtures.ts';
import { openFailure } from '../testing/life.ts';
import { randomObservedState } from '../testing/randomObservedState.ts';
import { canonical } from '../util/hash.ts';
import { statusFor } from './poolStatus.ts';

function statusOf(
  s: EksDerived,
  outcome: Partial<RunResult<EksDerived>> = {},
  held: readonly HeldStep[] = [],
): WindowsPoolStatus {
  const whole: RunResult<EksDerived> = { ...outcomeOf(s), ...outcome };
  return statusFor(whole, nodeGroupConditions(outcomeOf(s)), held);
}

function groupState(
  change: Partial<EksState>,
  outcome: Partial<RunResult<EksDerived>> = {},
): NodeGroupState | undefined {
  return statusOf(sampleState(change), outcome).nodeGroup;
}

function memoryOf(change: Partial<EksState>, outcome: Partial<RunResult<EksDerived>> = {}): Tracking | undefined {
  return statusOf(sampleState(change), outcome).tracking;
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
  subnets: SUBNETS.slice(0, 2),
};

describe('the status of a healthy pool', () => {
  it('has these fields', () => {
    const { conditions, ...rest } = statusOf(sampleState());
    assert.deepEqual(rest, {
      observedGeneration: 1,
      summary: { reason: 'EnoughNodesVerified', nodes: '3/3', verified: '3/3', build: '10.0.20348.2762' },
      nodes: { desired: 3, total: 3, ready: 3, verified: 3, joining: 0, failing: 0, gated: 0, quarantined: 0 },
      builds: [{ kernelVersion: '10.0.20348.2762', nodes: 3 }],
      revisions: { newest: '10.0.20348.2762', oldest: '10.0.20348.2762' },
      nodeGroup: described,
      cluster: { name: 'prod', arn: CLUSTER_ARN },
      runtimeClass: { name: 'windows-2022' },
      tracking: { applied: APPLIED, firstReadyTime: '2026-03-01T12:00:00Z', ready: true },
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
        ['Ready', 'True', 'EnoughNodesVerified', TIME, 1],
        ['PrerequisitesMet', 'True', 'Met', TIME, 1],
        ['NodeGroupReady', 'True', 'Active', TIME, 1],
        ['RuntimeClassReady', 'True', 'Available', TIME, 1],
        ['NodesVerified', 'True', 'AllVerified', TIME, 1],
        ['UpToDate', 'True', 'MatchesSpec', TIME, 1],
      ],
    );
  });

  it('does not change without a cause, and a condition changes its time only with its status', () => {
    const first = sampleState();
    const status = statusOf(first);
    const later = derive({ ...first, pool: { ...first.pool, status }, now: NOW + 60 * MINUTE });
    assert.equal(canonical(statusOf(later)), canonical(status));
    const [node, ...others] = sampleNodes(3);
    const { poolNodes } = sampleState({ nodes: [...others, sampleNode({ ...node, taints: [] })] });
    const times = statusOf(derive({ ...later, poolNodes })).conditions?.map(({ type, lastTransitionTime }) => [
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

describe('the column REASON', () => {
  const table: readonly (readonly [paused: boolean, change: Partial<EksState>, shown: string])[] = [
    [false, {}, 'EnoughNodesVerified'],
    [true, {}, 'EnoughNodesVerified,Paused'],
    [false, { cluster: { kind: 'absent' } }, 'Stalled:ClusterNotFound'],
    [true, { cluster: { kind: 'absent' } }, 'Stalled:ClusterNotFound,Paused'],
  ];
  for (const [paused, change, shown] of table)
    it(`shows ${shown}`, () => {
      const of = samplePool({ paused }, { status: knownStatus() });
      assert.equal(statusOf(sampleState({ pool: of, ...change })).summary?.reason, shown);
    });
});

describe('the nodes in the status', () => {
  it('are counted by build, and the failing ones are named', () => {
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
    assert.deepEqual(status.summary, { reason: 'WrongBuild', nodes: '5/3', verified: '2/5', build: '3 builds' });
  });

  it('have no builds without nodes, and no desired number without a group', () => {
    const status = statusOf(sampleState({ group: { kind: 'absent' }, nodes: [] }));
    assert.deepEqual(status.summary, { reason: 'Creating', nodes: '0/-', verified: '0/0' });
  });

  it('keep the desired number while the group cannot be read', () => {
    const away = { kind: 'unreachable', error: sampleError('throttled'), since: NOW } as const;
    const remembering = samplePool({}, { status: { ...knownStatus(), nodes: { desired: 4 } } });
    assert.equal(statusOf(sampleState({ group: { ...away, last: sampleGroup() } })).summary?.nodes, '3/3');
    assert.equal(
      statusOf(sampleState({ pool: remembering, group: { ...away, last: undefined } })).summary?.nodes,
      '3/4',
    );
  });

  it('are named and counted by build up to twenty, and the counts include all', () => {
    const nodes = Array.from({ length: 25 }, (_, i) =>
      sampleNode({ name: `ip-${i}`, kernelVersion: `10.0.26100.${i}` }),
    );
    const status = statusOf(sampleState({ nodes }));
    assert.deepEqual([status.failingNodes?.length, status.builds?.length, status.nodes?.failing], [20, 20, 25]);
  });
});

describe('the node group in the status', () => {
  const desired = (size: number | undefined, memory: number | 'lost' | undefined) =>
    samplePool(
      { nodeGroup: { scaling: { ...(size !== undefined && { desiredSize: size }) } } },
      memory === 'lost' ? {} : { status: knownStatus(memory === undefined ? {} : { lastAppliedDesiredSize: memory }) },
    );
  const sized = (size: number): Pick<EksState, 'group'> => ({
    group: { kind: 'seen', group: sampleGroup(undefined, { scaling: { minSize: 3, maxSize: 5, desiredSize: size } }) },
  });
  const accepted = {
    update: { id: 'u-9', type: 'ConfigUpdate', status: 'InProgress', createdAt: NOW, errors: [] },
    target: 'x',
    change: 'scaling maxSize 5',
    desired: 4,
  } as const;
  const sizes: readonly (readonly [
    string,
    number | undefined,
    number | undefined | 'lost',
    number,
    Partial<RunResult<EksDerived>>,
    number | undefined,
  ])[] = [
    ['drops a size that the spec dropped', undefined, 4, 4, {}, undefined],
    ['does not count a size as applied while its update runs', 4, 3, 3, { accepted }, 3],
    [
      'records the size that the group was created with',
      4,
      'lost',
      4,
      { done: [{ kind: 'createNodeGroup' } as Step] },
      4,
    ],
    ['records a size that the group already has', 4, 3, 4, {}, 4],
    ['counts the size of the spec as sent when the status was lost', 4, 'lost', 5, {}, 4],
    ['keeps the sent size while an autoscaler sets another one', 4, 4, 5, {}, 4],
    ['keeps the sent size until the new one is sent', 5, 4, 3, {}, 4],
  ];
  for (const [name, size, memory, now, outcome, want] of sizes) {
    it(name, () =>
      assert.equal(memoryOf({ pool: desired(size, memory), ...sized(now) }, outcome)?.lastAppliedDesiredSize, want),
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
    it(`counts a size as ${status === 'Failed' ? 'not ' : ''}applied when its update is ${status}`, () => {
      const spec = { nodeGroup: { scaling: { desiredSize: 4 } } };
      const update = { ...running, desiredSize: 4 };
      const sent = samplePool(spec, { status: knownStatus({ lastAppliedDesiredSize: 3, update }) });
      const end = { id: 'u-1', type: 'ConfigUpdate', status, createdAt: NOW, errors: [] };
      assert.equal(memoryOf({ pool: sent, update: end, ...sized(5) })?.lastAppliedDesiredSize, want);
    });
  }

  const warmPool = {
    minSize: 1,
    maxGroupPreparedCapacity: undefined,
    poolState: 'Running',
    reuseOnScaleIn: true,
  } as const;
  const known = { minSize: 9, poolState: 'Stopped', reuseOnScaleIn: false, instances: 4 };
  for (const [name, autoscaler, memory, instances] of [
    ['as just read', { tags: {}, templateVersions: [], podAddresses: 9, warmInstances: 2 }, known, 2],
    ['as last known', undefined, known, 4],
    ['unless that was never read', undefined, undefined, undefined],
  ] as const) {
    it(`shows a warm pool with the number of its instances, ${name}`, () => {
      const status = knownStatus(memory && { warmPool: memory });
      const group = { kind: 'seen', group: sampleGroup(undefined, { warmPool }) } as const;
      assert.deepEqual(groupState({ pool: samplePool({}, { status }), group, autoscaler })?.warmPool, {
        minSize: 1,
        poolState: 'Running',
        reuseOnScaleIn: true,
        ...(instances !== undefined && { instances }),
      });
    });
  }

  it('shows no warm pool once the group has none', () => {
    const status = knownStatus({ warmPool: known });
    assert.equal(groupState({ pool: samplePool({}, { status }) })?.warmPool, undefined);
  });

  it('records the accepted update', () => {
    assert.deepEqual(groupState({}, { accepted })?.update, {
      id: 'u-9',
      type: 'ConfigUpdate',
      target: 'x',
      change: 'scaling maxSize 5',
      desiredSize: 4,
      status: 'InProgress',
      startedAt: '2026-03-01T12:00:00Z',
    });
  });

  it('keeps an update whose result is unknown', () =>
    assert.deepEqual(groupState({ pool: updating })?.update, running));

  it('shows the result of the update', () => {
    assert.deepEqual(groupState(ended('Successful'))?.update, { ...running, status: 'Successful' });
  });

  it('records what failed until the spec requests something else', () => {
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
      message: 'Update of node group web failed: NodeCreationFailure: No node joined (i-1).',
      time: TIME,
    };
    assert.deepEqual(openFailure(state), failed);
    const kept = knownStatus({ failedChanges: [failed] });
    const { group } = ended('Failed');
    assert.deepEqual(openFailure(groupState({ pool: samplePool({}, { status: kept }), group })), failed);
    assert.equal(
      openFailure(groupState({ pool: samplePool({}, { status: kept }) })),
      undefined,
      'the group matches the spec',
    );
    const other = samplePool({ labels: { a: 'b' } }, { status: kept });
    assert.equal(openFailure(groupState({ pool: other, group })), undefined);
  });

  const refused = (kind: 'refused' | 'limit' | 'unknown', step: Step['kind'], target?: string) => ({
    errors: [{ at: NOW, step, error: sampleError(kind, { message: 'no' }), ...(target && { target }) }],
  });
  const absent = { group: { kind: 'absent' } } as const;
  const failures: readonly (readonly [string, Partial<EksState>, string, string])[] = [
    [
      'a rejected creation',
      { ...absent, ...refused('refused', 'createNodeGroup') },
      'CreateRejected',
      'EKS rejected the creation of node group web: no',
    ],
    [
      'a quota',
      { ...absent, ...refused('limit', 'createNodeGroup') },
      'QuotaExceeded',
      'EKS rejected the creation of node group web: no',
    ],
    [
      'an unknown error',
      { ...absent, ...refused('unknown', 'createNodeGroup') },
      'CreateRejected',
      'EKS rejected the creation of node group web: no',
    ],
    [
      'a rejected update',
      {
        ...refused('refused', 'updateConfig', configTargetOf(pool, GROW)),
        group: { kind: 'seen', group: sampleGroup(undefined, SMALLER) },
      },
      'UpdateRejected',
      'EKS rejected the update of node group web: no',
    ],
  ];
  for (const [name, change, reason, message] of failures) {
    it(`records ${name}`, () => {
      const { target, ...failed } = openFailure(groupState(change)) ?? {};
      assert.deepEqual(failed, { reason, message, time: TIME });
      assert.match(target ?? '', /^[0-9a-f]{16}$/);
    });
  }

  it('keeps a rejected creation after a failed read', () => {
    const createdFrom = sampleGroup(pool).tags['winpool.dev/created-from'] ?? '';
    const failedTarget = { target: createdFrom, reason: 'CreateRejected', message: 'no', time: TIME };
    const refusedPool = samplePool({}, { status: knownStatus({ failedChanges: [failedTarget] }) });
    const away = { kind: 'unreachable', error: sampleError('throttled'), since: NOW, last: undefined } as const;
    assert.deepEqual(openFailure(groupState({ pool: refusedPool, group: away })), failedTarget);
    assert.equal(openFailure(groupState({ pool: refusedPool })), undefined);
  });

  const issue = { code: 'Unknown', message: 'm', resourceIds: ['i-1'] };
  const states: readonly (readonly [string, Partial<EksState>, Partial<NodeGroupState>])[] = [
    [
      'shows its health issues',
      { group: { kind: 'seen', group: sampleGroup(pool, { healthIssues: [issue] }) } },
      { ...described, healthIssues: [issue] },
    ],
    [
      'keeps the record when the pool does not manage the group',
      { group: { kind: 'seen', group: sampleGroup(pool, { tags: {}, arn: 'x' }) } },
      { name: 'web', arn: GROUP_ARN },
    ],
    ['keeps its ARN when it is gone, to distinguish it from the next one', absent, { name: 'web', arn: GROUP_ARN }],
    [
      'keeps its state while it cannot be read',
      { group: { kind: 'unreachable', error: sampleError('throttled'), since: NOW, last: undefined } },
      { name: 'web', arn: GROUP_ARN, status: 'ACTIVE' },
    ],
    [
      'shows only what EKS returns',
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
        subnets: SUBNETS.slice(0, 2),
      },
    ],
  ];
  for (const [name, change, want] of states) it(name, () => assert.deepEqual(groupState(change), want));
});

describe('the RuntimeClass in the status', () => {
  const own = samplePool({ runtimeClass: { name: 'web' } }, { status: knownStatus() });
  const formerRuntimeClass = sampleRuntimeClass(pool);
  const left: Partial<RunResult<EksDerived>> = { done: [{ kind: 'deleteRuntimeClass', seen: formerRuntimeClass }] };
  const foreign = sampleRuntimeClass(pool, { owners: [] });
  const table: readonly (readonly [string, Partial<EksState>, Partial<RunResult<EksDerived>>, string | undefined])[] = [
    ['is that of the spec', { pool: own }, {}, 'web'],
    ['is the former one until it is released', { pool: own, formerRuntimeClass }, {}, 'windows-2022'],
    ['is the new one after the former is released', { pool: own, formerRuntimeClass }, left, 'web'],
    ['is the new one if the pool does not own the former', { pool: own, formerRuntimeClass: foreign }, {}, 'web'],
  ];
  for (const [name, change, outcome, want] of table) {
    it(name, () => assert.equal(statusOf(sampleState(change), outcome).runtimeClass?.name, want));
  }
});

describe('pending steps', () => {
  const label = (i: number, heldBy: Reason = 'Paused'): HeldStep => ({
    step: { kind: 'labelNode', node: sampleNode({ name: `ip-${i}` }), build: '10.0.20348' },
    heldBy,
  });
  const finalizer: HeldStep = { step: { kind: 'addFinalizer' }, heldBy: 'Paused' };

  it('have a description and a reason, and are at most twenty, without changes of the own status', () => {
    const { pendingSteps } = statusOf(sampleState(), {}, [
      finalizer,
      ...Array.from({ length: 25 }, (_, i) => label(i)),
    ]);
    assert.equal(pendingSteps?.length, 20);
    assert.deepEqual(pendingSteps?.[0], {
      description: 'label node ip-0 with node.kubernetes.io/windows-build=10.0.20348',
      reason: 'Paused',
    });
    assert.equal('pendingSteps' in statusOf(sampleState(), {}, [finalizer]), false);
  });

  it('have no control characters, which a tag in the spec can have', () => {
    const change = { set: { '\u001b[2J\nowner': 'x' }, remove: [] };
    const step: Step = { kind: 'correctTags', group: sampleGroup(pool), change };
    const described = statusOf(sampleState(), {}, [{ step, heldBy: 'Paused' }]).pendingSteps?.[0]?.description;
    assert.match(described ?? '', /owner/);
    assert.deepEqual(
      ['\u001b', '\n'].filter((character) => described?.includes(character)),
      [],
    );
  });

  it('are not those that are held only until the next run or the next read', () => {
    const held = (['DisruptionPending', 'Replacing', 'Pending'] as const).map((reason, i) => label(i, reason));
    assert.equal('pendingSteps' in statusOf(sampleState(), {}, held), false);
  });
});

describe('every status', () => {
  it('keeps the limits of the schema, however long the messages of AWS are', () => {
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
      failed: openFailure(status.nodeGroup)?.message.length,
      node: status.failingNodes?.[0]?.message.length,
      build: status.builds?.[0]?.kernelVersion.length,
    };
    assert.deepEqual(lengths, { conditions: 32_768, issues: [4_096, 20], failed: 4_096, node: 1_024, build: 256 });
  });

  it('is stable: the next one for the same observed state is equal', () => {
    fc.assert(
      fc.property(randomObservedState, (s) => {
        const status = statusOf(s);
        const again = derive({ ...s, pool: { ...s.pool, status: { ...status } } });
        const twice = statusOf(again);
        const settled = statusOf(derive({ ...again, pool: { ...s.pool, status: twice } }));
        assert.equal(canonical(settled), canonical(twice));
      }),
      { numRuns: 2_000 },
    );
  });
});
