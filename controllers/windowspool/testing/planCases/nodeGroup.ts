/** When a node group is created, changed and deleted. */

import type { NodeGroup } from '../../ports/eks.ts';
import { configTargetOf } from '../../providers/nodeGroup/changes/groupChanges.ts';
import type { EksState } from '../../providers/nodeGroup/model/groupState.ts';
import { APPLIED, knownStatus, MINUTE, NOW, sampleGroup, samplePool, sampleState, settings } from '../fixtures.ts';
import { gone, otherAuthority, seen, unconfirmed, unreachable, unseen } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { CREATE, GROW_STEPS, SEND_ALL } from './steps.ts';

const pool = samplePool({}, { status: knownStatus() });
/** What status has while it is not known whether the group was created. */
const SENT = APPLIED.map((entry) => entry.replace(/[^=]*$/, '?'));
const sending = samplePool({}, { status: knownStatus({ applied: SENT }) });
/** A pool whose size was changed since its group was created. */
const resized = samplePool({ nodeGroup: { scaling: { minSize: 3, maxSize: 9 } } }, { status: knownStatus() });
/** A pool with the retry annotation. */
function retried(retry: string, status = knownStatus()): EksState['pool'] {
  return samplePool({}, { metadata: { annotations: { 'winpool.dev/retry': retry } }, status });
}

/** The group of a pool, whose creation has just failed. */
function justFailed({ tags }: Pick<NodeGroup, 'tags'>) {
  return seen({ status: 'CREATE_FAILED', modifiedAt: NOW, tags });
}

/** The status after EKS rejected a creation. `retry`: the value of the annotation at that time. */
function refusedStatus(minutesAgo: number, retry?: string): NonNullable<EksState['pool']['status']> {
  const time = new Date(NOW - minutesAgo * MINUTE).toISOString();
  const target = sampleGroup(pool).tags['winpool.dev/created-from'] ?? '';
  const failedTarget = { target, reason: 'CreateRejected', message: 'no such subnet', time };
  return knownStatus({ applied: SENT, failedChanges: [{ ...failedTarget, ...(retry !== undefined && { retry }) }] });
}

function updating(
  status: 'InProgress' | 'Failed' | 'Successful',
  target = configTargetOf(resized, { scaling: { maxSize: 9 } }),
) {
  return {
    pool: { ...resized, status: knownStatus({ update: { id: 'u-1', type: 'ConfigUpdate', target, status } }) },
    group: seen(),
  };
}

const ended = { id: 'u-1', type: 'ConfigUpdate', createdAt: NOW, errors: [] } as const;

export const nodeGroupCases: readonly PlanCase[] = [
  { name: 'a settled pool needs nothing', observed: sampleState(), want: [], rests: { until: '10m' } },
  {
    name: 'a new pool gets its finalizer before anything is created',
    observed: sampleState({
      pool: samplePool({}, { metadata: { finalizers: [] } }),
      group: { kind: 'absent' },
      nodes: [],
      runtimeClass: undefined,
    }),
    want: ['addFinalizer', SEND_ALL, CREATE, 'createRuntimeClass windows-2022'],
  },
  ...(['absent', 'unowned'] as const).map(
    (contradiction): PlanCase => ({
      name: `nothing happens after the first answer that a known group is ${contradiction}`,
      observed: sampleState({ pool: resized, group: unconfirmed(contradiction) }),
      want: [],
      waits: { because: 'NodeGroupReady Unconfirmed', until: '10s' },
    }),
  ),
  {
    name: 'a known group that is absent is created again',
    observed: sampleState({ pool, group: gone(), nodes: [] }),
    want: [SEND_ALL, CREATE],
  },
  {
    name: 'a pool with a finalizer records its fields, and then creates its group',
    observed: sampleState({ pool: samplePool(), group: { kind: 'absent' }, nodes: [] }),
    want: [SEND_ALL, CREATE],
  },
  {
    name: 'a pool that has recorded its fields creates its group at once',
    observed: sampleState({ pool: sending, group: { kind: 'absent' }, nodes: [] }),
    want: [CREATE],
  },
  {
    name: 'nothing is created in a cluster with another certificate authority',
    observed: sampleState({ pool, cluster: otherAuthority, group: { kind: 'absent' }, nodes: [] }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10m' },
  },
  {
    name: 'nothing is created when the flags name another cluster than the one the pool was created in',
    observed: sampleState({
      pool,
      settings: { ...settings, clusterName: 'test' },
      group: { kind: 'absent' },
      nodes: [],
    }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10m' },
  },
  {
    name: 'nothing is changed when the flags name another region, even if EKS cannot be read',
    observed: sampleState({
      pool: resized,
      settings: { ...settings, region: 'us-east-1' },
      cluster: unreachable(),
      group: seen(),
    }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: 'backoff' },
  },
  {
    name: 'nothing is created while the group cannot be read',
    observed: sampleState({ pool, group: unseen('throttled', sampleGroup(pool), NOW - MINUTE) }),
    want: [],
    waits: { because: 'NodeGroupReady AWSUnavailable', until: 'backoff' },
  },
  {
    name: 'nothing is changed while the cluster is not verified',
    observed: sampleState({ pool: resized, cluster: unreachable(), group: seen() }),
    want: [],
    waits: { because: 'PrerequisitesMet AWSUnavailable', until: 'backoff' },
  },
  {
    name: 'nothing is created while the cluster is not verified',
    observed: sampleState({ pool, cluster: unreachable(), group: { kind: 'absent' }, nodes: [] }),
    want: [],
    waits: { because: 'PrerequisitesMet AWSUnavailable', until: 'backoff' },
  },
  {
    name: 'a group without the tag of the pool is not changed, whatever its size',
    observed: sampleState({ pool: resized, group: seen({ tags: {} }) }),
    want: [],
    waits: { because: 'NodeGroupReady NotOwned', until: '10m' },
  },
  {
    name: 'a group that is being deleted is not changed, whatever its size',
    observed: sampleState({ pool: resized, group: seen({ status: 'DELETING' }) }),
    want: [],
    waits: { because: 'NodeGroupReady Deleting', until: '1s' },
  },
  {
    name: 'a group whose creation just failed is kept',
    observed: sampleState({ pool, group: seen({ status: 'CREATE_FAILED', modifiedAt: NOW - 14 * MINUTE }) }),
    want: [],
    waits: { because: 'NodeGroupReady CreateFailed', until: '1m' },
  },
  {
    name: 'a group whose creation failed is deleted after createRetryMs',
    observed: sampleState({ pool, group: seen({ status: 'CREATE_FAILED', modifiedAt: NOW - 15 * MINUTE }) }),
    want: ['deleteNodeGroup web'],
  },
  {
    name: 'a group whose creation failed is deleted at once when the spec has changed',
    observed: sampleState({ pool: resized, group: seen({ status: 'CREATE_FAILED', modifiedAt: NOW }) }),
    want: ['deleteNodeGroup web'],
  },
  {
    name: 'a group whose creation failed is deleted at once when the retry annotation is added',
    observed: sampleState({ pool: retried('1'), group: justFailed(sampleGroup(pool)) }),
    want: ['deleteNodeGroup web'],
  },
  {
    name: 'a group whose creation failed after a retry is deleted at once when the retry annotation changes',
    observed: sampleState({ pool: retried('2'), group: justFailed(sampleGroup(retried('1'))) }),
    want: ['deleteNodeGroup web'],
  },
  {
    name: 'a group whose creation failed after a retry is kept when the retry annotation is removed',
    observed: sampleState({ pool, group: justFailed(sampleGroup(retried('1'))) }),
    want: [],
    waits: { because: 'NodeGroupReady CreateFailed', until: '15m' },
  },
  {
    name: 'a group whose creation failed after a retry is kept when the retry annotation is set to the same value again',
    observed: sampleState({ pool: retried('1'), group: justFailed(sampleGroup(retried('1'))) }),
    want: [],
    waits: { because: 'NodeGroupReady CreateFailed', until: '15m' },
  },
  {
    name: 'a group whose creation failed, with a tag that does not tell the retry from the spec, is deleted at once',
    observed: sampleState({
      pool: retried('1'),
      group: justFailed({ tags: { ...sampleGroup(pool).tags, 'winpool.dev/created-from': 'b0a1c2d3' } }),
    }),
    want: ['deleteNodeGroup web'],
  },
  {
    name: 'a failed deletion is retried after createRetryMs',
    observed: sampleState({ pool, group: seen({ status: 'DELETE_FAILED', modifiedAt: NOW - 15 * MINUTE }) }),
    want: ['deleteNodeGroup web'],
  },
  {
    name: 'a creation that EKS rejected is not repeated at once',
    observed: sampleState({
      pool: samplePool({}, { status: refusedStatus(14) }),
      group: { kind: 'absent' },
      nodes: [],
    }),
    want: [],
    waits: { because: 'NodeGroupReady CreateRejected', until: '1m' },
  },
  {
    name: 'a creation that EKS rejected is retried after createRetryMs',
    observed: sampleState({
      pool: samplePool({}, { status: refusedStatus(15) }),
      group: { kind: 'absent' },
      nodes: [],
    }),
    want: [CREATE],
  },
  {
    name: 'a creation that EKS rejected is retried at once when the spec has changed',
    observed: sampleState({
      pool: samplePool({ nodeGroup: { diskSizeGiB: 80 } }, { status: refusedStatus(1) }),
      group: { kind: 'absent' },
      nodes: [],
    }),
    want: [CREATE],
  },
  {
    name: 'a creation that EKS rejected is retried at once when the retry annotation is added',
    observed: sampleState({ pool: retried('1', refusedStatus(1)), group: { kind: 'absent' }, nodes: [] }),
    want: [CREATE],
  },
  {
    name: 'a creation that EKS rejected after a retry is retried at once when the retry annotation changes',
    observed: sampleState({ pool: retried('2', refusedStatus(1, '1')), group: { kind: 'absent' }, nodes: [] }),
    want: [CREATE],
  },
  {
    name: 'a creation that EKS rejected after a retry is not repeated when the retry annotation is removed',
    observed: sampleState({
      pool: samplePool({}, { status: refusedStatus(1, '1') }),
      group: { kind: 'absent' },
      nodes: [],
    }),
    want: [],
    waits: { because: 'NodeGroupReady CreateRejected', until: '14m' },
  },
  {
    name: 'a creation that EKS rejected after a retry is not repeated when the retry annotation is set to the same value again',
    observed: sampleState({ pool: retried('1', refusedStatus(1, '1')), group: { kind: 'absent' }, nodes: [] }),
    want: [],
    waits: { because: 'NodeGroupReady CreateRejected', until: '14m' },
  },
  {
    name: 'an update is not recorded again after a crash',
    observed: sampleState({
      pool: {
        ...resized,
        status: knownStatus({ applied: APPLIED.map((each) => each.replace(/^scaling=.*/, 'scaling=?')) }),
      },
      group: seen(),
    }),
    want: GROW_STEPS.slice(1),
  },
  {
    name: 'the group follows the size in the spec',
    observed: sampleState({ pool: resized, group: seen() }),
    want: GROW_STEPS,
  },
  {
    name: 'a degraded group is still changed, because that may fix it',
    observed: sampleState({ pool: resized, group: seen({ status: 'DEGRADED' }) }),
    want: GROW_STEPS,
  },
  {
    name: 'a group that is being created is not changed, whatever its size',
    observed: sampleState({ pool: resized, group: seen({ status: 'CREATING' }), nodes: [] }),
    want: [],
    waits: { because: 'NodeGroupReady Creating', until: '1s' },
  },
  {
    name: 'a group that EKS is updating is not changed, whatever its size',
    observed: sampleState({ pool: resized, group: seen({ status: 'UPDATING' }) }),
    want: [],
    waits: { because: 'NodeGroupReady Updating', until: '1s' },
  },
  {
    name: 'no second update is sent before the result of the first is known',
    observed: sampleState(updating('InProgress')),
    want: [],
    waits: { because: 'UpToDate UpdatePending', until: '1s' },
  },
  {
    name: 'no second update is sent while the first is in progress',
    observed: sampleState({ ...updating('InProgress'), update: { ...ended, status: 'InProgress' } }),
    want: [],
    waits: { because: 'UpToDate UpdatePending', until: '1s' },
  },
  {
    name: 'a second update is sent after the first has succeeded',
    observed: sampleState({ ...updating('InProgress'), update: { ...ended, status: 'Successful' } }),
    want: GROW_STEPS,
  },
  {
    name: 'an update that has just failed is not repeated',
    observed: sampleState({ ...updating('InProgress'), update: { ...ended, status: 'Failed' } }),
    want: [],
    waits: { because: 'NodeGroupReady UpdateFailed', until: '10m' },
  },
  {
    name: 'another update is sent after a failed one when the spec changes',
    observed: sampleState({
      ...updating('InProgress', 'another target'),
      update: { ...ended, status: 'Failed' },
    }),
    want: GROW_STEPS,
  },
  {
    name: 'an update that EKS rejected is not repeated until the spec changes',
    observed: sampleState({
      pool: {
        ...resized,
        status: knownStatus({
          failedChanges: [
            {
              target: configTargetOf(resized, { scaling: { maxSize: 9 } }),
              reason: 'UpdateRejected',
              message: 'no',
              time: '2026-02-01T00:00:00Z',
            },
          ],
        }),
      },
      group: seen(),
    }),
    want: [],
    waits: { because: 'NodeGroupReady UpdateRejected', until: '10m' },
  },
];
