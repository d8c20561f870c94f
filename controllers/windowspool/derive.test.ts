import assert from 'node:assert/strict';
import fc from 'fast-check';
import { planFor } from './plan.ts';
import { isToBeReplaced, knownPrerequisites, scopeToRead } from './providers/nodeGroup/derive/deriveGroup.ts';
import { derive } from './testing/derived.ts';
import { knownStatus, NEXT, samplePool, sampleState } from './testing/fixtures.ts';
import { observedStateOf, randomObservedState, randomPool } from './testing/randomObservedState.ts';

describe('what is due', () => {
  it('follows from the observed state alone: derived again, it is the same', () => {
    fc.assert(
      fc.property(randomObservedState, (s) => assert.deepEqual(derive(s).due, s.due)),
      { numRuns: 300 },
    );
  });

  it('agrees with the stages that observe asks', () => {
    fc.assert(
      fc.property(randomPool.chain(observedStateOf), (s) => {
        assert.equal(scopeToRead(s), s.due.prerequisites.scope);
        assert.equal(isToBeReplaced(s), s.due.replacement.length > 0);
        assert.deepEqual(knownPrerequisites(s), s.due.prerequisites);
      }),
      { numRuns: 300 },
    );
  });

  it('is derived again for a state with changes: its copy is not accepted as it is', () => {
    const s = sampleState();
    const changed = { ...s, pool: samplePool({ nodeGroup: { releaseVersion: NEXT } }, { status: knownStatus() }) };
    // @ts-expect-error What is due in the copy is that of the former state.
    assert.deepEqual(planFor(changed).steps, []);
    assert.deepEqual(
      planFor(derive(changed)).steps.map(({ kind }) => kind),
      ['reserveUpdate', 'updateNodeGroupVersion'],
    );
  });
});
