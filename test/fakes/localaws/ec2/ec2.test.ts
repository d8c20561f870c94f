import assert from 'node:assert/strict';
import type { _InstanceType, Filter, LocationType } from '@aws-sdk/client-ec2';
import { assertNames } from '../../../messages.ts';
import { subnetIds } from '../network.ts';
import { sampleGroup } from '../testing/fixtures.ts';
import { withOpenCloud } from '../testing/testCloud.ts';
import { rejection } from '../testing/testGroup.ts';

describe('instance types and subnets, through the real SDK client', () => {
  const fixture = withOpenCloud();
  const typesOf = async (names: readonly string[], filters: Filter[] = []) => {
    const { InstanceTypes = [] } = await fixture.sdk.ec2.describeInstanceTypes({
      ...(names.length === 0 ? {} : { InstanceTypes: names as _InstanceType[] }),
      ...(filters.length === 0 ? {} : { Filters: filters }),
    });
    return InstanceTypes;
  };
  const locationsOf = async (LocationType: LocationType | undefined, names: string[]) => {
    const { InstanceTypeOfferings = [] } = await fixture.sdk.ec2.describeInstanceTypeOfferings({
      ...(LocationType === undefined ? {} : { LocationType }),
      Filters: [{ Name: 'instance-type', Values: names }],
    });
    return InstanceTypeOfferings.map(({ InstanceType, Location }) => `${InstanceType} ${Location}`);
  };

  const rows: readonly (readonly [
    name: string,
    architecture: string,
    hypervisor: string,
    cpus: number,
    memoryMiB: number,
    interfaces: number,
    addresses: number,
  ])[] = [
    ['m5.large', 'x86_64', 'nitro', 2, 8192, 3, 10],
    ['m4.large', 'x86_64', 'xen', 2, 8192, 2, 10],
    ['t4g.medium', 'arm64', 'nitro', 2, 4096, 3, 6],
  ];
  for (const row of rows) {
    it(`returns the figures of ${row[0]}`, async () => {
      const [type] = await typesOf([row[0]]);
      assert.deepEqual(
        [
          type?.InstanceType,
          type?.ProcessorInfo?.SupportedArchitectures?.join(),
          type?.Hypervisor,
          type?.VCpuInfo?.DefaultVCpus,
          type?.MemoryInfo?.SizeInMiB,
          type?.NetworkInfo?.MaximumNetworkInterfaces,
          type?.NetworkInfo?.Ipv4AddressesPerInterface,
        ],
        row,
      );
    });
  }

  it('finds instance types by filters, page by page', async () => {
    const found = await typesOf([], [{ Name: 'instance-type', Values: ['m5.large', 't4g.*'] }]);
    assert.deepEqual(
      found.map(({ InstanceType }) => InstanceType),
      ['m5.large', 't4g.medium'],
    );
    const page = await fixture.sdk.ec2.describeInstanceTypes({ MaxResults: 5 });
    assert.deepEqual([page.InstanceTypes?.length, page.NextToken !== undefined], [5, true]);
    assert.match(
      await rejection(fixture.sdk.ec2.describeInstanceTypes({ MaxResults: 5, InstanceTypes: ['m5.large'] })),
      /^InvalidParameterCombination/,
    );
    assert.match(
      await rejection(typesOf([], [{ Name: 'colour', Values: ['x'] }])),
      /^InvalidParameterValue: The filter 'colour' is invalid/,
    );
  });

  it('offers an instance type in the zones of the test, and others in every zone', async () => {
    const { faults } = fixture.cloud;
    const inZones = (...letters: string[]) => letters.map((letter) => `m5.large us-west-2${letter}`);
    assert.deepEqual(await locationsOf('availability-zone', ['m5.large']), inZones('a', 'b', 'c'));
    faults.offering({ instanceType: 'm5.large', zones: ['us-west-2b'] });
    assert.deepEqual(await locationsOf('availability-zone', ['m5.large', 't3.medium']), [
      't3.medium us-west-2a',
      't3.medium us-west-2b',
      't3.medium us-west-2c',
      ...inZones('b'),
    ]);
    assert.deepEqual(await locationsOf('availability-zone-id', ['m5.large']), ['m5.large usw2-az2']);
    assert.deepEqual(await locationsOf(undefined, ['m5.large']), ['m5.large us-west-2']);
    assert.deepEqual(await locationsOf('outpost', ['m5.large']), []);
    const inZoneA = await fixture.sdk.ec2.describeInstanceTypeOfferings({
      LocationType: 'availability-zone',
      Filters: [{ Name: 'location', Values: ['us-west-2a'] }],
    });
    assert.ok(inZoneA.InstanceTypeOfferings?.every(({ InstanceType }) => InstanceType !== 'm5.large'));
    const page = await fixture.sdk.ec2.describeInstanceTypeOfferings({ MaxResults: 5 });
    assert.deepEqual([page.InstanceTypeOfferings?.length, page.NextToken !== undefined], [5, true]);
    faults.offering({ instanceType: 'm5.large' });
    assert.deepEqual(await locationsOf('availability-zone', ['m5.large']), inZones('a', 'b', 'c'));
  });

  it('does not return an instance type that the region does not offer', async () => {
    fixture.cloud.faults.offering({ instanceType: 'm6i.large', zones: [] });
    assertNames(await rejection(typesOf(['m5.large', 'm6i.large'])), 'InvalidInstanceType', '[m6i.large]');
    assert.deepEqual(await locationsOf('region', ['m6i.large']), []);
    assertNames(
      await rejection(fixture.sdk.eks.createNodegroup(sampleGroup({ instanceTypes: ['m6i.large'] }))),
      'InvalidParameterException',
      '[m6i.large]',
    );
    fixture.cloud.faults.offering({ instanceType: 'm6i.large' });
    assert.equal((await typesOf(['m6i.large'])).length, 1);
  });

  it('rejects zones, types and subnets that do not exist', () => {
    const { faults } = fixture.cloud;
    assert.throws(() => faults.offering({ instanceType: 'm5.large', zones: ['us-west-2d'] }), /no zone us-west-2d/);
    assert.throws(() => faults.offering({ instanceType: 'm5.huge' }), /no instance type m5.huge/);
    assert.throws(
      () => faults.subnet({ id: 'subnet-1', freeAddresses: 1 }),
      /no subnet subnet-1; there are subnet-0a1/,
    );
    assert.throws(() => faults.subnet({ id: subnetIds[0], freeAddresses: -1 }), /freeAddresses is -1; give a whole/);
  });

  it('returns the zone and the free addresses of each subnet', async () => {
    fixture.cloud.faults.subnet({ id: subnetIds[1], freeAddresses: 3 });
    const { Subnets = [] } = await fixture.sdk.ec2.describeSubnets({ SubnetIds: [subnetIds[0], subnetIds[1]] });
    assert.deepEqual(
      Subnets.map(({ SubnetId, AvailabilityZone, AvailableIpAddressCount, VpcId, Ipv6CidrBlockAssociationSet }) => [
        SubnetId,
        AvailabilityZone,
        AvailableIpAddressCount,
        VpcId,
        Ipv6CidrBlockAssociationSet,
      ]),
      [
        [subnetIds[0], 'us-west-2a', 251, 'vpc-0a1b2c3d4e5f60718', []],
        [subnetIds[1], 'us-west-2b', 3, 'vpc-0a1b2c3d4e5f60718', []],
      ],
    );
    fixture.cloud.faults.subnet({ id: subnetIds[1], freeAddresses: 251 });
  });

  it('finds subnets by tags: all filters must match, and one of the values of each', async () => {
    fixture.cloud.faults.subnet({ id: subnetIds[0], tags: { tier: 'private', team: 'web' } });
    fixture.cloud.faults.subnet({ id: subnetIds[1], tags: { tier: 'private' } });
    const found = async (...Filters: { Name: string; Values: string[] }[]) =>
      (await fixture.sdk.ec2.describeSubnets({ Filters })).Subnets?.map(({ SubnetId }) => SubnetId);
    const isPrivate = { Name: 'tag:tier', Values: ['private', 'public'] };
    assert.deepEqual(await found(isPrivate), [subnetIds[0], subnetIds[1]]);
    assert.deepEqual(await found(isPrivate, { Name: 'tag:team', Values: ['web'] }), [subnetIds[0]]);
    for (const id of subnetIds) fixture.cloud.faults.subnet({ id, tags: {} });
  });
});
