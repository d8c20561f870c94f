import assert from 'node:assert/strict';
import { evaluateConditions } from '../../../conditions/evaluateConditions.ts';
import type { Step } from '../../../model/steps.ts';
import { planFor } from '../../../plan.ts';
import { samplesOf } from '../../../reporting/poolSamples.ts';
import { statusFor } from '../../../reporting/poolStatus.ts';
import { nextRun, untilNextRead } from '../../../schedule.ts';
import { known } from '../../../testing/answers.ts';
import {
  knownStatus,
  MINUTE,
  NOW,
  outcomeOf,
  sampleError,
  sampleGroup,
  samplePool,
  sampleState,
  sampleTemplate,
} from '../../../testing/fixtures.ts';
import { assertMentions, textTable } from '../../../testing/goldenTexts.ts';
import { sampleFacts } from '../../../testing/prerequisites.ts';
import {
  CORDONED_NODES,
  drainScene,
  HASHED,
  NEW,
  NEW_NODES,
  nodeIn,
  OLD,
  OLD_NODES,
  PLAIN,
  replacementScene,
  replacing,
  SHRUNK,
  THIRD,
} from '../../../testing/replacementScenes.ts';
import { gone, unconfirmed, unseen } from '../../../testing/sights.ts';
import { nodeGroupConditions } from '../conditions/nodeGroupConditions.ts';
import { nodeGroupNamesOf, secondNameOf } from '../desired/desiredNodeGroup.ts';
import type { CheckFacts } from '../model/checkFacts.ts';
import type { EksDerived } from '../model/groupDue.ts';
import { stageOf } from './describeSecondGroup.ts';

const check = textTable('conditions/UpToDateWithReplacement');

const at = (ms: number) => new Date(ms).toISOString();
const statusOf = (s: EksDerived, done: readonly Step[] = []) =>
  statusFor({ ...outcomeOf(s), done }, evaluateConditions(outcomeOf(s)), planFor(s).held);
const ZONES = ['eu-west-1a', 'eu-west-1b'];
const blocked = { node: 'a', message: '1 pod left', time: at(NOW - MINUTE) };
const refused = {
  at: NOW,
  step: 'shrinkSecondGroup' as const,
  error: sampleError('denied', { operation: 'UpdateNodegroupConfig' }),
};

describe('the names of the node groups of a pool', () => {
  it('are two, whatever status says', () => {
    const named = (name: string) => samplePool({}, { status: { nodeGroup: { name } } });
    assert.deepEqual(
      [secondNameOf(named('web')), secondNameOf(named(HASHED)), secondNameOf(named('x'))],
      [HASHED, 'web', HASHED],
    );
    const { pool } = replacementScene();
    assert.deepEqual(nodeGroupNamesOf(pool), [HASHED, PLAIN]);
  });

  it('are accepted by EKS, and differ between pools', () => {
    const name = 'a'.repeat(63);
    const second = secondNameOf(samplePool({ nodeGroup: { name } }));
    assert.match(second, /^[a-z0-9-]{63}$/);
    assert.notEqual(secondNameOf(samplePool({ nodeGroup: { name } }, { metadata: { name: 'api' } })), second);
  });
});

describe('the condition UpToDate during a replacement', () => {
  const stages: readonly (readonly [title: string, s: EksDerived, reason: string, args: readonly string[]])[] = [
    [
      'says that the new group is created',
      replacementScene({ main: { status: 'CREATING' }, nodes: OLD_NODES }),
      'Replacing',
      [HASHED],
    ],
    [
      'says how many nodes are missing',
      replacementScene({ nodes: [...OLD_NODES, ...NEW_NODES.slice(1)] }),
      'Replacing',
      ['1 of 2 required', HASHED],
    ],
    ['says how many nodes are left', drainScene(), 'Replacing', ['2 nodes', 'web']],
    [
      'says what the drain waits for',
      drainScene({ nodes: [...CORDONED_NODES, ...NEW_NODES.slice(1)] }),
      'Replacing',
      ['2 nodes', HASHED],
    ],
    [
      'says which node could not be drained',
      drainScene({ record: { blocked } }),
      'ReplacementBlocked',
      ['web', '1 pod', '12:14Z'],
    ],
    [
      'says that the old group is deleted',
      drainScene({ nodes: NEW_NODES, old: { ...SHRUNK, status: 'DELETING' } }),
      'Replacing',
      ['web'],
    ],
    [
      'says that a call failed',
      drainScene({ rest: { errors: [refused] } }),
      'Replacing',
      ['UpdateNodegroupConfig', 'web', 'the call was denied'],
    ],
    [
      'says that the old group cannot be read',
      drainScene({ old: unseen() as Extract<ReturnType<typeof unseen>, { kind: 'unreachable' }> }),
      'Replacing',
      ['web', 'DescribeNodegroup', 'the call was unavailable'],
    ],
    [
      'says what happens to another change before the new group has served',
      replacementScene({ spec: replacing(THIRD), main: { status: 'CREATING' }, nodes: OLD_NODES }),
      'Replacing',
      [HASHED],
    ],
    [
      'says what happens to another change after that',
      drainScene({ spec: replacing(THIRD) }),
      'Replacing',
      ['2 nodes', HASHED],
    ],
    [
      'says that the pool is paused',
      drainScene({ spec: { ...replacing(), paused: true } }),
      'Replacing',
      ['2 nodes', 'web', 'resumed'],
    ],
  ];
  for (const [title, s, reason, args] of stages) {
    const texts = () => {
      const { UpToDate, Ready } = nodeGroupConditions(outcomeOf(s));
      assert.equal(Ready.status, 'True', Ready.message);
      return [`${UpToDate.status} ${UpToDate.reason}: ${UpToDate.message}`];
    };
    check(title, texts, [[`False ${reason}`, `Node group ${HASHED}`, ...args]]);
  }
});

describe('a node group that EKS cannot change', () => {
  const due = (spec: object = {}, prerequisites?: CheckFacts) => {
    const pool = samplePool({ ...replacing(), ...spec }, { status: knownStatus() });
    const group = sampleGroup(samplePool(replacing(OLD)));
    return sampleState({ pool, group: { kind: 'seen', group }, ...(prerequisites && { prerequisites }) });
  };
  const noAddress = sampleFacts({ subnets: known([]) });
  const rows: readonly (readonly [title: string, s: EksDerived, args: readonly string[], isWorking: boolean])[] = [
    ['is about to be replaced', due(), [], true],
    ['waits until the pool is resumed', due({ paused: true }), ['resumed'], false],
    ['waits for the prerequisites of the new one', due({}, noAddress), ['PrerequisitesMet'], false],
  ];
  for (const [title, s, args, isWorking] of rows) {
    const texts = () => {
      const { UpToDate, NodeGroupReady, Stalled, Reconciling } = nodeGroupConditions(outcomeOf(s));
      assert.equal(NodeGroupReady.reason, 'Active');
      assert.equal(Stalled?.reason === 'ImmutableDifference', false);
      assert.equal(Reconciling !== undefined, isWorking);
      return [`${UpToDate.status} ${UpToDate.reason}: ${UpToDate.message}`];
    };
    check(title, texts, [['False ImmutableDifference', OLD, NEW, ...args]]);
  }
});

describe('the pending steps of a paused pool', () => {
  const rows: readonly (readonly [field: string, nodeGroup: object, what: string])[] = [
    ['edition', { edition: 'Full' }, 'AMI type is WINDOWS_CORE_2022_x86_64 (expected WINDOWS_FULL_2022_x86_64)'],
    [
      'nodeRole',
      { nodeRole: 'arn:aws:iam::111122223333:role/other' },
      'node role is arn:aws:iam::111122223333:role/windows-nodes (expected arn:aws:iam::111122223333:role/other)',
    ],
    [
      'subnets',
      { subnets: [{ id: 'subnet-0b000000' }] },
      'subnets are subnet-0a000000, subnet-0b000000 (expected subnet-0b000000)',
    ],
    ['instanceTypes', { instanceTypes: [NEW] }, `instance types are ${OLD} (expected ${NEW})`],
    ['capacityType', { capacityType: 'Spot' }, 'capacity type is OnDemand (expected Spot)'],
    ['diskSizeGiB', { diskSizeGiB: 100 }, 'disk size is 50 (expected 100)'],
    [
      'launchTemplate',
      { launchTemplate: { name: 'windows', version: '1' }, diskSizeGiB: undefined },
      'launch template is none (expected windows)',
    ],
    [
      'several fields',
      { edition: 'Full', capacityType: 'Spot' },
      'AMI type is WINDOWS_CORE_2022_x86_64 (expected WINDOWS_FULL_2022_x86_64) and capacity type is OnDemand (expected Spot)',
    ],
  ];
  const pendingAfter = (nodeGroup: object, immutableChangePolicy: 'Reject' | 'Replace') => {
    const pool = samplePool(
      { paused: true, nodeGroup: { immutableChangePolicy, ...nodeGroup } },
      { status: knownStatus() },
    );
    const prerequisites = sampleFacts({
      launchTemplate: known(sampleTemplate('1')),
      instanceTypes: known([OLD, NEW].map((name) => ({ name, architectures: ['x86_64'], addressesPerInterface: 10 }))),
      offerings: known([OLD, NEW].flatMap((instanceType) => ZONES.map((zone) => ({ instanceType, zone })))),
    });
    return (
      statusOf(sampleState({ pool, group: { kind: 'seen', group: sampleGroup() }, prerequisites })).pendingSteps ?? []
    );
  };
  for (const [field, nodeGroup, what] of rows) {
    it(`are the replacement when ${field} changes, or nothing if it is refused`, () => {
      assert.deepEqual(pendingAfter(nodeGroup, 'Replace'), [
        { description: `replace node group web with ${HASHED}: ${what}`, reason: 'Paused' },
      ]);
      assert.deepEqual(pendingAfter(nodeGroup, 'Reject'), []);
    });
  }
});

describe('a pool whose node group is replaced', () => {
  it('is not Ready because EKS creates the new group, when it lacks verified nodes', () => {
    const s = replacementScene({ main: { status: 'CREATING' }, nodes: [OLD_NODES[0] ?? assert.fail()] });
    const { Ready } = evaluateConditions(outcomeOf(s));
    assert.deepEqual([Ready.status, Ready.reason], ['False', 'Joining']);
  });

  it('is Ready when it was scaled to zero', () => {
    const scaling = { minSize: 0, maxSize: 5, desiredSize: 0 };
    const s = replacementScene({ main: { scaling }, old: { scaling }, nodes: [] });
    assert.equal(evaluateConditions(outcomeOf(s)).Ready.reason, 'NoNodes');
  });

  it('counts the nodes of both groups', () => {
    const { nodes, summary } = statusOf(replacementScene());
    assert.deepEqual([nodes?.desired, nodes?.total, nodes?.verified, summary?.nodes], [4, 4, 4, '4/4']);
  });

  it('has metrics of the stage and the start', () => {
    const s = drainScene();
    const series = samplesOf(s, evaluateConditions(outcomeOf(s)), statusOf(s)).filter(({ metric }) =>
      metric.includes('replacement'),
    );
    assert.deepEqual(
      series.map(({ metric, labels, value }) => [metric, labels, value]),
      [
        ['windowspool_replacement_in_progress', { stage: 'draining' }, 1],
        ['windowspool_replacement_start_timestamp_seconds', {}, (NOW - 20 * MINUTE) / 1_000],
      ],
    );
  });

  it('is read soon after each change, and then less often up to the poll interval', () => {
    const created = (seconds: number) =>
      replacementScene({ main: 'absent', record: { startTime: at(NOW - seconds * 1_000) }, nodes: OLD_NODES });
    const once = drainScene({ nodes: NEW_NODES, old: unconfirmed('absent', undefined, NOW - 4_000) });
    const passed = drainScene({
      nodes: NEW_NODES,
      old: { kind: 'absent' },
      record: { absenceStartTime: at(NOW - 4_000) },
    });
    const views = [created(0), created(4), created(60), drainScene(), once, passed];
    const waits = views.map((s) => untilNextRead(s, MINUTE) / 1_000);
    const expected = [1, 4, 20, 20, 6, 20];
    assert.deepEqual(
      waits.map((wait, index) => Math.abs(wait / (expected[index] ?? 0) - 1) <= 0.25),
      expected.map(() => true),
      String(waits),
    );
    assert.equal(nextRun(outcomeOf(created(0)), 1_000).kind, 'requeueAfter');
  });
});

describe('a second node group of which one answer contradicts what was known', () => {
  const once = [unconfirmed('absent'), unconfirmed('unowned')] as const;
  const scenes = once.flatMap((old) => [replacementScene({ old }), drainScene({ old })]);

  it('has no stage, and is not said to be deleted', () => {
    for (const s of scenes) {
      const { UpToDate } = nodeGroupConditions(outcomeOf(s));
      assertMentions(UpToDate.message, PLAIN, 'The operator reads it again');
      assert.doesNotMatch(UpToDate.message, /being deleted/);
      assert.equal(stageOf(s), undefined);
    }
  });
});

describe('a main node group that is not known while the old one serves', () => {
  const failing = {
    verified: { status: 'False', reason: 'NotReady', message: '' },
    verifiedSince: NOW - 60 * MINUTE,
  } as const;
  const nodes = [nodeIn(PLAIN, 'a', failing), nodeIn(PLAIN, 'b', failing)];
  const remediation = { policy: 'Replace' as const, unhealthyAfter: '15m', maxUnhealthy: '40%' };
  const spec = { ...replacing(), remediation };

  for (const group of [unconfirmed(), unseen()])
    it(`keeps the limit of remediation: ${group.kind}`, () => {
      const s = replacementScene({ spec, nodes, rest: { group } });
      assert.deepEqual(s.due.nodes.begin, []);
    });
});

describe('the record of a replacement', () => {
  const recordOf = (s: EksDerived, done: readonly Step[] = []) => statusOf(s, done).nodeGroup?.replacement;

  it('has the status of the old group, its nodes and the phase', () => {
    const { status, nodes, phase } = recordOf(drainScene()) ?? {};
    assert.deepEqual([status, nodes, phase], ['ACTIVE', 2, 'Draining']);
  });

  it('stays while it cannot be read', () => {
    const s = drainScene({ old: unseen() as Extract<ReturnType<typeof unseen>, { kind: 'unreachable' }> });
    assert.deepEqual(recordOf(s), s.pool.status?.nodeGroup?.replacement);
  });

  it('stays while its absence is not confirmed', () => {
    const record = { arn: 'arn:1', status: 'DELETING' };
    const s = drainScene({ nodes: NEW_NODES, old: unconfirmed(), record });
    assert.deepEqual(recordOf(s), s.pool.status?.nodeGroup?.replacement);
  });

  it('is dropped when EKS does not have the group any more, and its nodes are not Ready', () => {
    const absent = (absenceStartTime: string | undefined, nodes = NEW_NODES, status = 'DELETING') =>
      recordOf(drainScene({ nodes, old: gone(), record: { status, ...(absenceStartTime && { absenceStartTime }) } }));
    assert.equal(absent(undefined), undefined);
    assert.equal(absent(undefined, OLD_NODES)?.absenceStartTime, '2026-03-01T11:59:00Z');
    const ready = [...NEW_NODES, nodeIn(PLAIN, 'a')];
    assert.notEqual(absent(at(NOW - 9 * MINUTE), ready), undefined);
    assert.equal(absent(at(NOW - 10 * MINUTE), ready), undefined);
    assert.notEqual(absent(at(NOW - 9 * MINUTE), NEW_NODES, 'CREATING'), undefined);
  });

  it("is dropped when the group is not the pool's any more", () => {
    assert.equal(recordOf(drainScene({ old: { ...SHRUNK, tags: {} }, nodes: NEW_NODES })), undefined);
  });

  it('has the node that could not be drained, which leaves status.disruption', () => {
    const [node = assert.fail()] = CORDONED_NODES;
    const entry = {
      name: 'a',
      uid: node.uid,
      instanceID: 'i-a',
      operation: 'DrainNodeGroup' as const,
      startTime: at(NOW - 15 * MINUTE),
    };
    const s = drainScene({
      disruption: { reason: 'NodeReplacement', startTime: at(NOW - 15 * MINUTE), nodes: [entry] },
    });
    const after = statusOf(s, [{ kind: 'giveUpNode', node, entry, why: '1 pod left' }]);
    assert.deepEqual(after.nodeGroup?.replacement?.blocked, {
      node: 'a',
      message: '1 pod left',
      time: '2026-03-01T12:00:00Z',
    });
    assert.equal(after.disruption?.nodes, undefined);
  });
});
