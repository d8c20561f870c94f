import assert from 'node:assert/strict';
import fc from 'fast-check';
import { instanceType as localInstanceType } from '../../../test/fakes/localaws/network.ts';
import { freeAddresses } from '../providers/nodeGroup/checks/freeAddressesCheck.ts';
import { instanceTypes as instanceTypesCheck } from '../providers/nodeGroup/checks/instanceTypeChecks.ts';
import { volumeSize } from '../providers/nodeGroup/checks/rootVolumeChecks.ts';
import { known } from '../testing/answers.ts';
import { type Schema, specSchema } from '../testing/crdSchema.ts';
import { samplePool } from '../testing/fixtures.ts';
import { sampleFacts, sampleInput } from '../testing/prerequisites.ts';
import { defaultMode, podsPerNode } from './addressMode.ts';
import { INSTANCE_TYPES, type SizedType } from './instanceTypes.ts';
import { DEFAULT_MAX_PODS, MOST_PODS } from './kubeletDefaults.ts';
import { DRAIN_TIMEOUT_MINUTES, replacementMinutes } from './replacement.ts';
import { DEFAULT_DISK_GIB, ENOUGH_GIB, LARGEST_GIB, rootVolumeFor } from './rootVolume.ts';
import { type Limit, type SizeRequest, sizeOf, type TypeSize } from './size.ts';
import { RECOMMENDED_RESERVE_MIB } from './sizeRequest.ts';
import { nodesInSubnet, usableAddresses } from './subnets.ts';

const KINDS = ['secondary', 'prefix'] as const;

function typeNamed(name: string): SizedType {
  const type = INSTANCE_TYPES.find((each) => each.name === name);
  assert.ok(type, name);
  return type;
}

function sizeWith(type: SizedType, change: Partial<SizeRequest> = {}): TypeSize {
  const defaults = { mode: 'secondary', reservedMiB: RECOMMENDED_RESERVE_MIB, maxPods: DEFAULT_MAX_PODS } as const;
  const [size] = sizeOf({ types: [type], ...defaults, imagesGiB: 0, ...change }).types;
  assert.ok(size);
  return size;
}

describe('the pods of a node', () => {
  const rows: readonly [type: string, change: Partial<SizeRequest>, pods: number, by: readonly Limit[]][] = [
    ['m5.large', {}, 9, ['addresses']],
    ['m5.large', { mode: 'prefix' }, 110, ['maxPods']],
    ['m5.large', { mode: 'prefix', maxPods: 250 }, 144, ['addresses']],
    ['m5.large', { maxPods: 9 }, 9, ['addresses', 'maxPods']],
    ['m5.large', { cpu: 0.5 }, 4, ['cpu']],
    // 0.1 + 0.2 is not 0.3 in binary: ten times 0.1 must still fit into 1.
    ['m5.large', { mode: 'prefix', cpu: 0.1 }, 20, ['cpu']],
    // 8192 MiB, less 2048 for Windows, less 500 of the eviction threshold.
    ['m5.large', { memoryMiB: 1024 }, 5, ['memory']],
    ['m5.large', { memoryMiB: 1024, reservedMiB: 0 }, 7, ['memory']],
    ['m5.large', { memoryMiB: 5644 }, 1, ['memory']],
    ['m5.large', { memoryMiB: 5645 }, 0, ['memory']],
    ['m5.large', { cpu: 2, memoryMiB: 5644 }, 1, ['cpu', 'memory']],
    ['t3.medium', { reservedMiB: 4096, memoryMiB: 1 }, 0, ['memory']],
    ['m8i.24xlarge', { mode: 'prefix', maxPods: 250 }, 250, ['maxPods']],
  ];
  for (const [name, change, pods, by] of rows)
    it(`are ${pods} on ${name} with ${JSON.stringify(change)}, limited by ${by.join(' and ')}`, () => {
      const { podsPerNode: found, limitedBy } = sizeWith(typeNamed(name), change);
      assert.deepEqual([found, limitedBy], [pods, by]);
    });

  it('are those of secondary addresses on types that are not based on Nitro, also with prefix delegation', () => {
    const { podsPerNode: pods, mode } = sizeWith({ ...typeNamed('m5.large'), isNitro: false }, { mode: 'prefix' });
    assert.deepEqual([pods, mode], [9, 'secondary']);
  });
});

describe('the nodes of a pool', () => {
  it('are as many as the pods need, or as given', () => {
    const numbers = (change: Partial<SizeRequest>) => {
      const { nodes, pods, addresses } = sizeWith(typeNamed('m5.large'), change);
      return [nodes, pods, addresses];
    };
    assert.deepEqual(numbers({}), [1, 9, 10]);
    assert.deepEqual(numbers({ pods: 9 }), [1, 9, 10]);
    assert.deepEqual(numbers({ pods: 10 }), [2, 10, 20]);
    assert.deepEqual(numbers({ nodes: 3 }), [3, 27, 30]);
    assert.deepEqual(numbers({ nodes: 3, pods: 40 }), [3, 27, 30]);
    assert.deepEqual(numbers({ pods: 40, memoryMiB: 9000 }), [null, 0, null]);
  });

  it('need subnets, which lack the addresses that AWS reserves', () => {
    assert.deepEqual([28, 24, 16].map(usableAddresses), [11, 251, 65_531]);
    const subnet = (change: Partial<SizeRequest>) => sizeWith(typeNamed('m5.large'), change).subnet;
    assert.deepEqual(subnet({ pods: 500, subnetPrefix: 24 }), {
      prefix: '/24',
      usableAddresses: 251,
      nodesAtStart: 62,
      nodesWithPods: 25,
      subnets: 3,
    });
    assert.equal(subnet({}), undefined);
  });

  const blocks: readonly [prefix: number, pods: number, nodes: number][] = [
    // 11 usable addresses, and no whole block.
    [28, 0, 0],
    [27, 0, 0],
    // Four blocks, of which the first and the last have reserved addresses.
    [26, 0, 2],
    [24, 15, 14],
    [24, 16, 7],
    [24, 110, 2],
  ];
  for (const [prefix, pods, nodes] of blocks)
    it(`are at most ${nodes} with ${pods} pods in a /${prefix} with prefix delegation`, () =>
      assert.equal(nodesInSubnet(prefix, pods, defaultMode('prefix'), typeNamed('m5.large')), nodes));
});

describe('the root volume', () => {
  const rows: readonly [imagesGiB: number, sizeGiB: number][] = [
    [0, 100],
    [35, 100],
    [36, 102],
    [120, 200],
  ];
  for (const [images, size] of rows)
    it(`has ${size} GiB for ${images} GiB of images`, () => assert.equal(rootVolumeFor(images), size));
});

it('the replacement of nodes takes as long as all phases, for each node', () => {
  assert.deepEqual(
    [replacementMinutes(1), replacementMinutes(10)],
    [
      { from: 4, to: 23 },
      { from: 40, to: 230 },
    ],
  );
});

describe('a size', () => {
  const anyType = fc.record({
    name: fc.constant('any'),
    architectures: fc.constant(['x86_64']),
    isNitro: fc.boolean(),
    addressesPerInterface: fc.integer({ min: 2, max: 64 }),
    vCpus: fc.integer({ min: 1, max: 192 }),
    memoryMiB: fc.integer({ min: 1024, max: 1_000_000 }),
  });
  const anyRequest = fc.record(
    {
      mode: fc.constantFrom(...KINDS),
      nodes: fc.integer({ min: 1, max: 500 }),
      pods: fc.integer({ min: 1, max: 5_000 }),
      cpu: fc.integer({ min: 1, max: 8_000 }).map((milli) => milli / 1000),
      memoryMiB: fc.integer({ min: 1, max: 20_000 }),
      reservedMiB: fc.integer({ min: 0, max: 8_000 }),
      maxPods: fc.integer({ min: 1, max: 250 }),
      subnetPrefix: fc.integer({ min: 16, max: 28 }),
    },
    { requiredKeys: ['mode', 'reservedMiB', 'maxPods'] },
  );

  it('never has more pods than addresses, CPU, memory or maxPods allow', () => {
    fc.assert(
      fc.property(anyType, anyRequest, (type, request) => {
        const { podsPerNode: pods, limits, pods: all, nodes } = sizeWith(type, request);
        assert.ok(pods <= (podsPerNode(defaultMode(request.mode), type) ?? 0));
        assert.ok(Object.values(limits).every((limit) => limit >= pods));
        assert.ok(pods * (request.cpu ?? 0) <= type.vCpus + 1e-6);
        assert.ok(pods * (request.memoryMiB ?? 0) <= Math.max(0, type.memoryMiB - request.reservedMiB - 500));
        assert.ok(all <= (nodes ?? 0) * pods);
      }),
    );
  });

  it('never uses more addresses than its subnets have', () => {
    fc.assert(
      fc.property(anyType, anyRequest, (type, request) => {
        const { subnet, addressesPerNode, nodes, addresses, podsPerNode: pods } = sizeWith(type, request);
        const { atStart, withPods, whenFull } = addressesPerNode;
        assert.ok(atStart <= withPods && withPods <= whenFull && withPods > pods);
        if (!subnet) return;
        assert.ok(subnet.nodesWithPods * withPods <= subnet.usableAddresses);
        assert.ok(subnet.nodesWithPods <= subnet.nodesAtStart);
        if (subnet.subnets !== null) {
          assert.ok(subnet.subnets * subnet.nodesWithPods >= (nodes ?? 0));
          assert.ok(subnet.subnets * subnet.usableAddresses >= (addresses ?? 0));
        }
      }),
    );
  });

  it('has room for all pods unless the number of nodes is given, or no pod fits', () => {
    fc.assert(
      fc.property(anyType, anyRequest, fc.integer({ min: 1, max: 5_000 }), (type, { nodes: _, ...request }, pods) => {
        const found = sizeWith(type, { ...request, pods });
        assert.equal(found.pods, found.podsPerNode === 0 ? 0 : pods);
      }),
    );
  });
});

describe('the checks of a pool agree with the size', () => {
  const SUBNET = { id: 'subnet-0a000000', zone: 'eu-west-1a', tags: {} };
  for (const kind of KINDS)
    it(`of every known instance type in ${kind} mode: its addresses, and that it runs Windows`, () => {
      for (const type of INSTANCE_TYPES) {
        const { addressesPerNode } = sizeWith(type, { mode: kind });
        const NODES = 3;
        const answerWith = (free: number) => evaluated(type, kind, NODES, free);
        assert.equal(answerWith(NODES * addressesPerNode.atStart)?.status, 'Met', type.name);
        const answer = answerWith(NODES * addressesPerNode.atStart - 1);
        assert.equal(answer?.status, 'NotMet', type.name);
        const numbers = `at least ${NODES * addressesPerNode.atStart} (${NODES * addressesPerNode.whenFull} when full of pods)`;
        assert.ok(answer.message.includes(numbers), `${type.name}: ${numbers} not in ${answer.message}`);
        assert.equal(instanceTypesCheck.evaluate(inputOf(type, kind, NODES, 1))?.status, 'Met', type.name);
      }
    });

  function inputOf({ name, ...type }: SizedType, kind: (typeof KINDS)[number], minSize: number, freeAddresses: number) {
    const data = { 'enable-windows-ipam': 'true', 'enable-windows-prefix-delegation': `${kind === 'prefix'}` };
    const facts = sampleFacts({
      cniConfig: known(data),
      instanceTypes: known([{ name, ...type }]),
      subnets: known([{ ...SUBNET, freeAddresses }]),
    });
    const scaling = { minSize, maxSize: minSize };
    const subnets = [{ id: SUBNET.id }];
    return sampleInput({ spec: samplePool({ nodeGroup: { instanceTypes: [name], scaling, subnets } }).spec, facts });
  }

  function evaluated(...args: Parameters<typeof inputOf>) {
    return freeAddresses.evaluate(inputOf(...args));
  }

  it('of every root volume: the recommended size has no advice, and the least one of the images has', () => {
    const answerFor = (sizeGiB: number) =>
      volumeSize.evaluate(sampleInput({ spec: samplePool({ nodeGroup: { disk: { sizeGiB } } }).spec }))?.status;
    assert.equal(answerFor(ENOUGH_GIB - 1), 'NotMet');
    for (const images of [0, 20, 40, 400]) assert.equal(answerFor(rootVolumeFor(images)), 'Met');
  });

  it('about every instance type that the local AWS also has', () => {
    const both = INSTANCE_TYPES.flatMap((type) => {
      const local = localInstanceType(type.name as Parameters<typeof localInstanceType>[0]);
      return local ? [[type, local] as const] : [];
    });
    assert.ok(both.length > 10);
    for (const [type, local] of both)
      assert.deepEqual(
        [type.vCpus, type.memoryMiB, type.addressesPerInterface],
        [local.VCpuInfo.DefaultVCpus, local.MemoryInfo.SizeInMiB, local.NetworkInfo.Ipv4AddressesPerInterface],
        type.name,
      );
  });

  it('about the defaults and limits of the CRD', () => {
    const at = (...path: readonly string[]) =>
      path.reduce<Schema | undefined>((schema, name) => schema?.properties?.[name], specSchema);
    assert.equal(at('nodeGroup', 'kubelet', 'maxPods')?.maximum, MOST_PODS);
    assert.equal(at('disruption', 'drain', 'timeout')?.default, `${DRAIN_TIMEOUT_MINUTES}m`);
    const size = at('nodeGroup', 'disk', 'sizeGiB');
    assert.deepEqual([size?.minimum, size?.default, size?.maximum], [DEFAULT_DISK_GIB, DEFAULT_DISK_GIB, LARGEST_GIB]);
  });
});

it('every instance type is known once, has addresses for pods, and runs Windows', () => {
  assert.equal(new Set(INSTANCE_TYPES.map(({ name }) => name)).size, INSTANCE_TYPES.length);
  for (const { name, addressesPerInterface, architectures } of INSTANCE_TYPES) {
    assert.ok(addressesPerInterface > 1, name);
    assert.deepEqual(architectures, ['x86_64'], name);
  }
});
