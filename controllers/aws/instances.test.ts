import assert from 'node:assert/strict';
import type { DescribeInstancesCommandInput, DescribeInstancesCommandOutput } from '@aws-sdk/client-ec2';
import { assertNames } from '../../test/messages.ts';
import { createInstances, type Members } from './instances.ts';
import { callsOf } from './testing/callsOf.ts';

const { signal } = new AbortController();

/** The adapter over an EC2 that returns these pages, and a scaling group with these members. */
function listing(
  pages: readonly (Partial<DescribeInstancesCommandOutput> | Error)[],
  members: Awaited<ReturnType<Members>> = { ok: true, value: ['i-1', 'i-2', 'i-3'] },
) {
  const inputs: DescribeInstancesCommandInput[] = [];
  const describePage = async (_operation: string, input: DescribeInstancesCommandInput) => {
    const page = pages[Math.min(inputs.length, pages.length - 1)];
    inputs.push(input);
    if (page instanceof Error) throw page;
    return { $metadata: {}, ...page };
  };
  return {
    inputs,
    instances: createInstances(callsOf(describePage), async () => members),
  };
}

const LAUNCHED = new Date('2026-03-01T12:00:00Z');
const page = (...ids: string[]) => ({
  Reservations: ids.map((id) => ({
    Instances: [{ InstanceId: id, PrivateDnsName: `${id}.ec2.internal`, LaunchTime: LAUNCHED }],
  })),
});
const found = (id: string) => ({ id, privateDnsName: `${id}.ec2.internal`, launchedAt: LAUNCHED.getTime() });

describe('the instances of a scaling group', () => {
  it('are its members that are running or pending', async () => {
    const { inputs, instances } = listing([page('i-1')]);
    assert.deepEqual(await instances.ofScalingGroup('eks-web', signal), { ok: true, value: [found('i-1')] });
    assert.deepEqual(inputs, [
      {
        Filters: [
          { Name: 'instance-id', Values: ['i-1', 'i-2', 'i-3'] },
          { Name: 'instance-state-name', Values: ['pending', 'running'] },
        ],
        MaxResults: 1_000,
      },
    ]);
  });

  it('are read page by page', async () => {
    const { inputs, instances } = listing([
      { ...page('i-1', 'i-2'), NextToken: 'next' },
      { ...page(), NextToken: 'last' },
      page('i-3'),
    ]);
    assert.deepEqual(await instances.ofScalingGroup('eks-web', signal), {
      ok: true,
      value: ['i-1', 'i-2', 'i-3'].map(found),
    });
    assert.deepEqual(
      inputs.map(({ NextToken }) => NextToken),
      [undefined, 'next', 'last'],
    );
  });

  it('are none if EC2 returns nothing', async () => {
    assert.deepEqual(await listing([{}]).instances.ofScalingGroup('eks-web', signal), { ok: true, value: [] });
  });

  it('are none if it has no members, without a call to EC2', async () => {
    const { inputs, instances } = listing([page('i-warm')], { ok: true, value: [] });
    assert.deepEqual([await instances.ofScalingGroup('eks-web', signal), inputs], [{ ok: true, value: [] }, []]);
  });

  it('are read with at most 200 IDs per call', async () => {
    const ids = Array.from({ length: 450 }, (_, i) => `i-${i}`);
    const { inputs, instances } = listing([page('i-1')], { ok: true, value: ids });
    await instances.ofScalingGroup('eks-web', signal);
    const asked = inputs.map(({ Filters = [] }) => Filters[0]?.Values ?? []);
    assert.deepEqual(
      asked.map(({ length }) => length),
      [200, 200, 50],
    );
    assert.deepEqual(asked.flat(), ids);
  });

  it('are an error if the scaling group cannot be read', async () => {
    const denied = {
      ok: false,
      error: { kind: 'denied', operation: 'x', code: 'AccessDenied', message: 'no' },
    } as const;
    const { inputs, instances } = listing([page('i-1')], denied);
    assert.deepEqual([await instances.ofScalingGroup('eks-web', signal), inputs], [denied, []]);
  });

  it('have empty fields if EC2 returns none', async () => {
    const { instances } = listing([{ Reservations: [{ Instances: [{}] }, {}] }]);
    assert.deepEqual(await instances.ofScalingGroup('eks-web', signal), {
      ok: true,
      value: [{ id: '', privateDnsName: '', launchedAt: 0 }],
    });
  });

  it('are an error if any page fails', async () => {
    const denied = Object.assign(new Error('no'), {
      name: 'UnauthorizedOperation',
      $metadata: { httpStatusCode: 403 },
    });
    const { instances } = listing([{ ...page('i-1'), NextToken: 'next' }, denied]);
    assert.deepEqual(await instances.ofScalingGroup('eks-web', signal), {
      ok: false,
      error: { kind: 'denied', operation: 'DescribeInstances', code: 'UnauthorizedOperation', message: 'no' },
    });
  });

  it('are an error if there are too many pages, not a shorter list', async () => {
    const { inputs, instances } = listing([{ ...page('i-1'), NextToken: 'again' }]);
    const answer = await instances.ofScalingGroup('eks-web', signal);
    assert.ok(!answer.ok);
    const { message, ...error } = answer.error;
    assert.deepEqual(error, { kind: 'unknown', operation: 'DescribeInstances', code: 'TooManyPages' });
    assertNames(message, '20 pages');
    assert.equal(inputs.length, 20);
  });
});

describe('an instance', () => {
  const tagged = [
    { Key: 'Name', Value: 'x' },
    { Key: 'aws:autoscaling:groupName', Value: 'eks-web' },
  ];
  const table = [
    [
      'has its scaling group and the name of its node',
      { State: { Name: 'running' }, PrivateDnsName: 'ip-1', Tags: tagged },
      ['running', 'eks-web', 'ip-1'],
    ],
    ['can have neither', { State: { Name: 'terminated' } }, ['terminated', undefined, '']],
    ['has no state if EC2 returns none', {}, ['', undefined, '']],
  ] as const;
  for (const [name, seen, [state, scalingGroup, privateDnsName]] of table) {
    it(name, async () => {
      const { inputs, instances } = listing([
        { Reservations: [{ Instances: [seen as object] }] } as Partial<DescribeInstancesCommandOutput>,
      ]);
      assert.deepEqual(await instances.find('i-1', signal), {
        ok: true,
        value: { state, scalingGroup, privateDnsName },
      });
      assert.deepEqual(inputs[0]?.Filters, [{ Name: 'instance-id', Values: ['i-1'] }]);
    });
  }

  it('is absent if EC2 does not find it', async () => {
    assert.deepEqual(await listing([{}]).instances.find('i-1', signal), { ok: true, value: undefined });
  });
});
