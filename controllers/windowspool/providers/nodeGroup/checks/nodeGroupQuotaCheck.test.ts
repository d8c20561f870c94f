import { known } from '../../../testing/answers.ts';
import { checkTable } from '../../../testing/checkTable.ts';
import { sampleFacts, sampleInput } from '../../../testing/prerequisites.ts';

const testChecks = checkTable('checks/nodeGroupQuotaCheck');

describe('the checks of the number of node groups', () => {
  testChecks([
    [
      'room for a second node group',
      sampleInput({ facts: sampleFacts({ nodeGroups: known(Array.from({ length: 29 }, String)) }) }),
      [],
    ],
    [
      'as many node groups as EKS allows by default',
      sampleInput({ facts: sampleFacts({ nodeGroups: known(Array.from({ length: 30 }, String)) }) }),
      [['NodeGroupQuotaReached', 'prod', '30 node', 'NodeGroupQuotaReached', 'winpool.dev/ignore-prerequisites']],
    ],
  ]);
});
