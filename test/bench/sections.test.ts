/** Each section of `make bench` with a few nodes and runs. Times are not checked: other suites run at the same time. */
import assert from 'node:assert/strict';
import { baselinePath } from '../../hack/bench/baseline.ts';
import { Bench } from '../../hack/bench/section.ts';
import { sections } from '../../hack/bench/sections.ts';

describe('the benchmark', () => {
  const ending = new AbortController();
  const said: string[] = [];
  const bench = new Bench((line) => said.push(line), ending.signal, 'small');

  before(async function () {
    // Builds the program if it is missing.
    this.timeout(600_000);
    await baselinePath((line) => console.log(`    ${line}`));
  });
  after(() => bench.stop());
  afterEach(function () {
    if (this.currentTest?.state === 'failed') ending.abort(new Error('A section of the benchmark failed.'));
  });

  for (const section of sections) {
    // coldSync also compares both stores, and throws if they differ.
    it(`${section.name} ends with all its figures, and what must never happen does not`, async () => {
      const { rows, figures } = await section.run(bench);
      assert.ok(rows.length > 0 && figures.length > 0);
      assert.deepEqual(
        figures.filter(({ value, spread }) => !Number.isFinite(value + (spread?.low ?? 0) + (spread?.high ?? 0))),
        [],
      );
      const exact = figures.filter(({ isExact }) => isExact);
      assert.deepEqual(
        exact.map(({ name, value }) => [name, value]),
        exact.map(({ name, goal }) => [name, goal]),
      );
    });
  }
});
