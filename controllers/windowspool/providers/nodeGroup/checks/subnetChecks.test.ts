import { adviceTable, planned, running } from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';
import { checkTable } from '../../../testing/checkTable.ts';
import { ONE_ZONE, sampleFacts, sampleInput } from '../../../testing/prerequisites.ts';

const testChecks = checkTable('checks/subnetChecks');

describe('the checks of the subnets', () => {
  testChecks([
    [
      'a subnet that does not exist',
      sampleInput({
        facts: sampleFacts({
          subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 251, tags: {} }]),
        }),
      }),
      [['SubnetNotFound', 'subnet-0b000000', 'eu-west-1', 'nodeGroup.subnets']],
    ],
  ]);
});

const testAdvice = adviceTable('checks/subnetZones');

const [first, second] = ONE_ZONE;

describe('advice about zones', () => {
  testAdvice([
    ['subnets in two zones', planned(), []],
    [
      'two subnets in one zone',
      planned({ subnetZones: known(ONE_ZONE) }),
      [['SubnetsInOneZone', 'subnet-0a000000', 'subnet-0b000000', 'eu-west-1a', 'nodeGroup.subnets']],
    ],
    [
      'one subnet of a group that exists, although the tags match others now',
      running(
        { subnetZones: known([first, { ...second, zone: 'eu-west-1b' }] as never) },
        { nodeGroup: { subnets: [{ id: 'subnet-0a000000' }] } },
      ),
      [['SubnetsInOneZone', 'subnet-0a000000', 'eu-west-1a', 'nodeGroup.immutableChangePolicy: Replace']],
    ],
    ['subnets that do not exist', planned({ subnetZones: known([]) }), []],
    [
      'one of two subnets that does not exist: its zone is not known',
      planned({ subnetZones: known([first] as never) }),
      [],
    ],
  ]);
});
