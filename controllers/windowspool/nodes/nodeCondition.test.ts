import assert from 'node:assert/strict';
import type { CheckFailure, VerificationResult } from '../model/poolNodes.ts';
import { reasons } from '../reasons.ts';
import { sampleNode } from '../testing/fixtures.ts';
import { conditionFor } from './nodeCondition.ts';

describe('what a node is told', () => {
  const wrong: CheckFailure = { reason: 'WrongBuild', message: 'runs build 10.0.17763' };
  const addresses: CheckFailure = { reason: 'NoPodAddresses', message: 'has no addresses' };
  const result = (
    state: VerificationResult['state'],
    failures: CheckFailure[],
    warnings: CheckFailure[] = [],
  ): VerificationResult => ({
    node: sampleNode(),
    state,
    failures,
    warnings,
  });
  const table: readonly (readonly [string, VerificationResult, string])[] = [
    ['it passes', result('verified', []), 'True ChecksPassed WindowsPool web: passes every check.'],
    [
      'it passes with a warning',
      result('verified', [], [addresses]),
      'True ChecksPassed WindowsPool web: passes, with a warning: has no addresses.',
    ],
    [
      'it joins',
      result('joining', [addresses]),
      'Unknown Joining WindowsPool web: is not complete yet: has no addresses.',
    ],
    [
      'it fails, all causes and the first as the reason',
      result('failing', [wrong, addresses]),
      'False WrongBuild WindowsPool web: runs build 10.0.17763; has no addresses.',
    ],
  ];
  for (const [what, seen, want] of table) {
    it(what, () => {
      const { status, reason, message } = conditionFor(seen, 'web');
      assert.equal(`${status} ${reason} ${message}`, want);
      assert.ok(reason in reasons);
    });
  }

  it('is cut where a node reports a whole novel', () => {
    const novel = result('failing', [{ reason: 'UnknownKernelVersion', message: 'x'.repeat(5_000) }]);
    const { message } = conditionFor(novel, 'web');
    assert.deepEqual([message.length, message.at(-1)], [1_024, '…']);
  });
});
