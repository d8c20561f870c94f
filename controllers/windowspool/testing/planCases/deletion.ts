/** A pool that is deleted together with its group. */
import { knownStatus, LEAVING, MINUTE, NOW, sampleGroup, samplePool, sampleState, settings } from '../fixtures.ts';
import { otherAuthority, seen, unreachable, unseen } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { DELETE } from './steps.ts';

const deletedPool = samplePool({}, { metadata: LEAVING, status: knownStatus() });
/** AWS has given the same answer for long enough. */
const CONFIRMED = { answerSince: NOW - MINUTE };
/** And so long that Ready nodes do not matter any more. */
const LONG_CONFIRMED = { answerSince: NOW - 10 * MINUTE };

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
    observed: sampleState({ pool: deletedPool, group: { kind: 'absent' }, nodes: [], answerSince: NOW - 1 }),
    want: [],
    waits: { because: 'NodeGroupReady Deleting', until: '10s' },
  },
  {
    name: 'a deleted pool waits 10 seconds for the same answer, also if the poll interval is long',
    observed: sampleState({
      pool: deletedPool,
      group: { kind: 'absent' },
      nodes: [],
      answerSince: NOW - 10_000,
      settings: { ...settings, pollMs: 10 * MINUTE },
    }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool keeps its finalizer while nodes of its group are Ready, even if EKS does not have the group',
    observed: sampleState({ pool: deletedPool, group: { kind: 'absent' }, ...CONFIRMED }),
    want: [],
    waits: { because: 'NodeGroupReady Deleting', until: '10s' },
  },
  {
    name: 'a deleted pool does not keep its finalizer forever because a Ready node claims to be of its group',
    observed: sampleState({ pool: deletedPool, group: { kind: 'absent' }, ...LONG_CONFIRMED }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool that was never tied to a cluster loses its finalizer at once',
    observed: sampleState({ pool: samplePool({}, { metadata: LEAVING }), group: { kind: 'absent' }, nodes: [] }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool keeps its finalizer after the first answer in which its group has no tags',
    observed: sampleState({ pool: deletedPool, group: seen({ tags: {} }), answerSince: NOW }),
    want: [],
    waits: { because: 'NodeGroupReady Deleting', until: '10s' },
  },
  {
    name: 'a deleted pool loses its finalizer when its group is gone',
    observed: sampleState({ pool: deletedPool, group: { kind: 'absent' }, nodes: [], ...CONFIRMED }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool loses its finalizer when its cluster is gone together with the group',
    observed: sampleState({
      pool: deletedPool,
      cluster: { kind: 'absent' },
      group: unseen('gone', sampleGroup()),
      nodes: [],
      ...CONFIRMED,
    }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool keeps its finalizer after the first answer that its cluster does not exist',
    observed: sampleState({
      pool: deletedPool,
      cluster: { kind: 'absent' },
      group: unseen('gone', sampleGroup()),
      nodes: [],
    }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterNotFound', until: '1m' },
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
    observed: sampleState({ pool: deletedPool, group: seen({ tags: { 'winpool.dev/pool': 'api' } }), ...CONFIRMED }),
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
    name: 'nothing is deleted in a cluster with another certificate authority',
    observed: sampleState({ pool: deletedPool, cluster: otherAuthority }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10m' },
  },
  {
    name: 'a deleted pool keeps its finalizer if the group is missing in another cluster',
    observed: sampleState({ pool: deletedPool, cluster: otherAuthority, group: { kind: 'absent' }, nodes: [] }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10s' },
  },
  {
    name: 'nothing is deleted while the cluster is not verified',
    observed: sampleState({ pool: deletedPool, cluster: unreachable() }),
    want: [],
    waits: { because: 'PrerequisitesMet AWSUnavailable', until: 'backoff' },
  },
];
