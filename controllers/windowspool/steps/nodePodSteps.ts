/** Steps about the pods that the operator runs on nodes. Their effects are observed through the watch. */
import type { DesiredNodePod } from '../ports/nodePods.ts';
import { count } from '../util/words.ts';
import { type StepKinds, unobserved } from './stepKind.ts';

export const nodePodSteps: StepKinds<'createNodePod' | 'deleteNodePod'> = {
  createNodePod: {
    subject: ({ pod }) => `pod ${pod.name}`,
    describe: ({ node, pod }) => `${purposeOf(pod)} on node ${node.name}`,
    describeMany: (nodes) => `run a pod on each of ${nodes}`,
    writesNode: true,
    statusCanWait: true,
    run: unobserved(({ pod }, { nodePods }, signal) => nodePods.create(pod, signal)),
  },
  deleteNodePod: {
    subject: ({ pod }) => `pod ${pod.name}`,
    describe: ({ pod }) => `delete pod ${pod.name} on node ${pod.node}`,
    statusCanWait: true,
    describeLeftover: (pods) => `has ${count(pods, 'pod')} on its nodes`,
    run: unobserved(({ pod }, { nodePods }, signal) => nodePods.delete(pod, signal)),
  },
};

function purposeOf({ purpose, containers }: DesiredNodePod): string {
  return purpose === 'smoke-test' ? 'run the smoke test' : `pull image ${containers[0]?.image}`;
}
