/** Steps that cordon, drain, terminate or keep single nodes. */

import { evictPods } from '../disruption/evictPods.ts';
import { terminateInstance, terminationOf, unregisteredTerminationOf } from '../disruption/terminateInstance.ts';
import type { NodeStep } from '../model/steps.ts';
import { count } from '../util/words.ts';
import { type StepKinds, unobserved, when } from './stepKind.ts';

const subject = ({ node }: NodeStep) => `node ${node.name}`;

export const disruptionSteps: StepKinds<
  'cordonNode' | 'evictPods' | 'terminateInstance' | 'terminateUnregistered' | 'uncordonNode' | 'reportDrained'
> = {
  cordonNode: {
    subject,
    describe: ({ node }) => `cordon node ${node.name}`,
    describeMany: (nodes) => `cordon ${nodes}`,
    nodeReason: 'NodeCordoned',
    takesNodes: true,
    run: unobserved(({ node }, { nodes }, signal) => nodes.cordon(node, signal)),
  },
  evictPods: {
    subject,
    describe: ({ node, evictions }) => `evict ${count(evictions.length, 'pod')} from node ${node.name}`,
    describeMany: (nodes) => `evict pods from ${nodes}`,
    takesNodes: true,
    run: async (step, soFar, { drains }, signal) =>
      when(await evictPods(step, drains, signal), (pass) => ({ ...soFar, ...pass })),
  },
  terminateInstance: {
    subject,
    describe: ({ node, entry, withPods }) => {
      const shrinks = entry.operation === 'Remove' ? ', and make the node group smaller by it' : '';
      const pods = withPods === undefined ? '' : ` with its ${count(withPods, 'pod')}`;
      return `end instance ${entry.instance} of node ${node.name}${pods}${shrinks}`;
    },
    describeMany: (nodes) => `end the instances of ${nodes}`,
    reason: 'InstanceEnded',
    nodeReason: 'InstanceEnded',
    writesAws: true,
    takesNodes: true,
    run: unobserved((step, writers, signal, s) => terminateInstance(terminationOf(step, s), writers, signal)),
  },
  terminateUnregistered: {
    subject: ({ entry }) => `instance ${entry.instance}`,
    describe: ({ entry }) => `end instance ${entry.instance}, which is no node`,
    reason: 'InstanceEnded',
    writesAws: true,
    takesNodes: true,
    run: unobserved((step, writers, signal) => terminateInstance(unregisteredTerminationOf(step), writers, signal)),
  },
  uncordonNode: {
    subject,
    describe: ({ node, answer }) =>
      [`let node ${node.name} stay`, answer?.value, answer?.why].filter(Boolean).join(': '),
    describeMany: (nodes) => `let ${nodes} stay`,
    reason: 'NodeStays',
    nodeReason: 'NodeStays',
    describeLeftover: (nodes) => `has ${count(nodes, 'node')} left with the annotation winpool.dev/cordoned`,
    run: unobserved(({ node, answer }, { nodes }, signal) => nodes.restore(node, answer, signal)),
  },
  reportDrained: {
    subject,
    describe: ({ text }) => text,
    describeMany: (nodes) => `${nodes} are drained: end them with what made them`,
    reason: 'NodeDrained',
    nodeReason: 'NodeDrained',
    run: (_step, soFar) => soFar,
  },
};
