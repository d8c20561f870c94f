import { known } from '../../../testing/answers.ts';
import { checkTable } from '../../../testing/checkTable.ts';
import { samplePool } from '../../../testing/fixtures.ts';
import { sampleFacts, sampleInput } from '../../../testing/prerequisites.ts';

const testChecks = checkTable('checks/instanceTypeChecks');

const types = (...instanceTypes: string[]) => samplePool({ nodeGroup: { instanceTypes } }).spec;

const x86 = (name: string, addressesPerInterface = 10) => ({ name, architectures: ['x86_64'], addressesPerInterface });

describe('the checks of the instance types', () => {
  testChecks([
    [
      'types that do not exist, have another architecture, or have no addresses for pods',
      sampleInput({
        spec: types('m5.small', 'm6g.large', 'one.address'),
        facts: sampleFacts({
          instanceTypes: known([
            { name: 'm6g.large', architectures: ['arm64'], addressesPerInterface: 10 },
            x86('one.address', 1),
          ]),
          offerings: known([
            { instanceType: 'm6g.large', zone: 'eu-west-1a' },
            { instanceType: 'one.address', zone: 'eu-west-1b' },
          ]),
        }),
      }),
      [['InstanceTypeUnsupported', 'm5.small', 'eu-west-1', 'm6g.large', 'arm64', 'x86_64', 'one.address']],
    ],
    [
      'types that are offered in none of the zones',
      sampleInput({ facts: sampleFacts({ offerings: known([{ instanceType: 'm5.large', zone: 'eu-west-1c' }]) }) }),
      [['InstanceTypeNotOffered', 'm5.large', 'eu-west-1a', 'eu-west-1b']],
    ],
    [
      'types that are not offered in one of the zones',
      sampleInput({ facts: sampleFacts({ offerings: known([{ instanceType: 'm5.large', zone: 'eu-west-1a' }]) }) }),
      [['InstanceTypeNotOffered', 'm5.large', 'eu-west-1b', 'subnet-0b000000']],
    ],
    [
      'types of which each zone offers another',
      sampleInput({
        spec: types('m5.large', 'm5.xlarge'),
        facts: sampleFacts({
          instanceTypes: known([x86('m5.large'), x86('m5.xlarge', 15)]),
          offerings: known([
            { instanceType: 'm5.large', zone: 'eu-west-1a' },
            { instanceType: 'm5.xlarge', zone: 'eu-west-1b' },
          ]),
        }),
      }),
      [],
    ],
  ]);
});
