import assert from 'node:assert/strict';
import { createRoles } from './roles.ts';
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
  const roles = createRoles(callsOf(iam));
  return {
    inputs,
    attached: () => roles.policiesOf('eks-cluster', signal),
    createdAt: () => roles.createdAt('windows-nodes', signal),
  };
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

describe('a role', () => {
  it('is read with the time of its creation', async () => {
    const { inputs, createdAt } = over({ Role: { RoleName: 'windows-nodes', CreateDate: new Date(5_000) } });
    assert.deepEqual(await createdAt(), { ok: true, value: 5_000 });
    assert.deepEqual(inputs, [{ RoleName: 'windows-nodes' }]);
  });

  it('has no time if it does not exist, or IAM does not report it', async () => {
    const gone = Object.assign(new Error('The role with name windows-nodes cannot be found.'), {
      name: 'NoSuchEntityException',
      $metadata: { httpStatusCode: 404 },
    });
    for (const answer of [gone, { Role: {} }])
      assert.deepEqual(await over(answer).createdAt(), { ok: true, value: undefined });
  });
});
