/**
 * `make bench`: measures, prints a table and writes build/bench.json. Every figure is the median of several interleaved runs in this one
 * call, so that a machine whose speed drifts slows all of them alike.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { assess } from '../../controllers/windowspool/assess.ts';
import { planFor } from '../../controllers/windowspool/plan.ts';
import { statusFor } from '../../controllers/windowspool/status.ts';
import { sampleNodes, sampleSituation, settings } from '../../controllers/windowspool/testing/fixtures.ts';
import { verifyNode } from '../../controllers/windowspool/verify.ts';

const RUNS = 7;
const SIZES = [10, 100, 1_000, 10_000];

/** Everything that a reconcile computes for a pool of this size, without I/O, in milliseconds. */
function decide(size: number): number {
  const nodes = sampleNodes(size);
  const situation = sampleSituation({ nodes });
  const expected = {
    spec: situation.pool.spec,
    serverVersion: situation.serverVersion,
    joinGraceMs: settings.joinGraceMs,
  };
  const start = performance.now();
  const verdicts = nodes.map((node) => verifyNode(node, expected, situation.now));
  const seen = { ...situation, verdicts };
  const { steps, pending } = planFor(seen);
  const outcome = { after: seen, done: steps, accepted: undefined, released: false };
  statusFor(outcome, assess(seen), pending);
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const times = new Map<number, number[]>(SIZES.map((size) => [size, []]));
// The first round warms the compiler up and does not count.
for (let run = 0; run <= RUNS; run++) {
  for (const size of SIZES) {
    const ms = decide(size);
    if (run > 0) times.get(size)?.push(ms);
  }
}

const decision = SIZES.map((nodes) => {
  const ms = median(times.get(nodes) ?? []);
  return { nodes, ms: Number(ms.toFixed(3)), microsecondsPerNode: Number(((ms * 1_000) / nodes).toFixed(2)) };
});
console.log('decision: verify, plan, assess and write the status of one pool, without I/O');
console.table(decision);
await mkdir('build', { recursive: true });
await writeFile(
  'build/bench.json',
  `${JSON.stringify({ node: process.version, runs: RUNS, decision }, undefined, 2)}\n`,
);
