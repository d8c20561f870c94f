/** Steps that write labels, taints, marks and the condition of one node. */

import type { NodeStep } from '../model/steps.ts';
import { WINDOWS_BUILD_LABEL } from '../nodes/windows.ts';
import type { NodeMarks } from '../ports/nodes.ts';
import { count } from '../util/words.ts';
import { describeTaints, setAndRemove } from './describeChange.ts';
import { type StepKinds, when } from './stepKind.ts';

const subject = ({ node }: NodeStep) => `node ${node.name}`;

export const nodeSteps: StepKinds<'labelNode' | 'markNode' | 'releaseNode' | 'taintNode' | 'setNodeCondition'> = {
  labelNode: {
    subject,
    describe: ({ node, build }) => `label node ${node.name} with ${WINDOWS_BUILD_LABEL}=${build}`,
    describeMany: (nodes) => `label ${nodes} with the build of their kernel`,
    reason: 'NodeLabelled',
    writesNode: true,
    run: async ({ node, build }, soFar, { nodes }, signal) =>
      when(await nodes.setLabel(node, WINDOWS_BUILD_LABEL, build, signal), () => soFar),
  },
  markNode: {
    subject,
    describe: ({ node, change }) => `give node ${node.name} what the pool says: ${describeMarks(change)}`,
    describeMany: (nodes) => `give ${nodes} the labels and taints of the pool`,
    reason: 'NodeClaimed',
    writesNode: true,
    run: async ({ node, change }, soFar, { nodes }, signal) =>
      when(await nodes.setMarks(node, change, signal), () => soFar),
  },
  releaseNode: {
    subject,
    describe: ({ node, change }) => `give node ${node.name} back what it had: ${describeMarks(change)}`,
    describeMany: (nodes) => `give ${nodes} back what they had`,
    reason: 'NodeReleased',
    writesNode: true,
    describeLeftover: (nodes) => `has ${count(nodes, 'node')} left with the annotation winpool.dev/claim`,
    run: async ({ node, change }, soFar, { nodes }, signal) =>
      when(await nodes.setMarks(node, change, signal), () => soFar),
  },
  taintNode: {
    subject,
    describe: ({ node, change }) => `correct the taints of node ${node.name}: ${describeTaints(change)}`,
    describeMany: (nodes) => `correct the taints of ${nodes}`,
    reason: 'NodeTainted',
    writesNode: true,
    describeLeftover: (nodes) => `has ${count(nodes, 'node')} left with taints of the operator`,
    run: async ({ node, change }, soFar, { nodes }, signal) =>
      when(await nodes.setTaints(node, change, signal), () => soFar),
  },
  setNodeCondition: {
    subject,
    describeMany: (nodes) => `tell ${nodes} what was found`,
    writesNode: true,
    describeLeftover: (nodes) => `has ${count(nodes, 'node')} left with the condition winpool.dev/Verified`,
    run: async ({ node, condition }, soFar, { nodes }, signal) =>
      when(await nodes.setVerified(node, condition, soFar.after.now, signal), () => soFar),
  },
};

/** `labels set team remove tier; taints set gpu:NoSchedule`. */
function describeMarks({ labels, taints }: NodeMarks): string {
  const keys = (isRemoved: boolean) => Object.keys(labels).filter((key) => (labels[key] === null) === isRemoved);
  const inLabels = setAndRemove(keys(false), keys(true));
  const inTaints = describeTaints(taints);
  const parts = [...(inLabels ? [`labels ${inLabels}`] : []), ...(inTaints ? [`taints ${inTaints}`] : [])];
  return parts.join('; ') || 'the record of what it had';
}
