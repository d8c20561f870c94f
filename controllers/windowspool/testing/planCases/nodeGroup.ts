/** When a node group is made, changed and cleared away. */

import type { ObservedState } from '../../model/observedState.ts';
import { configTargetOf } from '../../providers/eks/groupChanges.ts';
import { APPLIED, knownStatus, MINUTE, NOW, sampleGroup, samplePool, sampleState, settings } from '../fixtures.ts';
import { otherAuthority, seen, unreachable, unseen } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { CREATE, GROW_STEPS, REMEMBER } from './steps.ts';

const pool = samplePool({}, { status: knownStatus() });
/** A pool whose size was changed since its group was made. */
const resized = samplePool({ scaling: { min: 3, max: 9 } }, { status: knownStatus() });

function refusedStatus(minutesAgo: number): ObservedState['pool']['status'] {
  const time = new Date(NOW - minutesAgo * MINUTE).toISOString();
  const wished = sampleGroup(pool).tags['winpool.dev/created-from'] ?? '';
  return knownStatus({ failedTarget: { target: wished, reason: 'CreateRefused', message: 'no such subnet', time } });
}

function updating(
  status: 'InProgress' | 'Failed' | 'Successful',
  target = configTargetOf(resized, { scaling: { max: 9 } }),
) {
  return {
    pool: { ...resized, status: knownStatus({ update: { id: 'u-1', type: 'ConfigUpdate', target, status } }) },
    group: seen(),
  };
}

const ended = { id: 'u-1', type: 'ConfigUpdate', createdAt: NOW, errors: [] } as const;

export const nodeGroupCases: readonly PlanCase[] = [
  { name: 'a settled pool needs nothing', observed: sampleState(), want: [] },
  {
    name: 'a new pool is held by the finalizer before anything is made',
    observed: sampleState({
      pool: samplePool({}, { metadata: { finalizers: [] } }),
      group: { kind: 'absent' },
      nodes: [],
      runtimeClass: undefined,
    }),
    want: ['addFinalizer', REMEMBER, CREATE, 'create RuntimeClass windows-2022'],
  },
  {
    name: 'a pool that is held is remembered, then its group is created',
    observed: sampleState({ pool: samplePool(), group: { kind: 'absent' }, nodes: [] }),
    want: [REMEMBER, CREATE],
  },
  {
    name: 'a pool whose memory is written creates the group at once',
    observed: sampleState({ pool, group: { kind: 'absent' }, nodes: [] }),
    want: [CREATE],
  },
  {
    name: 'nothing is created in a cluster with another certificate authority',
    observed: sampleState({ pool, cluster: otherAuthority, group: { kind: 'absent' }, nodes: [] }),
    want: [],
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
  },
  {
    name: 'nothing is changed when the flags name another region, even when EKS cannot be asked',
    observed: sampleState({
      pool: resized,
      settings: { ...settings, region: 'us-east-1' },
      cluster: unreachable(),
      group: seen(),
    }),
    want: [],
  },
  {
    name: 'nothing is created while the group cannot be looked at',
    observed: sampleState({ pool, group: unseen('throttled', sampleGroup(pool)) }),
    want: [],
  },
  {
    name: 'nothing is changed while the cluster is not proven to be ours',
    observed: sampleState({ pool: resized, cluster: unreachable(), group: seen() }),
    want: [],
  },
  {
    name: 'nothing is created while the cluster is not proven to be ours',
    observed: sampleState({ pool, cluster: unreachable(), group: { kind: 'absent' }, nodes: [] }),
    want: [],
  },
  {
    name: 'a group without the tag of the pool is left alone, however wrong its size is',
    observed: sampleState({ pool: resized, group: seen({ tags: {} }) }),
    want: [],
  },
  {
    name: 'a group that somebody deletes is waited for, however wrong its size is',
    observed: sampleState({ pool: resized, group: seen({ status: 'DELETING' }) }),
    want: [],
  },
  {
    name: 'a creation that failed a moment ago is left for people to look at',
    observed: sampleState({ pool, group: seen({ status: 'CREATE_FAILED', modifiedAt: NOW - 14 * MINUTE }) }),
    want: [],
  },
  {
    name: 'a creation that failed a while ago is cleared for another try',
    observed: sampleState({ pool, group: seen({ status: 'CREATE_FAILED', modifiedAt: NOW - 15 * MINUTE }) }),
    want: ['delete node group web: it is CREATE_FAILED'],
  },
  {
    name: 'a creation that failed is cleared at once when the spec would now create something else',
    observed: sampleState({ pool: resized, group: seen({ status: 'CREATE_FAILED', modifiedAt: NOW }) }),
    want: ['delete node group web: it is CREATE_FAILED'],
  },
  {
    name: 'a deletion that failed a while ago is tried again',
    observed: sampleState({ pool, group: seen({ status: 'DELETE_FAILED', modifiedAt: NOW - 15 * MINUTE }) }),
    want: ['delete node group web: it is DELETE_FAILED'],
  },
  {
    name: 'a creation that EKS refused is not repeated at once',
    observed: sampleState({
      pool: samplePool({}, { status: refusedStatus(14) ?? {} }),
      group: { kind: 'absent' },
      nodes: [],
    }),
    want: [],
  },
  {
    name: 'a creation that EKS refused is tried again after a while',
    observed: sampleState({
      pool: samplePool({}, { status: refusedStatus(15) ?? {} }),
      group: { kind: 'absent' },
      nodes: [],
    }),
    want: [CREATE],
  },
  {
    name: 'a creation that EKS refused is tried again at once when the spec changed',
    observed: sampleState({
      pool: samplePool({ nodeGroup: { diskSizeGiB: 80 } }, { status: refusedStatus(1) ?? {} }),
      group: { kind: 'absent' },
      nodes: [],
    }),
    want: [CREATE],
  },
  {
    name: 'an update is not remembered twice, after a crash',
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
    name: 'a degraded group is still changed: that may be what mends it',
    observed: sampleState({ pool: resized, group: seen({ status: 'DEGRADED' }) }),
    want: GROW_STEPS,
  },
  {
    name: 'a group that is being created is not changed, however wrong its size is',
    observed: sampleState({ pool: resized, group: seen({ status: 'CREATING' }), nodes: [] }),
    want: [],
  },
  {
    name: 'a group that EKS updates is not changed, however wrong its size is',
    observed: sampleState({ pool: resized, group: seen({ status: 'UPDATING' }) }),
    want: [],
  },
  {
    name: 'no second update is sent before the end of the first is known',
    observed: sampleState(updating('InProgress')),
    want: [],
  },
  {
    name: 'no second update is sent while EKS says that the first still runs',
    observed: sampleState({ ...updating('InProgress'), update: { ...ended, status: 'InProgress' } }),
    want: [],
  },
  {
    name: 'a second update is sent once the first has ended well',
    observed: sampleState({ ...updating('InProgress'), update: { ...ended, status: 'Successful' } }),
    want: GROW_STEPS,
  },
  {
    name: 'an update that was just found to have failed is not repeated',
    observed: sampleState({ ...updating('InProgress'), update: { ...ended, status: 'Failed' } }),
    want: [],
  },
  {
    name: 'an update that failed is replaced at once when the spec asks for something else',
    observed: sampleState({
      ...updating('InProgress', 'another target'),
      update: { ...ended, status: 'Failed' },
    }),
    want: GROW_STEPS,
  },
  {
    name: 'an update that EKS refused is not repeated until the spec changes',
    observed: sampleState({
      pool: {
        ...resized,
        status: knownStatus({
          failedTarget: {
            target: configTargetOf(resized, { scaling: { max: 9 } }),
            reason: 'UpdateRefused',
            message: 'no',
            time: '2026-02-01T00:00:00Z',
          },
        }),
      },
      group: seen(),
    }),
    want: [],
  },
];
