/** Pools with any spec that the schema accepts, in any observed state. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { evaluateConditions } from './conditions/evaluateConditions.ts';
import type { RunResult } from './model/outcome.ts';
import { planFor } from './plan.ts';
import type { EksDerived } from './providers/nodeGroup/model/groupDue.ts';
import { samplesOf } from './reporting/poolSamples.ts';
import { statusFor } from './reporting/poolStatus.ts';
import { nextRun, untilNextRead } from './schedule.ts';
import { describeStep } from './steps/stepKinds.ts';
import { anySpec } from './testing/anySpec.ts';
import { specSchema, statusSchema, violations } from './testing/crdSchema.ts';
import { observedStateOf, randomPool } from './testing/randomObservedState.ts';
import { runs } from './testing/runs.ts';

const SPECS = runs(10_000);
/** Half of what the schema accepts: no message is cut, so that the next step at its end is shown. */
const MESSAGE_LENGTH = 16_384;

const anyState = fc
  .tuple(randomPool, anySpec)
  .map(([pool, spec]) => ({ ...pool, spec }))
  .chain(observedStateOf);

/** What a value becomes in a text that was not meant for it. */
const STRAY = /undefined|\bNaN\b|\bInfinity\b|\[object|Invalid Date/;

function assertReadable(text: string): void {
  assert.ok(text.length <= MESSAGE_LENGTH, `${text.length} characters: ${text.slice(0, 500)}`);
  assert.doesNotMatch(text, STRAY);
}

function run(s: EksDerived): void {
  const { decisions, steps, held } = planFor(s);
  const after: RunResult<EksDerived> = {
    after: s,
    decisions,
    done: steps,
    skipped: [],
    accepted: undefined,
    left: [],
    released: false,
  };
  const conditions = evaluateConditions(after);
  const status = statusFor(after, conditions, held);
  for (const step of [...steps, ...held.map(({ step }) => step)]) assertReadable(describeStep(step) ?? '');
  for (const { message } of status.conditions ?? []) assertReadable(message);
  assert.deepEqual(violations(statusSchema, status), []);
  for (const { metric, value } of samplesOf(s, conditions, status)) assert.ok(Number.isFinite(value), metric);
  const next = nextRun(after, untilNextRead(s, 0));
  assert.ok(next.kind !== 'requeueAfter' || Number.isFinite(next.ms), JSON.stringify(next));
}

describe('a pool with any spec that the schema accepts', () => {
  it('has a plan, conditions, a status that the schema accepts, and a next run', () => {
    fc.assert(
      fc.property(anyState, (s) => {
        assert.deepEqual(violations(specSchema, s.pool.spec), []);
        run(s);
      }),
      // Shrinking a state takes minutes.
      { numRuns: SPECS, endOnFailure: true },
    );
  }).timeout(300_000);
});
