/** What is recorded of conditions. Nothing may depend on the reason, message or time of a condition that was written before. */
import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import type { Tracking } from '../api/api.gen.ts';
import type { Reason } from '../api/reasons.ts';
import type { ConditionSet, ConditionState } from '../model/conditions.ts';
import type { Expectation } from '../model/poolNodesView.ts';
import { needOf } from '../nodePods/need.ts';
import { preparationOf } from '../nodePods/preparation.ts';
import { reportFor } from '../nodes/nodeCondition.ts';
import { taintChangeFor } from '../nodes/nodeTaints.ts';
import { verifyNode } from '../nodes/verify.ts';
import { planFor } from '../plan.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { wasUnmet } from '../providers/nodeGroup/checks/prerequisitesRecord.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import { providerOf } from '../providers/providers.ts';
import { statusFor } from '../reporting/poolStatus.ts';
import { nextRun, untilNextRead } from '../schedule.ts';
import { anySpec } from '../testing/anySpec.ts';
import { derive } from '../testing/derived.ts';
import { existingScene } from '../testing/existingScenes.ts';
import { knownStatus, MINUTE, NOW, outcomeOf, samplePool, sampleState } from '../testing/fixtures.ts';
import { observedStateOf, randomNode, randomObservedState, randomPool } from '../testing/randomObservedState.ts';
import { timeOf } from '../util/durations.ts';
import { falseCondition, trueCondition, unknownCondition } from './condition.ts';
import { evaluateConditions } from './evaluateConditions.ts';
import { conditionRecords } from './records.ts';

const anyText = fc.oneof(
  fc.string(),
  fc.constantFrom<Reason>('Joining', 'NodesMissing', 'AccessDenied', 'AWSUnavailable', 'MetWithWarnings', 'NotReady'),
);
const anyTime = fc.integer({ min: 0, max: 120 }).map((minutes) => new Date(NOW - minutes * MINUTE).toISOString());
const anyWords = fc.record({ reason: anyText, message: anyText, lastTransitionTime: anyTime });

/** The state with other reasons, messages and times in the conditions of its pool. */
function reworded(s: EksDerived): fc.Arbitrary<EksDerived> {
  const { conditions = [], ...status } = s.pool.status ?? {};
  return fc.array(anyWords, { minLength: conditions.length, maxLength: conditions.length }).map((words) => {
    const changed = conditions.map((condition, index) => ({ ...condition, ...words[index] }));
    return derive({ ...s, pool: { ...s.pool, status: { ...status, conditions: changed } } });
  });
}

/** What is done, what is read, when the next run is, and what is recorded for it. */
function decisionsIn(s: EksDerived) {
  const plan = planFor(s);
  const conditions = evaluateConditions(outcomeOf(s));
  const status = statusFor(outcomeOf(s), conditions, plan.held);
  const { PrerequisitesMet, ...others } = conditions;
  return {
    plan,
    next: nextRun(outcomeOf(s), untilNextRead(s, MINUTE)),
    reads: [providerOf(s.pool).needsRead(s), 'prerequisites' in s.due && s.due.prerequisites.scope, wasUnmet(s)],
    tracking: status.tracking,
    statuses: status.conditions?.map(({ type, status: value }) => [type, value]),
    // A condition that was not evaluated has the words of the one in status, and so may those that repeat it.
    conditions: PrerequisitesMet.isEarlier ? undefined : { PrerequisitesMet, ...others },
  };
}

describe('the words and times of conditions that were written before', () => {
  const anyPool = fc.tuple(randomPool, anySpec).map(([pool, spec]) => ({ ...pool, spec }));
  for (const [what, states] of [
    ['a pool with a node group', randomObservedState],
    ['a pool with any spec', anyPool.chain(observedStateOf)],
  ] as const) {
    it(`change nothing that is done, read, scheduled or recorded for ${what}`, () => {
      const pairs = states.chain((s) => reworded(s).map((other) => [s, other] as const));
      fc.assert(
        fc.property(pairs, ([s, other]) => assert.deepEqual(decisionsIn(other), decisionsIn(s))),
        { numRuns: 300, endOnFailure: true },
      );
    }).timeout(60_000);
  }

  it('change no verification result of a node, nor what it needs', () => {
    const expectations = randomPool.map((pool): Expectation => {
      const rest = { joinGraceMs: 15 * MINUTE, serverVersion: 'v1.36.3', taints: { gate: true, quarantine: true } };
      return { spec: pool.spec, ...rest, reportedBy: 'web' };
    });
    const resultOf = (node: NodeRecord, expected: Expectation) => {
      const { verification } = expected.spec;
      const preparation = preparationOf(node, verification, [], NOW);
      const { node: _node, ...result } = verifyNode(node, expected, NOW, preparation);
      const { node: _same, ...need } = needOf({ node, ...result, preparation }, expected, [], NOW) ?? {};
      const change = taintChangeFor({ node, ...result }, expected.taints);
      return { ...result, need, change, report: reportFor({ node, ...result }, verification, 'web') };
    };
    fc.assert(
      fc.property(randomNode, expectations, anyText, anyText, (node, expected, reason, message) => {
        const other = { ...node, verified: node.verified && { ...node.verified, reason, message } };
        assert.deepEqual(resultOf(other, expected), resultOf(node, expected));
      }),
      { numRuns: 1_000 },
    );
  });

  it('are read only where a condition is written, compared for an event, or repeated', async () => {
    const READERS = [
      'conditions/records.ts',
      'nodes/nodeCondition.ts',
      'providers/nodeGroup/conditions/prerequisitesMet.ts',
      'reporting/poolEvents.ts',
      'reporting/poolStatus.ts',
    ];
    const READS = /status\??\.conditions|\{[^{}]*\bconditions\b[^{}]*\} = \S*status|verified\??\.(message|reason)/;
    const root = fileURLToPath(new URL('..', import.meta.url));
    const found: string[] = [];
    for await (const path of glob('**/*.ts', { cwd: root, exclude: ['**/*.test.ts', 'testing/**'] })) {
      const code = await readFile(join(root, path), 'utf8');
      if (READS.test(code)) found.push(path);
    }
    assert.deepEqual(found.sort(), READERS);
  });
});

/** A status after each of these conditions, one minute after the other. */
function historyOf(...states: readonly Partial<Record<keyof ConditionSet, ConditionState>>[]): Tracking[] {
  const met = trueCondition('Met', '');
  let status = knownStatus();
  return states.map((state, minute) => {
    const all = { Ready: met, RuntimeClassReady: met, NodesVerified: met, PrerequisitesMet: met, NodesFound: met };
    const conditions: ConditionSet = { ...all, ...state };
    const now = NOW + minute * MINUTE;
    const tracking = conditionRecords(sampleState({ pool: samplePool({}, { status }), now }), conditions);
    const lastTransitionTime = timeOf(now);
    const written = Object.entries(conditions as unknown as Record<string, ConditionState>);
    status = {
      ...status,
      conditions: written.map(([type, condition]) => ({ type, ...condition, lastTransitionTime })),
      tracking,
    };
    const { ready: _ready, firstReadyTime: _first, ...rest } = tracking;
    return rest;
  });
}

describe('the records of conditions', () => {
  const at = (minute: number) => timeOf(NOW + minute * MINUTE);

  it('have when the pool was Ready for the first time, although it is not any more', () => {
    const history = [
      unknownCondition('Joining', ''),
      trueCondition('EnoughNodesVerified', ''),
      falseCondition('NodesFailing', ''),
    ];
    let pool = samplePool();
    const records = history.map((Ready, minute) => {
      const s = sampleState({ pool, now: NOW + minute * MINUTE });
      const { firstReadyTime } = conditionRecords(s, { ...evaluateConditions(outcomeOf(s)), Ready });
      pool = samplePool({}, { status: { ...knownStatus(), tracking: firstReadyTime ? { firstReadyTime } : {} } });
      return firstReadyTime;
    });
    assert.deepEqual(records, [undefined, at(1), at(1)]);
  });

  it('have since when nodes have been joining, and whether they are missing', () => {
    const joining = { NodesVerified: unknownCondition('Joining', '') };
    const missing = (['NodesMissing', 'MembershipLabelRemoved', 'WrongOperatingSystem'] as const).map((reason) => ({
      NodesVerified: falseCondition(reason, ''),
    }));
    const failing = { NodesVerified: falseCondition('WrongBuild', '') };
    assert.deepEqual(historyOf({}, joining, joining, ...missing, joining, failing, joining), [
      {},
      { joiningSince: at(1) },
      { joiningSince: at(1) },
      { nodesMissing: true },
      { nodesMissing: true },
      { nodesMissing: true },
      { joiningSince: at(6) },
      {},
      { joiningSince: at(8) },
    ]);
  });

  it('have how prerequisites were found, since the status last changed', () => {
    const steps = [
      { ...falseCondition('NoLinuxNode', ''), result: 'NotMet' } as const,
      { ...unknownCondition('NotChecked', ''), result: 'NotMet' } as const,
      { ...unknownCondition('AccessDenied', ''), result: 'ReadDenied' } as const,
      { ...falseCondition('AccessDenied', ''), result: 'Denied' } as const,
      { ...unknownCondition('AWSUnavailable', ''), result: 'Unavailable' } as const,
      { ...trueCondition('MetWithWarnings', ''), result: 'Remarked', remarks: 'hash' } as const,
      { ...falseCondition('NoLinuxNode', ''), isEarlier: true } as const,
      trueCondition('Met', ''),
      falseCondition('ClusterNotFound', ''),
    ];
    const records = historyOf(...steps.map((PrerequisitesMet) => ({ PrerequisitesMet })));
    assert.deepEqual(
      records.map(({ prerequisites }) => prerequisites),
      [
        { result: 'NotMet', since: at(0) },
        { result: 'NotMet', since: at(1) },
        { result: 'ReadDenied', since: at(1) },
        { result: 'Denied', since: at(3) },
        { result: 'Unavailable', since: at(4) },
        { result: 'Remarked', remarks: 'hash' },
        { result: 'Remarked', remarks: 'hash' },
        undefined,
        { since: at(8) },
      ],
    );
  });

  it('of prerequisites are all that a pool of existing nodes has', () => {
    const s = existingScene();
    const error = { kind: 'denied', operation: 'patch nodes', code: 'Forbidden', message: 'no' } as const;
    const denied = derive({ ...s, errors: [{ at: NOW, step: 'markNode', error }] });
    assert.deepEqual(conditionRecords(denied, evaluateConditions(outcomeOf(denied))), {
      firstReadyTime: at(0),
      prerequisites: { result: 'Denied', since: at(0) },
    });
  });
});
