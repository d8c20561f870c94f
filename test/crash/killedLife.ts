/** The life of a pool, at whose requests the operator is killed: one of each kind. For suites with real controllers, in which it takes long. */
import assert from 'node:assert/strict';
import type { ClusterFixture } from './clusterFixture.ts';
import { samplePoints } from './crashPoints.ts';
import type { CrashPoint } from './requestGate.ts';

/** How often these are sent depends on which changes of nodes and their sources one reconcile sees together. */
const isRepeated = (request: string) => /^(PUT windowspools\/status|PATCH nodes(\/status)?|POST events)/.test(request);
const isWrite = (request: string) => /^(PATCH|POST|PUT|DELETE) (?!events)/.test(request);

/** A life, which returns how many nodes the pool had, and the requests at which the operator is killed in it. */
export class KilledLife {
  readonly #crash: ClusterFixture;
  readonly #live: () => Promise<number>;
  readonly #sample: readonly CrashPoint[];
  #pools = 0;

  /** Records a life without a kill. @param live the life of the pool with the name of the fixture, which is another one each time */
  static async record(crash: ClusterFixture, live: () => Promise<number>): Promise<KilledLife> {
    crash.start();
    crash.gate.begin();
    crash.next('killed-0');
    await live();
    const requests = crash.gate.end().filter(isWrite);
    const points = samplePoints([{ phase: 'life', requests: { before: requests, after: requests } }], isRepeated);
    return new KilledLife(crash, live, points.get('life') ?? []);
  }

  private constructor(crash: ClusterFixture, live: () => Promise<number>, sample: readonly CrashPoint[]) {
    this.#crash = crash;
    this.#live = live;
    this.#sample = sample;
  }

  /** Lives once for each request, and asserts that there are more than `least`, and this many nodes in each life. */
  async killAtEach(least: number, nodes: number): Promise<void> {
    const [crash, sample] = [this.#crash, this.#sample];
    assert.ok(sample.length > least, `only ${sample.length} requests`);
    for (const point of sample) {
      this.#pools += 1;
      crash.next(`killed-${this.#pools}`);
      const restart = async () => {
        await crash.kill();
        crash.start();
      };
      const wasKilled = crash.gate.killAt(point, restart);
      const where = `killed ${point.moment} ${point.request}`;
      const count = await this.#live().catch((cause: Error) => {
        throw new Error(`${where}: ${cause.message}`, { cause });
      });
      assert.equal(count, nodes, where);
      assert.ok((await wasKilled()) || isRepeated(point.request), `${point.request} did not come`);
    }
    console.log(`    killed at ${sample.map(({ request, moment }) => `${moment} ${request}`).join(', ')}`);
  }
}
