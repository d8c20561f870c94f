import assert from 'node:assert/strict';
import { createSecurityGroups } from './securityGroups.ts';
import { callsOf } from './testing/callsOf.ts';

const { signal } = new AbortController();

/** The adapter over an EC2 that returns these pages in order. */
function over(...pages: readonly (object | Error)[]) {
  const calls: [operation: string, input: object][] = [];
  const ec2 = callsOf(async (operation, input) => {
    const page = pages[calls.length];
    calls.push([operation, input]);
    if (page instanceof Error) throw page;
    return page;
  });
  return { calls, groups: createSecurityGroups(ec2) };
}

describe('security groups', () => {
  it('are read by a filter, with their rules', async () => {
    const { calls, groups } = over(
      {
        SecurityGroups: [
          {
            GroupId: 'sg-1',
            IpPermissions: [
              { IpProtocol: '-1', UserIdGroupPairs: [{ GroupId: 'sg-1' }, { GroupId: 'sg-2' }, {}] },
              { IpProtocol: 'tcp', FromPort: 443, ToPort: 10250, IpRanges: [{ CidrIp: '10.0.0.0/8' }] },
              { IpProtocol: '6', FromPort: 0, ToPort: 0, PrefixListIds: [{ PrefixListId: 'pl-1' }] },
            ],
            IpPermissionsEgress: [{ IpProtocol: '17', Ipv6Ranges: [{ CidrIpv6: '::/0' }] }],
          },
        ],
        NextToken: 'next',
      },
      { SecurityGroups: [{}, { GroupId: 'sg-2', IpPermissions: [{}] }] },
    );
    assert.deepEqual(await groups.find(['sg-1', 'sg-2'], signal), {
      ok: true,
      value: [
        {
          id: 'sg-1',
          tags: {},
          inbound: [
            { protocol: 'all', groups: ['sg-1', 'sg-2'], hasAddresses: false },
            { protocol: 'tcp', ports: { from: 443, to: 10250 }, groups: [], hasAddresses: true },
            { protocol: 'tcp', ports: { from: 0, to: 0 }, groups: [], hasAddresses: true },
          ],
          outbound: [{ protocol: '17', groups: [], hasAddresses: true }],
        },
        { id: '', tags: {}, inbound: [], outbound: [] },
        { id: 'sg-2', tags: {}, inbound: [{ protocol: '', groups: [], hasAddresses: false }], outbound: [] },
      ],
    });
    const asked = { Filters: [{ Name: 'group-id', Values: ['sg-1', 'sg-2'] }], MaxResults: 1_000 };
    assert.deepEqual(calls, [
      ['DescribeSecurityGroups', asked],
      ['DescribeSecurityGroups', { ...asked, NextToken: 'next' }],
    ]);
  });

  it('of the VPC are found by IDs and by tags, each once', async () => {
    const tagged = { GroupId: 'sg-2', Tags: [{ Key: 'role', Value: 'web' }] };
    const { calls, groups } = over({ SecurityGroups: [{ GroupId: 'sg-3' }, tagged] }, { SecurityGroups: [tagged] });
    const terms = [{ id: 'sg-3' }, { tags: { role: 'web' } }, { id: 'sg-2' }];
    const bare = { inbound: [], outbound: [] };
    assert.deepEqual(await groups.selectedBy(terms, 'vpc-1', signal), {
      ok: true,
      value: [
        { id: 'sg-2', tags: { role: 'web' }, ...bare },
        { id: 'sg-3', tags: {}, ...bare },
      ],
    });
    const byTags = [
      { Name: 'vpc-id', Values: ['vpc-1'] },
      { Name: 'tag:role', Values: ['web'] },
    ];
    assert.deepEqual(calls, [
      ['DescribeSecurityGroups', { Filters: [{ Name: 'group-id', Values: ['sg-3', 'sg-2'] }], MaxResults: 1_000 }],
      ['DescribeSecurityGroups', { Filters: byTags, MaxResults: 1_000 }],
    ]);
  });

  it('are an error if EC2 denies the call', async () => {
    const denied = Object.assign(new Error('no'), {
      name: 'UnauthorizedOperation',
      $metadata: { httpStatusCode: 403 },
    });
    const answer = await over(denied).groups.find(['sg-1'], signal);
    assert.equal(!answer.ok && answer.error.kind, 'denied');
  });
});
