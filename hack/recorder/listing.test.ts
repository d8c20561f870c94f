import assert from 'node:assert/strict';
import type { Difference } from './difference.ts';
import type { Expected } from './expected.ts';
import { listingOf } from './listing.ts';

const text: Difference = {
  group: 'texts',
  case: 'life 1',
  path: 'status.conditions.Ready.message',
  before: 'a',
  after: 'b',
};
const requeues = [1, 2, 3, 4].map(
  (n): Difference => ({ group: 'requeues', case: `state ${n}`, path: 'requeue.ms', before: 1, after: 2 }),
);
const added: Difference = {
  group: 'statuses',
  case: 'life 1',
  path: 'status.tracking.applied.0',
  before: undefined,
  after: 'x',
};
const isNew: Expected = { group: 'statuses', path: 'status.tracking.applied', reason: 'It is recorded now.' };

describe('the list of differences', () => {
  it('is empty without differences, and passes', () => {
    assert.deepEqual(listingOf([], [], true), { lines: [], fails: false });
  });

  it('has groups with paths, some examples of each, and then a number', () => {
    assert.deepEqual(listingOf(requeues, [], false), {
      lines: [
        'requeues: 4 in 4 cases',
        '  requeue.ms: 4',
        '    state 1: 1 -> 2',
        '    state 2: 1 -> 2',
        '    state 3: 1 -> 2',
        '    and 1 more',
      ],
      fails: true,
    });
  });

  it('cuts values, and joins the entries of a list', () => {
    const { lines } = listingOf([{ ...added, after: 'x'.repeat(500) }], [], false);
    assert.deepEqual(lines, [
      'statuses: 1 in 1 case',
      '  status.tracking.applied.*: 1',
      `    life 1: (none) -> "${'x'.repeat(119)}...`,
    ]);
  });

  it('only counts texts, which fail if they are asked for', () => {
    assert.deepEqual(listingOf([text], [], false), {
      lines: ['texts: 1 differs, which --texts lists'],
      fails: false,
    });
    assert.equal(listingOf([text], [], true).fails, true);
  });

  it('has expected differences apart, which do not fail', () => {
    assert.deepEqual(listingOf([added], [isNew], false), {
      lines: ['expected, statuses status.tracking.applied: 1 in 1 case. It is recorded now.'],
      fails: false,
    });
  });

  it('names what is expected and does not differ', () => {
    assert.deepEqual(listingOf([], [isNew], false).lines, [
      'expected, statuses status.tracking.applied: none found: remove the entry. It is recorded now.',
    ]);
  });

  const patterns: readonly [Partial<Expected>, boolean][] = [
    [{ path: 'status.*.applied' }, true],
    [{ path: 'status.tracking.app' }, false],
    [{ path: 'status.tracking', cases: 'life *' }, true],
    [{ cases: 'state *' }, false],
    [{ group: 'bodies' }, false],
  ];
  for (const [change, matches] of patterns)
    it(`${matches ? 'expects' : 'does not expect'} it with ${JSON.stringify(change)}`, () => {
      assert.equal(listingOf([added], [{ ...isNew, ...change }], false).fails, !matches);
    });
});
