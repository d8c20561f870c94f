import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { TroubleKind } from './ports/answer.ts';
import type { NodeGroup } from './ports/eks.ts';
import { nextRun, untilGroupLook } from './schedule.ts';
import type { Situation } from './situation.ts';
import {
  knownStatus,
  MINUTE,
  NOW,
  sampleGroup,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleSituation,
  sampleTrouble,
  settings,
} from './testing/fixtures.ts';
import { randomSituation } from './testing/randomSituation.ts';

const { pollMs, resyncMs, createRetryMs, deniedRetryMs } = settings;

function group(change: Partial<NodeGroup>): Situation {
  return sampleSituation({ group: { kind: 'seen', group: sampleGroup(undefined, change) } });
}

function trouble(kind: TroubleKind): Situation {
  return sampleSituation({ troubles: [{ at: NOW, step: 'updateConfig', trouble: sampleTrouble(kind) }] });
}

/** A call is denied, and PrerequisitesMet has said so for that long. */
function longDenied(ms: number): Situation {
  const lastTransitionTime = new Date(NOW - ms).toISOString();
  const told = {
    type: 'PrerequisitesMet',
    status: 'False',
    reason: 'AccessDenied',
    message: 'no',
    lastTransitionTime,
  } as const;
  const pool = samplePool({}, { status: { ...knownStatus(), conditions: [told] } });
  return { ...trouble('denied'), pool };
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
  const leaving = samplePool(
    { deletionPolicy: 'Retain' },
    { metadata: { deletionTimestamp: new Date(NOW).toISOString() }, status: knownStatus() },
  );
  const spread: readonly (readonly [string, Situation, number])[] = [
    ['rarely when the group is settled', sampleSituation(), resyncMs],
    ['rarely when the group is degraded', group({ status: 'DEGRADED' }), resyncMs],
    ['rarely when the group is foreign', group({ tags: {}, status: 'CREATING' }), resyncMs],
    ['rarely when there is no group and nothing failed', sampleSituation({ group: { kind: 'absent' } }), resyncMs],
    ['rarely when what failed could have been tried again and was not', group({ status: 'CREATE_FAILED' }), resyncMs],
    ...(['CREATING', 'UPDATING', 'DELETING'] as const).map(
      (status) => [`soon while the group is ${status}`, group({ status }), pollMs] as const,
    ),
    ['soon when somebody else works on the group', trouble('busy'), pollMs],
    ['rarely when EKS takes no update of a degraded group', { ...trouble('busy'), ...degraded }, resyncMs],
    ['soon then while the pool leaves that group', { ...trouble('busy'), ...degraded, pool: leaving }, pollMs],
    [
      'soon while the end of an update is not known',
      sampleSituation({
        pool: samplePool(
          {},
          { status: knownStatus({ update: { id: 'u', type: 'ConfigUpdate', target: 'x', status: 'InProgress' } }) },
        ),
      }),
      pollMs,
    ],
  ];
  for (const [name, situation, wanted] of spread) it(name, () => near(untilGroupLook(situation, LONG), wanted));

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
  const exact: readonly (readonly [string, Situation, number])[] = [
    ['after a while when AWS denied a call', trouble('denied'), deniedRetryMs],
    ['more and more rarely the longer AWS denies it', longDenied(10 * MINUTE), 5 * MINUTE],
    ['as rarely as a settled group when AWS has denied it for long', longDenied(300 * MINUTE), resyncMs],
    ['after a while when the cluster is gone', trouble('gone'), deniedRetryMs],
    ['a moment later when AWS throttled', trouble('throttled'), 1_000],
    ['a moment later when AWS was unavailable', trouble('unavailable'), 1_000],
    ['when a refused call may be tried again', trouble('refused'), createRetryMs],
    ['at once when it was just adopted', sampleSituation({ pool: samplePool() }), 100],
    ['when a failed group may be replaced', group({ status: 'CREATE_FAILED', modifiedAt: NOW - MINUTE }), 14 * MINUTE],
    [
      'when a refused creation may be tried again',
      sampleSituation({ pool: refused(5), group: { kind: 'absent' } }),
      10 * MINUTE,
    ],
  ];
  for (const [name, situation, wanted] of exact) it(name, () => assert.equal(untilGroupLook(situation, LONG), wanted));

  describe('while EKS works on the group', () => {
    for (const status of ['CREATING', 'UPDATING', 'DELETING'] as const) {
      const situation = group({ status });
      it(`after a second at first, and at most after the poll interval: ${status}`, () => {
        for (const [age, wanted] of [
          [-MINUTE, 1_000],
          [0, 1_000],
          [1_000, 1_000],
          [4_000, 4_000],
          [19_000, 19_000],
          [21_000, pollMs],
        ] as const)
          near(untilGroupLook(situation, age), wanted);
      });
    }

    it('seven times in the first minute and a half, and then at the poll interval', () => {
      const situation = group({ status: 'CREATING' });
      const polls: number[] = [];
      for (let at = 0; at < 90_000; at += untilGroupLook(situation, at)) polls.push(at);
      assert.ok(polls.length >= 8 && polls.length <= 12, `${polls}`);
    });

    it('at a poll interval that is shorter than a second', () => {
      const settled = group({ status: 'CREATING' });
      near(untilGroupLook({ ...settled, settings: { ...settings, pollMs: 300 } }, 0), 300);
    });
  });

  it('at different times for different pools, and always the same for one', () => {
    const times = Array.from({ length: 50 }, (_, i) =>
      untilGroupLook(
        sampleSituation({ pool: samplePool({}, { metadata: { uid: `uid-${i}` }, status: knownStatus() }) }),
        LONG,
      ),
    );
    assert.ok(new Set(times).size > 45, String(times));
    assert.equal(untilGroupLook(sampleSituation(), LONG), untilGroupLook(sampleSituation(), LONG));
  });
});

describe('trouble with Windows IPAM', () => {
  const ipam = (kind: TroubleKind) => ({ at: NOW, step: 'updateAddon', trouble: sampleTrouble(kind) });

  for (const status of ['CREATING', 'UPDATING', 'DELETING'] as const) {
    for (const kind of ['refused', 'denied'] as const) {
      it(`leaves the polls of a group as they are: ${kind} while the group is ${status}`, () => {
        const working = group({ status });
        assert.equal(untilGroupLook({ ...working, troubles: [ipam(kind)] }, 0), untilGroupLook(working, 0));
      });
    }
  }

  it('decides when a group that is still to be created is looked at', () => {
    const absent = sampleSituation({ group: { kind: 'absent' }, troubles: [ipam('refused')] });
    assert.equal(untilGroupLook(absent, LONG), createRetryMs);
  });
});

describe('a pool runs again', () => {
  const table: readonly (readonly [string, Situation, number])[] = [
    ['when AWS is to be looked at', sampleSituation(), resyncMs],
    [
      'when the first joining node is late',
      sampleSituation({
        nodes: [...sampleNodes(3), sampleNode({ name: 'ip-9', ready: 'False', createdAt: NOW - 9 * MINUTE })],
      }),
      6 * MINUTE,
    ],
    [
      'when the maintenance window begins for which an automatic update waits',
      sampleSituation({
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
      sampleSituation({ nodes: sampleNodes(2), settings: { ...settings, joinGraceMs: 5 * MINUTE } }),
      5 * MINUTE,
    ],
  ];
  for (const [name, situation, ms] of table) {
    it(name, () => assert.deepEqual(nextRun(situation, resyncMs), { kind: 'after', ms }));
  }
  for (const kind of ['throttled', 'unavailable'] as const) {
    it(`with growing delays when a call was ${kind}`, () => {
      const cause = `DescribeNodegroup: ${kind}Exception: the call was ${kind}`;
      assert.deepEqual(nextRun(trouble(kind), 1), { kind: 'retry', cause });
    });
  }

  it('with growing delays and without a word when somebody else wrote first', () => {
    assert.deepEqual(nextRun(trouble('conflict'), 1), { kind: 'retry' });
  });

  it('soon after trouble with the API server, which leaves the look at AWS as it was', () => {
    const refused = { at: NOW, step: 'createRuntimeClass', trouble: sampleTrouble('refused') };
    const creating = sampleSituation({
      group: { kind: 'seen', group: sampleGroup(undefined, { status: 'CREATING' }) },
    });
    assert.equal(untilGroupLook({ ...creating, troubles: [refused] }, 0), untilGroupLook(creating, 0));
    assert.deepEqual(nextRun({ ...creating, troubles: [refused] }, 10_000_000), {
      kind: 'after',
      ms: settings.deniedRetryMs,
    });
  });

  it('never at once, and never never', () => {
    const anyMs = fc.integer({ min: -1_000, max: 1_000_000 });
    fc.assert(
      fc.property(randomSituation, anyMs, anyMs, (s, groupLookMs, statusAgeMs) => {
        const look = untilGroupLook(s, statusAgeMs);
        assert.ok(look >= 100 && look <= 2 * createRetryMs, `AWS is looked at after ${look} ms`);
        const next = nextRun(s, groupLookMs);
        assert.ok(
          next.kind === 'retry' || (next.kind === 'after' && next.ms >= 100 && Number.isFinite(next.ms)),
          JSON.stringify(next),
        );
      }),
      { numRuns: 3_000 },
    );
  });
});
