/** What nodes are told of their verification. */
import { knownStatus, LEAVING, MINUTE, NOW, sampleNode, samplePool, sampleState } from '../fixtures.ts';
import { otherAuthority, seen } from '../sights.ts';
import { LABEL, mislabelled, wrong } from './faultyNodes.ts';
import type { PlanCase } from './planCase.ts';
import { DELETE } from './steps.ts';

const fresh = sampleNode({ verified: undefined });
const FRESH = `${fresh.name}: True ChecksPassed`;

export const nodeConditionCases: readonly PlanCase[] = [
  {
    name: 'a node that passes is told once',
    observed: sampleState({ nodes: [sampleNode({ name: 'known' }), fresh] }),
    want: [],
    reported: [FRESH],
  },
  {
    name: 'a node that fails or joins is told why',
    observed: sampleState({
      nodes: [{ ...wrong, name: 'failing' }, sampleNode({ name: 'joining', ready: 'False', createdAt: NOW - MINUTE })],
    }),
    want: [],
    reported: ['failing: False WrongBuild', 'joining: Unknown Joining'],
  },
  {
    name: 'a node that is labelled in this run is told later',
    observed: sampleState({ nodes: [mislabelled] }),
    want: [LABEL],
    reported: [],
  },
  {
    name: 'the nodes of a foreign group are told nothing',
    observed: sampleState({ nodes: [fresh], group: seen({ tags: {} }) }),
    want: [],
    reported: [],
  },
  {
    name: 'no node is told anything when the cluster is another',
    observed: sampleState({ nodes: [fresh], cluster: otherAuthority }),
    want: [],
    reported: [],
  },
  {
    name: 'nodes that go with their group are told nothing',
    observed: sampleState({ pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }) }),
    want: [DELETE],
    reported: [],
  },
];
