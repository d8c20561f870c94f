import assert from 'node:assert/strict';
import { createCapacity } from './capacity.ts';
import { callsOf } from './testing/callsOf.ts';

const { signal } = new AbortController();

/** An EC2 that returns these pages in order. */
function listing(...pages: readonly (object | Error)[]) {
  const calls: [operation: string, input: object][] = [];
  const ec2 = callsOf(async (operation, input) => {
    const page = pages[calls.length];
    calls.push([operation, input]);
    if (page instanceof Error) throw page;
    return { $metadata: {}, ...page };
  });
  return { calls, capacity: createCapacity(ec2) };
}

describe('the capacity of EC2', () => {
  it('has instance types, read by a filter with 100 per page', async () => {
    const { calls, capacity } = listing(
      {
        InstanceTypes: [
          {
            InstanceType: 'm5.large',
            ProcessorInfo: { SupportedArchitectures: ['x86_64'] },
            NetworkInfo: { Ipv4AddressesPerInterface: 10 },
            Hypervisor: 'nitro',
            HibernationSupported: true,
            MemoryInfo: { SizeInMiB: 8192 },
          },
          { InstanceType: 'm4.large', Hypervisor: 'xen', BareMetal: false },
          { InstanceType: 'm5.metal', BareMetal: true },
          { InstanceType: 'm8i.large', ProcessorInfo: { SupportedFeatures: ['nested-virtualization'] } },
        ],
        NextToken: 'next',
      },
      { InstanceTypes: [{}] },
    );
    assert.deepEqual(await capacity.instanceTypes(['m5.large', 'm5.none'], signal), {
      ok: true,
      value: [
        {
          name: 'm5.large',
          architectures: ['x86_64'],
          addressesPerInterface: 10,
          isNitro: true,
          hibernates: true,
          memoryMiB: 8192,
        },
        { name: 'm4.large', architectures: [], addressesPerInterface: undefined, isNitro: false },
        { name: 'm5.metal', architectures: [], addressesPerInterface: undefined, virtualization: 'always' },
        { name: 'm8i.large', architectures: [], addressesPerInterface: undefined, virtualization: 'ifEnabled' },
        { name: '', architectures: [], addressesPerInterface: undefined },
      ],
    });
    const asked = { Filters: [{ Name: 'instance-type', Values: ['m5.large', 'm5.none'] }], MaxResults: 100 };
    assert.deepEqual(calls, [
      ['DescribeInstanceTypes', asked],
      ['DescribeInstanceTypes', { ...asked, NextToken: 'next' }],
    ]);
  });

  for (const [answer, want] of [
    [{ EbsEncryptionByDefault: true }, true],
    [{ EbsEncryptionByDefault: false }, false],
    [{}, false],
  ] as const) {
    it(`encrypts new volumes or not: ${JSON.stringify(answer)}`, async () => {
      const { calls, capacity } = listing(answer);
      assert.deepEqual(await capacity.encryptsVolumes(signal), { ok: true, value: want });
      assert.deepEqual(calls, [['GetEbsEncryptionByDefault', {}]]);
    });
  }

  it('has the zones of an instance type', async () => {
    const { calls, capacity } = listing({
      InstanceTypeOfferings: [{ InstanceType: 'm5.large', Location: 'eu-west-1a' }, {}],
    });
    assert.deepEqual(await capacity.offerings(['m5.large'], signal), {
      ok: true,
      value: [
        { instanceType: 'm5.large', zone: 'eu-west-1a' },
        { instanceType: '', zone: '' },
      ],
    });
    assert.deepEqual(calls, [
      [
        'DescribeInstanceTypeOfferings',
        {
          LocationType: 'availability-zone',
          Filters: [{ Name: 'instance-type', Values: ['m5.large'] }],
          MaxResults: 1_000,
        },
      ],
    ]);
  });

  it('has subnets', async () => {
    const { calls, capacity } = listing({
      Subnets: [
        {
          SubnetId: 'subnet-1',
          AvailabilityZone: 'eu-west-1a',
          AvailableIpAddressCount: 3,
          Tags: [{ Key: 'tier', Value: 'private' }],
        },
        {},
      ],
    });
    const terms = [{ id: 'subnet-1' }, { tags: { tier: 'private', team: 'web' } }, { id: 'subnet-2' }];
    assert.deepEqual(await capacity.subnets(terms, 'vpc-1', signal), {
      ok: true,
      value: [
        { id: '', zone: '', freeAddresses: 0, tags: {} },
        { id: 'subnet-1', zone: 'eu-west-1a', freeAddresses: 3, tags: { tier: 'private' } },
      ],
    });
    const byTags = [
      { Name: 'vpc-id', Values: ['vpc-1'] },
      { Name: 'tag:tier', Values: ['private'] },
      { Name: 'tag:team', Values: ['web'] },
    ];
    assert.deepEqual(calls, [
      ['DescribeSubnets', { Filters: [{ Name: 'subnet-id', Values: ['subnet-1', 'subnet-2'] }], MaxResults: 1_000 }],
      ['DescribeSubnets', { Filters: byTags, MaxResults: 1_000 }],
    ]);
  });

  it('is empty if EC2 returns nothing', async () => {
    const all = [
      await listing({}).capacity.instanceTypes(['m5.large'], signal),
      await listing({}).capacity.offerings(['m5.large'], signal),
      await listing({}).capacity.subnets([{ id: 'subnet-1' }], 'vpc-1', signal),
    ];
    for (const answer of all) assert.deepEqual(answer, { ok: true, value: [] });
  });

  it('is an error if EC2 denies the call', async () => {
    const denied = Object.assign(new Error('You are not authorized'), {
      name: 'UnauthorizedOperation',
      $metadata: { httpStatusCode: 403 },
    });
    const answer = await listing(denied).capacity.subnets([{ id: 'subnet-1' }], 'vpc-1', signal);
    assert.equal(!answer.ok && answer.error.kind, 'denied');
  });
});
