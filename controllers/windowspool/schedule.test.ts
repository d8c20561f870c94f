import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ObservedState } from './model/observedState.ts';
import type { CallErrorKind } from './ports/callResult.ts';
import type { NodeGroup } from './ports/eks.ts';
import { nextRun, untilNextRead } from './schedule.ts';
import {
  knownStatus,
  MINUTE,
  NOW,
  sampleError,
  sampleGroup,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleState,
  settings,
} from './testing/fixtures.ts';
import { randomObservedState } from './testing/randomObservedState.ts';

const { pollMs, resyncMs, createRetryMs, deniedRetryMs } = settings;

function group(change: Partial<NodeGroup>): ObservedState {
  return sampleState({ group: { kind: 'seen', group: sampleGroup(undefined, change) } });
}

function error(kind: CallErrorKind): ObservedState {
  return sampleState({ errors: [{ at: NOW, step: 'updateConfig', error: sampleError(kind) }] });
}

/** A call is denied, and PrerequisitesMet has said so for that long. */
function longDenied(ms: number): ObservedState {
  const lastTransitionTime = new Date(NOW - ms).toISOString();
  const reported = {
    type: 'PrerequisitesMet',
    status: 'False',
    reason: 'AccessDenied',
    message: 'no',
    lastTransitionTime,
  } as const;
  const pool = samplePool({}, { status: { ...knownStatus(), conditions: [reported] } });
  return { ...error('denied'), pool };
}

/** EKS has been at work for so long that it is polled at the longest interval. */
const LONG = 10 * MINUTE;

/** Three quarters to five quarters. */
function near(ms: number, wanted: number): void {
  assert.ok(ms >= wanted * 0.75 && ms <= wanted * 1.25, `${ms} ms is not near ${wanted} ms`);
}

describe('AWS is looked at again', () => {
  const { group: degradedGroup } = group({ status: 'DEGRADED' });
  const degraded = { group: degradedGroup };
  const terminating = samplePool(
    { deletionPolicy: 'Retain' },
    { metadata: { deletionTimestamp: new Date(NOW).toISOString() }, status: knownStatus() },
  );
  const spread: readonly (readonly [string, ObservedState, number])[] = [
    ['rarely when the group is settled', sampleState(), resyncMs],
    ['rarely when the group is degraded', group({ status: 'DEGRADED' }), resyncMs],
    ['rarely when the group is foreign', group({ tags: {}, status: 'CREATING' }), resyncMs],
    ['rarely when there is no group and nothing failed', sampleState({ group: { kind: 'absent' } }), resyncMs],
    ['rarely when what failed could have been tried again and was not', group({ status: 'CREATE_FAILED' }), resyncMs],
    ...(['CREATING', 'UPDATING', 'DELETING'] as const).map(
      (status) => [`soon while the group is ${status}`, group({ status }), pollMs] as const,
    ),
    ['soon when somebody else works on the group', error('busy'), pollMs],
    ['rarely when EKS takes no update of a degraded group', { ...error('busy'), ...degraded }, resyncMs],
    ['soon then while the pool leaves that group', { ...error('busy'), ...degraded, pool: terminating }, pollMs],
    [
      'soon while the end of an update is not known',
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

  const wished = sampleGroup().tags['winpool.dev/created-from'] ?? '';
  const refused = (minutes: number) =>
    samplePool(
      {},
      {
        status: knownStatus({
          failedTarget: {
            target: wished,
            reason: 'CreateRefused',
            message: 'no',
            time: new Date(NOW - minutes * MINUTE).toISOString(),
          },
        }),
      },
    );
  const exact: readonly (readonly [string, ObservedState, number])[] = [
    ['after a while when AWS denied a call', error('denied'), deniedRetryMs],
    ['more and more rarely the longer AWS denies it', longDenied(10 * MINUTE), 5 * MINUTE],
    ['as rarely as a settled group when AWS has denied it for long', longDenied(300 * MINUTE), resyncMs],
    ['after a while when the cluster is gone', error('gone'), deniedRetryMs],
    ['a moment later when AWS throttled', error('throttled'), 1_000],
    ['a moment later when AWS was unavailable', error('unavailable'), 1_000],
    ['when a refused call may be tried again', error('refused'), createRetryMs],
    ['at once when it was just adopted', sampleState({ pool: samplePool() }), 100],
    ['when a failed group may be replaced', group({ status: 'CREATE_FAILED', modifiedAt: NOW - MINUTE }), 14 * MINUTE],
    [
      'when a refused creation may be tried again',
      sampleState({ pool: refused(5), group: { kind: 'absent' } }),
      10 * MINUTE,
    ],
  ];
  for (const [name, observed, wanted] of exact) it(name, () => assert.equal(untilNextRead(observed, LONG), wanted));

  describe('while EKS works on the group', () => {
    for (const status of ['CREATING', 'UPDATING', 'DELETING'] as const) {
      const observed = group({ status });
      it(`after a second at first, and at most after the poll interval: ${status}`, () => {
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

    it('seven times in the first minute and a half, and then at the poll interval', () => {
      const observed = group({ status: 'CREATING' });
      const polls: number[] = [];
      for (let at = 0; at < 90_000; at += untilNextRead(observed, at)) polls.push(at);
      assert.ok(polls.length >= 8 && polls.length <= 12, `${polls}`);
    });

    it('at a poll interval that is shorter than a second', () => {
      const settled = group({ status: 'CREATING' });
      near(untilNextRead({ ...settled, settings: { ...settings, pollMs: 300 } }, 0), 300);
    });
  });

  it('at different times for different pools, and always the same for one', () => {
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

describe('trouble with Windows IPAM', () => {
  const ipam = (kind: CallErrorKind) => ({ at: NOW, step: 'updateAddon', error: sampleError(kind) });

  for (const status of ['CREATING', 'UPDATING', 'DELETING'] as const) {
    for (const kind of ['refused', 'denied'] as const) {
      it(`leaves the polls of a group as they are: ${kind} while the group is ${status}`, () => {
        const working = group({ status });
        assert.equal(untilNextRead({ ...working, errors: [ipam(kind)] }, 0), untilNextRead(working, 0));
      });
    }
  }

  it('decides when a group that is still to be created is looked at', () => {
    const absent = sampleState({ group: { kind: 'absent' }, errors: [ipam('refused')] });
    assert.equal(untilNextRead(absent, LONG), createRetryMs);
  });
});

describe('a pool runs again', () => {
  const table: readonly (readonly [string, ObservedState, number])[] = [
    ['when AWS is to be looked at', sampleState(), resyncMs],
    [
      'when the first joining node is late',
      sampleState({
        nodes: [...sampleNodes(3), sampleNode({ name: 'ip-9', ready: 'False', createdAt: NOW - 9 * MINUTE })],
      }),
      6 * MINUTE,
    ],
    [
      'when the maintenance window begins for which an automatic update waits',
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
      'when a missing node is late',
      sampleState({ nodes: sampleNodes(2), settings: { ...settings, joinGraceMs: 5 * MINUTE } }),
      5 * MINUTE,
    ],
  ];
  for (const [name, observed, ms] of table) {
    it(name, () => assert.deepEqual(nextRun(observed, resyncMs), { kind: 'requeueAfter', ms }));
  }
  for (const kind of ['throttled', 'unavailable'] as const) {
    it(`with growing delays when a call was ${kind}`, () => {
      const cause = `DescribeNodegroup: ${kind}Exception: the call was ${kind}`;
      assert.deepEqual(nextRun(error(kind), 1), { kind: 'requeue', cause });
    });
  }

  it('with growing delays and without a word when somebody else wrote first', () => {
    assert.deepEqual(nextRun(error('conflict'), 1), { kind: 'requeue' });
  });

  it('soon after trouble with the API server, which leaves the look at AWS as it was', () => {
    const refused = { at: NOW, step: 'createRuntimeClass', error: sampleError('refused') };
    const creating = sampleState({
      group: { kind: 'seen', group: sampleGroup(undefined, { status: 'CREATING' }) },
    });
    assert.equal(untilNextRead({ ...creating, errors: [refused] }, 0), untilNextRead(creating, 0));
    assert.deepEqual(nextRun({ ...creating, errors: [refused] }, 10_000_000), {
      kind: 'requeueAfter',
      ms: settings.deniedRetryMs,
    });
  });

  it('never at once, and never never', () => {
    const anyMs = fc.integer({ min: -1_000, max: 1_000_000 });
    fc.assert(
      fc.property(randomObservedState, anyMs, anyMs, (s, groupLookMs, statusAgeMs) => {
        const look = untilNextRead(s, statusAgeMs);
        assert.ok(look >= 100 && look <= 2 * createRetryMs, `AWS is looked at after ${look} ms`);
        const next = nextRun(s, groupLookMs);
        assert.ok(
          next.kind === 'requeue' || (next.kind === 'requeueAfter' && next.ms >= 100 && Number.isFinite(next.ms)),
          JSON.stringify(next),
        );
      }),
      { numRuns: 3_000 },
    );
  });
});
