import { known } from '../../../testing/answers.ts';
import { checkTable } from '../../../testing/checkTable.ts';
import { samplePool } from '../../../testing/fixtures.ts';
import { sampleFacts, sampleInput, unasked } from '../../../testing/prerequisites.ts';

const testChecks = checkTable('checks/freeAddressesCheck');

const types = (...instanceTypes: string[]) => samplePool({ nodeGroup: { instanceTypes } }).spec;

const x86 = (name: string, addressesPerInterface = 10) => ({ name, architectures: ['x86_64'], addressesPerInterface });

describe('the checks of free addresses', () => {
  testChecks([
    [
      'too few addresses for five nodes with four addresses each',
      sampleInput({
        facts: sampleFacts({
          subnets: known([
            { id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 18, tags: {} },
            { id: 'subnet-0b000000', zone: 'eu-west-1b', freeAddresses: 1, tags: {} },
          ]),
        }),
      }),
      [['TooFewAddresses (warning)', 'subnet-0a000000', 'subnet-0b000000', 'nodeGroup.scaling.maxSize: 5']],
    ],
    ...(
      [
        // Of each node, 4 addresses, of which a warm instance already has one.
        ['that have none yet', { minSize: 2 }, 0, 21, 'at least 22', '2 instances'],
        ['that exist', { minSize: 2 }, 3, 18, 'at least 19', '2 instances'],
        ['that become the nodes', { minSize: 0 }, 5, 14, 'at least 15'],
        ['beyond maxSize', { minSize: 0, maxGroupPreparedCapacity: 8 }, 5, 17, 'at least 18', '3 instances'],
      ] as const
    ).map(
      ([what, sizes, warmInstances, freeAddresses, ...need]) =>
        [
          `too few addresses for a warm pool and its instances ${what}`,
          sampleInput({
            spec: samplePool({
              nodeGroup: {
                subnets: [{ id: 'subnet-0a000000' }],
                scaling: { minSize: 0, maxSize: 5 },
                warmPool: { poolState: 'Stopped', reuseOnScaleIn: false, ...sizes },
              },
            }).spec,
            warmInstances,
            facts: sampleFacts({
              subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses, tags: {} }]),
            }),
          }),
          [['TooFewAddresses (warning)', 'subnet-0a000000', 'nodeGroup.scaling.maxSize: 5', '5 more nodes', ...need]],
        ] as const,
    ),
    ...(
      [
        ['minSize', { minSize: 3, maxSize: 5 }, '3 more nodes', 'at least 12', '30', 'minSize from 3'],
        [
          'desiredSize',
          { minSize: 0, maxSize: 5, desiredSize: 4 },
          '4 more nodes',
          'at least 16',
          '40',
          'desiredSize from 4',
        ],
      ] as const
    ).map(
      ([what, scaling, ...need]) =>
        [
          `too few addresses for ${what}`,
          sampleInput({
            spec: samplePool({ nodeGroup: { scaling } }).spec,
            facts: sampleFacts({
              subnets: known([
                { id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 10, tags: {} },
                { id: 'subnet-0b000000', zone: 'eu-west-1b', freeAddresses: 1, tags: {} },
              ]),
            }),
          }),
          [['TooFewAddresses', 'subnet-0a000000', 'subnet-0b000000', '11 free IP addresses', ...need]],
        ] as const,
    ),
    [
      'too few addresses for as many nodes as the node group has that is replaced',
      sampleInput({
        sizeToReplace: 4,
        spec: samplePool({ nodeGroup: { subnets: [{ id: 'subnet-0a000000' }], scaling: { minSize: 1, maxSize: 5 } } })
          .spec,
        facts: sampleFacts({
          subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 10, tags: {} }]),
        }),
      }),
      [['TooFewAddresses', 'subnet-0a000000', '10 free IP addresses', '4 more']],
    ],
    [
      'no free address for a pool that starts without nodes',
      sampleInput({
        spec: samplePool({ nodeGroup: { subnets: [{ id: 'subnet-0a000000' }], scaling: { minSize: 0, maxSize: 1 } } })
          .spec,
        facts: sampleFacts({
          subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 0, tags: {} }]),
        }),
      }),
      [['TooFewAddresses (warning)', 'subnet-0a000000', 'nodeGroup.scaling.maxSize: 1']],
    ],
    [
      'no free address for a node group that exists',
      sampleInput({
        creating: false,
        spec: samplePool({ nodeGroup: { subnets: [{ id: 'subnet-0a000000' }], scaling: { minSize: 0, maxSize: 1 } } })
          .spec,
        facts: sampleFacts({
          subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 0, tags: {} }]),
        }),
      }),
      [['TooFewAddresses (warning)', 'subnet-0a000000', 'nodeGroup.scaling.maxSize: 1']],
    ],
    [
      'enough addresses, because some nodes exist',
      sampleInput({
        instances: 1,
        facts: sampleFacts({
          subnets: known([
            { id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 16, tags: {} },
            { id: 'subnet-0b000000', zone: 'eu-west-1b', freeAddresses: 0, tags: {} },
          ]),
        }),
      }),
      [],
    ],
    [
      'one free address with prefix delegation',
      sampleInput({
        spec: samplePool({ nodeGroup: { subnets: [{ id: 'subnet-0a000000' }] } }).spec,
        facts: sampleFacts({
          cniConfig: known({ 'enable-windows-ipam': 'true', 'enable-windows-prefix-delegation': 'true' }),
          instanceTypes: unasked(),
          subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 1, tags: {} }]),
        }),
      }),
      [
        ['TooFewAddresses', 'subnet-0a000000', '3 more', '/28', 'nodeGroup.scaling.minSize'],
        ['InstanceTypeUnsupported (unknown)', 'ec2:DescribeInstanceTypes'],
      ],
    ],
    [
      'prefix delegation that some instance types do not support, and an invalid target',
      sampleInput({
        spec: types('m5.large', 'm4.large'),
        facts: sampleFacts({
          cniConfig: known({
            'enable-windows-ipam': 'true',
            'enable-windows-prefix-delegation': 'true',
            'warm-prefix-target': 'two',
          }),
          instanceTypes: known([x86('m5.large'), { ...x86('m4.large'), isNitro: false }]),
          offerings: known(
            ['m5.large', 'm4.large'].flatMap((instanceType) =>
              ['eu-west-1a', 'eu-west-1b'].map((zone) => ({ instanceType, zone })),
            ),
          ),
          subnets: known([
            { id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 18, tags: {} },
            { id: 'subnet-0b000000', zone: 'eu-west-1b', freeAddresses: 1, tags: {} },
          ]),
        }),
      }),
      [
        [
          'TooFewAddresses (warning)',
          'subnet-0a000000',
          'subnet-0b000000',
          'nodeGroup.scaling.maxSize: 5',
          '725',
          '/28',
          'm4.large',
        ],
      ],
    ],
    [
      'another spelling of true',
      sampleInput({ facts: sampleFacts({ cniConfig: known({ 'enable-windows-ipam': 'True' }) }) }),
      [],
    ],
  ]);
});
