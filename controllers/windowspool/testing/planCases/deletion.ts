/** A pool that goes, and its group with it. */
import { knownStatus, LEAVING, MINUTE, NOW, sampleGroup, samplePool, sampleState } from '../fixtures.ts';
import { otherAuthority, seen, unreachable, unseen } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { DELETE } from './steps.ts';

const going = samplePool({}, { metadata: LEAVING, status: knownStatus() });

export const deletionCases: readonly PlanCase[] = [
  {
    name: 'the group of a deleted pool goes first',
    observed: sampleState({ pool: going }),
    want: [DELETE],
  },
  ...(['CREATING', 'UPDATING', 'DEGRADED', 'CREATE_FAILED', 'DELETE_FAILED'] as const).map((status) => ({
    name: `the group of a deleted pool goes while it is ${status}`,
    observed: sampleState({ pool: going, group: seen({ status }) }),
    want: [DELETE],
  })),
  {
    name: 'a deleted pool stays while its group is being deleted',
    observed: sampleState({ pool: going, group: seen({ status: 'DELETING' }) }),
    want: [],
  },
  {
    name: 'a deleted pool stays while its group cannot be looked at',
    observed: sampleState({
      pool: going,
      group: unseen(),
    }),
    want: [],
  },
  {
    name: 'a deleted pool goes once its group is gone',
    observed: sampleState({ pool: going, group: { kind: 'absent' }, nodes: [] }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool goes when its cluster is gone, for the group went with it',
    observed: sampleState({
      pool: going,
      cluster: { kind: 'absent' },
      group: unseen('gone', sampleGroup()),
      nodes: [],
    }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool stays while its nodes are Ready, whatever EKS says of the cluster',
    observed: sampleState({
      pool: going,
      cluster: { kind: 'absent' },
      group: unseen('gone', sampleGroup()),
    }),
    want: [],
  },
  {
    name: 'a deletion that failed is not tried again at once',
    observed: sampleState({ pool: going, group: seen({ status: 'DELETE_FAILED', modifiedAt: NOW - MINUTE }) }),
    want: [],
  },
  {
    name: 'a deleted pool goes and leaves a foreign group of its name',
    observed: sampleState({ pool: going, group: seen({ tags: { 'winpool.dev/pool': 'api' } }) }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool that only other finalizers hold is left alone',
    observed: sampleState({
      pool: { ...going, metadata: { ...going.metadata, finalizers: ['example.com/backup'] } },
    }),
    want: [],
  },
  {
    name: 'nothing is deleted in a cluster with another certificate authority',
    observed: sampleState({ pool: going, cluster: otherAuthority }),
    want: [],
  },
  {
    name: 'a pool is not let go because another cluster has no such group',
    observed: sampleState({ pool: going, cluster: otherAuthority, group: { kind: 'absent' }, nodes: [] }),
    want: [],
  },
  {
    name: 'nothing is deleted while the cluster is not proven to be ours',
    observed: sampleState({ pool: going, cluster: unreachable() }),
    want: [],
  },
];
