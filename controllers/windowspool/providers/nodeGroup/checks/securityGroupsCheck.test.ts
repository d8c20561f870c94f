import { known } from '../../../testing/answers.ts';
import { checkTable } from '../../../testing/checkTable.ts';
import { launchSettingsPool } from '../../../testing/launchSettingsScenes.ts';
import { sampleFacts, sampleInput, sampleSecurityGroup } from '../../../testing/prerequisites.ts';
import type { OwnTemplateView } from '../model/checkFacts.ts';

const testChecks = checkTable('checks/securityGroupsCheck');

/** The input for a pool that sets launch settings, with two security groups. */
const ownInput = (ownTemplate?: OwnTemplateView, change: Parameters<typeof sampleFacts>[0] = {}) =>
  sampleInput({
    spec: launchSettingsPool({ securityGroups: [{ id: 'sg-0a000000' }, { tags: { tier: 'windows' } }] }).spec,
    facts: sampleFacts(change),
    ownTemplate,
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
