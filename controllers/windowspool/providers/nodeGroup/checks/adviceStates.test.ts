import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CheckState } from '../../../api/api.gen.ts';
import { IGNORE_PREREQUISITES_ANNOTATION } from '../../../api/labels.ts';
import { adviceReasons } from '../../../api/reasons.ts';
import { annotationFault } from '../../../checks/ignoredChecks.ts';
import { evaluateConditions } from '../../../conditions/evaluateConditions.ts';
import { adviceIn, running, withTemplate } from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';
import { derive } from '../../../testing/derived.ts';
import { outcomeOf, settings } from '../../../testing/fixtures.ts';
import { ONE_ZONE, randomAdviceFacts, sampleFacts, unasked } from '../../../testing/prerequisites.ts';
import { randomObservedState } from '../../../testing/randomObservedState.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { factTable } from './factTable.ts';

const EARLIER: CheckState = {
  name: 'availability-zones',
  severity: 'Advice',
  status: 'NotMet',
  reason: 'SubnetsInOneZone',
  message: 'As found before.',
};

/** A pool that had this advice, with these facts now. */
function poolWith(
  facts: EksState['prerequisites'],
  advice: CheckState[] = [EARLIER],
  annotations: Readonly<Record<string, string>> = {},
): EksDerived {
  const { pool, ...state } = running();
  const metadata = { ...pool.metadata, annotations };
  return derive({
    ...state,
    pool: { ...pool, metadata, status: { ...pool.status, checks: advice } },
    prerequisites: facts,
  });
}

describe('advice', () => {
  it('stays while its facts are not read, or a call fails', () => {
    const { subnetZones: _zones, ...others } = sampleFacts();
    const failed = sampleFacts({ subnetZones: unasked('throttled') });
    for (const facts of [others, failed, undefined]) assert.deepEqual(adviceIn(poolWith(facts)), [EARLIER]);
  });

  it('stays while the launch template that it is about cannot be read', () => {
    const earlier: CheckState = { ...EARLIER, name: 'volume-size', reason: 'RootVolumeSmall' };
    const { pool, ...state } = withTemplate({});
    const status = { ...pool.status, checks: [earlier] };
    for (const launchTemplate of [unasked('throttled'), known(undefined)])
      assert.deepEqual(
        adviceIn(derive({ ...state, pool: { ...pool, status }, prerequisites: sampleFacts({ launchTemplate }) })),
        [earlier],
      );
  });

  it('is not given without the permission to read its facts, and nothing reports that', () => {
    const names = Object.entries(factTable).flatMap(([name, { when }]) => (when === 'advice' ? name : []));
    const s = poolWith(sampleFacts(Object.fromEntries(names.map((name) => [name, unasked()]))));
    assert.deepEqual(adviceIn(s), []);
    assert.equal(evaluateConditions(outcomeOf(s)).PrerequisitesMet?.reason, 'Met');
  });

  it('is not given if the user ignores it', () => {
    const facts = sampleFacts({ subnetZones: known(ONE_ZONE) });
    const s = poolWith(facts, [EARLIER], { [IGNORE_PREREQUISITES_ANNOTATION]: 'SubnetsInOneZone' });
    assert.deepEqual(adviceIn(s), []);
    assert.equal(annotationFault(s.pool, settings), undefined);
  });

  it('of another release of the operator, with another reason, is dropped', () => {
    assert.deepEqual(adviceIn(poolWith(undefined, [{ ...EARLIER, reason: 'SomethingNew' }])), []);
  });

  it('affects no condition', () => {
    fc.assert(
      fc.property(randomObservedState, randomAdviceFacts, fc.subarray([...adviceReasons]), (s, advice, ignored) => {
        const metadata = { ...s.pool.metadata, annotations: { [IGNORE_PREREQUISITES_ANNOTATION]: ignored.join() } };
        const without = { ...s, pool: { ...s.pool, metadata }, prerequisites: sampleFacts() };
        const prerequisites = sampleFacts(advice);
        assert.deepEqual(
          evaluateConditions(outcomeOf(derive({ ...without, prerequisites }))),
          evaluateConditions(outcomeOf(derive(without))),
        );
      }),
      { numRuns: 300 },
    );
  });
});
