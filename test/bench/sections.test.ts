/** Each section of `make bench` with a few nodes and runs, but the one of pod.test.ts. Times are not checked: other suites run at the same time. */
import { baselinePrograms } from '../../hack/bench/baseline.ts';
import { Bench } from '../../hack/bench/section.ts';
import { sections } from '../../hack/bench/sections.ts';
import { assertComplete } from './assertComplete.ts';

describe('the benchmark', () => {
  const ending = new AbortController();
  const said: string[] = [];
  const bench = new Bench((line) => said.push(line), ending.signal, 'small');

  before(async function () {
    // Builds the program if it is missing.
    this.timeout(600_000);
    await baselinePrograms((line) => console.log(`    ${line}`));
  });
  after(() => bench.stop());
  afterEach(function () {
    if (this.currentTest?.state === 'failed') ending.abort(new Error('A section of the benchmark failed.'));
  });

  for (const section of sections.filter(({ needsRealNode }) => !needsRealNode)) {
    // coldSync also compares both stores, and throws if they differ.
    it(`${section.name} ends with all its figures, and what must never happen does not`, async () => {
      assertComplete(await section.run(bench));
    });
  }
});
