/** Verification.policy Quarantine: which nodes get the taint, and which lose it. */
import { QUARANTINE_TAINT_KEY } from '../../api/labels.ts';
import { knownStatus, sampleNode, samplePool, sampleState } from '../fixtures.ts';
import { otherAuthority, seen, unreachable, unseen } from '../sights.ts';
import { LABEL, mislabelled, SET_QUARANTINE, wrong } from './faultyNodes.ts';
import type { PlanCase } from './planCase.ts';

const strict = samplePool({ verification: { policy: 'Quarantine' } }, { status: knownStatus() });
const held = sampleNode({
  taints: [...sampleNode().taints, { key: QUARANTINE_TAINT_KEY, value: 'WrongBuild', effect: 'NoSchedule' }],
});
const REMOVE_QUARANTINE = `taintNode ${held.name} -status-taint.cluster-autoscaler.kubernetes.io/winpool-quarantine:NoSchedule`;

export const quarantineCases: readonly PlanCase[] = [
  {
    name: 'a node that fails is quarantined',
    observed: sampleState({ pool: strict, nodes: [wrong] }),
    want: [SET_QUARANTINE],
  },
  {
    name: 'a failing node gets no taint with policy Report',
    observed: sampleState({ nodes: [wrong] }),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'a node that passes again loses the taint',
    observed: sampleState({ pool: strict, nodes: [held] }),
    want: [REMOVE_QUARANTINE],
  },
  {
    name: 'no node stays quarantined with policy Report',
    observed: sampleState({
      nodes: [{ ...held, kernelVersion: wrong.kernelVersion, labels: wrong.labels }],
    }),
    want: [REMOVE_QUARANTINE],
  },
  {
    name: 'a node that is labelled in this run is verified again before it is quarantined',
    observed: sampleState({ pool: strict, nodes: [mislabelled] }),
    want: [LABEL],
  },
  {
    name: 'nodes are quarantined while AWS cannot be read',
    observed: sampleState({
      pool: strict,
      nodes: [wrong],
      cluster: unreachable(),
      group: unseen(),
    }),
    want: [SET_QUARANTINE],
  },
  {
    name: 'nodes of a group that the pool does not manage are not quarantined',
    observed: sampleState({ pool: strict, nodes: [wrong], group: seen({ tags: {} }) }),
    want: [],
    waits: { because: 'NodeGroupReady NotOwned', until: '10m' },
  },
  {
    name: 'no node is quarantined in another cluster',
    observed: sampleState({ pool: strict, nodes: [wrong], cluster: otherAuthority }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10m' },
  },
];
