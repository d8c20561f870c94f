import assert from 'node:assert/strict';
import fc from 'fast-check';
import { checkReasons } from '../../../api/reasons.ts';
import type { CheckResult } from '../../../checks/runChecks.ts';
import { known } from '../../../testing/answers.ts';
import { checkTable } from '../../../testing/checkTable.ts';
import { sampleCluster, sampleTemplate } from '../../../testing/fixtures.ts';
import { examine, randomFacts, sampleFacts, sampleInput, unasked } from '../../../testing/prerequisites.ts';
import { checks } from './checks.ts';
import { factTable } from './factTable.ts';

const testChecks = checkTable('checks/checks');

describe('the checks', () => {
  testChecks([
    ['facts that were not needed', sampleInput({ facts: { complete: false } }), []],
    [
      'the failed call',
      sampleInput({ facts: sampleFacts({ legacyController: unasked('throttled') }) }),
      [['LegacyResourceController (unknown)', 'DescribeAddon', 'the call was throttled']],
    ],
  ]);

  it('never fail because a fact could not be read', () => {
    fc.assert(
      fc.property(randomFacts, fc.boolean(), fc.nat({ max: 5 }), (random, managesAccessEntry, instances) => {
        const input = sampleInput({ facts: random, managesAccessEntry, instances });
        const { failed } = examine(input);
        // If the facts that could not be read are good, the same checks still fail.
        const rest = Object.fromEntries(
          Object.entries(random).filter(([, fact]) => typeof fact === 'boolean' || fact.ok),
        );
        const lucky = examine({ ...input, facts: { ...rest, complete: random.complete } });
        const reasons = lucky.failed.map(({ check }) => check.reason);
        return failed.every(({ check }) => reasons.includes(check.reason) || check.reason === 'TooFewAddresses');
      }),
    );
  });

  it('are ignored if the user says so, whatever they find', () => {
    fc.assert(
      fc.property(randomFacts, fc.subarray([...checkReasons]), (random, reasons) => {
        const ignored = new Set(reasons);
        const input = sampleInput({ facts: random });
        const expected = examine(input).all.map((result) => ({ ...result, status: statusOf(result, ignored) }));
        assert.deepEqual(
          examine(input, ignored).all.map(({ check, status }) => `${check.reason} ${status}`),
          expected.map(({ check, status }) => `${check.reason} ${status}`),
        );
      }),
    );
  });

  it('name the permission for each fact that can be denied', () => {
    for (const [fact, { permission, when }] of Object.entries(factTable)) {
      const denied = sampleFacts({
        accessEntry: known(undefined),
        launchTemplate: known(sampleTemplate('7')),
        [fact]: unasked(),
      });
      const cluster = sampleCluster(fact === 'ami' ? { kubernetesVersion: '1.37' } : {});
      const { unknown, failed } = examine(sampleInput({ facts: denied, cluster }));
      if (fact === 'cniAddon' || fact === 'cniConfigOwner' || fact === 'roleCreatedAt' || when === 'advice')
        assert.deepEqual(unknown, []);
      else
        assert.ok(
          unknown.some(({ right }) => right === permission),
          fact,
        );
      assert.ok(failed.length <= 1, `${fact}: ${failed.map(({ check }) => check.reason).join()}`);
    }
  });

  it('need facts that are read with them', () => {
    const unread = checks.flatMap(({ reason, severity, needs = [] }) => {
      const wrong = severity === 'Advice' ? 'complete' : 'advice';
      return needs.filter((fact) => factTable[fact].when === wrong).map((fact) => `${reason} needs ${fact}`);
    });
    assert.deepEqual(unread, []);
    const needed = new Set(checks.flatMap(({ needs = [] }) => needs));
    assert.deepEqual(Object.keys(factTable).sort(), [...needed].sort());
  });
});

/** The status of a result if these checks are ignored. */
function statusOf({ check, status }: CheckResult, ignored: ReadonlySet<string>): CheckResult['status'] {
  if (!ignored.has(check.reason)) return status;
  return check.severity === 'Advice' || status === 'NotMet' || status === 'Unknown' ? 'Ignored' : status;
}
