/** The verification results in the conditions of nodes. */
import { knownStatus, LEAVING, MINUTE, NOW, sampleNode, samplePool, sampleState } from '../fixtures.ts';
import { otherAuthority, seen } from '../sights.ts';
import { LABEL, mislabelled, wrong } from './faultyNodes.ts';
import type { PlanCase } from './planCase.ts';
import { DELETE } from './steps.ts';

const fresh = sampleNode({ verified: undefined });
const FRESH = `${fresh.name}: True ChecksPassed`;

export const nodeConditionCases: readonly PlanCase[] = [
  {
    name: 'the condition of a verified node is written once',
    observed: sampleState({ nodes: [sampleNode({ name: 'known' }), fresh] }),
    want: [],
    nodeConditions: [FRESH],
  },
  {
    name: 'the condition of a failing or joining node is written with its cause',
    observed: sampleState({
      nodes: [{ ...wrong, name: 'failing' }, sampleNode({ name: 'joining', ready: 'False', createdAt: NOW - MINUTE })],
    }),
    want: [],
    nodeConditions: ['failing: False WrongBuild', 'joining: Unknown Joining'],
  },
  {
    name: 'the condition of a node that is labelled in this run is written later',
    observed: sampleState({ nodes: [mislabelled] }),
    want: [LABEL],
    nodeConditions: [],
  },
  {
    name: 'no condition is written to nodes of a group that the pool does not manage',
    observed: sampleState({ nodes: [fresh], group: seen({ tags: {} }) }),
    want: [],
    nodeConditions: [],
  },
  {
    name: 'no condition is written in another cluster',
    observed: sampleState({ nodes: [fresh], cluster: otherAuthority }),
    want: [],
    nodeConditions: [],
  },
  {
    name: 'no condition is written to nodes of a group that is being deleted',
    observed: sampleState({ pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }) }),
    want: [DELETE],
    nodeConditions: [],
  },
];
