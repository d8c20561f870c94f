/** The part of status that only pools of machines have. Pure. */
import type { MachinesState as Reported } from '../../api/api.gen.ts';
import { instancesOf, withoutNode } from './instances.ts';
import { liveMachines, type MachinesDerived } from './machinesState.ts';
import { failedTemplateOf } from './templateFailures.ts';

/** The number of Machines by state; undefined while they are not known. */
export function machineCounts(s: MachinesDerived): Reported | undefined {
  if (s.machines.kind !== 'seen') return undefined;
  const instances = instancesOf(s);
  const { replicas } = s.machines.set;
  if (instances)
    return {
      replicas,
      total: instances.providerIDs.length,
      withoutNode: withoutNode(instances),
      deleting: 0,
      outdated: 0,
    };
  const live = liveMachines(s);
  const { infrastructureTemplate } = s.machines.set;
  const failedTemplate = failedTemplateOf(s);
  return {
    replicas,
    total: live.length,
    withoutNode: live.filter(({ node }) => node === '').length,
    deleting: s.machines.machines.length - live.length,
    outdated: s.due.rollout?.outdated ?? 0,
    ...(infrastructureTemplate && { infrastructureTemplate }),
    ...(failedTemplate && { failedTemplate }),
  };
}
