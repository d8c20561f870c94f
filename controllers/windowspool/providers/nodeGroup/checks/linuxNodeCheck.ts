import { LINUX_NODE, linuxNodeAnswer } from '../../../checks/linuxNode.ts';
import { given, type SystemCheck } from './nodeGroupCheck.ts';

/** Ensures that a Linux node accepts pods. */
export const linuxNode: SystemCheck = {
  ...LINUX_NODE,
  explains: ['NotReady'],
  needs: ['linuxNode'],
  evaluate: ({ facts }) =>
    given(facts, 'linuxNode', (view) =>
      linuxNodeAnswer(view, 'Add a Linux node group, or a Fargate profile for kube-system'),
    ),
};
