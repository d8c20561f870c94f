/** The check that the cluster has a Linux node. Pure. */
import type { LinuxNodeView } from '../ports/prerequisites.ts';
import { type Answer, met, notMet, required } from './check.ts';

/** Its name in messages, status and metrics. */
export const LINUX_NODE = required('NoLinuxNode', 'a-linux-node', 'a Linux node');

/** The question by which its fact is shared between pools. */
export const LINUX_NODE_QUESTION = 'Linux node';

/** Whether a Linux node accepts pods: CoreDNS and the operator itself need one. `remedy`: how to get one, without a full stop. */
export function linuxNodeAnswer({ acceptsPods, cordoned }: LinuxNodeView, remedy: string): Answer {
  if (acceptsPods) return met;
  const found = 'No Linux node accepts pods, and CoreDNS runs only on Linux';
  if (cordoned === undefined) return notMet(`${found}. ${remedy}`);
  const [first = ''] = remedy.split(', ');
  return notMet(found, `${first}, or uncordon node ${cordoned}: kubectl uncordon ${cordoned}`);
}
