/** Steps that cordon, drain, terminate or keep single nodes. */

import { evictPods } from '../disruption/evictPods.ts';
import {
  instanceMismatch,
  terminateInstance,
  terminationOf,
  unregisteredTerminationOf,
} from '../disruption/terminateInstance.ts';
import { LEFT_ANSWER } from '../model/disruption.ts';
import type { NodeStep } from '../model/steps.ts';
import { count } from '../util/words.ts';
import { type StepKinds, unobserved, when } from './stepKind.ts';

const subject = ({ node }: NodeStep) => `node ${node.name}`;

/** Why a requested operation was given up, by the value that its annotation gets. */
const ANSWERS: Readonly<Record<string, string>> = {
  'timed-out': 'the drain timed out',
  refused: 'the operation was refused',
  uncordoned: 'another client uncordoned it',
  [LEFT_ANSWER]: 'its instance left the node group for the warm pool',
};

export const disruptionSteps: StepKinds<
  | 'cordonNode'
  | 'evictPods'
  | 'terminateInstance'
  | 'terminateUnregistered'
  | 'uncordonNode'
  | 'reportDrained'
  | 'giveUpNode'
> = {
  cordonNode: {
    subject,
    describe: ({ node }) => `cordon node ${node.name}`,
    describeMany: (nodes) => `cordon ${nodes}`,
    nodeReason: 'NodeCordoned',
    takesNodes: true,
    blocks: 'drain',
    run: unobserved(async ({ node, check }, { nodes, instances }, signal) => {
      const mismatch = check && (await instanceMismatch({ name: node.name, ...check }, instances, signal));
      return mismatch && !mismatch.ok ? mismatch : nodes.cordon(node, signal);
    }),
  },
  evictPods: {
    subject,
    describe: ({ node, evictions }) => `evict ${count(evictions.length, 'pod')} from node ${node.name}`,
    describeMany: (nodes) => `evict pods from ${nodes}`,
    takesNodes: true,
    blocks: 'drain',
    run: async (step, outcome, { drains }, signal) =>
      when(await evictPods(step, drains, signal), (pass) => ({ ...outcome, ...pass })),
  },
  terminateInstance: {
    subject,
    describe: ({ node, entry, withPods }) => {
      const shrinks = entry.operation === 'Remove' ? ', which shrinks the node group by one' : '';
      const pods = withPods === undefined ? '' : ` with its ${count(withPods, 'pod')}`;
      return `terminate instance ${entry.instanceID} of node ${node.name}${pods}${shrinks}`;
    },
    describeMany: (nodes) => `terminate the instances of ${nodes}`,
    onlyStarts: true,
    reason: 'InstanceTerminated',
    nodeReason: 'InstanceTerminated',
    writesAws: true,
    takesNodes: true,
    run: unobserved((step, writers, signal, s) => terminateInstance(terminationOf(step, s), writers, signal)),
  },
  terminateUnregistered: {
    subject: ({ entry }) => `instance ${entry.instanceID}`,
    describe: ({ entry }) => `terminate instance ${entry.instanceID}, which did not join`,
    onlyStarts: true,
    reason: 'InstanceTerminated',
    writesAws: true,
    takesNodes: true,
    run: unobserved((step, writers, signal, s) =>
      terminateInstance(unregisteredTerminationOf(step, s), writers, signal),
    ),
  },
  uncordonNode: {
    subject,
    describe: ({ node, answer }) =>
      [
        `${answer?.value === LEFT_ANSWER ? 'release' : 'keep'} node ${node.name}`,
        answer && (ANSWERS[answer.value] ?? answer.value),
        answer?.why,
      ]
        .filter((part) => part !== undefined)
        .join(': '),
    describeMany: (nodes) => `keep ${nodes}`,
    reason: 'NodeDisruptionCanceled',
    nodeReason: 'NodeDisruptionCanceled',
    // The operation was given up although the annotation still requests it.
    isWarning: ({ answer }) => answer !== undefined && answer.value !== LEFT_ANSWER,
    blocks: 'drain',
    describeLeftover: (nodes) => `has ${count(nodes, 'node')} with the annotation winpool.dev/cordoned`,
    run: unobserved(({ node, answer }, { nodes }, signal) => nodes.restore(node, answer, signal)),
  },
  giveUpNode: {
    subject,
    describe: ({ node, why }) => `keep node ${node.name} cordoned until the next attempt: ${why}`,
    describeMany: (nodes) => `keep ${nodes} cordoned until the next attempt`,
    // No `reason`: the pool's event comes from the condition UpToDate.
    nodeReason: 'DrainBlocked',
    isWarning: () => true,
    run: (_step, outcome) => outcome,
  },
  reportDrained: {
    subject,
    describe: ({ text }) => text,
    describeMany: (nodes) => `${nodes} are drained. Terminate them with their provisioner`,
    reason: 'NodeDrained',
    nodeReason: 'NodeDrained',
    run: (_step, outcome) => outcome,
  },
};
