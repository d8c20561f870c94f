import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CallErrorKind } from './ports/callResult.ts';
import type { NodeGroup } from './ports/eks.ts';
import type { EksDerived } from './providers/nodeGroup/model/groupDue.ts';
import { nextRun, untilNextRead } from './schedule.ts';
import { derive } from './testing/derived.ts';
import {
  knownStatus,
  MINUTE,
  NOW,
  outcomeOf,
  sampleError,
  sampleGroup,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleState,
  settings,
} from './testing/fixtures.ts';
import { randomObservedState } from './testing/randomObservedState.ts';
import { runs } from './testing/runs.ts';
import { gone, unconfirmed } from './testing/sights.ts';

const { pollMs, resyncMs, createRetryMs, deniedRetryMs } = settings;

function group(change: Partial<NodeGroup>): EksDerived {
  return sampleState({ group: { kind: 'seen', group: sampleGroup(undefined, change) } });
}

function withError(kind: CallErrorKind): EksDerived {
  return sampleState({ errors: [{ at: NOW, step: 'updateConfig', error: sampleError(kind) }] });
}

/** A call is denied, and PrerequisitesMet has reported that for this time. */
function longDenied(ms: number): EksDerived {
  const since = new Date(NOW - ms).toISOString();
  const tracking = { prerequisites: { result: 'Denied', since } } as const;
  const pool = samplePool({}, { status: { ...knownStatus(), tracking } });
  return derive({ ...withError('denied'), pool });
}

/** EKS has been working for so long that it is polled at the longest interval. */
const LONG = 10 * MINUTE;

/** Between 75% and 125%. */
function near(ms: number, expected: number): void {
  assert.ok(ms >= expected * 0.75 && ms <= expected * 1.25, `${ms} ms is not near ${expected} ms`);
}

const terminating = samplePool(
  { deletionPolicy: 'Retain' },
  { metadata: { deletionTimestamp: new Date(NOW).toISOString() }, status: knownStatus() },
);

describe('the next read of AWS', () => {
  const { group: degradedGroup } = group({ status: 'DEGRADED' });
  const degraded = { group: degradedGroup };
  const spread: readonly (readonly [string, EksDerived, number])[] = [
    ['is after the resync interval if the group is settled', sampleState(), resyncMs],
    ['is after the resync interval if the group is degraded', group({ status: 'DEGRADED' }), resyncMs],
    [
      'is after the resync interval if the group is not managed by the pool',
      group({ tags: {}, status: 'CREATING' }),
      resyncMs,
    ],
    [
      'is after the resync interval if there is no group and no error',
      sampleState({ group: { kind: 'absent' } }),
      resyncMs,
    ],
    ['is after the resync interval if a due retry did not happen', group({ status: 'CREATE_FAILED' }), resyncMs],
    ...(['CREATING', 'UPDATING', 'DELETING'] as const).map(
      (status) => [`soon while the group is ${status}`, group({ status }), pollMs] as const,
    ),
    ['is after the poll interval if another client changes the group', withError('busy'), pollMs],
    [
      'is after the resync interval if EKS rejects updates of a degraded group',
      derive({ ...withError('busy'), ...degraded }),
      resyncMs,
    ],
    [
      'is after the poll interval in that case if the pool is being deleted',
      derive({ ...withError('busy'), ...degraded, pool: terminating }),
      pollMs,
    ],
    [
      'is after the poll interval while the result of an update is unknown',
      sampleState({
        pool: samplePool(
          {},
          { status: knownStatus({ update: { id: 'u', type: 'ConfigUpdate', target: 'x', status: 'InProgress' } }) },
        ),
      }),
      pollMs,
    ],
  ];
  for (const [name, observed, wanted] of spread) it(name, () => near(untilNextRead(observed, LONG), wanted));

  const createdFrom = sampleGroup().tags['winpool.dev/created-from'] ?? '';
  const refused = (minutes: number) =>
    samplePool(
      {},
      {
        status: knownStatus({
          failedChanges: [
            {
              target: createdFrom,
              reason: 'CreateRejected',
              message: 'no',
              time: new Date(NOW - minutes * MINUTE).toISOString(),
            },
          ],
        }),
      },
    );
  const exact: readonly (readonly [string, EksDerived, number])[] = [
    ['is after the denied retry interval if AWS denied a call', withError('denied'), deniedRetryMs],
    ['is later the longer AWS denies it', longDenied(10 * MINUTE), 5 * MINUTE],
    ['is after the resync interval if AWS has denied it for long', longDenied(300 * MINUTE), resyncMs],
    ['is after the denied retry interval if the cluster is gone', withError('gone'), deniedRetryMs],
    ['is after a second if AWS throttled', withError('throttled'), 1_000],
    ['is after a second if AWS was unavailable', withError('unavailable'), 1_000],
    ['is at the retry of a rejected call', withError('refused'), createRetryMs],
    ['is at once after an adoption', sampleState({ pool: samplePool() }), 100],
    [
      'is when a failed group can be replaced',
      group({ status: 'CREATE_FAILED', modifiedAt: NOW - MINUTE }),
      14 * MINUTE,
    ],
    [
      'is at the retry of a rejected creation',
      sampleState({ pool: refused(5), group: { kind: 'absent' } }),
      10 * MINUTE,
    ],
  ];
  for (const [name, observed, wanted] of exact) it(name, () => assert.equal(untilNextRead(observed, LONG), wanted));

  describe('while EKS changes the group', () => {
    for (const status of ['CREATING', 'UPDATING', 'DELETING'] as const) {
      const observed = group({ status });
      it(`is after a second at first, and at most after the poll interval: ${status}`, () => {
        for (const [age, wanted] of [
          [-MINUTE, 1_000],
          [0, 1_000],
          [1_000, 1_000],
          [4_000, 4_000],
          [19_000, 19_000],
          [21_000, pollMs],
        ] as const)
          near(untilNextRead(observed, age), wanted);
      });
    }

    it('is seven times in the first minute and a half, and then at the poll interval', () => {
      const observed = group({ status: 'CREATING' });
      const polls: number[] = [];
      for (let at = 0; at < 90_000; at += untilNextRead(observed, at)) polls.push(at);
      assert.ok(polls.length >= 8 && polls.length <= 12, `${polls}`);
    });

    it('can be earlier than a second', () => {
      const settled = group({ status: 'CREATING' });
      near(untilNextRead(derive({ ...settled, settings: { ...settings, pollMs: 300 } }), 0), 300);
    });
  });

  it('is when another request can confirm what was seen once of a group', () => {
    const once = (ms: number) => unconfirmed('absent', sampleGroup(), NOW - ms);
    for (const pool of [samplePool({}, { status: knownStatus() }), terminating]) {
      const doubted = (ms: number) => sampleState({ pool, group: once(ms) });
      const patient = derive({ ...doubted(4_000), settings: { ...settings, pollMs: 10 * MINUTE } });
      for (const observed of [doubted(4_000), patient]) assert.equal(untilNextRead(observed, 0), 6_000);
      assert.equal(untilNextRead(doubted(9_901), 0), 100);
      const both = derive({ ...doubted(4_000), second: once(7_000) });
      assert.equal(untilNextRead(both, 0), 3_000);
    }
  });

  it('is the next poll after it was confirmed that the group of a deleted pool is gone', () => {
    near(untilNextRead(sampleState({ pool: terminating, group: gone() }), LONG), settings.pollMs);
  });

  it('is at different times for different pools, and always the same for one', () => {
    const times = Array.from({ length: 50 }, (_, i) =>
      untilNextRead(
        sampleState({ pool: samplePool({}, { metadata: { uid: `uid-${i}` }, status: knownStatus() }) }),
        LONG,
      ),
    );
    assert.ok(new Set(times).size > 45, String(times));
    assert.equal(untilNextRead(sampleState(), LONG), untilNextRead(sampleState(), LONG));
  });
});

describe('an error of Windows IPAM', () => {
  const ipam = (kind: CallErrorKind) => ({ at: NOW, step: 'updateAddon' as const, error: sampleError(kind) });

  for (const status of ['CREATING', 'UPDATING', 'DELETING'] as const) {
    for (const kind of ['refused', 'denied'] as const) {
      it(`does not change the polls of a group: ${kind} while the group is ${status}`, () => {
        const working = group({ status });
        assert.equal(untilNextRead(derive({ ...working, errors: [ipam(kind)] }), 0), untilNextRead(working, 0));
      });
    }
  }

  it('determines the next read of a group that is not created yet', () => {
    const absent = sampleState({ group: { kind: 'absent' }, errors: [ipam('refused')] });
    assert.equal(untilNextRead(absent, LONG), createRetryMs);
  });
});

describe('the next reconciliation of a pool', () => {
  const table: readonly (readonly [string, EksDerived, number])[] = [
    ['is at the next read of AWS', sampleState(), resyncMs],
    [
      'is at the end of the first join grace',
      sampleState({
        nodes: [...sampleNodes(3), sampleNode({ name: 'ip-9', ready: 'False', createdAt: NOW - 9 * MINUTE })],
      }),
      6 * MINUTE,
    ],
    [
      'is at the start of the maintenance window that an automatic update waits for',
      sampleState({
        pool: samplePool(
          {
            nodeGroup: {
              update: {
                policy: 'Automatic',
                force: false,
                maintenanceWindows: [{ schedule: '5 12 * * *', duration: '1h', timeZone: 'Etc/UTC' }],
              },
            },
          },
          { status: knownStatus() },
        ),
        newestRelease: { ok: true, value: '1.36-2026.02.28' },
      }),
      5 * MINUTE,
    ],
    [
      'is at the end of the join grace of a missing node',
      sampleState({ nodes: sampleNodes(2), settings: { ...settings, joinGraceMs: 5 * MINUTE } }),
      5 * MINUTE,
    ],
  ];
  for (const [name, observed, ms] of table) {
    it(name, () => assert.deepEqual(nextRun(outcomeOf(observed), resyncMs), { kind: 'requeueAfter', ms }));
  }
  for (const kind of ['throttled', 'unavailable'] as const) {
    it(`has exponential backoff if a call was ${kind}`, () => {
      const cause = `DescribeNodegroup: ${kind}Exception: the call was ${kind}`;
      assert.deepEqual(nextRun(outcomeOf(withError(kind)), 1), { kind: 'requeue', cause });
    });
  }

  it('of a deleted pool does not follow its terminating nodes, which it no longer drains', () => {
    const entry = {
      name: 'ip-1',
      uid: 'uid-1',
      instanceID: 'i-1',
      operation: 'Replace',
      startTime: new Date(NOW).toISOString(),
    } as const;
    const disruption = { reason: 'NodeReplacement' as const, startTime: entry.startTime, nodes: [entry] };
    const leaving = { ...knownStatus(), disruption };
    const serving = sampleState({ pool: samplePool({}, { status: leaving }) });
    const deleted = sampleState({ pool: { ...terminating, status: leaving } });
    assert.deepEqual(nextRun(outcomeOf(serving), MINUTE), { kind: 'requeueAfter', ms: 100 });
    assert.deepEqual(nextRun(outcomeOf(deleted), MINUTE), { kind: 'requeueAfter', ms: MINUTE });
  });

  it('has exponential backoff without an error after a conflict', () => {
    assert.deepEqual(nextRun(outcomeOf(withError('conflict')), 1), { kind: 'requeue' });
  });

  it('is soon after an error of the API server, which does not change the next read of AWS', () => {
    const refused = { at: NOW, step: 'createRuntimeClass' as const, error: sampleError('refused') };
    const creating = sampleState({
      group: { kind: 'seen', group: sampleGroup(undefined, { status: 'CREATING' }) },
    });
    assert.equal(untilNextRead(derive({ ...creating, errors: [refused] }), 0), untilNextRead(creating, 0));
    assert.deepEqual(nextRun(outcomeOf(derive({ ...creating, errors: [refused] })), 10_000_000), {
      kind: 'requeueAfter',
      ms: settings.deniedRetryMs,
    });
  });

  it('is never immediate, and always at some time', () => {
    const anyMs = fc.integer({ min: -1_000, max: 1_000_000 });
    fc.assert(
      fc.property(randomObservedState, anyMs, anyMs, (s, nextReadMs, statusAgeMs) => {
        const readMs = untilNextRead(s, statusAgeMs);
        assert.ok(readMs >= 100 && readMs <= 2 * createRetryMs, `AWS is read after ${readMs} ms`);
        const next = nextRun(outcomeOf(s), nextReadMs);
        assert.ok(
          next.kind === 'requeue' || (next.kind === 'requeueAfter' && next.ms >= 100 && Number.isFinite(next.ms)),
          JSON.stringify(next),
        );
      }),
      { numRuns: runs(3_000) },
    );
  });
});
