/** A pool that is deleted together with its group. */
import { knownStatus, LEAVING, MINUTE, NOW, sampleGroup, samplePool, sampleState, settings } from '../fixtures.ts';
import { gone, otherAuthority, seen, unconfirmed, unreachable, unseen, withoutCluster } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { DELETE } from './steps.ts';

/** As an operator without an EKS cluster observes it. */
const withoutAws = {
  settings: { ...settings, clusterName: '', region: '' },
  group: unseen('refused'),
  cluster: unreachable('refused'),
};
const deletedPool = samplePool({}, { metadata: LEAVING, status: knownStatus() });

export const deletionCases: readonly PlanCase[] = [
  {
    name: 'the group of a deleted pool is deleted first',
    observed: sampleState({ pool: deletedPool }),
    want: [DELETE],
  },
  ...(['CREATING', 'UPDATING', 'DEGRADED', 'CREATE_FAILED', 'DELETE_FAILED'] as const).map((status) => ({
    name: `the group of a deleted pool is deleted while it is ${status}`,
    observed: sampleState({ pool: deletedPool, group: seen({ status }) }),
    want: [DELETE],
  })),
  {
    name: 'a deleted pool keeps its finalizer while its group is being deleted',
    observed: sampleState({ pool: deletedPool, group: seen({ status: 'DELETING' }) }),
    want: [],
    waits: { because: 'NodeGroupReady Deleting', until: '1s' },
  },
  {
    name: 'a deleted pool keeps its finalizer while its group cannot be read',
    observed: sampleState({
      pool: deletedPool,
      group: unseen(),
    }),
    want: [],
    waits: { because: 'NodeGroupReady Deleting', until: 'backoff' },
  },
  {
    name: 'a deleted pool keeps its finalizer after the first answer that its group does not exist',
    observed: sampleState({ pool: deletedPool, group: unconfirmed(), nodes: [] }),
    want: [],
    waits: { because: 'NodeGroupReady Deleting', until: '10s' },
  },
  {
    name: 'a deleted pool keeps its finalizer while nodes of its group are Ready, even if EKS does not have the group',
    observed: sampleState({ pool: deletedPool, group: gone() }),
    want: [],
    waits: { because: 'NodeGroupReady Deleting', until: '20s' },
  },
  {
    name: 'a deleted pool does not keep its finalizer forever because a Ready node claims to be of its group',
    observed: sampleState({ pool: deletedPool, group: gone(NOW - 10 * MINUTE) }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool that was never tied to a cluster loses its finalizer at once',
    observed: sampleState({ pool: samplePool({}, { metadata: LEAVING }), group: { kind: 'absent' }, nodes: [] }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool keeps its finalizer after the first answer in which its group has no tags',
    observed: sampleState({ pool: deletedPool, group: unconfirmed('unowned') }),
    want: [],
    waits: { because: 'NodeGroupReady Deleting', until: '10s' },
  },
  {
    name: 'a deleted pool loses its finalizer when its group is gone',
    observed: sampleState({ pool: deletedPool, group: gone(), nodes: [] }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool loses its finalizer when its cluster is gone together with the group',
    observed: sampleState({
      pool: deletedPool,
      cluster: { kind: 'absent' },
      group: withoutCluster('confirmed'),
      nodes: [],
    }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool keeps its finalizer after the first answer that its cluster does not exist',
    observed: sampleState({
      pool: deletedPool,
      cluster: { kind: 'absent' },
      group: withoutCluster('seenOnce'),
      nodes: [],
    }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterNotFound', until: '10s' },
  },
  {
    name: 'a deleted pool keeps its finalizer while EKS has its group, even if the cluster is not found',
    observed: sampleState({ pool: deletedPool, cluster: { kind: 'absent' }, nodes: [] }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterNotFound', until: '10m' },
  },
  {
    name: 'a deleted pool keeps its finalizer while its nodes are Ready, even if EKS does not have the cluster',
    observed: sampleState({
      pool: deletedPool,
      cluster: { kind: 'absent' },
      group: unseen('gone', sampleGroup()),
    }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterNotFound', until: '1m' },
  },
  {
    name: 'a failed deletion is not retried at once',
    observed: sampleState({ pool: deletedPool, group: seen({ status: 'DELETE_FAILED', modifiedAt: NOW - MINUTE }) }),
    want: [],
    waits: { because: 'NodeGroupReady DeleteFailed', until: '14m' },
  },
  {
    name: 'a deleted pool does not delete a group of its name that it does not manage',
    observed: sampleState({ pool: deletedPool, group: seen({ tags: { 'winpool.dev/pool': 'api' } }) }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool with only other finalizers is not changed',
    observed: sampleState({
      pool: { ...deletedPool, metadata: { ...deletedPool.metadata, finalizers: ['example.com/backup'] } },
    }),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'a deleted pool for which nothing was created loses its finalizer without an EKS cluster',
    observed: sampleState({ pool: samplePool({}, { metadata: LEAVING }), ...withoutAws, nodes: [] }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool with a node group waits for an EKS cluster',
    observed: sampleState({ pool: deletedPool, ...withoutAws, nodes: [] }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterNotConfigured', until: '15m' },
  },
  {
    name: 'nothing is deleted in a cluster with another certificate authority',
    observed: sampleState({ pool: deletedPool, cluster: otherAuthority }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10m' },
  },
  {
    name: 'a deleted pool keeps its finalizer if the group is missing in another cluster',
    observed: sampleState({ pool: deletedPool, cluster: otherAuthority, group: { kind: 'absent' }, nodes: [] }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '20s' },
  },
  {
    name: 'nothing is deleted while the cluster is not verified',
    observed: sampleState({ pool: deletedPool, cluster: unreachable() }),
    want: [],
    waits: { because: 'PrerequisitesMet AWSUnavailable', until: 'backoff' },
  },
];
