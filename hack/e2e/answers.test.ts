import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { type Access, answerAccess, answerDenial, answerFailedUpdate, answerRefusal } from './answers.ts';
import type { Reply } from './aws.ts';
import { Cleanup } from './cleanup.ts';
import { Kubectl } from './kubectl.ts';
import { Answers, type QuestionId } from './questions.ts';
import { readCommand } from './settings.ts';

/** The state of a question after `give`. */
function given(id: QuestionId, give: (answers: Answers) => void) {
  const answers = new Answers();
  give(answers);
  const { question: _, ...rest } = answers.all()[id];
  return rest;
}

const refusal = (kind: 'denied' | 'gone' | 'throttled' | 'busy' | 'refused', name: string): Reply<unknown> => ({
  refusal: { kind, name, message: 'words' },
});

describe('the answer to a question about what does not exist', () => {
  const answer = (reply: Reply<unknown>) =>
    given('missingGroupArn', (answers) => answerDenial(answers, 'missingGroupArn', reply, 'Why none.'));

  it('is the denial, which names the ARN', () => {
    assert.partialDeepStrictEqual(answer(refusal('denied', 'AccessDeniedException')), {
      state: 'answered',
      answer: { name: 'AccessDeniedException' },
    });
  });

  it('is open after a 404, which comes with any ARN that the policy allows', () => {
    const found = answer(refusal('gone', 'ResourceNotFoundException'));
    assert.deepEqual([found.state, found.why], ['unknown', 'ResourceNotFoundException. Why none.']);
  });

  it('is open after another error, or if it exists', () => {
    assert.equal(answer(refusal('throttled', 'ThrottlingException')).state, 'unknown');
    assert.equal(answer({ output: {} }).state, 'unknown');
  });
});

describe('the answer to a request that EKS should reject', () => {
  const answer = (reply: Reply<unknown>) =>
    given('unknownRelease', (answers) => answerRefusal(answers, 'unknownRelease', reply, { asked: 'x' }));

  it('is whether EKS accepts it, and the error', () => {
    assert.deepEqual(answer({ output: {} }), { state: 'answered', answer: { asked: 'x', accepted: true } });
    assert.deepEqual(answer(refusal('refused', 'InvalidParameterException')), {
      state: 'answered',
      answer: { asked: 'x', accepted: false, name: 'InvalidParameterException', message: 'words' },
    });
  });

  for (const [kind, name] of [
    ['busy', 'ResourceInUseException'],
    ['denied', 'AccessDeniedException'],
    ['throttled', 'ThrottlingException'],
  ] as const)
    it(`is open after ${name}`, () =>
      assert.deepEqual(answer(refusal(kind, name)), { state: 'unknown', why: `${name}: words` }));
});

describe('the answer about the newest release after a failed update', () => {
  const pool = (type: string, reason: string): WindowsPool => {
    const condition = { type, status: 'False', reason, message: 'words', lastTransitionTime: '2026-04-20T00:00:00Z' };
    return { status: { conditions: [condition] } } as WindowsPool;
  };
  const table: readonly [reason: string, state: string, accepted: boolean | undefined][] = [
    ['ReleaseNotOffered', 'answered', false],
    ['UpdateRejected', 'answered', false],
    ['UpdateFailed', 'answered', true],
    ['NodesNotReady', 'unknown', undefined],
    ['AccessDenied', 'unknown', undefined],
  ];
  for (const [reason, state, accepted] of table)
    it(`is ${state === 'answered' ? `accepted: ${accepted}` : 'open'} with reason ${reason}`, () => {
      const found = given('newestRelease', (answers) => answerFailedUpdate(answers, '1.36-x', pool('Ready', reason)));
      assert.equal(found.state, state);
      if (accepted !== undefined)
        assert.deepEqual(found.answer, { release: '1.36-x', accepted, reason, message: 'words' });
    });

  it('is open if the pool cannot be read', () =>
    assert.equal(given('newestRelease', (answers) => answerFailedUpdate(answers, 'x', undefined)).state, 'unknown'));
});

describe('the answer about the access that EKS writes', () => {
  const none: Access = { entryType: undefined, entryGroups: [], awsAuthGroups: undefined };
  const entry: Access = { ...none, entryType: 'EC2_WINDOWS' };
  const command = readCommand(['--read-only'], {
    E2E_ACCOUNT: '111122223333',
    CLUSTER_NAME: 'my-cluster',
    AWS_REGION: 'eu-west-1',
  });
  assert.equal(command.kind, 'run');
  const answer = (before: Access | undefined, after: Access, machine = false) => {
    const cleanup = new Cleanup();
    const settings = { ...command.settings, machine };
    const found = given('accessWrittenByEks', (answers) =>
      answerAccess({ answers, cleanup, settings, facts: undefined, kubectl: new Kubectl('none') }, before, after),
    );
    return [found.state, cleanup.kept.flatMap(({ commands }) => commands.map((line) => line.split(' --')[0]))];
  };

  it('is the access of a role that had none before, which is kept', () => {
    assert.deepEqual(answer(none, entry), ['answered', ['aws eks delete-access-entry']]);
    const mapped = { ...none, entryRefusal: 'InvalidRequestException', awsAuthGroups: ['system:nodes'] };
    assert.deepEqual(answer({ ...none, entryRefusal: 'InvalidRequestException' }, mapped), [
      'answered',
      ['kubectl edit configmap aws-auth'],
    ]);
  });

  it('is open if the operator may have created it, which is kept as well', () => {
    assert.deepEqual(answer(none, entry, true), ['unknown', ['aws eks delete-access-entry']]);
    assert.deepEqual(answer(entry, entry, true), ['unknown', []]);
  });

  it('is open if the role had access before, or it cannot be read', () => {
    assert.deepEqual(answer(entry, entry), ['unknown', []]);
    assert.deepEqual(answer({ ...none, awsAuthGroups: [] }, entry), ['unknown', []]);
    assert.deepEqual(answer(undefined, entry), ['unknown', []]);
    const hidden = { ...none, entryRefusal: 'AccessDeniedException' };
    assert.deepEqual(answer(hidden, hidden), ['unknown', []]);
  });
});
