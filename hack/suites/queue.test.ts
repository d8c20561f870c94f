import assert from 'node:assert/strict';
import fc from 'fast-check';
import { checkDuration, eventLoopTable, failedTests, longestFirst, processCount, slowestTests } from './queue.ts';

describe('the order of suites', () => {
  it('is the longest first, and before them those of unknown duration by name', () => {
    assert.deepEqual(longestFirst(['c', 'new', 'a', 'b', 'another'], { a: 5, b: 90, c: 5 }), [
      'another',
      'new',
      'b',
      'a',
      'c',
    ]);
  });

  it('has each suite once, for any known durations', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), fc.dictionary(fc.string(), fc.nat()), (files, durations) => {
        assert.deepEqual(longestFirst(files, durations).sort(), [...files].sort());
      }),
    );
  });
});

describe('the table of tests', () => {
  it('names the slowest, the slowest first', () => {
    const tests = [1_000, 120_500, 30].map((ms) => ({ file: 'test/a.test.ts', title: `takes ${ms}`, ms }));
    assert.equal(
      slowestTests(tests, 2),
      'The 2 slowest of 3 tests:\n  120.5 s  test/a.test.ts  takes 120500\n    1.0 s  test/a.test.ts  takes 1000',
    );
  });
});

describe('the table of event loop delays', () => {
  it('has the operator with the longest delays of each suite, the longest first, and no suite without an operator', () => {
    const reports = [
      { file: 'test/a.test.ts', eventLoopDelays: [] },
      { file: 'test/b.test.ts', eventLoopDelays: [{ p99: 12, max: 40 }] },
      {
        file: 'test/c.test.ts',
        eventLoopDelays: [
          { p99: 11, max: 90 },
          { p99: 30, max: 31 },
        ],
      },
    ];
    assert.equal(
      eventLoopTable(reports),
      [
        'The event loop delay of operators in ms, p99 and longest:',
        '     30      90  test/c.test.ts',
        '     12      40  test/b.test.ts',
      ].join('\n'),
    );
  });
});

describe('the failures of a run', () => {
  it('are listed with their file and the start of the error, and are empty without one', () => {
    const reports = [
      { file: 'test/a.test.ts', failures: [] },
      { file: 'test/b.test.ts', failures: ['b breaks: 1 !== 2', `b is long: ${'x'.repeat(2_000)}`] },
    ];
    const lines = failedTests(reports).split('\n');
    assert.deepEqual(lines.slice(0, 3), ['Failed: test/b.test.ts', '  b breaks: 1 !== 2', 'Failed: test/b.test.ts']);
    assert.match(lines[3] ?? '', /^ {2}b is long: x{989}\.\.\.$/);
    assert.equal(failedTests(reports.slice(0, 1)), '');
  });
});

describe('a run of suites', () => {
  const rows: readonly [target: 'test' | 'test-all', minutes: number, ok: boolean, text: RegExp][] = [
    ['test', 15, true, /^The cluster suites took 15\.0 minutes\.$/],
    ['test', 15.1, true, /^Warning: The cluster suites took 15\.1 minutes, more than 15\./],
    ['test', 30.1, false, /^The cluster suites took 30\.1 minutes, more than the 30 allowed\./],
    ['test-all', 35, true, /^The cluster suites took 35\.0 minutes\.$/],
    ['test-all', 60, true, /^Warning: /],
    ['test-all', 60.1, false, /more than the 60 allowed\./],
  ];
  for (const [target, minutes, ok, text] of rows)
    it(`for make ${target} of ${minutes} minutes ${ok ? 'passes' : 'fails'}`, () => {
      const result = checkDuration(minutes * 60_000, target);
      assert.equal(result.ok, ok);
      assert.match(result.text, text);
    });
});

describe('SUITE_PROCESSES', () => {
  it('is 4 by default', () => assert.equal(processCount(undefined), 4));
  it('may be 1', () => assert.equal(processCount('1'), 1));
  for (const value of ['0', '1.5', 'two', ''])
    it(`is rejected with "${value}"`, () =>
      assert.throws(() => processCount(value), /SUITE_PROCESSES=.*: must be a whole number of 1 or more/));
});
