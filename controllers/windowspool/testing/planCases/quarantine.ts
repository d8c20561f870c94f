/** Verification.policy Quarantine: which nodes are held, and which are let go. */
import { QUARANTINE_TAINT_KEY } from '../../labels.ts';
import { knownStatus, sampleNode, samplePool, sampleState } from '../fixtures.ts';
import { otherAuthority, seen, unreachable, unseen } from '../sights.ts';
import { HOLD, LABEL, mislabelled, QUARANTINE, wrong } from './faultyNodes.ts';
import type { PlanCase } from './planCase.ts';

const strict = samplePool({ verification: { policy: 'Quarantine' } }, { status: knownStatus() });
const held = sampleNode({
  taints: [...sampleNode().taints, { key: QUARANTINE_TAINT_KEY, value: 'WrongBuild', effect: 'NoSchedule' }],
});
const LET_GO = `correct the taints of node ${held.name}: remove ${QUARANTINE}`;

export const quarantineCases: readonly PlanCase[] = [
  {
    name: 'a node that fails is quarantined',
    observed: sampleState({ pool: strict, nodes: [wrong] }),
    want: [HOLD],
  },
  {
    name: 'a node that fails is left alone under Report',
    observed: sampleState({ nodes: [wrong] }),
    want: [],
  },
  {
    name: 'a node that passes again is let go',
    observed: sampleState({ pool: strict, nodes: [held] }),
    want: [LET_GO],
  },
  {
    name: 'no node stays quarantined under Report',
    observed: sampleState({
      nodes: [{ ...held, kernelVersion: wrong.kernelVersion, labels: wrong.labels }],
    }),
    want: [LET_GO],
  },
  {
    name: 'a node that is labelled in this run is looked at anew before it is quarantined',
    observed: sampleState({ pool: strict, nodes: [mislabelled] }),
    want: [LABEL],
  },
  {
    name: 'nodes are quarantined while AWS cannot be reached',
    observed: sampleState({
      pool: strict,
      nodes: [wrong],
      cluster: unreachable(),
      group: unseen(),
    }),
    want: [HOLD],
  },
  {
    name: 'the nodes of a foreign group are not quarantined',
    observed: sampleState({ pool: strict, nodes: [wrong], group: seen({ tags: {} }) }),
    want: [],
  },
  {
    name: 'no node is quarantined when the cluster is another',
    observed: sampleState({ pool: strict, nodes: [wrong], cluster: otherAuthority }),
    want: [],
  },
];
