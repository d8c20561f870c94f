/** The rules of the plan as a table: what is true, and the steps that follow, in words. */

import { PAUSED_ANNOTATION } from '../labels.ts';
import { configTargetOf } from '../nodeGroup/groupChanges.ts';
import type { NodeGroup } from '../ports.ts';
import type { ClusterSight, Situation } from '../situation.ts';
import {
  APPLIED,
  CLUSTER_ARN,
  knownStatus,
  MINUTE,
  NOW,
  sampleCluster,
  sampleGroup,
  samplePool,
  sampleSituation,
  sampleTrouble,
  settings,
} from './fixtures.ts';

export interface PlanCase {
  readonly name: string;
  readonly situation: Situation;
  /** The steps as `stepInWords` says them, but for what nodes are told. */
  readonly want: readonly string[];
  /** What is shown as pending although the pool is not paused. */
  readonly later?: readonly string[];
  /** What nodes are told, as `name: status reason`, or `name: nothing`; not compared where it is left out. */
  readonly told?: readonly string[];
}

export const LEAVING = { deletionTimestamp: '2026-03-01T12:00:00Z' };
export const CREATE =
  'create node group web (WINDOWS_CORE_2022_x86_64, m5.large, 3 nodes, 3 to 5), tags winpool.dev/created-from, winpool.dev/pool';
const REMEMBER = `remember web of ${CLUSTER_ARN}: 5 fields, desired open`;
const SENDING_MAX = `remember web of ${CLUSTER_ARN}: sending scaling`;
const UPDATE_MAX = 'update node group web: scaling max 9';

const pool = samplePool({}, { status: knownStatus() });
/** A pool whose size was changed since its group was made. */
const resized = samplePool({ scaling: { min: 3, max: 9 } }, { status: knownStatus() });

export function seen(change: Partial<NodeGroup> = {}): Situation['group'] {
  return { kind: 'seen', group: sampleGroup(pool, change) };
}

export const otherAuthority: ClusterSight = {
  kind: 'seen',
  cluster: sampleCluster({ isOurs: false }),
};
const unreachableCluster: ClusterSight = { kind: 'unreachable', trouble: sampleTrouble('unavailable') };
const unreachableGroup: Situation['group'] = {
  kind: 'unreachable',
  trouble: sampleTrouble('throttled'),
  since: NOW,
  last: sampleGroup(pool),
};

function refusedStatus(minutesAgo: number): Situation['pool']['status'] {
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
  { name: 'a settled pool needs nothing', situation: sampleSituation(), want: [] },
  {
    name: 'a new pool is held by the finalizer before anything is made',
    situation: sampleSituation({
      pool: samplePool({}, { metadata: { finalizers: [] } }),
      group: { kind: 'absent' },
      nodes: [],
      runtimeClass: undefined,
    }),
    want: ['addFinalizer', REMEMBER, CREATE, 'create RuntimeClass windows-2022'],
  },
  {
    name: 'a pool that is held is remembered, then its group is created',
    situation: sampleSituation({ pool: samplePool(), group: { kind: 'absent' }, nodes: [] }),
    want: [REMEMBER, CREATE],
  },
  {
    name: 'a pool whose memory is written creates the group at once',
    situation: sampleSituation({ pool, group: { kind: 'absent' }, nodes: [] }),
    want: [CREATE],
  },
  {
    name: 'nothing is created in a cluster with another certificate authority',
    situation: sampleSituation({ pool, cluster: otherAuthority, group: { kind: 'absent' }, nodes: [] }),
    want: [],
  },
  {
    name: 'nothing is created when the flags name another cluster than the one the pool was created in',
    situation: sampleSituation({
      pool,
      settings: { ...settings, clusterName: 'test' },
      group: { kind: 'absent' },
      nodes: [],
    }),
    want: [],
  },
  {
    name: 'nothing is changed when the flags name another region, even when EKS cannot be asked',
    situation: sampleSituation({
      pool: resized,
      settings: { ...settings, region: 'us-east-1' },
      cluster: unreachableCluster,
      group: seen(),
    }),
    want: [],
  },
  {
    name: 'nothing is created while the group cannot be looked at',
    situation: sampleSituation({ pool, group: unreachableGroup }),
    want: [],
  },
  {
    name: 'nothing is changed while the cluster is not proven to be ours',
    situation: sampleSituation({ pool: resized, cluster: unreachableCluster, group: seen() }),
    want: [],
  },
  {
    name: 'nothing is created while the cluster is not proven to be ours',
    situation: sampleSituation({ pool, cluster: unreachableCluster, group: { kind: 'absent' }, nodes: [] }),
    want: [],
  },
  {
    name: 'a group without the tag of the pool is left alone, however wrong its size is',
    situation: sampleSituation({ pool: resized, group: seen({ tags: {} }) }),
    want: [],
  },
  {
    name: 'a group that somebody deletes is waited for, however wrong its size is',
    situation: sampleSituation({ pool: resized, group: seen({ status: 'DELETING' }) }),
    want: [],
  },
  {
    name: 'a creation that failed a moment ago is left for people to look at',
    situation: sampleSituation({ pool, group: seen({ status: 'CREATE_FAILED', modifiedAt: NOW - 14 * MINUTE }) }),
    want: [],
  },
  {
    name: 'a creation that failed a while ago is cleared for another try',
    situation: sampleSituation({ pool, group: seen({ status: 'CREATE_FAILED', modifiedAt: NOW - 15 * MINUTE }) }),
    want: ['delete node group web: it is CREATE_FAILED'],
  },
  {
    name: 'a creation that failed is cleared at once when the spec would now create something else',
    situation: sampleSituation({ pool: resized, group: seen({ status: 'CREATE_FAILED', modifiedAt: NOW }) }),
    want: ['delete node group web: it is CREATE_FAILED'],
  },
  {
    name: 'a deletion that failed a while ago is tried again',
    situation: sampleSituation({ pool, group: seen({ status: 'DELETE_FAILED', modifiedAt: NOW - 15 * MINUTE }) }),
    want: ['delete node group web: it is DELETE_FAILED'],
  },
  {
    name: 'a creation that EKS refused is not repeated at once',
    situation: sampleSituation({
      pool: samplePool({}, { status: refusedStatus(14) ?? {} }),
      group: { kind: 'absent' },
      nodes: [],
    }),
    want: [],
  },
  {
    name: 'a creation that EKS refused is tried again after a while',
    situation: sampleSituation({
      pool: samplePool({}, { status: refusedStatus(15) ?? {} }),
      group: { kind: 'absent' },
      nodes: [],
    }),
    want: [CREATE],
  },
  {
    name: 'a creation that EKS refused is tried again at once when the spec changed',
    situation: sampleSituation({
      pool: samplePool({ nodeGroup: { diskSizeGiB: 80 } }, { status: refusedStatus(1) ?? {} }),
      group: { kind: 'absent' },
      nodes: [],
    }),
    want: [CREATE],
  },
  {
    name: 'an update is not remembered twice, after a crash',
    situation: sampleSituation({
      pool: {
        ...resized,
        status: knownStatus({ applied: APPLIED.map((each) => each.replace(/^scaling=.*/, 'scaling=?')) }),
      },
      group: seen(),
    }),
    want: [UPDATE_MAX],
  },
  {
    name: 'the group follows the size in the spec',
    situation: sampleSituation({ pool: resized, group: seen() }),
    want: [SENDING_MAX, UPDATE_MAX],
  },
  {
    name: 'a degraded group is still changed: that may be what mends it',
    situation: sampleSituation({ pool: resized, group: seen({ status: 'DEGRADED' }) }),
    want: [SENDING_MAX, UPDATE_MAX],
  },
  {
    name: 'a group that is being created is not changed, however wrong its size is',
    situation: sampleSituation({ pool: resized, group: seen({ status: 'CREATING' }), nodes: [] }),
    want: [],
  },
  {
    name: 'a group that EKS updates is not changed, however wrong its size is',
    situation: sampleSituation({ pool: resized, group: seen({ status: 'UPDATING' }) }),
    want: [],
  },
  {
    name: 'no second update is sent before the end of the first is known',
    situation: sampleSituation(updating('InProgress')),
    want: [],
  },
  {
    name: 'no second update is sent while EKS says that the first still runs',
    situation: sampleSituation({ ...updating('InProgress'), update: { ...ended, status: 'InProgress' } }),
    want: [],
  },
  {
    name: 'a second update is sent once the first has ended well',
    situation: sampleSituation({ ...updating('InProgress'), update: { ...ended, status: 'Successful' } }),
    want: [SENDING_MAX, UPDATE_MAX],
  },
  {
    name: 'an update that was just found to have failed is not repeated',
    situation: sampleSituation({ ...updating('InProgress'), update: { ...ended, status: 'Failed' } }),
    want: [],
  },
  {
    name: 'an update that failed is replaced at once when the spec asks for something else',
    situation: sampleSituation({
      ...updating('InProgress', 'another target'),
      update: { ...ended, status: 'Failed' },
    }),
    want: [SENDING_MAX, UPDATE_MAX],
  },
  {
    name: 'an update that EKS refused is not repeated until the spec changes',
    situation: sampleSituation({
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

const tagged = samplePool({ nodeGroup: { tags: { team: 'web' } } }, { status: knownStatus() });
const CORRECT_TAGS = [
  `remember web of ${CLUSTER_ARN}: sending tag team`,
  'correct the tags of node group web: set team',
];

export const tagCases: readonly PlanCase[] = [
  {
    name: 'a tag of the spec is remembered, then set',
    situation: sampleSituation({ pool: tagged, group: seen() }),
    want: CORRECT_TAGS,
  },
  {
    name: 'tags are set while EKS updates the group',
    situation: sampleSituation({ pool: tagged, group: seen({ status: 'UPDATING' }) }),
    want: CORRECT_TAGS,
  },
  {
    name: 'a tag that the spec dropped is removed, one that somebody else set stays',
    situation: sampleSituation({
      pool: samplePool({}, { status: knownStatus({ applied: [...APPLIED, 'tag team=01234567'].sort() }) }),
      group: seen({ tags: { ...sampleGroup(pool).tags, team: 'web', backup: 'daily' } }),
    }),
    want: [`remember web of ${CLUSTER_ARN}: sending tag team`, 'correct the tags of node group web: remove team'],
  },
  ...(['DELETING', 'CREATE_FAILED', 'DELETE_FAILED'] as const).map((status) => ({
    name: `tags of a group that is ${status} are left`,
    situation: sampleSituation({
      pool: tagged,
      group: { kind: 'seen', group: sampleGroup(tagged, { status, modifiedAt: NOW, tags: withoutTeam(tagged) }) },
    }),
    want: [],
  })),
  {
    name: 'a foreign group gets no tags',
    situation: sampleSituation({ pool: tagged, group: seen({ tags: { 'winpool.dev/pool': 'api' } }) }),
    want: [],
  },
  {
    name: 'a group in a cluster with another certificate authority gets no tags',
    situation: sampleSituation({ pool: tagged, cluster: otherAuthority, group: seen() }),
    want: [],
  },
  {
    name: 'a group in a cluster that is not proven to be ours gets no tags',
    situation: sampleSituation({ pool: tagged, cluster: unreachableCluster, group: seen() }),
    want: [],
  },
];

function withoutTeam(of: Situation['pool']): NodeGroup['tags'] {
  return Object.fromEntries(Object.entries(sampleGroup(of).tags).filter(([key]) => key !== 'team'));
}

export const pausedCases: readonly PlanCase[] = [
  {
    name: 'a pool paused in its spec',
    situation: sampleSituation({ pool: { ...resized, spec: { ...resized.spec, paused: true } }, group: seen() }),
    want: [UPDATE_MAX],
  },
  {
    name: 'a pool paused by annotation',
    situation: sampleSituation({
      pool: { ...resized, metadata: { ...resized.metadata, annotations: { [PAUSED_ANNOTATION]: 'true' } } },
      group: seen(),
    }),
    want: [UPDATE_MAX],
  },
  {
    name: 'a paused pool that is deleted',
    situation: sampleSituation({ pool: samplePool({ paused: true }, { metadata: LEAVING, status: knownStatus() }) }),
    want: ['delete node group web: the pool is deleted'],
  },
];
