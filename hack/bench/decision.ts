import { evaluateConditions } from '../../controllers/windowspool/conditions/evaluateConditions.ts';
import { resultOf } from '../../controllers/windowspool/derive.ts';
import { verifyNode } from '../../controllers/windowspool/nodes/verify.ts';
import { planFor } from '../../controllers/windowspool/plan.ts';
import { statusFor } from '../../controllers/windowspool/reporting/poolStatus.ts';
import { derive } from '../../controllers/windowspool/testing/derived.ts';
import { sampleNodes, sampleState } from '../../controllers/windowspool/testing/fixtures.ts';
import { figureOf } from './figures.ts';
import type { Result, Section } from './section.ts';
import { median, round } from './statistics.ts';

const RUNS = 7;
const LARGEST = 10_000;
const SIZES = [10, 100, 1_000, LARGEST];

/** The time of the domain's computations for pools of each size. */
export const decision: Section = {
  name: 'decision',
  what: 'verify, plan, assess and write the status of one pool of 10 to 10,000 nodes, without I/O',
  run: async (): Promise<Result> => {
    const times = new Map<number, number[]>(SIZES.map((size) => [size, []]));
    // The first round warms up the compiler and is not counted.
    for (let run = 0; run <= RUNS; run++) {
      for (const size of SIZES) {
        const ms = decide(size);
        if (run > 0) times.get(size)?.push(ms);
      }
    }
    const rows = SIZES.map((nodes) => {
      const ms = median(times.get(nodes) ?? []);
      return { nodes, ms: round(ms, 3), microsecondsPerNode: round((ms * 1_000) / nodes) };
    });
    const name = `all computations for a reconcile of a pool of ${LARGEST.toLocaleString('en')} nodes, without I/O`;
    return {
      how: `median of ${RUNS} interleaved runs in one warm process`,
      rows,
      figures: [figureOf({ name, unit: 'ms' }, times.get(LARGEST) ?? [])],
    };
  },
};

/** Everything that a reconcile computes for a pool of this size, in milliseconds. */
function decide(size: number): number {
  const nodes = sampleNodes(size);
  const observed = sampleState({ nodes });
  const { expected } = observed.poolNodes;
  const start = performance.now();
  const results = nodes.map((node) => verifyNode(node, expected, observed.now));
  const verified = { ...observed, results };
  const { decisions, steps, held } = planFor(derive(verified));
  const result = resultOf(
    { after: verified, done: steps, skipped: [], accepted: undefined, left: [], released: false },
    verified,
    decisions,
  );
  statusFor(result, evaluateConditions(result), held);
  return performance.now() - start;
}
