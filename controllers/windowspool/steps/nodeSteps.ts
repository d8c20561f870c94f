/** Steps that write labels, taints, marks and the condition of one node. */

import type { NodeStep } from '../model/steps.ts';
import { WINDOWS_BUILD_LABEL } from '../nodes/windowsVersions.ts';
import type { NodeMarks } from '../ports/nodes.ts';
import { count } from '../util/words.ts';
import { describeTaints, setAndRemove } from './describeTaints.ts';
import { type StepKinds, unobserved } from './stepKind.ts';

const subject = ({ node }: NodeStep) => `node ${node.name}`;

export const nodeSteps: StepKinds<'labelNode' | 'markNode' | 'releaseNode' | 'taintNode' | 'setNodeCondition'> = {
  labelNode: {
    subject,
    describe: ({ node, build }) => `label node ${node.name} with ${WINDOWS_BUILD_LABEL}=${build}`,
    describeMany: (nodes) => `label ${nodes} with their Windows build`,
    reason: 'NodeLabelled',
    writesNode: true,
    run: unobserved(({ node, build }, { nodes }, signal) => nodes.setLabel(node, WINDOWS_BUILD_LABEL, build, signal)),
  },
  markNode: {
    subject,
    describe: ({ node, change }) => `apply the pool's labels and taints to node ${node.name}: ${describeMarks(change)}`,
    describeMany: (nodes) => `apply the pool's labels and taints to ${nodes}`,
    reason: 'NodeAdopted',
    writesNode: true,
    run: unobserved(({ node, change }, { nodes }, signal) => nodes.setMarks(node, change, signal)),
  },
  releaseNode: {
    subject,
    describe: ({ node, change }) => `restore the labels and taints of node ${node.name}: ${describeMarks(change)}`,
    describeMany: (nodes) => `restore the labels and taints of ${nodes}`,
    reason: 'NodeReleased',
    writesNode: true,
    describeLeftover: (nodes) => `has ${count(nodes, 'node')} with the annotation winpool.dev/ownership`,
    run: unobserved(({ node, change }, { nodes }, signal) => nodes.setMarks(node, change, signal)),
  },
  taintNode: {
    subject,
    describe: ({ node, change }) => `correct the taints of node ${node.name}: ${describeTaints(change)}`,
    describeMany: (nodes) => `correct the taints of ${nodes}`,
    reason: 'NodeTainted',
    writesNode: true,
    describeLeftover: (nodes) => `has ${count(nodes, 'node')} with taints of the operator`,
    run: unobserved(({ node, change }, { nodes }, signal) => nodes.setTaints(node, change, signal)),
  },
  setNodeCondition: {
    subject,
    describeMany: (nodes) => `set the condition winpool.dev/Verified of ${nodes}`,
    writesNode: true,
    statusCanWait: true,
    describeLeftover: (nodes) => `has ${count(nodes, 'node')} with the condition winpool.dev/Verified`,
    run: unobserved(({ node, report }, { nodes }, signal, s) => nodes.setConditions(node, report, s.now, signal)),
  },
};

/** `labels set team remove tier; taints set gpu:NoSchedule`. */
function describeMarks({ labels, taints }: NodeMarks): string {
  const keys = (isRemoved: boolean) => Object.keys(labels).filter((key) => (labels[key] === null) === isRemoved);
  const inLabels = setAndRemove(keys(false), keys(true));
  const inTaints = describeTaints(taints);
  const parts = [...(inLabels ? [`labels ${inLabels}`] : []), ...(inTaints ? [`taints ${inTaints}`] : [])];
  return parts.join('; ') || 'only the annotation winpool.dev/ownership';
}
