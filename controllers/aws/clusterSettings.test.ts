import assert from 'node:assert/strict';
import { realClock } from '../runtime/clock.ts';
import type { EksCall } from './calls.ts';
import { EksAccessEntries, EksAddons } from './clusterSettings.ts';
import { AwsRateLimiter } from './rateLimiter.ts';

const { signal } = new AbortController();
const ROLE = 'arn:aws:iam::111122223333:role/windows-nodes';

/** The ports on an EKS that gives one answer. */
function answering(answer: object | Error) {
  const calls: unknown[] = [];
  const eks = (async (operation: string, input: object) => {
    calls.push([operation, input]);
    if (answer instanceof Error) throw answer;
    return { $metadata: {}, ...answer };
  }) as unknown as EksCall;
  const limiter = new AwsRateLimiter(() => undefined, realClock);
  return { calls, addons: new EksAddons('prod', eks, limiter), entries: new EksAccessEntries('prod', eks, limiter) };
}

function failing(name: string, message: string): Error {
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode: 400 } });
}

const GONE = failing('ResourceNotFoundException', 'No addon: vpc-cni found in cluster: prod');
const NO_CLUSTER = failing('ResourceNotFoundException', 'No cluster found for name: prod.');

describe('an add-on', () => {
  it('is found with its configuration', async () => {
    const { calls, addons } = answering({ addon: { status: 'ACTIVE', configurationValues: '{"a":"b"}' } });
    assert.deepEqual(await addons.find('vpc-cni', signal), {
      ok: true,
      value: { status: 'ACTIVE', configuration: '{"a":"b"}' },
    });
    assert.deepEqual(calls, [['DescribeAddon', { clusterName: 'prod', addonName: 'vpc-cni' }]]);
  });

  it('without configuration has an empty one', async () => {
    for (const answer of [{ addon: {} }, {}]) {
      assert.deepEqual(await answering(answer).addons.find('vpc-cni', signal), {
        ok: true,
        value: { status: 'UNKNOWN', configuration: '' },
      });
    }
  });

  it('is absent where it is not installed, and not where the cluster is gone', async () => {
    assert.deepEqual(await answering(GONE).addons.find('vpc-cni', signal), { ok: true, value: undefined });
    const answer = await answering(NO_CLUSTER).addons.find('vpc-cni', signal);
    assert.equal(!answer.ok && answer.trouble.kind, 'gone');
  });
});

describe('an access entry', () => {
  it('is found by its role', async () => {
    const { calls, entries } = answering({ accessEntry: { type: 'EC2_LINUX' } });
    assert.deepEqual(await entries.find(ROLE, signal), { ok: true, value: { type: 'EC2_LINUX' } });
    assert.deepEqual(calls, [['DescribeAccessEntry', { clusterName: 'prod', principalArn: ROLE }]]);
  });

  it('of which EKS says nothing is for people', async () => {
    assert.deepEqual(await answering({}).entries.find(ROLE, signal), { ok: true, value: { type: 'STANDARD' } });
  });

  it('is absent where there is none, and not where the cluster is gone', async () => {
    assert.deepEqual(await answering(GONE).entries.find(ROLE, signal), { ok: true, value: undefined });
    const answer = await answering(NO_CLUSTER).entries.find(ROLE, signal);
    assert.equal(!answer.ok && answer.trouble.kind, 'gone');
  });

  it('is made for Windows, under a token', async () => {
    const { calls, entries } = answering({});
    assert.deepEqual(await entries.create(ROLE, 'web-1', signal), { ok: true, value: undefined });
    assert.deepEqual(calls, [
      [
        'CreateAccessEntry',
        { clusterName: 'prod', principalArn: ROLE, type: 'EC2_WINDOWS', clientRequestToken: 'web-1' },
      ],
    ]);
  });

  it('that is there already is trouble that passes', async () => {
    const answer = await answering(failing('ResourceInUseException', 'already in use')).entries.create(
      ROLE,
      't',
      signal,
    );
    assert.equal(!answer.ok && answer.trouble.kind, 'busy');
  });
});
