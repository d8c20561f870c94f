import assert from 'node:assert/strict';
import type { WindowsPoolSpec } from '../api/api.gen.ts';
import { VERIFIED_CONDITION } from '../api/labels.ts';
import { type NodeCheck, reasons } from '../api/reasons.ts';
import type { CheckFailure, VerificationResult } from '../model/poolNodesView.ts';
import { sampleNode } from '../testing/fixtures.ts';
import { type Brief, textTable } from '../testing/goldenTexts.ts';
import { withReport } from '../testing/nodeReports.ts';
import { isReported, reportFor } from './nodeCondition.ts';

function result(
  state: VerificationResult['state'],
  failures: readonly CheckFailure[],
  warnings: readonly CheckFailure[] = [],
): VerificationResult {
  return { node: sampleNode(), state, failures, warnings };
}

const check = textTable('nodeConditions');

const NOTHING: WindowsPoolSpec['verification'] = { policy: 'Report' };
const EVERYTHING: WindowsPoolSpec['verification'] = {
  policy: 'Gate',
  requiredImages: ['a'],
  smokeTest: { image: 'a', serviceURL: 'https://a', timeout: '10m' },
};

describe('the condition winpool.dev/Verified of a node', () => {
  const wrong: CheckFailure = { reason: 'WrongBuild', message: 'runs build 10.0.17763' };
  const addresses: CheckFailure = { reason: 'NoPodAddresses', message: 'has no addresses' };
  const verifiedIn = (seen: VerificationResult) =>
    reportFor(seen, NOTHING, 'web')[VERIFIED_CONDITION] ?? assert.fail('it is not reported');
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
      const { status, reason, message } = verifiedIn(seen);
      assert.ok(reason in reasons);
      return [`${status} ${reason}: ${message}`];
    };
    check(what, texts, [want]);
  }

  it('is truncated when a node reports a long text', () => {
    const long = result('failing', [{ reason: 'UnknownKernelVersion', message: 'x'.repeat(5_000) }]);
    const { message } = verifiedIn(long);
    assert.deepEqual([message.length, message.at(-1)], [1_024, '…']);
  });
});

describe('the other conditions of a node', () => {
  const found = (...reasons: readonly NodeCheck[]) => reasons.map((reason) => ({ reason, message: reason }));
  const [IMAGES, TEST, GATE] = ['ImagesPending', 'SmokeTestPending', 'GateTaintMissing'].map(
    (type) => `winpool.dev/${type}`,
  );
  const table: readonly (readonly [string, VerificationResult, WindowsPoolSpec['verification'], readonly string[]])[] =
    [
      ['are absent in a pool that requires nothing', result('failing', found('NotReady')), NOTHING, []],
      ['are absent on a verified node', result('verified', []), EVERYTHING, []],
      [
        'are True for what a node lacks',
        result('joining', found('ImagesMissing', 'SmokeTestPending')),
        EVERYTHING,
        [`${IMAGES}=True`, `${TEST}=True`],
      ],
      [
        'are True for what failed, and for what only warns',
        result('verified', [], found('ImagePullFailed', 'SmokeTestFailed', 'GateTaintMissing')),
        EVERYTHING,
        [`${IMAGES}=True`, `${TEST}=True`, `${GATE}=True`],
      ],
      [
        'are False for what the node has had, while it is not verified for another reason',
        result('failing', found('NotReady', 'SmokeTestPending')),
        EVERYTHING,
        [`${IMAGES}=False`, `${TEST}=True`],
      ],
    ];
  for (const [what, seen, verification, want] of table) {
    it(what, () => {
      const report = reportFor(seen, verification, 'web');
      const reported = { ...seen.node, ...withReport({ conditions: [] }, report) };
      assert.deepEqual(reported.conditions, want);
      assert.ok(isReported(reported, report));
    });
  }

  it('are written when one of them differs, or should not exist', () => {
    const report = reportFor(result('joining', found('ImagesMissing')), EVERYTHING, 'web');
    const node = { ...sampleNode(), ...withReport({ conditions: [] }, report) };
    const without = node.conditions.filter((state) => state !== `${IMAGES}=True`);
    const states = [node.conditions, without, [...without, `${IMAGES}=False`], [...node.conditions, `${GATE}=True`]];
    assert.deepEqual(
      states.map((conditions) => isReported({ ...node, conditions }, report)),
      [true, false, false, false],
    );
  });
});
