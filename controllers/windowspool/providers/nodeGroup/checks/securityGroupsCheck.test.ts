import { known } from '../../../testing/answers.ts';
import { checkTable } from '../../../testing/checkTable.ts';
import { machinePool } from '../../../testing/machineScenes.ts';
import { sampleFacts, sampleInput, sampleSecurityGroup } from '../../../testing/prerequisites.ts';
import type { MachineTemplateView } from '../model/checkFacts.ts';

const testChecks = checkTable('checks/securityGroupsCheck');

/** The input for a pool that sets its machine, with two security groups. */
const ownInput = (machineTemplate?: MachineTemplateView, change: Parameters<typeof sampleFacts>[0] = {}) =>
  sampleInput({
    spec: machinePool({ securityGroups: [{ id: 'sg-0a000000' }, { tags: { tier: 'windows' } }] }).spec,
    facts: sampleFacts(change),
    machineTemplate,
  });

describe('the checks of security groups', () => {
  testChecks([
    [
      'security groups that exist',
      ownInput(undefined, { securityGroups: known([sampleSecurityGroup({ tags: { tier: 'windows', a: 'b' } })]) }),
      [],
    ],
    [
      'security groups that do not exist',
      ownInput(undefined, {
        securityGroups: known([sampleSecurityGroup({ id: 'sg-0b000000', tags: { tier: 'linux' } })]),
      }),
      [['SecurityGroupNotFound', 'vpc-0a1b2c3d', 'sg-0a000000', 'tier=windows', 'nodeGroup.securityGroups']],
    ],
  ]);
});
