import assert from 'node:assert/strict';
import type { CheckFailure, VerificationResult } from '../model/poolNodes.ts';
import { reasons } from '../reasons.ts';
import { sampleNode } from '../testing/fixtures.ts';
import { type Brief, textTable } from '../testing/goldenTexts.ts';
import { conditionFor } from './nodeCondition.ts';

const check = textTable('nodeConditions');

describe('the condition of a node', () => {
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
  const table: readonly (readonly [string, VerificationResult, Brief])[] = [
    ['is True when all checks pass', result('verified', []), ['True ChecksPassed', 'WindowsPool web']],
    [
      'is True with a warning',
      result('verified', [], [addresses]),
      ['True ChecksPassed', 'WindowsPool web', '1 warning: has no addresses'],
    ],
    [
      'is Unknown while the node joins',
      result('joining', [addresses]),
      ['Unknown Joining', 'WindowsPool web', 'has no addresses'],
    ],
    [
      'is False with all failures, and the reason of the first',
      result('failing', [wrong, addresses]),
      ['False WrongBuild', 'WindowsPool web', 'runs build 10.0.17763; has no addresses'],
    ],
  ];
  for (const [what, seen, want] of table) {
    const texts = () => {
      const { status, reason, message } = conditionFor(seen, 'web');
      assert.ok(reason in reasons);
      return [`${status} ${reason}: ${message}`];
    };
    check(what, texts, [want]);
  }

  it('is truncated when a node reports a long text', () => {
    const long = result('failing', [{ reason: 'UnknownKernelVersion', message: 'x'.repeat(5_000) }]);
    const { message } = conditionFor(long, 'web');
    assert.deepEqual([message.length, message.at(-1)], [1_024, '…']);
  });
});
