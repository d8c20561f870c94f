/** Steps that change Machines and their number. */

import type { InfrastructureTemplate } from '../../../api/api.gen.ts';
import type { Outcome } from '../../../model/outcome.ts';
import type { Machine, MachineSet } from '../../../ports/machines.ts';
import type { NodeCondition } from '../../../ports/nodes.ts';
import type { MachineSetManifests } from '../../../ports/ownMachineSets.ts';
import { machinesIn } from '../../../rules/nodeSource.ts';
import { changed, type StepKinds, unobserved, when } from '../../../steps/stepKind.ts';
import { count } from '../../../util/words.ts';
import { deleteMachine, deleteWithoutNode, type MachineDeletion } from '../deleteMachine.ts';
import { deleteMachineSet } from '../deleteMachineSet.ts';
import type { MachinesState } from '../machinesState.ts';

declare module '../../../model/steps.ts' {
  interface Steps {
    /** Creates the pool's object from machines.template, or applies a change of the template. */
    applyMachineSet: { seen: MachineSet | undefined; manifests: MachineSetManifests };
    /** Deletes infrastructure templates that the pool's object no longer needs. */
    pruneMachineTemplates: { used: string; template: InfrastructureTemplate };
    /** Deletes the object of a deleted pool and, once it is gone, its infrastructure templates. */
    deleteMachineSet: object;
    /** Sets the number of Machines of the pool's object. */
    scaleMachines: { set: MachineSet; replicas: number };
    /** Writes the result of the verification of a node to its Machine. */
    reportMachine: { machine: Machine; condition: NodeCondition };
    /** Removes the marks of a removal that was given up. */
    unmarkMachine: { machine: Machine };
    /** Deletes an outdated Machine that does not become a node. */
    deleteOutdatedMachine: { machine: Machine };
    /** Deletes the Machine of a drained node after a last check of all conditions. */
    deleteMachine: MachineDeletion & {
      /** How many pods terminate with a node that is not drained. */
      withPods?: number;
    };
  }
}

export const machineSteps: StepKinds<
  | 'applyMachineSet'
  | 'pruneMachineTemplates'
  | 'deleteMachineSet'
  | 'scaleMachines'
  | 'reportMachine'
  | 'unmarkMachine'
  | 'deleteOutdatedMachine'
  | 'deleteMachine'
> = {
  applyMachineSet: {
    subject: () => 'machineSet',
    describe: ({ seen, manifests: { object } }) =>
      `${seen ? 'apply machines.template to' : 'create'} ${object.kind} ${object.metadata.namespace}/${object.metadata.name}`,
    reason: 'MachineSetApplied',
    needsFreshRead: true,
    appliesSpec: true,
    run: unobserved(({ seen, manifests }, { ownMachineSets }, signal, { pool }) =>
      ownMachineSets.apply(machinesIn(pool.spec).ref, manifests, seen === undefined, signal),
    ),
  },
  pruneMachineTemplates: {
    subject: () => 'machineSet',
    describe: ({ template: { kind } }) => `delete each ${kind} that the pool no longer needs`,
    run: async ({ used, template }, outcome, { ownMachineSets }, signal) => {
      const { metadata, spec } = outcome.after.pool;
      const pruned = await ownMachineSets.pruneTemplates(machinesIn(spec).ref, template, metadata.name, signal);
      return when(pruned, () => changed(outcome as Outcome<MachinesState>, { usedTemplate: used }));
    },
  },
  deleteMachineSet: {
    subject: () => 'machineSet',
    describe: () => 'delete the object of machines.template, with its Machines',
    onlyStarts: true,
    run: (_step, outcome, writers, signal) => deleteMachineSet(outcome as Outcome<MachinesState>, writers, signal),
  },
  scaleMachines: {
    subject: () => 'machines',
    describe: ({ set, replicas }) => `scale ${set.name} from ${set.replicas} to ${count(replicas, 'Machine')}`,
    onlyStarts: true,
    reason: 'MachinesScaled',
    needsFreshRead: true,
    appliesSpec: true,
    run: unobserved(({ set, replicas }, { machineSets }, signal, { pool }) =>
      machineSets.scale(machinesIn(pool.spec).ref, set, replicas, signal),
    ),
  },
  reportMachine: {
    subject: ({ machine }) => `Machine ${machine.name}`,
    describe: ({ machine, condition }) =>
      `set condition winpool.dev/Verified of Machine ${machine.name} to ${condition.status}`,
    statusCanWait: true,
    run: unobserved(({ machine, condition }, { machineSets }, signal, { pool }) =>
      machineSets.report(machinesIn(pool.spec).ref, machine, condition, signal),
    ),
  },
  unmarkMachine: {
    subject: ({ machine }) => `Machine ${machine.name}`,
    describe: ({ machine }) => `remove the mark for deletion from Machine ${machine.name}`,
    run: unobserved(({ machine }, { machineSets }, signal, { pool }) =>
      machineSets.unmark(machinesIn(pool.spec).ref, machine, signal),
    ),
  },
  deleteOutdatedMachine: {
    subject: ({ machine }) => `Machine ${machine.name}`,
    describe: ({ machine }) => `delete Machine ${machine.name}, which is made from an earlier template and has no node`,
    onlyStarts: true,
    reason: 'MachineDeleted',
    run: unobserved(({ machine }, writers, signal, s) => deleteWithoutNode(machine, s, writers, signal)),
  },
  deleteMachine: {
    subject: ({ node }) => `node ${node.name}`,
    describe: ({ node, entry, withPods }) => {
      const shrinks = entry.operation === 'Remove' ? ', which lowers the number of Machines by one' : '';
      const pods = withPods === undefined ? '' : ` with its ${count(withPods, 'pod')}`;
      return `delete the Machine of node ${node.name}${pods}${shrinks}`;
    },
    describeMany: (nodes) => `delete the Machines of ${nodes}`,
    onlyStarts: true,
    reason: 'MachineDeleted',
    nodeReason: 'MachineDeleted',
    needsFreshRead: true,
    takesNodes: true,
    blocks: 'drain',
    run: unobserved((step, writers, signal, s) => deleteMachine(step, s, writers, signal)),
  },
};
