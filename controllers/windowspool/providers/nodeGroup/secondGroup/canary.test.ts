import assert from 'node:assert/strict';
import { evaluateConditions } from '../../../conditions/evaluateConditions.ts';
import { derive } from '../../../derive.ts';
import type { ConditionState } from '../../../model/conditions.ts';
import type { PoolNodes } from '../../../nodes/poolNodes.ts';
import { planFor } from '../../../plan.ts';
import type { NodeRecord } from '../../../ports/nodes.ts';
import { samplesOf } from '../../../reporting/poolSamples.ts';
import { statusFor } from '../../../reporting/poolStatus.ts';
import { untilNextRead } from '../../../schedule.ts';
import { known } from '../../../testing/answers.ts';
import {
  beforeCanary,
  CANARY_NODES,
  canaryScene,
  ENDED,
  MAIN_NODES,
  PASSED,
  trying,
} from '../../../testing/canaryScenes.ts';
import { MINUTE, NEXT, NOW, outcomeOf, sampleError, samplePool } from '../../../testing/fixtures.ts';
import { assertMentions, textTable } from '../../../testing/goldenTexts.ts';
import { sampleFacts } from '../../../testing/prerequisites.ts';
import { HASHED, nodeIn } from '../../../testing/replacementScenes.ts';
import { unseen } from '../../../testing/sights.ts';
import { nodeGroupConditions } from '../conditions/nodeGroupConditions.ts';
import type { EksDerived } from '../model/groupDue.ts';
import { versionTargetOf } from '../versions/versionChanges.ts';

const check = textTable('conditions/UpToDateWithCanary');

const at = (ms: number) => new Date(ms).toISOString();
const young = { phase: 'Creating' } as const;
const missing = { arn: undefined, phase: 'Creating' } as never;
const quotaReached = sampleFacts({ nodeGroups: known(Array.from({ length: 30 }, String)) });
const SHRUNK = { scaling: { minSize: 0, maxSize: 2, desiredSize: 2 } };
const blocked = { node: 'x', message: '1 pod left', time: at(NOW - MINUTE) };
const denied = {
  at: NOW,
  step: 'createCanary' as const,
  error: sampleError('denied', { operation: 'CreateNodegroup' }),
};
const done = { releaseVersion: NEXT };
const REPORTING = trying(undefined, { driftPolicy: 'Report' });
const FAILED = {
  target: versionTargetOf(samplePool(trying()), { kubernetesVersion: '1.36', releaseVersion: NEXT, force: false }),
  reason: 'CanaryFailed',
  message: 'Canary web-2 failed',
  time: at(NOW - MINUTE),
};

const stages: readonly (readonly [stage: string, s: EksDerived, args: readonly string[]])[] = [
  [
    'creating',
    canaryScene({ record: young, canary: { status: 'CREATING' }, nodes: MAIN_NODES }),
    [HASHED, NEXT, '30m'],
  ],
  [
    'creating',
    canaryScene({
      record: missing,
      canary: { kind: 'absent' },
      nodes: MAIN_NODES,
      rest: { prerequisites: quotaReached },
    }),
    [HASHED, NEXT, 'PrerequisitesMet'],
  ],
  [
    'creating',
    canaryScene({ record: missing, canary: { kind: 'absent' }, nodes: MAIN_NODES, rest: { errors: [denied] } }),
    [HASHED, NEXT, 'CreateNodegroup', 'the call was denied'],
  ],
  [
    'verifying',
    canaryScene({ record: young, nodes: [...MAIN_NODES, ...CANARY_NODES.slice(1)] }),
    [HASHED, NEXT, '1 of 2', '30m'],
  ],
  ['waiting', canaryScene(), [HASHED, NEXT, '12:20Z']],
  ['waiting', canaryScene({ record: young }), [HASHED, NEXT, '12:30Z']],
  ['waiting', canaryScene({ spec: { ...trying(), paused: true } }), [HASHED, NEXT, '12:20Z', 'resumed']],
  ['draining', canaryScene({ record: ENDED, canary: SHRUNK, main: done }), [HASHED, '2 nodes']],
  [
    'draining',
    canaryScene({ record: ENDED, canary: SHRUNK, main: done, nodes: [...MAIN_NODES.slice(1), ...CANARY_NODES] }),
    [HASHED, '2 nodes', '3 nodes'],
  ],
  ['blocked', canaryScene({ record: { ...ENDED, blocked }, canary: SHRUNK, main: done }), [HASHED, '1 pod', '12:14Z']],
  [
    'deleting',
    canaryScene({ record: ENDED, canary: { ...SHRUNK, status: 'DELETING' }, main: done, nodes: MAIN_NODES }),
    [HASHED],
  ],
  [
    'creating',
    canaryScene({ canary: unseen() as never }),
    [HASHED, NEXT, 'DescribeNodegroup', 'the call was unavailable'],
  ],
];

describe('a canary', () => {
  for (const [stage, s, args] of stages) {
    const textOf = ({ status, reason, message }: ConditionState) => [`${status} ${reason}: ${message}`];
    const identity = stage === 'blocked' ? 'False CanaryBlocked' : 'False CanaryRunning';
    check(
      `is described while it is ${stage}: ${args.join(', ')}`,
      () => textOf(nodeGroupConditions(outcomeOf(s)).UpToDate),
      [[identity, ...args]],
    );
    it(`has metrics while it is ${stage}: ${args.join(', ')}`, () => {
      const { Ready } = nodeGroupConditions(outcomeOf(s));
      assert.equal(Ready.status, 'True', Ready.message);
      const assessment = evaluateConditions(outcomeOf(s));
      const series = samplesOf(s, assessment, statusFor(outcomeOf(s), assessment, []));
      const shown = series.filter(({ metric }) => metric.startsWith('windowspool_canary'));
      if (stage === 'creating' && s.second?.kind !== 'seen') return;
      assert.deepEqual(
        shown.map(({ metric, labels, value }) => [metric, labels, value]),
        [
          ['windowspool_canary_in_progress', { stage }, 1],
          ['windowspool_canary_start_timestamp_seconds', {}, (NOW - 20 * MINUTE) / 1_000],
        ],
      );
    });
  }

  it('that has passed lets the update begin', () => {
    const { UpToDate } = nodeGroupConditions(outcomeOf(canaryScene({ record: PASSED })));
    assert.equal(UpToDate.reason, 'UpdatePending');
  });

  const behind: readonly (readonly [title: string, scene: Parameters<typeof canaryScene>[0], other: RegExp])[] = [
    [
      'a newer release is available',
      { main: done, rest: { newestRelease: known('1.36-2026.05.12') } },
      /the newest is 1\.36-2026\.05\.12\. Set nodeGroup\.releaseVersion/,
    ],
    [
      'the canary failed',
      { state: { failedChanges: [FAILED] } },
      /Canary web-2 failed\. Not retried until the spec changes or you run/,
    ],
    ['another field has drifted', { main: { ...done, labels: {} }, spec: REPORTING }, /drifted from the spec/],
  ];
  const ENDS: readonly (readonly [
    end: string,
    scene: Parameters<typeof canaryScene>[0],
    reason: string | undefined,
  ])[] = [
    ['Node x was not drained: 1 pod left. Next attempt at 12:14Z.', { record: { ...ENDED, blocked } }, 'CanaryBlocked'],
    ['2 nodes left to drain.', { record: ENDED }, undefined],
  ];
  for (const [title, scene, other] of behind)
    for (const [end, drain, reason] of ENDS)
      it(`that has ended is described although ${title}: ${end}`, () => {
        const { UpToDate } = nodeGroupConditions(outcomeOf(canaryScene({ canary: SHRUNK, ...scene, ...drain })));
        assert.ok(UpToDate.message.includes(`Canary ${HASHED} has ended. ${end}`), UpToDate.message);
        assert.match(UpToDate.message, other);
        const alone = nodeGroupConditions(outcomeOf(canaryScene({ ...scene, record: 'none', canary: 'none' }))).UpToDate
          .reason;
        assert.deepEqual([UpToDate.status, UpToDate.reason], ['False', reason ?? alone]);
      });

  it('that cannot begin shows that its prerequisites are not met', () => {
    const { UpToDate } = nodeGroupConditions(outcomeOf(beforeCanary({ rest: { prerequisites: quotaReached } })));
    assertMentions(UpToDate.message, 'PrerequisitesMet');
  });

  it('that failed stalls a pool whose spec pins the version', () => {
    const bad = nodeIn(HASHED, 'y', { kernelVersion: '10.0.17763.1' });
    const s = canaryScene({ nodes: [...MAIN_NODES, CANARY_NODES[0] ?? bad, bad] });
    const { UpToDate, Stalled, Ready } = nodeGroupConditions(outcomeOf(s));
    assert.deepEqual([UpToDate.reason, Stalled?.reason, Ready.status], ['CanaryFailed', 'CanaryFailed', 'True']);
    assertMentions(UpToDate.message, 'node y', 'WrongBuild', 'web');
  });

  it('does not fail by a node that only has its label, which a kubelet can set before EKS has created the group', () => {
    const claimed = nodeIn(HASHED, 'y', { kernelVersion: '10.0.17763.1' });
    const s = canaryScene({ record: young, canary: { status: 'CREATING' }, nodes: [...MAIN_NODES, claimed] });
    const reasonOf = () => nodeGroupConditions(outcomeOf(derive(s) as EksDerived)).UpToDate.reason;
    assert.equal(reasonOf(), 'CanaryFailed', 'a node of the group');
    (s.poolNodes as PoolNodes).confirm({ groupOfInstance: new Map(), unlisted: new Set(['web', HASHED]) }, NOW);
    assert.equal(reasonOf(), 'CanaryRunning');
  });

  const OTHER_BUILD = { kernelVersion: '10.0.17763.1' };
  const addressless: readonly (readonly [age: number, change: Partial<NodeRecord>, reason: string])[] = [
    [MINUTE, {}, 'CanaryRunning'],
    [15 * MINUTE - 1, {}, 'CanaryRunning'],
    [15 * MINUTE, {}, 'CanaryFailed'],
    [MINUTE, OTHER_BUILD, 'CanaryFailed'],
  ];
  for (const [age, change, reason] of addressless)
    it(`is ${reason} with a node ${age} ms old without pod addresses ${JSON.stringify(change)}, also if an event says that it never gets any`, () => {
      const node = nodeIn(HASHED, 'y', { createdAt: NOW - age, allocatable: {}, ...change });
      const s = canaryScene({ record: young, nodes: [...MAIN_NODES, ...CANARY_NODES.slice(0, 1), node] });
      const message = 'The instance type m5.large is not supported for Windows';
      (s.poolNodes as PoolNodes).reported(node, { ok: true, value: [{ reason: 'Unsupported', message }] }, NOW);
      assert.deepEqual(
        s.poolNodes.failing.map(({ node: { name } }) => name),
        ['y'],
      );
      assert.equal(nodeGroupConditions(outcomeOf(derive(s) as EksDerived)).UpToDate.reason, reason);
    });

  it('that failed has a reason in its record that the schema accepts', () => {
    const error = sampleError('refused', { message: 'x'.repeat(10_000) });
    const s = canaryScene({
      record: missing,
      canary: { kind: 'absent' },
      nodes: MAIN_NODES,
      rest: { errors: [{ at: NOW, step: 'createCanary', error }] },
    });
    const [step] = planFor(s).steps;
    assert.equal(step?.kind === 'endCanary' && step.ahead.failed?.message.length, 4_096);
  });

  it('is read when its nodes have been verified for long enough, and soon while they are not', () => {
    const near = (s: EksDerived, ms: number) => Math.abs(untilNextRead(s, 60 * MINUTE) / ms - 1) <= 0.25;
    assert.ok(near(canaryScene({ record: { lastTransitionTime: at(NOW - 29 * MINUTE) } }), MINUTE));
    assert.ok(near(canaryScene(), 10 * MINUTE));
    assert.ok(near(canaryScene({ record: young, nodes: MAIN_NODES }), 20_000));
  });
});
