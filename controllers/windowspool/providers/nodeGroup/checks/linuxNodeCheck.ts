import { met, notMet, required } from '../../../checks/check.ts';
import { given, type SystemCheck } from './nodeGroupCheck.ts';

/** Ensures that a Linux node accepts pods: CoreDNS and the operator itself need one. */
export const linuxNode: SystemCheck = {
  ...required('NoLinuxNode', 'a-linux-node', 'a Linux node'),
  explains: ['NotReady'],
  needs: ['linuxNode'],
  evaluate: ({ facts }) =>
    given(facts, 'linuxNode', (exists) =>
      exists
        ? met
        : notMet(
            'The cluster has no Linux node that accepts pods, and CoreDNS runs only on Linux. Add a Linux node group or a Fargate profile for kube-system, or uncordon a node (kubectl uncordon NODE)',
          ),
    ),
};
