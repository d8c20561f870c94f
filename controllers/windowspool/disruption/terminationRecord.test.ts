import assert from 'node:assert/strict';
import type { LeavingNode } from '../api/api.gen.ts';
import type { Step } from '../model/steps.ts';
import { MINUTE, NOW, sampleError, samplePool, sampleState, settings } from '../testing/fixtures.ts';
import { terminating } from '../testing/nodeScenes.ts';
import { timeOf } from '../util/durations.ts';
import { afterTermination, isOnItsWay, keepTerminations, withTerminations } from './terminationRecord.ts';

const RECORDED = timeOf(NOW);
const [a, b] = ['a', 'b'].map((name) => terminating(name)) as [LeavingNode, LeavingNode];
const recorded = { ...a, terminationRequestTime: RECORDED };
const statusOf = (...nodes: readonly LeavingNode[]) => ({
  disruption: { startTime: RECORDED, reason: 'NodeReplacement' as const, change: 'replace 2 nodes', nodes: [...nodes] },
});

describe('the record of a termination', () => {
  it('is made for the instances that are about to be terminated, and keeps the rest of the status', () => {
    const before = { ...statusOf(a, b), observedGeneration: 3 };
    assert.deepEqual(withTerminations(before, [a], NOW), { ...before, ...statusOf(recorded, b) });
  });

  it('is not overwritten by a reservation that was planned before it', () => {
    const reservation = statusOf(a, b).disruption;
    const kept = keepTerminations(statusOf(recorded), reservation);
    assert.deepEqual(kept.nodes, [recorded, b]);
  });

  const ages: readonly (readonly [string, LeavingNode, number, boolean])[] = [
    ['there is none', a, settings.pollMs, false],
    [
      'it is younger than three minutes',
      { ...a, terminationRequestTime: timeOf(NOW - 3 * MINUTE + 1_000) },
      settings.pollMs,
      true,
    ],
    ['it is three minutes old', { ...a, terminationRequestTime: timeOf(NOW - 3 * MINUTE) }, settings.pollMs, false],
    ['it is older than nine short poll intervals', { ...a, terminationRequestTime: timeOf(NOW - 9_000) }, 1_000, false],
  ];
  for (const [what, entry, pollMs, isWaiting] of ages)
    it(`${isWaiting ? 'delays' : 'does not delay'} the request if ${what}`, () => {
      assert.equal(isOnItsWay(entry, { now: NOW, settings: { ...settings, pollMs } }), isWaiting);
    });

  const record: Step = { kind: 'recordTerminations', entries: [a] };
  const sent: Step = { kind: 'terminateUnregistered', entry: a, scalingGroups: [], target: a.uid };
  const failed = (kind: Parameters<typeof sampleError>[0], operation: string) => ({
    at: NOW,
    step: 'terminateInstance' as const,
    target: a.uid,
    error: { ...sampleError(kind), operation },
  });
  const TERMINATE = 'TerminateInstanceInAutoScalingGroup';
  const results: readonly (readonly [string, readonly Step[], ReturnType<typeof failed>[], LeavingNode])[] = [
    [
      'becomes the time of the termination that AWS accepted',
      [record, sent],
      [],
      { ...a, terminationAcceptedTime: RECORDED },
    ],
    ['is removed when AWS rejected the request', [record], [failed('throttled', TERMINATE)], a],
    ['is removed when no request was sent', [record], [failed('unavailable', 'DescribeInstances')], a],
    ['stays when AWS did not respond', [record], [failed('unavailable', TERMINATE)], recorded],
    ['stays in a run that does not terminate', [], [], recorded],
  ];
  for (const [what, done, errors, wanted] of results)
    it(what, () => {
      const after = sampleState({ pool: samplePool(), errors });
      assert.deepEqual(afterTermination(recorded, { after, done }), wanted);
    });
});
