/** The windows-build label of nodes. */
import { WINDOWS_BUILD_LABEL } from '../../nodes/windowsVersions.ts';
import { sampleGroup, sampleNode, samplePool, sampleState } from '../fixtures.ts';
import { otherAuthority, seen, unreachable, unseen } from '../sights.ts';
import { LABEL, mislabelled } from './faultyNodes.ts';
import type { PlanCase } from './planCase.ts';

const { [WINDOWS_BUILD_LABEL]: _, ...unlabelled } = sampleNode().labels;

export const nodeLabelCases: readonly PlanCase[] = [
  {
    name: 'an outdated windows-build label is corrected',
    observed: sampleState({ nodes: [mislabelled] }),
    want: [LABEL],
  },
  {
    name: 'a missing windows-build label is added',
    observed: sampleState({ nodes: [sampleNode({ labels: unlabelled })] }),
    want: [LABEL],
  },
  {
    name: 'a node of another build is labelled with its own build',
    observed: sampleState({ nodes: [sampleNode({ kernelVersion: '10.0.26100.1' })] }),
    want: [LABEL.replace('20348', '26100')],
  },
  {
    name: 'a node that is being deleted or has an unknown kernel is not labelled',
    observed: sampleState({
      nodes: [sampleNode({ ...mislabelled, deleting: true }), sampleNode({ ...mislabelled, kernelVersion: '5.10.0' })],
    }),
    want: [],
    waits: { because: 'NodesVerified UnknownKernelVersion', until: '10m' },
  },
  {
    name: 'nodes of a group that the pool does not manage are not labelled',
    observed: sampleState({ nodes: [mislabelled], group: seen({ tags: {} }) }),
    want: [],
    waits: { because: 'NodeGroupReady NotOwned', until: '10m' },
  },
  {
    name: 'nodes of a group that the pool did not manage at the last read are not labelled',
    observed: sampleState({
      nodes: [mislabelled],
      group: unseen('unavailable', sampleGroup(samplePool(), { tags: {} })),
    }),
    want: [],
    waits: { because: 'NodeGroupReady NotOwned', until: 'backoff' },
  },
  {
    name: 'nodes are not labelled in another cluster',
    observed: sampleState({ nodes: [mislabelled], cluster: otherAuthority }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10m' },
  },
  {
    name: 'labels are corrected while AWS cannot be read',
    observed: sampleState({
      nodes: [mislabelled],
      cluster: unreachable(),
      group: unseen(),
    }),
    want: [LABEL],
  },
];
