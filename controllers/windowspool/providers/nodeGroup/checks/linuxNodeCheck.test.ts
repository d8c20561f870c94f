import { known } from '../../../testing/answers.ts';
import { checkTable } from '../../../testing/checkTable.ts';
import { sampleFacts, sampleInput } from '../../../testing/prerequisites.ts';

const testChecks = checkTable('checks/linuxNodeCheck');

describe('the checks of Linux nodes', () => {
  testChecks([
    [
      'a cluster without a Linux node that accepts pods',
      sampleInput({ facts: sampleFacts({ linuxNode: known({ acceptsPods: false }) }) }),
      [['NoLinuxNode', 'Linux node group']],
    ],
    [
      'a cluster whose only Linux node is cordoned',
      sampleInput({ facts: sampleFacts({ linuxNode: known({ acceptsPods: false, cordoned: 'linux-1' }) }) }),
      [['NoLinuxNode', 'Linux node group', 'kubectl uncordon linux-1']],
    ],
  ]);
});
