/** The tags of a node group. */

import type { NodeGroup } from '../../ports/eks.ts';
import type { EksState } from '../../providers/nodeGroup/model/groupState.ts';
import { APPLIED, knownStatus, NOW, sampleGroup, samplePool, sampleState } from '../fixtures.ts';
import { otherAuthority, seen, unreachable } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { sending } from './steps.ts';

const tagged = samplePool({ nodeGroup: { tags: { team: 'web' } } }, { status: knownStatus() });
const CORRECT_TAGS = [sending('tag team'), 'correctTags web +team'];

export const tagCases: readonly PlanCase[] = [
  {
    name: 'a tag of the spec is recorded, and then set',
    observed: sampleState({ pool: tagged, group: seen() }),
    want: CORRECT_TAGS,
  },
  {
    name: 'tags are set while EKS updates the group',
    observed: sampleState({ pool: tagged, group: seen({ status: 'UPDATING' }) }),
    want: CORRECT_TAGS,
  },
  {
    name: 'a tag that the spec dropped is removed, and a tag of another client stays',
    observed: sampleState({
      pool: samplePool({}, { status: knownStatus({ applied: [...APPLIED, 'tag team=01234567'].sort() }) }),
      group: seen({ tags: { ...sampleGroup().tags, team: 'web', backup: 'daily' } }),
    }),
    want: [sending('tag team'), 'correctTags web -team'],
  },
  ...(
    [
      ['DELETING', { because: 'NodeGroupReady Deleting', until: '1s' }],
      ['CREATE_FAILED', { because: 'NodeGroupReady CreateFailed', until: '15m' }],
      ['DELETE_FAILED', { because: 'NodeGroupReady DeleteFailed', until: '15m' }],
    ] as const
  ).map(([status, waits]) => ({
    name: `tags of a group that is ${status} are not changed`,
    observed: sampleState({
      pool: tagged,
      group: seen({ status, modifiedAt: NOW, tags: withoutTeam(tagged) }, tagged),
    }),
    want: [],
    waits,
  })),
  {
    name: 'a group that the pool does not manage gets no tags',
    observed: sampleState({ pool: tagged, group: seen({ tags: { 'winpool.dev/pool': 'api' } }) }),
    want: [],
    waits: { because: 'NodeGroupReady NotOwned', until: '10m' },
  },
  {
    name: 'a group in a cluster with another certificate authority gets no tags',
    observed: sampleState({ pool: tagged, cluster: otherAuthority, group: seen() }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10m' },
  },
  {
    name: 'a group in a cluster that is not verified gets no tags',
    observed: sampleState({ pool: tagged, cluster: unreachable(), group: seen() }),
    want: [],
    waits: { because: 'PrerequisitesMet AWSUnavailable', until: 'backoff' },
  },
];

function withoutTeam(of: EksState['pool']): NodeGroup['tags'] {
  return Object.fromEntries(Object.entries(sampleGroup(of).tags).filter(([key]) => key !== 'team'));
}
