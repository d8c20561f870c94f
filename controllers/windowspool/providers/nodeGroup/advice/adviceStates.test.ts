import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { AdviceState } from '../../../api/api.gen.ts';
import { IGNORE_PREREQUISITES_ANNOTATION } from '../../../api/labels.ts';
import { adviceReasons } from '../../../api/reasons.ts';
import { evaluateConditions } from '../../../conditions/evaluateConditions.ts';
import { running, withTemplate } from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';
import { derive } from '../../../testing/derived.ts';
import { outcomeOf, settings } from '../../../testing/fixtures.ts';
import {
  ONE_ZONE,
  randomAdviceFacts,
  sampleAdviceFacts,
  sampleFacts,
  unasked,
} from '../../../testing/prerequisites.ts';
import { randomObservedState } from '../../../testing/randomObservedState.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import type { AdviceFacts } from '../model/prerequisiteFacts.ts';
import { annotationFault } from '../prerequisites/ignored.ts';
import { checks } from './adviceChecks.ts';
import { adviceStates } from './adviceStates.ts';

const EARLIER: AdviceState = { name: 'zones', reason: 'SubnetsInOneZone', message: 'As found before.' };

/** A pool that had this advice, with these facts now. */
function poolWith(
  facts: EksState['prerequisites'],
  advice: AdviceState[] = [EARLIER],
  annotations: Readonly<Record<string, string>> = {},
): EksDerived {
  const { pool, ...state } = running();
  const metadata = { ...pool.metadata, annotations };
  return derive({ ...state, pool: { ...pool, metadata, status: { ...pool.status, advice } }, prerequisites: facts });
}

describe('advice', () => {
  it('stays while its facts are not read, or a call fails', () => {
    const { advice: _advice, ...others } = sampleFacts();
    const failed = sampleFacts({ advice: sampleAdviceFacts({ subnets: unasked('throttled') }) });
    for (const facts of [others, failed, undefined]) assert.deepEqual(adviceStates(poolWith(facts)), [EARLIER]);
  });

  it('stays while the launch template that it is about cannot be read', () => {
    const earlier = { name: 'volume-size', reason: 'RootVolumeSmall', message: 'As found before.' };
    const { pool, ...state } = withTemplate({});
    const status = { ...pool.status, advice: [earlier] };
    for (const launchTemplate of [unasked('throttled'), known(undefined)])
      assert.deepEqual(
        adviceStates(derive({ ...state, pool: { ...pool, status }, prerequisites: sampleFacts({ launchTemplate }) })),
        [earlier],
      );
  });

  it('is not given without the permission to read its facts, and nothing reports that', () => {
    const denied = Object.fromEntries(Object.keys(sampleAdviceFacts()).map((name) => [name, unasked()]));
    const s = poolWith(sampleFacts({ advice: denied as unknown as AdviceFacts }));
    assert.deepEqual(adviceStates(s), []);
    assert.equal(evaluateConditions(outcomeOf(s)).PrerequisitesMet?.reason, 'Met');
  });

  it('is not given if the user ignores it', () => {
    const facts = sampleFacts({ advice: sampleAdviceFacts({ subnets: known(ONE_ZONE) }) });
    const s = poolWith(facts, [EARLIER], { [IGNORE_PREREQUISITES_ANNOTATION]: 'SubnetsInOneZone' });
    assert.deepEqual(adviceStates(s), []);
    assert.equal(annotationFault(s.pool, settings), undefined);
  });

  it('of another release of the operator, with another reason, is dropped', () => {
    assert.deepEqual(adviceStates(poolWith(undefined, [{ name: 'other', reason: 'SomethingNew', message: 'x' }])), []);
  });

  it('affects no condition', () => {
    fc.assert(
      fc.property(randomObservedState, randomAdviceFacts, fc.subarray([...adviceReasons]), (s, advice, ignored) => {
        const metadata = { ...s.pool.metadata, annotations: { [IGNORE_PREREQUISITES_ANNOTATION]: ignored.join() } };
        const without = { ...s, pool: { ...s.pool, metadata }, prerequisites: sampleFacts() };
        const prerequisites = sampleFacts({ advice });
        assert.deepEqual(
          evaluateConditions(outcomeOf(derive({ ...without, prerequisites }))),
          evaluateConditions(outcomeOf(derive(without))),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('has one reason and one section in the docs each, and the section names the reason', () => {
    const page = readFileSync(`${import.meta.dirname}/../../../../../docs/advice.md`, 'utf8');
    for (const { reason, section } of checks) {
      const at = page.search(new RegExp(`^## ${section.replaceAll('-', '[ -]')}$`, 'im'));
      assert.notEqual(at, -1, `docs/advice.md has no heading ${section}`);
      const end = page.indexOf('\n## ', at + 1);
      assert.ok(page.slice(at, end < 0 ? undefined : end).includes(`\`${reason}\``), `${section} names no ${reason}`);
    }
    assert.deepEqual(
      checks.map(({ reason }) => reason),
      [...adviceReasons],
    );
    assert.equal(new Set(checks.map(({ section }) => section)).size, checks.length);
  });
});
