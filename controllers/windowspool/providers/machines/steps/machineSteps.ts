/** Steps that change Machines and their number. */

import type { Machine, MachineSet } from '../../../ports/machines.ts';
import type { NodeCondition } from '../../../ports/nodes.ts';
import { machinesIn } from '../../../rules/nodeSource.ts';
import { type StepKinds, unobserved } from '../../../steps/stepKind.ts';
import { count } from '../../../util/words.ts';
import { deleteMachine, deleteWithoutNode, type MachineDeletion } from '../deleteMachine.ts';

declare module '../../../model/steps.ts' {
  interface Steps {
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
  'scaleMachines' | 'reportMachine' | 'unmarkMachine' | 'deleteOutdatedMachine' | 'deleteMachine'
> = {
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
