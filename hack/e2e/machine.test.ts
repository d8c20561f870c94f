import assert from 'node:assert/strict';
import { GATE_TAINT_KEY, PLAIN_GATE_TAINT_KEY } from '../../controllers/windowspool/api/labels.ts';
import { scriptProblem } from '../../controllers/windowspool/userData/scripts.ts';
import {
  answerGateTaint,
  answerGrowth,
  answerLateSettings,
  answerReadinessTaint,
  answerScript,
  LATE_LABEL,
  READINESS_TAINT_KEY,
  scriptOf,
} from './machine.ts';
import type { Registration } from './nodeWatch.ts';
import { Answers, type QuestionId } from './questions.ts';

/** The state of an answer and the answer, after these were given. */
function given(id: QuestionId, give: (answers: Answers) => void) {
  const answers = new Answers();
  give(answers);
  const { state, answer } = answers.all()[id];
  return [state, answer];
}

describe('the answers about the machines of a pool', () => {
  const taints = (...keys: readonly string[]) => ({ taints: keys.map((key) => ({ key })) });
  const both = (...keys: readonly (readonly string[])[]) =>
    given('reservedTaints', (answers) => {
      const [atCreation = [], afterChange = []] = keys;
      answerGateTaint(answers, taints(...atCreation));
      answerReadinessTaint(answers, taints(...afterChange), 'words of EKS');
    });

  it('have for each reserved taint whether EKS accepted it, and its words if not', () => {
    assert.deepEqual(both([GATE_TAINT_KEY], [READINESS_TAINT_KEY]), [
      'answered',
      { [GATE_TAINT_KEY]: 'accepted', [READINESS_TAINT_KEY]: 'accepted' },
    ]);
    assert.deepEqual(both([PLAIN_GATE_TAINT_KEY], [PLAIN_GATE_TAINT_KEY]), [
      'answered',
      { [GATE_TAINT_KEY]: 'rejected', [READINESS_TAINT_KEY]: 'words of EKS' },
    ]);
    assert.deepEqual(
      given('reservedTaints', (answers) => answerGateTaint(answers, taints('os'))),
      ['unknown', ['os']],
    );
  });

  it('have the account of user data, or what the pod showed instead', () => {
    const result = { account: 'Administrator', isSystem: false };
    assert.deepEqual(
      given('userDataAccount', (answers) => answerScript(answers, `${JSON.stringify(result)}\r\n`)),
      ['answered', result],
    );
    assert.deepEqual(
      given('userDataAccount', (answers) => answerScript(answers, 'The system cannot find the file specified.')),
      ['unknown', 'The system cannot find the file specified.'],
    );
  });

  const registration = (later: Record<string, number>): Registration => ({ labels: [], taints: [], later, at: 0 });
  const late = (before: readonly Registration[], after: readonly Registration[]) =>
    given('settingsOfCustomNodes', (answers) => answerLateSettings(answers, before, after));

  it('have what EKS added to nodes after they registered, and when', () => {
    const source = 'eks.amazonaws.com/sourceLaunchTemplateVersion';
    assert.deepEqual(late([registration({ [LATE_LABEL]: 900, zone: 3 })], [registration({ [source]: 12, zone: 3 })]), [
      'answered',
      { secondsOnExistingNodes: { [LATE_LABEL]: 900 }, secondsOnNewNodes: { [source]: 12 } },
    ]);
    assert.deepEqual(late([registration({})], [registration({})]), [
      'answered',
      { secondsOnExistingNodes: {}, secondsOnNewNodes: {} },
    ]);
    assert.deepEqual(late([], [registration({})]), ['unknown', undefined]);
  });

  const growth = (...seen: readonly (readonly [nodeGroup: number, scalingGroup: number])[]) =>
    given('rolloutGrowth', (answers) =>
      answerGrowth(
        answers,
        seen.map(([nodeGroup, scalingGroup]) => ({ nodeGroup, scalingGroup })),
      ),
    );

  it('have whether the node group shows that its scaling group grew', () => {
    const before = { nodeGroup: 1, scalingGroup: 1 };
    const hidden = { before, most: { nodeGroup: 1, scalingGroup: 5 }, scalingConfig: 'hidden' };
    assert.deepEqual(growth([1, 1], [1, 5], [1, 1]), ['answered', hidden]);
    const shown = { before, most: { nodeGroup: 5, scalingGroup: 5 }, scalingConfig: 'shown' };
    assert.deepEqual(growth([1, 1], [5, 5], [1, 1]), ['answered', shown]);
    assert.equal(growth([1, 1], [1, 1])[0], 'unknown');
  });
});

describe('the script of the run', () => {
  it('can be user data of a pool', () => {
    const { data } = scriptOf({ pool: 'e2e-1' }, 'winpool-system') as { data: Record<string, string> };
    const [script] = Object.values(data);
    assert.equal(scriptProblem('The script', script), undefined);
    assert.match(script ?? '', /^\$identity = /);
  });
});
