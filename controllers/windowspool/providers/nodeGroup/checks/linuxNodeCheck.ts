import { met, notMet, required } from '../../../checks/check.ts';
import { given, type SystemCheck } from './nodeGroupCheck.ts';

/** Ensures that a Linux node accepts pods: CoreDNS and the operator itself need one. */
export const linuxNode: SystemCheck = {
  ...required('NoLinuxNode', 'a-linux-node', 'a Linux node'),
  explains: ['NotReady'],
  needs: ['linuxNode'],
  evaluate: ({ facts }) =>
    given(facts, 'linuxNode', ({ acceptsPods, cordoned }) => {
      if (acceptsPods) return met;
      const found = 'No Linux node accepts pods, and CoreDNS runs only on Linux';
      if (cordoned === undefined)
        return notMet(`${found}. Add a Linux node group, or a Fargate profile for kube-system`);
      return notMet(found, `Add a Linux node group, or uncordon node ${cordoned}: kubectl uncordon ${cordoned}`);
    }),
};
