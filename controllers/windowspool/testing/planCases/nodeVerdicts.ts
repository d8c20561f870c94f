/** What nodes are told of their verification. */
import { knownStatus, LEAVING, MINUTE, NOW, sampleNode, samplePool, sampleSituation } from '../fixtures.ts';
import { otherAuthority, seen } from '../sights.ts';
import { LABEL, mislabelled, wrong } from './faultyNodes.ts';
import type { PlanCase } from './planCase.ts';
import { DELETE } from './steps.ts';

const fresh = sampleNode({ verified: undefined });
const FRESH = `${fresh.name}: True ChecksPassed`;

export const verdictCases: readonly PlanCase[] = [
  {
    name: 'a node that passes is told once',
    situation: sampleSituation({ nodes: [sampleNode({ name: 'known' }), fresh] }),
    want: [],
    told: [FRESH],
  },
  {
    name: 'a node that fails or joins is told why',
    situation: sampleSituation({
      nodes: [{ ...wrong, name: 'failing' }, sampleNode({ name: 'joining', ready: 'False', createdAt: NOW - MINUTE })],
    }),
    want: [],
    told: ['failing: False WrongBuild', 'joining: Unknown Joining'],
  },
  {
    name: 'a node that is labelled in this run is told later',
    situation: sampleSituation({ nodes: [mislabelled] }),
    want: [LABEL],
    told: [],
  },
  {
    name: 'the nodes of a foreign group are told nothing',
    situation: sampleSituation({ nodes: [fresh], group: seen({ tags: {} }) }),
    want: [],
    told: [],
  },
  {
    name: 'no node is told anything when the cluster is another',
    situation: sampleSituation({ nodes: [fresh], cluster: otherAuthority }),
    want: [],
    told: [],
  },
  {
    name: 'nodes that go with their group are told nothing',
    situation: sampleSituation({ pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }) }),
    want: [DELETE],
    told: [],
  },
];
