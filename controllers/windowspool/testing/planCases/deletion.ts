/** A pool that goes, and its group with it. */
import { knownStatus, LEAVING, MINUTE, NOW, sampleGroup, samplePool, sampleSituation } from '../fixtures.ts';
import { otherAuthority, seen, unreachable, unseen } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { DELETE } from './steps.ts';

const leaving = samplePool({}, { metadata: LEAVING, status: knownStatus() });

export const deletionCases: readonly PlanCase[] = [
  {
    name: 'the group of a deleted pool goes first',
    situation: sampleSituation({ pool: leaving }),
    want: [DELETE],
  },
  ...(['CREATING', 'UPDATING', 'DEGRADED', 'CREATE_FAILED', 'DELETE_FAILED'] as const).map((status) => ({
    name: `the group of a deleted pool goes while it is ${status}`,
    situation: sampleSituation({ pool: leaving, group: seen({ status }) }),
    want: [DELETE],
  })),
  {
    name: 'a deleted pool stays while its group is being deleted',
    situation: sampleSituation({ pool: leaving, group: seen({ status: 'DELETING' }) }),
    want: [],
  },
  {
    name: 'a deleted pool stays while its group cannot be looked at',
    situation: sampleSituation({
      pool: leaving,
      group: unseen(),
    }),
    want: [],
  },
  {
    name: 'a deleted pool goes once its group is gone',
    situation: sampleSituation({ pool: leaving, group: { kind: 'absent' }, nodes: [] }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool goes when its cluster is gone, for the group went with it',
    situation: sampleSituation({
      pool: leaving,
      cluster: { kind: 'absent' },
      group: unseen('gone', sampleGroup()),
      nodes: [],
    }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool stays while its nodes are Ready, whatever EKS says of the cluster',
    situation: sampleSituation({
      pool: leaving,
      cluster: { kind: 'absent' },
      group: unseen('gone', sampleGroup()),
    }),
    want: [],
  },
  {
    name: 'a deletion that failed is not tried again at once',
    situation: sampleSituation({ pool: leaving, group: seen({ status: 'DELETE_FAILED', modifiedAt: NOW - MINUTE }) }),
    want: [],
  },
  {
    name: 'a deleted pool goes and leaves a foreign group of its name',
    situation: sampleSituation({ pool: leaving, group: seen({ tags: { 'winpool.dev/pool': 'api' } }) }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool that only other finalizers hold is left alone',
    situation: sampleSituation({
      pool: { ...leaving, metadata: { ...leaving.metadata, finalizers: ['example.com/backup'] } },
    }),
    want: [],
  },
  {
    name: 'nothing is deleted in a cluster with another certificate authority',
    situation: sampleSituation({ pool: leaving, cluster: otherAuthority }),
    want: [],
  },
  {
    name: 'a pool is not let go because another cluster has no such group',
    situation: sampleSituation({ pool: leaving, cluster: otherAuthority, group: { kind: 'absent' }, nodes: [] }),
    want: [],
  },
  {
    name: 'nothing is deleted while the cluster is not proven to be ours',
    situation: sampleSituation({ pool: leaving, cluster: unreachable() }),
    want: [],
  },
];
