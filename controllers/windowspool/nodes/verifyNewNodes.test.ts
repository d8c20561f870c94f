/** New nodes on which the operator runs pods before it verifies them. */

import assert from 'node:assert/strict';
import type { Expectation, VerificationResult } from '../model/poolNodesView.ts';
import { preparationOf } from '../nodePods/preparation.ts';
import type { NodePod } from '../ports/nodePods.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { MINUTE, NOW, type SpecChange, sampleNode, samplePool } from '../testing/fixtures.ts';
import { type Brief, textTable } from '../testing/goldenTexts.ts';
import {
  CORE,
  CREATING,
  NO_DNS,
  newNode,
  PASSED,
  PULL_ERROR,
  PULLED,
  pulling,
  pullPod,
  testing,
  testPod,
  WEB,
  withContainer,
} from '../testing/nodePodScenes.ts';
import { withReport } from '../testing/nodeReports.ts';
import { reportFor } from './nodeCondition.ts';
import { graceEnd, verifyNode } from './verify.ts';

function expecting(verification: SpecChange['verification'] = {}, base = pulling): Expectation {
  const spec = samplePool({ verification: { ...base.verification, ...verification } }).spec;
  const taints = { gate: false, quarantine: false };
  return { spec, serverVersion: 'v1.36.3', joinGraceMs: 15 * MINUTE, taints, reportedBy: 'web' };
}

function resultFor(node: Partial<NodeRecord>, pods: readonly NodePod[], expected = expecting()): VerificationResult {
  const record = newNode(node);
  return verifyNode(record, expected, NOW, preparationOf(record, expected.spec.verification, pods, NOW));
}

const aged = (minutes: number) => ({ createdAt: NOW - minutes * MINUTE });
const LACKS_BOTH: Brief = ['ImagesMissing (in progress)', '2 of 2', CORE, WEB];
const LACKS_WEB: Brief = ['ImagesMissing (in progress)', '1 of 2', WEB];
const CANNOT_PULL: Brief = ['ImagePullFailed', CORE, 'not found'];

const check = textTable('newNodes');

/** The failures of a node, as `reason: message`. */
function textsOf({ failures }: VerificationResult): string[] {
  return failures.map(
    ({ reason, message, isInProgress }) => `${reason}${isInProgress ? ' (in progress)' : ''}: ${message}`,
  );
}

describe('a new node on which the operator pulls images', () => {
  const table: readonly (readonly [
    string,
    Partial<NodeRecord>,
    readonly NodePod[],
    VerificationResult['state'],
    readonly Brief[],
  ])[] = [
    [
      'is joining while they are pulled, for longer than the join grace',
      aged(60),
      [pullPod(CORE, CREATING)],
      'joining',
      [LACKS_BOTH],
    ],
    [
      'fails after the join grace and the time for each image',
      aged(75),
      [pullPod(CORE, CREATING)],
      'failing',
      [LACKS_BOTH],
    ],
    ['lacks only those that were not pulled', aged(20), [pullPod(CORE, PULLED)], 'joining', [LACKS_WEB]],
    [
      'is joining within the join grace when an image cannot be pulled',
      aged(14),
      [pullPod(CORE, PULL_ERROR), pullPod(WEB, PULLED)],
      'joining',
      [CANNOT_PULL],
    ],
    [
      'fails at once when an image has no variant for its build, which waiting does not change',
      aged(1),
      [
        pullPod(
          CORE,
          withContainer({
            kind: 'waiting',
            reason: 'ErrImagePull',
            message: 'no match for platform in manifest: not found',
          }),
        ),
      ],
      'failing',
      [['ImagePullFailed', CORE, 'no variant for the node'], LACKS_WEB],
    ],
    [
      'fails after the join grace when an image cannot be pulled, with the cause first',
      aged(15),
      [pullPod(CORE, PULL_ERROR)],
      'failing',
      [CANNOT_PULL, LACKS_WEB],
    ],
    [
      'names the first of several images that cannot be pulled',
      aged(15),
      [pullPod(CORE, PULL_ERROR), pullPod(WEB, PULL_ERROR)],
      'failing',
      [['ImagePullFailed', 'and 1 more', CORE, 'not found']],
    ],
    [
      'is verified when all were pulled, also if it does not list them',
      aged(60),
      [pullPod(CORE, PULLED), pullPod(WEB, PULLED)],
      'verified',
      [],
    ],
  ];
  for (const [name, node, pods, state, want] of table) {
    const texts = () => {
      const result = resultFor(node, pods);
      assert.equal(result.state, state);
      return textsOf(result);
    };
    check(name, texts, want);
  }

  it('is verified again when its time is over', () => {
    const expected = expecting();
    const end = (pods: readonly NodePod[]) => graceEnd(resultFor(aged(1), pods, expected), expected) - NOW;
    assert.equal(end([pullPod(CORE, CREATING)]), 74 * MINUTE);
    assert.equal(end([pullPod(CORE, PULL_ERROR)]), 14 * MINUTE);
  });

  it('warns and is verified at once if the checks only warn', () => {
    const warnOnly = expecting({ warnOnly: ['ImagesMissing', 'ImagePullFailed'] });
    const { state, warnings } = resultFor(aged(1), [pullPod(CORE, PULL_ERROR)], warnOnly);
    assert.deepEqual([state, warnings.map(({ reason }) => reason)], ['verified', ['ImagePullFailed', 'ImagesMissing']]);
  });
});

/** The conditions of a node after the operator wrote its verification result. */
function reported(node: Partial<NodeRecord>, pods: readonly NodePod[], expected = expecting()) {
  const report = reportFor(resultFor(node, pods, expected), expected.spec.verification, 'web');
  return withReport(newNode(node), report);
}

describe('the conditions of a node on which the operator pulls images', () => {
  /** Whether the node still needs images according to its conditions. */
  const needsImages = (before: Partial<NodeRecord>) => resultFor(before, []).failures.length > 0;

  it('remember that images are missing, whatever the other messages are', () => {
    const cause = withContainer({ kind: 'waiting', reason: 'ErrImagePull', message: 'x'.repeat(1_024) });
    const reports = [
      reported({ ...aged(1), taints: [], ready: 'False', kernelVersion: 'z'.repeat(256) }, [pullPod(CORE, cause)]),
      reported(aged(1), [pullPod(CORE, cause)], expecting({ warnOnly: ['ImagesMissing', 'ImagePullFailed'] })),
    ];
    for (const before of reports) assert.equal(needsImages(before), true, before.conditions.join());
  });

  it('remember that images are missing when the checks only warn and the node fails another one', () => {
    const expected = expecting({ warnOnly: ['ImagesMissing', 'ImagePullFailed'] });
    for (const node of [
      { ...aged(1), ready: 'False' },
      { ...aged(60), ready: 'False' },
    ] as const) {
      const { state, warnings } = resultFor(reported(node, [], expected), [], expected);
      assert.deepEqual([state, warnings.map(({ reason }) => reason)], ['verified', ['ImagesMissing']]);
    }
  });

  it('remember that the node had all of them', () => {
    const complete = reported(aged(1), [pullPod(CORE, PULLED), pullPod(WEB, PULLED)]);
    assert.deepEqual([complete.verified?.status, needsImages(complete)], ['True', false]);
    const other = reported({ ...aged(60), ready: 'False', ...complete }, []);
    assert.deepEqual([other.verified?.reason, needsImages(other)], ['NotReady', false]);
  });

  it('are not taken for granted on a node that was not verified when another operator wrote its result', () => {
    const verified = { status: 'Unknown', reason: 'Joining', message: 'WindowsPool web: is joining.' } as const;
    assert.equal(needsImages({ verified }), true);
  });
});

describe('a new node on which the operator runs the smoke test', () => {
  const tested = expecting({}, testing);
  const pending: Brief = ['SmokeTestPending (in progress)', 'verification.smokeTest'];
  const cause = ['verification.smokeTest', 'DNS: curl: (6) Could not resolve host: a'];
  const failed: Brief = ['SmokeTestFailed', ...cause];
  const failing: Brief = ['SmokeTestFailed (in progress)', ...cause];
  const table: readonly (readonly [
    string,
    number,
    readonly NodePod[],
    VerificationResult['state'],
    readonly Brief[],
  ])[] = [
    ['is joining until the test has started', 1, [], 'joining', [pending]],
    ['is joining while the test runs, for longer than the join grace', 24, [testPod(CREATING)], 'joining', [pending]],
    ['fails without a result after the join grace and the timeout of the test', 25, [], 'failing', [pending]],
    ['is verified when the test has passed', 1, [testPod(PASSED)], 'verified', []],
    ['is joining within the join grace, however often the test fails', 14, [testPod(NO_DNS, 9)], 'joining', [failed]],
    [
      'is joining after the join grace until the test has failed three times',
      20,
      [testPod(NO_DNS, 2)],
      'joining',
      [failing],
    ],
    ['fails after that', 20, [testPod(NO_DNS, 3)], 'failing', [failed]],
    ['fails at last, also if the test failed only once', 25, [testPod(NO_DNS, 1)], 'failing', [failing]],
    ['has failed while the next attempt runs', 20, [testPod(NO_DNS, 3), testPod(CREATING, 4)], 'failing', [failed]],
  ];
  for (const [name, minutes, pods, state, want] of table) {
    const texts = () => {
      const result = resultFor(aged(minutes), pods, tested);
      assert.equal(result.state, state);
      return textsOf(result);
    };
    check(name, texts, want);
  }

  it('is not tested again once its conditions say that it has passed, nor if it was verified before the pool had a test', () => {
    const waiting = reported(aged(1), [], tested);
    assert.equal(resultFor(waiting, [], tested).state, 'joining');
    const passed = reported(waiting, [testPod(PASSED)], tested);
    assert.deepEqual([passed.verified?.status, resultFor(passed, [], tested).failures], ['True', []]);
    const notReady = reported({ ...aged(60), ready: 'False', ...passed }, [], tested);
    assert.deepEqual([notReady.verified?.reason, resultFor(notReady, [], tested).failures], ['NotReady', []]);
    assert.equal(resultFor({ verified: sampleNode().verified }, [], tested).state, 'verified');
  });

  it('warns and is verified if the checks only warn, and is still tested', () => {
    const warnOnly = expecting({ warnOnly: ['SmokeTestFailed', 'SmokeTestPending'] }, testing);
    const result = resultFor(aged(1), [testPod(NO_DNS)], warnOnly);
    assert.deepEqual([result.state, result.warnings.map(({ reason }) => reason)], ['verified', ['SmokeTestFailed']]);
    assert.equal(resultFor(reported(aged(1), [testPod(NO_DNS)], warnOnly), [], warnOnly).warnings.length, 1);
    const joining = reported({ ...aged(1), ready: 'False' }, [], warnOnly);
    assert.deepEqual(
      [joining.verified?.reason, resultFor(joining, [], warnOnly).warnings.map(({ reason }) => reason)],
      ['Joining', ['SmokeTestPending']],
    );
  });
});
