import assert from 'node:assert/strict';
import { createRolePolicies } from './rolePolicies.ts';
import { callsOf } from './testing/callsOf.ts';

const { signal } = new AbortController();

/** The adapter over an IAM that returns or throws these in order. */
function over(...answers: readonly unknown[]) {
  const inputs: unknown[] = [];
  const iam = async (_operation: string, input: unknown) => {
    const answer = answers[inputs.push(input) - 1];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const policies = createRolePolicies(callsOf(iam));
  return { inputs, attached: () => policies.attachedTo('eks-cluster', signal) };
}

const page = (names: readonly string[], Marker?: string) => ({
  AttachedPolicies: names.map((PolicyName) => ({ PolicyName, PolicyArn: `arn:aws:iam::aws:policy/${PolicyName}` })),
  IsTruncated: Marker !== undefined,
  ...(Marker && { Marker }),
});

describe('the policies of a role', () => {
  it('are read by name from every page', async () => {
    const { inputs, attached } = over(page(['A', 'B'], 'more'), page(['C']));
    assert.deepEqual(await attached(), { ok: true, value: ['A', 'B', 'C'] });
    assert.deepEqual(inputs, [{ RoleName: 'eks-cluster' }, { RoleName: 'eks-cluster', Marker: 'more' }]);
  });

  it('are an error if there are more than three pages, not a shorter list', async () => {
    const { inputs, attached } = over(...Array.from({ length: 5 }, () => page(['A'], 'more')));
    const result = await attached();
    assert.deepEqual(result.ok || [result.error.operation, result.error.code], [
      'ListAttachedRolePolicies',
      'TooManyPages',
    ]);
    assert.equal(inputs.length, 3);
  });

  it('are an error if they cannot be listed', async () => {
    const error = Object.assign(new Error('not authorized'), {
      name: 'AccessDenied',
      $metadata: { httpStatusCode: 403 },
    });
    const answer = await over(error).attached();
    assert.deepEqual(answer.ok ? answer.value : [answer.error.kind, answer.error.operation], [
      'denied',
      'ListAttachedRolePolicies',
    ]);
  });
});
