import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Certainty, type Contradiction, type Finding, nextCertainty } from './certainty.ts';

const CONFIRM_MS = 10_000;
const CONTRADICTIONS: readonly Contradiction[] = ['absent', 'unowned', 'empty', 'clusterAbsent'];

/** A request: when it was sent, in seconds, and what it showed. */
type Request = readonly [at: number, finding: Finding];

/** How sure an observation is after these requests: `seenOnce absent since 0`. */
function certaintyAfter(requests: readonly Request[]): string {
  let certainty: Certainty | undefined;
  for (const [at, finding] of requests) certainty = nextCertainty(certainty, finding, at * 1_000, CONFIRM_MS);
  assert.ok(certainty);
  return 'since' in certainty
    ? `${certainty.kind} ${certainty.contradiction} since ${certainty.since / 1_000}`
    : certainty.kind;
}

describe('how sure an observation is', () => {
  const rows: readonly (readonly [title: string, requests: readonly Request[], want: string])[] = [
    ['what fits is seen', [[0, 'fits']], 'seen'],
    ['a failed request shows nothing', [[0, 'failed']], 'unknown'],
    ['a first contradiction is seen once', [[5, 'absent']], 'seenOnce absent since 5'],
    [
      'a request that comes too soon does not confirm it',
      [
        [0, 'absent'],
        [9.999, 'absent'],
      ],
      'seenOnce absent since 0',
    ],
    [
      'a later request confirms it',
      [
        [0, 'absent'],
        [10, 'absent'],
      ],
      'confirmed absent since 0',
    ],
    [
      'requests in between change nothing',
      [
        [0, 'unowned'],
        [4, 'unowned'],
        [8, 'unowned'],
        [12, 'unowned'],
      ],
      'confirmed unowned since 0',
    ],
    [
      'it stays confirmed, since its first request',
      [
        [0, 'absent'],
        [10, 'absent'],
        [11, 'absent'],
      ],
      'confirmed absent since 0',
    ],
    [
      'what fits ends it',
      [
        [0, 'absent'],
        [5, 'fits'],
        [10, 'absent'],
      ],
      'seenOnce absent since 10',
    ],
    [
      'what fits also ends what was confirmed',
      [
        [0, 'absent'],
        [10, 'absent'],
        [11, 'fits'],
      ],
      'seen',
    ],
    [
      'another contradiction does not confirm it',
      [
        [0, 'absent'],
        [10, 'unowned'],
      ],
      'seenOnce unowned since 10',
    ],
    [
      'a failed request forgets it',
      [
        [0, 'absent'],
        [10, 'failed'],
        [20, 'absent'],
      ],
      'seenOnce absent since 20',
    ],
    [
      'a failed request also forgets what was confirmed',
      [
        [0, 'absent'],
        [10, 'absent'],
        [11, 'failed'],
        [12, 'absent'],
      ],
      'seenOnce absent since 12',
    ],
  ];
  for (const [title, requests, want] of rows) it(title, () => assert.equal(certaintyAfter(requests), want));

  it('is confirmed only by two equal answers, far enough apart, with nothing else between them', () => {
    const finding = fc.constantFrom<Finding>('fits', 'failed', ...CONTRADICTIONS);
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 15 }), finding), { minLength: 1 });
    fc.assert(
      fc.property(steps, (all) => {
        let now = 0;
        const requests = all.map(([later, found]): Request => {
          now += later;
          return [now, found];
        });
        const [, last] = requests.at(-1) ?? assert.fail();
        const isContradiction = last !== 'fits' && last !== 'failed';
        const first = requests[requests.findLastIndex(([, found]) => found !== last) + 1] ?? assert.fail();
        const kind = now - first[0] >= CONFIRM_MS / 1_000 ? 'confirmed' : 'seenOnce';
        const fitting = last === 'fits' ? 'seen' : 'unknown';
        assert.equal(certaintyAfter(requests), isContradiction ? `${kind} ${last} since ${first[0]}` : fitting);
      }),
    );
  });
});
