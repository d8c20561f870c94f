/** New nodes on which the operator runs pods before it verifies them. */

import assert from 'node:assert/strict';
import type { Expectation, VerificationResult } from '../model/poolNodes.ts';
import { preparationOf } from '../nodePods/preparation.ts';
import type { NodePod } from '../ports/nodePods.ts';
import type { NodeCondition, NodeRecord } from '../ports/nodes.ts';
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
import { conditionFor } from './nodeCondition.ts';
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

describe('the condition of a node on which the operator pulls images', () => {
  const conditionOf = (node: Partial<NodeRecord>, pods: readonly NodePod[], expected = expecting()): NodeCondition =>
    conditionFor(resultFor(node, pods, expected), 'web');
  /** Whether the node still needs images according to the condition. */
  const needsImages = (verified: NodeCondition) => resultFor({ verified }, []).failures.length > 0;

  it('remembers that images are missing, however long the other messages are', () => {
    const cause = withContainer({ kind: 'waiting', reason: 'ErrImagePull', message: 'x'.repeat(1_024) });
    const long = `registry.example.com/${'y'.repeat(230)}`;
    const expected = expecting({
      policy: 'Gate',
      requiredImages: [CORE, ...Array.from({ length: 19 }, (_, i) => `${long}${i}`)],
    });
    const messages = [
      conditionOf(
        { ...aged(1), taints: [], ready: 'False', kernelVersion: 'z'.repeat(256) },
        [pullPod(CORE, cause)],
        expected,
      ),
      conditionOf(aged(1), [pullPod(CORE, cause)], expecting({ warnOnly: ['ImagesMissing', 'ImagePullFailed'] })),
    ];
    for (const verified of messages) assert.equal(needsImages(verified), true, verified.message);
  });

  it('remembers that images are missing when the checks only warn and the node fails another one', () => {
    const expected = expecting({ warnOnly: ['ImagesMissing', 'ImagePullFailed'] });
    for (const node of [
      { ...aged(1), ready: 'False' },
      { ...aged(60), ready: 'False' },
    ] as const) {
      const verified = conditionOf(node, [], expected);
      const { state, warnings } = resultFor({ verified }, [], expected);
      assert.deepEqual(
        [state, warnings.map(({ reason }) => reason)],
        ['verified', ['ImagesMissing']],
        verified.message,
      );
    }
  });

  it('remembers that the node had all of them', () => {
    const verified = conditionOf(aged(1), [pullPod(CORE, PULLED), pullPod(WEB, PULLED)]);
    assert.deepEqual([verified.status, needsImages(verified)], ['True', false]);
    const other = conditionOf({ ...aged(60), ready: 'False', verified }, []);
    assert.deepEqual([other.reason, needsImages(other)], ['NotReady', false]);
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

  it('is not tested again once its condition says that it has passed, nor if it was verified before the pool had a test', () => {
    const condition = (node: Partial<NodeRecord>, pods: readonly NodePod[]) =>
      conditionFor(resultFor(node, pods, tested), 'web');
    const waiting = condition(aged(1), []);
    assert.equal(resultFor({ verified: waiting }, [], tested).state, 'joining');
    const verified = condition({ verified: waiting }, [testPod(PASSED)]);
    assert.deepEqual([verified.status, resultFor({ verified }, [], tested).failures], ['True', []]);
    const notReady = condition({ ...aged(60), ready: 'False', verified }, []);
    assert.deepEqual([notReady.reason, resultFor({ verified: notReady }, [], tested).failures], ['NotReady', []]);
    assert.equal(resultFor({ verified: sampleNode().verified }, [], tested).state, 'verified');
  });

  it('warns and is verified if the checks only warn, and is still tested', () => {
    const warnOnly = expecting({ warnOnly: ['SmokeTestFailed', 'SmokeTestPending'] }, testing);
    const result = resultFor(aged(1), [testPod(NO_DNS)], warnOnly);
    assert.deepEqual([result.state, result.warnings.map(({ reason }) => reason)], ['verified', ['SmokeTestFailed']]);
    const verified = conditionFor(result, 'web');
    assert.equal(resultFor({ verified }, [], warnOnly).warnings.length, 1);
    const joining = conditionFor(resultFor({ ...aged(1), ready: 'False' }, [], warnOnly), 'web');
    assert.deepEqual(
      [joining.reason, resultFor({ verified: joining }, [], warnOnly).warnings.map(({ reason }) => reason)],
      ['Joining', ['SmokeTestPending']],
    );
  });
});
