/** While prerequisites are met or not, and the access entry that the operator makes. */
import type { PrerequisiteFacts } from '../../prerequisites/facts.ts';
import { known } from '../answers.ts';
import { knownStatus, samplePool, sampleSituation } from '../fixtures.ts';
import { sampleFacts, unasked } from '../prerequisites.ts';
import { otherAuthority, seen } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { CREATE, REMEMBER } from './steps.ts';

const managing = samplePool({ nodeGroup: { manageAccessEntry: true } });
const made = { ...managing, status: knownStatus() };
const ENTRY = 'create an access entry of type EC2_WINDOWS for arn:aws:iam::111122223333:role/windows-nodes';

/** A pool that makes access entries, without a group. */
function bare(prerequisites: PrerequisiteFacts) {
  return sampleSituation({ pool: managing, group: { kind: 'absent' }, prerequisites, nodes: [] });
}

const noEntry = sampleFacts({ accessEntry: known(undefined) });

export const prerequisiteCases: readonly PlanCase[] = [
  {
    name: 'makes no group while a prerequisite is not met',
    situation: bare(sampleFacts({ legacyController: known(true) })),
    want: [],
  },
  {
    name: 'makes no access entry either while another prerequisite is not met',
    situation: bare({ ...noEntry, legacyController: known(true) }),
    want: [],
  },
  {
    name: 'makes a group although nothing could be checked',
    situation: bare(sampleFacts({ legacyController: unasked(), subnets: unasked(), accessEntry: unasked() })),
    want: [REMEMBER, CREATE],
  },
  { name: 'makes the access entry before the group', situation: bare(noEntry), want: [REMEMBER, ENTRY, CREATE] },
  { name: 'makes no access entry where there is one', situation: bare(sampleFacts()), want: [REMEMBER, CREATE] },
  {
    name: 'makes the access entry again that somebody deleted',
    situation: sampleSituation({ pool: made, prerequisites: noEntry }),
    want: [ENTRY],
  },
  {
    name: 'makes no access entry for the group of another',
    situation: sampleSituation({ pool: made, group: seen({ tags: {} }), prerequisites: noEntry }),
    want: [],
  },
  {
    name: 'makes no access entry in another cluster',
    situation: sampleSituation({ pool: made, cluster: otherAuthority, prerequisites: noEntry }),
    want: [],
  },
];
