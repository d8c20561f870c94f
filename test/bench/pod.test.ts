/** The section `pod` of `make bench`, with one pod of each. It starts a real node itself. */
import { pod } from '../../hack/bench/pod.ts';
import { Bench } from '../../hack/bench/section.ts';
import { isolationObstacle } from '../../hack/realnode/isolation.ts';
import { assertComplete } from './assertComplete.ts';

/** Not every machine allows a real node. */
const obstacle = await isolationObstacle();
if (obstacle) console.log(`    The section pod is not tested, because ${obstacle}.`);
else describe('the benchmark of pods', benchmarkOfPods);

function benchmarkOfPods(this: Mocha.Suite): void {
  this.timeout(600_000);
  const ending = new AbortController();
  const bench = new Bench((line) => console.log(`    ${line}`), ending.signal, 'small');

  before(async function () {
    // Builds programs if they are missing.
    this.timeout(1_800_000);
    await pod.prepare?.(bench);
  });
  after(() => ending.abort());

  it('ends with all its figures', async () => {
    assertComplete(await pod.run(bench));
  });
}
